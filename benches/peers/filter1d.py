#!/usr/bin/env python3
"""Measures PyTorch and CuPy on a GPU with the problem of `Filter1d`.

Data stay on the device, times are medians by CUDA events, and every result is checked. A peer that is not installed,
or does not run, becomes a comment line. README.md explains the columns.
"""

import platform

import numpy as np

from common import RUNS, WARM_UPS, attempt, driver, median_microseconds
from cpu_filter1d import RADIUS, TAPS, Problem, print_columns, report

SAMPLES = 1 << 26
FFT_LENGTHS = (2048, 4096, 8192, 16384)


class OverlapSave:
    """Correlation by FFTs of overlapping frames in one batch. The spectrum of the taps is prepared.

    Frame b has the `length` samples for the outputs from b * step on. Its circular convolution with the
    reversed taps is right from index TAPS - 1 on.
    """

    def __init__(self, torch, taps, count, length):
        self.torch, self.count, self.length = torch, count, length
        self.step = length - TAPS + 1
        self.frames = -(-count // self.step)
        self.spectrum = torch.fft.rfft(taps.flip(0), length)

    def pad(self, samples):
        behind = self.frames * self.step + TAPS - 1 - RADIUS - self.count
        return self.torch.nn.functional.pad(samples, (RADIUS, behind))

    def in_frames(self, padded):
        frames = padded.as_strided((self.frames, self.length), (self.step, 1))
        spectra = self.torch.fft.rfft(frames)
        return self.torch.fft.irfft(spectra.mul_(self.spectrum), self.length)

    def gather(self, frames):
        return frames[:, TAPS - 1 :].reshape(-1)[: self.count]


class TorchPeers:
    """Peers in PyTorch, f32."""

    def __init__(self, problem):
        import torch

        self.torch, self.problem = torch, problem
        torch.backends.cudnn.allow_tf32 = False  # it rounds the factors to 11 bits
        torch.backends.cudnn.benchmark = True  # cuDNN takes the fastest of its algorithms
        self.samples, self.taps = torch.from_numpy(problem.samples).cuda(), torch.from_numpy(problem.taps).cuda()
        self.positions = torch.from_numpy(problem.positions).cuda()
        cudnn = torch.backends.cudnn.version()
        print(f"# GPU: {torch.cuda.get_device_name()}")
        print(f"# PyTorch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {cudnn}")

    def time(self, work):
        event = self.torch.cuda.Event
        return median_microseconds(work, lambda: event(enable_timing=True), lambda start, end: start.elapsed_time(end))

    def verdict(self, outputs):
        return self.problem.verdict(outputs[self.positions].cpu().numpy())

    def conv1d(self):
        samples, taps = self.samples.view(1, 1, -1), self.taps.view(1, 1, -1)

        def work():
            return self.torch.nn.functional.conv1d(samples, taps, padding=RADIUS)  # a correlation, despite its name

        verdict = self.verdict(work().view(-1))
        return report("PyTorch conv1d (cuDNN)", self.problem, self.time(work), verdict)

    def overlap_save(self):
        """Measures from samples to outputs, and only the transforms: from padded samples to outputs in overlapping frames."""
        whole, transforms = {}, {}
        for length in FFT_LENGTHS:
            fft = OverlapSave(self.torch, self.taps, self.samples.numel(), length)
            padded = fft.pad(self.samples)
            verdict = self.verdict(fft.gather(fft.in_frames(padded)))
            all_of_it = self.time(lambda: fft.gather(fft.in_frames(fft.pad(self.samples))))
            alone = self.time(lambda: fft.in_frames(padded))
            whole[length], transforms[length] = (all_of_it, verdict), (alone, verdict)
            print(f"# L={length}: {all_of_it:.1f} us, transforms alone {alone:.1f} us, {verdict}")
        correct = True
        for name, cases in (("FFT overlap-save", whole), ("FFT overlap-save, transforms alone", transforms)):
            length = min(cases, key=cases.get)
            correct &= report(f"PyTorch {name}, L={length}", self.problem, *cases[length])
        return correct and all(verdict.startswith("ok") for _, verdict in whole.values())

    def measure(self):
        return [attempt("PyTorch conv1d", self.conv1d), attempt("PyTorch FFT overlap-save", self.overlap_save)]


class CupyPeers:
    """Peers in CuPy, f32 and i32."""

    def __init__(self, problem):
        import cupy

        self.cupy, self.problem = cupy, problem
        self.samples, self.taps = cupy.asarray(problem.samples), cupy.asarray(problem.taps)
        self.reversed_taps = self.taps[::-1].copy()
        self.positions = cupy.asarray(problem.positions)
        device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        print(f"# GPU: {device}; CuPy {cupy.__version__}, CUDA runtime {cupy.cuda.runtime.runtimeGetVersion()}")

    def case(self, name, work):
        def measure():
            verdict = self.problem.verdict(self.cupy.asnumpy(work()[self.positions]))
            events = self.cupy.cuda
            return report(
                f"CuPy {name}", self.problem, median_microseconds(work, events.Event, events.get_elapsed_time), verdict
            )

        return attempt(f"CuPy {name}", measure)

    def oaconvolve(self):
        from cupyx.scipy.signal import oaconvolve

        return oaconvolve(self.samples, self.reversed_taps, "same")

    def correlate1d(self):
        from cupyx.scipy.ndimage import correlate1d

        return correlate1d(self.samples, self.taps, mode="constant", cval=0)

    def convolve(self):
        return self.cupy.convolve(self.samples, self.reversed_taps, "same")

    def measure(self):
        if self.problem.samples.dtype == np.int32:
            return [self.case("convolve", self.convolve)]  # the others work in floating point, which cannot be exact
        return [self.case("oaconvolve", self.oaconvolve), self.case("ndimage.correlate1d", self.correlate1d)]


def main():
    print(f"# driver: {driver()}")
    print(f"# Python {platform.python_version()}, NumPy {np.__version__}")
    print(f"# {SAMPLES} samples, {TAPS} taps; median of {RUNS} runs after {WARM_UPS} warm-ups, CUDA events")
    print_columns()
    floats, integers = Problem(SAMPLES), Problem(SAMPLES, np.int32)
    results = []
    for name, peers, problem in (
        ("PyTorch", TorchPeers, floats),
        ("CuPy f32", CupyPeers, floats),
        ("CuPy i32", CupyPeers, integers),
    ):
        results += attempt(name, lambda: peers(problem).measure()) or []
    measured = [result for result in results if result is not None]
    return 0 if measured and all(measured) else 1


if __name__ == "__main__":
    raise SystemExit(main())
