"""Lessons: which steps a trace has, and that what they say holds for it."""

import re

import numpy as np
import pytest

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core.operations.sumnormalise import SumNormalise
from attnviz.examples import EXAMPLES
from attnviz.text.steps import STEPS, steps_of
from attnviz.text.steps.mask import masks

TITLES = [step.title for step in STEPS]
WORKED = {f"{e.id} {variant.id}": variant.trace for e in EXAMPLES.values() for variant in e.variants}
OWN = {
    "plain": trace_of(Settings("the cat sat")),
    "positions": trace_of(Settings("the cat sat", positions="sinusoidal")),
    "causal": trace_of(Settings("the cat sat", mask="causal")),
    "unscaled": trace_of(Settings("the cat sat", scaled=False)),
    "context": trace_of(Settings("the cat", context="der Hund", positions="sinusoidal")),
    "bare context": trace_of(Settings("the cat", context="der Hund")),
    "blind": trace_of(Settings("the cat", mask="padding", mask_size=5)),
    "half scale": attend(np.eye(3), parameters=Parameters(), scale=0.5),
}
TRACES = OWN | WORKED


def step(trace, title):
    return next(step for step in steps_of(trace) if step.title == title)


def left_out(name):
    return [title for title in TITLES if title not in [step.title for step in steps_of(TRACES[name])]]


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("plain", ["Positions", "Mask"]),
        ("positions", ["Mask"]),
        ("causal", ["Positions"]),
        ("context", ["Mask"]),
        ("001 without", ["Tokens", "Positions", "Mask", "Output"]),
        ("001 with", ["Tokens", "Positions", "Output"]),
        ("002 softmax", ["Positions", "Mask", "Output"]),
        ("003 steps", ["Positions", "Mask"]),
    ],
)
def test_a_trace_has_the_steps_of_its_stages(name, missing):
    assert left_out(name) == missing


@pytest.mark.parametrize("name", TRACES)
def test_steps_keep_their_order_and_titles(name):
    titles = [step.title for step in steps_of(TRACES[name])]
    assert titles == [title for title in TITLES if title in titles]
    assert ("Mask" in titles) == masks(TRACES[name])


@pytest.mark.parametrize("name", TRACES)
def test_every_stage_that_is_made_is_shown_in_one_step(name):
    trace = TRACES[name]
    shown = [stage for step in steps_of(trace) for stage in step.stages if stage in trace]
    assert len(shown) == len(set(shown))
    not_shown = {stage.name for stage in trace.stages if stage.inputs} - set(shown)
    assert not_shown <= {"contributions"} | ({"masked"} if not masks(trace) else set())


@pytest.mark.parametrize("name", TRACES)
def test_texts_are_short_and_never_say_weights(name):
    for each in steps_of(TRACES[name]):
        assert not re.search(r"\bweights?\b", each.text, re.IGNORECASE)
        sentences = re.findall(r"[.?!](?= [A-Z$*]|$)", each.text)
        assert 2 <= len(sentences) <= 3, each.text


@pytest.mark.parametrize("name", TRACES)
def test_what_depends_on_the_trace_is_said_where_it_holds(name):
    trace = TRACES[name]
    off = trace["scaled"].operation.factor == 1.0
    assert ("switched off" in step(trace, "Scaling").heading) == off
    divided = trace["scaled"].operation.factor is None
    assert ("would keep" in step(trace, "Scaling").text) != divided
    assert ("multiplied by a number" in step(trace, "Scaling").text) == (not off and not divided)
    summed = isinstance(trace["attention"].operation, SumNormalise)
    assert ("not softmax" in step(trace, "Softmax").heading) == summed
    assert ("no share is negative" in step(trace, "Softmax").text) != summed
    assert ("no matrices" in step(trace, "Q, K, V").text) == ("w_q" not in trace)
    assert ("other sentence" in step(trace, "Q, K, V").text) == ("context" in trace and "w_q" in trace)
    if masks(trace):
        assert ("0 is hidden and 1 is visible" in step(trace, "Mask").text) == (trace["mask"].value.dtype == bool)


@pytest.mark.parametrize("name", TRACES)
def test_the_input_is_shown_before_it_is_projected(name):
    trace = TRACES[name]
    steps = steps_of(trace)
    for stage in ("embeddings", "context_embeddings", "x", "context"):
        if stage in trace:
            assert [stage in each.stages for each in steps[:2]].count(True) == 1
    if "x" in trace:
        bare = "embeddings" in trace and "positions" not in trace
        assert ("Without positions this is also the input $X$" in steps[0].text) == bare


@pytest.mark.parametrize("name", TRACES)
def test_no_share_is_negative_where_the_text_says_so(name):
    trace = TRACES[name]
    if "no share is negative" in step(trace, "Softmax").text:
        attention = trace["attention"].value
        sees = np.isfinite(trace["masked"].value).any(axis=-1)
        assert (attention >= 0).all()
        assert np.allclose(attention.sum(axis=-1), sees)
