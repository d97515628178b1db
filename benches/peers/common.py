"""Shared parts of the Python programs: medians, descriptions of the machine, and handling of peers that do not run."""

import math
import platform
import statistics
import time

WARM_UPS = 3
RUNS = 21
CPU_RUNS = 5


def median_microseconds(work, new_event, milliseconds_between, patience=math.inf):
    """Returns the median time on the GPU, by events. PyTorch and CuPy pass functions that make an event and read a pair.

    A first run that takes more than `patience` seconds is the only one.
    """
    times = []
    for run in range(-WARM_UPS, RUNS):
        start, end = new_event(), new_event()
        start.record()
        outputs = work()
        end.record()
        end.synchronize()
        del outputs  # so that the next run gets the same memory again
        microseconds = milliseconds_between(start, end) * 1e3
        if run == -WARM_UPS and microseconds > patience * 1e6:
            return microseconds
        if run >= 0:
            times.append(microseconds)
    return statistics.median(times)


def median_wall_clock(work, patience=math.inf):
    """Returns the median time in microseconds, after a warm-up. If that takes more than `patience` seconds, it is the only run."""

    def run():
        start = time.perf_counter()
        work()
        return (time.perf_counter() - start) * 1e6

    first = run()
    if first > patience * 1e6:
        return first
    return statistics.median(run() for _ in range(CPU_RUNS))


def attempt(name, measure):
    """Runs the measurement of one peer. Returns True if its result was right, False if not, None if it could not run."""
    try:
        return measure()
    except Exception as error:  # libraries raise various exceptions for unsupported cases
        reason = " ".join(str(error).split())[:200]
        print(f"# {name} did not run: {type(error).__name__}: {reason}", flush=True)
        return None


def cpu_name():
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


def driver():
    try:
        with open("/proc/driver/nvidia/version") as lines:
            return next(lines).strip()
    except (OSError, StopIteration):
        return "unknown"
