//! Properties that hold for every transposition and for its launches, including matrices that exceed any memory.

use crate::common::Random;
use crate::properties::check;
use cuda_std::image::Modules;
use cuda_std::{Entry, GlobalIn, GlobalOut};
use proptest::prelude::*;
use slm::emulator::Profile;
use slm::transpose::TransposeAlgorithm;
use slm::{Device, LaunchShape, Transpose};
use slm_kernels::transpose::{
    self as kernels, Args, Geometry, Group, LaunchConstants, Layout, Places, SkewedArgs, TransposeKernel,
    TransposeProblem,
};

/// For every shape, algorithm and device, a transposition in place gives the same result, and transposing twice gives the
/// input.
#[test]
fn twice_is_the_identity() {
    let devices = [Device::cpu(), Device::emulated(Profile::SM_90, 7)];
    let algorithm = prop_oneof![
        Just(TransposeAlgorithm::Auto),
        Just(TransposeAlgorithm::Naive),
        Just(TransposeAlgorithm::SharedUnpadded),
        Just(TransposeAlgorithm::SharedPadded)
    ];
    check(
        60,
        (algorithm, 1..20usize, 1..40usize, 0..3usize, 1..6usize),
        |(algorithm, rows, columns, count, numbers)| {
            let mut random = Random::new(1);
            let matrices: Vec<u8> = (0..count * rows * columns * numbers).map(|_| random.bits() as u8).collect();
            for device in &devices {
                let [forward, back] = [(rows, columns), (columns, rows)].map(|(rows, columns)| {
                    Transpose::new(rows, columns).batch(count).components(numbers).algorithm(algorithm)
                });
                let once = forward.prepare(device).unwrap().apply(&matrices).unwrap();
                prop_assert_eq!(&back.prepare(device).unwrap().apply(&once).unwrap(), &matrices);
                let mut data = device.upload(&matrices).unwrap();
                forward.prepare_in_place(device).unwrap().apply(&mut data).unwrap();
                prop_assert_eq!(data.download().unwrap(), once);
            }
            Ok(())
        },
    );
}

/// The values for an H200.
const TUNING: LaunchConstants = LaunchConstants {
    tile_bytes: 16 << 10,
    longest_side: 128,
    shared_bytes: 56 << 10,
    row_bytes: 512,
    skewed_bytes: 41 << 10,
    run_bytes: 96,
    narrow_bytes: 24 << 10,
    fewest_blocks: 448,
    few_columns: 8,
    whole_bytes: 16 << 10,
    largest_of_words: 18 << 10,
    most_wavefronts: 8,
};

/// Grids stay within the limits of CUDA, and their tiles cover every matrix.
#[test]
fn launches_cover_all_tiles() {
    let element = prop_oneof![1..=8u64, Just(12u64), Just(16), Just(24), Just(100)];
    // Up to 2^33 elements, a terabyte or less, close to powers of two.
    let sizes = (1..32u32, 1..32u32, -2..=2i64, -2..=2i64, 1..200_000u64);
    check(2000, (element, sizes, any::<bool>()), |(element, (r, c, dr, dc, matrices), gap)| {
        let rows = (1u64 << r).saturating_add_signed(dr).max(2);
        let columns = (1u64 << c.min(33 - r)).saturating_add_signed(dc).max(2);
        let [input_pitch, output_pitch] = [columns, rows].map(|length| (length + u64::from(gap)) * element);
        let problem = TransposeProblem { rows, columns, element, matrices, input_pitch, output_pitch };
        let kernels = [
            Some(TransposeKernel::naive(&problem)),
            Some(TransposeKernel::shared(&problem, false)),
            Some(TransposeKernel::shared(&problem, true)),
            TransposeKernel::packed(&problem),
            TransposeKernel::skewed(&problem, &TUNING),
        ];
        for kernel in kernels.into_iter().flatten() {
            let geometry = Geometry::new(kernel, &problem, &TUNING);
            prop_assert!(geometry.shared_bytes <= 64 << 10, "{:?} {:?}", kernel, geometry);
            let mut next = 0;
            for part in geometry.parts() {
                let ([x, y, z], layout) = (part.grid, geometry.layout(part));
                prop_assert!(x <= i32::MAX as u64 && y <= 65_535 && z <= 65_535, "{:?} {:?}", kernel, part);
                prop_assert_eq!((part.first_matrix, x % (1 << layout.across_log2)), (next, 0));
                prop_assert_eq!(part.end, next + z);
                next = part.end;
                let [down, across] = [x >> layout.across_log2, y << layout.across_log2];
                let [tile_rows, tile_columns] = [layout.tile_rows, layout.tile_columns].map(u64::from);
                prop_assert!(down * tile_rows >= rows && across * tile_columns >= columns, "{:?}", layout);
                // No superfluous tiles, except in front of a skewed kernel's first row.
                prop_assert!((down - 1) * tile_rows < rows + 32, "{:?}", layout);
                prop_assert!((y - 1) << layout.across_log2 < columns.div_ceil(tile_columns), "{:?}", layout);
            }
            prop_assert_eq!(next, matrices);
        }
        Ok(())
    });
}

/// Blocks of whole matrices begin with whole words, have room for them, and have each matrix once.
#[test]
fn whole_matrices_share_blocks() {
    let element = prop_oneof![Just(1u64), Just(2), Just(3), Just(4), Just(6), Just(8), Just(12), Just(16)];
    let sizes = (1..200u64, 1..200u64, prop_oneof![1..5000u64, 1..50_000_000u64]);
    check(2000, (element, sizes), |(element, (rows, columns, matrices))| {
        let [input_pitch, output_pitch] = [columns, rows].map(|length| length * element);
        let problem = TransposeProblem { rows, columns, element, matrices, input_pitch, output_pitch };
        let Some(kernel) = TransposeKernel::whole(&problem, &TUNING) else { return Ok(()) };
        let (geometry, bytes) = (Geometry::new(kernel, &problem, &TUNING), rows * input_pitch);
        let Group { at_once, units, .. } = geometry.group;
        prop_assert_eq!(u64::from(units) * u64::from(kernel.unit()), bytes);
        prop_assert_eq!(u64::from(at_once) * bytes % 4, 0);
        prop_assert!(u64::from(at_once) * bytes <= geometry.shared_bytes && geometry.shared_bytes <= 56 << 10);
        prop_assert!(geometry.blocks() >= 448, "{:?}", geometry);
        let mut next = 0;
        for part in geometry.parts() {
            let blocks = (part.end - part.first_matrix).div_ceil(at_once.into());
            prop_assert_eq!((part.first_matrix, part.grid), (next, [1, 1, blocks]));
            next = part.end;
        }
        prop_assert_eq!(next, matrices);
        Ok(())
    });
}

/// Tiles get fewer columns where the shared memory of a block is small.
#[test]
fn shared_memory_of_any_device_is_enough() {
    let device = Device::emulated(Profile::SM_75, 0);
    for (rows, columns) in [(18, 222), (32, 256), (49, 1000), (97, 500), (128, 30)] {
        for components in [1, 3] {
            Transpose::<u16>::new(rows, columns).batch(500).components(components).prepare(&device).unwrap();
            Transpose::<u8>::new(rows, columns).batch(500).components(components).prepare(&device).unwrap();
        }
    }
}

/// Tiles of a narrow matrix are long, but still have all of its columns.
#[test]
fn long_tiles_have_all_columns() {
    for (element, columns) in [(1, 2), (1, 3), (1, 6), (3, 2), (1, 7)] {
        let (rows, matrices, input_pitch) = (3_670_016, 1, element * columns);
        let problem =
            TransposeProblem { rows, columns, element, matrices, input_pitch, output_pitch: rows * element + 1 };
        let geometry = Geometry::new(TransposeKernel::skewed(&problem, &TUNING).unwrap(), &problem, &TUNING);
        let layout = geometry.layout(geometry.parts().next().unwrap());
        assert_eq!(u64::from(layout.tile_columns), columns, "{element} bytes, {columns} columns");
        assert!(layout.tile_rows >= 1024, "{element} bytes, {columns} columns: {} rows", layout.tile_rows);
    }
}

/// There is no skewed kernel for tiles whose units exceed 32 bits, nor for columns that exceed the shared memory.
#[test]
fn invalid_skewed_tiles() {
    let skewed = |rows, columns, element, input_pitch| {
        let problem =
            TransposeProblem { rows, columns, element, matrices: 1, input_pitch, output_pitch: rows * element };
        TransposeKernel::skewed(&problem, &TUNING).map(|kernel| Geometry::new(kernel, &problem, &TUNING))
    };
    // The maximum units in a row of the output; then the bytes and the units of an element.
    const MAX_UNITS: u64 = i32::MAX as u64 - 1024;
    for (element, units) in [(1, 1), (2, 1), (3, 3), (4, 1), (6, 3), (8, 1), (12, 3), (16, 2)] {
        let [rows, pitch] = [MAX_UNITS / units, 2 * element];
        assert!(skewed(rows, 2, element, pitch).is_some(), "{element} bytes, {rows} rows");
        assert_eq!(skewed(rows + 1, 2, element, pitch), None, "{element} bytes");
        assert_eq!(skewed(1 << 40, 2, element, pitch), None, "{element} bytes");
    }
    let one_column = skewed(7_340_032, 1, 1, 4);
    assert!(one_column.is_none_or(|it| it.shared_bytes <= 64 << 10), "{one_column:?}");
}

/// Where columns of tiles are side by side along x of the grid, blocks beyond the last column do nothing.
#[test]
fn columns_of_tiles_side_by_side() {
    fn args<'l>(input: GlobalIn<'l, u32>, output: GlobalOut<'l, u32>, layout: Layout, _: Places) -> Args<'l, u32> {
        Args { input, output, layout }
    }
    side_by_side::<kernels::transpose_naive<u32>>(TransposeKernel::naive, args);
    side_by_side::<kernels::transpose_shared<u32>>(|problem| TransposeKernel::shared(problem, true), args);
    side_by_side::<kernels::transpose_packed_4>(|problem| TransposeKernel::packed(problem).unwrap(), args);
    side_by_side::<kernels::transpose_skewed_4>(
        |problem| TransposeKernel::skewed(problem, &TUNING).unwrap(),
        |input, output, layout, places| {
            let (input_words, output_words) = (input, output);
            SkewedArgs { input, output, input_words, output_words, layout, places }
        },
    );
}

/// Transposes two matrices with an odd number of columns of tiles, two of which are side by side, and checks the memory
/// following them.
fn side_by_side<E: Entry<Constants = ()>>(
    kernel: impl Fn(&TransposeProblem) -> TransposeKernel,
    args: impl for<'l> FnOnce(GlobalIn<'l, u32>, GlobalOut<'l, u32>, Layout, Places) -> E::Args<'l>,
) {
    const ROWS: u64 = 64;
    let geometry_of = |columns: u64| {
        let [input_pitch, output_pitch] = [4 * columns, 4 * ROWS];
        let problem = TransposeProblem { rows: ROWS, columns, element: 4, matrices: 2, input_pitch, output_pitch };
        Geometry::new(kernel(&problem), &problem, &TUNING)
    };
    let grid_of = |columns| geometry_of(columns).parts().next().unwrap().grid;
    let columns = (64..1000).step_by(4).find(|columns| grid_of(*columns)[1] == 3).unwrap();
    let (geometry, [down, across, matrices]) = (geometry_of(columns), grid_of(columns));
    let layout = Layout { across_log2: 1, ..geometry.layout(geometry.parts().next().unwrap()) };

    let device = Device::emulated(Profile::SM_90, 5);
    let (rows, columns) = (ROWS as usize, columns as usize);
    let numbers: Vec<u32> = (0..2 * rows * columns).map(|i| i as u32).collect();
    let following = vec![7; 3 * rows];
    let (input, mut output) = (device.upload(&numbers).unwrap(), vec![0; numbers.len()]);
    output.extend(&following);
    let mut output = device.upload(&output).unwrap();
    let shape = LaunchShape::new([2 * down, across.div_ceil(2), matrices], [geometry.threads, 1, 1])
        .shared_bytes(geometry.shared_bytes);
    let launched = device
        .kernel::<E>(&Modules::NONE)
        .unwrap()
        .launch(shape, |windows| args(windows.input(&input), windows.output(&mut output), layout, geometry.skewed));
    launched.unwrap_or_else(|error| panic!("{error}"));
    let output = output.download().unwrap();
    let of = |i: usize| numbers[i / (rows * columns) * rows * columns + i % rows * columns + i / rows % columns];
    assert!((0..numbers.len()).all(|i| output[i] == of(i)), "{} does not transpose", E::NAME);
    assert_eq!(output[numbers.len()..], following, "{}", E::NAME);
}

/// A single row can have any pitch.
#[test]
fn pitches_of_single_rows() {
    let numbers: Vec<u32> = (0..100).collect();
    for device in [Device::cpu(), Device::emulated(Profile::SM_90, 5)] {
        for pitch in [usize::MAX, 1 << 58, (1 << 58) + 1] {
            let wide = || slm::Buffer2::from_buffer(device.upload(&numbers).unwrap(), 1, 100, pitch);
            let tall = || slm::Buffer2::from_buffer(device.upload(&numbers).unwrap(), 100, 1, 1);
            for (transpose, input, mut output) in [
                (Transpose::new(100, 1), tall().unwrap(), wide().unwrap()),
                (Transpose::new(1, 100), wide().unwrap(), tall().unwrap()),
            ] {
                transpose.prepare(&device).unwrap().apply_into(&input, &mut output).unwrap();
                assert_eq!(output.into_buffer().download().unwrap(), numbers);
            }
        }
    }
}
