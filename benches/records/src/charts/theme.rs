//! Colours of charts.

use plotters::style::RGBColor;

#[derive(Debug)]
pub(super) struct Theme {
    pub(super) name: &'static str,
    pub(super) background: RGBColor,
    pub(super) text: RGBColor,
    pub(super) grid: RGBColor,
    /// Of curves. People who do not see all colours can tell them apart.
    pub(super) curves: [RGBColor; 7],
}

pub(super) const THEMES: [Theme; 2] = [
    Theme {
        name: "light",
        background: RGBColor(0xff, 0xff, 0xff),
        text: RGBColor(0x1f, 0x23, 0x28),
        grid: RGBColor(0xd8, 0xdc, 0xe1),
        curves: [
            RGBColor(0x00, 0x72, 0xb2),
            RGBColor(0xd5, 0x5e, 0x00),
            RGBColor(0x00, 0x8a, 0x66),
            RGBColor(0xb8, 0x5c, 0x93),
            RGBColor(0xb8, 0x86, 0x0b),
            RGBColor(0x2f, 0x9f, 0xd9),
            RGBColor(0x66, 0x6e, 0x78),
        ],
    },
    Theme {
        name: "dark",
        background: RGBColor(0x0d, 0x11, 0x17),
        text: RGBColor(0xe6, 0xed, 0xf3),
        grid: RGBColor(0x30, 0x36, 0x3d),
        curves: [
            RGBColor(0x4d, 0xa3, 0xff),
            RGBColor(0xff, 0x8c, 0x3a),
            RGBColor(0x2e, 0xc4, 0x9a),
            RGBColor(0xe3, 0x8f, 0xc1),
            RGBColor(0xf0, 0xc2, 0x3c),
            RGBColor(0x9a, 0xd7, 0xf5),
            RGBColor(0xa5, 0xad, 0xb8),
        ],
    },
];
