"""Stories: one holds for every number of every pass, its slots can be filled, and what it says is so."""

import functools
import re

import numpy as np
import pytest
from cases import of_each
from claims import CLAUSES, OPENINGS, check
from passes import MODELS, ROWS, TRACES
from stories import SAYS, SLOT, story_of, told

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core.layers import split_layer
from attnviz.core.operations.sumnormalise import SumNormalise
from attnviz.core.selection import Selection
from attnviz.text.steps import ENTRIES
from attnviz.text.vocabulary import stories_of

FIRST = Selection(0, 0, 0, 0, 0)
LABELS = ("head", "query", "key", "answer", "row", "column")

# a sees itself, b all three, c none; the scores are (9, −3, 0), (−3, 2, 2) and (0, 2, 4)
MADE = attend(
    np.array([[3.0, 0.0], [-1.0, 1.0], [0.0, 2.0]]),
    parameters=Parameters(w_q=np.eye(2)[None], w_o=np.array([[3.0, 0.0], [0.0, 4.0]])),
    mask=np.array([[1, 0, 0], [1, 1, 1], [0, 0, 0]], dtype=bool),
    scale=1.0,
).labelled(token=("a", "b", "c"), query=("a", "b", "c"), key=("a", "b", "c"))
PLAIN = trace_of(Settings("the cat sat", mask="causal"))
BY_HAND = {
    f"{name} by hand": PLAIN.with_change(name, (0,), 0.5)
    for name in (
        "x",
        "w_q",
        "q",
        "scores",
        "scaled",
        "masked",
        "attention",
        "heads",
        "concat",
        "contributions",
        "output",
    )
}
BY_HAND |= {
    f"{name} by hand": MODELS["two layers that learnt"].with_change(name, (0,), 0.5)
    for name in ("attention_1", "heads_2", "residual_1", "w_u", "logits", "probabilities")
}
BY_HAND |= {
    "unscaled scores by hand": TRACES["unscaled"].with_change("scores", (0,), 0.5),
    "unscaled, masked scores by hand": trace_of(Settings("the cat sat", mask="causal", scaled=False)).with_change(
        "scores", (0,), 0.5
    ),
    "added mask by hand": TRACES["added mask"].with_change("scores", (0,), 0.5),
    "sums of scaled": attend(np.ones((2, 2)), parameters=Parameters(), normalise=SumNormalise),
    "sums of added": attend(np.ones((2, 2)), parameters=Parameters(), normalise=SumNormalise, mask=np.ones((2, 2))),
    "sums of masked": attend(np.ones((2, 2)), parameters=Parameters(), normalise=SumNormalise, mask=np.tri(2) > 0),
    "sums of unscaled": attend(np.ones((2, 2)), parameters=Parameters(), normalise=SumNormalise, scale=1.0),
    "sums of masked, unscaled": attend(
        np.ones((2, 2)), parameters=Parameters(), normalise=SumNormalise, scale=1.0, mask=np.tri(2) > 0
    ),
}
ONE_KEY = trace_of(Settings("the cat", context="Hund"))
BIASED = attend(
    ROWS,
    parameters=Parameters(
        **dict.fromkeys(("w_q", "w_k", "w_v"), np.ones((1, 3, 3))),
        **dict.fromkeys(("b_q", "b_k", "b_v"), np.full((1, 3), 99.0)),
    ),
)
ONES = dict.fromkeys(("w_q", "w_k", "w_v"), np.ones((1, 1, 1))) | dict.fromkeys(
    ("w_o", "w_hidden", "w_mlp"), np.ones((1, 1))
)
ONE_DIMENSION = attend(
    np.array([[1.0], [2.0]]), parameters=Parameters(**ONES), residual=True, w_u=np.array([[1.0, 2.0]])
)
PASSES = TRACES | BY_HAND | {"biased": BIASED, "made": MADE, "one key": ONE_KEY, "one dimension": ONE_DIMENSION}


def said(trace, name, index):
    return told(trace, name, index, FIRST)


@functools.cache
def stories(name):
    """Of some cells of each stage of a pass the story that holds, and what it says."""
    trace = PASSES[name]
    cells = [(stage, index) for stage in trace.stages for index in some_cells(stage)]
    return [(stage, index, *story_of(trace, stage.name, index, FIRST)) for stage, index in cells]


def some_cells(stage):
    """All cells of a stage; of many some from everywhere, the first and the last among them."""
    cells = list(np.ndindex(stage.shape))
    return {*cells[:: len(cells) // 8 + 1], cells[-1]}


def test_a_story_holds_for_every_number_and_each_of_its_clauses_is_so():
    """Each clause is read somewhere, and nothing of a story is left unread."""
    read = {
        clause
        for name in PASSES
        for stage, index, _, text in stories(name)
        for clause in check(PASSES[name], stage.name, index, text)
    }
    assert read == {*OPENINGS, *CLAUSES}


@of_each("name", [*PASSES])
def test_a_story_is_english_and_says_the_number_where_it_is_one(name):
    for stage, index, story, text in stories(name):
        assert "{value" in story.text or stage.value[index] in (0, -np.inf)
        assert re.match(r"[A-Z“\d−]", text), text
        assert text.endswith("."), text
        assert not re.search(r"[{}]|nan|None|\binf\b|  | [.,;:]|;.*;|of one\b|−0\.00", text), text
        assert len(text) < 200


@of_each("trace", PASSES)
def test_slots_are_labels_or_stages_that_the_number_comes_from(trace):
    for stage in trace.stages:
        before = sources(trace, stage.name)
        if split_layer(stage.name)[0] == "output":
            before |= {trace.layer_of(stage.name).names.get("contributions")}
        for story in stories_of(trace, stage.name):
            for slot, form in re.findall(SLOT, story.text):
                assert slot in {"value", *LABELS, *before}, (stage.name, slot)
                assert form in SAYS


def sources(trace, name):
    """All stages that a stage was computed from, by way of others too."""
    inputs = trace[name].inputs
    return {*inputs, *(each for source in inputs for each in sources(trace, source))}


def test_every_story_is_told_of_some_number():
    told = {story for name in PASSES for _, _, story, _ in stories(name)}
    written = {story for entry in ENTRIES.values() for story in entry.stories}
    never = {story.text for story in written - told}
    assert never == set()


def test_the_parts_of_an_output_are_not_said_once_they_do_not_add_up():
    assert "head 1 adds" in said(PLAIN, "output", (0, 0))
    assert "adds" not in said(PLAIN.with_change("concat", (2, 0), 1.0), "output", (0, 0))


def test_the_largest_term_may_be_the_bias_and_is_then_not_sought_among_the_dimensions():
    assert said(BIASED, "q", (0, 0, 0)).endswith("its input times a column of parameters, and a bias.")


def test_a_number_set_by_hand_comes_before_all_other_cases():
    for trace in TRACES.values():
        for name in (stage.name for stage in trace.stages):
            cases = [story.when for story in stories_of(trace, name)]
            assert cases[0] == "set"
            assert cases == sorted(cases, key=("set", "unseeing", "hidden", "given", "").index)


@pytest.mark.parametrize(("mask", "leads"), [("none", "scaled"), ("causal", "masked")])
def test_a_share_names_the_score_that_its_softmax_reads_and_a_mask_only_where_one_is_set(mask, leads):
    for scaled in (True, False):
        trace = trace_of(Settings("the cat sat", mask=mask, scaled=scaled))
        story, _ = story_of(trace, "attention", (0, 2, 1), FIRST)
        assert {name for name, _ in re.findall(SLOT, story.text)} & {"scaled", "masked"} == {leads}
        assert ("No mask" in said(trace, "masked", (0, 2, 1))) == (mask == "none")
