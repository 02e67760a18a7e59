"""What if: laws of changing a number, of the text in the address, and of what moved."""

import contextlib
import json
import math

import numpy as np
import pytest
from cases import of_each
from hypothesis import given
from hypothesis import strategies as st
from masking import fully_masked
from page import ROOT

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.analysis.pairing import difference
from attnviz.core.changes import (
    Change,
    format_changes,
    mute_change,
    parse_change,
    replace_change,
    split_changes,
)
from attnviz.core.errors import ArrayError, ChangeError
from attnviz.core.terms import Terms
from attnviz.explain.one_word import marks, sentence

SENTENCE = Settings("the cat sat on the mat", mask="causal", positions="sinusoidal")


@pytest.fixture
def trace():
    return trace_of(SENTENCE)


def arrays(random, biases=True):
    """Inputs of `attend` whose sizes are distinct primes: 5 queries, 7 keys, 2 heads, d_k 3, d_v 11, d_out 13."""
    draw = random.standard_normal
    parameters = {"w_q": draw((2, 17, 3)), "w_k": draw((2, 19, 3)), "w_v": draw((2, 19, 11)), "w_o": draw((22, 13))}
    if biases:
        parameters |= {"b_q": draw((2, 3)), "b_k": draw((2, 3)), "b_v": draw((2, 11)), "b_o": draw(13)}
    return {"x": draw((5, 17)), "context": draw((7, 19)), "mask": random.random((2, 5, 7)) < 0.7}, parameters


def attended(inputs, parameters):
    return attend(inputs["x"], inputs["context"], mask=inputs["mask"], parameters=Parameters(**parameters))


def same_bits(a, b):
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def test_unreached_stages_are_the_same_objects(trace):
    after = trace.with_change("k", (1, 2, 3), 5.0)
    untouched = {stage.name for stage in trace.stages if after[stage.name] is stage}
    assert untouched == {"embeddings", "positions", "x", "w_q", "w_k", "w_v", "w_o", "q", "v", "mask"}


INPUTS = ["x", "context", "mask", "w_q", "w_k", "w_v", "w_o"]
BIASES = ["b_q", "b_k", "b_v", "b_o"]


@pytest.mark.parametrize(("name", "biases"), [(n, False) for n in INPUTS] + [(n, True) for n in INPUTS + BIASES])
def test_changed_input_equals_a_fresh_pass(name, biases):
    inputs, parameters = arrays(np.random.default_rng(1), biases)
    source = inputs if name in inputs else parameters
    before = attended(inputs, parameters)
    index = tuple(n // 2 for n in source[name].shape)
    value = 0 if name == "mask" else 2.5
    after = before.with_change(name, index, value)
    source[name] = source[name].copy()
    source[name][index] = value
    for fresh in attended(inputs, parameters).stages:
        assert same_bits(after[fresh.name].value, fresh.value), fresh.name


def test_changes_commute(trace):
    changes = [Change("scores", (0, 2, 1), 9.0), Change("embeddings", (1, 3), -2.0), Change("heads", (1,), 0.0)]
    at_once = trace.with_changes(*changes)
    one_by_one = trace.with_changes(changes[2]).with_changes(changes[0]).with_changes(changes[1])
    for stage in at_once.stages:
        assert same_bits(stage.value, one_by_one[stage.name].value), stage.name
    assert at_once["scores"].value[0, 2, 1] == 9.0
    assert at_once["embeddings"].value[1, 3] == -2.0
    assert not at_once["heads"].value[1].any()


def test_changed_cell_survives_recomputation(trace):
    after = trace.with_change("scores", (0, 2, 1), 9.0).with_change("q", (0, 2, 0), 7.0)
    assert after["scores"].value[0, 2, 1] == 9.0
    assert not np.array_equal(after["scores"].value[0, 2], trace["scores"].value[0, 2])
    assert after["scaled"].value[0, 2, 1] == 4.5


def test_changed_cell_is_marked(trace):
    after = trace.with_change("scores", (0, 2, 1), 9.0)
    assert after.terms("scores", (0, 2, 1)) == Terms((), 9.0, recipe="set by you")
    assert after.terms("scores", (0, 2, 0)).cells == trace.terms("scores", (0, 2, 0)).cells
    assert after.terms("scaled", (0, 2, 1)).total == 4.5
    assert after["scores"].overridden == {(0, 2, 1)}
    assert after["scaled"].overridden == set()


def test_user_stages_replace_ours(trace):
    masked = trace["scores"].value + np.tri(6)  # neither scaled nor hidden
    after = trace.with_stages({"masked": masked}, "as your code computed it")
    shares = np.exp(masked) / np.exp(masked).sum(axis=-1, keepdims=True)
    np.testing.assert_array_equal(after["masked"].value, masked)
    np.testing.assert_allclose(after["attention"].value, shares, rtol=1e-12)
    np.testing.assert_allclose(after["heads"].value, shares @ trace["v"].value, atol=1e-12)
    assert after["scaled"] is trace["scaled"]
    assert after.terms("masked", (1, 2, 5)) == Terms((), masked[1, 2, 5], recipe="as your code computed it")
    assert after.terms("attention", (1, 2, 5)).total == pytest.approx(shares[1, 2, 5])
    assert trace.with_stages({"masked": trace["masked"].value}, "")["masked"] is trace["masked"]
    with pytest.raises(ArrayError, match=r"masked must have the shape \(2, 6, 6\); got \(2, 6, 5\)\."):
        trace.with_stages({"masked": masked[..., 1:]}, "")
    with pytest.raises(ArrayError, match="scaled must hold finite numbers; got 30 that are not"):
        trace.with_stages({"scaled": np.where(np.tri(6), masked, -np.inf)[:1].repeat(2, axis=0)}, "")


def test_only_differing_user_cells_are_marked(trace):
    right = trace["masked"].value
    theirs = np.where(np.isfinite(right), right * (1 + 1e-15), right)
    theirs[0, 2, 0] += 0.5
    theirs[1, 4] = 1.0
    theirs[1, 5, 0] = -np.inf
    after = trace.with_stages({"masked": theirs}, "as your code computed it")
    marked = {index for index in np.ndindex(right.shape) if after["masked"].is_overridden(index)}
    assert marked == {(0, 2, 0), *((1, 4, key) for key in range(6)), (1, 5, 0)}
    for index in np.ndindex(right.shape):
        assert after["masked"].value[index] == (theirs if index in marked else right)[index]
    assert after.terms("masked", (0, 2, 1)).cells == trace.terms("masked", (0, 2, 1)).cells
    assert marks(after["masked"]) == "What is marked is as your code computed it."
    whole = trace.with_stages({"masked": np.ones(right.shape)}, "as your code computed it")
    assert marks(whole["masked"]) == "These numbers are as your code computed it."
    assert marks(trace.with_change("masked", (0, 2, 0), 1.0)["masked"]) == ""
    assert sentence(after, "masked") == sentence(trace, "masked")  # of a row without a mark


def test_mask_cell_hides_and_shows_a_key(trace):
    hidden = trace.with_changes(Change("mask", (2, 1), 0.0))
    assert (hidden["masked"].value[:, 2, 1] == -np.inf).all()
    assert (hidden["attention"].value[:, 2, 1] == 0).all()
    assert np.allclose(hidden["attention"].value.sum(axis=-1), 1)
    shown = hidden.with_changes(Change("mask", (2, 1), 1.0))
    assert same_bits(shown["output"].value, trace["output"].value)


def test_minus_infinity_in_a_float_mask_hides_a_key():
    trace = attend(np.eye(3), parameters=Parameters(), mask=np.zeros((3, 3)))
    hidden = trace.with_changes(Change("mask", (0, 1), -math.inf))
    assert hidden["attention"].value[0, 0, 1] == 0


def test_trace_keeps_changes_in_order(trace):
    first, second, third = Change("scores", (0, 2, 1), 9.0), Change("heads", (1,), 0.0), Change("output", (0, 0), 1.0)
    after = trace.with_changes(first).with_changes(second, third)
    assert after.changes == (first, second, third)
    assert after.lines("scores")[-1] == "scores[0, 2, 1] = 9.0  # set by hand"
    assert trace.changes == ()


def test_hiding_all_keys_masks_the_query(trace):
    after = trace.with_change("masked", (1, 3), -math.inf)
    assert fully_masked(after) == ((1, 3),)
    assert not after["attention"].value[1, 3].any()
    assert fully_masked(after.with_change("attention", (1, 3, 0), 1.0)) == ((1, 3),)


@pytest.mark.parametrize(
    ("name", "index", "value", "says"),
    json.loads((ROOT / "tests/data/refused_changes.json").read_text("utf-8")),
)
def test_misfit_change_is_refused(trace, name, index, value, says):
    with pytest.raises(ChangeError, match=says):
        trace.with_change(name, tuple(index), value)


def test_change_beyond_float64_is_refused(trace):
    with pytest.raises(ArrayError, match=r"scores holds numbers beyond float64"):
        trace.with_change("q", (0, 0), 1e308)


def test_overflowing_sum_hides_no_key():
    trace = attend(np.eye(3), parameters=Parameters(), mask=np.where(np.tri(3, dtype=bool), 0.0, -np.inf))
    with pytest.raises(ArrayError, match=r"masked holds numbers beyond float64"):
        trace.with_changes(Change("mask", (1, 0), -1e308), Change("scaled", (0, 1, 0), -1e308))
    with pytest.raises(ArrayError, match=r"masked holds numbers beyond float64"):
        attend(np.array([[-1e150], [1e150]]), parameters=Parameters(), scale=1e8, mask=np.full((2, 2), -1e308))
    hidden = trace.with_change("scaled", (0, 0, 2), -1e308)  # the mask hides it
    assert hidden["masked"].value[0, 0, 2] == -np.inf


changes = st.builds(
    Change,
    st.sampled_from(["scores", "w_q", "context_embeddings"]),
    st.lists(st.integers(0, 127), min_size=1, max_size=4).map(tuple),
    st.floats(allow_nan=False, allow_infinity=False) | st.just(-math.inf),
)


@given(st.lists(changes, max_size=16))
def test_change_text_round_trips(written):
    text = format_changes(written)
    read = [parse_change(part) for part in text.split(";") if part]
    assert [repr(change) for change in read] == [repr(change) for change in written]
    assert "+" not in text
    assert " " not in text


@given(st.text(alphabet="scores[]=0123456789,.;-einfa _", max_size=60) | st.text(max_size=60))
def test_any_change_text_is_read_or_refused(text):
    with contextlib.suppress(ChangeError):
        read = parse_change(text)
        assert parse_change(str(read)) == read


NO_CHANGES = (
    "scores|scores[]=1|scores[0]=|scores[0]=nan|scores[0]=inf|scores[0]=1e999|scores[0]=1_0|scores[0]=+1|scores[-1]=1|"
    "scores[0 ,1]=1|scores[٣]=1|scores[0]=1;|scores[0]=1\n|__class__[0].x=1"
)


@of_each("text", [*NO_CHANGES.split("|"), "scores[" + "9" * 1000 + "]=1", "scores[0]=" + "9" * 1000])
def test_wrong_change_text_is_refused_briefly(text):
    with pytest.raises(ChangeError) as refusal:
        parse_change(text)
    assert len(str(refusal.value)) < 200


def test_at_most_16_changes_are_read():
    sixteen = ";".join(["scores[0]=1"] * 16)
    assert len(split_changes(sixteen)) == 16
    with pytest.raises(ChangeError, match="at most 16 changes at once; got 17"):
        split_changes(f"{sixteen};scores[0]=1")


def test_change_replaces_the_same_cell():
    first, second = Change("scores", (0, 1, 2), 1.0), mute_change(1)
    again = Change("scores", (0, 1, 2), 2.0)
    assert replace_change((first, second), again) == (second, again)


def test_difference_of_hidden_keys(trace):
    after = trace.with_change("masked", (0, 2, 3), 1.0).with_change("masked", (0, 2, 0), -math.inf)
    moved = difference(trace, after, "masked")
    assert moved[0, 2, 3] == np.inf
    assert moved[0, 2, 0] == -np.inf
    assert np.count_nonzero(moved) == 2
    assert difference(trace, trace.with_change("mask", (2, 1), 0), "mask")[2, 1] == -1


def test_difference_of_linear_stages(trace):
    moved = difference(trace, trace.with_change("attention", (0, 2, 1), trace["attention"].value[0, 2, 1] + 1), "heads")
    np.testing.assert_allclose(moved[0, 2], trace["v"].value[0, 1], atol=1e-14)
    moved[0, 2] = 0
    assert not moved.any()
