"""What the Python programs share: medians, what they run on, and what to do with a peer that does not run."""

import platform
import statistics
import time

WARM_UPS = 3
RUNS = 21
CPU_RUNS = 5


def median_microseconds(work, new_event, milliseconds_between):
    """By events of the GPU: PyTorch and CuPy have their own, so both say how to make one and how to read a pair."""
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
    """In microseconds, after a warm-up."""
    work()
    times = []
    for _ in range(CPU_RUNS):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times)


def attempt(name, measure):
    """Runs the measurement of one peer: True if it was right, False if not, None if it could not run at all."""
    try:
        return measure()
    except Exception as error:  # whatever a library raises when it lacks a case
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
