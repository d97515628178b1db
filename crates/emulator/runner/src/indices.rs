//! Accesses with indices beyond a window on shared memory, on a GPU. Each is in its own process, since most of them end it
//! with an error.

use crate::{on_gpu, process};
use catalogue::SHARED_BYTES;
use catalogue::indices::{ACTIONS, WINDOW, beyond_the_window};
use slm::{Device, LaunchShape};
use std::error::Error;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Number of blocks, enough for several on each multiprocessor.
const BLOCKS: u64 = 1000;

/// Bytes of shared memory that the system reserves below a block's window.
const RESERVED: u32 = 1024;

/// Index at which the addresses of elements of four bytes wrap around.
const WRAP: u32 = 1 << 30;

/// Makes the access. Returns the loaded value, and the number of elements of all blocks that changed.
fn access(index: u32, action: u32) -> Outcome<[u32; 2]> {
    let shape = LaunchShape::new([BLOCKS, 1, 1], [256, 1, 1]).shared_bytes(SHARED_BYTES.into());
    let [output, _] = on_gpu::launch::<beyond_the_window>(&Device::open()?, &[index, action], shape, false)?;
    Ok([output[0], output[1]])
}

/// Makes an access and prints its effect.
pub(crate) fn one(index: &str, action: &str) -> Outcome<()> {
    let [loaded, changed] = access(index.parse()?, action.parse()?)?;
    println!("loaded {loaded:#x}, {changed} other elements changed");
    Ok(())
}

/// Returns indices from the whole range: near powers of two, the end of the window, and the ends of the address space.
fn indices() -> Vec<u32> {
    let near = |index: u32| [index.wrapping_sub(1), index, index.wrapping_add(1)];
    let reserved = WRAP.wrapping_sub(RESERVED / 4);
    let edges = [WINDOW, WINDOW + 32, reserved, reserved + 100, WRAP, 0u32.wrapping_sub(RESERVED / 4), u32::MAX];
    let mut indices: Vec<u32> = (11..32).map(|bit| 1 << bit).chain(edges).flat_map(near).collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}

/// Makes all accesses, each in its own process, and prints a line for each. An access that does not end its kernel must not
/// change the memory of any block.
pub(crate) fn all() -> Outcome<()> {
    let mut failed = 0;
    for (index, action) in indices().into_iter().flat_map(|index| (0..ACTIONS.len()).map(move |action| (index, action)))
    {
        let output =
            process::run(&["index", &index.to_string(), &action.to_string()])?.ok_or("an access does not end")?;
        let text = process::first_line(&output);
        let is_right = !output.status.success() || text.ends_with(" 0 other elements changed");
        failed += u32::from(!is_right);
        println!("{index:#010x}\t{}\t{text}", ACTIONS[action]);
    }
    if failed == 0 { Ok(()) } else { Err(format!("{failed} accesses changed memory of others").into()) }
}
