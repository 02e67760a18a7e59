"""Trace: its stages in order, its numbers safe, its cells by the names of their words."""

import numpy as np
import pytest

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core.operations.linear import Contributions

PLAIN = attend(np.ones((2, 2)), parameters=Parameters())


def test_stages_come_in_the_order_they_are_made():
    stages = [stage.name for stage in trace_of(Settings("the cat", "on it", positions="sinusoidal")).stages]
    given = ["embeddings", "positions", "x", "context_embeddings", "context_positions", "context"]
    given += ["w_q", "w_k", "w_v", "w_o"]
    made = ["q", "k", "v", "scores", "scaled", "mask", "masked", "attention"]
    assert stages == given + made + ["heads", "concat", "contributions", "output"]
    assert [stage.name for stage in trace_of(Settings("the cat")).stages][:3] == ["embeddings", "x", "w_q"]


def test_every_stage_is_made_of_earlier_ones():
    trace = trace_of(Settings("the cat", "on it", positions="sinusoidal"))
    names = [stage.name for stage in trace.stages]
    for place, stage in enumerate(trace.stages):
        assert set(stage.inputs) <= set(names[:place])
    assert trace["k"].inputs == ("context", "w_k")
    assert trace["q"].inputs == ("x", "w_q")


def test_a_trace_is_a_read_only_copy():
    x = np.ones((3, 2))
    trace = attend(x, parameters=Parameters())
    before = trace["x"].value.copy()
    x[0, 0] = 99
    assert np.array_equal(trace["x"].value, before)
    for stage in trace.stages:
        with pytest.raises(ValueError, match="read-only"):
            stage.value[(0,) * len(stage.shape)] = 0


def test_a_stage_that_is_not_there_is_a_key_error_that_lists_those_that_are():
    assert "scores" in PLAIN
    assert "output" not in PLAIN
    with pytest.raises(KeyError, match="no stage 'output'; this trace has x, q, k, v, scores"):
        PLAIN["output"]


def test_cells_have_the_names_of_their_words():
    trace = trace_of(Settings("the cat the", "sat sat"))
    assert trace.name_of(trace["scores"].cell((1, 2, 1))) == "scores[head 2, the (2), sat (2)]"
    assert trace.name_of(trace["embeddings"].cell((2, 0))) == "embeddings[the (2), 1]"
    assert trace.name_of(trace["context"].cell((1, 7))) == "context[sat (2), 8]"
    assert trace.name_of(trace["output"].cell((1, 0))) == "output[cat, 1]"
    assert PLAIN.name_of(PLAIN["scores"].cell((0, 1, 0))) == "scores[head 1, 2, 1]"


CROSS = attend(np.ones((2, 2)), np.ones((3, 2)), parameters=Parameters())
REFUSED = {
    "too few": ({"key": ("a", "b")}, "key must have a word for each of 3 places along that axis; got 2"),
    "too many": ({"query": ("a", "b", "c")}, "query must have a word for each of 2 places along that axis; got 3"),
    "of an input": ({"context_token": ("a",)}, "context_token must have a word for each of 3 places"),
    "text": ({"query": "ab"}, "query must be a sequence of words; got str"),
    "numbers": ({"query": [1, 2]}, "query must be a sequence of words; got list"),
    "no axis": (
        {"keys": ("a", "b", "c")},
        "Words stand along token, query, key, context_token, answer; got 'keys'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_words_that_do_not_fit_an_axis_are_refused(name):
    words, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        CROSS.labelled(**words)


def test_words_of_an_axis_that_the_pass_does_not_have_name_nothing():
    assert CROSS.labelled(answer=["a"], key=["a", "b", "c"]).axes("k")[1].labels == ("a", "b", "c")
    assert PLAIN.labelled(context_token=["a"]).axes("k")[1].labels == ("1", "2")


@pytest.mark.parametrize("head", ["i", "2", "{10}"])
def test_the_formula_of_a_head_s_contribution_names_its_own_band(head):
    assert Contributions().latex(f"O_{head}", f"H_{head}", "W^O") == rf"O_{head} = H_{head}\,W^O_{head}"
