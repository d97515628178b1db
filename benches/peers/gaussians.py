#!/usr/bin/env python3
"""Measures CuPy's Gaussians of pictures on a GPU, with the cases of benches/gaussians.rs on the largest picture.

Data stay on the device, times are medians by CUDA events, and some outputs are compared with weighted sums in double precision. README.md
explains the columns.
"""

import platform

import numpy as np

from common import RUNS, WARM_UPS, attempt, driver
from pictures import SIDE, Cupy

SIGMAS = (2, 4, 8, 12, 16, 24, 32, 48, 64, 100, 128)

# Random positions of outputs that are compared.
CHECKED = 20

# Side of a part of the picture.
SMALL = 512

# A run that takes more than this number of seconds is the only one, and the last one of its picture.
LONG = 0.3


def weights(sigma):
    """Returns the weights up to 4 standard deviations from the middle, as in the crate and in SciPy."""
    distances = np.arange(-int(4 * sigma + 0.5), int(4 * sigma + 0.5) + 1)
    values = np.exp(-0.5 * (distances / sigma) ** 2)
    return distances, values / values.sum()


class Case:
    """A picture of f32 or u8 with one channel or three, and a standard deviation."""

    def __init__(self, samples, sigma):
        self.samples, self.sigma = samples, sigma
        kind = {"float32": "f32", "uint8": "u8"}[samples.dtype.name]
        channels = 1 if samples.ndim == 2 else samples.shape[2]
        taps = len(weights(sigma)[0])
        self.name = f"{kind} n={SIDE}x{SIDE} channels={channels} sigma={sigma} taps={taps}"

    def verdict(self, outputs, positions):
        distances, values = weights(self.sigma)
        worst = 0.0
        for output, (row, column, *channel) in zip(outputs, positions):
            # The boundary reflects about the edges of the picture.
            rows, columns = ((place + distances) % (2 * SIDE) for place in (row, column))
            rows, columns = (np.minimum(places, 2 * SIDE - 1 - places) for places in (rows, columns))
            window = self.samples[np.ix_(rows, columns)][(..., *channel)].astype(np.float64)
            worst = max(worst, abs(values @ window @ values - float(output)))
        # SciPy's functions cut off the fractions of integers, twice.
        limit = 2.01 if self.samples.dtype == np.uint8 else 1e-3
        return f"ok max error {worst:.1e}" if worst <= limit else f"WRONG by {worst}"


def report(peer, case, microseconds, verdict):
    print(f"{peer}\t{case.name}\t{microseconds:.1f}\t{2 * case.samples.nbytes / microseconds * 1e6:.4g}\t{verdict}", flush=True)


def measure(peers, samples, random):
    """Measures all standard deviations with a picture. Returns whether all results were right."""
    uploaded, is_right = peers.upload(samples), True
    positions = random.integers(0, SIDE, (CHECKED, 2)).tolist()
    if samples.ndim == 3:
        positions = [(*place, place[0] % samples.shape[2]) for place in positions]
    for sigma in SIGMAS:
        case = Case(samples, sigma)
        of_axes = (sigma, sigma, 0)[: samples.ndim]
        target = peers.cupy.empty_like(uploaded)
        work = lambda: peers.ndimage.gaussian_filter(uploaded, of_axes, output=target, mode="reflect")
        # A small picture first: that compiles kernels.
        peers.ndimage.gaussian_filter(uploaded[:SMALL, :SMALL].copy(), of_axes, mode="reflect")
        microseconds = peers.time(work, LONG)
        chosen = target[tuple(peers.upload(np.array(axis)) for axis in zip(*positions))]
        verdict = case.verdict(peers.download(chosen), positions)
        report("CuPy ndimage.gaussian_filter", case, microseconds, verdict)
        is_right &= verdict.startswith("ok")
        if microseconds > LONG * 1e6:
            print(f"# CuPy took more than {LONG} s for {case.name}: no larger ones")
            break
    return is_right


def main():
    print(f"# driver: {driver()}")
    print(f"# Python {platform.python_version()}, NumPy {np.__version__}")
    print(f"# median of {RUNS} runs after {WARM_UPS} warm-ups, CUDA events; a single run if it takes more than {LONG} s")
    print("# peer\tcase\tmedian_us\tbytes_per_s\tcheck")
    peers, random = attempt("CuPy", Cupy), np.random.default_rng(1)
    results = []
    for dtype, shape in ((np.float32, (SIDE, SIDE)), (np.uint8, (SIDE, SIDE)), (np.uint8, (SIDE, SIDE, 3))):
        samples = (random.random(shape, np.float32) * 255).astype(dtype)
        if peers:
            results.append(attempt("CuPy", lambda: measure(peers, samples, random)))
    return 1 if False in results else 0


if __name__ == "__main__":
    raise SystemExit(main())
