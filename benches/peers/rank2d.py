#!/usr/bin/env python3
"""Measures PyTorch and CuPy on a GPU with the problems of `Rank2d`.

Data stay on the device, times are medians by CUDA events, and every result is checked. A peer that is not installed,
or does not run, becomes a comment line. README.md explains the columns.
"""

import math
import platform

import numpy as np

from common import RUNS, WARM_UPS, attempt, driver
from cpu_rank2d import LONG, RATE, ROW, TOO_LONG, Measurements, pictures, problems
from pictures import NEAR, SIDE, Copy, Cupy, Torch, print_columns

# Sides of the pictures.
SIDES = (SIDE, SIDE // 2)

# As `CASES` of `cpu_rank2d`, but of a line.
LINE_CASES = {"LineMedian": (ROW, (3, 5, 9, 25, 49, 65, 257, 1025)), "LineMinimum": (ROW, (9, 1025))}

# Number of samples of the largest windows that PyTorch writes to memory.
UNFOLDED = 25

# Side of a part of the picture, with which a case runs first: that compiles kernels.
SMALL = 512


class Line:
    """The samples of a picture, row after row, as a picture of one row. `positions` are both ends, and those of the picture."""

    def __init__(self, picture):
        self.samples, self.name = picture.samples.reshape(1, -1), picture.name
        count = self.samples.size
        columns = np.r_[:NEAR, count - NEAR : count, np.ravel_multi_index(picture.positions, picture.samples.shape)]
        self.positions = np.zeros_like(columns), columns


class TorchPeers(Torch):
    """Peers in PyTorch."""

    def cases(self, problem):
        """Yields a name and a function that returns the outputs for a picture."""
        functional, window = self.functional, problem.window.shape
        if not problem.is_rectangle:
            return
        if problem.is_median:
            # The windows are written to memory, of which larger ones need too much. Of an even number of samples, its median is
            # the lower one in the middle, not the upper one.
            count = math.prod(window)
            if count <= UNFOLDED and count % 2:
                yield "unfold and median", lambda samples: self.median(samples, window)
        elif problem.is_minimum and problem.type == "float32":
            # It pads with infinity. The nearest pixels of a window that are outside equal pixels in it, so the result is the same.
            least = lambda picture, lengths: -functional.max_pool2d(
                -picture, lengths, stride=1, padding=[length // 2 for length in lengths]
            )
            yield "max_pool2d, negated", lambda samples: least(samples[None, None], window)[0, 0]
            if 1 not in window:
                rows, columns = window
                twice = lambda samples: least(least(samples[None, None], (1, columns)), (rows, 1))[0, 0]
                yield "max_pool2d twice, negated", twice

    def median(self, samples, window):
        # Padding with the nearest pixels is of floats only, so pixels are chosen by their indices.
        rows, columns = (
            self.torch.arange(-(taps // 2), length + taps // 2, device=samples.device).clamp_(0, length - 1)
            for taps, length in zip(window, samples.shape)
        )
        windows = samples[rows][:, columns].unfold(0, window[0], 1).unfold(1, window[1], 1)
        return windows.flatten(2).median(-1).values


class CupyPeers(Cupy):
    """Peers in CuPy."""

    def cases(self, problem):
        """Yields a name and a function that returns the outputs for a picture."""
        function = getattr(self.ndimage, problem.function)
        keywords = problem.keywords(self.upload)
        yield f"ndimage.{problem.function}", lambda samples: function(samples, mode="nearest", **keywords)


def time_on_gpu(peers, problem, work):
    """Measures `work`, which returns outputs. Returns microseconds and the verdict."""
    outputs = []

    def run():
        outputs.clear()  # so that the next outputs get the same memory
        outputs.append(work())

    microseconds = peers.time(run, LONG)
    (outputs,) = outputs
    if tuple(outputs.shape) != problem.samples.shape:
        return microseconds, f"WRONG shape {tuple(outputs.shape)}"
    chosen = outputs[tuple(peers.upload(axis) for axis in problem.positions)]
    return microseconds, problem.verdict(peers.download(chosen))


def measure(library, peers, of_picture, measurements):
    """Measures a library with the copy of a picture and its problems, some of which have its samples as a line."""
    picture, problems_of_picture = of_picture
    uploaded = peers.upload(picture.samples)
    copy = Copy(picture, picture.samples.size)
    measurements.measure(f"{library} copy", copy, lambda: time_on_gpu(peers, copy, peers.copy(uploaded)))
    for problem in problems_of_picture:
        samples, small = uploaded.reshape(problem.samples.shape), peers.upload(problem.samples[:SMALL, :SMALL].copy())
        for name, work in peers.cases(problem):

            def run():
                work(small)
                return time_on_gpu(peers, problem, lambda: work(samples))

            measurements.measure(f"{library} {name}", problem, run)


def pictures_and_problems():
    """Yields each picture and its problems, and with the largest ones those of a line."""
    for side in SIDES:
        for picture in pictures(side):
            yield picture, [*problems(picture), *(problems(Line(picture), LINE_CASES) if side == SIDE else ())]


def main():
    print(f"# driver: {driver()}")
    print(f"# Python {platform.python_version()}, NumPy {np.__version__}")
    sizes = " and ".join(f"{side} x {side}" for side in SIDES)
    print(f"# {sizes} pixels, lines of {SIDE * SIDE} samples; median of {RUNS} runs after {WARM_UPS} warm-ups, CUDA events")
    print(f"# a single run if it takes more than {LONG} s; none with larger windows after one of more than {TOO_LONG} s")
    print_columns(RATE)
    all_problems = list(pictures_and_problems())
    measurements = Measurements()
    for library, make in (("PyTorch", TorchPeers), ("CuPy", CupyPeers)):
        peers = attempt(library, make)
        for of_picture in all_problems if peers else ():
            attempt(library, lambda: measure(library, peers, of_picture, measurements))
    return measurements.exit_code()


if __name__ == "__main__":
    raise SystemExit(main())
