//! Which kernels run, with how much of the device, and that all agree for many weights and several blocks.

use super::cases::{plain, resized};
use super::missing::types;
use super::oracle::{Case, Direction, Weights};
use super::refused::refused;
use super::types::{ALL, Types};
use super::{SUITE, check};
use crate::common::{Random, ensure, equal, is_cuda, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::emulator::{Action, Profile, Space};
use slm::filter2d::Filtering;
use slm::{Backend, Device, Error, Extent, Filter2dAlgorithm};

/// Types with each type of sums.
const SUMS: [&str; 4] = ["u8_i32_i16", "i32_i32_i32", "f32_f32_f32", "f64_f64_f64"];

pub(super) fn trials() -> Vec<Trial> {
    let of_types = SUMS.map(types).into_iter().flat_map(|types| {
        let several = format!("kernels::{}::several_blocks", types.name);
        let many = format!("kernels::{}::many_weights", types.name);
        let products = format!("kernels::{}::outer_products", types.name);
        let several = on_every_backend(SUITE, &several, |device| several_blocks(device, types));
        let many = on_every_backend(SUITE, &many, |device| many_weights(device, types));
        let products = on_every_backend(SUITE, &products, |device| outer_products(device, types));
        several.into_iter().chain(many).chain(products)
    });
    let others = [
        Trial::test("filter2d::emulated::kernels::names", names),
        Trial::test("filter2d::emulated::kernels::what_auto_chooses", what_auto_chooses),
        Trial::test("filter2d::emulated::kernels::too_much_shared_memory", too_much_shared_memory),
        Trial::test("filter2d::emulated::kernels::what_runs_is_planned", what_runs_is_planned),
        Trial::test("filter2d::emulated::kernels::tiles_load_each_sample_once", tiles_load_each_sample_once),
        Trial::test("filter2d::cpu::kernels::outer_products_on_the_cpu", outer_products_on_the_cpu),
    ];
    let compiled = on_every_backend(SUITE, "kernels::compiled_rows", compiled_rows);
    of_types.chain(on_every_backend(SUITE, "kernels::plans", plans)).chain(compiled).chain(others).collect()
}

/// Several tiles along both axes, with channels that do not divide the threads, of several planes.
fn several_blocks(device: &Device, types: &Types) -> Result<(), Failed> {
    let case = Case { stride: [2, 3], dilation: [3, 2], ..plain(types, 31, [37, 100], [3, 2]) };
    check(device, types, &resized(types, case, Some(3), 2))?;
    let case = Case { extent: Extent::Full, ..plain(types, 32, [18, 66], [2, 3]) };
    check(device, types, &case)?;
    // Register tiles, which are wider and higher.
    let case = Case { dilation: [2, 1], ..plain(types, 44, [35, 390], [3, 5]) };
    check(device, types, &resized(types, case, Some(2), 2))?;
    // One whose samples are all inside, beside one that ends with the picture.
    let case = Case { extent: Extent::Valid, ..plain(types, 46, [34, 200], [3, 4]) };
    check(device, types, &case)
}

/// More weights than threads of a block, and more than samples.
fn many_weights(device: &Device, types: &Types) -> Result<(), Failed> {
    let shape = if is_slow(device) { [4, 6] } else { [65, 130] };
    let case = plain(types, 33, shape, [31, 31]);
    check(device, types, &case)?;
    let dilation = if is_slow(device) { [1, 1] } else { [2, 1] };
    let weights = Weights::Separable(vec![1.0; 31], (0..31).map(|i| f64::from(i % 5 - 2)).collect());
    check(device, types, &Case { weights, dilation, ..case })
}

/// Rows of weights of the lengths for which the register-tiled kernel has code of its own, more rows than are kernel parameters too.
fn compiled_rows(device: &Device) -> Result<(), Failed> {
    for (number, weights) in [[2, 17], [3, 31], [47, 17]].into_iter().enumerate() {
        for types in ["u8_f32_u8", "f32_f32_f32", "i32_i32_i32"].map(types) {
            let case = Case { boundary: super::cases::boundaries(0.0)[number], ..plain(types, 47, [9, 23], weights) };
            check(device, types, &Case { dilation: [1 + number % 2, 1], ..case })?;
        }
    }
    Ok(())
}

/// Dense weights that may be computed as a column and a row, also with a constant outside.
fn outer_products(device: &Device, types: &Types) -> Result<(), Failed> {
    let case = Case { extent: Extent::Full, ..plain(types, 42, [7, 11], [1, 1]) };
    let random = &mut Random::new(42);
    for (number, [rows, columns]) in [[3, 3], [5, 4], [2, 7]].into_iter().enumerate() {
        let [column, row] = [rows, columns].map(|taps| types.weights(random, taps));
        // Small and exact in `f32`, with zeros among them.
        let exact = |weight: &f64| if types.most > 0.0 { weight % 4.0 } else { (weight * 8.0).round() / 8.0 };
        let weights = column.iter().flat_map(|c| row.iter().map(move |r| exact(c) * exact(r))).collect();
        let boundary = super::cases::boundaries(types.sample(random))[number + 1];
        let direction = [Direction::Correlate, Direction::Convolve][number % 2];
        let case = Case { weights: Weights::Dense([rows, columns], weights), boundary, direction, ..case.clone() };
        check(device, types, &case)?;
    }
    Ok(())
}

fn plan(
    types: &Types,
    case: &Case,
    algorithm: Filter2dAlgorithm,
) -> slm::Result<slm::Plan<Filter2dAlgorithm, Filtering>> {
    types.runs.plan(&Device::emulated(Profile::SM_90, 0), case, algorithm)
}

/// The names tell the documented types of sums.
fn names() -> Result<(), Failed> {
    for types in &ALL {
        for weights in [[1, 1], [3, 3], [7, 7]] {
            let case = plain(types, 34, [20, 20], weights);
            let sums = types.sums_name(&case.weights);
            for (algorithm, name) in [
                (Filter2dAlgorithm::GlobalMemory, "global"),
                (Filter2dAlgorithm::SharedTile, "tile"),
                (Filter2dAlgorithm::RegisterTiled, "register"),
            ] {
                equal(plan(types, &case, algorithm)?.kernels().join(", "), format!("filter2d_{name}_{sums}"))?;
            }
        }
    }
    Ok(())
}

fn what_auto_chooses() -> Result<(), Failed> {
    let types = types("f32_f32_f32");
    let small = plan(types, &plain(types, 35, [20, 70], [3, 4]), Filter2dAlgorithm::Auto)?;
    equal(
        (&*small.kernels().join(", "), &*small.reason),
        ("filter2d_register_f32", "the filter allows register tiles"),
    )?;
    equal(&*small.outputs, &[20, 70][..])?;
    // One tile of 32 rows.
    equal((small.launches[0].grid, small.launches[0].block), ([1, 1, 1], [32, 4, 1]))?;
    // Two of 31 rows of weights are not kernel parameters.
    let large = plan(types, &plain(types, 35, [20, 70], [31, 31]), Filter2dAlgorithm::Auto)?;
    equal((&*large.kernels().join(", "), large.launches[0].block), ("filter2d_register_f32", [32, 8, 1]))?;
    let strided = Case { stride: [1, 2], ..plain(types, 35, [20, 140], [3, 3]) };
    let strided = plan(types, &strided, Filter2dAlgorithm::Auto)?;
    equal(
        (&*strided.kernels().join(", "), &*strided.reason),
        ("filter2d_tile_f32", "the filter does not allow register tiles"),
    )?;
    equal(&*strided.outputs, &[20, 70][..])?;
    // Two rows of three tiles.
    equal((strided.launches[0].grid, strided.launches[0].block), ([6, 1, 1], [32, 8, 1]))?;
    let high = plan(types, &plain(types, 35, [640, 70], [600, 3]), Filter2dAlgorithm::Auto)?;
    let reason = "a register tile does not fit into shared memory";
    equal((&*high.kernels().join(", "), &*high.reason), ("filter2d_tile_f32", reason))?;
    let wide = Case { dilation: [1, 40_000], ..plain(types, 36, [20, 70], [3, 3]) };
    let wide = plan(types, &wide, Filter2dAlgorithm::Auto)?;
    let reason = "a tile does not fit into shared memory";
    equal((&*wide.kernels().join(", "), &*wide.reason), ("filter2d_global_f32", reason))?;
    // Three rows of three blocks.
    equal((wide.launches[0].grid, wide.launches[0].shared_bytes), ([9, 1, 1], 0))?;
    let empty = plan(types, &plain(types, 37, [0, 70], [3, 3]), Filter2dAlgorithm::Auto)?;
    equal((&*empty.reason, empty.launches.len()), ("there is nothing to compute", 0))
}

/// By hand, for a GPU with 64 KiB: 16 + 62 rows of 32 + 62 pixels of 8 bytes are 58,656 bytes, and 63² weights 31,752.
fn too_much_shared_memory() -> Result<(), Failed> {
    let device = Device::emulated(Profile::SMALL, 0);
    let doubles = types("f64_f64_f64");
    let case = plain(doubles, 38, [1, 1], [63, 63]);
    let kernel = "filter2d_tile_f64".to_owned();
    // Both are rounded up to 16 bytes.
    let error = Error::SharedMemoryExceeded { kernel, requested: 58_656 + 31_760, available: 65_536 };
    equal(refused(&device, doubles, &case, Filter2dAlgorithm::SharedTile), Some(error.clone()))?;
    let prepared = doubles.runs.plan(&device, &case, Filter2dAlgorithm::SharedTile);
    equal(prepared.map(|plan| plan.kernels().join(", ")), Err(error))?;
    // The lowest block has two numbers, 56 rows of 64 weights that are not kernel parameters, and 70 rows of 96 + 64 samples.
    let kernel = "filter2d_register_f64".to_owned();
    let error = Error::SharedMemoryExceeded { kernel, requested: 16 + 28_672 + 89_600, available: 65_536 };
    equal(refused(&device, doubles, &case, Filter2dAlgorithm::RegisterTiled), Some(error.clone()))?;
    let prepared = doubles.runs.plan(&device, &case, Filter2dAlgorithm::RegisterTiled);
    equal(prepared.map(|plan| plan.kernels().join(", ")), Err(error))?;
    let floats = types("f32_f32_f32");
    let case = plain(floats, 38, [1, 1], [63, 63]);
    equal(refused(&device, floats, &case, Filter2dAlgorithm::SharedTile), None)
}

fn what_runs_is_planned() -> Result<(), Failed> {
    let doubles = |stride| Case { stride: [1, stride], ..plain(types("f64_f32_f64"), 39, [19, 81], [3, 4]) };
    let floats = |taps| {
        let weights = Weights::Separable(vec![0.5; taps], vec![2.0; taps]);
        Case { weights, ..plain(types("f32_f32_f32"), 39, [19, 81], [taps, taps]) }
    };
    for (algorithm, name, case) in [
        (Filter2dAlgorithm::GlobalMemory, "f64_f32_f64", doubles(2)),
        (Filter2dAlgorithm::SharedTile, "f64_f32_f64", doubles(2)),
        (Filter2dAlgorithm::RegisterTiled, "f64_f32_f64", doubles(1)),
        (Filter2dAlgorithm::RegisterTiled, "f32_f32_f32", floats(6)),
        (Filter2dAlgorithm::Streaming, "f32_f32_f32", floats(5)),
        (Filter2dAlgorithm::Separable, "f32_f32_f32", floats(7)),
        (Filter2dAlgorithm::Separable, "f32_f32_f32", floats(12)),
        (Filter2dAlgorithm::Box, "f32_f32_f32", floats(8)),
    ] {
        let device = Device::emulated(Profile::SM_80, 3);
        let (types, case) = (types(name), Case { extent: Extent::Valid, ..case });
        let plan = types.runs.plan(&device, &case, algorithm)?;
        types.runs.apply(&device, &case, algorithm, false)?;
        let [report] = &device.emulation_reports()[..] else { return Err("not one kernel".into()) };
        let launch = &plan.launches[0];
        equal((report.kernel, report.launch.grid.map(u64::from)), (&*plan.kernels().join(", "), launch.grid))?;
        equal((report.launch.block, report.launches), (launch.block, launch.times))?;
        equal(u64::from(report.launch.shared_bytes), launch.shared_bytes)?;
        ensure(report.bank_conflicts() == 0, || {
            format!("{} bank conflicts: {}", report.bank_conflicts(), plan.kernels().join(", "))
        })?;
        let [taps, wide] = case.weights.shape();
        let (rows, columns) = (20 - taps, (82 - wide).div_ceil(case.stride[1]));
        // Samples and outputs have the same size.
        let bytes = if name.starts_with("f64") { 8 } else { 4 };
        equal(
            (plan.outputs.clone(), launch.moved_bytes),
            (vec![rows, columns], bytes * (19 * 81 + rows * columns) as u64),
        )?;
        ensure(plan.to_string().contains(&format!("{rows} x {columns}\n")), || plan.to_string())?;
    }
    Ok(())
}

/// One tile: its samples with their halo, its weights, and nothing else of global memory.
fn tiles_load_each_sample_once() -> Result<(), Failed> {
    let device = Device::emulated(Profile::SM_90, 1);
    let types = types("f32_f32_f32");
    let case = Case { stride: [2, 3], dilation: [1, 4], ..plain(types, 40, [80, 120], [5, 3]) };
    let case = Case { extent: Extent::Valid, shape: [35, 102], ..case };
    types.runs.apply(&device, &Case { samples: vec![1.0; 35 * 102], ..case }, Filter2dAlgorithm::SharedTile, false)?;
    let [report] = &device.emulation_reports()[..] else { return Err("not one kernel".into()) };
    let loads = report.counts(Action::Load, Some(Space::GlobalConstant)).lanes;
    equal((report.launch.grid, loads), ([1, 1, 1], 35 * 102 + 15))
}

/// What every device plans for a picture of four channels.
fn plans(device: &Device) -> Result<(), Failed> {
    let types = types("u8_f32_u8");
    let case = resized(types, Case { stride: [2, 3], ..plain(types, 41, [9, 8], [3, 3]) }, Some(4), 1);
    let plan = types.runs.plan(device, &case, Filter2dAlgorithm::SharedTile)?;
    let is_cpu = device.info().backend == Backend::Cpu;
    let (kernel, launches) = if is_cpu { ("", 0) } else { ("filter2d_tile_f32", 1) };
    equal((plan.outputs.clone(), plan.algorithm), (vec![5, 3, 4], Filter2dAlgorithm::SharedTile))?;
    equal((&*plan.kernels().join(", "), plan.launches.len(), &*plan.device), (kernel, launches, &*device.to_string()))?;
    ensure(plan.launches.iter().all(|launch| launch.residency.is_some() == is_cuda(device)), || plan.to_string())?;
    ensure(plan.to_string().lines().count() >= 3 + launches, || plan.to_string())
}

/// The CPU says whether it found an outer product.
fn outer_products_on_the_cpu() -> Result<(), Failed> {
    let reason = |name: &str, values: &[f64], renormalise: bool| -> Result<String, Failed> {
        let weights = Weights::Dense([3, 3], values.to_vec());
        let case = Case { weights, renormalise, ..plain(types(name), 43, [5, 5], [1, 1]) };
        Ok(types(name).runs.plan(&Device::cpu(), &case, Filter2dAlgorithm::Auto)?.reason)
    };
    let product = "separable: sums down the columns first, then along the rows";
    let dense = "dense: all weights of an output at once";
    let sobel = [-1.0, 0.0, 1.0, -2.0, 0.0, 2.0, -1.0, 0.0, 1.0];
    let laplacian = [0.0, 1.0, 0.0, 1.0, -4.0, 1.0, 0.0, 1.0, 0.0];
    for name in SUMS {
        equal(&*reason(name, &sobel, false)?, product)?;
        equal(&*reason(name, &laplacian, false)?, dense)?;
        // Integers are never missing.
        let is_float = types(name).samples.range().is_none();
        equal(&*reason(name, &sobel, true)?, if is_float { dense } else { product })?;
    }
    Ok(())
}
