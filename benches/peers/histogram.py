#!/usr/bin/env python3
"""Measures PyTorch and CuPy on a GPU with the problems of `benches/histogram.rs`.

Data stay on the device, times are medians by CUDA events, and every result is checked. A peer that is not installed,
or does not run, becomes a comment line. README.md explains the columns.
"""

import platform

import numpy as np

from common import RUNS, WARM_UPS, attempt, driver, median_microseconds
from cpu_histogram import make, middles, name_of, print_columns, report, verdict

BYTES = 1 << 27
SAMPLES = 1 << 26
FLOAT_BINS = (256, 1024, 4096, 16384, 57344, 65536, 1 << 20)

# Adding 1 to this number has no effect in single precision.
SINGLE_PRECISION_LIMIT = 1 << 24

# The peers are slow, so they are measured with three kinds of data only.
DISTRIBUTIONS = ("Uniform", "Constant", "Zipf")


class Torch:
    def __init__(self):
        import torch

        self.torch = torch
        print(f"# GPU: {torch.cuda.get_device_name()}; PyTorch {torch.__version__}, CUDA {torch.version.cuda}")

    def upload(self, samples):
        # PyTorch cannot count u16, so they are converted to int32.
        return self.torch.from_numpy(samples.astype(np.int32) if samples.dtype == np.uint16 else samples).cuda()

    def download(self, counts):
        return counts.cpu().numpy()

    def time(self, work):
        event = self.torch.cuda.Event
        return median_microseconds(work, lambda: event(enable_timing=True), lambda start, end: start.elapsed_time(end))

    def integers(self, samples, bins):
        return {"PyTorch bincount": lambda: self.torch.bincount(samples, minlength=bins)}

    def floats(self, samples, bins):
        return {"PyTorch histc": lambda: self.torch.histc(samples, bins, 0, 1)}


class Cupy:
    def __init__(self):
        import cupy

        self.cupy = cupy
        device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        print(f"# GPU: {device}; CuPy {cupy.__version__}, CUDA runtime {cupy.cuda.runtime.runtimeGetVersion()}")

    def upload(self, samples):
        return self.cupy.asarray(samples)

    def download(self, counts):
        return self.cupy.asnumpy(counts)

    def time(self, work):
        events = self.cupy.cuda
        return median_microseconds(work, events.Event, events.get_elapsed_time)

    def integers(self, samples, bins):
        return {
            "CuPy bincount": lambda: self.cupy.bincount(samples, minlength=bins),
            "CuPy histogram": lambda: self.cupy.histogram(samples, bins, (0, bins))[0],
        }

    def floats(self, samples, bins):
        return {"CuPy histogram": lambda: self.cupy.histogram(samples, bins, (0.0, 1.0))[0]}


def checked(counts, expected):
    """Returns the verdict. PyTorch counts in single precision: larger counts are rounded, or end at 2^24, which the verdict mentions."""
    if counts.dtype != np.float32:
        return verdict(counts, expected)
    ended = (counts == SINGLE_PRECISION_LIMIT) & (expected > SINGLE_PRECISION_LIMIT)
    right = np.where(ended, counts, expected.astype(np.float32))
    result = verdict(counts, right.astype(np.int64))
    return "ok but for counts that end at 2^24" if ended.any() and result.startswith("ok") else result


def measure(library, kind, bins, count, dtype, sample=lambda bins: bins):
    results = []
    for distribution in DISTRIBUTIONS:
        samples, expected = make(distribution, bins, count, dtype, sample)
        on_device = library.upload(samples)
        methods = library.floats if dtype == np.float32 else library.integers
        for peer, work in methods(on_device, bins).items():
            case = name_of(kind, samples, bins, distribution)

            def run():
                counts = library.download(work())
                return report(peer, case, samples, library.time(work), checked(counts, expected))

            results.append(attempt(f"{peer} {case}", run))
    return results


def measure_all(library):
    results = measure(library, "bytes u8", 256, BYTES, np.uint8)
    results += measure(library, "low bits u16", 1024, SAMPLES, np.uint16)
    for bins in FLOAT_BINS:
        results += measure(library, "even f32", bins, SAMPLES, np.float32, middles(bins))
    return results


def main():
    print(f"# driver: {driver()}")
    print(f"# Python {platform.python_version()}, NumPy {np.__version__}")
    print(f"# median of {RUNS} runs after {WARM_UPS} warm-ups, CUDA events")
    print_columns()
    results = []
    for name, library in (("PyTorch", Torch), ("CuPy", Cupy)):
        results += attempt(name, lambda: measure_all(library())) or []
    measured = [result for result in results if result is not None]
    return 0 if measured and all(measured) else 1


if __name__ == "__main__":
    raise SystemExit(main())
