//! A loop that is always unrolled.

/// Repeats code for each number from 0 to a constant (exclusive), which is at most 40, or at most 4 if that is stated. The compiler
/// does not unroll such long loops, but arrays are in registers only if all indices are constants.
macro_rules! each {
    ($i:ident < $count:ident <= 4, $code:block) => {
        each!(@$i $count $code 0 1 2 3)
    };
    ($i:ident < $count:ident, $code:block) => {
        each!(@$i $count $code 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33
            34 35 36 37 38 39)
    };
    (@$i:ident $count:ident $code:block $($number:literal)*) => {
        $(if $number < $count {
            let $i: usize = $number;
            $code
        })*
    };
}
