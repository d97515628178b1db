//! What only later launches of an operation do, with launches of few samples.

use super::kernels::{self, kernels};
use super::launches::{ArgumentSettings, CallWindows, TypedLaunches};
use super::*;
use crate::histogram::weights::{Weigh, WeightBuffer};
use crate::histogram::{Bins, CountingRule};
use crate::{Device, Error, Windows};
use emulator::Profile;
use slm_kernels::histogram::{self as entries, Bytes};
use std::sync::Arc;

/// Three channels, two of them counted.
fn facts() -> Facts<u8> {
    let bins = Bins::Even { bins: 256, lower: 0, upper: 255 };
    Facts::new(CountingRule { bins, closed: true, channels: 3, counted: 2 }).unwrap()
}

/// Launches of 80 samples, and of 77 weights. Each launch begins with another channel.
fn histogram(device: &Device) -> GpuHistogram {
    let mut histogram = GpuHistogram::new(device.gpu().unwrap(), &facts(), HistogramAlgorithm::Auto).unwrap();
    (histogram.parts.most_packs, histogram.parts.most_weights) = (5, 77);
    histogram
}

/// Returns the cells channel by channel. Each cell is the sum of `of` over its samples.
fn expected(samples: &[u8], of: impl Fn(usize) -> u64) -> Vec<u64> {
    let cells = |channel| {
        let mut cells = [0; 259];
        (channel..samples.len()).step_by(3).for_each(|i| cells[usize::from(samples[i])] += of(i));
        cells
    };
    [0, 1].map(cells).concat()
}

#[test]
fn counts_of_several_launches() {
    let device = Device::emulated(Profile::SM_90, 0);
    let samples: Vec<u8> = (0..=254u8).cycle().take(1002).collect();
    let (buffer, mut counts) = (device.upload(&samples).unwrap(), device.zeroed(2 * 259).unwrap());
    histogram(&device).count(SampleBuffer::U8((&buffer).into()), samples.len(), (&mut counts).into()).unwrap();
    assert_eq!(counts.download().unwrap(), expected(&samples, |_| 1));
}

/// Kernels would read zeros from misaligned packs.
#[test]
fn misaligned_packs_are_refused() {
    let device = Device::emulated(Profile::SM_90, 0);
    let (parts, layout) = (histogram(&device).parts, facts().layout);
    let settings = ArgumentSettings { layout, first_cell: 0, is_seq_cst: false, has_section: false };
    let cells: Arc<Vec<u32>> = Arc::new((0..256).collect());
    let gpu = device.gpu().unwrap();
    let kernels = kernels!(Bytes<'static>);
    let counter = kernels.shared.load(&gpu).unwrap();
    let launches = TypedLaunches::new(&gpu, cells, kernels, counter, settings).unwrap();
    let (samples, mut counts) = (device.upload(&[0u8; 80]).unwrap(), device.zeroed(2 * 259).unwrap());
    let weights = device.zeroed(64).unwrap();
    let mut section = launches.section();
    for first in 0..=16 {
        let mut windows = Windows::new(&device);
        let samples = SampleBuffer::U8((&samples).into());
        let mut call =
            CallWindows::<Arc<Vec<u32>>>::new(&mut windows, samples, &mut counts, &mut section, &launches.table)
                .unwrap();
        call.samples = call.samples.slice(first, 64);
        let args = launches.args(&call, &parts, parts.counting(64).next().unwrap());
        let refused = matches!(args, Err(Error::MisalignedWindow { address, alignment: 16 }) if address % 16 == first);
        assert_eq!((args.is_ok(), refused), (first % 16 == 0, first % 16 != 0), "{first}");
        // Weights, and samples that do not fill a pack, are read one by one.
        assert!(launches.args(&call, &parts, parts.counting(15).next().unwrap()).is_ok());
        let weights = WeightBuffer::F32((&weights).into()).windows(&mut windows);
        let part = parts.adding_weights(64).next().unwrap();
        assert!(launches.weighted_args(&call, weights, &parts, part).is_ok());
    }
}

#[test]
fn weights_of_several_launches() {
    let device = Device::emulated(Profile::SM_90, 0);
    let histogram = histogram(&device);
    let samples: Vec<u8> = (0..=254u8).cycle().take(1002).collect();
    let weights: Vec<f32> = (0..1002).map(|i| (i % 17) as f32).collect();
    let expected = Ok(expected(&samples, |i| (i % 17) as u64).into_iter().map(|sum| sum as f64).collect());
    let (samples, len) = (device.upload(&samples).unwrap(), samples.len());
    let (singles, doubles) = (device.upload(&weights).unwrap(), weights.into_iter().map(f64::from).collect::<Vec<_>>());
    let doubles = device.upload(&doubles).unwrap();
    for weights in [f32::of_buffer((&singles).into()), f64::of_buffer((&doubles).into())] {
        let samples = SampleBuffer::U8((&samples).into());
        assert_eq!(histogram.weigh(WeightedSamples { samples, weights, len }), expected);
    }
}
