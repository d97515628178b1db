//! Patterns of all formats in the example `07_life`, and the grids that they are made for.

use super::life::{population, to_file};
use super::{fails, succeeds};
use crate::common::{Folder, ensure, equal};
use libtest_mimic::{Failed, Trial};
use slm::life::{Pattern, Topology};
use slm::{Device, Life};
use std::fs;
use std::process::Command;

/// A glider on a Klein bottle, in the run-length encoding, compressed.
const GLIDER_GZ: &[u8] =
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x53\xf6\x53\x70\xcf\xc9\x4c\x49\x2d\xe2\xaa\x50\xb0\
    \x55\x30\xd6\x51\xa8\x84\x50\x45\xa5\x39\xa9\x40\x96\x93\xb1\x99\x7e\xb0\x91\xb1\x95\xb7\xa5\
    \x96\x8e\x05\x57\x52\xbe\x8a\x11\x10\x1b\xe7\x2b\x72\x01\x00\xb4\x23\x6f\x50\x38\x00\x00\x00";

type Test = fn() -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let tests: [(&str, Test); 4] = [
        ("grids_are_boards", grids_are_boards),
        ("options_replace_grids", options_replace_grids),
        ("grids_that_no_board_has", grids_that_no_board_has),
        ("formats", formats),
    ];
    tests.into_iter().map(|(name, test)| Trial::test(format!("examples::life::{name}"), test)).collect()
}

/// A full torus of nine cells dies, and a plane keeps its corners.
fn grids_are_boards() -> Result<(), Failed> {
    let folder = Folder::new()?;
    for (grid, title, expected) in [
        (":T3,3", "3 x 3, Torus, B3/S23", 0),
        (":P3,3", "3 x 3, Plane, B3/S23", 4),
        (":T4,3", "3 x 4, Torus, B3/S23", 0),
        (":T5,3", "3 x 5, Torus, B3/S23", 6),
        (":P5,3", "3 x 5, Plane, B3/S23", 6),
        (":K30*,20", "20 x 30, KleinBottle, B3/S23", 8),
        ("", "512 x 512, Torus, B3/S23", 8),
    ] {
        let text = format!("x = 3, y = 3, rule = B3/S23{grid}\n3o$3o$3o!");
        let file = folder.put("full.rle", text.as_bytes())?;
        let mut command = to_file(&["--generations", "1"], &file);
        equal((grid, population(&mut command, 1)?), (grid, expected))?;
        ensure(succeeds(&mut command)?.contains(&format!("\n{title}\n")), || title.to_owned())?;
    }
    the_middle_of_a_grid()
}

/// Golly's middle: with odd lengths on even sides, there is a row more above than below.
fn the_middle_of_a_grid() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let picture = folder.path("board.png");
    let file = folder.put("dot.rle", b"x = 1, y = 1, rule = B/S012345678:P4,7\no!")?;
    succeeds(to_file(&["--generations", "1", "--picture"], &picture).arg(file))?;
    let picture = image::open(&picture)?.into_luma8();
    equal(picture.dimensions(), (4 * 16, 7 * 16))?;
    let black: Vec<_> = (0..28).filter(|i| picture.get_pixel(i % 4 * 16, i / 4 * 16).0[0] == 0).collect();
    equal(black, vec![3 * 4 + 2])
}

/// Returns the output and the errors of a run that succeeds.
fn said(command: &mut Command) -> Result<[String; 2], Failed> {
    let output = command.output()?;
    let [said, errors] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    ensure(output.status.success(), || errors.clone())?;
    Ok([said, errors])
}

fn options_replace_grids() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let file = folder.put("full.rle", b"x = 3, y = 3, rule = B3/S23:T5,3\n3o$3o$3o!")?;
    let note = |board: &str| format!("note: the pattern is for the grid ':T5,3', not for {board}\n");
    for (options, title, note) in [
        (&["--size", "9x7"][..], "9 x 7, Torus", note("9 x 7, Torus")),
        (&["--topology", "plane"], "3 x 5, Plane", note("3 x 5, Plane")),
        (&["--size", "8x9", "--topology", "cylinder"], "8 x 9, Cylinder", note("8 x 9, Cylinder")),
        // These replace nothing.
        (&["--size", "3x5", "--topology", "torus"], "3 x 5, Torus", String::new()),
        (&["--rule", "B36/S23"], "3 x 5, Torus, B36/S23", String::new()),
    ] {
        let [said, errors] = said(to_file(&["--generations", "1"], &file).args(options))?;
        ensure(said.contains(&format!("\n{title}")), || said.clone())?;
        equal(errors, note)?;
    }
    Ok(())
}

fn grids_that_no_board_has() -> Result<(), Failed> {
    let folder = Folder::new()?;
    for (grid, reason) in [
        (":C30,20", "a board cannot be a cross-surface"),
        (":S30", "a board cannot be a sphere"),
        (":T30+5,20", "edges cannot be joined with a shift"),
        (":K30,20*", "of a Klein bottle only the upper and lower edges can be mirrored"),
        (":T0,5", "a board cannot be unbounded"),
    ] {
        let file = folder.put("grid.rle", format!("x = 1, y = 1, rule = B3/S23{grid}\no!").as_bytes())?;
        let error = format!("grid.rle: line 1, column 28 of the pattern: the grid '{grid}' is not supported: {reason}");
        fails(&mut to_file(&[], &file), 1, &[&error])?;
    }
    Ok(())
}

/// The same glider in all formats. The extension decides if it is that of a format.
fn formats() -> Result<(), Failed> {
    let folder = Folder::new()?;
    for (file, bytes) in [
        ("glider.rle", &b"#C by Z\xe4hler\nx = 3, y = 3\nbo$2bo$3o!"[..]),
        ("glider.cells", b"!Name: \xff\n.O\n..O\nOOO\n"),
        ("glider.lif", b"#Life 1.05\n#D by Z\xe4hler\n#P -1 -1\n.*.\n..*\n***\n"),
        ("glider.life", b"#Life 1.06\n0 -1\n1 0\n-1 1\n0 1\n1 1\n"),
        ("life.rle", b"#Life 1.06\n0 -1\n1 0\n-1 1\n0 1\n1 1\n"),
    ] {
        let mut command = to_file(&["--size", "8x9", "--generations", "20"], &folder.put(file, bytes)?);
        equal((file, population(&mut command, 20)?), (file, 5))?;
    }
    let text = "x = 3, y = 3, rule = B36/S23:K9*,8\nbo$2bo$3o!";
    let grid = text.parse::<Pattern>()?.grid().ok_or("no grid")?;
    let life = Life::new(grid.rows(), grid.columns()).rule("B36/S23".parse()?).topology(Topology::KleinBottle);
    let mut board = life.prepare(&Device::cpu())?;
    board.place(&text.parse()?, 3, 3)?;
    board.step(50)?;
    for file in ["glider.rle.gz", "GLIDER.RLE.GZ", "glider.gz", "glider"] {
        let mut command = to_file(&["--generations", "50"], &folder.put(file, GLIDER_GZ)?);
        equal((file, population(&mut command, 50)?), (file, board.population()?))?;
        ensure(succeeds(&mut command)?.contains("\n8 x 9, KleinBottle, B36/S23\n"), || file.to_owned())?;
    }
    // Plain text is not the run-length encoding.
    fails(&mut to_file(&[], &folder.put("glider.cells.gz", GLIDER_GZ)?), 1, &["line 1, column 1 of the pattern"])?;
    fs::remove_file(folder.path("glider.cells.gz"))?;
    Ok(())
}
