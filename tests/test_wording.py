"""Wording: numbers and counts as sentences write them."""

import numpy as np
import pytest

from attnviz.text.wording import counted, precise


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.5, "1.5000"), (-1e308, "−1.00e308"), (np.inf, "more than 1.79e308"), (-np.inf, "less than −1.79e308")],
)
def test_numbers(value, text):
    assert precise(value) == text


def test_counts():
    assert [counted(n, "query", "queries") for n in (1, 2)] == ["1 query", "2 queries"]
    assert counted(0, "key") == "0 keys"
