#!/usr/bin/env python3
"""Measures PyTorch and CuPy on a GPU with the problems of `benches/transpose.rs`.

Data stay on the device, times are medians by CUDA events, and every result is checked. A peer that is not installed,
or does not run, becomes a comment line. README.md explains the columns.
"""

import sys

from common import RUNS, WARM_UPS, attempt, driver, median_microseconds

SHAPES = ((1, 16384, 16384), (1, 16383, 8191), (1, 1000003, 7), (1 << 14, 64, 64), (1 << 14, 63, 65))

# Bytes of an element, the type of its components, and their number.
ELEMENTS = (
    (1, "uint8", 1),
    (2, "int16", 1),
    (3, "uint8", 3),
    (4, "float32", 1),
    (8, "float64", 1),
    (12, "float32", 3),
    (16, "complex128", 1),
)


class Torch:
    name = "PyTorch"

    def __init__(self):
        import torch

        self.torch = torch
        print(f"# GPU: {torch.cuda.get_device_name()}; PyTorch {torch.__version__}, CUDA {torch.version.cuda}")

    def numbers(self, shape, kind):
        count = 1
        for length in shape:
            count *= length
        return (self.torch.arange(count, device="cuda") % 251).to(getattr(self.torch, kind)).reshape(shape)

    def transposed(self, x, order):
        return x.permute(order).contiguous()

    def same(self, x, y, order):
        return bool((x.permute(order) == y).all())

    def time(self, work):
        event = self.torch.cuda.Event
        return median_microseconds(work, lambda: event(enable_timing=True), lambda start, end: start.elapsed_time(end))

    def free(self):
        self.torch.cuda.empty_cache()


class Cupy:
    name = "CuPy"

    def __init__(self):
        import cupy

        self.cupy = cupy
        device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        print(f"# GPU: {device}; CuPy {cupy.__version__}, CUDA runtime {cupy.cuda.runtime.runtimeGetVersion()}")

    def numbers(self, shape, kind):
        count = 1
        for length in shape:
            count *= length
        return (self.cupy.arange(count, dtype="int64") % 251).astype(kind).reshape(shape)

    def transposed(self, x, order):
        return self.cupy.ascontiguousarray(x.transpose(order))

    def same(self, x, y, order):
        return bool((x.transpose(order) == y).all())

    def time(self, work):
        events = self.cupy.cuda
        return median_microseconds(work, events.Event, events.get_elapsed_time)

    def free(self):
        self.cupy.get_default_memory_pool().free_all_blocks()


def measure(library, shape, element):
    size, kind, components = element
    (count, rows, columns), order = shape, (0, 2, 1)
    if components > 1:
        shape, order = (*shape, components), (0, 2, 1, 3)
    x = library.numbers(shape, kind)
    right = library.same(x, library.transposed(x, order), order)
    microseconds = library.time(lambda: library.transposed(x, order))
    elements, verdict = count * rows * columns, "ok exact" if right else "WRONG"
    case = f"{count} x {rows} x {columns}, {size} bytes"
    rates = f"{2 * elements * size / microseconds * 1e6:.4g}\t{elements / microseconds * 1e6:.4g}"
    print(f"{library.name}\t{case}\t{microseconds:.2f}\t{rates}\t{verdict}", flush=True)
    return right


def main():
    print(f"# driver: {driver()}")
    print(f"# median of {RUNS} runs after {WARM_UPS} warm-ups, CUDA events")
    print("# peer\tcase\tmedian_us\tbytes_per_s\telements_per_s\tcheck")
    right = True
    for peer in (Torch, Cupy):
        library = attempt(peer.name, peer)
        if library is None:
            continue
        for shape in SHAPES:
            for element in ELEMENTS:
                result = attempt(peer.name, lambda: measure(library, shape, element))
                library.free()
                right = right and result is not False
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
