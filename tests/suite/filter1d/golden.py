#!/usr/bin/env python3
"""Writes golden.json: the results of SciPy and NumPy for the filters that `Filter1d` computes.

    python3 tests/suite/filter1d/golden.py

needs NumPy and SciPy; the committed file was made with NumPy 2.4.6 and SciPy 1.17.1, and it names the versions that
made it. The same versions give the same file.

Where the numbers come from:

* floats, extent `same`: `scipy.ndimage.correlate1d` and `convolve1d`, in double precision;
* extent `valid`: `numpy.correlate` and `numpy.convolve` with `mode="valid"`;
* extent `full` with zeros outside: the same two with `mode="full"`;
* extent `full` with other boundaries, and integers: the signal is extended by `numpy.pad` and then filtered as for
  `valid`. Integers are Python's, reduced modulo 2^32 at the end. Where SciPy has the filter, the script checks that both
  results agree.

Samples and taps are decimals with few digits; the reader rounds them to the element type.
"""

import json
import pathlib
import sys

import numpy as np
import scipy
from scipy import ndimage

SEED = 20240607
LENGTHS = [1, 2, 3, 7, 40]
SHAPES = [(5, 9), (1, 6), (33, 4)]
TAPS = [1, 2, 3, 4, 5, 8, 33]
FILTERS = ["correlate", "convolve"]
TYPES = {"f32": np.float32, "f64": np.float64, "i32": object}
EXTENTS = ["same", "valid", "full"]
# Our name: SciPy's name, NumPy's name.
BOUNDARIES = {
    "zero": ("constant", "constant"),
    "constant": ("constant", "constant"),
    "nearest": ("nearest", "edge"),
    "reflect": ("reflect", "symmetric"),
    "mirror": ("mirror", "reflect"),
    "wrap": ("wrap", "wrap"),
}
# Every group of cases has each pair of a length and a number of taps once. Its boundary changes from group to group.
ONE_IN = len(BOUNDARIES)

NUMPY = {"correlate": np.correlate, "convolve": np.convolve}
SCIPY = {"correlate": ndimage.correlate1d, "convolve": ndimage.convolve1d}


def numbers(rng, kind, count, small):
    """Returns random decimals with three digits, or integers: from the whole range, or small ones if `small`."""
    if kind != "i32":
        return [round(float(v), 3) for v in rng.uniform(-1, 1, count)]
    limit = 9 if small else 2**31 - 1
    return [int(v) for v in rng.integers(-limit - 1, limit, count, endpoint=True)]


def make_data(rng):
    """Returns the samples, the taps and the value outside for each element type, as in the file."""
    shapes = [(n,) for n in LENGTHS] + SHAPES
    data = {}
    for kind in TYPES:
        samples = {name(s): numbers(rng, kind, int(np.prod(s)), small=False) for s in shapes}
        # Small taps where their number is odd, so that sums of integers wrap around less often there.
        taps = {str(m): numbers(rng, kind, m, small=m % 2 == 1) for m in TAPS}
        data[kind] = {"outside": numbers(rng, kind, 1, small=False)[0], "samples": samples, "taps": taps}
    extremes = data["i32"]["samples"][name((40,))]
    extremes[3], extremes[17], extremes[39] = -(2**31), 2**31 - 1, -(2**31)
    return data


def name(shape):
    return "x".join(map(str, shape))


def array(kind, values):
    """Returns the numbers rounded to the element type, in a type that is exact or wide enough to compute with."""
    values = np.array(values, dtype=TYPES[kind])
    return values if kind == "i32" else values.astype(np.float64)


def padded(x, before, after, boundary, outside):
    mode = BOUNDARIES[boundary][1]
    value = {"constant_values": outside} if mode == "constant" else {}
    result = np.pad(x, (before, after), mode, **value)
    # Some modes insert NumPy's 64-bit integers among Python's; they would overflow.
    return np.array([int(v) for v in result], dtype=object) if x.dtype == object else result


def valid(filter, x, taps):
    # With more taps than samples, NumPy exchanges the two. No output depends on samples alone then.
    return NUMPY[filter](x, taps, mode="valid") if len(x) >= len(taps) else x[:0]


def same_by_padding(filter, x, taps, boundary, outside):
    m = len(taps)
    before = m // 2 if filter == "correlate" else m - 1 - m // 2
    return valid(filter, padded(x, before, m - 1 - before, boundary, outside), taps)


def line(filter, extent, x, taps, boundary, outside):
    """Returns a filtered line."""
    if extent == "valid":
        return valid(filter, x, taps)
    if extent == "full" and boundary == "zero":
        return NUMPY[filter](x, taps, mode="full")
    if extent == "full":
        halo = len(taps) - 1
        return valid(filter, padded(x, halo, halo, boundary, outside), taps)
    by_padding = same_by_padding(filter, x, taps, boundary, outside)
    if x.dtype == object:
        return by_padding
    result = same_by_scipy(filter, x, taps, boundary, outside, 0)
    assert np.allclose(result, by_padding, rtol=0, atol=1e-14 * len(taps)), "SciPy and numpy.pad disagree"
    return result


def same_by_scipy(filter, x, taps, boundary, outside, axis):
    mode = BOUNDARIES[boundary][0]
    return SCIPY[filter](x, taps, axis=axis, mode=mode, cval=outside, output=np.float64)


def expected(filter, extent, x, taps, boundary, outside, axis):
    """Returns the lines along an axis, filtered."""
    # Filtered one by one: `apply_along_axis` fails where there is no output, and guesses the type.
    lines = np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis])
    y = np.array([line(filter, extent, l, taps, boundary, outside) for l in lines], dtype=x.dtype)
    y = np.moveaxis(y, -1, axis) if x.ndim == 2 else y[0]
    if extent == "same" and x.dtype != object:
        direct = same_by_scipy(filter, x, taps, boundary, outside, axis)
        assert np.array_equal(direct, y), "SciPy filters a matrix differently from its lines"
    return y


def wrapped(value):
    return (int(value) + 2**31) % 2**32 - 2**31


def case(data, group, boundary, shape, axis, m):
    values = data[group["type"]]
    x = array(group["type"], values["samples"][name(shape)]).reshape(shape)
    taps = array(group["type"], values["taps"][str(m)])
    outside = 0 if boundary == "zero" else array(group["type"], [values["outside"]])[0]
    y = expected(group["filter"], group["extent"], x, taps, boundary, outside, axis)
    result = [wrapped(v) if group["type"] == "i32" else float(v) for v in y.ravel()]
    place = {"samples": name(shape)} if len(shape) == 1 else {"samples": name(shape), "axis": axis}
    return {"boundary": boundary, **place, "taps": m, "shape": list(y.shape), "y": result}


def plans(number, extent):
    """Yields the cases of group `number`: boundary, shape, axis, taps."""
    pairs = [(n, m) for n in LENGTHS for m in TAPS]
    matrices = [(s, a) for s in SHAPES for a in [0, 1]]
    for b, boundary in enumerate(BOUNDARIES):
        for p, (n, m) in enumerate(pairs):
            if (p + b + number) % ONE_IN == 0:
                yield boundary, (n,), 0, m
        # The extent `valid` does not depend on the boundary, so fewer matrices suffice.
        if extent != "valid" or b % 3 == 0:
            shape, axis = matrices[(b + number) % len(matrices)]
            # 33 taps only where there are few outputs, to keep the file small.
            fits = [m for m in TAPS if m < 33 or shape == (1, 6) or extent == "valid"]
            yield boundary, shape, axis, fits[(b * 3 + number) % len(fits)]


def make_groups(data):
    heads = [{"filter": f, "type": t, "extent": e} for t in TYPES for f in FILTERS for e in EXTENTS]
    return [(head, [case(data, head, *plan) for plan in plans(i, head["extent"])]) for i, head in enumerate(heads)]


def text(data, groups):
    """Returns JSON with one array of data or one case per line."""
    versions = {"numpy": np.__version__, "scipy": scipy.__version__}
    lines = ["{", f'"made_by": {json.dumps(versions)},', '"data": {']
    for t, (kind, values) in enumerate(data.items()):
        lines.append(f'"{kind}": {{"outside": {values["outside"]!r},')
        for what in ["samples", "taps"]:
            rows = [f'  "{key}": {json.dumps(row)}' for key, row in values[what].items()]
            lines += [f'"{what}": {{', ",\n".join(rows), "}," if what == "samples" else "}}" + comma(t, data)]
    lines += ["},", '"groups": [']
    for g, (head, cases) in enumerate(groups):
        lines.append(json.dumps(head)[:-1] + ', "cases": [')
        lines += [json.dumps(c, separators=(",", ":")) + comma(i, cases) for i, c in enumerate(cases)]
        lines.append("]}" + comma(g, groups))
    return "\n".join(lines + ["]}"]) + "\n"


def comma(index, items):
    return "," if index + 1 < len(items) else ""


def main():
    data = make_data(np.random.default_rng(SEED))
    result = text(data, make_groups(data))
    json.loads(result)
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(result)
    print(f"{path}: {len(result)} bytes, {result.count('boundary')} cases", file=sys.stderr)


if __name__ == "__main__":
    main()
