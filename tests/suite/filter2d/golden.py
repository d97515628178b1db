#!/usr/bin/env python3
"""Makes golden.json: what SciPy, OpenCV and Astropy give for the filters that `Filter2d` computes.

    python3 tests/suite/filter2d/golden.py

needs NumPy, SciPy, OpenCV and Astropy; the file names the versions that made it. The same versions give the same file.

Samples are small integers, and weights multiples of 1/8 wherever a library takes weights: then all sums are exact, so the
outputs must be the same to the last bit. Others have a tolerance, `"exact": false`. NaN is `null`.
"""

import json
import pathlib
import sys

import astropy
import astropy.convolution
import cv2
import numpy as np
import scipy
from scipy import ndimage

SEED = 20240921
OUTSIDE = 7
# Our name: SciPy's, OpenCV's, Astropy's.
BOUNDARIES = {
    "zero": ("constant", cv2.BORDER_CONSTANT, "fill"),
    "constant": ("constant", None, "fill"),
    "nearest": ("nearest", cv2.BORDER_REPLICATE, "extend"),
    "reflect": ("reflect", cv2.BORDER_REFLECT, None),
    "mirror": ("mirror", cv2.BORDER_REFLECT_101, None),
    "wrap": ("wrap", None, "wrap"),
}


def values(array):
    """The numbers in memory order, integers without a fraction."""
    flat = [float(v) for v in np.asarray(array, dtype=np.float64).ravel()]
    return [None if v != v else int(v) if v == int(v) else float(f"{v:.10g}") for v in flat]


def weights(rng, *shape):
    return rng.integers(-16, 17, shape) / 8


class File:
    def __init__(self):
        self.rng = np.random.default_rng(SEED)
        self.pictures, self.cases = {}, []

    def picture(self, name, shape, low, high):
        self.pictures[name] = self.rng.integers(low, high, shape, endpoint=True).astype(np.float64)

    def add(self, made_by, picture, boundary, filter, y, types="f64", output=None, exact=True, **more):
        """`filter` has the constructor and its arguments."""
        filter = {key: values(v) if isinstance(v, np.ndarray) else v for key, v in filter.items()}
        head = {"by": made_by, "picture": picture, "boundary": boundary, "types": types}
        y = np.asarray(y)
        more |= {"shape": list(y.shape), "output": output or types, "exact": exact}
        self.cases.append(head | filter | more | {"y": values(y)})


def dense(kind, w):
    return {"filter": kind, "rows": w.shape[0], "weights": w}


def cval(boundary):
    return OUTSIDE if boundary == "constant" else 0


def scipy_weights(file):
    """Any weights: odd, even, larger than the picture."""
    kernels = [("picture", (3, 3)), ("picture", (4, 3)), ("small", (2, 4)), ("small", (5, 6)), ("line", (3, 2))]
    for picture, shape in kernels:
        w = weights(file.rng, *shape)
        for boundary, (mode, _, _) in BOUNDARIES.items():
            for kind, function in [("correlate", ndimage.correlate), ("convolve", ndimage.convolve)]:
                y = function(file.pictures[picture], w, mode=mode, cval=cval(boundary))
                file.add(f"scipy.{kind}", picture, boundary, dense(kind, w), y)


def scipy_named(file):
    """Gaussians and means sum to 1, so that SciPy's second pass meets the right constant."""
    x = file.pictures["picture"]
    for number, (boundary, (mode, _, _)) in enumerate(BOUNDARIES.items()):
        outside = {"mode": mode, "cval": cval(boundary)}
        sigma = [0.4, 1.25][number % 2]
        y = ndimage.gaussian_filter(x, sigma, **outside)
        file.add("scipy.gaussian_filter", "picture", boundary, {"filter": "gaussian", "sigma": sigma}, y, exact=False)
        y = ndimage.uniform_filter(x, (3, 4), **outside)
        file.add("scipy.uniform_filter", "picture", boundary, {"filter": "box", "shape_of_box": [3, 4]}, y, exact=False)
        if boundary == "constant":
            continue
        for name, axis in [("sobel_x", 1), ("sobel_y", 0)]:
            y = ndimage.sobel(x, axis, **outside)
            file.add("scipy.sobel", "picture", boundary, {"filter": name}, y)
        file.add("scipy.laplace", "picture", boundary, {"filter": "laplacian"}, ndimage.laplace(x, **outside))


def scipy_large(file):
    """As many weights as kernels of their own are for, and a picture that is larger than they are."""
    file.picture("large", (40, 50), 0, 255)
    x = file.pictures["large"]
    y = ndimage.uniform_filter(x, 31, mode="mirror")
    file.add("scipy.uniform_filter", "large", "mirror", {"filter": "box", "shape_of_box": [31, 31]}, y, "f32", exact=False)
    y = ndimage.gaussian_filter(x, 4, mode="reflect")
    file.add("scipy.gaussian_filter", "large", "reflect", {"filter": "gaussian", "sigma": 4}, y, "f32", exact=False)


def opencv(file):
    """The anchor of even kernels is at half their length, rounded down, as ours is."""
    borders = [(b, code) for b, (_, code, _) in BOUNDARIES.items() if code is not None]
    types = [("u8", "u8", np.uint8, cv2.CV_8U), ("u8", "i16", np.uint8, cv2.CV_16S), ("i16", "f32", np.int16, cv2.CV_32F),
             ("f32", "f32", np.float32, cv2.CV_32F), ("f64", "f64", np.float64, cv2.CV_64F)]
    for number, (boundary, code) in enumerate(borders):
        for t, (kind, output, dtype, depth) in enumerate(types):
            w = weights(file.rng, *[(3, 3), (2, 3), (4, 4)][(number + t) % 3]) / (4 if output == "u8" else 1)
            x = file.pictures["picture"].astype(dtype)
            y = cv2.filter2D(x, depth, w, borderType=code)
            file.add("cv2.filter2D", "picture", boundary, dense("correlate", w), y, types=kind, output=output)
        w = weights(file.rng, 3, 3)
        y = cv2.filter2D(file.pictures["colours"].astype(np.uint8), cv2.CV_32F, w, borderType=code)
        file.add("cv2.filter2D", "colours", boundary, dense("correlate", w), y, types="u8", output="f32", channels=3)
        for kind, dtype, depth in [("f32", np.float32, cv2.CV_32F), ("f64", np.float64, cv2.CV_64F)]:
            column, row = weights(file.rng, 5 - number % 2), weights(file.rng, 3 + number % 2)
            y = cv2.sepFilter2D(file.pictures["picture"].astype(dtype), depth, row, column, borderType=code)
            separable = {"filter": "separable", "column": column, "row": row}
            file.add("cv2.sepFilter2D", "picture", boundary, separable, y, types=kind)


def with_astropy(file):
    """Weights that sum to a power of two, whose parts do not."""
    w = np.array([[1, 2, 1], [2, 4, 3], [1, 2, 0]]) / 8
    for boundary, (_, _, name) in BOUNDARIES.items():
        if name is None:
            continue
        for picture in ["holes", "few"]:
            y = astropy.convolution.convolve(
                file.pictures[picture], w, boundary=name, fill_value=cval(boundary),
                nan_treatment="interpolate", normalize_kernel=False, preserve_nan=False,
            )
            file.add("astropy.convolve", picture, boundary, dense("convolve", w), y, exact=False, renormalise=True)


def scipy_per_axis(file):
    """Another weight at each output's own place, and Gaussians of their own along each axis."""
    x = file.pictures["picture"]
    for number, (boundary, (mode, _, _)) in enumerate(BOUNDARIES.items()):
        outside = {"mode": mode, "cval": cval(boundary)}
        for shape, origins in [((3, 4), [(1, -2), (-1, 1)]), ((2, 5), [(-1, 2), (0, -2)])]:
            w, origin = weights(file.rng, *shape), origins[number % 2]
            for kind, function in [("correlate", ndimage.correlate), ("convolve", ndimage.convolve)]:
                y = function(x, w, origin=origin, **outside)
                file.add(f"scipy.{kind}", "picture", boundary, dense(kind, w), y, origin=list(origin))
        sigma = [(0.5, 1.5), (2, 0.75)][number % 2]
        for more in [{}, {"truncate": 1.25}, {"radius": [1, 3]}]:
            y = ndimage.gaussian_filter(x, sigma, **more, **outside)
            gaussian = {"filter": "gaussian", "sigma": list(sigma)} | more
            file.add("scipy.gaussian_filter", "picture", boundary, gaussian, y, exact=False)
    # Zeros are another constant than the one of the file.
    modes = {boundary: mode for boundary, (mode, _, _) in BOUNDARIES.items() if boundary != "zero"}
    for rows in modes:
        for columns in modes:
            outside = {"mode": (modes[rows], modes[columns]), "cval": OUTSIDE}
            gaussian = {"filter": "gaussian", "sigma": [0.75, 2]}
            y = ndimage.gaussian_filter(x, (0.75, 2), **outside)
            file.add("scipy.gaussian_filter", "picture", rows, gaussian, y, exact=False, columns=columns)
            y = ndimage.uniform_filter(x, (5, 4), **outside)
            box = {"filter": "box", "shape_of_box": [5, 4]}
            file.add("scipy.uniform_filter", "picture", rows, box, y, exact=False, columns=columns)


def text(file):
    """JSON with one picture, and one case, per line."""
    versions = {m.__name__: m.__version__ for m in [np, scipy, cv2, astropy]}
    short = lambda value: json.dumps(value, separators=(",", ":"))
    pictures = [f'{short(k)}:{short({"shape": v.shape, "values": values(v)})}' for k, v in file.pictures.items()]
    head = f'{{"made_by":{short(versions)},"outside":{OUTSIDE},"pictures":{{\n'
    return head + ",\n".join(pictures) + '},\n"cases":[\n' + ",\n".join(map(short, file.cases)) + "]}\n"


def main():
    file = File()
    file.picture("picture", (6, 7), 0, 255)
    file.picture("small", (3, 4), -99, 99)
    file.picture("line", (1, 9), -99, 99)
    file.picture("colours", (4, 5, 3), 0, 255)
    file.picture("holes", (6, 7), 0, 99)
    file.picture("few", (5, 6), 0, 99)
    file.pictures["holes"][file.rng.random((6, 7)) < 0.2] = np.nan
    file.pictures["few"][file.rng.random((5, 6)) < 0.8] = np.nan
    # A new part comes last, so that the others keep their numbers.
    for part in [scipy_weights, scipy_named, opencv, with_astropy, scipy_large, scipy_per_axis]:
        part(file)
    result = text(file)
    json.loads(result)
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(result)
    print(f"{path}: {len(result)} bytes, {len(file.cases)} cases", file=sys.stderr)


if __name__ == "__main__":
    main()
