//! Elements that are larger than shared memory, or half as large: they are transposed as all others, in place too.

use super::oracle::{Bits, Matrices, same};
use super::{SUITE, arrays_in_place, matrices_in_place};
use crate::common::{ensure, equal, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::emulator::Profile;
use slm::{Device, Transpose};

/// Rows, columns, matrices, components of `u8`, and the gap between rows. Two elements of 32,769 bytes are more than compute
/// capability 7.5 has, and two of 116,225 bytes more than 9.0 has.
const SHAPES: [[usize; 5]; 9] = [
    [1, 1, 2, 240_000, 3],
    [2, 2, 1, 32_768, 0],
    [2, 2, 2, 32_769, 5],
    [2, 2, 1, 50_000, 0],
    [2, 2, 1, 116_225, 0],
    [2, 2, 1, 116_228, 4],
    [3, 3, 1, 120_000, 6],
    [5, 5, 1, 33_000, 1],
    [2, 3, 1, 120_001, 1],
];

pub(super) fn trials() -> Vec<Trial> {
    let mut trials: Vec<_> = on_every_backend(SUITE, "large_elements", of_every_shape).into();
    for profile in [Profile::SM_75, Profile::SM_90] {
        let name = format!("{SUITE}::emulated::large_elements_{}", profile.name());
        trials.push(Trial::test(name, move || of_every_shape(&Device::emulated(profile, 1))));
    }
    trials.push(Trial::test("transpose::emulated::plans_of_large_elements", plans));
    trials
}

fn of_every_shape(device: &Device) -> Result<(), Failed> {
    for [rows, columns, count, components, gap] in SHAPES {
        // Emulated accesses are slow.
        if is_slow(device) && rows * columns * components > 480_000 {
            continue;
        }
        let shape = [rows, columns, count, components];
        let input = Matrices::<u8>::new([count * rows, columns * components], gap, 1);
        of_shape(device, shape, &input).map_err(|e| format!("{shape:?}, gap {gap}: {e}"))?;
    }
    of_shape(device, [2, 2, 1, 60_001], &Matrices::<u16>::new([2, 2 * 60_001], 0, 1))?;
    Ok(())
}

fn of_shape<T: Bits>(device: &Device, shape: [usize; 4], input: &Matrices<T>) -> Result<(), String> {
    matrices_in_place(device, shape, input).map_err(|e| format!("in place: {e}"))?;
    if !is_slow(device) {
        arrays_in_place(device, shape, input).map_err(|e| format!("an array in place: {e}"))?;
    }
    let ([rows, columns, count, components], text) = (shape, |e: slm::Error| e.to_string());
    let expected = input.transposed(shape, Matrices::new([count * columns, rows * components], 0, 2));
    let transpose = Transpose::new(rows, columns).batch(count).components(components);
    let transpose = transpose.prepare(device).map_err(text)?;
    let output = input.on_device(device).and_then(|input| transpose.apply(&input)).map_err(text)?;
    same(&output.into_buffer().download().map_err(text)?, &expected.numbers)
}

/// Each row but the last one takes four copies, which together read and write the elements beside the diagonal twice.
fn plans() -> Result<(), Failed> {
    let device = Device::emulated(Profile::SM_75, 0);
    let plan = |side, components| {
        Transpose::<u8>::new(side, side)
            .batch(7)
            .components(components)
            .prepare_in_place(&device)
            .and_then(|it| it.plan())
    };
    equal(&*plan(3, 32_768)?.kernels().join(", "), "transpose_swap_u32")?;
    let plan = plan(3, 32_772)?;
    equal(&*plan.kernels().join(", "), "transpose_permute_u32")?;
    ensure(plan.reason.contains("too large for tiles"), || plan.to_string())?;
    let [first, second] = &plan.launches[..] else { return Err(plan.to_string().into()) };
    equal([first, second].map(|launch| (launch.times, launch.shared_bytes)), [(4 * 7, 0); 2])?;
    equal([first, second].map(|launch| launch.moved_bytes), [7 * 4 * 2 * 2 * 32_772, 7 * 4 * 2 * 32_772])?;
    // No element moves.
    let single = Transpose::<u8>::new(1, 1).components(1 << 20).prepare_in_place(&device)?.plan()?;
    equal(single.launches, vec![])
}
