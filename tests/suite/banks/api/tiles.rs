//! Layouts of tiles: formulas, costs by the oracle, and the search for the smallest layout.

use slm::banks::{AccessKind, BankError, BankModel, Layout, Proposal, Swizzle, Tile, Width};
use slm::{Error, Result};
use slm_test_support::banks::Prediction;
use std::collections::BTreeSet;

const ROWS: AccessKind = AccessKind::Store;
const COLUMNS: AccessKind = AccessKind::Load;

/// The row and column of each lane's access, for each request.
type Requests = Vec<Vec<Option<[u32; 2]>>>;

/// Returns a tile whose rows are stored with the width `across` and whose columns are loaded with the width `down`.
fn transposed([rows, columns]: [u32; 2], element: Width, across: Width, down: Width) -> Result<Tile> {
    Tile::new(rows, columns, element)?.row_by_row(ROWS, across)?.column_by_column(COLUMNS, down)
}

/// Returns the requests of such a tile, computed independently.
fn requests([rows, columns]: [u32; 2], each: u32, by_rows: bool) -> Requests {
    let groups = || (0..columns).step_by(each as usize);
    let places: Vec<[u32; 2]> = match by_rows {
        true => (0..rows).flat_map(|row| groups().map(move |column| [row, column])).collect(),
        false => groups().flat_map(|column| (0..rows).map(move |row| [row, column])).collect(),
    };
    let warps = places.chunks(32).map(|places| (0..32).map(|lane| places.get(lane).copied()).collect());
    warps.collect()
}

/// Returns the oracle's cost of requests with a layout: requests, phases, passes and degree.
fn prediction(
    model: BankModel,
    kind: AccessKind,
    [element, width]: [Width; 2],
    layout: Layout,
    all: &Requests,
) -> [u64; 4] {
    let bytes = u64::from(element.bytes());
    let mut sum = [0; 4];
    for places in all {
        let address = |place: &Option<[u32; 2]>| place.map(|[row, column]| layout.index(row, column) * bytes);
        let addresses: Vec<Option<u64>> = places.iter().map(address).collect();
        let cost = Prediction::of_addresses(model, kind, width.bytes().into(), &addresses);
        sum = [sum[0] + 1, sum[1] + cost.phases, sum[2] + cost.passes, sum[3].max(cost.degree.into())];
    }
    sum
}

fn costs(proposal: &Proposal) -> Vec<[u64; 4]> {
    proposal.costs.iter().map(|cost| [cost.requests, cost.phases, cost.passes, cost.degree.into()]).collect()
}

/// Checks that each element has its own index, and that `bytes` is enough for all.
fn has_room_for_all(layout: Layout, [rows, columns]: [u32; 2], element: Width, proposal: &Proposal) {
    let places = (0..rows).flat_map(|row| (0..columns).map(move |column| layout.index(row, column)));
    let places: BTreeSet<u64> = places.collect();
    assert_eq!(places.len() as u64, u64::from(rows) * u64::from(columns));
    let bytes = u64::from(element.bytes());
    let end = places.last().map_or(0, |last| last + 1) * bytes;
    // A swizzle may leave unused elements at the end of the last row.
    let slack = if layout.swizzle().is_some() { u64::from(layout.stride() - columns) * bytes } else { 0 };
    assert!(end <= proposal.bytes && proposal.bytes <= end + slack, "{proposal}");
    assert_eq!(proposal.extra_bytes, proposal.bytes - places.len() as u64 * bytes);
}

const SHAPES: [[u32; 2]; 11] =
    [[32, 32], [64, 64], [32, 33], [16, 48], [33, 64], [5, 128], [64, 4], [1, 32], [32, 1], [31, 17], [8, 256]];

/// For each tile, the layout that the search finds has the oracle's cost, and no padding or swizzle is better.
#[test]
fn the_smallest_without_conflicts_is_found() {
    for model in [BankModel::NVIDIA, BankModel::SIXTEEN] {
        for shape in SHAPES {
            for element in Width::ALL {
                let tile = transposed(shape, element, element, element).unwrap();
                is_smallest(model, &tile, &model.search(&tile));
            }
        }
    }
}

fn is_smallest(model: BankModel, tile: &Tile, found: &Proposal) {
    let (shape, element) = ([tile.rows(), tile.columns()], tile.width());
    let accesses = [(ROWS, requests(shape, 1, true)), (COLUMNS, requests(shape, 1, false))];
    let predict = |layout| accesses.each_ref().map(|(kind, all)| prediction(model, *kind, [element; 2], layout, all));
    for layout in [found.layout, Layout::padded(shape[1]), Layout::padded(shape[1] + 3)] {
        let evaluated = model.evaluate(tile, layout).unwrap();
        assert_eq!(costs(&evaluated), predict(layout), "{shape:?}, {evaluated}");
        has_room_for_all(layout, shape, element, &evaluated);
    }
    let row = model.banks() * model.bank_bytes() / element.bytes();
    let paddings = (0..row).map(|padding| Layout::padded(shape[1] + padding));
    let swizzles = swizzles(row.ilog2(), (16 / element.bytes()).ilog2()).map(|swizzle| {
        let stride = shape[1].next_multiple_of(1 << (swizzle.bits + swizzle.base));
        Layout::swizzled(stride, swizzle).unwrap()
    });
    for layout in paddings.chain(swizzles) {
        let other = model.evaluate(tile, layout).unwrap();
        assert!(!is_better(&other, found), "{other}\nis better than\n{found}");
    }
    assert_eq!(model.evaluate(tile, found.layout).as_ref(), Ok(found));
}

/// Returns all swizzles that move groups of up to `2^maximum_base` elements within `2^bits` elements.
fn swizzles(bits: u32, maximum_base: u32) -> impl Iterator<Item = Swizzle> {
    let bases = (0..=maximum_base).flat_map(move |base| (1..=bits.saturating_sub(base)).map(move |bits| (bits, base)));
    bases.flat_map(|(bits, base)| (0..=5).map(move |shift| Swizzle { bits, base, shift }))
}

fn is_better(one: &Proposal, other: &Proposal) -> bool {
    match other.is_conflict_free() {
        true => one.is_conflict_free() && one.bytes < other.bytes,
        false => one.is_conflict_free() || [one.passes(), one.bytes] < [other.passes(), other.bytes],
    }
}

/// The textbook tile of words: plain, padded and swizzled.
#[test]
fn layouts_of_a_square_of_words() {
    let tile = transposed([32, 32], Width::B4, Width::B4, Width::B4).unwrap();
    let evaluate = |layout| BankModel::NVIDIA.evaluate(&tile, layout).unwrap();
    let plain = evaluate(Layout::padded(32));
    assert_eq!((plain.is_conflict_free(), plain.passes(), plain.extra_bytes), (false, 32 + 1024, 0));
    let padded = evaluate(Layout::padded(33));
    assert_eq!((padded.is_conflict_free(), padded.passes(), padded.extra_bytes), (true, 64, 31 * 4));
    let swizzled = evaluate(Layout::swizzled(32, Swizzle { bits: 5, base: 0, shift: 0 }).unwrap());
    assert_eq!((swizzled.is_conflict_free(), swizzled.bytes, swizzled.extra_bytes), (true, 4096, 0));
    assert_eq!(BankModel::NVIDIA.search(&tile), swizzled);
    assert_eq!(
        plain.to_string(),
        "\
layout    row * 32 + column
memory    4096 bytes, 0 of them unused
access 0  requests 32, passes 32: no conflicts
access 1  requests 32, passes 1024, without conflicts 32: degree 32"
    );
}

/// Accesses of 16 bytes in both directions. If the columns are accessed by single words, no layout avoids conflicts: groups
/// of four words stay together, so 32 rows of a column are in eight banks.
#[test]
fn groups_of_elements_stay_together() {
    let model = BankModel::NVIDIA;
    let both = transposed([64, 64], Width::B4, Width::B16, Width::B16).unwrap();
    let found = model.search(&both);
    assert!(found.is_conflict_free() && found.extra_bytes == 0, "{found}");
    for (k, by_rows) in [true, false].into_iter().enumerate() {
        let all = requests([64, 64], 4, by_rows);
        let kind = if by_rows { ROWS } else { COLUMNS };
        let predicted = prediction(model, kind, [Width::B4, Width::B16], found.layout, &all);
        assert_eq!(costs(&found)[k], predicted);
    }
    let single = transposed([64, 64], Width::B4, Width::B16, Width::B4).unwrap();
    let found = model.search(&single);
    assert_eq!((found.is_conflict_free(), found.costs[0].degree, found.costs[1].degree), (false, 1, 4), "{found}");
    let error = |layout: &str| Error::from(BankError::LayoutAlignment { layout: layout.into(), elements: 4 });
    assert_eq!(model.evaluate(&single, Layout::padded(65)), Err(error("row * 65 + column")));
    let swizzle = Layout::swizzled(64, Swizzle { bits: 5, base: 1, shift: 0 }).unwrap();
    assert_eq!(model.evaluate(&single, swizzle), Err(error("row * 64 + (column ^ ((row & 31) << 1))")));
    assert!(model.evaluate(&single, Layout::padded(68)).is_ok());
}

/// The search returns the best layout if none is free of conflicts: all lanes update one element.
#[test]
fn conflicts_that_no_layout_avoids() {
    let tile =
        Tile::new(4, 32, Width::B4).unwrap().access(AccessKind::Atomic, Width::B4, 2, |r, _| Some([r, 7])).unwrap();
    let found = BankModel::NVIDIA.search(&tile);
    assert_eq!((found.is_conflict_free(), found.layout, found.passes()), (false, Layout::padded(32), 64));
}

#[test]
fn tiles_of_nothing() {
    for [rows, columns] in [[0, 0], [0, 7], [7, 0], [0, u32::MAX], [u32::MAX, 0]] {
        let tile = Tile::new(rows, columns, Width::B1).unwrap();
        let tile =
            tile.row_by_row(ROWS, Width::B16).and_then(|tile| tile.column_by_column(COLUMNS, Width::B16)).unwrap();
        let tile = tile.access(AccessKind::Atomic, Width::B1, 3, |_, _| None).unwrap();
        let found = BankModel::NVIDIA.search(&tile);
        assert_eq!((found.layout, found.bytes, found.costs.len()), (Layout::padded(columns), 0, 3));
        assert!(found.is_conflict_free() && found.costs.iter().all(|cost| *cost == Default::default()));
    }
}

#[test]
fn the_largest_tile() {
    let tile = transposed([512, 512], Width::B1, Width::B16, Width::B16).unwrap();
    assert_eq!((tile.rows(), tile.columns(), tile.width(), tile.bytes()), (512, 512, Width::B1, 1 << 18));
    assert!(BankModel::NVIDIA.search(&tile).is_conflict_free());
    let too_large =
        |factors| Err(Error::TooLarge { what: "a tile of shared memory in bytes", factors, limit: 1 << 18 });
    let maximum = u64::from(u32::MAX);
    assert_eq!(Tile::new(513, 512, Width::B1), too_large([513 * 512, 1]));
    assert_eq!(Tile::new(256, 257, Width::B4), too_large([256 * 257, 4]));
    assert_eq!(Tile::new(u32::MAX, u32::MAX, Width::B16), too_large([maximum * maximum, 16]));
    let requests = |n| Tile::new(1, 1, Width::B4).unwrap().access(ROWS, Width::B4, n, |_, _| None);
    assert!(requests(8192).is_ok());
    let what = "the number of a tile's requests";
    assert_eq!(requests(8193), Err(Error::TooLarge { what, factors: [8193, 1], limit: 8192 }));
}

#[test]
fn invalid_accesses() {
    let tile = || Tile::new(5, 10, Width::B4).unwrap();
    let narrow = |bytes| Err(BankError::NarrowAccess { bytes, element_bytes: 4 }.into());
    assert_eq!(tile().row_by_row(ROWS, Width::B2), narrow(2));
    assert_eq!(tile().column_by_column(ROWS, Width::B1), narrow(1));
    let at = |width, place| tile().access(COLUMNS, width, 1, move |_, lane| (lane == 9).then_some(place));
    let outside =
        |row, column, elements| Err(BankError::OutsideTile { row, column, elements, rows: 5, columns: 10 }.into());
    assert_eq!(at(Width::B4, [5, 0]), outside(5, 0, 1));
    assert_eq!(at(Width::B4, [4, 10]), outside(4, 10, 1));
    assert_eq!(at(Width::B8, [4, u32::MAX - 1]), outside(4, u32::MAX - 1, 2));
    assert_eq!(at(Width::B16, [0, 8]), outside(0, 8, 4));
    assert_eq!(at(Width::B8, [0, 3]), Err(BankError::TileAlignment { column: 3, elements: 2 }.into()));
    assert!(at(Width::B4, [4, 9]).is_ok() && at(Width::B8, [4, 8]).is_ok());
    // The last group of a row is incomplete.
    assert_eq!(tile().row_by_row(ROWS, Width::B16), outside(0, 8, 4));
    assert_eq!(tile().column_by_column(ROWS, Width::B16), outside(0, 8, 4));
}

#[test]
fn invalid_layouts() {
    for (stride, bits, base, shift) in
        [(33, 1, 0, 0), (32, 5, 1, 0), (32, 32, 0, 0), (0, u32::MAX, 1, 0), (0, 16, 16, 0), (32, 5, 0, 32)]
    {
        let error = Error::from(BankError::Swizzle { stride, bits, base, shift });
        assert_eq!(Layout::swizzled(stride, Swizzle { bits, base, shift }), Err(error));
    }
    let tile = Tile::new(4, 40, Width::B4).unwrap();
    let short = |pitch| Err(Error::Pitch { columns: 40, pitch });
    assert_eq!(BankModel::NVIDIA.evaluate(&tile, Layout::padded(39)), short(39));
    let swizzled = Layout::swizzled(32, Swizzle { bits: 5, base: 0, shift: 0 }).unwrap();
    assert_eq!(BankModel::NVIDIA.evaluate(&tile, swizzled), short(32));
    // Far too large for any device, but valid.
    assert_eq!(
        BankModel::NVIDIA.evaluate(&tile, Layout::padded(u32::MAX)).unwrap().bytes,
        4 * (3 * u64::from(u32::MAX) + 40)
    );
}

#[test]
fn formulas() {
    let swizzled = |bits, base, shift| Layout::swizzled(64, Swizzle { bits, base, shift }).unwrap();
    assert_eq!(Layout::padded(7).to_string(), "row * 7 + column");
    assert_eq!(swizzled(3, 0, 0).to_string(), "row * 64 + (column ^ (row & 7))");
    assert_eq!(swizzled(3, 0, 2).to_string(), "row * 64 + (column ^ (row >> 2 & 7))");
    assert_eq!(swizzled(3, 2, 0).to_string(), "row * 64 + (column ^ ((row & 7) << 2))");
    assert_eq!(swizzled(3, 2, 1).to_string(), "row * 64 + (column ^ ((row >> 1 & 7) << 2))");
    for [row, column] in [[0, 0], [1, 0], [13, 5], [14, 63], [255, 32]] {
        let (r, c) = (u64::from(row), u64::from(column));
        assert_eq!(swizzled(3, 2, 1).index(row, column), r * 64 + (c ^ ((r >> 1 & 7) << 2)));
        // CUTLASS's Swizzle<3, 2, 5> of the index.
        assert_eq!(swizzled(3, 2, 1).index(row, column), cutlass(r * 64 + c, 3, 2, 6 + 1 - 2));
    }
}

/// `Swizzle<BBits, MBase, SShift>` of CUTLASS: XORs some bits of the index with higher ones.
fn cutlass(index: u64, bits: u32, base: u32, shift: u32) -> u64 {
    let mask = ((1 << bits) - 1) << (base + shift);
    index ^ (index & mask) >> shift
}
