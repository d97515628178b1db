#!/usr/bin/env python3
"""Measures SciPy and OpenCV on the CPU with the problems of `Rank2d`: medians and minima of a picture of u8, and of one of f32.

`scipy.ndimage` runs in one thread. OpenCV has its own threads, and is measured with one and with one per core.

This file also has the parts that both programs for `Rank2d` share: the problems, their solutions and the limits of time.
"""

import os
import platform

import numpy as np

from common import CPU_RUNS, attempt, cpu_name
from pictures import CPU_SIDE, Picture, measure_copy, print_columns, report, time_on_cpu, versions

RATE = "pixels_per_s"

# Kinds of ranks, and sides of their windows in ascending order.
CASES = {"Median": (3, 5, 7, 15, 25, 75), "Minimum": (3, 15, 75, 255)}

# Seconds. A longer run is not repeated.
LONG = 2

# Seconds. After a longer run, a peer is not measured with larger windows.
TOO_LONG = 20


class Problem:
    """A picture, a kind of rank, the side of the window, and the expected outputs at the positions of the picture.

    The output at (r, c) is one of the samples x[r + i - side // 2, c + j - side // 2], with the nearest x outside: that in the
    middle of them in ascending order, or the least.
    """

    def __init__(self, picture, kind, side):
        self.samples, self.positions, self.kind, self.side = picture.samples, picture.positions, kind, side
        self.type, self.per_run = self.samples.dtype.name, self.samples.size
        self.name = f"{picture.name} {kind}({side})"
        rank = side * side // 2 if kind == "Median" else 0
        near = np.arange(side) - side // 2
        rows, columns = ((axis[:, None] + near).clip(0, length - 1) for axis, length in zip(self.positions, self.samples.shape))
        windows = (self.samples[np.ix_(*place)] for place in zip(rows, columns))
        self.expected = np.array([np.sort(window, axis=None)[rank] for window in windows])

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


def problems(picture):
    """Yields the problems of a picture."""
    return (Problem(picture, kind, side) for kind, sides in CASES.items() for side in sides)


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

    name = {"Median": "median_filter", "Minimum": "minimum_filter"}[problem.kind]
    function = getattr(ndimage, name)
    work = lambda outputs: function(problem.samples, problem.side, output=outputs, mode="nearest")
    yield f"SciPy ndimage.{name}, 1 thread", work


def opencv_cases(problem):
    """Yields pairs of a peer and a function that filters into an array."""
    import cv2

    def median(outputs):
        cv2.medianBlur(problem.samples, problem.side, outputs)  # the nearest pixels are outside

    def erode(outputs):
        window = np.ones((problem.side, problem.side), np.uint8)
        cv2.erode(problem.samples, window, outputs, borderType=cv2.BORDER_REPLICATE)

    # Its medians of f32 are of small windows only.
    if problem.kind == "Median" and problem.type == "float32" and problem.side > 5:
        return
    name, work = {"Median": ("medianBlur", median), "Minimum": ("erode", erode)}[problem.kind]
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
