//! Patterns in files: what is written is read again, tolerance of readers, and strictness of writers.

use crate::common::Random;
use crate::properties::check;
use ndarray::{Array2, array};
use proptest::collection::vec;
use proptest::prelude::*;
use slm::life::{Pattern, Rule};

/// Lines of comments of any kind.
fn comment() -> impl Strategy<Value = String> {
    prop_oneof!["[ -~]{0,30}", "(Name:|XRLE|!|#|x = )[ -~]{0,90}", "[ -~äß\t\r\n]{0,200}",]
}

/// Rectangles of all densities, with and without the rest.
fn pattern() -> impl Strategy<Value = Pattern> {
    let cells = (0..40usize, 0..90usize, 0..5u32, any::<u64>());
    let rule = proptest::option::of((0..512u16, 0..512u16));
    (cells, rule, proptest::option::of(comment()), vec(comment(), 0..4)).prop_map(|(cells, rule, name, comments)| {
        let (rows, columns, density, stream) = cells;
        let mut random = Random::new(stream);
        let cells = Array2::from_shape_simple_fn((rows, columns), || random.below(4) < density as usize);
        let pattern = Pattern::from_array(cells.view());
        let pattern = rule.map_or(pattern.clone(), |(b, s)| pattern.with_rule(Rule::from_masks(b, s)));
        let pattern = name.map_or(pattern.clone(), |name| pattern.with_name(&name));
        comments.iter().fold(pattern, |pattern, comment| pattern.with_comment(comment))
    })
}

#[test]
fn what_is_written_is_read() {
    check(400, pattern(), |pattern| {
        let text = pattern.to_rle();
        prop_assert!(text.lines().all(|line| line.chars().count() <= 70), "{text}");
        prop_assert!(
            text.ends_with("!\n") && text.is_ascii() || !pattern.comments().is_empty() || pattern.name().is_some()
        );
        prop_assert_eq!(Pattern::from_rle(&text).unwrap(), pattern.clone());
        let text = pattern.to_cells().unwrap();
        let read = Pattern::from_cells(&text).unwrap();
        prop_assert_eq!(read.rule(), None);
        let read = pattern.rule().map_or(read.clone(), |rule| read.with_rule(rule));
        prop_assert_eq!(read, pattern);
        Ok(())
    });
}

#[test]
fn arrays_are_kept() {
    check(100, pattern(), |pattern| {
        let cells = pattern.to_array().unwrap();
        prop_assert_eq!(cells.dim(), (pattern.rows(), pattern.columns()));
        prop_assert_eq!(cells.iter().filter(|cell| **cell).count() as u64, pattern.population());
        prop_assert_eq!(Pattern::from_array(cells.view()).to_array().unwrap(), cells);
        Ok(())
    });
}

#[test]
fn garbage_does_not_panic() {
    let garbage = prop_oneof![
        "[bo$!0-9A.\n ]{0,60}",
        "[#CNOr]?[ -~\n]{0,20}(x|y|rule|=|,| |[0-9]{1,20}|B3/S23|:|\n){0,12}[bo$!0-9A.#\n ]{0,40}",
        "[.O*!\r\n]{0,60}",
        ".{0,60}",
    ];
    check(4000, garbage, |text| {
        for read in [Pattern::from_rle, Pattern::from_cells, str::parse] {
            if let Ok(pattern) = read(&text) {
                prop_assert_eq!(Pattern::from_rle(&pattern.to_rle()).unwrap(), pattern);
            }
        }
        Ok(())
    });
}

/// The same glider in all ways that people write it.
#[test]
fn readers_are_tolerant() {
    let glider = Pattern::from_array(array![[false, true, false], [false, false, true], [true, true, true]].view());
    for text in [
        "bo$2bo$3o!",
        "x = 3, y = 3\nbo$2bo$3o!",
        "X=3,Y=3\r\nbob$2bo$3o$!\r\nwhat follows is ignored 99999999999999999999",
        "x=3\nb\no\n$2\nbo$3o\n!",
        "y = 1, x = 1\n\n.A$..A$3A5$!",
        "#P -1 -1\n#R 0 0\n#CXRLE Pos=0,0 Gen=5\n#\n  bo$ 2b o $ 3 o !",
        "1b1o1$2b0$1o1$3o0b7$!",
        "x = 3, y = 3,\nbo$2bo$3o!",
        "x = 3, y = 3\rbo$2bo$\r3o!\r",
        "\u{feff}\r\nx = 3, y = 3\r\n\r\nbo$2bo$3o!",
        "BO$2BO$3O!",
        "x = 3, y = 3\nbx$2by$zox!",
    ] {
        assert_eq!(text.parse().as_ref(), Ok(&glider), "{text:?}");
    }
    for text in [".O\n..O\nOOO", ".O.\r\n..O\r\nOOO\r\n", ".*.\n..*\n***\n", "\u{feff}.O\r..O\rOOO\r"] {
        assert_eq!(text.parse().as_ref(), Ok(&glider), "{text:?}");
    }
}

#[test]
fn headers_and_comments() {
    let text = "#N Glider\n#O Richard K. Guy\n#c The smallest spaceship.\n#r 23/36\n\
                x = 5, y = 4, rule = B3/S23:T30,20\nbo$2bo$\n#C Late.\n3o!";
    let pattern: Pattern = text.parse().unwrap();
    assert_eq!((pattern.rows(), pattern.columns(), pattern.population()), (4, 5, 5));
    assert_eq!((pattern.name(), pattern.rule()), (Some("Glider"), Some(Rule::CONWAY)));
    assert_eq!(pattern.comments(), ["Author: Richard K. Guy", "The smallest spaceship.", "Late."]);
    let expected = "#N Glider\n#C Author: Richard K. Guy\n#C The smallest spaceship.\n#C Late.\n\
                    x = 5, y = 4, rule = B3/S23\nbo$2bo$3o!\n";
    assert_eq!(pattern.to_rle(), expected);
    let expected = "!Name: Glider\n!Author: Richard K. Guy\n!The smallest spaceship.\n!Late.\n\
                    .O...\n..O..\nOOO..\n.....\n";
    assert_eq!(pattern.to_cells().unwrap(), expected);
    let ruled: Pattern = "#r 23/36\nx = 1, y = 1\no!".parse().unwrap();
    assert_eq!(ruled.rule(), Some(Rule::HIGH_LIFE));
    let lines: Pattern = "#C one\r#C two\r\n#C three\no!".parse().unwrap();
    assert_eq!(lines.comments(), ["one", "two", "three"]);
    let lines: Pattern = "!one\r!two\r\n!three\nO".parse().unwrap();
    assert_eq!(lines.comments(), ["one", "two", "three"]);
}

/// The rule of the header is the one that matters.
#[test]
fn unknown_rules_in_comments() {
    for header in ["rule = 23/36", "rule = 23/36,", "rule = B36/S23:T9,9 ,"] {
        let pattern: Pattern = format!("#r WireWorld\nx = 1, y = 1, {header}\no!").parse().unwrap();
        assert_eq!((pattern.rule(), pattern.population()), (Some(Rule::HIGH_LIFE), 1));
    }
}

/// A second name, and one that is too long.
#[test]
fn names_that_become_comments() {
    let long = "n".repeat(68);
    let pattern = Pattern::default().with_name(&long).with_name("").with_name("first").with_name("second");
    assert_eq!((pattern.name(), pattern.comments().len()), (Some("first"), 3));
    assert_eq!(pattern.comments()[2], "second");
}

#[test]
fn long_data_are_divided_into_lines() {
    let comb = Array2::from_shape_fn((1, 200), |(_, column)| column % 2 == 0);
    let text = Pattern::from_array(comb.view()).to_rle();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[1..].iter().map(|line| line.len()).collect::<Vec<_>>(), [70, 70, 60]);
}
