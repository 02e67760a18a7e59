"""Wording: numbers and lists as sentences write them, and what differs by rounding alone is tied."""

import numpy as np
import pytest

from attnviz.text.wording import counted, listed, number, numbered, percent, tied


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.005, "0.01"),
        (-0.001, "0.00"),
        (-1.5, "−1.50"),
        (999_999.0, "999999.00"),
        (1e6, "1.00e6"),
        (-1e308, "−1.00e308"),
        (np.inf, "more than 1.79e308"),
        (-np.inf, "less than −1.79e308"),
    ],
)
def test_numbers(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (0.004, "under 1 %"),
        (0.364, "36 %"),
        (0.996, "over 99 %"),
        (1.0, "100 %"),
        (-0.12, "−12 %"),
        (-0.001, "0 %"),
        (2.5, "250 %"),
        (1e5, "1.00e7 %"),
        (1e308, "more than 1.79e308 %"),
    ],
)
def test_percents(share, text):
    assert percent(share) == text


def test_lists_and_counts():
    assert [listed("abc"[:n]) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
    assert listed("abcdefgh") == "a, b, c, d, e and 3 more"
    assert (numbered("head", np.array([1])), numbered("head", np.array([0, 2]))) == ("head 2", "heads 1 and 3")
    assert (counted(1, "query", "queries"), counted(2, "query", "queries"), counted(0, "key")) == (
        "1 query",
        "2 queries",
        "0 keys",
    )


@pytest.mark.parametrize("unit", [1.0, 1e300, 1e-300])
def test_numbers_that_rounding_alone_tells_apart_are_tied(unit):
    values = unit * np.array([0.1 + 0.2, 0.3, 0.3 + 1e-6, -0.3])
    assert tied(values, 1).tolist() == [0, 1]


def test_zeros_and_numbers_near_the_end_of_float64_are_tied_with_their_like():
    assert tied(np.zeros(3), 0).tolist() == [0, 1, 2]
    assert tied(np.array([1.5e308, -1.5e308, 1.5e308]), 0).tolist() == [0, 2]
