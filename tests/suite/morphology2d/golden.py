#!/usr/bin/env python3
"""Makes golden.json: what SciPy, OpenCV and scikit-image give for the operations of `Morphology2d`.

    python3 tests/suite/morphology2d/golden.py

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
TYPES = {"i16": np.int16, "u8": np.uint8}
OPENCV = {
    "erosion": cv2.MORPH_ERODE,
    "dilation": cv2.MORPH_DILATE,
    "opening": cv2.MORPH_OPEN,
    "closing": cv2.MORPH_CLOSE,
    "gradient": cv2.MORPH_GRADIENT,
    "top_hat": cv2.MORPH_TOPHAT,
    "black_hat": cv2.MORPH_BLACKHAT,
}
SCIKIT_IMAGE = {
    "erosion": skimage.morphology.erosion,
    "dilation": skimage.morphology.dilation,
    "opening": skimage.morphology.opening,
    "closing": skimage.morphology.closing,
    "top_hat": skimage.morphology.white_tophat,
    "black_hat": skimage.morphology.black_tophat,
}


def case(name, boundary, kind, values, y, origin=(0, 0), picture="i16"):
    return {
        "operation": name, "picture": picture, "boundary": boundary, "origin": list(origin), "element": list(values.shape),
        kind: values.astype(int).ravel().tolist(), "y": y.astype(np.float64).ravel().tolist(),
    }


def of_scipy(elements, picture):
    for boundary, (mode, cval) in BOUNDARIES.items():
        for element, origin in zip(elements, ORIGINS):
            (kind, values), = element.items()
            for name, operation in OPERATIONS.items():
                y = operation(picture.astype(np.float64), mode=mode, cval=cval, origin=origin, **element)
                yield case(name, boundary, kind, values, y, origin)


def of_opencv(pictures):
    """Without a border, so what is outside is ignored."""
    shapes = [(cv2.MORPH_RECT, (5, 3)), (cv2.MORPH_CROSS, (3, 3)), (cv2.MORPH_ELLIPSE, (7, 5)), (cv2.MORPH_RECT, (23, 19))]
    for kind, picture in pictures.items():
        for element in (cv2.getStructuringElement(shape, size) for shape, size in shapes):
            for name, operation in OPENCV.items():
                y = cv2.morphologyEx(picture.astype(TYPES[kind]), operation, element)
                yield case(name, "ignored", "footprint", element, y, picture=kind)


def of_scikit_image(picture):
    for footprint in (skimage.morphology.footprint_rectangle((3, 5)), skimage.morphology.disk(2)):
        for boundary, mode in [("ignored", "ignore"), ("reflect", "reflect")]:
            for name, operation in SCIKIT_IMAGE.items():
                y = operation(picture.astype(np.int16), footprint, mode=mode)
                yield case(name, boundary, "footprint", footprint, y)


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
    pictures = {"i16": picture, "u8": rng.integers(0, 255, (9, 13), endpoint=True)}
    cases = [*of_scipy(elements, picture), *of_opencv(pictures), *of_scikit_image(picture)]
    made_by = {
        "numpy": np.__version__, "scipy": scipy.__version__, "opencv": cv2.__version__, "scikit-image": skimage.__version__,
    }
    pictures = {kind: picture.ravel().tolist() for kind, picture in pictures.items()}
    lines = ",\n".join(json.dumps(case) for case in cases)
    text = (f'{{"made_by": {json.dumps(made_by)},\n"shape": [9, 13],\n"outside": {OUTSIDE},\n'
            f'"pictures": {json.dumps(pictures)},\n"cases": [\n{lines}\n]}}\n')
    pathlib.Path(__file__).with_name("golden.json").write_text(text)


main()
