"""The residual stream taken apart: its parts add up to the logit, and a part is what goes when its writer is muted."""

import math

import pytest
from cases import of_each
from passes import TRACES

from attnviz.analysis import stream
from attnviz.models import MODELS

PASSES = {
    "microgpt": MODELS["microgpt"].at(0).trace("eliza"),
    "two layers that learnt": TRACES["two layers that learnt"],
    "a block": TRACES["a block"],
    "two blocks with biases": TRACES["two blocks with biases"],
    "recall": MODELS["recall"].at(0).trace("g 5 d 6 g"),
}


@of_each("trace", PASSES)
def test_the_parts_of_every_logit_add_up_to_it(trace):
    assert stream.has_residual_stream(trace)
    logits = trace["logits"]
    for token in range(logits.shape[0]):
        parts = stream.parts(trace, token)
        for answer in range(logits.shape[1]):
            total = math.fsum(part.values[answer] for part in parts)
            assert total == pytest.approx(logits.value[token, answer], rel=0, abs=1e-12)


@of_each("name", ["two layers that learnt", "a block", "two blocks with biases"])
def test_whatever_is_set_by_hand_the_parts_add_up_or_there_are_none(name):
    add_up = set()
    for stage in PASSES[name].stages:
        number = 0 if stage.value.dtype == bool else 0.7
        trace = PASSES[name].with_change(stage.name, (0,) * len(stage.shape), number)
        if stream.has_residual_stream(trace):
            add_up.add(stage.name)
            total = sum(part.values for part in stream.parts(trace, 0))
            assert total == pytest.approx(trace["logits"].value[0], rel=0, abs=1e-12), stage.name
    assert {"w_u", *(layer.names[each] for layer in trace.layers for each in ("q", "attention", "heads"))} <= add_up
    assert not add_up & {"logits", *(layer.names["output"] for layer in trace.layers)}


def test_what_the_neurons_write_is_what_goes_with_them():
    trace, at = PASSES["microgpt"], (5, 26)
    without = trace.with_change("mlp", (None,), 0.0)["logits"].value[at]
    neurons = [part for part in stream.parts(trace, at[0]) if part.kind == "neuron"]
    assert math.fsum(part.values[at[1]] for part in neurons) == pytest.approx(
        trace["logits"].value[at] - without, abs=1e-12
    )
    assert [part.place for part in neurons] == [n for n in range(64) if trace["active"].value[5, n]]


def test_what_adds_nothing_up_has_no_parts():
    assert not stream.has_residual_stream(TRACES["two layers built by hand"])
    assert not stream.has_residual_stream(PASSES["microgpt"].with_change("mlp", (0, 0), 1.0))
    assert not stream.has_residual_stream(TRACES["plain"])
