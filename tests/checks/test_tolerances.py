"""Tolerances: `rtol` and `atol` of `compare` and `assert_attention`, as in `numpy.allclose`."""

import numpy as np
import pytest
from implementations import softmax

from attnviz import compare
from attnviz.core.errors import OwnArraysError
from attnviz.testing import assert_attention

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(6, 8))
W_V = RANDOM.normal(size=(8, 8))
ATTENTION = softmax(X @ RANDOM.normal(size=(8, 6)))
HEADS = ATTENTION @ (X @ W_V)


def arrays(heads):
    return {"attention": ATTENTION[None], "v": (X @ W_V)[None], "heads": heads[None]}


def nudged(rtol, atol, part):
    """Head outputs with one number moved by this part of what the tolerance allows."""
    heads = HEADS.copy()
    heads[2, 3] += part * (atol + rtol * abs(heads[2, 3]))
    return heads


@pytest.mark.parametrize(
    "stated", [{"rtol": 1e-3}, {"atol": 1e-3}, {"rtol": 1e-2, "atol": 0.0}, {"rtol": 0, "atol": 1}]
)
@pytest.mark.parametrize("part", [0.999, 1.001, -0.999, -1.001])
def test_the_edge_is_that_of_allclose(stated, part):
    heads = nudged(**{"rtol": 1e-5, "atol": 1e-8} | stated, part=part)
    found = compare(None, arrays(heads), **stated)
    assert (found.first is None) == np.allclose(heads, HEADS, **stated) == (abs(part) < 1)
    assert all(f"{name} {each:g}" in found.verdict[0] for name, each in stated.items())
    if found.first is None:
        assert_attention(arrays(heads), **stated)
    else:
        with pytest.raises(AssertionError):
            assert_attention(arrays(heads), **stated)
    assert compare(None, arrays(heads)).first is not None


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_mistake_is_named_within_a_tolerance(dtype):
    wrong = softmax(X @ X.T)
    found = compare(None, {"x": X.astype(dtype), "attention": wrong.astype(dtype)}, rtol=0.05, atol=1e-3)
    assert [each.id for each in found.causes] == ["unscaled"]
    assert found.explained


def test_a_tolerance_may_be_narrower_than_rounding(unexplained):
    right = softmax(X @ X.T / 8**0.5)
    stored = {"x": X, "attention": right.astype(np.float16)}
    assert compare(None, stored).first is None
    assert compare(None, stored, rtol=1e-7, atol=0).first.stage == "attention"


@pytest.mark.parametrize("filling", [0.0, 1 / 6])
def test_queries_that_see_no_key_are_filled_as_they_may_be(filling):
    seen = np.tri(6, k=-1, dtype=bool)
    scores = np.where(seen, X @ X.T / 8**0.5, -np.inf)
    attention = np.vstack([np.full(6, filling), softmax(scores[1:])])
    assert compare(None, {"x": X, "mask": seen, "attention": attention}, rtol=1e-6).first is None


@pytest.mark.parametrize("wrong", [{"rtol": -1}, {"atol": np.nan}, {"rtol": "1e-3"}, {"atol": np.inf}])
def test_a_tolerance_is_a_number_from_0_on(wrong):
    with pytest.raises(OwnArraysError, match=f"{next(iter(wrong))} is a number from 0 on"):
        compare(None, arrays(HEADS), **wrong)
