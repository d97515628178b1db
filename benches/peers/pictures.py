"""Shared parts of the Python programs for pictures: the pictures, the lines of a table, and PyTorch and CuPy on a GPU."""

import math

import numpy as np

from common import median_microseconds, median_wall_clock

SIDE = 8192
CPU_SIDE = 4096

# As in benches/filter2d.rs and benches/rank2d.rs: some positions near the corners, and random ones.
NEAR = 40
INNER = 500


class Picture:
    """Random samples of f32 or bytes: rows and columns, and a last axis if there are several interleaved channels.

    `positions` are the indices of some samples, as a tuple with an array for each axis.
    """

    def __init__(self, side, dtype, channels=1):
        random = np.random.default_rng(1)
        shape = (side, side) if channels == 1 else (side, side, channels)
        if dtype == np.float32:
            self.samples = random.random(shape, np.float32) * 2 - 1
        else:
            self.samples = random.integers(0, 255, shape, dtype, endpoint=True)
        ends = np.r_[:NEAR, side - NEAR : side]
        corners = [axis.ravel() for axis in np.meshgrid(ends[::7], ends[::3])]
        inner = random.integers(0, side, (2, INNER))
        self.positions = tuple(np.concatenate(axes) for axes in zip(corners, inner))
        if channels > 1:
            self.positions += (random.integers(0, channels, self.positions[0].size),)

    @property
    def name(self):
        kind = {"float32": "f32", "uint8": "u8"}[self.samples.dtype.name]
        return f"{kind}{'' if self.samples.ndim == 2 else ' rgba'} n={self.samples.size}"


class Copy:
    """A copy of a picture, in place of a problem. `per_run` is the amount for the column of a rate."""

    kind = "Copy"

    def __init__(self, picture, per_run):
        self.samples, self.positions, self.per_run = picture.samples, picture.positions, per_run
        self.name, self.type = picture.name, picture.samples.dtype.name

    def verdict(self, outputs, _=None):
        return "ok exact" if np.array_equal(outputs, self.samples[self.positions]) else "WRONG copy"


def print_columns(rate):
    print(f"# peer\tcase\tmedian_us\tbytes_per_s\t{rate}\tcheck")


def report(peer, problem, microseconds, verdict):
    """Prints the line of one case. Returns whether its result was right."""
    seconds = microseconds * 1e-6
    bytes_moved = 2 * problem.samples.nbytes  # every sample read once, every output written once
    rates = f"{bytes_moved / seconds:.4g}\t{problem.per_run / seconds:.4g}"
    print(f"{peer}\t{problem.name}\t{microseconds:.1f}\t{rates}\t{verdict}", flush=True)
    return verdict.startswith("ok")


def time_on_cpu(problem, work, patience=math.inf):
    """Measures `work`, which writes its outputs into the array that it gets. Returns microseconds and the verdict."""
    outputs = np.empty_like(problem.samples)
    outputs.fill(123)  # so that outputs that are not written are wrong, and that the memory is there
    microseconds = median_wall_clock(lambda: work(outputs), patience)
    return microseconds, problem.verdict(outputs[problem.positions])


def measure_copy(picture, per_run):
    """Measures a copy by NumPy. Returns whether it was right."""
    copy = Copy(picture, per_run)
    return report("NumPy copy", copy, *time_on_cpu(copy, lambda outputs: np.copyto(outputs, picture.samples)))


def versions():
    for name in ("numpy", "scipy", "cv2"):
        try:
            yield f"{name} {__import__(name).__version__}"
        except ImportError:
            yield f"no {name}"


class Torch:
    """PyTorch on a GPU."""

    def __init__(self):
        import torch

        self.torch, self.functional = torch, torch.nn.functional
        print(f"# GPU: {torch.cuda.get_device_name()}")
        print(f"# PyTorch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}")

    def upload(self, array):
        return self.torch.from_numpy(array).cuda()

    def download(self, outputs):
        return outputs.cpu().numpy()

    def time(self, work, patience=math.inf):
        event = self.torch.cuda.Event
        between = lambda start, end: start.elapsed_time(end)
        return median_microseconds(work, lambda: event(enable_timing=True), between, patience)

    def copy(self, samples):
        target = self.torch.empty_like(samples)
        return lambda: target.copy_(samples)


class Cupy:
    """CuPy on a GPU."""

    def __init__(self):
        import cupy
        from cupyx.scipy import ndimage

        self.cupy, self.ndimage = cupy, ndimage
        device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        print(f"# GPU: {device}; CuPy {cupy.__version__}, CUDA runtime {cupy.cuda.runtime.runtimeGetVersion()}")

    def upload(self, array):
        return self.cupy.asarray(array)

    def download(self, outputs):
        return self.cupy.asnumpy(outputs)

    def time(self, work, patience=math.inf):
        return median_microseconds(work, self.cupy.cuda.Event, self.cupy.cuda.get_elapsed_time, patience)

    def copy(self, samples):
        target = self.cupy.empty_like(samples)

        def work():
            self.cupy.copyto(target, samples)
            return target

        return work
