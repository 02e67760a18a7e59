"""What moved and what would move, in numbers near the end of float64."""

import numpy as np
import pytest
from passes import MODELS, TRACES

from attnviz import Parameters, attend, models
from attnviz.analysis.flips import Flip, StageFlip
from attnviz.analysis.provenance import gradients
from attnviz.analysis.row_ranking import ranking_of
from attnviz.core.changes import Change
from attnviz.core.numerals import digits
from attnviz.explain import change_sentences
from attnviz.explain.flips import sentences

BIG = 1.5e308
MADE = attend(
    np.array([[3.0, 0.0], [-1.0, 1.0], [0.0, 2.0]]),
    parameters=Parameters(w_q=np.eye(2)[None], w_o=np.array([[3.0, 0.0], [0.0, 4.0]])),
).labelled(token=("a", "b", "c"), query=("a", "b", "c"), key=("a", "b", "c"))


def test_caption_near_the_end_of_float64():
    before = MADE.with_change("output", (0, 0), -BIG)
    after = before.with_change("output", (0, 0), BIG)
    assert change_sentences.caption(before, after, "output") == (
        "Output: only the row of “a” changed, by more than 1.79e308 at most."
    )
    assert change_sentences.caption(MADE, MADE.with_change("output", (0, 0), 1e308), "output").endswith(
        "“a” changed, by 1.00e308 at most."
    )


def test_caption_names_hidden_pair_and_unchanged_rows():
    before, hidden = TRACES["causal"], TRACES["causal"].with_change("mask", (2, 1), 0.0)
    tokens = before.labels["query"]
    first, second = (
        f"Masked scores: “{tokens[2]}” {can} see “{tokens[1]}” in head 1; " for can in ("can no longer", "can")
    )
    rows = before["masked"].value != hidden["masked"].value
    n_rows, n_still = rows.any(axis=-1).size, np.count_nonzero(~rows.any(axis=-1))
    stayed = f"{n_still} of {n_rows} rows did not change."
    assert 0 < n_still < n_rows - 1
    assert n_still != n_rows / 2
    assert change_sentences.caption(before, hidden, "masked") == first + stayed
    assert change_sentences.caption(hidden, before, "masked") == second + stayed


def test_caption_names_the_layer():
    before = MODELS["two layers that learnt"]
    after = before.with_change("heads_1", (1,), 0.0)
    assert change_sentences.caption(before, after, "masked_2").startswith("Masked scores of layer 2: the row of “")
    assert change_sentences.caption(before, after, "probabilities").startswith("Probabilities: the row of “")
    (change,) = after.changes
    assert change_sentences.describe_change(before, change) == "Head outputs of layer 1 of head 2, all of them = 0"
    assert (
        change_sentences.describe_change(before, Change("scores_2", (0, 1, 1), 2.0)) == "scores_2[head 1, saw, saw] = 2"
    )


def test_slopes_near_the_end_of_float64():
    found = gradients(MADE, "output", (0, 0))
    rows = np.array([[1.3e308, 1.3e308], [1.0, 1.0], [BIG, BIG]])  # the lengths of two are beyond float64
    found |= {"x": rows, "w_o": np.full((2, 2), -BIG)}
    assert change_sentences.steepest(MADE, "output", (0, 0), found) == (
        "output[a, 1] moves most with the word “c” (slope more than 1.79e308) and with the parameter "
        "w_o[1, 1] (slope −1.50e308)."
    )


def steepest_in_row(trace, name, index):
    """The largest slope that any score of a row has along any number of the row."""
    source, row = trace[name].inputs[0], index[:-1]
    places = range(trace[name].shape[-1])
    return max(np.abs(gradients(trace, name, (*row, at))[source][row]).max() for at in places)


@pytest.mark.parametrize("name", ["attention", "probabilities"])
def test_saturated_row_states_its_largest_slope(name):
    trace = models.MODELS["who-is-it"].at(0, None).trace("the animal did not cross the street because it was too wide")
    saturated = 0
    for index in np.ndindex(trace[name].shape):
        text = change_sentences.steepest(trace, name, index, gradients(trace, name, index))
        row = trace[name].value[index[:-1]]
        assert ("saturated" in text) == (row.max() > 0.99)
        if "saturated" not in text:
            continue
        assert f"“{trace.axes(name)[-1].label(row.argmax())}” has {digits(row.max())} of it" in text
        assert f"faster than the product of the two, {digits(steepest_in_row(trace, name, index))};" in text
        saturated += 1
    assert saturated >= 2


def test_saturated_row_mentions_the_sink():
    eye = 2 * np.eye(3)[None]
    trace = attend(2 * np.eye(3), parameters=Parameters(w_q=eye, w_k=eye, w_v=eye, sinks=np.array([1.0])))
    for index in np.ndindex(trace["attention"].shape):
        text = change_sentences.steepest(trace, "attention", index, gradients(trace, "attention", index))
        assert "all other keys and the sink together" in text
        assert f"faster than the product of the two, {digits(steepest_in_row(trace, 'attention', index))};" in text


def test_hand_set_or_single_row_is_not_saturated():
    for trace in (MADE.with_change("attention", (0, 0, 0), 1.0), TRACES["window 0"]):
        assert "saturated" not in change_sentences.steepest(
            trace, "attention", (0, 0, 0), gradients(trace, "attention", (0, 0, 0))
        )


def test_change_uses_screen_numerals():
    for value, text in [(-np.inf, "−∞"), (1e10, "1e10"), (-1e-7, "−1e−7"), (0.25, "0.25")]:
        assert (
            change_sentences.describe_change(MADE, Change("masked", (0, 1, 0), value))
            == f"masked[head 1, b, a] = {text}"
        )


def test_repeated_flip_is_told_once():
    trace = MODELS["a model"]
    ranking = ranking_of(trace, "probabilities", (4, 0))
    one, other = (trace[name].cell((4, 1)) for name in ("embeddings", "x"))

    def told(cell, winner):
        flips = [Flip(one, one.value + 1, one.value + 1.01, 1), Flip(cell, cell.value + 1, cell.value + 1.01, winner)]
        return len(sentences(trace, ranking, [StageFlip(each.cell.stage, each, 1.0) for each in flips]))

    assert told(other, 1) == 1
    assert told(other, 2) == told(trace["x"].cell((3, 1)), 1) == 2
