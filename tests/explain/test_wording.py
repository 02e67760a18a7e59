"""Wording: numbers and counts as sentences write them."""

import numpy as np
import pytest

from attnviz.explain.wording import counted, percent, precise


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.5, "1.5000"), (-1e308, "−1.00e308"), (np.inf, "more than 1.79e308"), (-np.inf, "less than −1.79e308")],
)
def test_numbers(value, text):
    assert precise(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        *((0, "0"), (0.005, "under 1"), (0.01, "1"), (0.5, "50"), (0.99, "99"), (0.9901, "over 99"), (1, "100")),
        *((-0.125, "−13"), (-0.001, "0"), (2.5, "250")),
    ],
)
def test_shares_that_are_nearly_nothing_or_all_are_not_said_to_be_so(share, text):
    assert percent(share) == f"{text}\u00a0%"


def test_counts():
    assert [counted(n, "query", "queries") for n in (1, 2)] == ["1 query", "2 queries"]
    assert counted(0, "key") == "0 keys"
