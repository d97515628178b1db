#!/usr/bin/env python3
"""Measures PyTorch and CuPy on a GPU with the problems of `Rank2d`.

Data stay on the device, times are medians by CUDA events, and every result is checked. A peer that is not installed,
or does not run, becomes a comment line. README.md explains the columns.
"""

import platform

import numpy as np

from common import RUNS, WARM_UPS, attempt, driver
from cpu_rank2d import LONG, RATE, TOO_LONG, Measurements, pictures, problems
from pictures import SIDE, Copy, Cupy, Torch, print_columns

# Sides of the pictures.
SIDES = (SIDE, SIDE // 2)

# Side of a part of the picture, with which a case runs first: that compiles kernels.
SMALL = 512


class TorchPeers(Torch):
    """Peers in PyTorch."""

    def cases(self, problem):
        """Yields a name and a function that returns the outputs for a picture."""
        functional, side = self.functional, problem.side
        if problem.kind == "Median":
            # The windows are written to memory, of which larger ones need too much.
            if side <= 5:
                yield "unfold and median", lambda samples: self.median(samples, side)
        elif problem.type == "float32":
            # It pads with infinity. The nearest pixels of a window that are outside equal pixels in it, so the result is the same.
            least = lambda picture, lengths: -functional.max_pool2d(
                -picture, lengths, stride=1, padding=[length // 2 for length in lengths]
            )
            yield "max_pool2d, negated", lambda samples: least(samples[None, None], (side, side))[0, 0]
            twice = lambda samples: least(least(samples[None, None], (1, side)), (side, 1))[0, 0]
            yield "max_pool2d twice, negated", twice

    def median(self, samples, side):
        # Padding with the nearest pixels is of floats only, so pixels are chosen by their indices.
        rows, columns = (
            self.torch.arange(-(side // 2), length + side // 2, device=samples.device).clamp_(0, length - 1)
            for length in samples.shape
        )
        windows = samples[rows][:, columns].unfold(0, side, 1).unfold(1, side, 1)
        return windows.reshape(*samples.shape, side * side).median(-1).values


class CupyPeers(Cupy):
    """Peers in CuPy."""

    def cases(self, problem):
        """Yields a name and a function that returns the outputs for a picture."""
        name = {"Median": "median_filter", "Minimum": "minimum_filter"}[problem.kind]
        function = getattr(self.ndimage, name)
        yield f"ndimage.{name}", lambda samples: function(samples, problem.side, mode="nearest")


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
    """Measures a library with the copy of a picture and its problems."""
    picture, problems_of_picture = of_picture
    samples, small = peers.upload(picture.samples), peers.upload(picture.samples[:SMALL, :SMALL].copy())
    copy = Copy(picture, picture.samples.size)
    measurements.measure(f"{library} copy", copy, lambda: time_on_gpu(peers, copy, peers.copy(samples)))
    for problem in problems_of_picture:
        for name, work in peers.cases(problem):

            def run():
                work(small)
                return time_on_gpu(peers, problem, lambda: work(samples))

            measurements.measure(f"{library} {name}", problem, run)


def main():
    print(f"# driver: {driver()}")
    print(f"# Python {platform.python_version()}, NumPy {np.__version__}")
    sizes = " and ".join(f"{side} x {side}" for side in SIDES)
    print(f"# {sizes} pixels; median of {RUNS} runs after {WARM_UPS} warm-ups, CUDA events")
    print(f"# a single run if it takes more than {LONG} s; none with larger windows after one of more than {TOO_LONG} s")
    print_columns(RATE)
    all_problems = [(picture, list(problems(picture))) for side in SIDES for picture in pictures(side)]
    measurements = Measurements()
    for library, make in (("PyTorch", TorchPeers), ("CuPy", CupyPeers)):
        peers = attempt(library, make)
        for of_picture in all_problems if peers else ():
            attempt(library, lambda: measure(library, peers, of_picture, measurements))
    return measurements.exit_code()


if __name__ == "__main__":
    raise SystemExit(main())
