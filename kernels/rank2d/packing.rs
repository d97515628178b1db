//! What kernels compare: words of one key, or of two.
//!
//! From `sm_90` on, one instruction compares two pairs of unsigned integers of 16 bits. So there a word has the keys of two samples of 8 or
//! 16 bits, from two places of a tile, and the same comparisons find the outputs of both. On other GPUs, and for other samples, a word is a
//! key.

use super::key::{Extreme, Ranked};
use core::marker::PhantomData;
use cuda_std::{GlobalIn, GlobalOut, Shared, Value, math};

/// A way to put keys into words. Keys are those of an [`Extreme`], if one is given, otherwise those of the samples.
pub trait Packing: 'static {
    /// Type of the samples.
    type Sample: Ranked;
    /// Type of the words.
    type Word: Value;

    /// Keys of a word: 1 or 2.
    const KEYS: u32;
    /// Neighbouring columns that are loaded together, and stored together, as words of 32 bits; or 1.
    const COLUMNS: u32 = 1;

    /// Returns the lesser keys of two words.
    #[must_use]
    fn least(a: Self::Word, b: Self::Word) -> Self::Word;

    /// Returns the greater keys of two words.
    #[must_use]
    fn greatest(a: Self::Word, b: Self::Word) -> Self::Word;

    /// Returns the word of the first [`KEYS`](Self::KEYS) samples.
    #[must_use]
    fn word(samples: [Self::Sample; 2], extreme: Option<Extreme>) -> Self::Word;

    /// Returns the samples of key `key` of two words.
    #[must_use]
    fn samples(words: [Self::Word; 2], key: u32, extreme: Option<Extreme>) -> [Self::Sample; 2];

    /// Returns whether a word is that of a NaN. Words of two keys have none.
    #[must_use]
    fn is_nan(word: Self::Word) -> bool;

    /// Returns the words of four columns, if samples are loaded [together](Self::COLUMNS). The samples of each key are in two neighbouring words
    /// of memory, and the first one is number `shift` there.
    #[inline(always)]
    #[must_use]
    fn of_columns(_rows: [[u32; 2]; 2], _shift: u32, _extreme: Option<Extreme>) -> [Self::Word; 4] {
        [Self::Word::default(); 4]
    }

    /// Returns whether [`across`](Self::across) takes this shift.
    #[inline(always)]
    #[must_use]
    fn is_across(_shift: u32) -> bool {
        false
    }

    /// Returns six neighbouring words of a row: the first sample is `shift` elements after `place`, a multiple of four. The second keys are
    /// those of the samples four columns further.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    fn across(_samples: &GlobalIn<'_, Self::Sample, u32>, _place: u32, _shift: u32) -> [Self::Word; 6] {
        [Self::Word::default(); 6]
    }

    /// Stores four neighbouring words of a row from `place` on, likewise.
    #[inline(always)]
    #[track_caller]
    fn set_across(_outputs: &GlobalOut<'_, Self::Sample, u32>, _place: u32, _words: [Self::Word; 4]) {}

    /// Returns `W` neighbouring words from `place` on, a multiple of `W`.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    fn pack<const W: usize>(words: &Shared<'_, Self::Word>, place: u32) -> [Self::Word; W] {
        let mut pack = [Self::Word::default(); W];
        for (i, word) in pack.iter_mut().enumerate() {
            *word = words.get(place + i as u32);
        }
        pack
    }

    /// Stores `W` neighbouring words, likewise.
    #[inline(always)]
    #[track_caller]
    fn set_pack<const W: usize>(words: &Shared<'_, Self::Word>, place: u32, pack: [Self::Word; W]) {
        for (i, word) in pack.into_iter().enumerate() {
            words.set(place + i as u32, word);
        }
    }

    /// Returns the samples of each key of four columns, if they are stored [together](Self::COLUMNS).
    #[inline(always)]
    #[must_use]
    fn columns(_words: [Self::Word; 4], _extreme: Option<Extreme>) -> [u32; 2] {
        [0; 2]
    }

    /// Returns the samples of two rows and two columns, if they are stored together, for storing with a neighbouring lane: for each key, the
    /// samples of four columns of the first row if the lane's number is even, of the second row if it is odd. All lanes of the mask call it.
    #[inline(always)]
    #[must_use]
    fn exchanged(_mask: u32, _words: [[Self::Word; 2]; 2], _extreme: Option<Extreme>) -> [u32; 2] {
        [0; 2]
    }
}

/// Words of one key.
#[derive(Debug)]
pub struct Single<T>(PhantomData<T>);

impl<T: Ranked> Packing for Single<T> {
    type Sample = T;
    type Word = T::Key;

    const KEYS: u32 = 1;

    #[inline(always)]
    fn least(a: T::Key, b: T::Key) -> T::Key {
        a.min(b)
    }

    #[inline(always)]
    fn greatest(a: T::Key, b: T::Key) -> T::Key {
        a.max(b)
    }

    #[inline(always)]
    fn word([sample, _]: [T; 2], extreme: Option<Extreme>) -> T::Key {
        extreme.map_or_else(|| sample.key(), |extreme| extreme.key(sample))
    }

    #[inline(always)]
    fn samples(words: [T::Key; 2], _key: u32, extreme: Option<Extreme>) -> [T; 2] {
        words.map(|word| extreme.map_or_else(|| T::of_key(word), |extreme| extreme.sample(word)))
    }

    #[inline(always)]
    fn is_nan(word: T::Key) -> bool {
        T::IS_FLOAT && word == <T::Key as super::key::Key>::MAX
    }
}

/// The floats themselves, for medians: the hardware compares them in the order of their keys, except NaNs, and windows with these are found
/// separately.
#[derive(Debug)]
pub struct Floats;

impl Packing for Floats {
    type Sample = f32;
    type Word = f32;

    const KEYS: u32 = 1;

    #[inline(always)]
    fn least(a: f32, b: f32) -> f32 {
        math::min(a, b)
    }

    #[inline(always)]
    fn greatest(a: f32, b: f32) -> f32 {
        math::max(a, b)
    }

    #[inline(always)]
    fn word([sample, _]: [f32; 2], _extreme: Option<Extreme>) -> f32 {
        sample
    }

    #[inline(always)]
    fn samples(words: [f32; 2], _key: u32, _extreme: Option<Extreme>) -> [f32; 2] {
        words
    }

    #[inline(always)]
    fn is_nan(word: f32) -> bool {
        word.is_nan()
    }

    #[inline(always)]
    fn is_across(shift: u32) -> bool {
        shift == 3
    }

    #[inline(always)]
    #[track_caller]
    fn across(samples: &GlobalIn<'_, f32, u32>, place: u32, _shift: u32) -> [f32; 6] {
        let [a, b, c, d] = samples.get_pack(place + 4);
        [samples.get(place + 3), a, b, c, d, samples.get(place + 8)]
    }

    #[inline(always)]
    #[track_caller]
    fn set_across(outputs: &GlobalOut<'_, f32, u32>, place: u32, words: [f32; 4]) {
        outputs.set_pack(place, words);
    }
}

#[cfg(any(not(target_os = "cuda"), target_feature = "sm_90"))]
mod pairs {
    use super::{Extreme, GlobalIn, GlobalOut, Packing, PhantomData, Ranked, Shared, math};
    use cuda_std::{thread, warp};

    /// Words of two keys of 16 bits. A byte is both halves of its key, so one instruction makes a word of two.
    #[derive(Debug)]
    pub struct Pairs<T>(PhantomData<T>);

    impl<T: Ranked<Key = u32>> Pairs<T> {
        const IS_BYTE: bool = T::BITS == 8;

        /// Returns the word with the keys of an extreme, or the word with its keys.
        #[inline(always)]
        fn inverted(word: u32, extreme: Option<Extreme>) -> u32 {
            if extreme.is_some_and(|extreme| extreme.greatest) { !word } else { word }
        }
    }

    impl<T: Ranked<Key = u32>> Packing for Pairs<T> {
        type Sample = T;
        type Word = u32;

        const KEYS: u32 = 2;
        const COLUMNS: u32 = if Self::IS_BYTE { 4 } else { 1 };

        #[inline(always)]
        fn least(a: u32, b: u32) -> u32 {
            math::min_u16x2(a, b)
        }

        #[inline(always)]
        fn greatest(a: u32, b: u32) -> u32 {
            math::max_u16x2(a, b)
        }

        #[inline(always)]
        fn word(samples: [T; 2], extreme: Option<Extreme>) -> u32 {
            let [a, b] = samples.map(T::key);
            Self::inverted(math::permute_bytes(a, b, if Self::IS_BYTE { 0x4400 } else { 0x5410 }), extreme)
        }

        #[inline(always)]
        fn samples(words: [u32; 2], key: u32, extreme: Option<Extreme>) -> [T; 2] {
            let [a, b] = words.map(|word| Self::inverted(word, extreme));
            let (bytes, key_bits) = if Self::IS_BYTE { ([0x40, 0x62], 0xff) } else { ([0x5410, 0x7632], 0xffff) };
            let keys = math::permute_bytes(a, b, bytes[key as usize]);
            [T::of_key(keys & key_bits), T::of_key(keys >> T::BITS & key_bits)]
        }

        #[inline(always)]
        fn is_nan(_word: u32) -> bool {
            false
        }

        #[inline(always)]
        fn of_columns(rows: [[u32; 2]; 2], shift: u32, extreme: Option<Extreme>) -> [u32; 4] {
            let [a, b] = rows
                .map(|[low, high]| Self::inverted(math::permute_bytes(low, high, 0x3210 + 0x1111 * shift), extreme));
            [0x4400, 0x5511, 0x6622, 0x7733].map(|bytes| math::permute_bytes(a, b, bytes))
        }

        #[inline(always)]
        fn is_across(_shift: u32) -> bool {
            Self::IS_BYTE
        }

        #[inline(always)]
        #[track_caller]
        fn across(samples: &GlobalIn<'_, T, u32>, place: u32, shift: u32) -> [u32; 6] {
            let words = samples.cast::<u32>().get4_strided::<1>(place / 4);
            let bytes = |i: usize| math::permute_bytes(words[i], words[i + 1], 0x3210 + 0x1111 * shift);
            let [a, b, c] = [bytes(0), bytes(1), bytes(2)];
            let pair = |low, high, bytes| math::permute_bytes(low, high, bytes);
            [
                pair(a, b, 0x4400),
                pair(a, b, 0x5511),
                pair(a, b, 0x6622),
                pair(a, b, 0x7733),
                pair(b, c, 0x4400),
                pair(b, c, 0x5511),
            ]
        }

        #[inline(always)]
        #[track_caller]
        fn set_across(outputs: &GlobalOut<'_, T, u32>, place: u32, words: [u32; 4]) {
            outputs.cast().set_pack(place / 4, Self::columns(words, None));
        }

        #[inline(always)]
        #[track_caller]
        fn pack<const W: usize>(words: &Shared<'_, u32>, place: u32) -> [u32; W] {
            words.get_pack(place)
        }

        #[inline(always)]
        #[track_caller]
        fn set_pack<const W: usize>(words: &Shared<'_, u32>, place: u32, pack: [u32; W]) {
            words.set_pack(place, pack);
        }

        #[inline(always)]
        fn columns([a, b, c, d]: [u32; 4], extreme: Option<Extreme>) -> [u32; 2] {
            // Two columns of the first key, then of the second one.
            let [low, high] = [[a, b], [c, d]].map(|[a, b]| Self::inverted(math::permute_bytes(a, b, 0x6240), extreme));
            [0x5410, 0x7632].map(|bytes| math::permute_bytes(low, high, bytes))
        }

        #[inline(always)]
        fn exchanged(mask: u32, words: [[u32; 2]; 2], extreme: Option<Extreme>) -> [u32; 2] {
            // Two columns of the first key's row, then of the second key's row.
            let [first, second] = words.map(|[a, b]| Self::inverted(math::permute_bytes(a, b, 0x6240), extreme));
            let is_even = thread::thread_idx_x().is_multiple_of(2);
            let [kept, given] = if is_even { [first, second] } else { [second, first] };
            let taken = warp::shuffle_xor(mask, given, 1);
            let [low, high] = if is_even { [kept, taken] } else { [taken, kept] };
            [0x5410, 0x7632].map(|bytes| math::permute_bytes(low, high, bytes))
        }
    }
}

/// How samples of 8 and of 16 bits are packed.
#[cfg(any(not(target_os = "cuda"), target_feature = "sm_90"))]
pub(super) type Narrow<T> = pairs::Pairs<T>;
/// How samples of 8 and of 16 bits are packed.
#[cfg(not(any(not(target_os = "cuda"), target_feature = "sm_90")))]
pub(super) type Narrow<T> = Single<T>;
