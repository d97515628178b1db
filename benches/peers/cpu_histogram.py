#!/usr/bin/env python3
"""Measures NumPy and OpenCV on the CPU with `Histogram::bytes()`: 256 counts of 2^30 bytes.

`numpy.bincount` first converts its input to 64-bit integers, in one thread. It gets the bytes in parts, so that the
integers fit into memory. The parts are distributed over one thread per core. `cv2.calcHist` has its own threads.

This file also has the parts that both programs for `Histogram` share: the data, their counts and the form of a line.
"""

import os
import platform
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from common import CPU_RUNS, attempt, cpu_name, median_wall_clock

CPU_BYTES = 1 << 30
PART = 1 << 24

DISTRIBUTIONS = ("Uniform", "Constant", "Zipf", "Sorted", "Sawtooth", "TwoValue")


def bins_of(distribution, bins, start, end, count, random):
    """Returns the bins of samples `start` to `end` of `count`, as in `benches/histogram.rs` but with other random numbers."""
    place = np.arange(start, end, dtype=np.int64)
    if distribution == "Uniform":
        return random.integers(0, bins, end - start)
    if distribution == "Constant":
        return np.full(end - start, bins // 3)
    if distribution == "Zipf":
        cumulated = np.cumsum(np.arange(1, bins + 1, dtype=np.float64) ** -1.1)
        return np.minimum(np.searchsorted(cumulated, random.random(end - start) * cumulated[-1], "right"), bins - 1)
    if distribution == "Sorted":
        return place * bins // count
    if distribution == "Sawtooth":
        return place % bins
    return bins // 3 * (1 + random.integers(0, 2, end - start))


def make(distribution, bins, count, dtype, sample=lambda bins: bins):
    """Returns samples and their expected counts."""
    random = np.random.default_rng(1)
    samples, counts = np.empty(count, dtype), np.zeros(bins, np.int64)
    for start in range(0, count, PART):
        end = min(start + PART, count)
        of_part = bins_of(distribution, bins, start, end, count, random)
        samples[start:end] = sample(of_part)
        counts += np.bincount(of_part, minlength=bins)
    return samples, counts


def middles(bins):
    """Returns the middle of each of `bins` even bins from 0 to 1."""
    return lambda of_samples: ((of_samples + 0.5) / bins).astype(np.float32)


def report(peer, case, samples, microseconds, verdict):
    """Prints the line of one case. Returns whether its result was right."""
    seconds = microseconds * 1e-6
    print(f"{peer}\t{case}\t{microseconds:.1f}\t{samples.nbytes / seconds:.4g}\t{samples.size / seconds:.4g}\t{verdict}", flush=True)
    return verdict.startswith("ok")


def verdict(counts, expected):
    wrong = np.asarray(counts).astype(np.int64).ravel() != expected
    return f"WRONG at {wrong.argmax()}" if wrong.any() else "ok exact"


def name_of(kind, samples, bins, distribution):
    return f"{kind} n={samples.size} bins={bins} {distribution}"


def print_columns():
    print("# peer\tcase\tmedian_us\tbytes_per_s\tsamples_per_s\tcheck")


def bincount(samples, pool):
    parts = [samples[start : start + PART] for start in range(0, samples.size, PART)]
    return sum(pool.map(lambda part: np.bincount(part, minlength=256), parts))


def calc_hist(samples):
    import cv2

    # OpenCV's counts are in single precision, and rounded beyond 2^24.
    return cv2.calcHist([samples.reshape(-1, 1 << 15)], [0], None, [256], [0, 256])


def measure_numpy(cores, case, samples, expected):
    correct = True
    for threads in sorted({1, cores}):
        with ThreadPoolExecutor(threads) as pool:
            microseconds = median_wall_clock(lambda: bincount(samples, pool))
            peer = f"NumPy bincount, {threads} thread{'s' if threads > 1 else ''}"
            correct &= report(peer, case, samples, microseconds, verdict(bincount(samples, pool), expected))
    return correct


def measure_opencv(cores, case, samples, expected):
    import cv2

    cv2.setNumThreads(cores)
    rounded = expected.astype(np.float32).astype(np.int64)
    microseconds = median_wall_clock(lambda: calc_hist(samples))
    peer = f"OpenCV {cv2.__version__} calcHist, {cv2.getNumThreads()} threads"
    return report(peer, case, samples, microseconds, verdict(calc_hist(samples), rounded))


def main():
    cores = len(os.sched_getaffinity(0))
    print(f"# CPU: {cpu_name()}, {cores} cores available to this process")
    print(f"# Python {platform.python_version()}, NumPy {np.__version__}")
    print(f"# {CPU_BYTES} bytes; median of {CPU_RUNS} runs after a warm-up, wall clock")
    print_columns()
    results = []
    for distribution in DISTRIBUTIONS:
        samples, expected = make(distribution, 256, CPU_BYTES, np.uint8)
        case = name_of("bytes u8", samples, 256, distribution)
        results.append(attempt("OpenCV", lambda: measure_opencv(cores, case, samples, expected)))
        # NumPy's time does not depend on the data, and is long.
        if distribution == "Uniform":
            results.append(attempt("NumPy", lambda: measure_numpy(cores, case, samples, expected)))
    measured = [result for result in results if result is not None]
    return 0 if measured and all(measured) else 1


if __name__ == "__main__":
    raise SystemExit(main())
