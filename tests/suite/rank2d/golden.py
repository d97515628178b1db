#!/usr/bin/env python3
"""Makes golden.json: what SciPy gives for the filters that `Rank2d` computes.

    python3 tests/suite/rank2d/golden.py

needs NumPy and SciPy; the file names the versions that made it. The same versions give the same file.
"""

import json
import pathlib

import numpy as np
import scipy
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
]
ORIGINS = [(0, 0), (-1, 0), (1, -1), (0, 1), (2, -3)]


def main():
    rng = np.random.default_rng(20240921)
    pictures = {kind: rng.integers(low, high, (9, 13), endpoint=True) for kind, (low, high) in RANGES.items()}
    cases = []
    for kind, picture in pictures.items():
        picture = picture / 8 if kind == "f32" else picture
        x = picture.astype(np.float64)
        for boundary, (mode, cval) in BOUNDARIES.items():
            for footprint, origin in zip(FOOTPRINTS, ORIGINS):
                options = {"footprint": footprint, "mode": mode, "cval": cval, "origin": origin}
                results = {
                    "median": ndimage.median_filter(x, **options),
                    "minimum": ndimage.minimum_filter(x, **options),
                    "maximum": ndimage.maximum_filter(x, **options),
                    "rank": ndimage.rank_filter(x, -2, **options),
                    "percentile": ndimage.percentile_filter(x, 30, **options),
                }
                for name, y in results.items():
                    cases.append({
                        "by": name, "type": kind, "boundary": boundary, "origin": list(origin),
                        "window": list(footprint.shape), "mask": footprint.astype(int).ravel().tolist(),
                        "y": y.ravel().tolist(),
                    })
    made_by = {"numpy": np.__version__, "scipy": scipy.__version__}
    x = {kind: (p / 8 if kind == "f32" else p).ravel().tolist() for kind, p in pictures.items()}
    lines = ",\n".join(json.dumps(case) for case in cases)
    text = f'{{"made_by": {json.dumps(made_by)},\n"shape": [9, 13],\n"outside": {OUTSIDE},\n"pictures": {json.dumps(x)},\n"cases": [\n{lines}\n]}}\n'
    pathlib.Path(__file__).with_name("golden.json").write_text(text)


main()
