//! Interleaved channels to planes, and back. A thread moves the channels of one pixel, element by element: its neighbours
//! read or write the rest of each sector.

use super::Lines;
use cuda_std::{GlobalIn, GlobalOut, Value, arguments};

arguments! {
    /// Arguments of the division of interleaved channels. Elements have as many bits as `W`.
    pub struct SplitArgs<'l, W: Value> {
        /// The pixels.
        pub pixels: GlobalIn<'l, W>,
        /// Receives the planes, one below the other.
        pub planes: GlobalOut<'l, W>,
        /// The pixels of this launch.
        pub lines: Lines,
        /// Row pitch of the pixels.
        pub pixel_pitch: u64,
        /// Row pitch of the planes.
        pub plane_pitch: u64,
        /// Channels of a pixel.
        pub channels: u32,
    }
}

arguments! {
    /// Arguments of the opposite direction.
    pub struct MergeArgs<'l, W: Value> {
        /// The planes, one below the other.
        pub planes: GlobalIn<'l, W>,
        /// Receives the pixels.
        pub pixels: GlobalOut<'l, W>,
        /// The pixels of this launch.
        pub lines: Lines,
        /// Row pitch of the pixels.
        pub pixel_pitch: u64,
        /// Row pitch of the planes.
        pub plane_pitch: u64,
        /// Channels of a pixel.
        pub channels: u32,
    }
}

#[inline(always)]
pub(super) fn split<W: Value>(args: &SplitArgs<W>) {
    let (place, plane) = (args.lines.place(1), args.lines.rows.wrapping_mul(args.plane_pitch));
    if place.len == 0 {
        return;
    }
    let (mut i, mut o) = (place.pixel(args.pixel_pitch, args.channels), place.index(args.plane_pitch));
    let mut channel = 0;
    // Behind the last channel, the index may wrap around.
    while channel < args.channels {
        args.planes.set(o, args.pixels.get(i));
        (i, o, channel) = (i + 1, o.wrapping_add(plane), channel + 1);
    }
}

#[inline(always)]
pub(super) fn merge<W: Value>(args: &MergeArgs<W>) {
    let (place, plane) = (args.lines.place(1), args.lines.rows.wrapping_mul(args.plane_pitch));
    if place.len == 0 {
        return;
    }
    let (mut i, mut o) = (place.index(args.plane_pitch), place.pixel(args.pixel_pitch, args.channels));
    let mut channel = 0;
    while channel < args.channels {
        args.pixels.set(o, args.planes.get(i));
        (i, o, channel) = (i.wrapping_add(plane), o + 1, channel + 1);
    }
}
