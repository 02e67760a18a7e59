"""The sweep over d_k: laws of random scores, and figures computed again from other random numbers."""

import math

import numpy as np
import pytest

from attnviz.analysis.sweep import DIVISORS, LENGTHS, N_BINS, N_PAIRS, REACHES, sweep

EXPECTED = {"root": lambda d_k: 1.0, "none": lambda d_k: d_k**0.5, "d_k": lambda d_k: d_k**-0.5}


def test_the_lengths_are_powers_of_two_to_512_for_three_divisors():
    assert LENGTHS == (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
    assert sweep().keys() == DIVISORS.keys() == EXPECTED.keys() == REACHES.keys()
    for swept in sweep().values():
        assert tuple(each.d_k for each in swept) == LENGTHS


@pytest.mark.parametrize("divisor", DIVISORS)
def test_scores_spread_as_they_should_and_shares_add_up(divisor):
    for each in sweep()[divisor]:
        assert each.expected == pytest.approx(EXPECTED[divisor](each.d_k))
        # the variance of the square of a product of two N(0, 1) is 8, of a normal number 2
        assert each.spread == pytest.approx(each.expected, rel=5 * math.sqrt(8 / N_PAIRS) / 2)
        assert each.counts.sum() == N_PAIRS
        assert len(each.counts) == N_BINS
        assert each.shares.sum() == pytest.approx(1)
        assert 1 / 6 < each.largest < 1
        assert 0 < each.slope < 0.25


@pytest.mark.parametrize(("divisor", "d_k"), [("none", 1), ("none", 64), ("none", 512), ("root", 8), ("d_k", 64)])
def test_other_random_numbers_give_the_same_means(divisor, d_k):
    random = np.random.default_rng(5)
    by = {"root": d_k**0.5, "none": 1, "d_k": d_k}[divisor]
    largest, slopes = [], []
    for _ in range(2000):
        query, keys = random.standard_normal(d_k), random.standard_normal((6, d_k))
        powers = [math.exp((query @ key - max(keys @ query)) / by) for key in keys]
        shares = [power / sum(powers) for power in powers]
        largest.append(max(shares))
        slopes.append(sum(share * (1 - share) for share in shares) / 6)
    found = sweep()[divisor][LENGTHS.index(d_k)]
    assert found.largest == pytest.approx(np.mean(largest), abs=0.02)
    assert found.slope == pytest.approx(np.mean(slopes), abs=0.005)


def test_the_same_numbers_are_drawn_again():
    again = sweep.__wrapped__()
    assert [each.spread for each in again["none"]] == [each.spread for each in sweep()["none"]]
    assert (again["root"][3].counts == sweep()["root"][3].counts).all()
