//! `Filter1d` with strides: times of decimations, beside those of all outputs.
//!
//! Times are the device's own, data stay on the device. Medians are printed in the columns that `peers/README.md` explains; the copy of the
//! samples is the time that all outputs take at least. Run it as `cargo bench --bench strides`.

#[path = "common/table.rs"]
mod table;

use slm::filter1d::FilterElement;
use slm::{Backend, Buffer2, Device, Filter1d, Result};
use std::any::type_name;
use table::{Times, begin, columns, end, report};

const ROUNDS: usize = 15;
const TAPS: [usize; 6] = [5, 9, 33, 65, 257, 1025];
const STRIDES: [usize; 8] = [1, 2, 3, 4, 5, 8, 16, 100];

fn main() -> Result<()> {
    let device = Device::open()?;
    begin();
    println!(
        "# slm {} on {device}; median of {ROUNDS} runs, alternating, by the device's clock",
        env!("CARGO_PKG_VERSION")
    );
    columns(&["bytes_per_s"]);
    let side = if device.info().backend == Backend::Cpu { 1 << 11 } else { 1 << 13 };
    decimate::<f32>(&device, [1, side * side], 1)?;
    decimate::<f64>(&device, [1, side * side], 1)?;
    decimate::<i32>(&device, [1, side * side], 1)?;
    decimate::<f32>(&device, [side, side], 1)?;
    decimate::<f32>(&device, [side, side], 0)?;
    end();
    Ok(())
}

/// Prints the times for all numbers of taps and all strides.
fn decimate<T: FilterElement + From<u8>>(device: &Device, [lines, samples]: [usize; 2], axis: usize) -> Result<()> {
    let numbers: Vec<T> = (0..lines * samples).map(|i| T::from((i * 7 % 251) as u8)).collect();
    let x = Buffer2::from_buffer(device.upload(&numbers)?, lines, samples, samples)?;
    let case = format!("{} n={lines}x{samples} axis={axis}", type_name::<T>());
    let mut all = Buffer2::zeroed(device, lines, samples)?;
    let mut copies = (0..ROUNDS).map(|_| Ok(device.time(|| all.copy_from(&x))?.1)).collect::<Result<Vec<_>>>()?;
    let read = (lines * samples * size_of::<T>()) as u64;
    report("copy", &case, Times::of(&mut copies), &[2 * read], "");
    for taps in TAPS {
        let weights: Vec<T> = (0..taps).map(|j| T::from((j * 5 % 101) as u8)).collect();
        let prepare = |&stride| Ok(Filter1d::correlate(&weights).stride(stride).prepare(device)?.along(axis));
        let filters = STRIDES.iter().map(prepare).collect::<Result<Vec<_>>>()?;
        let mut outputs = filters
            .iter()
            .map(|filter| {
                let [rows, columns] = filter.output_shape([lines, samples])?;
                Buffer2::zeroed(device, rows, columns)
            })
            .collect::<Result<Vec<_>>>()?;
        let mut times = vec![Vec::new(); filters.len()];
        for round in 0..=ROUNDS {
            for ((filter, outputs), times) in filters.iter().zip(&mut outputs).zip(&mut times) {
                let time = device.time(|| filter.apply_into(&x, outputs))?.1;
                if round > 0 {
                    times.push(time);
                }
            }
        }
        for ((stride, outputs), times) in STRIDES.into_iter().zip(&outputs).zip(&mut times) {
            let written = (outputs.rows() * outputs.columns() * size_of::<T>()) as u64;
            report("slm", &format!("{case} taps={taps} stride={stride}"), Times::of(times), &[read + written], "");
        }
    }
    Ok(())
}
