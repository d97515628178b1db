#!/usr/bin/env python3
"""Measures SciPy and OpenCV on the CPU with the problems of `Filter2d`: a picture of f32, and one of four bytes per pixel.

`scipy.ndimage` runs in one thread. OpenCV has its own threads, and is measured with one and with one per core. For large
kernels its `filter2D` uses Fourier transforms.

This file also has the parts that both programs for `Filter2d` share: the problems and their solutions.
"""

import os
import platform

import numpy as np

from common import CPU_RUNS, attempt, cpu_name
from pictures import CPU_SIDE, Picture, measure_copy, print_columns, report, time_on_cpu, versions

CHANNELS = 4  # of bytes
RATE = "multiply_adds_per_s"

F32_TOLERANCE = 1e-6  # times max|x| * sum|w|
U8_TOLERANCE = 0.501  # from the exact sum, before it is rounded
U8_HALF_TOLERANCE = 0.75  # if the weights and the sum were rounded to float16


class Kernel:
    """Weights of `side` x `side`: random ones, the outer product of random vectors, or equal ones."""

    def __init__(self, kind, side):
        random = np.random.default_rng(side)
        self.kind, self.side, self.radius = kind, side, side // 2
        self.column, self.row = random.random((2, side), np.float32) * 2 - 1
        if kind == "Box":
            self.column = self.row = np.full(side, 1 / side, np.float32)
        self.weights = np.outer(self.column, self.row)
        if kind == "Dense":
            self.weights = (random.random((side, side), np.float32) * 2 - 1) / np.float32(side * side)

    def __str__(self):
        return f"{self.kind}({self.side})"


F32_KERNELS = [Kernel("Dense", side) for side in (3, 5, 7, 9, 17, 31)]
F32_KERNELS += [Kernel("Separable", side) for side in (7, 15, 31, 63)] + [Kernel("Box", 31)]
U8_KERNELS = [Kernel("Dense", side) for side in (3, 7)]


class Problem:
    """A picture, a kernel, and the expected outputs at the positions of the picture, in float64.

    The output at (r, c) is the sum over i and j of x[r + i - side // 2, c + j - side // 2] * w[i, j], with x zero outside.
    """

    def __init__(self, picture, kernel):
        self.picture, self.samples, self.positions, self.kernel = picture, picture.samples, picture.positions, kernel
        self.name, self.per_run = f"{picture.name} {kernel}", self.samples.size * kernel.side**2
        rows, columns, *channel = self.positions
        self.expected = np.zeros(rows.size)
        for (i, j), weight in np.ndenumerate(kernel.weights):
            places = (rows + i - kernel.radius, columns + j - kernel.radius)
            inside = np.logical_and.reduce([(0 <= place) & (place < self.samples.shape[0]) for place in places])
            places = [np.where(inside, place, 0) for place in places]
            self.expected += np.where(inside, self.samples[(*places, *channel)], 0) * np.float64(weight)

    def verdict(self, outputs, u8_tolerance=U8_TOLERANCE):
        """Returns the verdict on the outputs at `self.positions`. It begins with "ok" if they are right."""
        if outputs.shape != self.expected.shape or outputs.dtype != self.samples.dtype:
            return f"WRONG shape or type: {outputs.shape} {outputs.dtype}"
        if outputs.dtype == np.uint8:
            errors, tolerance = np.abs(outputs - self.expected.clip(0, 255)), u8_tolerance
        else:
            scale = float(np.abs(self.samples).max()) * np.abs(self.kernel.weights).sum(dtype=np.float64)
            errors, tolerance = np.abs(outputs - self.expected) / scale, F32_TOLERANCE
        wrong = ~(errors <= tolerance)  # so that NaN is wrong
        if wrong.any():
            place = [int(axis[wrong.argmax()]) for axis in self.positions]
            return f"WRONG at {place}, error {errors.max():.1e}"
        return f"ok error {errors.max():.1e}"


def pictures(side):
    """Yields each picture with its kernels."""
    yield Picture(side, np.float32), F32_KERNELS
    yield Picture(side, np.uint8, CHANNELS), U8_KERNELS


def measure(peer, problem, work):
    """Measures `work`, which writes its outputs into the array that it gets. Returns whether they were right."""
    return report(peer, problem, *time_on_cpu(problem, work))


def scipy_cases(problem):
    """Returns pairs of a name and a function that filters into an array."""
    from scipy import ndimage

    samples, kernel = problem.samples, problem.kernel

    def bytes_by_floats(outputs):
        # SciPy's own conversion to bytes cuts off digits, and values outside 0 to 255 wrap around.
        sums = ndimage.correlate(samples, kernel.weights[:, :, None], np.float32, mode="constant")
        np.copyto(outputs, np.rint(sums).clip(0, 255), casting="unsafe")

    def separable(outputs):
        between = ndimage.correlate1d(samples, kernel.row, 1, mode="constant")
        ndimage.correlate1d(between, kernel.column, 0, outputs, mode="constant")

    if samples.dtype == np.uint8:
        return [("correlate and rounding", bytes_by_floats)]
    if kernel.kind == "Dense":
        return [("correlate", lambda outputs: ndimage.correlate(samples, kernel.weights, outputs, mode="constant"))]
    if kernel.kind == "Box":
        return [("uniform_filter", lambda outputs: ndimage.uniform_filter(samples, kernel.side, outputs, mode="constant"))]
    return [("correlate1d twice", separable)]


def opencv_cases(problem):
    """Returns pairs of a name and a function that filters into an array."""
    import cv2

    samples, kernel, border = problem.samples, problem.kernel, cv2.BORDER_CONSTANT

    def dense(outputs):
        cv2.filter2D(samples, -1, kernel.weights, outputs, borderType=border)

    def separable(outputs):
        cv2.sepFilter2D(samples, -1, kernel.row, kernel.column, outputs, borderType=border)

    def box(outputs):
        cv2.blur(samples, (kernel.side, kernel.side), outputs, borderType=border)

    name, work = {"Dense": ("filter2D", dense), "Separable": ("sepFilter2D", separable), "Box": ("blur", box)}[kernel.kind]
    return [(name, work)]


def measure_scipy(problem):
    return all([measure(f"SciPy ndimage.{name}, 1 thread", problem, work) for name, work in scipy_cases(problem)])


def measure_opencv(problem):
    import cv2

    correct = []
    for threads in sorted({1, len(os.sched_getaffinity(0))}):
        cv2.setNumThreads(threads)
        for name, work in opencv_cases(problem):
            peer = f"OpenCV {name}, {cv2.getNumThreads()} thread{'s' if threads > 1 else ''}"
            correct.append(measure(peer, problem, work))
    return all(correct)


def main():
    print(f"# CPU: {cpu_name()}, {len(os.sched_getaffinity(0))} cores available to this process")
    print(f"# Python {platform.python_version()}, {', '.join(versions())}")
    print(f"# {CPU_SIDE} x {CPU_SIDE} pixels; median of {CPU_RUNS} runs after a warm-up, wall clock")
    print_columns(RATE)
    results = []
    for picture, kernels in pictures(CPU_SIDE):
        results.append(measure_copy(picture, 0))
        for kernel in kernels:
            problem = Problem(picture, kernel)
            results.append(attempt(f"SciPy {problem.name}", lambda: measure_scipy(problem)))
            results.append(attempt(f"OpenCV {problem.name}", lambda: measure_opencv(problem)))
    measured = [result for result in results if result is not None]
    return 0 if measured and all(measured) else 1


if __name__ == "__main__":
    raise SystemExit(main())
