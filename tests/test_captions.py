"""Captions say the facts: in sentences that are English, true of hand-made numbers, and finite whatever the numbers."""

import re

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from passes import ROWS, TRACES, selections

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.analysis.gradients import gradients
from attnviz.core.selection import Selection
from attnviz.text import movement
from attnviz.text.captions import caption, summary
from attnviz.text.vocabulary import VOCABULARY
from attnviz.text.wording import number

FIRST = Selection(0, 0, 0, 0, 0)
CAPTIONED = [name for name, entry in VOCABULARY.items() if entry.caption]
# "b" sees "a" and itself: scores (-3, 1), scaled by 1, and shares e^-3 and e^1 over their sum: 0.018 and 0.982
MADE = attend(
    np.array([[3.0, 0.0], [-1.0, 1.0], [0.0, 2.0]]),
    parameters=Parameters(w_q=np.eye(2)[None], w_o=np.array([[3.0, 0.0], [0.0, 4.0]])),
    mask=np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0]], dtype=bool),
).labelled(token=("a", "b", "c"), query=("a", "b", "c"), key=("a", "b", "c"))
BIG = 1.5e308


@pytest.mark.parametrize(
    ("name", "query", "sentence"),
    [
        ("x", 1, "“b” enters as 2 numbers between −1.00 and 1.00."),
        ("q", 0, "In head 1 “a” asks with 2 numbers (made from its 2); the largest in size is 3.00, at place 1."),
        (
            "q",
            1,
            "In head 1 “b” asks with 2 numbers (made from its 2); the largest in size is 1.00, at places 1 and 2.",
        ),
        ("scores", 0, "In head 1 “a” scores highest with “a” (9.00) and lowest with “b” (−3.00)."),
        ("scores", 1, "In head 1 “b” scores highest with “b” and “c” (2.00) and lowest with “a” (−3.00)."),
        (
            "masked",
            1,
            "6 of 9 pairs are hidden in head 1; “b” sees “a” and “b”. “c” sees no key there: attention is zeros.",
        ),
        ("masked", 2, "6 of 9 pairs are hidden in head 1; “c” sees no key."),
        ("attention", 0, "In head 1 “a” sees “a” alone: its share is 1.00. “c” sees no key there: attention is zeros."),
        # scores -3 and 2 over the square root of 2: shares 1 to e^3.5355 = 34.3
        (
            "attention",
            1,
            "In head 1 “b” looks most at “b”: 0.97, 1.94 times an even share (1/2). "
            "“c” sees no key there: attention is zeros.",
        ),
        ("attention", 2, "In head 1 “c” sees no key, so its row is zeros."),
        ("heads", 0, "What head 1 makes of “a” is all “a”."),
        ("heads", 1, "What head 1 makes of “b” is 97% “b” and 3% “a”."),
        ("heads", 2, "“c” sees no key in head 1, so nothing is mixed and its row is zeros."),
        ("concat", 0, "1 head with 2 numbers makes one row of 2 numbers for each query. No number changes."),
        ("contributions", 0, "Head 1 adds a vector of length 9.00 to the output of “a”, whose length is 9.00."),
        ("contributions", 2, "Head 1 adds nothing to the output of “c”: its part is zeros."),
        ("output", 0, "“a” leaves as a vector of length 9.00. The only head adds a part of length 9.00."),
        ("output", 2, "“c” leaves as a vector of length 0.00. No head adds anything to it."),
    ],
)
def test_a_caption_of_numbers_made_by_hand(name, query, sentence):
    assert caption(MADE, name, Selection(0, query, query, 0, 0)) == sentence


@pytest.mark.parametrize(
    ("trace", "name", "says"),
    [
        (
            "plain",
            "embeddings",
            "It is the same vector as that of “the (2)”: a word's embedding depends on the word and",
        ),
        ("plain", "x", "Nothing is added to the embeddings, so “the” would enter as the same vector at any place"),
        ("plain", "attention", "“the” looks most at “the” and “the (2)”: 0.29 each, 1.74 times an even share (1/6)."),
        ("plain", "concat", "2 heads with 4 numbers each make one row of 8 numbers for each query."),
        ("causal", "x", "Place 1 moves “the” by 2.00, where its embedding is"),  # cos 0 = 1, four times
        ("ties", "scores", "has the same score with all 4 keys: "),
        ("ties", "attention", "“a” divides its attention evenly among the 4 keys that it sees: 0.25 each."),
        ("ties", "heads", "What head 1 makes of “a” is 25% each of “a”, “a (2)”, “a (3)” and “a (4)”."),
        ("many ties", "heads", "% “b” and 7% each of “a”, “a (2)”, “a (3)”, “a (4)”, “a (5)” and 4 more."),
        ("one word", "scores", "In head 1 “alone” has one key to look at, “alone”, and scores "),
        ("one word", "scaled", "Dividing by √4 = 2.00 brings head 1's only score from "),
        ("d_k = 1", "scaled", "Dividing by √1 = 1.00 leaves the spread (standard deviation) of head 1's scores at "),
        ("unscaled", "scaled", "Scaling is off, which leaves the spread (standard deviation) of head 1's scores at "),
        ("added mask", "scaled", "Multiplying by −0.5 brings the spread (standard deviation) of head 1's scores from "),
        ("added mask", "masked", " To the scores that stay it adds from 0.00 to 0.50."),
        ("plain", "masked", "Nothing is hidden in head 1: every query sees every key."),
        ("small shares", "heads", "What head 1 makes of “1” is a little of each of 300 keys."),
        ("negative", "attention", "“3” has a share below 0."),
        ("projected", "v", "passes on 2 numbers (as they are given): 1.00 each."),
        ("context", "k", "“der” answers to 3 numbers (made from its 6)"),
        ("bare context", "scores", "“\u2068שלום\u2069”"),  # marks keep the sentence in order
        ("equal parts", "output", "The parts that the 2 heads add are equally long: "),
        (
            "plain",
            "output",
            "Of the parts that the heads add, the longest has length 1.20, from head 1, and the shortest",
        ),
    ],
)
def test_what_captions_say(trace, name, says):
    assert says in caption(TRACES[trace], name, FIRST)


def test_a_caption_says_that_numbers_are_set_by_hand_in_its_head_or_row_alone():
    trace = MADE.with_change("heads", (0, 1), 0.0).with_change("x", (2, 0), 7.0)
    assert caption(trace, "heads", FIRST).endswith(" 2 numbers of head 1 are set by hand.")
    assert caption(trace, "x", Selection(0, 2, 2, 0, 0)).endswith(" 1 number of row 3 is set by hand.")
    assert "set by hand" not in caption(trace, "x", FIRST)
    two = TRACES["plain"].with_change("heads", (1, 0, 0), 0.0)
    assert "set by hand" not in caption(two, "heads", FIRST)


def test_a_concatenation_set_by_hand_is_not_said_to_change_no_number():
    row = "1 head with 2 numbers makes one row of 2 numbers for each query."
    trace = MADE.with_change("concat", (1, 0), 5.0)
    assert caption(trace, "concat", Selection(0, 1, 1, 0, 0)) == f"{row} 1 number of row 2 is set by hand."
    assert caption(trace, "concat", FIRST) == row


def test_scores_that_scaling_leaves_in_order_are_said_to_be_so_unless_a_scaled_one_is_set_out_of_it():
    stays, trace = "their order stays", TRACES["plain"]
    assert stays in caption(trace, "scaled", FIRST)
    assert stays in caption(trace.with_change("scores", (0, 1, 0), -50.0), "scaled", FIRST)
    by_hand = trace.with_change("scaled", (0, 1, 0), -50.0)
    assert stays not in caption(by_hand, "scaled", FIRST)
    assert stays in caption(by_hand, "scaled", Selection(1, 0, 0, 0, 0))
    assert stays not in caption(trace.with_change("scaled", (0,), 1.0), "scaled", FIRST)


def test_an_output_set_by_hand_is_not_said_to_be_what_the_heads_add():
    assert "add" not in caption(MADE.with_change("concat", (0, 0), 5.0), "output", FIRST)


def numbers_of(trace, name, selection):
    """All that the caption of a stage may name of it, computed from the arrays alone."""
    stage = trace[name].value
    row = selection.key if trace[name].axes[-2] in ("key", "context token") else selection.query
    line = stage[selection.head, row] if stage.ndim == 3 else stage[row]
    line = line[np.isfinite(line)]
    seen = max(len(line), 1) if name != "attention" else np.isfinite(trace["masked"].value[selection.head, row]).sum()
    found = [*line, *np.abs(line), *(line * seen), line.sum() / max(seen, 1), np.linalg.norm(line)]
    before = {"scaled": "scores", "x": "embeddings", "context": "context_embeddings", "masked": "mask"}.get(name)
    if name == "scaled":
        found += [np.sqrt(trace["q"].shape[-1]), *(trace[each].value[selection.head].std() for each in (name, before))]
    if name == "scaled":
        found += [
            trace[before].value[selection.head, 0, 0],
            stage[selection.head, 0, 0],
            trace[name].operation.factor or 0,
        ]
    elif name == "masked":
        found += [*np.ravel(trace["mask"].value).astype(float)]
    elif before in trace:
        found += [np.linalg.norm(line - trace[before].value[row]), np.linalg.norm(trace[before].value[row])]
    if name in ("contributions", "output"):
        found += [
            np.linalg.norm(trace["output"].value[row]),
            *np.linalg.norm(trace["contributions"].value[:, row], axis=-1),
        ]
    return [each for each in found if np.isfinite(each)]


def check(trace, selection):
    for name in CAPTIONED:
        if name not in trace:
            continue
        text = caption(trace, name, selection)
        check_english(text)
        assert 1 <= len(re.findall(r"\.(?= |$)", text)) <= 3 + ("by hand" in text), text
        may_be = numbers_of(trace, name, selection)
        for shown in re.findall(r"−?\d+\.\d\d\b", text):
            value = float(shown.replace("−", "-"))
            assert min(abs(value - each) for each in may_be) <= 0.005 + 1e-9 * abs(value), (name, text)


def check_english(text):
    assert not re.search(r"(?<![\d.])0%|\bnan|\binf\b|∞|None|[^“]-\d|−0\.00|  | [.,;:]", text), text
    assert not re.search(r"\b1 (numbers|rows|heads|keys|queries|pairs)\b", re.sub(r"of 1 pairs", "!", text)), text
    assert text.endswith(".")
    assert text.count("“") == text.count("”")
    assert text.count("\u2068") == text.count("\u2069")


@pytest.mark.parametrize("name", TRACES)
def test_every_number_in_a_caption_is_one_of_its_stage(name):
    for selection in selections(TRACES[name], most=4):
        check(TRACES[name], selection)


@hypothesis.settings(max_examples=100, deadline=None)
@given(
    st.builds(Selection, *[st.integers(0, 6)] * 3),
    st.builds(
        Settings,
        sentence=st.lists(st.sampled_from(["the", "cat", "a", "קול"]), min_size=1, max_size=7).map(" ".join),
        context=st.none() | st.lists(st.sampled_from(["der", "a"]), min_size=1, max_size=3).map(" ".join),
        d_model=st.just(6),
        n_heads=st.sampled_from([1, 2, 6]),
        mask=st.sampled_from(["none", "causal", "padding", "window"]),
        mask_size=st.integers(0, 3),
        seed=st.integers(0, 99),
        initialiser=st.sampled_from(["normal", "xavier", "uniform", "standard normal"]),
        positions=st.sampled_from(["none", "sinusoidal"]),
        scaled=st.booleans(),
    ),
)
def test_every_number_in_a_caption_is_one_of_its_stage_whatever_is_picked(selection, settings):
    trace = trace_of(settings)
    check(trace, selection.within(trace))


@pytest.mark.parametrize("name", TRACES)
def test_the_summary_counts_what_there_is(name):
    trace = TRACES[name]
    text = summary(trace)
    check_english(text)
    counts = [int(each.replace(",", "")) for each in re.findall(r"\d[\d,]*", text)]
    last = trace["output" if "output" in trace else "concat"]
    everything = sum(len(stage.value.ravel()) for stage in trace.stages)
    parameters = sum(
        trace[f"{kind}_{letter}"].value.size for kind in "wb" for letter in "qkvo" if f"{kind}_{letter}" in trace
    )
    assert counts == [trace["q"].shape[1], trace["k"].shape[1], *last.shape, everything, parameters]


@pytest.mark.parametrize("trace", ["causal", "context", "added mask", "bias", "negative"])
@pytest.mark.parametrize("pattern", [(BIG,), (-BIG,), (BIG, -BIG), (BIG, 0.5), (BIG, BIG, 1.0)])
def test_captions_of_numbers_near_the_end_of_float64_are_finite(trace, pattern):
    trace = TRACES[trace]
    for name in CAPTIONED:
        if name in trace:
            old = trace[name].value
            values = np.where(np.isfinite(old), np.resize(pattern, old.shape), old)
            huge = trace.with_values({name: values})
            for selection in selections(huge, most=3):
                for stage in CAPTIONED:
                    if stage in huge:
                        text = caption(huge, stage, selection)
                        check_english(text)
                        assert len(text) < 400, "no number is written with three hundred digits"


def test_a_number_set_by_hand_to_1e308_is_said_as_it_is():
    trace = attend(ROWS * 0.1, parameters=Parameters()).with_change("attention", (0, 0, 1), 1e308)
    times = "more than 1.79e308 times an even share (1/5)."
    assert f"looks most at “2”: 1.00e308, {times}" in caption(trace, "attention", FIRST)
    mixture = "What head 1 makes of “1” is 1.00e308 times “2” and 20% each of “1”, “3”, “4” and “5”."
    assert caption(trace, "heads", FIRST) == mixture


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


def test_what_moved_between_numbers_near_the_end_of_float64():
    before = MADE.with_change("output", (0, 0), -BIG)
    after = before.with_change("output", (0, 0), BIG)
    assert movement.caption(before, after, "output") == (
        "The output of “a” moved by more than 1.79e308; 2 of 3 rows did not move."
    )
    assert movement.caption(MADE, MADE.with_change("output", (0, 0), 1e308), "output").startswith(
        "The output of “a” moved by 1.00e308;"
    )


def test_slopes_near_the_end_of_float64_are_finite():
    found = gradients(MADE, "output", (0, 0))
    rows = np.array([[1.3e308, 1.3e308], [1.0, 1.0], [BIG, BIG]])  # the lengths of two are beyond float64
    found |= {"x": rows, "w_o": np.full((2, 2), -BIG)}
    assert movement.steepest(MADE, "output", (0, 0), found) == (
        "output[a, 1] moves most with the word “c” (slope more than 1.79e308) and with the parameter "
        "w_o[1, 1] (slope −1.50e308)."
    )


@pytest.mark.parametrize("name", ["positions", "mask", "w_q"])
def test_a_stage_that_no_step_shows_has_no_caption(name):
    with pytest.raises(KeyError, match=r"A stage with a caption is embeddings, .* got"):
        caption(TRACES["causal"], name, FIRST)
