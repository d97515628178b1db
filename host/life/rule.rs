//! Rules: the numbers of neighbours with which a cell is born, and with which it survives.

use super::LifeError;
use crate::{Error, Result};
use std::fmt;
use std::str::{Chars, FromStr};

/// A rule of cells with two states and eight neighbours, such as Conway's `B3/S23`.
///
/// A dead cell with `n` living neighbours is born in the next generation if `n` is one of the digits after `B`. A living cell
/// survives if `n` is one of the digits after `S`; otherwise it dies. All 2^18 rules are supported, also those with `B0`.
///
/// ```
/// use slm::life::Rule;
///
/// # fn main() -> slm::Result<()> {
/// let rule: Rule = "B36/S23".parse()?;
/// assert_eq!(rule, Rule::HIGH_LIFE);
/// assert_eq!(rule.to_string(), "B36/S23");
/// assert!(rule.is_alive(false, 6) && !rule.is_alive(true, 6));
/// # Ok(())
/// # }
/// ```
///
/// # Spellings
///
/// These texts are the same rule, in upper or lower case: `B3/S23`, `B3S23`, `S23/B3`, `b3_s23`, and `23/3`, where the
/// digits of survival come first. So are these names: `Life`, `Conway's Life`. The names `HighLife`, `Seeds` and
/// `Day & Night` are the other constants of this type. Without digits, nothing is born or nothing survives: `B2/S`. Spaces
/// at both ends are ignored. `Display` prints the first form. Rules with more than two states, such as `B2/S/C3`, are an error.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rule {
    births: u16,
    survivals: u16,
}

/// Bits of 0 to 8 neighbours.
const NEIGHBOURS: u16 = (1 << 9) - 1;

/// Names of rules, without spaces and in lower case.
const NAMES: [(&str, Rule); 5] = [
    ("life", Rule::CONWAY),
    ("conway'slife", Rule::CONWAY),
    ("highlife", Rule::HIGH_LIFE),
    ("seeds", Rule::SEEDS),
    ("day&night", Rule::DAY_AND_NIGHT),
];

impl Rule {
    /// Conway's Game of Life, `B3/S23`.
    pub const CONWAY: Rule = Rule::from_masks(1 << 3, 1 << 2 | 1 << 3);
    /// `B36/S23`, in which a small pattern copies itself.
    pub const HIGH_LIFE: Rule = Rule::from_masks(1 << 3 | 1 << 6, 1 << 2 | 1 << 3);
    /// `B2/S`, in which every cell dies after one generation.
    pub const SEEDS: Rule = Rule::from_masks(1 << 2, 0);
    /// `B3678/S34678`, in which living and dead cells may be exchanged.
    pub const DAY_AND_NIGHT: Rule = Rule::from_masks(0b1_1100_1000, 0b1_1101_1000);

    /// Returns the rule in which bit `n` of `births` is set if a cell with `n` neighbours is born, and bit `n` of `survivals` if
    /// it survives. Bits above the eighth are ignored.
    ///
    /// ```
    /// use slm::life::Rule;
    ///
    /// assert_eq!(Rule::from_masks(1 << 3, 1 << 2 | 1 << 3), Rule::CONWAY);
    /// ```
    #[must_use]
    pub const fn from_masks(births: u16, survivals: u16) -> Self {
        Rule { births: births & NEIGHBOURS, survivals: survivals & NEIGHBOURS }
    }

    /// Returns the numbers of neighbours with which a cell is born: bit `n` for `n` neighbours.
    #[must_use]
    pub const fn births(self) -> u16 {
        self.births
    }

    /// Returns the numbers of neighbours with which a cell survives: bit `n` for `n` neighbours.
    #[must_use]
    pub const fn survivals(self) -> u16 {
        self.survivals
    }

    /// Returns whether a cell with this number of living neighbours is alive in the next generation. With more than 8
    /// neighbours it is not.
    #[must_use]
    pub const fn is_alive(self, now: bool, neighbours: u32) -> bool {
        let mask = if now { self.survivals } else { self.births };
        neighbours <= 8 && mask >> neighbours & 1 == 1
    }
}

impl Default for Rule {
    fn default() -> Self {
        Rule::CONWAY
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (letter, mask) in [("B", self.births), ("/S", self.survivals)] {
            f.write_str(letter)?;
            (0..=8).filter(|n| mask >> n & 1 == 1).try_for_each(|n| write!(f, "{n}"))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rule({self})")
    }
}

impl FromStr for Rule {
    type Err = Error;

    /// Returns the rule with this text, in one of the [spellings](Rule#spellings).
    ///
    /// # Errors
    ///
    /// [`LifeError::Rule`] if the text is not a rule.
    fn from_str(text: &str) -> Result<Self> {
        let invalid = |Invalid { position, found, expected }| {
            LifeError::Rule { rule: text.to_owned(), position, found, expected }.into()
        };
        parse(text).map_err(invalid)
    }
}

/// The first invalid character of a rule.
#[derive(Debug)]
pub(super) struct Invalid {
    /// Number of the character, from 1.
    pub(super) position: usize,
    pub(super) found: Option<char>,
    pub(super) expected: &'static str,
}

/// A rule, or the reason why there is none.
type Parsed<T> = std::result::Result<T, Invalid>;

pub(super) fn parse(text: &str) -> Parsed<Rule> {
    let name: String = text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect();
    if let Some((_, rule)) = NAMES.iter().find(|(other, _)| *other == name) {
        return Ok(*rule);
    }
    let mut scanner = Scanner::new(text);
    match scanner.next() {
        Some('b' | 's') => lettered(&mut scanner),
        Some('0'..='8' | '/') => digits_only(&mut scanner),
        _ => Err(scanner.invalid("B, S or a digit from 0 to 8")),
    }
}

/// Parses `B3/S23` and `S23/B3`, with or without a separator.
fn lettered(scanner: &mut Scanner<'_>) -> Parsed<Rule> {
    let [mut births, mut survivals] = [None; 2];
    loop {
        let (mask, expected) = match scanner.next() {
            Some('b') if births.is_none() => (&mut births, "a digit from 0 to 8, or S"),
            Some('s') if survivals.is_none() => (&mut survivals, "a digit from 0 to 8, or B"),
            _ if births.is_none() => return Err(scanner.invalid("B")),
            _ => return Err(scanner.invalid("S")),
        };
        scanner.advance();
        *mask = Some(scanner.digits());
        if let (Some(births), Some(survivals)) = (births, survivals) {
            return scanner.end(Rule::from_masks(births, survivals));
        }
        match scanner.next() {
            Some('/' | '_') => scanner.advance(),
            Some('b' | 's') => {}
            _ => return Err(scanner.invalid(expected)),
        }
    }
}

/// Parses `23/3`.
fn digits_only(scanner: &mut Scanner<'_>) -> Parsed<Rule> {
    let survivals = scanner.digits();
    if scanner.next() != Some('/') {
        return Err(scanner.invalid("a digit from 0 to 8, or /"));
    }
    scanner.advance();
    let births = scanner.digits();
    scanner.end(Rule::from_masks(births, survivals))
}

/// A position in the text of a rule.
struct Scanner<'a> {
    rest: Chars<'a>,
    /// Number of the next character, from 1.
    position: usize,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        let rest = text.trim_start();
        let position = text[..text.len() - rest.len()].chars().count() + 1;
        Scanner { rest: rest.trim_end().chars(), position }
    }

    /// Returns the next character, in lower case.
    fn next(&self) -> Option<char> {
        self.rest.clone().next().map(|next| next.to_ascii_lowercase())
    }

    fn advance(&mut self) {
        self.rest.next();
        self.position += 1;
    }

    /// Returns the bits of the digits from here on.
    fn digits(&mut self) -> u16 {
        let mut mask = 0;
        while let Some(digit) = self.next().and_then(|next| next.to_digit(9)) {
            mask |= 1 << digit;
            self.advance();
        }
        mask
    }

    fn end(&self, rule: Rule) -> Parsed<Rule> {
        match self.next() {
            None => Ok(rule),
            // The number of states of a rule of the family "Generations".
            Some('/' | '_' | 'c' | 'g') => Err(self.invalid("the end, because only two states are supported")),
            Some(':') => Err(self.invalid("the end, because a grid is not a part of the rule")),
            Some(_) => Err(self.invalid("a digit from 0 to 8, or the end")),
        }
    }

    fn invalid(&self, expected: &'static str) -> Invalid {
        Invalid { position: self.position, found: self.rest.clone().next(), expected }
    }
}
