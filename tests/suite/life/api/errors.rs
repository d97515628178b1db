//! The text of each error, and when it is returned.

use crate::errors::{fails, says};
use ndarray::Array2;
use slm::emulator::Profile;
use slm::life::{Grid, LifeError, Pattern, Rule, Topology};
use slm::{Device, Error, Life};
use slm_test_support::life::TOPOLOGIES;
use std::ops::Range;

fn devices() -> [Device; 2] {
    [Device::cpu(), Device::emulated(Profile::SM_90, 0)]
}

#[test]
fn texts() {
    let error = LifeError::Rule { rule: "B9".into(), position: 2, found: Some('9'), expected: "a digit" };
    says(error, "the rule 'B9' is invalid: expected a digit, found '9' at character 2", None);
    let error = LifeError::Pattern { line: 3, column: 7, found: None, expected: "!" };
    says(error, "line 3, column 7 of the pattern: expected !, found the end", None);
    let error = LifeError::PatternSize { line: 2, column: 1, what: "rows", limit: 9 };
    says(error, "line 2, column 1 of the pattern: the pattern would have more than 9 rows", None);
    let error = LifeError::PatternFormat { format: "a gzip file", advice: "decompress it first" };
    says(error, "the pattern looks like a gzip file: decompress it first", None);
    let error = LifeError::Grid { line: 1, column: 28, grid: ":S30".into(), reason: "a board cannot be a sphere" };
    let text = "line 1, column 28 of the pattern: the grid ':S30' is not supported: a board cannot be a sphere";
    says(error, text, None);
    let error = LifeError::NoGrid { topology: Topology::Cylinder };
    says(error, "patterns cannot have a grid of the topology Cylinder: Golly has none", None);
    let error = LifeError::NoSuchRows { rows: 2..9, board: [5, 7] };
    says(error, "there are no rows 2 to 9 of a board of 5 x 7 (rows x columns)", None);
    let error = LifeError::NoCells { rows: 0, columns: 7 };
    says(error, "a board must have at least 1 row and 1 column, not 0 x 7 (rows x columns)", None);
    let error = LifeError::NoBands { rows: 3, columns: 5000 };
    let text = "the bands of a board of 3 x 5000 cells (rows x columns) do not fit into shared memory: choose another algorithm";
    says(error, text, None);
    let error = LifeError::NoSuchCell { row: 2, column: 3, board: [2, 4] };
    says(error, "there is no cell in row 2 and column 3 of a board of 2 x 4 (rows x columns)", None);
    let error = LifeError::Placement { pattern: [1, 2], position: [3, 5], board: [5, 6] };
    let text = "a pattern of 1 x 2 (rows x columns) does not fit at row 3 and column 5 of a board of 5 x 6: move it away from \
                the dead end, or use a larger board";
    says(error, text, None);
    let error = LifeError::Placement { pattern: [1, 7], position: [-3, 0], board: [5, 6] };
    let text = "a pattern of 1 x 7 (rows x columns) does not fit at row -3 and column 0 of a board of 5 x 6: use a larger board";
    says(error, text, None);
    let error = LifeError::Generations { generation: 3, steps: u64::MAX };
    let text = "cannot compute 18446744073709551615 generations from generation 3: the number of the last one would exceed \
                18446744073709551615";
    says(error, text, None);
    says(LifeError::NoInterval, "censuses must be at least 1 generation apart, not 0", None);
}

#[test]
fn rules_that_do_not_parse() {
    let end = "a digit from 0 to 8, or the end";
    let two_states = "the end, because only two states are supported";
    for (rule, position, found, expected) in [
        ("", 1, None, "B, S or a digit from 0 to 8"),
        (" C3/S23", 2, Some('C'), "B, S or a digit from 0 to 8"),
        ("B39/S23", 3, Some('9'), "a digit from 0 to 8, or S"),
        ("B3", 3, None, "a digit from 0 to 8, or S"),
        ("S23", 4, None, "a digit from 0 to 8, or B"),
        ("B3/", 4, None, "S"),
        ("B3/23", 4, Some('2'), "S"),
        ("B3/B3", 4, Some('B'), "S"),
        ("s2/s3", 4, Some('s'), "B"),
        ("B2/S/C3", 5, Some('/'), two_states),
        ("b2s345/g4", 7, Some('/'), two_states),
        ("B2/S345C4", 8, Some('C'), two_states),
        ("B2/S34H", 7, Some('H'), end),
        ("  B3/S2 3", 8, Some(' '), end),
        ("23", 3, None, "a digit from 0 to 8, or /"),
        ("23/3/8", 5, Some('/'), two_states),
        ("B3/S23:T30,20", 7, Some(':'), "the end, because a grid is not a part of the rule"),
        ("äB3/S23", 1, Some('ä'), "B, S or a digit from 0 to 8"),
    ] {
        fails(rule.parse::<Rule>(), LifeError::Rule { rule: rule.to_owned(), position, found, expected });
    }
}

#[track_caller]
fn refused(text: &str, [line, column]: [usize; 2], found: Option<char>, expected: &'static str) {
    fails(text.parse::<Pattern>(), LifeError::Pattern { line, column, found, expected });
}

#[test]
fn malformed_run_lengths() {
    const DATA: &str = "a count, b, o, $ or !";
    refused("", [1, 1], None, DATA);
    refused("#C nothing", [1, 11], None, DATA);
    refused("x = 3, y = 3\nbo$2bo$\n3o", [3, 3], None, DATA);
    refused("x = 3, y = 3\nbo$2bo$\n3", [3, 2], None, "b, o or $");
    refused("3!", [1, 2], Some('!'), "b, o or $");
    refused("3 3o!", [1, 3], Some('3'), "b, o or $");
    refused("bo$\n bCo!", [2, 3], Some('C'), DATA);
    refused("b.B!", [1, 3], Some('B'), DATA);
    refused("x = 3\n3.xA!", [2, 3], Some('x'), DATA);
    refused("BO2A!", [1, 4], Some('A'), "b, o or $");
    refused("bo$ #C late\n!", [1, 5], Some('#'), DATA);
    refused("x = 3\nx = 4\n!", [2, 3], Some('='), DATA);
    refused("x = 3, z = 4\n!", [1, 8], Some('z'), "y or rule");
    refused("xy = 3\n!", [1, 1], Some('x'), "x, y or rule");
    refused("x = 3, X = 3\n!", [1, 8], Some('X'), "y or rule");
    refused("y = 3, y = 3\n!", [1, 8], Some('y'), "x or rule");
    refused("y = 3, x = 3, y = 3\n!", [1, 15], Some('y'), "rule");
    refused("x = 3, y = 3, rule = B3/S23, rule = B3/S23\n!", [1, 28], Some(','), "a digit from 0 to 8, or the end");
    refused("x = 3,\ny = 4\n!", [2, 3], Some('='), DATA);
    refused("x = 3, , y = 4\n!", [1, 8], Some(','), "y or rule");
    refused("#\nx 3", [2, 3], Some('3'), "=");
    refused("x = -3, y = 4\n!", [1, 5], Some('-'), "a digit");
    refused("x = 3o, y = 4\n!", [1, 6], Some('o'), "a digit, a comma or the end of the line");
    refused("x = 3, y = 3, rule = B3/S29,\n!", [1, 27], Some('9'), "a digit from 0 to 8, or the end");
    let two_states = "the end, because only two states are supported";
    refused("x = 3, y = 3, rule = B2/S/C3\n3A!", [1, 26], Some('/'), two_states);
    refused("x = 3, y = 3, rule = 345/2/4\n3A!", [1, 27], Some('/'), two_states);
    refused("x = 3, y = 3, rule =\n!", [1, 21], None, "B, S or a digit from 0 to 8");
    refused("#r WireWorld\n!", [1, 4], Some('W'), "B, S or a digit from 0 to 8");
    refused("#\n#r WireWorld\nx = 1, y = 1\n!", [2, 4], Some('W'), "B, S or a digit from 0 to 8");
}

#[track_caller]
fn has_wrong_grid(grid: &str, reason: &'static str) {
    let error = LifeError::Grid { line: 2, column: 28, grid: grid.to_owned(), reason };
    fails(format!("#C a\nx = 3, y = 3, rule = B3/S23{grid}\n!").parse::<Pattern>(), error);
}

#[test]
fn grids_that_no_board_has() {
    has_wrong_grid(":S30", "a board cannot be a sphere");
    has_wrong_grid(":s30,30", "a board cannot be a sphere");
    has_wrong_grid(":C30,20", "a board cannot be a cross-surface, whose edges are all mirrored");
    for grid in [":T30+5,20", ":T30-5,20", ":T30,20-2", ":K30*+1,20", ":K30,20*+1", ":T30+5", ":P3+1,3"] {
        has_wrong_grid(grid, "edges cannot be joined with a shift");
    }
    for grid in [":K30,20*", ":K30,20", ":k30", ":K30*,20*"] {
        let reason = "of a Klein bottle only the upper and lower edges can be mirrored, as in ':K30*,20'";
        has_wrong_grid(grid, reason);
    }
    for grid in [":T0,20", ":P30,0", ":T0", ":K0*,5", ":P0,0"] {
        has_wrong_grid(grid, "a board cannot be unbounded");
    }
    // Only the start of a long line is shown.
    let (grid, reason) = (format!(":S{}", "1".repeat(38)), "a board cannot be a sphere");
    let error = LifeError::Grid { line: 1, column: 11, grid, reason };
    fails(format!("#r B36/S23:S{}\no!", "1".repeat(1000)).parse::<Pattern>(), error.clone());
    fails(format!("#Life 1.05\n#R 23/36:S{}\n*", "1".repeat(1000)).parse::<Pattern>(), at(error, [2, 9]));
}

/// Returns the error for another place.
fn at(error: LifeError, [line, column]: [usize; 2]) -> LifeError {
    match error {
        LifeError::Grid { grid, reason, .. } => LifeError::Grid { line, column, grid, reason },
        other => other,
    }
}

#[test]
fn malformed_grids() {
    let grid = |text: &str| format!("x = 3, y = 3, rule = B3/S23{text}\n!");
    refused(&grid(":"), [1, 29], Some('\n'), "T, P or K, the letter of a grid");
    refused(&grid(":A30,20"), [1, 29], Some('A'), "T, P or K, the letter of a grid");
    refused(&grid(": T30,20"), [1, 29], Some(' '), "T, P or K, the letter of a grid");
    refused(&grid(":T"), [1, 30], Some('\n'), "a digit");
    refused(&grid(":T,20"), [1, 30], Some(','), "a digit");
    refused(&grid(":T-3,20"), [1, 30], Some('-'), "a digit");
    refused(&grid(":T30*,20"), [1, 32], Some('*'), "the end of the grid");
    refused(&grid(":T30,20,10"), [1, 36], Some('1'), "the end of the grid");
    refused(&grid(":T30x20"), [1, 32], Some('x'), "the end of the grid");
    refused(&grid(":T30,20:P3,3"), [1, 35], Some(':'), "the end of the grid");
    refused("x = 3, rule = :T3,3\n!", [1, 15], None, "B, S or a digit from 0 to 8");
    let more = (usize::MAX >> 15) + 1;
    let error = LifeError::PatternSize { line: 1, column: 30, what: "columns", limit: usize::MAX >> 15 };
    fails(grid(&format!(":T{more},3")).parse::<Pattern>(), error);
    for [rows, columns] in [[0, 3], [3, 0]] {
        fails(Grid::new(rows, columns, Topology::Torus), LifeError::NoCells { rows, columns });
    }
    fails(Grid::new(3, 3, Topology::Cylinder), LifeError::NoGrid { topology: Topology::Cylinder });
    let error = Error::TooLarge { what: "the number of rows", factors: [more as u64, 1], limit: more as u64 - 1 };
    fails(Grid::new(more, 3, Topology::Plane), error);
}

#[test]
fn malformed_life_files() {
    let life = |text: &str| format!("#Life 1.05\n{text}");
    refused(&life("#P 1\n*"), [2, 5], Some('\n'), "a number");
    refused(&life("#P 1 2 3\n*"), [2, 8], Some('3'), "the end of the line");
    refused(&life("#P - 2\n*"), [2, 5], Some(' '), "a number");
    refused(&life(".*.\n.o."), [3, 2], Some('o'), "the end of the line");
    refused(&life("x = 3\n"), [2, 1], Some('x'), "., *, # or a number");
    refused(&life("#R 23\n*"), [2, 6], None, "a digit from 0 to 8, or /");
    refused(&life("0 0\n1 b"), [3, 3], Some('b'), "a number");
    refused(&life("0 0\n1"), [3, 2], None, "a number");
    refused(&life("0 0 *"), [2, 5], Some('*'), "the end of the line");
    let start = LifeError::Pattern { line: 1, column: 1, found: Some('3'), expected: "#Life 1.05 or #Life 1.06" };
    fails(Pattern::from_life("3o!"), start);
    const LIMIT: usize = usize::MAX >> 15;
    let size = |line, column, what| LifeError::PatternSize { line, column, what, limit: LIMIT };
    fails(Pattern::from_life(&life(&format!("0 {}", LIMIT + 1))), size(2, 3, "rows"));
    fails(Pattern::from_life(&life(&format!("0 0\n-{LIMIT} 0"))), size(3, 1, "columns"));
    fails(Pattern::from_life(&life(&format!("#P 0 -1\n*\n#P 0 {LIMIT}\n.\n"))), size(5, 1, "rows"));
    let far = Pattern::from_life(&life(&format!("#P 0 {LIMIT}\n.\n*\n"))).unwrap();
    assert_eq!((far.rows(), far.columns(), far.population()), (2, 1, 1));
}

/// What the file is, if it is not a pattern in a format that is read.
#[test]
fn other_formats() {
    for (bytes, format) in [
        (&b"[M2] (golly 4.3)\n#R B3/S23\n.*$..*$***$$$$$$\n"[..], "a macrocell file of Golly"),
        (b"#MCell 4.20\n#GAME Life\n", "an MCell file"),
        (b"#GAME Life\n#RULE 23/3\n", "an MCell file"),
        (b"@RULE WireWorld\n", "a rule file of Golly"),
        (b"xq4_153", "an apgcode"),
        (b"\n<!DOCTYPE html><html>", "an HTML or XML page"),
        (b"\x1f\x8b\x08\0\0\0\0\0", "a gzip file"),
        (b"PK\x03\x04\x14\0", "a ZIP archive"),
        (b"\xff\xfex\0 \0=\0", "text in UTF-16"),
        (b"\xfe\xff\0x\0 \0=", "text in UTF-16"),
        (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
        (b"GIF89a", "a GIF picture"),
        (b"\xff\xd8\xff\xe0", "a JPEG picture"),
    ] {
        let of = |result: slm::Result<Pattern>| match result {
            Err(Error::Life(LifeError::PatternFormat { format, .. })) => Some(format),
            _ => None,
        };
        assert_eq!(of(Pattern::from_bytes(bytes)), Some(format));
        if let Ok(text) = std::str::from_utf8(bytes) {
            for read in [Pattern::from_rle, Pattern::from_cells, Pattern::from_life, str::parse] {
                assert_eq!(of(read(text)), Some(format));
            }
        }
    }
    let error = LifeError::PatternFormat {
        format: "a pattern in the format Life 1.05 or 1.06",
        advice: "read it with `Pattern::from_life`",
    };
    fails(Pattern::from_rle("#Life 1.05\n*"), error.clone());
    fails(Pattern::from_cells("#Life 1.06\n0 0"), error);
}

/// All ends of lines are counted. A byte order mark is not.
#[test]
fn positions_in_files_of_all_systems() {
    for end in ["\n", "\r\n", "\r"] {
        refused(&format!("x = 3, y = 3{end}bo$2bo${end}3q!"), [3, 2], Some('q'), "b, o or $");
        refused(&format!("\u{feff}#C{end}{end} bq!"), [3, 3], Some('q'), "a count, b, o, $ or !");
        refused(&format!(".O.{end}..x{end}"), [2, 3], Some('x'), "., O, * or the end of a row");
        refused(&format!("\u{feff}.q{end}"), [1, 2], Some('q'), "., O, * or the end of a row");
        refused(&format!("x = 3,{end}x = {end}!"), [2, 3], Some('='), "a count, b, o, $ or !");
    }
    refused("x = \r!", [1, 5], Some('\n'), "a digit");
}

#[test]
fn sizes_without_limit() {
    const LIMIT: usize = usize::MAX >> 15;
    let size = |line, column, what| LifeError::PatternSize { line, column, what, limit: LIMIT };
    let (most, more) = (LIMIT.to_string(), (LIMIT + 1).to_string());
    fails(Pattern::from_rle(&format!("x = {more}\n!")), size(1, 5, "columns"));
    fails(Pattern::from_rle(&format!("x = 2, y = {more}\n!")), size(1, 12, "rows"));
    fails(Pattern::from_rle(&"9".repeat(999)), size(1, 1, "rows or columns"));
    fails(Pattern::from_rle(&format!("bo\n{most}o!")), size(2, 1, "columns"));
    fails(Pattern::from_rle(&format!("{most}$\n $!")), size(2, 2, "rows"));
    fails(Pattern::from_rle(&format!("{most}$o!")), size(1, 17, "rows"));
    let largest = Pattern::from_rle(&format!("x = {most}\n2{most}$!").replace("\n2", "\n")).unwrap();
    assert_eq!((largest.rows(), largest.columns()), (0, 0));
    let long = Pattern::from_rle(&format!("{most}o!")).unwrap();
    assert_eq!((long.rows(), long.columns(), long.population()), (1, LIMIT, LIMIT as u64));
    assert_eq!(Pattern::from_rle(&long.to_rle()).as_ref(), Ok(&long));
    // No machine has as much memory.
    assert!(long.to_array().is_err() && long.to_cells().is_err());
    let larger = Pattern::from_rle(&format!("x = {most}, y = {most}\n!")).unwrap();
    assert!(larger.to_rle().lines().all(|line| line.len() <= 70));
    assert!(larger.to_array().is_err() && larger.to_cells().is_err());
}

#[test]
fn malformed_plain_text() {
    refused(".O.\n..x\n", [2, 3], Some('x'), "., O, * or the end of a row");
    refused("!Name: x\n\n o", [3, 1], Some(' '), "., O, * or the end of a row");
}

#[test]
fn boards_without_cells() {
    for device in devices() {
        for [rows, columns] in [[0, 0], [0, 7], [7, 0]] {
            fails(Life::new(rows, columns).prepare(&device), LifeError::NoCells { rows, columns });
        }
    }
}

#[test]
fn boards_larger_than_memory() {
    const LIMIT: u64 = isize::MAX as u64;
    for device in devices() {
        for [rows, columns] in [[1 << 32, 1 << 32], [1, usize::MAX], [usize::MAX, 1], [1 << 58, 1]] {
            let error = Error::TooLarge { what: "a board", factors: [rows as u64, columns as u64], limit: LIMIT };
            fails(Life::new(rows, columns).prepare(&device), error);
        }
    }
    let [cpu, emulated] = devices();
    // Each of the two generations.
    fails(Life::new(1 << 31, 1 << 31).prepare(&cpu), Error::OutOfHostMemory { requested: 1 << 59 });
    let side = |what| Error::TooLarge { what, factors: [(1 << 31) + 1, 1], limit: 1 << 31 };
    fails(Life::new((1 << 31) + 1, 1).prepare(&emulated), side("the number of rows"));
    fails(Life::new(1, (1 << 31) + 1).prepare(&emulated), side("the number of columns"));
    assert!(Life::new(1 << 31, 1 << 31).prepare(&emulated).is_err());
}

/// Nothing changes after an error.
#[test]
fn cells_outside_of_the_board() {
    for device in devices() {
        let mut board = Life::new(5, 70).prepare(&device).unwrap();
        board.set(2, 64, true).unwrap();
        let before = board.cells().unwrap();
        for [row, column] in [[5, 0], [0, 70], [usize::MAX, usize::MAX]] {
            let error = LifeError::NoSuchCell { row, column, board: [5, 70] };
            fails(board.get(row, column), error.clone());
            fails(board.set(row, column, true), error);
        }
        let shape = |what, expected, actual| Error::Shape { what, expected, actual };
        let result = board.set_cells(Array2::default((70, 5)).view());
        fails(result, shape("the array of cells", [5, 70], [70, 5]));
        let result = board.set_words(Array2::default((5, 1)).view());
        fails(result, shape("the array of words", [5, 2], [5, 1]));
        let result = board.set_words_of_rows(1, Array2::default((2, 3)).view());
        fails(result, shape("the array of words", [2, 2], [2, 3]));
        let error = |rows| LifeError::NoSuchRows { rows, board: [5, 70] };
        fails(board.set_words_of_rows(4, Array2::default((2, 2)).view()), error(4..6));
        fails(board.set_words_of_rows(usize::MAX, Array2::default((2, 2)).view()), error(usize::MAX..usize::MAX));
        for rows in [4..6, 6..6, Range { start: 3, end: 2 }] {
            fails(board.words_of_rows(rows.clone()), error(rows));
        }
        assert_eq!((board.cells().unwrap(), board.generation()), (before, 0));
    }
}

/// Nothing changes after an error.
#[test]
fn patterns_beyond_dead_ends() {
    let pattern = Pattern::from_array(Array2::from_elem((2, 3), true).view()).unwrap();
    let (rows, columns) =
        ([4, -1, isize::MIN, isize::MAX].map(|row| [row, 0]), [68, -1, isize::MAX].map(|column| [0, column]));
    for device in devices() {
        for (topology, positions) in
            [(Topology::Plane, [&rows[..], &columns].concat()), (Topology::Cylinder, rows.to_vec())]
        {
            let mut board = Life::new(5, 70).topology(topology).prepare(&device).unwrap();
            for position in positions {
                let error = LifeError::Placement { pattern: [2, 3], position, board: [5, 70] };
                fails(board.place(&pattern, position[0], position[1]), error);
            }
            assert_eq!(board.population().unwrap(), 0);
        }
    }
}

/// A pattern never overlaps itself.
#[test]
fn patterns_larger_than_the_board() {
    for device in devices() {
        for topology in TOPOLOGIES {
            let mut board = Life::new(5, 70).topology(topology).prepare(&device).unwrap();
            for (text, pattern) in [("71o!", [1, 71]), ("o$o$o$o$o$o!", [6, 1])] {
                let error = LifeError::Placement { pattern, position: [0, 0], board: [5, 70] };
                fails(board.place(&text.parse().unwrap(), 0, 0), error);
            }
            assert_eq!(board.population().unwrap(), 0);
        }
    }
}

#[test]
fn generations_without_limit() {
    for device in devices() {
        let mut board = Life::new(1, 3).prepare(&device).unwrap();
        board.set(0, 1, true).unwrap();
        board.step(2).unwrap();
        let before = board.cells().unwrap();
        for steps in [u64::MAX, u64::MAX - 1] {
            fails(board.step(steps), LifeError::Generations { generation: 2, steps });
        }
        board.step(0).unwrap();
        assert_eq!((board.generation(), board.cells().unwrap()), (2, before));
    }
}
