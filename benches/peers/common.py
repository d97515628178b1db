"""Shared parts of the Python programs: medians, descriptions of the machine, and handling of peers that do not run."""

import platform
import statistics
import time

WARM_UPS = 3
RUNS = 21
CPU_RUNS = 5


def median_microseconds(work, new_event, milliseconds_between):
    """Returns the median time on the GPU, by events. PyTorch and CuPy pass functions that make an event and read a pair."""
    times = []
    for run in range(-WARM_UPS, RUNS):
        start, end = new_event(), new_event()
        start.record()
        outputs = work()
        end.record()
        end.synchronize()
        del outputs  # so that the next run gets the same memory again
        if run >= 0:
            times.append(milliseconds_between(start, end) * 1e3)
    return statistics.median(times)


def median_wall_clock(work):
    """Returns the median time in microseconds, after a warm-up."""
    work()
    times = []
    for _ in range(CPU_RUNS):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times)


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
