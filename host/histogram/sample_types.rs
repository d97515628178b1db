//! The arithmetic of bins for each sample type.

use super::choose::{byte_bins, even_words, float_bins, integer_bins, searched_words};
use super::element::SampleType;
use super::facts::{Cut, EvenBins, Facts, NoLowBits, SampleBins, SearchedBins, border};
use super::gpu::KernelBins;
use super::{Bins, CountingRule, HistogramError, cpu};
use crate::Result;
use crate::cpu::allocation;
use slm_kernels::histogram::{Binning, Bordered, Estimated, LowBits};
use std::sync::Arc;

/// Maximum number of low bits: only `u16` samples have bins of low bits.
const SAMPLE_BITS: u32 = u16::BITS;

/// Returns the error for this number of low bits.
fn no_low_bits(bits: u32) -> crate::Error {
    HistogramError::LowBits { bits, limit: SAMPLE_BITS }.into()
}

/// Implements [`SampleType`] for integers. `$others` are the items that differ.
macro_rules! integers {
    ($($t:ty { $($others:item)* })*) => {$(
        impl SampleType for $t {
            const NAME: &'static str = stringify!($t);

            fn border(k: u32, bins: u32, ends: [i64; 2]) -> i64 {
                border(k, bins, ends)
            }

            fn to_f64(bound: i64) -> f64 {
                bound as f64
            }

            fn is_sample(bound: i64) -> bool {
                <$t>::try_from(bound).is_ok()
            }

            fn restricted(rule: &CountingRule<$t>, borders: &Arc<Vec<i64>>) -> Result<(SampleBins<$t>, usize)> {
                let last = |last: i64| last.min(<$t>::MAX.into()) as $t;
                Ok(match rule.bins {
                    Bins::LowBits(bits) => (SampleBins::LowBits(Self::low_bits(bits)?), 0),
                    Bins::Even { bins, lower, upper } if Self::is_sample(lower) => {
                        // `CountingRule::check` has checked the bins against 2^24.
                        let (bins, last) = (bins as u32, last(upper - i64::from(!rule.closed)));
                        (SampleBins::Even(EvenBins { bins, ends: [lower, upper], lower: lower as $t, last }), 0)
                    }
                    Bins::Even { .. } | Bins::Edges(_) => {
                        let cut = Cut::new(borders, rule.closed, [<$t>::MIN.into(), <$t>::MAX.into()])?;
                        let edges = Arc::new(allocation::collected(cut.edges.into_iter().map(|edge| edge as $t))?);
                        (SampleBins::Searched(SearchedBins { edges, last: cut.last as $t }), cut.first)
                    }
                })
            }

            fn even_on_cpu(even: &EvenBins<$t>, _: &[i64], _: bool) -> impl Binning<Sample = $t> {
                even.of_integers()
            }

            $($others)*
        }
    )*};
}

integers! {
    u8 {
        fn low_bits(bits: u32) -> Result<NoLowBits<u8>> {
            Err(no_low_bits(bits))
        }

        fn tally<B: Binning<Sample = u8>>(binning: B, samples: &[u8], step: usize, table: &mut [u32]) {
            cpu::tally_bytes(binning, samples, step, table);
        }

        fn kernel_bins(facts: &Facts<u8>) -> Result<KernelBins> {
            byte_bins(facts)
        }
    }
    u16 {
        fn low_bits(bits: u32) -> Result<LowBits> {
            match bits {
                1..=SAMPLE_BITS => Ok(LowBits { mask: u16::MAX >> (SAMPLE_BITS - bits) }),
                _ => Err(no_low_bits(bits)),
            }
        }

        fn kernel_bins(facts: &Facts<u16>) -> Result<KernelBins> {
            integer_bins(facts, KernelBins::EvenU16, |searched| Ok(KernelBins::SearchedU16(searched)))
        }
    }
    u32 {
        fn low_bits(bits: u32) -> Result<NoLowBits<u32>> {
            Err(no_low_bits(bits))
        }

        fn kernel_bins(facts: &Facts<u32>) -> Result<KernelBins> {
            let even = |even| even_words(&even, u32::MAX, |number| number);
            integer_bins(facts, even, |searched| searched_words(&searched, u32::MAX, |number| number))
        }
    }
    i32 {
        fn low_bits(bits: u32) -> Result<NoLowBits<i32>> {
            Err(no_low_bits(bits))
        }

        fn kernel_bins(facts: &Facts<i32>) -> Result<KernelBins> {
            let even = |even| even_words(&even, i32::MAX, i32::cast_unsigned);
            integer_bins(facts, even, |searched| searched_words(&searched, i32::MAX, i32::cast_unsigned))
        }
    }
}

macro_rules! floats {
    ($($t:ty: $even:ident, $rounded:ident, $searched:ident;)*) => {$(
        impl SampleType for $t {
            const NAME: &'static str = stringify!($t);

            fn border(k: u32, bins: u32, [lower, upper]: [$t; 2]) -> $t {
                Bordered::border(k, bins, lower, upper)
            }

            fn to_f64(bound: $t) -> f64 {
                bound.into()
            }

            fn is_sample(_: $t) -> bool {
                true
            }

            fn low_bits(bits: u32) -> Result<NoLowBits<$t>> {
                Err(no_low_bits(bits))
            }

            fn restricted(rule: &CountingRule<$t>, borders: &Arc<Vec<$t>>) -> Result<(SampleBins<$t>, usize)> {
                let last = |upper: $t| if rule.closed { upper } else { upper.next_down() };
                let bins = match rule.bins {
                    Bins::LowBits(bits) => SampleBins::LowBits(Self::low_bits(bits)?),
                    Bins::Even { bins, lower, upper } => {
                        let (bins, ends, last) = (bins as u32, [lower, upper], last(upper));
                        SampleBins::Even(EvenBins { bins, ends, lower, last })
                    }
                    Bins::Edges(_) => {
                        let last = last(borders[borders.len() - 1]);
                        SampleBins::Searched(SearchedBins { edges: borders.clone(), last })
                    }
                };
                Ok((bins, 0))
            }

            fn even_on_cpu(_: &EvenBins<$t>, borders: &[$t], closed: bool) -> impl Binning<Sample = $t> {
                Estimated::new(borders, closed)
            }

            fn kernel_bins(facts: &Facts<$t>) -> Result<KernelBins> {
                Ok(float_bins(facts, KernelBins::$even, KernelBins::$rounded, KernelBins::$searched))
            }
        }
    )*};
}
floats! {
    f32: EvenF32, RoundedF32, SearchedF32;
    f64: EvenF64, RoundedF64, SearchedF64;
}
