//! Sums of neighbours and rules, for all cells of a word at once: bit `i` of each word belongs to cell `i`. The host computes
//! with words of 64 bits, kernels with words of 32.
//!
//! A sum includes the cell itself, because then rows can share the sums of three neighbours. It is at most 9.

use core::ops::{BitAnd, BitOr, BitXor, Not};
use cuda_std::math::lop3;

/// Bits that are computed together.
pub trait Word:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    /// Returns a function of three bits for each bit position: bit `4 a + 2 b + c` of `TABLE`.
    fn lookup<const TABLE: u8>(a: Self, b: Self, c: Self) -> Self;
}

impl Word for u32 {
    #[inline(always)]
    fn lookup<const TABLE: u8>(a: u32, b: u32, c: u32) -> u32 {
        lop3::<TABLE>(a, b, c)
    }
}

impl Word for u64 {
    #[inline(always)]
    fn lookup<const TABLE: u8>(a: u64, b: u64, c: u64) -> u64 {
        (0..8).filter(|index| TABLE >> index & 1 == 1).fold(0, |bits, index| {
            let of = |operand: u64, shift: u32| if index >> shift & 1 == 1 { operand } else { !operand };
            bits | of(a, 2) & of(b, 1) & of(c, 0)
        })
    }
}

/// Number of sums, from 0 to 9.
pub const MASKS: usize = 10;

/// Returns the sum of three bits, in binary digits.
#[inline(always)]
pub fn full_sum<W: Word>(a: W, b: W, c: W) -> [W; 2] {
    let either = a ^ b;
    [either ^ c, (a & b) | (either & c)]
}

/// A sum in binary digits, with two digits for the twos: `ones + 2 * (twos[0] + twos[1]) + 4 * fours`. A rule combines them in fewer
/// operations than a complete addition followed by the rule.
#[derive(Clone, Copy, Debug)]
pub struct Sum<W> {
    ones: W,
    twos: [W; 2],
    fours: W,
}

/// Returns the sum of three sums of two digits.
#[inline(always)]
pub fn sum_of_rows<W: Word>(a: [W; 2], b: [W; 2], c: [W; 2]) -> Sum<W> {
    let [ones, carry] = full_sum(a[0], b[0], c[0]);
    let [twos, fours] = full_sum(a[1], b[1], c[1]);
    Sum { ones, twos: [carry, twos], fours }
}

/// Returns the next generation of Conway's rule: cells are alive with a sum of 3, and remain so with a sum of 4.
///
/// Without their ones, these are the sums of 2 and 4. Each of the four lines is one instruction of a GPU.
#[inline(always)]
pub fn conway<W: Word>(Sum { ones, twos: [a, b], fours }: Sum<W>, cells: W) -> W {
    let two = W::lookup::<0x14>(a, b, fours); // (a ^ b) & !fours
    let four = W::lookup::<0x42>(a, b, fours); // (a ^ fours) & (b ^ fours)
    let remains = four & cells & !ones;
    (two & ones) | remains
}

/// Returns the next generation of any rule. `masks` returns the [masks] of a sum.
///
/// The sum selects one of ten functions of the cell, in a tree with a level for each digit.
#[inline(always)]
pub fn minterms<W: Word>(Sum { ones, twos: [a, b], fours }: Sum<W>, cells: W, masks: impl Fn(u32) -> [W; 2]) -> W {
    let (twos, carry) = (a ^ b, a & b);
    let (fours, eights) = (fours ^ carry, fours & carry);
    let of_sum = |n| {
        let [dead, differs] = masks(n);
        dead ^ (differs & cells)
    };
    let pair = |n| select(ones, of_sum(n + 1), of_sum(n));
    let (upper, lower) = (select(twos, pair(6), pair(4)), select(twos, pair(2), pair(0)));
    select(eights, pair(8), select(fours, upper, lower))
}

/// Returns the bits of `a` where `condition` is set, and of `b` elsewhere.
#[inline(always)]
fn select<W: Word>(condition: W, a: W, b: W) -> W {
    (condition & a) | (!condition & b)
}

/// Returns the table of a rule: bit `n` is set if a dead cell with the sum `n` is born, and bit `16 + n` if a living cell with
/// this sum survives. Bit `n` of the arguments is for `n` neighbours.
#[must_use]
pub const fn rule_table(births: u16, survivals: u16) -> u32 {
    // A living cell is part of its sum.
    (births & 0x1ff) as u32 | (survivals as u32 & 0x1ff) << 17
}

/// Returns the masks of the sum `n` in a [table](rule_table): all bits set if dead cells are born, and all bits set if living
/// cells have another next state than dead ones.
#[must_use]
pub const fn masks(table: u32, n: u32) -> [bool; 2] {
    let (dead, alive) = (table >> n & 1 == 1, table >> (16 + n) & 1 == 1);
    [dead, dead != alive]
}
