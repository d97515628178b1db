#!/usr/bin/env python3
"""Measures PyTorch and CuPy on a GPU with the problems of `Filter2d`.

Data stay on the device, times are medians by CUDA events, and every result is checked. A peer that is not installed,
or does not run, becomes a comment line. README.md explains the columns.
"""

import platform

import numpy as np

from common import RUNS, WARM_UPS, attempt, driver
from cpu_filter2d import CHANNELS, RATE, U8_HALF_TOLERANCE, U8_TOLERANCE, Problem, pictures
from pictures import SIDE, Copy, Cupy, Torch, print_columns, report


class TorchPeers(Torch):
    """Peers in PyTorch. A picture is one sample of a batch; its channels are filtered one by one."""

    def __init__(self):
        super().__init__()
        self.torch.backends.cudnn.allow_tf32 = False  # it rounds the factors to 11 bits
        self.torch.backends.cudnn.benchmark = True  # cuDNN takes the fastest of its algorithms

    def cases(self, samples, kernel):
        """Yields a name, a function that returns outputs in the form of `samples`, and the tolerance for bytes."""
        if samples.dtype == self.torch.uint8:
            yield from self.cases_of_bytes(samples, self.upload(kernel.weights))
            return
        picture = samples[None, None]
        if kernel.kind == "Dense":
            yield "conv2d (cuDNN)", self.convolution(picture, self.upload(kernel.weights)), None
        else:
            row, column = self.upload(kernel.row)[None, :], self.upload(kernel.column)[:, None]
            along_rows = self.convolution(picture, row)
            yield "conv2d (cuDNN) twice", lambda: self.convolution(along_rows()[None, None], column)(), None
        if kernel.kind == "Box":
            yield "avg_pool2d", lambda: self.mean(picture, (kernel.side, kernel.side))[0, 0], None
            twice = lambda: self.mean(self.mean(picture, (1, kernel.side)), (kernel.side, 1))[0, 0]
            yield "avg_pool2d twice", twice, None

    def convolution(self, picture, weights):
        """Returns a function that returns the correlation, zero outside."""
        kernel, padding = weights[None, None], [length // 2 for length in weights.shape]
        return lambda: self.functional.conv2d(picture, kernel, padding=padding)[0, 0]

    def mean(self, picture, lengths):
        # `count_include_pad` is on by default: samples outside are zeros.
        return self.functional.avg_pool2d(picture, lengths, stride=1, padding=[length // 2 for length in lengths])

    def cases_of_bytes(self, pixels, weights):
        """conv2d has no bytes, so they are converted before and, rounded and clamped, after it. All of it is measured."""
        torch, conv2d, radius = self.torch, self.functional.conv2d, weights.shape[0] // 2
        channels_first = pixels.permute(2, 0, 1)  # a view

        def to_bytes(sums, axes):
            interleaved = sums.round_().clamp_(0, 255).permute(axes)
            return interleaved.to(torch.uint8, memory_format=torch.contiguous_format)

        def depthwise(dtype):
            kernel = weights.to(dtype).expand(CHANNELS, 1, -1, -1).contiguous()
            # The layout in memory remains that of interleaved channels.
            picture = lambda: channels_first.to(dtype)[None]
            return lambda: to_bytes(conv2d(picture(), kernel, padding=radius, groups=CHANNELS)[0], (1, 2, 0))

        def planes():
            batch = channels_first.to(torch.float32, memory_format=torch.contiguous_format)[:, None]
            return to_bytes(conv2d(batch, weights[None, None], padding=radius)[:, 0], (1, 2, 0))

        yield "conv2d, depthwise, float32", depthwise(torch.float32), U8_TOLERANCE
        yield "conv2d, depthwise, float16", depthwise(torch.float16), U8_HALF_TOLERANCE
        yield "conv2d (cuDNN), planes, float32", planes, U8_TOLERANCE


class CupyPeers(Cupy):
    """Peers in CuPy."""

    def cases(self, samples, kernel):
        """Yields a name, a function that returns outputs in the form of `samples`, and the tolerance for bytes."""
        cupy, ndimage = self.cupy, self.ndimage
        weights, row, column = (self.upload(array) for array in (kernel.weights, kernel.row, kernel.column))
        if samples.dtype == np.uint8:

            def bytes_by_floats():
                # CuPy's own conversion to bytes neither rounds nor clamps.
                sums = ndimage.correlate(samples, weights[:, :, None], cupy.float32, mode="constant")
                return cupy.rint(sums, out=sums).clip(0, 255, out=sums).astype(cupy.uint8)

            yield "ndimage.correlate and rounding", bytes_by_floats, U8_TOLERANCE
            return
        if kernel.kind == "Dense":
            yield "ndimage.correlate", lambda: ndimage.correlate(samples, weights, mode="constant"), None
            return
        # A convolution with reversed weights is a correlation.
        row, column = row[::-1].copy(), column[::-1].copy()
        along_rows = lambda: ndimage.convolve1d(samples, row, 1, mode="constant")
        yield "ndimage.convolve1d twice", lambda: ndimage.convolve1d(along_rows(), column, 0, mode="constant"), None
        if kernel.kind == "Box":
            yield "ndimage.uniform_filter", lambda: ndimage.uniform_filter(samples, kernel.side, mode="constant"), None


def measure_case(library, peers, problem, work, tolerance):
    """Measures `work`, which returns outputs in the form of the samples. Returns whether they were right."""
    outputs = work()
    if tuple(outputs.shape) != problem.samples.shape:
        return report(library, problem, 1, f"WRONG shape {tuple(outputs.shape)}")
    chosen = outputs[tuple(peers.upload(axis) for axis in problem.positions)]
    verdict = problem.verdict(peers.download(chosen), tolerance)
    del outputs
    return report(library, problem, peers.time(work), verdict)


def measure(library, peers, problems):
    """Measures a library with the copy of a picture and its problems. Returns their results."""
    samples = peers.upload(problems[0].samples)
    copy = lambda: measure_case(f"{library} copy", peers, problems[0], peers.copy(samples), None)
    results = [attempt(f"{library} copy", copy)]
    for problem in problems[1:]:
        for name, work, tolerance in peers.cases(samples, problem.kernel):
            peer = f"{library} {name}"
            case = lambda: measure_case(peer, peers, problem, work, tolerance)
            results.append(attempt(f"{peer}, {problem.name}", case))
    return results


def main():
    print(f"# driver: {driver()}")
    print(f"# Python {platform.python_version()}, NumPy {np.__version__}")
    print(f"# {SIDE} x {SIDE} pixels; median of {RUNS} runs after {WARM_UPS} warm-ups, CUDA events")
    print_columns(RATE)
    problems = [[Copy(picture, 0), *(Problem(picture, kernel) for kernel in kernels)] for picture, kernels in pictures(SIDE)]
    results = []
    for library, make in (("PyTorch", TorchPeers), ("CuPy", CupyPeers)):
        peers = attempt(library, make)
        for of_picture in problems if peers else ():
            results += attempt(library, lambda: measure(library, peers, of_picture)) or []
    measured = [result for result in results if result is not None]
    return 0 if measured and all(measured) else 1


if __name__ == "__main__":
    raise SystemExit(main())
