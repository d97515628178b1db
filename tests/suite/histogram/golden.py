#!/usr/bin/env python3
"""Writes golden.json: NumPy's results for the histograms that `Histogram` counts.

    python3 tests/suite/histogram/golden.py

needs NumPy; the committed file was made with NumPy 2.4.6, and it names the version that made it. The same version
gives the same file.

Where the numbers come from:

* edges: `numpy.histogram`, whose last bin is closed; for half-open bins, samples that equal the last edge are removed
  beforehand;
* even bins: the same, with the borders as edges. They are computed with Python's fractions: borders of integers are
  rounded up to the next integer; borders of floats are rounded to the nearest float and are in the file. Where borders of
  integers coincide, the formula in Python's integers is used instead;
* bytes and low bits: `numpy.bincount`;
* weights: `numpy.histogram` with weights that are multiples of 1/8, so that its sums in double precision are exact.

NumPy computes the borders of even bins with `numpy.linspace`, which rounds several times. Where all of them equal the file's,
the counts are compared with NumPy's for the number of bins. Float samples lie everywhere, including on borders and next to
them. Samples below, above and NaN are counted by comparisons.
"""

import fractions
import json
import pathlib
import sys

import numpy as np

SEED = 20241121
SAMPLES = 200
INTEGERS = {"u8": (0, 2**8 - 1), "u16": (0, 2**16 - 1), "u32": (0, 2**32 - 1), "i32": (-(2**31), 2**31 - 1)}
FLOATS = {"f32": np.float32, "f64": np.float64}


def counted(x, edges, bins, closed, weights=None):
    """Returns the bins, then below, above and NaN: counts, or sums of weights."""
    lower, upper = edges[0], edges[-1]
    weights = np.ones(x.size, np.int64) if weights is None else weights
    above = (x >= upper) & ~((x == upper) & closed)
    inside = (x >= lower) & ~above
    histogram, _ = np.histogram(x[inside], bins, weights=weights[inside])
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


def nearest(exact, dtype):
    """Returns a fraction rounded to the nearest float, ties to even."""
    guess = dtype(float(exact))
    candidates = [np.nextafter(guess, dtype(-np.inf)), guess, np.nextafter(guess, dtype(np.inf))]
    bits = lambda x: int(x.view(f"u{x.itemsize}"))
    return min(candidates, key=lambda x: (abs(fractions.Fraction(float(x)) - exact), bits(x) % 2))


def borders(bins, lower, upper, dtype):
    lower, upper = (fractions.Fraction(float(dtype(end))) for end in (lower, upper))
    return np.array([nearest(lower + k * (upper - lower) / bins, dtype) for k in range(bins + 1)], dtype)


def even_case(bins, lower, upper, x, closed, **rest):
    """Returns a case with even bins of floats, and the counts of its samples."""
    edges = borders(bins, lower, upper, x.dtype.type)
    weights, channels = rest.get("weights"), rest.get("channels", [1, 1])
    weights = None if weights is None else np.array(weights)
    counts = []
    for c in range(channels[1]):
        one, of_one = x[c :: channels[0]], None if weights is None else weights[c :: channels[0]]
        counts += counted(one, edges, edges, closed, of_one)
        if np.array_equal(edges, np.linspace(edges[0], edges[-1], bins + 1, dtype=x.dtype)):
            inside = (one >= edges[0]) & ((one <= edges[-1]) if closed else (one < edges[-1]))
            own, _ = np.histogram(one[inside], bins, (edges[0], edges[-1]), weights=None if of_one is None else of_one[inside])
            assert own.tolist() == counts[-bins - 3 : -3], "NumPy counts differently"
    ends = [edges[0].item(), edges[-1].item()]
    return {"even": [bins, *ends], "closed": closed, "borders": texts(edges), "samples": texts(x), **rest, "counts": counts}


def even_floats(rng, kind):
    dtype = FLOATS[kind]
    ranges = [(10, 0.0, 1.0), (3, -1.0, 2.0), (256, 0.0, 1.0), (1000, -8.0, 24.0), (7, 0.5, 100.0)]
    for bins, lower, upper in [*ranges, (2, -1.0, 1.0), (10, -0.1, 0.7), (3, -0.1, 0.2)]:
        x = rng.uniform(lower - 0.1 * (upper - lower), upper + 0.1 * (upper - lower), SAMPLES).astype(dtype)
        edges = borders(bins, lower, upper, dtype)[:: -(-bins // 50)]
        neighbours = [np.nextafter(edges, dtype(end)) for end in (-np.inf, np.inf)]
        x = np.concatenate([x, edges, *neighbours, np.array([upper, -1e-20, np.nan, np.inf, -np.inf, -0.0], dtype)])
        for closed in (False, True):
            yield even_case(bins, lower, upper, x, closed)


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
    weights = rng.integers(-800, 800, x.size) / 8
    yield even_case(8, 0.0, 4.0, x, False, weights=weights.tolist())


def weighted_channels(rng, kind):
    """Yields cases with three interleaved channels, two of which are counted."""
    x = rng.uniform(-1, 5, 3 * SAMPLES).astype(FLOATS[kind])
    x[:12] = [0.0, 4.0, 1.0, 4.0, 0.0, 4.0, np.nan, np.inf, 0.5, -np.inf, -0.0, 4.0]
    weights = rng.integers(-800, 800, x.size) / 8
    for closed in (False, True):
        yield even_case(8, 0.0, 4.0, x, closed, channels=[3, 2], weights=weights.tolist())


def texts(values):
    """Returns the values, as text where JSON has no such number."""
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
