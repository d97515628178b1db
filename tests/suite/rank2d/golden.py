#!/usr/bin/env python3
"""Makes golden.json: what SciPy, OpenCV and scikit-image give for the filters that `Rank2d` computes.

    python3 tests/suite/rank2d/golden.py

needs NumPy, SciPy, OpenCV (opencv-python-headless) and scikit-image; the file names the versions that made it. The same versions give the
same file.
"""

import json
import pathlib

import cv2
import numpy as np
import scipy
import skimage
from scipy import ndimage

OUTSIDE = 7
BOUNDARIES = {
    "zero": ("constant", 0),
    "constant": ("constant", OUTSIDE),
    "nearest": ("nearest", 0),
    "reflect": ("reflect", 0),
    "mirror": ("mirror", 0),
    "wrap": ("wrap", 0),
}
RANGES = {"u8": (0, 255), "i16": (-300, 300), "f32": (-40, 40)}
FOOTPRINTS = [
    np.ones((3, 3), bool),
    np.ones((4, 2), bool),
    np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], bool),
    np.array([[1, 0, 0, 1, 1], [0, 1, 0, 0, 1]], bool),
    np.ones((7, 9), bool),
    np.ones((11, 20), bool),
]
ORIGINS = [(0, 0), (-1, 0), (1, -1), (0, 1), (2, -3), (-4, 5)]


# Sides of the squares whose medians OpenCV computes, for each type.
MEDIANS = {"u8": (3, 5, 7, 15), "i16": (3, 5), "f32": (3, 5)}
TYPES = {"u8": np.uint8, "i16": np.int16, "f32": np.float32}


def case(name, kind, boundary, footprint, y, origin=(0, 0)):
    return {
        "by": name, "type": kind, "boundary": boundary, "origin": list(origin), "window": list(footprint.shape),
        "mask": footprint.astype(int).ravel().tolist(), "y": y.astype(np.float64).ravel().tolist(),
    }


def of_scipy(kind, picture):
    for boundary, (mode, cval) in BOUNDARIES.items():
        for footprint, origin in zip(FOOTPRINTS, ORIGINS):
            options = {"footprint": footprint, "mode": mode, "cval": cval, "origin": origin}
            results = {
                "median": ndimage.median_filter(picture, **options),
                "minimum": ndimage.minimum_filter(picture, **options),
                "maximum": ndimage.maximum_filter(picture, **options),
                "rank": ndimage.rank_filter(picture, -2, **options),
                "percentile": ndimage.percentile_filter(picture, 30, **options),
            }
            for name, y in results.items():
                yield case(name, kind, boundary, footprint, y, origin)


def of_opencv(kind, picture):
    for side in MEDIANS[kind]:
        y = cv2.medianBlur(picture.astype(TYPES[kind]), side)
        yield case("median", kind, "nearest", np.ones((side, side), bool), y)


def of_scikit_image(picture):
    """Rank filters of bytes, whose windows leave out what is outside."""
    from skimage.filters import rank
    picture = picture.astype(np.uint8)
    for footprint in (footprint for footprint in FOOTPRINTS if footprint.shape[0] % 2 == footprint.shape[1] % 2 == 1):
        results = {
            "median": rank.median(picture, footprint),
            "minimum": rank.minimum(picture, footprint),
            "maximum": rank.maximum(picture, footprint),
            "percentile": rank.percentile(picture, footprint, p0=0.3),
        }
        for name, y in results.items():
            yield case(name, "bytes", "omitted", footprint, y)


def main():
    rng = np.random.default_rng(20240921)
    pictures = {kind: rng.integers(low, high, (9, 13), endpoint=True) for kind, (low, high) in RANGES.items()}
    pictures["f32"] = pictures["f32"] / 8
    scipys = [case for kind, picture in pictures.items() for case in of_scipy(kind, picture.astype(np.float64))]
    opencvs = [case for kind, picture in pictures.items() for case in of_opencv(kind, picture)]
    cases = scipys + opencvs + list(of_scikit_image(pictures["u8"]))
    made_by = {
        "numpy": np.__version__, "scipy": scipy.__version__, "opencv": cv2.__version__, "scikit-image": skimage.__version__,
    }
    x = {kind: picture.ravel().tolist() for kind, picture in pictures.items()}
    lines = ",\n".join(json.dumps(case) for case in cases)
    text = f'{{"made_by": {json.dumps(made_by)},\n"shape": [9, 13],\n"outside": {OUTSIDE},\n"pictures": {json.dumps(x)},\n"cases": [\n{lines}\n]}}\n'
    pathlib.Path(__file__).with_name("golden.json").write_text(text)


main()
