//! The model of banks.

use super::BankError;
use super::{AccessPattern, Cost, Width};
use crate::Result;
use cuda_std::host::banks::Banks;

/// Model of a shared memory: the number of its banks, and the width of their words.
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
    /// 32 banks of 4 bytes, as in NVIDIA GPUs since compute capability 5.0.
    pub const NVIDIA: BankModel = BankModel { banks: Banks::NVIDIA };

    /// 16 banks of 4 bytes, which serve half a warp at a time, as in older textbooks.
    pub const SIXTEEN: BankModel = BankModel { banks: Banks::new(16, 4).expect("16 words are more than 16 bytes") };

    /// Returns the model of `banks` banks (1 to 32) of `bank_bytes` bytes (1 to 16). Both must be powers of two, and their
    /// product at least 16, so that an access of 16 bytes uses no bank twice.
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

    /// Returns the number of banks.
    #[must_use]
    pub const fn banks(&self) -> u32 {
        self.banks.count()
    }

    /// Returns the number of bytes per word of a bank.
    #[must_use]
    pub const fn bank_bytes(&self) -> u32 {
        self.banks.bytes()
    }

    /// Returns the banks in the form that the rule uses.
    pub(super) fn rule(&self) -> Banks {
        self.banks
    }

    /// Returns the cost of an access.
    #[must_use]
    pub fn cost(&self, pattern: &AccessPattern) -> Cost {
        Cost::of(&pattern.access(), pattern.kind(), self.banks)
    }

    /// Returns the degree of the bank conflict, as [`Cost::degree`]: the maximum number of passes per phase, 1 without
    /// conflicts and 0 if no lane takes part.
    #[must_use]
    pub fn conflict_degree(&self, pattern: &AccessPattern) -> u32 {
        self.cost(pattern).degree
    }

    /// Returns the smallest row stride, at least `stride`, for which accesses to columns have no conflicts. Strides are in
    /// elements of `width`, and lane `k` accesses row `k` of one column. The difference to `stride` is the padding of a row.
    ///
    /// For elements at least as wide as a bank's word, any odd stride has no conflicts; narrower elements share words. Element
    /// indices have 32 bits and wrap, so there is a result for every stride.
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
        // The search is short, because odd numbers of words have no conflicts. Strides near `u32::MAX` wrap to -1, -2, …
        (stride..=u32::MAX).find(is_free).expect("every few strides one is free of conflicts")
    }

    /// Returns the number of columns per word.
    fn columns_of_a_word(&self, width: Width) -> u32 {
        (self.bank_bytes() / width.bytes()).max(1)
    }

    fn is_free(&self, stride: u32, column: u32, width: Width) -> bool {
        let pattern = AccessPattern::load(width, |row| stride.wrapping_mul(row).wrapping_add(column));
        self.cost(&pattern).is_conflict_free()
    }
}
