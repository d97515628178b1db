//! Launches the kernels of `catalogue::ends` on a GPU, each launch in its own process.

use crate::{on_gpu, process};
use catalogue::Args;
use catalogue::ends::{THREADS, TILE, copies_under_way, descend, recursion};
use cuda_std::Entry;
use slm::{Device, LaunchShape};
use std::error::Error;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Number of blocks, many times more than run at the same time, so that most blocks begin where another one has ended.
const BLOCKS: u64 = 20_000;

/// Number of elements, larger than any cache, so that copies take long.
const ELEMENTS: u32 = 1 << 26;

/// Outputs of correct launches: with copies, and with calls.
const RIGHT: [&str; 2] = ["0 elements changed", "right, 0 elements changed"];

/// Depths of recursion.
const DEPTHS: [&str; 7] = ["1", "5", "10", "100", "1000", "10000", "1000000"];

/// Stack of the host thread that makes the same calls.
const STACK_BYTES: usize = 1 << 30;

/// Launches a kernel. Returns its result, and the number of elements that changed.
fn launch<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(input: &[u32]) -> Outcome<(Vec<u32>, u32)> {
    let shape = LaunchShape::new([BLOCKS, 1, 1], [THREADS, 1, 1]).shared_bytes((4 * TILE).into());
    let [output, result] = on_gpu::launch::<E>(&Device::open()?, input, shape, false)?;
    Ok((result, output[0]))
}

/// Launches blocks that end while their copies are in progress.
pub(crate) fn copies() -> Outcome<()> {
    let (_, changed) = launch::<copies_under_way>(&vec![u32::MAX; ELEMENTS as usize])?;
    println!("{changed} elements changed");
    Ok(())
}

/// Launches threads that call a function recursively.
pub(crate) fn calls(depth: &str) -> Outcome<()> {
    let depth: u32 = depth.parse()?;
    let (result, changed) = launch::<recursion>(&[depth])?;
    let expected =
        move || -> Vec<u32> { (0..THREADS).map(|t| descend(if t % 2 == 1 { depth } else { 1 }, t)).collect() };
    let expected = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(expected)?.join();
    let word = if expected.is_ok_and(|expected| expected == result) { "right" } else { "wrong" };
    println!("{word}, {changed} elements changed");
    Ok(())
}

/// Makes all launches and prints a line for each. A launch without an error must have the right result, and must not change
/// other memory.
pub(crate) fn all() -> Outcome<()> {
    let launches = std::iter::once(["end", "copies"]).chain(DEPTHS.map(|depth| ["recursion", depth]));
    let mut failed = 0;
    for launch in launches {
        let (is_right, text) = match process::run(&launch)? {
            Some(output) => {
                let text = process::first_line(&output);
                // Only deep recursion may end with an error.
                let may_fail = launch[0] == "recursion" && launch[1] != DEPTHS[0];
                let is_right = RIGHT.contains(&text.as_str()) || may_fail && !output.status.success();
                (is_right, text)
            }
            None => (false, "does not end".to_owned()),
        };
        failed += u32::from(!is_right);
        println!("{}\t{text}", launch.join(" "));
    }
    if failed == 0 { Ok(()) } else { Err(format!("{failed} launches did harm").into()) }
}
