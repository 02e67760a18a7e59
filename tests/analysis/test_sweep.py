"""The sweep over d_k: laws of random scores, and figures computed again from other random numbers."""

import math

import numpy as np
import pytest

from attnviz.analysis.sweep import DIVISORS, LENGTHS, N_BINS, N_PAIRS, REACHES, sweep

EXPECTED = {"root": lambda d_k: 1.0, "none": lambda d_k: d_k**0.5, "d_k": lambda d_k: d_k**-0.5}


def test_lengths_and_divisors():
    assert LENGTHS == (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
    assert sweep().keys() == DIVISORS.keys() == EXPECTED.keys() == REACHES.keys()
    for swept in sweep().values():
        assert tuple(each.d_k for each in swept) == LENGTHS


@pytest.mark.parametrize("divisor", DIVISORS)
def test_spread_follows_the_theory(divisor):
    for each in sweep()[divisor]:
        assert each.expected == pytest.approx(EXPECTED[divisor](each.d_k))
        # the variance of the square of a product of two N(0, 1) is 8, of a normal number 2
        assert each.spread == pytest.approx(each.expected, rel=5 * math.sqrt(8 / N_PAIRS) / 2)
        assert each.counts.sum() == N_PAIRS
        assert len(each.counts) == N_BINS
        assert each.shares.sum() == pytest.approx(1)
        assert 1 / 6 < each.largest < 1
        assert 0 < each.slope < 0.25


def simulated(query_and_keys, by):
    """The largest share of a row and the slope of a share, each on average, and how far these may be off."""
    queries, keys = query_and_keys
    scores = np.einsum("rd,rkd->rk", queries, keys) / by
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares = powers / powers.sum(axis=1, keepdims=True)
    means = [
        (each.mean(), 5 * each.std() / len(each) ** 0.5)
        for each in (shares.max(axis=1), (shares * (1 - shares)).mean(axis=1))
    ]
    return means


@pytest.mark.parametrize("d_k", LENGTHS)
def test_averages_match_a_simulation(d_k):
    """Of rows by the length of a query, as all directions are alike; for short ones of the products themselves."""
    random = np.random.default_rng(5)
    if d_k <= 4:
        rows = random.standard_normal((60_000, d_k)), random.standard_normal((60_000, 6, d_k))
    else:
        rows = random.chisquare(d_k, (60_000, 1)) ** 0.5, random.standard_normal((60_000, 6, 1))
    for divisor, by in DIVISORS.items():
        found = sweep()[divisor][LENGTHS.index(d_k)]
        (largest, off), (slope, slope_off) = simulated(rows, by(d_k))
        assert off < 0.005
        assert found.largest == pytest.approx(largest, abs=off)
        assert found.slope == pytest.approx(slope, abs=slope_off)
