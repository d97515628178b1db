#!/usr/bin/env python3
"""Measures SciPy and OpenCV on the CPU with the problems of `Rank2d`: medians and minima of a picture of u8, and of one of f32.

`scipy.ndimage` runs in one thread. OpenCV has its own threads, and is measured with one and with one per core.

This file also has the parts that both programs for `Rank2d` share: the problems, their solutions and the limits of time.
"""

import math
import os
import platform

import numpy as np

from common import CPU_RUNS, attempt, cpu_name
from pictures import CPU_SIDE, Picture, measure_copy, print_columns, report, time_on_cpu, versions

RATE = "pixels_per_s"

# Rows and columns of the windows of n.
SQUARE, ROW, COLUMN = lambda n: (n, n), lambda n: (1, n), lambda n: (n, 1)

# Kinds of ranks: their windows, and each n in ascending order.
CASES = {
    "Median": (SQUARE, (3, 4, 5, 7, 9, 15, 25, 75)),
    "RowMedian": (ROW, (3, 65, 257)),
    "ColumnMedian": (COLUMN, (9, 65)),
    "Minimum": (SQUARE, (3, 15, 75, 255)),
}

# Seconds. A longer run is not repeated.
LONG = 2

# Seconds. After a longer run, a peer is not measured with larger windows.
TOO_LONG = 20


class Problem:
    """A picture, a kind of rank, the window as (rows, columns), and the expected outputs at the positions of the picture.

    The output at (r, c) is one of the samples x[r + i - rows // 2, c + j - columns // 2] for i < rows and j < columns, with
    the nearest x outside: the one with index rows * columns // 2 in ascending order, or the least.
    """

    def __init__(self, picture, kind, n, window):
        self.samples, self.positions, self.kind, self.window = picture.samples, picture.positions, kind, window
        self.type, self.per_run = self.samples.dtype.name, self.samples.size
        self.name = f"{picture.name} {kind}({n})"
        self.is_median = kind.endswith("Median")
        # The name in `scipy.ndimage`, and in CuPy's.
        self.function = "median_filter" if self.is_median else "minimum_filter"
        rank = math.prod(window) // 2 if self.is_median else 0
        rows, columns = (
            (axis[:, None] + np.arange(taps) - taps // 2).clip(0, length - 1)
            for axis, taps, length in zip(self.positions, window, self.samples.shape)
        )
        windows = (self.samples[np.ix_(*place)] for place in zip(rows, columns))
        self.expected = np.array([np.sort(samples, axis=None)[rank] for samples in windows])

    def verdict(self, outputs):
        """Returns the verdict on the outputs at `self.positions`. It begins with "ok" if they are right, bit for bit."""
        if outputs.shape != self.expected.shape or outputs.dtype != self.samples.dtype:
            return f"WRONG shape or type: {outputs.shape} {outputs.dtype}"
        bits = f"u{outputs.itemsize}"
        wrong = outputs.view(bits) != self.expected.view(bits)
        if wrong.any():
            return f"WRONG at {[int(axis[wrong.argmax()]) for axis in self.positions]}, {np.count_nonzero(wrong)} of {wrong.size}"
        return "ok exact"


def pictures(side):
    """Yields each picture."""
    return (Picture(side, dtype) for dtype in (np.uint8, np.float32))


def problems(picture, cases=CASES):
    """Yields the problems of a picture."""
    return (Problem(picture, kind, n, window(n)) for kind, (window, lengths) in cases.items() for n in lengths)


class Measurements:
    """Results of peers, and the peers that were too slow."""

    def __init__(self):
        self.results, self.slow = [], {}

    def measure(self, peer, problem, run):
        """Prints the line of a case: `run` returns microseconds and the verdict. Says if the peer was too slow before."""
        series = (peer, problem.samples.shape, problem.type, problem.kind)
        if series in self.slow:
            print(f"# {peer}, {problem.name} skipped: {self.slow[series]}", flush=True)
            return

        def case():
            microseconds, verdict = run()
            if microseconds > TOO_LONG * 1e6:
                self.slow[series] = f"{problem.name} took {microseconds * 1e-6:.0f} s"
            return report(peer, problem, microseconds, verdict)

        self.results.append(attempt(f"{peer}, {problem.name}", case))

    def exit_code(self):
        """Returns 0 if something was measured, and everything that was measured is right."""
        measured = [result for result in self.results if result is not None]
        return 0 if measured and all(measured) else 1


def scipy_cases(problem):
    """Yields pairs of a peer and a function that filters into an array."""
    from scipy import ndimage

    function = getattr(ndimage, problem.function)
    work = lambda outputs: function(problem.samples, problem.window, output=outputs, mode="nearest")
    yield f"SciPy ndimage.{problem.function}, 1 thread", work


def opencv_cases(problem):
    """Yields pairs of a peer and a function that filters into an array."""
    import cv2

    rows, columns = problem.window

    def median(outputs):
        cv2.medianBlur(problem.samples, rows, outputs)  # the nearest pixels are outside

    def erode(outputs):
        cv2.erode(problem.samples, np.ones(problem.window, np.uint8), outputs, borderType=cv2.BORDER_REPLICATE)

    # Its medians are of squares with odd sides only, those of f32 of small ones.
    if problem.is_median and (rows != columns or rows % 2 == 0 or problem.type == "float32" and rows > 5):
        return
    name, work = ("medianBlur", median) if problem.is_median else ("erode", erode)
    for threads in sorted({1, len(os.sched_getaffinity(0))}):
        cv2.setNumThreads(threads)
        yield f"OpenCV {name}, {threads} thread{'s' if threads > 1 else ''}", work


def main():
    print(f"# CPU: {cpu_name()}, {len(os.sched_getaffinity(0))} cores available to this process")
    print(f"# Python {platform.python_version()}, {', '.join(versions())}")
    print(f"# {CPU_SIDE} x {CPU_SIDE} pixels; median of {CPU_RUNS} runs after a warm-up, wall clock")
    print(f"# a single run if it takes more than {LONG} s; none with larger windows after one of more than {TOO_LONG} s")
    print_columns(RATE)
    measurements = Measurements()

    def measure(cases, problem):
        for peer, work in cases(problem):
            measurements.measure(peer, problem, lambda: time_on_cpu(problem, work, LONG))

    for picture in pictures(CPU_SIDE):
        measurements.results.append(measure_copy(picture, picture.samples.size))
        for problem in problems(picture):
            attempt(f"SciPy {problem.name}", lambda: measure(scipy_cases, problem))
            attempt(f"OpenCV {problem.name}", lambda: measure(opencv_cases, problem))
    return measurements.exit_code()


if __name__ == "__main__":
    raise SystemExit(main())
