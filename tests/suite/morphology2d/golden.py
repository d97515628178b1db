#!/usr/bin/env python3
"""Makes golden.json: what SciPy gives for the operations of `Morphology2d`.

    python3 tests/suite/morphology2d/golden.py

needs NumPy and SciPy; the file names the versions that made it. The same versions give the same file.
"""

import json
import pathlib

import numpy as np
import scipy
from scipy import ndimage

OUTSIDE = 7
BOUNDARIES = {
    "constant": ("constant", OUTSIDE),
    "nearest": ("nearest", 0),
    "reflect": ("reflect", 0),
    "mirror": ("mirror", 0),
    "wrap": ("wrap", 0),
}
OPERATIONS = {
    "erosion": ndimage.grey_erosion,
    "dilation": ndimage.grey_dilation,
    "opening": ndimage.grey_opening,
    "closing": ndimage.grey_closing,
    "gradient": ndimage.morphological_gradient,
    "top_hat": ndimage.white_tophat,
    "black_hat": ndimage.black_tophat,
}
ORIGINS = [(0, 0), (-1, 0), (0, 0), (0, 1), (1, -1)]


def main():
    rng = np.random.default_rng(20251128)
    elements = [
        {"footprint": np.ones((3, 3), bool)},
        {"footprint": np.ones((4, 2), bool)},
        {"footprint": np.array([[0, 1, 0], [1, 1, 1], [0, 1, 1]], bool)},
        {"structure": rng.integers(-9, 9, (2, 3))},
        {"structure": rng.integers(0, 20, (3, 4))},
    ]
    picture = rng.integers(-300, 300, (9, 13), endpoint=True)
    cases = []
    for boundary, (mode, cval) in BOUNDARIES.items():
        for element, origin in zip(elements, ORIGINS):
            (kind, values), = element.items()
            for name, operation in OPERATIONS.items():
                y = operation(picture.astype(np.float64), mode=mode, cval=cval, origin=origin, **element)
                cases.append({
                    "operation": name, "boundary": boundary, "origin": list(origin), "element": list(values.shape),
                    kind: values.astype(int).ravel().tolist(), "y": y.ravel().tolist(),
                })
    made_by = {"numpy": np.__version__, "scipy": scipy.__version__}
    lines = ",\n".join(json.dumps(case) for case in cases)
    text = (f'{{"made_by": {json.dumps(made_by)},\n"shape": [9, 13],\n"outside": {OUTSIDE},\n'
            f'"picture": {json.dumps(picture.ravel().tolist())},\n"cases": [\n{lines}\n]}}\n')
    pathlib.Path(__file__).with_name("golden.json").write_text(text)


main()
