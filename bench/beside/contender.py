"""One way to do a work, with the times it took."""

import statistics
import time
from dataclasses import dataclass, field
from typing import Callable, List, Optional

from medians import median_with_interval


@dataclass
class Absent:
    """A contender that takes no part, or no longer."""

    tool: str
    way: str
    reason: str


def why(error):
    """The reason of an absence: the first line of the exception."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


class Missing:
    """Stands in for the program or for Python when none of its tools can be used."""

    def __init__(self, tools, reason):
        self.absent = [Absent(tool, "all", reason) for tool in tools]
        self.versions = {}
        self.greeting = {}

    def contenders(self, work):
        return [], list(self.absent)

    def close(self):
        pass


@dataclass
class Contender:
    tool: str  # "shiplap", "plain", "by hand", "PyTorch", "CuPy"
    way: str  # what a user would call it
    how: str  # the numbers it was told or found: chunks, threads
    run: Callable[[int], List[float]]  # milliseconds of this number of runs, after an untimed one
    check: Callable[[], bool]  # runs once and compares every element
    samples: List[float] = field(default_factory=list)
    right: Optional[bool] = None

    def median(self):
        return median_with_interval(self.samples)[0]

    def take_turn(self, runs):
        self.samples.append(statistics.median(self.run(runs)))


def timed_runs(call, runs):
    """Milliseconds of each run by the host's clock, after an untimed one. What a run returns is freed untimed."""
    result = call()
    times = []
    for _ in range(runs):
        del result
        begin = time.perf_counter()
        result = call()
        times.append((time.perf_counter() - begin) * 1e3)
    return times


def fastest(makers, runs=3):
    """The (how, call) with the least median of a few runs; no more than two of the calls exist at a time."""
    best = None
    for how, make in makers:
        call = make()
        time_of_call = statistics.median(timed_runs(call, runs))
        if best is None or time_of_call < best[0]:
            best = (time_of_call, how, call)
    return best[1:]
