//! The text of each error, and when it is returned.

use crate::errors::{fails, says};
use slm::life::{LifeError, Pattern, Rule};

#[test]
fn texts() {
    let error = LifeError::Rule { rule: "B9".into(), position: 2, found: Some('9'), expected: "a digit" };
    says(error, "the rule 'B9' is invalid: expected a digit, found '9' at character 2", None);
    let error = LifeError::Pattern { line: 3, column: 7, found: None, expected: "!" };
    says(error, "line 3, column 7 of the pattern: expected !, found the end", None);
    let error = LifeError::PatternSize { line: 2, column: 1, what: "rows", limit: 9 };
    says(error, "line 2, column 1 of the pattern: the pattern would have more than 9 rows", None);
}

#[test]
fn rules_that_do_not_parse() {
    let end = "a digit from 0 to 8, or the end";
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
        ("B2/S/C3", 5, Some('/'), end),
        ("B2/S34H", 7, Some('H'), end),
        ("  B3/S2 3", 8, Some(' '), end),
        ("23", 3, None, "a digit from 0 to 8, or /"),
        ("23/3/8", 5, Some('/'), end),
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
    refused("bo$\n bBo!", [2, 3], Some('B'), DATA);
    refused("bo$ #C late\n!", [1, 5], Some('#'), DATA);
    refused("x = 3\nx = 4\n!", [2, 1], Some('x'), DATA);
    refused("x = 3, z = 4\n!", [1, 8], Some('z'), "x, y or rule");
    refused("x = 3,\ny = 4\n!", [1, 7], Some('\n'), "x, y or rule");
    refused("#\nx 3", [2, 3], Some('3'), "=");
    refused("x = -3, y = 4\n!", [1, 5], Some('-'), "a digit");
    refused("x = 3o, y = 4\n!", [1, 6], Some('o'), "a digit, a comma or the end of the line");
    refused("x = 3, y = 3, rule = B3/S29\n!", [1, 27], Some('9'), "a digit from 0 to 8, or the end");
    refused("x = 3, y = 3, rule =\n!", [1, 21], None, "B, S or a digit from 0 to 8");
    refused("#r WireWorld\n!", [1, 4], Some('W'), "B, S or a digit from 0 to 8");
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
