//! The definitions, one output at a time.

use crate::numbers::Kind;

/// A function of one sample.
#[derive(Clone, Debug)]
pub enum Function {
    Convert { scale: f64, offset: f64 },
    Abs,
    Square,
    Sqrt,
    Clamp { lower: f64, upper: f64 },
    Gamma { exponent: f64 },
    Between { edges: Vec<f64>, entries: Vec<f64>, outside: Option<[f64; 3]> },
}

/// A function of two samples.
#[derive(Clone, Copy, Debug)]
pub enum Combination {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
    AbsDiff,
    Magnitude,
}

pub const COMBINATIONS: [Combination; 8] = [
    Combination::Add,
    Combination::Sub,
    Combination::Mul,
    Combination::Div,
    Combination::Min,
    Combination::Max,
    Combination::AbsDiff,
    Combination::Magnitude,
];

/// The documented type of a computation: a rounding after each step.
#[derive(Clone, Copy, Debug)]
struct Rounding {
    is_f32: bool,
}

impl Rounding {
    fn new([samples, outputs]: [Kind; 2]) -> Self {
        Rounding { is_f32: ![samples, outputs].iter().any(|kind| matches!(kind, Kind::I32 | Kind::F64)) }
    }

    /// Rounds the exact result of one step, or one that double precision has rounded: of numbers of single precision, double
    /// precision has enough bits for sums, products, quotients and square roots that are rounded twice to be right.
    fn step(self, result: f64) -> f64 {
        if self.is_f32 { f64::from(result as f32) } else { result }
    }
}

impl Function {
    /// The output for a sample: between these numbers, which are mostly the same.
    pub fn expected(&self, kinds: [Kind; 2], x: f64) -> [f64; 2] {
        let rounding = Rounding::new(kinds);
        let round = |number| rounding.step(number);
        let result = match self {
            Function::Convert { scale, offset } => round(round(round(*scale) * x) + round(*offset)),
            Function::Abs => x.abs(),
            Function::Square => round(x * x),
            Function::Sqrt => round(x.sqrt()),
            Function::Clamp { lower, .. } if x < *lower => *lower,
            Function::Clamp { upper, .. } if x > *upper => *upper,
            Function::Clamp { .. } => x,
            // The standard library has 0 to any power and negative numbers to integer powers.
            Function::Gamma { .. } if x < 0.0 => f64::NAN,
            Function::Gamma { exponent } => {
                let power = x.abs().powf(round(*exponent));
                let error = 2f64.powi(-40);
                return [power * (1.0 - error), power * (1.0 + error)].map(|power| kinds[1].stored(round(power)));
            }
            Function::Between { edges, entries, outside } => {
                let [below, above, nan] = outside.unwrap_or([entries[0], entries[entries.len() - 1], f64::NAN]);
                let entry = match edges.iter().filter(|&&edge| edge <= x).count() {
                    _ if x.is_nan() => nan,
                    0 => below,
                    n if n == edges.len() => above,
                    n => entries[n - 1],
                };
                return [kinds[1].stored(entry); 2];
            }
        };
        [kinds[1].stored(result); 2]
    }
}

impl Combination {
    /// The output for two samples.
    pub fn expected(self, kinds: [Kind; 2], a: f64, b: f64) -> f64 {
        let rounding = Rounding::new(kinds);
        let round = |number| rounding.step(number);
        let result = match self {
            Combination::Add => round(a + b),
            Combination::Sub => round(a - b),
            Combination::Mul => round(a * b),
            Combination::Div => round(a / b),
            Combination::Min => least(a, b),
            Combination::Max => -least(-a, -b),
            Combination::AbsDiff => round(a - b).abs(),
            Combination::Magnitude => round(round(round(a * a) + round(b * b)).sqrt()),
        };
        kinds[1].stored(result)
    }
}

/// The smaller number, or the one that is not NaN. -0 is smaller than 0.
fn least(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a == b => {
            if a.is_sign_negative() {
                a
            } else {
                b
            }
        }
        _ => {
            if a < b {
                a
            } else {
                b
            }
        }
    }
}

/// The entries of the table that equalises a histogram with these counts.
pub fn equalised(counts: &[u64]) -> impl Iterator<Item = u128> {
    let sums = counts.iter().scan(0, |sum, &count| {
        *sum += u128::from(count);
        Some(*sum)
    });
    let (total, last) = (sums.clone().last().unwrap_or(0), counts.len() as u128 - 1);
    let first = sums.clone().find(|&sum| sum > 0).unwrap_or(0);
    sums.zip(0..).map(move |(sum, value)| match total - first {
        0 => value,
        others => rounded(sum.saturating_sub(first) * last, others),
    })
}

/// The quotient, rounded to the nearest integer, ties to even.
fn rounded(a: u128, b: u128) -> u128 {
    let (quotient, twice) = (a / b, a % b * 2);
    quotient + u128::from(twice > b || twice == b && quotient % 2 == 1)
}
