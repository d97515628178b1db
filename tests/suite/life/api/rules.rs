//! Spellings of rules.

use crate::common::Random;
use slm::life::Rule;

fn rule(text: &str) -> Rule {
    text.parse().unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

#[test]
fn spellings_of_conways_rule() {
    for text in [
        "B3/S23",
        "b3/s23",
        "B3S23",
        "b3_s23",
        "S23/B3",
        "s32b3",
        "23/3",
        "B33/S223",
        "\tB3/S23 ",
        "Life",
        "Conway's Life",
    ] {
        assert_eq!(rule(text), Rule::CONWAY, "{text:?}");
    }
    assert_eq!(Rule::default().to_string(), "B3/S23");
    assert_eq!(format!("{:?}", Rule::CONWAY), "Rule(B3/S23)");
}

#[test]
fn other_rules() {
    let spellings = [
        (Rule::HIGH_LIFE, "B36/S23", ["23/36", "highlife"]),
        (Rule::SEEDS, "B2/S", ["/2", "SEEDS"]),
        (Rule::DAY_AND_NIGHT, "B3678/S34678", ["34678/3678", "Day & Night"]),
        (Rule::from_masks(0, 0), "B/S", ["/", "sb"]),
        (
            Rule::from_masks(u16::MAX, u16::MAX),
            "B012345678/S012345678",
            ["876543210/012345678", "s876543210/b012345678"],
        ),
    ];
    for (expected, text, others) in spellings {
        assert_eq!(expected.to_string(), text);
        others.iter().chain([&text]).for_each(|text| assert_eq!(rule(text), expected, "{text:?}"));
    }
}

#[test]
fn every_rule_is_what_it_prints() {
    for births in 0..512 {
        for survivals in (births % 7..512).step_by(7) {
            let expected = Rule::from_masks(births, survivals);
            assert_eq!((expected.births(), expected.survivals()), (births, survivals));
            assert_eq!(rule(&expected.to_string()), expected);
        }
    }
}

#[test]
fn cells_are_alive_with_the_digits_of_the_rule() {
    let rule = rule("B08/S127");
    let alive = |now| (0..=40).filter(|&n| rule.is_alive(now, n)).collect::<Vec<_>>();
    assert_eq!([alive(false), alive(true)], [vec![0, 8], vec![1, 2, 7]]);
}

#[test]
fn no_text_panics() {
    let (mut random, alphabet) = (Random::new(1), ['B', 's', '0', '3', '8', '9', '/', '_', ' ', 'ß', '\n']);
    for _ in 0..20_000 {
        let len = random.below(8);
        let text: String = (0..len).map(|_| alphabet[random.below(alphabet.len())]).collect();
        if let Ok(rule) = text.parse::<Rule>() {
            assert_eq!(rule.to_string().parse(), Ok(rule), "{text:?}");
        }
    }
}
