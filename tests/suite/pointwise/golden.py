#!/usr/bin/env python3
"""Writes golden.json: results of OpenCV and NumPy for operations on single samples.

    python3 tests/suite/pointwise/golden.py

needs NumPy and OpenCV (opencv-python-headless); the committed file was made with NumPy 2.4.6 and OpenCV 5.0.0, and it names the
versions that made it. The same versions give the same file.

`combine`: `cv2.add`, `subtract`, `absdiff`, `min` and `max` of two arrays of a type, and NumPy's `multiply`, clipped (`cv2.multiply`
of u16 gives 0 for products from 2^31 on). `convert`: NumPy's rounding to the nearest integer, ties to even, and clipping. `lookup`:
`cv2.LUT`. `equalise`: `cv2.equalizeHist`. `gamma`: NumPy's `power`, with exponents that are exact in single precision.
"""

import json
import pathlib
import sys

import cv2
import numpy as np

SEED = 20261125
COUNT = 48
# Those of f32 are multiples of 1/8, so that decimals and sums are exact.
RANGES = {"u8": (0, 255), "u16": (0, 65535), "i16": (-32768, 32767), "f32": (-4000, 4000)}
DTYPES = {"u8": np.uint8, "u16": np.uint16, "i16": np.int16, "f32": np.float32}


def product(a, b):
    if a.dtype == np.float32:
        return a * b
    limits = np.iinfo(a.dtype)
    return np.clip(a.astype(np.int64) * b, limits.min, limits.max).astype(a.dtype)


COMBINATIONS = {
    "Add": cv2.add,
    "Sub": cv2.subtract,
    "Mul": product,
    "AbsDiff": cv2.absdiff,
    "Min": cv2.min,
    "Max": cv2.max,
}


def samples(rng, kind):
    """Returns numbers of the whole range of a type, small ones, and its limits."""
    least, greatest = RANGES[kind]
    numbers = rng.uniform(least, greatest, COUNT)
    numbers[::3] = rng.uniform(max(least, -20), 20, numbers[::3].size)
    numbers[:4] = [least, greatest, 0, 1]
    rng.shuffle(numbers)
    numbers = np.rint(numbers * 8) / 8 if kind == "f32" else np.rint(numbers)
    return numbers.astype(DTYPES[kind])


def flat(array):
    return array.ravel().tolist()


def combine(rng):
    for kind in RANGES:
        a, b = samples(rng, kind), samples(rng, kind)
        for name, function in COMBINATIONS.items():
            output = function(a.reshape(1, -1), b.reshape(1, -1))
            yield {"by": "combine", "types": [kind, kind], "function": name, "a": flat(a), "b": flat(b), "output": flat(output)}


def convert(rng):
    for kind in RANGES:
        for to in RANGES:
            for scale, offset in [(1, 0), (0.5, 3), (-2, 100.5)]:
                a = samples(rng, kind)
                exact = a.astype(np.float64) * scale + offset
                output = exact if to == "f32" else np.rint(exact).clip(*RANGES[to])
                case = {"by": "convert", "types": [kind, to], "scale": scale, "offset": offset}
                yield {**case, "a": flat(a), "output": flat(output.astype(DTYPES[to]))}


def lookup(rng):
    for to in ["u8", "f32"]:
        entries = np.resize(samples(rng, to), 256)
        a = samples(rng, "u8")
        output = cv2.LUT(a.reshape(1, -1), entries.reshape(1, -1))
        yield {"by": "lookup", "types": ["u8", to], "entries": flat(entries), "a": flat(a), "output": flat(output)}


def equalise(rng):
    for spread, count in [(5, 64), (30, 400), (90, 1000)]:
        picture = rng.normal(120, spread, (8, count // 8)).clip(0, 255).astype(np.uint8)
        output = cv2.equalizeHist(picture)
        yield {"by": "equalise", "types": ["u8", "u8"], "a": flat(picture), "output": flat(output)}


def gamma(rng):
    for exponent in [0.5, 2.0, 0.4375]:
        a = np.abs(samples(rng, "f32"))
        output = np.power(a.astype(np.float64), exponent)
        yield {"by": "gamma", "types": ["f32", "f32"], "exponent": exponent, "a": flat(a), "output": flat(output)}


def main():
    rng = np.random.default_rng(SEED)
    cases = [case for group in (combine, convert, lookup, equalise, gamma) for case in group(rng)]
    path = pathlib.Path(__file__).with_suffix(".json")
    text = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    made_by = json.dumps({"numpy": np.__version__, "cv2": cv2.__version__})
    path.write_text(f'{{"made_by": {made_by},\n"cases": [\n{text}\n]}}\n')
    print(f"{len(cases)} cases in {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
