"""In a test of one's own: the outcome in the first line of an AssertionError, and no error where all agrees."""

import kinds
import numpy as np
import pytest

from attnviz import Check, compare
from attnviz.testing import assert_attention

RIGHT = kinds.CORRECT["Conv1D"]("raising")
WRONG = kinds.mistaken("divided by √d_model", "llama", "attention, output")


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"attn_weights": np.full_like(WRONG["attn_weights"], np.nan)},
        {"attn_output": WRONG["attn_output"] + 1},
    ],
)
def test_the_first_line_is_the_headline(changed):
    arrays = WRONG | changed
    found = compare(None, arrays)
    for raises in (found.raise_for_difference, *[lambda: assert_attention(arrays)] * (not changed)):
        with pytest.raises(AssertionError) as raised:
            raises()
        first, *rest = str(raised.value).split("\n")
        assert first == found.headline
        assert {*str(found).split("\n")} <= {first, *rest}


def test_nothing_is_raised_where_all_agrees():
    assert compare(None, RIGHT).raise_for_difference() is None
    assert compare(None, RIGHT | {"mystery": np.ones(3)}).raise_for_difference() is None


def test_what_is_open_comes_after_the_headline():
    arrays = RIGHT | {"mystery": np.ones(3)}
    with pytest.raises(AssertionError) as raised:
        assert_attention(arrays)
    lines = str(raised.value).split("\n")
    assert lines[0] == compare(None, arrays).headline
    assert "mystery" in lines[1]
    assert "allow=['mystery']" in lines[2]


@pytest.mark.parametrize(
    "arrays", [{"x": RIGHT["hidden_states"]}, RIGHT | {"attn_output": RIGHT["attn_output"] * np.nan}]
)
def test_nothing_compared_and_numbers_that_are_none_raise(arrays):
    with pytest.raises(AssertionError):
        compare(None, arrays).raise_for_difference()


def test_a_check_raises_by_its_calls():
    right, wrong = compare(None, RIGHT), compare(None, WRONG)
    assert Check({"no mask": right}, ()).raise_for_difference() is None
    with pytest.raises(AssertionError) as raised:
        Check({"no mask": right, "causal": wrong}, ()).raise_for_difference()
    assert str(raised.value).split("\n")[0] == wrong.headline
    with pytest.raises(AssertionError):
        Check({"no mask": right}, (), is_random=True).raise_for_difference()


@pytest.mark.parametrize(
    ("stages", "unused"),
    [
        (("attention", "output"), ()),
        (("attention",), ("w_v", "w_o", "b_v", "b_o")),
        (("q", "scores"), ("w_v", "w_o", "b_v", "b_o", "mask")),
        (("v",), ("w_q", "w_k", "w_o", "b_q", "b_k", "b_o", "mask")),
    ],
)
def test_a_passing_verdict_says_what_it_did_not_check(stages, unused):
    own = kinds.Layer(6, (7, 4, 8), "", "causal")
    found = compare(None, kinds.saved(own, "llama", stages))
    assert (found.first, {*found.unused}) == (None, {*unused})
    assert ("Not checked" in str(found)) == bool(unused)
