//! The model itself.

use super::BankError;
use super::{AccessPattern, Cost, Width};
use crate::Result;
use cuda_std::host::banks::Banks;

/// A shared memory, as far as bank conflicts depend on it: so many banks, whose words have so many bytes.
///
/// ```
/// use slm::banks::{AccessPattern, BankModel, Width};
///
/// let every_second = AccessPattern::load(Width::B4, |lane| 2 * lane);
/// let cost = BankModel::NVIDIA.cost(&every_second);
/// assert_eq!((cost.phases, cost.wavefronts, cost.degree), (1, 2, 2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BankModel {
    banks: Banks,
}

impl BankModel {
    /// 32 banks of 4 bytes: NVIDIA GPUs since compute capability 5.0.
    pub const NVIDIA: BankModel = BankModel { banks: Banks::NVIDIA };

    /// 16 banks of 4 bytes, which serve half a warp at a time: the textbooks' other example.
    pub const SIXTEEN: BankModel = BankModel { banks: Banks::new(16, 4).expect("16 words are more than 16 bytes") };

    /// So many banks, 1 to 32, of so many bytes, 1 to 16; both powers of two, and the product 16 at least, so that an
    /// access of 16 bytes meets no bank twice.
    ///
    /// # Errors
    ///
    /// [`BankError::Banks`] for other numbers.
    ///
    /// ```
    /// use slm::banks::BankModel;
    ///
    /// assert_eq!(BankModel::new(32, 4)?, BankModel::NVIDIA);
    /// assert!(BankModel::new(24, 4).is_err());
    /// # Ok::<(), slm::Error>(())
    /// ```
    pub fn new(banks: u32, bank_bytes: u32) -> Result<Self> {
        let banks = Banks::new(banks, bank_bytes).ok_or(BankError::Banks { banks, bank_bytes })?;
        Ok(BankModel { banks })
    }

    /// The number of banks.
    #[must_use]
    pub const fn banks(&self) -> u32 {
        self.banks.count()
    }

    /// The bytes of a bank's word.
    #[must_use]
    pub const fn bank_bytes(&self) -> u32 {
        self.banks.bytes()
    }

    /// As the rule takes it.
    pub(super) fn rule(&self) -> Banks {
        self.banks
    }

    /// What the access costs.
    #[must_use]
    pub fn cost(&self, pattern: &AccessPattern) -> Cost {
        Cost::of(&pattern.access(), pattern.kind(), self.banks)
    }

    /// How many lanes wait for each other in a bank: the most passes that a phase takes, 1 if there is no conflict and
    /// 0 if no lane takes part. The same as [`Cost::degree`].
    #[must_use]
    pub fn conflict_degree(&self, pattern: &AccessPattern) -> u32 {
        self.cost(pattern).degree
    }

    /// The smallest number that is not less than `stride` and with which columns are free of conflicts: those of a
    /// matrix whose rows begin so many elements of `width` apart, where lane `k` loads or stores the element in row `k`
    /// of any one column. The difference is the padding of a row.
    ///
    /// An odd stride is enough for elements as wide as a bank's word, and wider; smaller ones share words. Element
    /// numbers have 32 bits and wrap, so there is an answer for each stride.
    ///
    /// ```
    /// use slm::banks::{BankModel, Width};
    ///
    /// let strides = [1, 2, 16, 17, 32].map(|stride| BankModel::NVIDIA.padded_stride(stride, Width::B4));
    /// assert_eq!(strides, [1, 3, 17, 17, 33]);
    /// assert_eq!(BankModel::NVIDIA.padded_stride(32, Width::B1), 36);
    /// ```
    #[must_use]
    pub fn padded_stride(&self, stride: u32, width: Width) -> u32 {
        let is_free =
            |stride: &u32| (0..self.columns_of_a_word(width)).all(|column| self.is_free(*stride, column, width));
        // At the latest an odd number of words; at the end of the numbers the wrapped strides -1, -2, …, which are
        // backwards and short.
        (stride..=u32::MAX).find(is_free).expect("every few strides one is free of conflicts")
    }

    /// How many columns begin at different places of a word.
    fn columns_of_a_word(&self, width: Width) -> u32 {
        (self.bank_bytes() / width.bytes()).max(1)
    }

    fn is_free(&self, stride: u32, column: u32, width: Width) -> bool {
        let pattern = AccessPattern::load(width, |row| stride.wrapping_mul(row).wrapping_add(column));
        self.cost(&pattern).is_conflict_free()
    }
}
