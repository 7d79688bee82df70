"""Medians with their 95 % intervals, as shiplap/core/statistics.hpp defines them."""

import math
import statistics


def rank_of_low_end(n):
    """The rank, counted from 1, of the sample that is the low end of the interval; 0 when n samples are too few.

    The interval from the sample of this rank to the one of the same rank from above holds the median of the
    distribution with a probability of at least 95 %, whatever the distribution is.
    """
    rank = 0
    below = 0.0
    while True:
        below += math.comb(n, rank) / 2**n
        if below > 0.025:
            return rank
        rank += 1


def median_with_interval(samples):
    """Median, low end and high end; below 6 samples the interval is the whole range."""
    ordered = sorted(samples)
    rank = rank_of_low_end(len(ordered))
    low, high = (ordered[rank - 1], ordered[-rank]) if rank > 0 else (ordered[0], ordered[-1])
    return statistics.median(ordered), low, high
