//! Pointwise operations, buffers and pictures.

use crate::call::{Attempt, Case, returned, written};
use crate::common::Random;
use slm::image::{ImageBuffer, Rgb};
use slm::ndarray::Array2;
use slm::{Arithmetic, Buffer2, Channels, Convert, Device, Filter2d, Histogram, Lookup, Map, Result};

const LEN: usize = 1 << 19;

const SHAPE: (usize, usize) = (500, 900);

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case { name: "pointwise::map", attempt: map },
        Case { name: "pointwise::map_into", attempt: map_into },
        Case { name: "pointwise::conversion", attempt: conversion },
        Case { name: "pointwise::sum", attempt: sum },
        Case { name: "pointwise::table", attempt: table },
        Case { name: "pointwise::equalised", attempt: equalised },
        Case { name: "pointwise::between", attempt: between },
        Case { name: "pointwise::split", attempt: split },
        Case { name: "pointwise::merged", attempt: merged },
        Case { name: "buffers::upload", attempt: upload },
        Case { name: "buffers::zeroed", attempt: zeroed },
        Case { name: "buffers::download", attempt: download },
        Case { name: "buffers::matrix", attempt: matrix },
        Case { name: "buffers::matrix_with_gaps", attempt: matrix_with_gaps },
        Case { name: "pictures::upload", attempt: picture_upload },
        Case { name: "pictures::filter", attempt: picture_filter },
        Case { name: "pictures::channels", attempt: picture_channels },
    ]
}

fn floats() -> Vec<f32> {
    Random::new(14).values(LEN)
}

fn array() -> Array2<f32> {
    Array2::from_shape_vec(SHAPE, Random::new(15).values(SHAPE.0 * SHAPE.1)).expect("a number for each element")
}

fn picture() -> ImageBuffer<Rgb<u8>, Vec<u8>> {
    let bytes = Random::new(16).values(3 * SHAPE.0 * SHAPE.1);
    ImageBuffer::from_vec(SHAPE.1 as u32, SHAPE.0 as u32, bytes).expect("a byte for each channel")
}

fn map() -> Result<Attempt> {
    let (map, samples) = (Map::<f32>::square().prepare(&Device::cpu())?, floats());
    returned(move || map.apply(&samples))
}

fn map_into() -> Result<Attempt> {
    let device = Device::cpu();
    let (map, samples) = (Map::<f32>::abs().prepare(&device)?, device.upload(&floats())?);
    written(device.zeroed::<f32>(LEN)?, move |outputs| map.apply_into(&samples, outputs))
}

fn conversion() -> Result<Attempt> {
    let convert = Convert::<u8, i32>::new().scale(3.0).prepare(&Device::cpu())?;
    let samples = Random::new(17).values::<u8>(LEN);
    returned(move || convert.apply(&samples))
}

fn sum() -> Result<Attempt> {
    let (sum, samples) = (Arithmetic::<f32>::add().prepare(&Device::cpu())?, floats());
    returned(move || sum.apply(&samples, &samples))
}

fn table() -> Result<Attempt> {
    let samples: Vec<u16> = (0..LEN).map(|number| (number * 7) as u16).collect();
    returned(move || Lookup::<u16, f64>::of(f64::from).prepare(&Device::cpu())?.apply(&samples))
}

fn equalised() -> Result<Attempt> {
    let device = Device::cpu();
    let samples: Vec<u16> = (0..LEN).map(|number| (number % 60_000) as u16).collect();
    let histogram = Histogram::<u16>::even(65_536, 0..65_536).prepare(&device)?;
    let mut counts = device.zeroed(histogram.counts_len())?;
    histogram.apply_into(&samples, &mut counts)?;
    returned(move || Lookup::<u16, u16>::equalise(&counts)?.apply(&samples))
}

fn between() -> Result<Attempt> {
    let edges: Vec<f32> = (0..=LEN).map(|edge| edge as f32).collect();
    let (entries, samples) = (edges[1..].to_vec(), floats());
    returned(move || Lookup::<f32, f32>::between(&edges, &entries).prepare(&Device::cpu())?.apply(&samples[..9]))
}

fn split() -> Result<Attempt> {
    let (split, samples) = (Channels::<f32>::split(4).prepare(&Device::cpu())?, floats());
    returned(move || split.apply(&samples))
}

fn merged() -> Result<Attempt> {
    let (merge, samples) = (Channels::<f32>::merge(4).prepare(&Device::cpu())?, array());
    returned(move || merge.apply(&samples))
}

fn upload() -> Result<Attempt> {
    let samples = floats();
    returned(move || Ok(Device::cpu().upload(&samples)?.len()))
}

fn zeroed() -> Result<Attempt> {
    returned(|| Ok(Device::cpu().zeroed::<f32>(LEN)?.len()))
}

fn download() -> Result<Attempt> {
    let buffer = Device::cpu().upload(&floats())?;
    returned(move || buffer.download())
}

fn matrix() -> Result<Attempt> {
    let array = array();
    returned(move || Buffer2::upload(&Device::cpu(), array.t())?.download())
}

fn matrix_with_gaps() -> Result<Attempt> {
    let array = array();
    returned(move || Buffer2::upload_pitched(&Device::cpu(), &array, SHAPE.1 + 3)?.download())
}

fn picture_upload() -> Result<Attempt> {
    let picture = picture();
    returned(move || Buffer2::upload_image(&Device::cpu(), &picture)?.download_image::<Rgb<u8>>())
}

fn picture_filter() -> Result<Attempt> {
    let (filter, picture) = (Filter2d::<u8, f32>::box_blur(5, 5).channels(3).output::<u8>(), picture());
    let filter = filter.prepare(&Device::cpu())?;
    returned(move || filter.apply(&picture))
}

fn picture_channels() -> Result<Attempt> {
    let (split, picture) = (Channels::<u8>::split(3).prepare(&Device::cpu())?, picture());
    returned(move || split.apply(&picture))
}
