"""Stories: one holds for every number of every pass, its slots can be filled, and what it says is so."""

import functools
import re

import numpy as np
import pytest
from cases import of_each
from numerals import short
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
PASSES = TRACES | BY_HAND | {"biased": BIASED, "made": MADE, "one dimension": ONE_DIMENSION}


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
    return {*cells[:: len(cells) // 16 + 1], cells[-1]}


@of_each("name", [*PASSES])
def test_a_story_holds_for_every_number_and_is_english_and_says_it_where_it_is_one(name):
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


@pytest.mark.parametrize(
    ("name", "index", "text"),
    [
        ("x", (1, 0), "“b” enters with −1.00 in dimension 1, as it is given."),
        (
            "w_q",
            (0, 0, 1),
            "In head 1, dimension 1 of what enters is multiplied by 0.00 on its way to dimension 2 of the query.",
        ),
        (
            "q",
            (0, 0, 0),
            "“a” asks with 3.00 in dimension 1; of its input, dimension 1 adds 3.00 (3.00 × 1.00), the rest 0.00.",
        ),
        ("k", (0, 0, 0), "“a” offers 3.00 in dimension 1: its input, as it is."),
        (
            "scores",
            (0, 0, 1),
            "“a” scores −3.00 with “b”, lowest of three; dimension 1 adds −3.00 (3.00 × −1.00), the rest 0.00.",
        ),
        (
            "scores",
            (0, 1, 2),
            "“b” scores 2.00 with “c”, tied for highest of three; dimension 2 adds 2.00 (1.00 × 2.00), the rest 0.00.",
        ),
        ("scaled", (0, 0, 0), "The score of “a” with “a” stays 9.00, as scaling is switched off."),
        ("mask", (1, 2), "For “b” and “c” the mask holds 1: 1 is visible, 0 is hidden."),
        ("masked", (0, 1, 1), "“b” sees “b”, so its score stays 2.00."),
        ("masked", (0, 0, 1), "“b” is hidden from “a”, so its masked score is −∞."),
        # e^−5 / (e^−5 + 2) = 0.003, and 1 / (e^−5 + 2) = 0.498 twice
        (
            "attention",
            (0, 1, 2),
            "“b” gives “c” 50 %: its score 2.00 is tied for highest of three. Its dot product is "
            "2.00: dimension 2 adds 2.00, the rest 0.00.",
        ),
        (
            "attention",
            (0, 1, 0),
            "“b” gives “a” under 1 %: its score −3.00 is lowest of three. Its dot product is "
            "−3.00: dimension 1 adds −3.00, the rest 0.00.",
        ),
        ("attention", (0, 0, 0), "“a” gives “a” 100 %, as it sees no other key."),
        ("attention", (0, 0, 1), "“b” is hidden from “a”: its masked score is −∞, so its share is exactly 0."),
        ("attention", (0, 2, 1), "“c” sees no key in head 1, so it gives nothing to any."),
        ("heads", (0, 1, 1), "In dimension 2, “b” collects 1.49; “c” adds 1.00 (0.50 × 2.00), the rest 0.50."),
        ("heads", (0, 2, 0), "“c” sees no key in head 1, so it collects nothing: 0.00 in dimension 1."),
        ("concat", (1, 1), "In dimension 2 of its row, “b” has 1.49, copied from head 1."),
        (
            "w_o",
            (1, 1),
            "Dimension 2 of the heads side by side, which is head 1’s, is multiplied by 4.00 on its way to "
            "dimension 2 of the output.",
        ),
        (
            "contributions",
            (0, 1, 0),
            "In dimension 1 of the output of “b”, head 1 adds −1.46; of what it found, dimension 1 adds "
            "−1.46 (−0.49 × 3.00), the rest 0.00.",
        ),
        ("output", (1, 0), "“b” leaves with −1.46 in dimension 1; head 1 adds −1.46 to this number."),
    ],
)
def test_what_is_said_of_numbers_made_by_hand(name, index, text):
    assert said(MADE, name, index) == text


@pytest.mark.parametrize(
    ("trace", "name", "index", "begins"),
    [
        # cos 0 = 1 is added
        (
            "causal",
            "x",
            (0, 1),
            "“the” enters with 0.02 in dimension 2: −0.98 from its embedding and 1.00 from its position.",
        ),
        ("causal", "positions", (0, 1), "1.00 is added in dimension 2 of “the”, because of its position."),
        ("unscaled", "scaled", (0, 0, 1), "The score of “the” with “cat” stays "),
        ("one word", "scores", (1, 0, 0), "“alone” scores −1.23 with “alone”, its only key; dimension 3 adds "),
        (
            "one word",
            "attention",
            (0, 0, 0),
            "“alone” gives “alone” 100 %, as it sees no other key.",
        ),
        ("one word, hidden", "attention", (0, 0, 0), "“alone” sees no key in head 1, so it gives nothing to any."),
        ("ties", "attention", (0, 0, 1), "“a” gives “a (2)” 25 %: its scaled score "),
        ("projected", "v", (0, 0, 0), "“1” passes on 1.00 in dimension 1, as it is given."),
        ("negative", "attention", (0, 0, 1), "“1” gives “2” 0 %: its score 0.00 over 3.10, the sum of its row."),
        ("added mask", "mask", (0, 1), "To the score of “1” with “2” the mask adds −∞; −∞ hides a key."),
        ("added mask", "masked", (0, 0, 0), "“1” sees “1”: with what the mask adds, 0.50, its masked score is "),
    ],
)
def test_how_stories_begin(trace, name, index, begins):
    assert said(TRACES[trace], name, index).startswith(begins)


@pytest.mark.parametrize(
    ("trace", "how"), [("plain", "Divided by √d_k"), ("added mask", "Multiplied by the given number")]
)
def test_scaling_leads_from_the_score_to_the_scaled_score(trace, how):
    trace = TRACES[trace]
    query, key = trace.label("query", 0), trace.label("key", 1)
    before, after = (short(trace[name].value[0, 0, 1]) for name in ("scores", "scaled"))
    assert before != after
    assert said(trace, "scaled", (0, 0, 1)) == (
        f"{how}, the score of “{query}” with “{key}”, {before}, becomes a scaled score of {after}."
    )


def test_what_is_set_by_hand_is_said_to_be_and_has_no_terms():
    trace = PLAIN.with_change("attention", (0, 2, 1), 0.5).with_change("scores", (1, 2, 0), 2.0)
    row = trace["attention"].value[0, 2].sum()
    assert said(trace, "attention", (0, 2, 1)) == (
        f"“sat” gives “cat” 50 %, as you set it by hand; its row now adds up to {short(row)}."
    )
    assert said(trace, "scores", (1, 2, 0)) == ("This number is set to 2.00 by hand; what follows is recomputed.")
    ranked = said(trace, "attention", (1, 2, 0))
    assert re.fullmatch(r"“sat” gives “the” \d+ %: its scaled score 1\.00 is highest of three\.", ranked)


def test_the_parts_of_an_output_are_not_said_once_they_do_not_add_up():
    assert "head 1 adds" in said(PLAIN, "output", (0, 0))
    assert "adds" not in said(PLAIN.with_change("concat", (2, 0), 1.0), "output", (0, 0))


def test_the_largest_term_may_be_the_bias_and_is_then_not_sought_among_the_dimensions():
    assert said(BIASED, "q", (0, 0, 0)).endswith("its input times a column of parameters, and a bias.")


def test_a_residual_is_said_to_be_what_entered_and_what_attention_adds():
    trace = TRACES["two layers that learnt"]
    entered, added, both = (short(trace[name].value[1, 3]) for name in ("residual_1", "output_2", "residual_2"))
    assert told(trace, "residual_2", (1, 3), FIRST) == (
        f"“saw” goes on with {both} in dimension 4: {entered} entered the layer, attention adds {added}."
    )


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
