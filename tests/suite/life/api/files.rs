//! Patterns in files: what is written is read again, tolerance of readers, and strictness of writers.

use crate::common::Random;
use crate::properties::check;
use ndarray::{Array2, array};
use proptest::collection::vec;
use proptest::prelude::*;
use slm::life::{Grid, Pattern, Rule, Topology};

/// Lines of comments of any kind.
fn comment() -> impl Strategy<Value = String> {
    prop_oneof!["[ -~]{0,30}", "(Name:|XRLE|!|#|x = )[ -~]{0,90}", "[ -~äß\t\r\n]{0,200}",]
}

/// Grids that Golly has a notation for.
fn grid() -> impl Strategy<Value = Grid> {
    let topology = proptest::sample::select(vec![Topology::Plane, Topology::Torus, Topology::KleinBottle]);
    (1..1000usize, 1..1000usize, topology)
        .prop_map(|(rows, columns, topology)| Grid::new(rows, columns, topology).unwrap())
}

/// Rectangles of all densities, with and without the rest.
fn pattern() -> impl Strategy<Value = Pattern> {
    let cells = (0..40usize, 0..90usize, 0..5u32, any::<u64>());
    let rule = (proptest::option::of((0..512u16, 0..512u16)), proptest::option::of(grid()));
    (cells, rule, proptest::option::of(comment()), vec(comment(), 0..4)).prop_map(
        |(cells, (rule, grid), name, comments)| {
            let (rows, columns, density, stream) = cells;
            let mut random = Random::new(stream);
            let cells = Array2::from_shape_simple_fn((rows, columns), || random.below(4) < density as usize);
            let pattern = Pattern::from_array(cells.view()).unwrap();
            let pattern = rule.map_or(pattern.clone(), |(b, s)| pattern.with_rule(Rule::from_masks(b, s)));
            let pattern = grid.map_or(pattern.clone(), |grid| pattern.with_grid(grid));
            let pattern = name.map_or(pattern.clone(), |name| pattern.with_name(&name));
            comments.iter().fold(pattern, |pattern, comment| pattern.with_comment(comment))
        },
    )
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
        prop_assert_eq!((read.rule(), read.grid()), (None, None));
        let read = pattern.grid().map_or(read.clone(), |grid| read.with_grid(grid));
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
        prop_assert_eq!(Pattern::from_array(cells.view()).unwrap().to_array().unwrap(), cells);
        Ok(())
    });
}

#[test]
fn garbage_does_not_panic() {
    let garbage = prop_oneof![
        "[bo$!0-9A.\n ]{0,60}",
        "[#CNOr]?[ -~\n]{0,20}(x|y|rule|=|,| |[0-9]{1,20}|B3/S23|:|\n){0,12}[bo$!0-9A.#\n ]{0,40}",
        "[.O*!\r\n]{0,60}",
        "x = 3, rule = B3/S23:[TPKSCtk][0-9*+,:-]{0,12}\no!",
        "#Life 1.0[56]\n(#[PNRDC ]|[0-9 .*\n-]|#P -?[0-9]{1,17} 3\n){0,40}",
        ".{0,60}",
    ];
    check(4000, garbage, |text| {
        let from_bytes = |text: &str| Pattern::from_bytes(text.as_bytes());
        for read in [Pattern::from_rle, Pattern::from_cells, Pattern::from_life, str::parse, from_bytes] {
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
    let glider =
        Pattern::from_array(array![[false, true, false], [false, false, true], [true, true, true]].view()).unwrap();
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
    assert_eq!(pattern.grid(), Some(Grid::new(20, 30, Topology::Torus).unwrap()));
    let expected = "#N Glider\n#C Author: Richard K. Guy\n#C The smallest spaceship.\n#C Late.\n\
                    x = 5, y = 4, rule = B3/S23:T30,20\nbo$2bo$3o!\n";
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

#[test]
fn grids_follow_rules() {
    let grid = |rows, columns, topology| Grid::new(rows, columns, topology).unwrap();
    for (text, rule, expected, written) in [
        ("B3/S23:T30,20", Rule::CONWAY, grid(20, 30, Topology::Torus), ":T30,20"),
        ("23/36:p1,7", Rule::HIGH_LIFE, grid(7, 1, Topology::Plane), ":P1,7"),
        ("B3/S23:K30*,20", Rule::CONWAY, grid(20, 30, Topology::KleinBottle), ":K30*,20"),
        ("b3s23:k5*", Rule::CONWAY, grid(5, 5, Topology::KleinBottle), ":K5*,5"),
        ("Seeds:T9", Rule::SEEDS, grid(9, 9, Topology::Torus), ":T9,9"),
        ("B36/S23 :T9,8 , ", Rule::HIGH_LIFE, grid(8, 9, Topology::Torus), ":T9,8"),
    ] {
        for text in
            [format!("x = 1, y = 1, rule = {text}\no!"), format!("#r {text}\no!"), format!("#Life 1.05\n#R {text}\n*")]
        {
            let pattern: Pattern = text.parse().unwrap();
            assert_eq!(
                (pattern.rule(), pattern.grid(), pattern.population()),
                (Some(rule), Some(expected), 1),
                "{text:?}"
            );
            assert_eq!(pattern.to_rle(), format!("x = 1, y = 1, rule = {rule}{written}\no!\n"));
        }
        assert_eq!(expected.to_string(), written);
    }
    // The grid of the header is the one that matters, and so is its absence.
    let pattern: Pattern = "#r B3/S23:T9,9\nx = 1, y = 1, rule = B36/S23\no!".parse().unwrap();
    assert_eq!((pattern.rule(), pattern.grid()), (Some(Rule::HIGH_LIFE), None));
    let pattern = Pattern::default().with_rule(Rule::SEEDS).with_grid(grid(2, 3, Topology::Torus));
    assert_eq!(pattern.rule(), Some(Rule::SEEDS));
}

/// Blocks in any order, with common cells and with lines of all systems.
#[test]
fn files_of_life() {
    let glider =
        Pattern::from_array(array![[false, true, false], [false, false, true], [true, true, true]].view()).unwrap();
    for text in [
        "#Life 1.05\n#P -1 -1\n.*.\n..*\n***\n",
        "#Life 1.05\r\n#P 7 -9\r\n.*\r\n..*\r\n***",
        "\u{feff}#Life 1.05\r.*.\r..*  \r\r***\r",
        "#Life 1.05\n#P 0 2\n***\n#P 1 0\n*\n#P 1 1\n.*\n#P 0 2\n**\n",
        "#Life 1.06\n0 -1\n1 0\n-1 1\n0 1\n1 1\n",
        "#Life 1.06\n 11 +1\n10 1\n9 1\n\n11 0 \n10 -1\n10 -1",
        "#Life\n.*.\n..*\n***\n",
    ] {
        assert_eq!(text.parse().as_ref(), Ok(&glider), "{text:?}");
        assert_eq!(Pattern::from_life(text).as_ref(), Ok(&glider), "{text:?}");
        assert_eq!(Pattern::from_bytes(text.as_bytes()).as_ref(), Ok(&glider), "{text:?}");
    }
    let text = "#Life 1.05\n#D  One\n#C two\n#O nobody\n#\n#R 23/36\n#P 5 5\n..\n#P 0 0\n.*.";
    let pattern = Pattern::from_life(text).unwrap();
    assert_eq!(
        (pattern.rule(), pattern.comments()),
        (Some(Rule::HIGH_LIFE), &["One".to_owned(), "two".to_owned()][..])
    );
    // Dead cells of blocks count.
    assert_eq!((pattern.rows(), pattern.columns(), pattern.to_rle().lines().last()), (6, 7, Some("bo!")));
    assert_eq!(Pattern::from_life("#Life 1.05\n#N\n*").unwrap().rule(), Some(Rule::CONWAY));
    let empty = Pattern::from_life("#Life 1.06\n").unwrap();
    assert_eq!((empty, Pattern::from_life("#Life 1.05").unwrap().rule()), (Pattern::default(), None));
}

#[test]
fn comments_are_any_bytes() {
    let pattern =
        Pattern::from_bytes(b"#N Z\xe4hler\r\n#C f\xc3\xbcnf \x80\xff\n#C \xc3\xbc\nx = 2, y = 1\n2o!").unwrap();
    // The second line is not UTF-8 as a whole.
    assert_eq!((pattern.name(), pattern.comments()[1].as_str()), (Some("Zähler"), "ü"));
    assert!(pattern.comments()[0].ends_with('ÿ'), "{:?}", pattern.comments());
    assert_eq!((pattern.rows(), pattern.columns(), pattern.population()), (1, 2, 2));
    let plain = Pattern::from_bytes(b"!Name: \xb5\n.O\n").unwrap();
    assert_eq!((plain.name(), plain.population()), (Some("µ"), 1));
    let blocks = Pattern::from_bytes(b"#Life 1.05\n#D \xa9\n*\n").unwrap();
    assert_eq!(blocks.comments(), ["©"]);
    assert_eq!(Pattern::from_bytes(b"\xef\xbb\xbf#C \xe4\no!").unwrap().comments(), ["ä"]);
}

/// Five million characters of any kind, which take more than an hour if a reader starts from the beginning again and again.
#[test]
fn long_texts_are_read_once() {
    const LEN: usize = 5_000_000;
    let filled = |before: &str, part: &str, after: &str| format!("{before}{}{after}", part.repeat(LEN / part.len()));
    let read = |text: String| text.parse::<Pattern>();
    assert!(read(filled("", "x = 3, ", "\n!")).is_err());
    assert!(read(filled("x = 3, y = 3, ", "rule = ", "\n!")).is_err());
    assert!(read(filled("", "x", " = 3\n!")).is_err());
    assert!(read(filled("x = 3, rule = B3/S23:T", "3,", "\n!")).is_err());
    assert!(read(filled("x = 3, rule = ", "B3/S23:", "\n!")).is_err());
    assert_eq!(read(filled("x", " ", "= 3, y = 2\n!")).unwrap().columns(), 3);
    assert_eq!(read(filled("x = ", "0", "3, y = 2\n!")).unwrap().columns(), 3);
    assert_eq!(read(filled("", "#r B3/S23:T9,9\n", "o!")).unwrap().rule(), Some(Rule::CONWAY));
    assert_eq!(read(filled("", "#C\n", "o!")).unwrap().population(), 1);
    assert_eq!(read(filled("", "#N a\n", "o!")).unwrap().name(), Some("a"));
    assert_eq!(read(filled("#C ", "a ", "\no!")).unwrap().population(), 1);
    assert_eq!(read(filled("#C ", "a", "\no!")).unwrap().population(), 1);
    assert_eq!(read(filled("", " \n\r", "o!")).unwrap().population(), 1);
    assert_eq!(read(filled("", "bo$ ", "!")).unwrap().population(), LEN as u64 / 4);
    assert_eq!(read(filled("", "!\n", "O")).unwrap().population(), 1);
    assert_eq!(read(filled("!", "Name: ", "\nO")).unwrap().population(), 1);
    assert_eq!(read(filled("", ".O\n", "O")).unwrap().rows(), LEN / 3 + 1);
    assert_eq!(read(filled("", "O", "\n")).unwrap().columns(), LEN);
    assert_eq!(read(filled("#Life 1.05\n", "#P 0 0\n*.*\n", "")).unwrap().population(), 2);
    assert_eq!(read(filled("#Life 1.05\n", "*", "")).unwrap().columns(), LEN);
    assert_eq!(read(filled("#Life 1.06\n", "-1 7\n3 -2\n", "")).unwrap().population(), 2);
    let latin = [&b"#C "[..], &b"\xe4\n#C ".repeat(LEN / 5), b"\no!"].concat();
    assert_eq!(Pattern::from_bytes(&latin).unwrap().population(), 1);
    assert!(filled("", "B", "").parse::<Rule>().is_err() && filled("B3/S", "2", "").parse::<Rule>().is_ok());
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
    let text = Pattern::from_array(comb.view()).unwrap().to_rle();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[1..].iter().map(|line| line.len()).collect::<Vec<_>>(), [70, 70, 60]);
}
