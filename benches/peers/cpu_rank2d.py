#!/usr/bin/env python3
"""Measures SciPy and OpenCV on the CPU with the problems of `Rank2d`: medians, minima and morphology of a picture of u8, and of one of f32.

`scipy.ndimage` runs in one thread. OpenCV has its own threads, and is measured with one and with one per core.

This file also has the parts that both programs for `Rank2d` share: the problems, their solutions and the limits of time.
"""

import os
import platform

import numpy as np

from common import CPU_RUNS, attempt, cpu_name
from pictures import CPU_SIDE, Picture, measure_copy, print_columns, report, time_on_cpu, versions

RATE = "pixels_per_s"

# The samples of the window of n, of its rows and columns.
SQUARE, ROW, COLUMN = (lambda n: np.ones((n, n), bool)), (lambda n: np.ones((1, n), bool)), (lambda n: np.ones((n, 1), bool))
DISC = lambda n: np.hypot(*np.ogrid[-n : n + 1, -n : n + 1]) <= n

# Kinds of problems: their windows, and each n in ascending order.
CASES = {
    "Median": (SQUARE, (3, 4, 5, 6, 7, 9, 15, 25, 75)),
    "RowMedian": (ROW, (3, 65, 257)),
    "ColumnMedian": (COLUMN, (9, 65)),
    "DiscMedian": (DISC, (4, 7)),
    "Minimum": (SQUARE, (3, 15, 75, 255)),
    "DiscMinimum": (DISC, (4, 7)),
    "Opening": (SQUARE, (15,)),
    "Gradient": (SQUARE, (3,)),
}

# The names in `scipy.ndimage`, and in CuPy's, of kinds that do not end with "Median" or "Minimum".
FUNCTIONS = {"Opening": "grey_opening", "Gradient": "morphological_gradient"}

# Seconds. A longer run is not repeated.
LONG = 2

# Seconds. After a longer run, a peer is not measured with larger windows.
TOO_LONG = 20


class Problem:
    """A picture, a kind of problem, its window, and the expected outputs at the positions of the picture.

    The window at (r, c) consists of samples x[r + i - rows // 2, c + j - columns // 2] for i < rows and j < columns, with the
    nearest x outside. The output is the one with index count // 2 of the `count` samples in ascending order; or the least one;
    or the greatest of the least ones at the window's positions; or the greatest one minus the least.
    """

    def __init__(self, picture, kind, n, window):
        self.samples, self.positions, self.kind, self.window = picture.samples, picture.positions, kind, window
        self.type, self.per_run = self.samples.dtype.name, self.samples.size
        self.name = f"{picture.name} {kind}({n})"
        self.is_median, self.is_minimum = kind.endswith("Median"), kind.endswith("Minimum")
        self.function = FUNCTIONS.get(kind, "median_filter" if self.is_median else "minimum_filter")
        self.is_rectangle = window.all()
        self.expected = np.array([self.output(position) for position in zip(*self.positions)])

    def keywords(self, array):
        """Returns the window as `scipy.ndimage` takes it; `array` makes an array of one of NumPy."""
        return {"size": self.window.shape} if self.is_rectangle else {"footprint": array(self.window)}

    def places(self, positions):
        """Returns the rows and the columns of the samples of windows: an array of a row for each window."""
        starts = (axis[:, None] - taps // 2 for axis, taps in zip(positions, self.window.shape))
        axes = (start + taps for start, taps in zip(starts, np.nonzero(self.window)))
        return tuple(axis.clip(0, length - 1) for axis, length in zip(axes, self.samples.shape))

    def output(self, position):
        places = self.places([np.array([place]) for place in position])
        window = self.samples[places][0]
        if self.kind == "Opening":
            return self.samples[self.places([axis[0] for axis in places])].min(axis=1).max()
        if self.kind == "Gradient":
            return window.max() - window.min()
        return np.sort(window)[window.size // 2] if self.is_median else window.min()

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
    work = lambda outputs: function(problem.samples, output=outputs, mode="nearest", **problem.keywords(np.asarray))
    yield f"SciPy ndimage.{problem.function}, 1 thread", work


def opencv_cases(problem):
    """Yields pairs of a peer and a function that filters into an array."""
    import cv2

    rows, columns = problem.window.shape

    def median(outputs):
        cv2.medianBlur(problem.samples, rows, outputs)  # the nearest pixels are outside

    def morphology(outputs):
        element = problem.window.astype(np.uint8)
        cv2.morphologyEx(problem.samples, operation, element, outputs, borderType=cv2.BORDER_REPLICATE)

    # Its medians are of squares with odd sides only, those of f32 of small ones.
    is_odd_square = problem.is_rectangle and rows == columns and rows % 2
    if problem.is_median and (not is_odd_square or problem.type == "float32" and rows > 5):
        return
    operation = {"Opening": cv2.MORPH_OPEN, "Gradient": cv2.MORPH_GRADIENT}.get(problem.kind, cv2.MORPH_ERODE)
    name, work = ("medianBlur", median) if problem.is_median else ("morphologyEx", morphology)
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
