#!/usr/bin/env python3
"""Makes histogram.json: what NumPy gives for the histograms that `Histogram` counts.

    python3 tests/golden/histogram.py

needs NumPy; the committed file was made with NumPy 2.4.6, and it names the version that made it. The same version
gives the same file.

Where the numbers come from:

* even bins of floats, and edges: `numpy.histogram`, whose last bin is closed; for half-open ones samples that equal the
  last edge are left out beforehand;
* even bins of integers: the same, with borders that are rounded up to the next integer; where that makes some equal, the
  formula in Python's integers;
* bytes and low bits: `numpy.bincount`;
* weights: `numpy.histogram` with weights that are multiples of 1/8, so that its sums in double precision are exact.

NumPy rounds the borders of even bins of floats in its own way, so float samples keep a millionth of a bin away from
borders, but for the two ends and for ranges whose borders are exact. Below, above and NaN are counted by comparing.
"""

import json
import pathlib
import sys

import numpy as np

SEED = 20241121
SAMPLES = 200
INTEGERS = {"u8": (0, 2**8 - 1), "u16": (0, 2**16 - 1), "u32": (0, 2**32 - 1), "i32": (-(2**31), 2**31 - 1)}
FLOATS = {"f32": np.float32, "f64": np.float64}


def counted(x, edges, bins, closed, weights=None):
    """The bins, then below, above and NaN: counts, or sums of weights."""
    lower, upper = edges[0], edges[-1]
    weights = np.ones(x.size, np.int64) if weights is None else weights
    above = (x >= upper) & ~((x == upper) & closed)
    inside = (x >= lower) & ~above
    range_of = (lower, upper) if isinstance(bins, int) else None
    histogram, _ = np.histogram(x[inside], bins, range_of, weights=weights[inside])
    outside = [weights[mask].sum() for mask in (x < lower, above, np.isnan(x))]
    return [v.item() for v in [*histogram, *outside]]


def even_integers(rng, kind):
    least, most = INTEGERS[kind]
    ranges = [(1, 10, 100), (7, 10, 100), (300, 3, 200), (16, least, most), (1000, least, most)]
    for bins, lower, upper in ranges:
        x = np.concatenate([
            rng.integers(least, most, SAMPLES // 4, np.int64, endpoint=True),
            rng.integers(max(lower - 5, least), min(upper + 5, most), SAMPLES, np.int64, endpoint=True),
            [least, most, lower, upper, upper - 1],
        ])
        for closed in (False, True):
            width = upper - lower
            if bins <= width:
                borders = [lower - (-k * width // bins) for k in range(bins + 1)]
                result = counted(x, borders, np.array(borders), closed)
            else:
                inside = x[(x >= lower) & (x <= upper if closed else x < upper)]
                places = [min((int(v) - lower) * bins // width, bins - 1) for v in inside]
                result = np.bincount(places, minlength=bins).tolist()
                result += [int((x < lower).sum()), int((x > upper).sum() + (x == upper).sum() * (not closed)), 0]
            yield {"even": [bins, lower, upper], "closed": closed, "samples": x.tolist(), "counts": result}


def even_floats(rng, kind):
    dtype = FLOATS[kind]
    for bins, lower, upper in [(10, 0.0, 1.0), (3, -1.0, 2.0), (256, 0.0, 1.0), (1000, -8.0, 24.0), (7, 0.5, 100.0)]:
        x = rng.uniform(lower - 0.1 * (upper - lower), upper + 0.1 * (upper - lower), SAMPLES).astype(dtype)
        place = (x.astype(np.float64) - lower) * bins / (upper - lower)
        x = x[np.abs(place - np.round(place)) > 1e-6]
        x = np.concatenate([x, np.array([lower, upper, np.nan, np.inf, -np.inf, -0.0], dtype)])
        for closed in (False, True):
            result = counted(x, [lower, upper], bins, closed)
            yield {"even": [bins, lower, upper], "closed": closed, "samples": texts(x), "counts": result}


def edges(rng, kind):
    if kind in INTEGERS:
        ascending, dtype = [[0, 1, 4, 9, 16, 25, 200], [3, 7]], np.int64
        x = rng.integers(0, 255, SAMPLES, np.int64, endpoint=True)
    else:
        ascending, dtype = [[-1.0, 0.0, 0.125, 0.5, 4.0], [-np.inf, 0.0, np.inf], [0.25, 0.75]], FLOATS[kind]
        x = rng.uniform(-2, 5, SAMPLES).astype(dtype)
    for e in ascending:
        borders = np.array(e, dtype)
        on_edges = np.concatenate([x, borders, [] if kind in INTEGERS else np.array([np.nan], dtype)]).astype(dtype)
        for closed in (False, True):
            result = counted(on_edges, borders, borders, closed)
            samples = on_edges.tolist() if kind in INTEGERS else texts(on_edges)
            yield {"edges": e if kind in INTEGERS else texts(borders), "closed": closed, "samples": samples, "counts": result}


def low_bits(rng, kind):
    most = INTEGERS[kind][1]
    x = rng.integers(0, most, SAMPLES, np.int64, endpoint=True)
    for bits in [8] if kind == "u8" else [1, 3, 8, 10]:
        counts = np.bincount(x % 2**bits, minlength=2**bits)
        yield {"low_bits": bits, "samples": x.tolist(), "counts": [*counts.tolist(), 0, 0, 0]}


def weighted(rng, kind):
    x = rng.uniform(-1, 5, SAMPLES).astype(FLOATS[kind])
    x = x[np.abs(x * 2 - np.round(x * 2)) > 1e-6]
    weights = rng.integers(-800, 800, x.size) / 8
    sums = counted(x, [0.0, 4.0], 8, False, weights)
    yield {"even": [8, 0.0, 4.0], "closed": False, "samples": texts(x), "weights": weights.tolist(), "counts": sums}


def weighted_channels(rng, kind):
    """Three interleaved channels, of which two are counted."""
    x = rng.uniform(-1, 5, 3 * SAMPLES).astype(FLOATS[kind])
    x[np.abs(x * 2 - np.round(x * 2)) <= 1e-6] = 0.25
    x[:12] = [0.0, 4.0, 1.0, 4.0, 0.0, 4.0, np.nan, np.inf, 0.5, -np.inf, -0.0, 4.0]
    weights = rng.integers(-800, 800, x.size) / 8
    for closed in (False, True):
        sums = [s for c in (0, 1) for s in counted(x[c::3], [0.0, 4.0], 8, closed, weights[c::3])]
        yield {"even": [8, 0.0, 4.0], "channels": [3, 2], "closed": closed, "samples": texts(x),
               "weights": weights.tolist(), "counts": sums}


def texts(values):
    """Text for what JSON has no numbers for."""
    return [v if np.isfinite(v) else str(v) for v in values.tolist()]


def make_cases():
    rng = np.random.default_rng(SEED)
    for kind in INTEGERS:
        makers = [even_integers, edges] + ([low_bits] if kind in ("u8", "u16") else [])
        yield from ({"type": kind, **case} for make in makers for case in make(rng, kind))
    for kind in FLOATS:
        yield from ({"type": kind, **case} for make in (even_floats, edges, weighted) for case in make(rng, kind))
    for kind in FLOATS:
        yield from ({"type": kind, **case} for case in weighted_channels(rng, kind))


def main():
    cases = [json.dumps(case, separators=(",", ":")) for case in make_cases()]
    head = f'{{"made_by": {json.dumps({"numpy": np.__version__})},\n"cases": [\n'
    result = head + ",\n".join(cases) + "\n]}\n"
    json.loads(result)
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(result)
    print(f"{path}: {len(result)} bytes, {len(cases)} cases", file=sys.stderr)


if __name__ == "__main__":
    main()
