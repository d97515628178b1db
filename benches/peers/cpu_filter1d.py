#!/usr/bin/env python3
"""Measures SciPy on the CPU with the problem of `Filter1d`, f32.

`scipy.ndimage.correlate1d` runs in one thread. The gain from a second core depends on whether it lets other Python
threads run meanwhile, so the signal is also filtered in parts: by threads, and by processes that share memory.
`scipy.signal.oaconvolve` uses FFTs, at a fraction of the cost.

This file also has the parts that both programs for `Filter1d` share: the problem, its solution and the form of a line.
"""

import multiprocessing
import os
import platform
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from common import CPU_RUNS, cpu_name, median_wall_clock

TAPS = 257
RADIUS = TAPS // 2

CPU_SAMPLES = 1 << 24

# As in filter1d.cu: both ends, and every 61st output, so that every position within a block or frame is checked.
CHECK_EVERY = 61
CHECK_AT_ENDS = 600
F32_TOLERANCE = 1e-6  # times max|x| * sum|w|


class Problem:
    """Random data, and the expected outputs at some positions.

    The output at i is the sum over j of x[i - 128 + j] * w[j], with x zero outside.
    """

    def __init__(self, count, dtype=np.float32):
        random = np.random.default_rng(1)
        if dtype == np.float32:
            self.samples = random.random(count, np.float32) * 2 - 1
            self.taps = random.random(TAPS, np.float32) * 2 - 1
        else:
            everything = np.iinfo(dtype)
            self.samples, self.taps = (
                random.integers(everything.min, everything.max, size, dtype, endpoint=True) for size in (count, TAPS)
            )
        ends = np.r_[:CHECK_AT_ENDS, count - CHECK_AT_ENDS : count]
        self.positions = np.union1d(ends, np.arange(0, count, CHECK_EVERY))
        # float64, or int64, whose low half is right even if sums overflow (NumPy's arrays wrap around).
        wide = np.float64 if dtype == np.float32 else np.int64
        padded = np.pad(self.samples, RADIUS)
        self.expected = np.zeros(self.positions.size, wide)
        for j, tap in enumerate(self.taps):
            self.expected += padded[self.positions + j].astype(wide) * np.array([tap]).astype(wide)

    @property
    def name(self):
        kind = {"float32": "f32", "int32": "i32"}[str(self.samples.dtype)]
        return f"{kind} n={self.samples.size} taps={TAPS}"

    def verdict(self, outputs):
        """Returns the verdict on the outputs at `self.positions`. It begins with "ok" if they are right."""
        if outputs.shape != self.expected.shape or outputs.dtype != self.samples.dtype:
            return f"WRONG shape or type: {outputs.shape} {outputs.dtype}"
        if outputs.dtype == np.int32:
            errors, tolerance = outputs != self.expected.astype(np.int32), 0
        else:
            scale = float(np.abs(self.samples).max()) * np.abs(self.taps).sum(dtype=np.float64)
            errors, tolerance = np.abs(outputs - self.expected) / scale, F32_TOLERANCE
        wrong = ~(errors <= tolerance)  # so that NaN is wrong
        if wrong.any():
            return f"WRONG at {self.positions[wrong.argmax()]}"
        return "ok exact" if tolerance == 0 else f"ok error {errors.max():.1e}"


def report(peer, problem, microseconds, verdict):
    """Prints the line of one case. Returns whether its result was right."""
    seconds = microseconds * 1e-6
    count = problem.samples.size
    bytes_moved = 2 * problem.samples.nbytes  # every sample read once, every output written once
    rates = f"{bytes_moved / seconds:.4g}\t{count * TAPS / seconds:.4g}"
    print(f"{peer}\t{problem.name}\t{microseconds:.1f}\t{rates}\t{verdict}", flush=True)
    return verdict.startswith("ok")


def print_columns():
    print("# peer\tcase\tmedian_us\tbytes_per_s\tmultiply_adds_per_s\tcheck")


def filter_part(samples, taps, outputs, start, end):
    """Filters samples[start:end] with their halo into outputs[start:end]."""
    from scipy.ndimage import correlate1d

    first, last = max(start - RADIUS, 0), min(end + RADIUS, samples.size)
    filtered = correlate1d(samples[first:last], taps, mode="constant", cval=0)
    outputs[start:end] = filtered[start - first : end - first]


def worker(commands, samples, taps, outputs, start, end):
    """Runs in a process: filters its part for each True that it receives, until it receives False."""
    filter_part(samples[:1000], taps, np.empty(1000, np.float32), 0, 1000)  # imports SciPy beforehand
    commands.send(None)
    while commands.recv():
        filter_part(samples, taps, outputs, start, end)
        commands.send(None)


class Processes:
    """One process per part. The processes inherit the samples by fork, and share the memory of the outputs."""

    def __init__(self, problem, parts):
        context = multiprocessing.get_context("fork")
        count = problem.samples.size
        self.outputs = np.frombuffer(context.RawArray("f", count), np.float32)
        self.pipes, self.processes = [], []
        for start, end in parts:
            here, there = context.Pipe()
            arguments = (there, problem.samples, problem.taps, self.outputs, start, end)
            self.processes.append(context.Process(target=worker, args=arguments, daemon=True))
            self.processes[-1].start()
            self.pipes.append(here)
        self.wait()

    def wait(self):
        for pipe in self.pipes:
            pipe.recv()

    def run(self):
        for pipe in self.pipes:
            pipe.send(True)
        self.wait()

    def close(self):
        for pipe, process in zip(self.pipes, self.processes):
            pipe.send(False)
            process.join()


def measure_threads(problem, parts):
    outputs = np.full_like(problem.samples, np.nan)
    with ThreadPoolExecutor(len(parts)) as pool:

        def work():
            list(pool.map(lambda part: filter_part(problem.samples, problem.taps, outputs, *part), parts))

        return median_wall_clock(work), outputs


def measure_processes(problem, parts):
    processes = Processes(problem, parts)
    processes.outputs[:] = np.nan
    try:
        return median_wall_clock(processes.run), processes.outputs
    finally:
        processes.close()


def measure_overlap_add(problem, parts):
    """Measures SciPy's own FFT convolution, with one thread per part."""
    from scipy.fft import set_workers
    from scipy.signal import oaconvolve

    reversed_taps = problem.taps[::-1].copy()
    with set_workers(len(parts)):
        microseconds = median_wall_clock(lambda: oaconvolve(problem.samples, reversed_taps, "same"))
        return microseconds, oaconvolve(problem.samples, reversed_taps, "same")


METHODS = (
    ("ndimage.correlate1d", "threads", measure_threads),
    ("ndimage.correlate1d", "processes", measure_processes),
    ("signal.oaconvolve", "threads", measure_overlap_add),
)


def main():
    import scipy

    cores = len(os.sched_getaffinity(0))
    print(f"# CPU: {cpu_name()}, {cores} cores available to this process")
    print(f"# Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}")
    print(f"# {CPU_SAMPLES} samples, {TAPS} taps; median of {CPU_RUNS} runs after a warm-up, wall clock")
    print_columns()
    problem = Problem(CPU_SAMPLES)
    correct, alone = True, {}
    for count in sorted({1, min(2, cores), cores}):
        borders = [CPU_SAMPLES * k // count for k in range(count + 1)]
        parts = list(zip(borders, borders[1:]))
        for function, kind, measure in METHODS:
            if count == 1 and kind == "processes":
                continue
            microseconds, outputs = measure(problem, parts)
            alone.setdefault(function, microseconds)
            peer = f"SciPy {function}, {count} {kind if count > 1 else kind.removesuffix('s')}"
            correct &= report(peer, problem, microseconds, problem.verdict(outputs[problem.positions]))
            if count > 1:
                print(f"# {alone[function] / microseconds:.2f} times as fast as one thread")
    return 0 if correct else 1


if __name__ == "__main__":
    raise SystemExit(main())
