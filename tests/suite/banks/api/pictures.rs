//! Pictures of accesses.

use slm::banks::{AccessPattern, BankModel, Width};

#[track_caller]
fn draws(model: BankModel, pattern: &AccessPattern, picture: &str) {
    let drawn = model.explain(pattern);
    assert_eq!(drawn, picture, "\n{drawn}");
}

#[test]
fn conflicts_of_two_lanes() {
    draws(
        BankModel::NVIDIA,
        &AccessPattern::load(Width::B4, |lane| 2 * lane),
        "\
load of 4 bytes by 32 lanes: 2 wavefronts, 1 without conflicts
bank  0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
   1  0     1     2     3     4     5     6     7     8     9    10    11    12    13    14    15
   2 16    17    18    19    20    21    22    23    24    25    26    27    28    29    30    31
",
    );
}

#[test]
fn lanes_with_the_same_word_are_served_together() {
    draws(
        BankModel::NVIDIA,
        &AccessPattern::load(Width::B4, |lane| lane & !1),
        "\
load of 4 bytes by 32 lanes: 1 wavefront, as without conflicts
bank  0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
   1 0+    2+    4+    6+    8+   10+   12+   14+   16+   18+   20+   22+   24+   26+   28+   30+
+ served together: 0-1, 2-3, 4-5, 6-7, 8-9, 10-11, 12-13, 14-15, 16-17, 18-19, 20-21, 22-23, 24-25,
  26-27, 28-29, 30-31
",
    );
    draws(
        BankModel::NVIDIA,
        &AccessPattern::store(Width::B1, |lane| lane % 2 * 128),
        "\
store of 1 byte by 32 lanes: 2 wavefronts, 1 without conflicts
bank  0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
   1 0+
   2 1+
+ served together: 0+2+4+6+8+10+12+14+16+18+20+22+24+26+28+30,
  1+3+5+7+9+11+13+15+17+19+21+23+25+27+29+31
",
    );
}

#[test]
fn updates_are_served_one_after_another() {
    draws(
        BankModel::NVIDIA,
        &AccessPattern::atomic(Width::B4, |lane| lane / 4 + lane % 2 * 32).only(0xff),
        "\
atomic of 4 bytes by 8 lanes: 4 passes, 1 without conflicts
bank  0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
   1  0  4
   2  1  5
   3  2  6
   4  3  7
",
    );
}

#[test]
fn phases_are_shown_separately() {
    draws(
        BankModel::NVIDIA,
        &AccessPattern::store(Width::B8, |lane| 8 * lane).only(0x0003_00fe),
        "\
store of 8 bytes by 9 lanes: 5 wavefronts, 2 without conflicts
bank   0-1   2-3   4-5   6-7   8-9 10-11 12-13 14-15 16-17 18-19 20-21 22-23 24-25 26-27 28-29 30-31
lanes 1-7
   1     2                                               1
   2     4                                               3
   3     6                                               5
   4                                                     7
lanes 16-17
   5    16                                              17
",
    );
    draws(
        BankModel::NVIDIA,
        &AccessPattern::store(Width::B16, |lane| lane),
        "\
store of 16 bytes by 32 lanes: 4 wavefronts, as without conflicts
bank   0-3   4-7  8-11 12-15 16-19 20-23 24-27 28-31
lanes 0-7
   1     0     1     2     3     4     5     6     7
lanes 8-15
   2     8     9    10    11    12    13    14    15
lanes 16-23
   3    16    17    18    19    20    21    22    23
lanes 24-31
   4    24    25    26    27    28    29    30    31
",
    );
    draws(
        BankModel::SIXTEEN,
        &AccessPattern::load(Width::B4, |lane| 8 * (lane / 4)),
        "\
load of 4 bytes by 32 lanes: 4 wavefronts, 2 without conflicts
bank     0     1     2     3     4     5     6     7     8     9    10    11    12    13    14    15
lanes 0-15
   1    0+                                              4+
   2    8+                                             12+
lanes 16-31
   3   16+                                             20+
   4   24+                                             28+
+ served together: 0-3, 4-7, 8-11, 12-15, 16-19, 20-23, 24-27, 28-31
",
    );
}

#[test]
fn few_lanes() {
    draws(
        BankModel::SIXTEEN,
        &AccessPattern::atomic(Width::B1, |lane| lane).only(2),
        "\
atomic of 1 byte by 1 lane: 1 pass, as without conflicts
bank     0     1     2     3     4     5     6     7     8     9    10    11    12    13    14    15
   1     1
",
    );
    let none = AccessPattern::load(Width::B4, |lane| lane).only(0);
    draws(BankModel::NVIDIA, &none, "load of 4 bytes by 0 lanes: 0 wavefronts, as without conflicts\n");
}
