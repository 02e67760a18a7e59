"""Pictures: each holds what its stage is computed from, rows and columns meet; scales and the map."""

from itertools import product

import numpy as np
import pytest
from cases import of_each
from passes import TRACES

from attnviz import Settings, trace_of
from attnviz.core.selection import Selection
from attnviz.explain.pictures import MAX_HEADS_SIDE_BY_SIDE, limits, map_of, pictures
from attnviz.explain.steps import entry, steps_of
from attnviz.models import MODELS

EVERYTHING = trace_of(Settings("the cat sat on", mask="causal", positions="sinusoidal"))


def drawn(trace):
    return [(step, picture) for step in steps_of(trace) for picture in pictures(trace, step.stages)]


def lengths(trace, slot):
    shape = trace[slot.stage].shape
    return (1 if slot.rows is None else shape[slot.rows], shape[slot.columns])


@of_each("name", [*TRACES])
def test_every_stage_is_drawn_once_with_its_inputs(name):
    trace = TRACES[name]
    results = [slot.stage for _, picture in drawn(trace) for slot in picture.matrices if slot.result]
    shown = {stage for step in steps_of(trace) for stage in step.stages}
    assert sorted(results) == sorted(shown)
    for _, picture in drawn(trace):
        there = {slot.stage for slot in picture.matrices}
        for slot in picture.matrices:
            if slot.result and not slot.stage.startswith("contributions"):
                assert set(trace[slot.stage].inputs) <= there


@of_each("name", [*TRACES])
def test_grid_rows_and_columns_align(name):
    trace = TRACES[name]
    for _, picture in drawn(trace):
        if len(picture.grid) == 1:
            continue
        for row in picture.grid:
            assert len({lengths(trace, slot)[0] for slot in row if slot}) == 1
        for column in zip(*picture.grid, strict=True):
            assert len({lengths(trace, slot)[1] for slot in column if slot}) == 1


@of_each("name", [*TRACES])
def test_product_is_row_times_column(name):
    """The row at its left and the column above it, multiplied and added up, and what is added to them."""
    trace = TRACES[name]
    for _, picture in drawn(trace):
        if len(picture.grid) < 2 or picture.matrices[0].stage.startswith("contributions"):
            continue
        *above, (left, *results) = picture.grid
        for place, result in enumerate(results, 1):
            tops = [row[place] for row in above if row[place]]
            if not tops:
                continue  # a softmax of what stands at its left
            first, *added = tops
            for head in range(max(each.shape[0] if each.is_headed else 1 for each in read(trace, picture))):
                row, column = (cut(trace, slot, head) for slot in (left, first))
                expected = row @ column + sum(cut(trace, slot, head) for slot in added)
                assert np.allclose(expected, cut(trace, result, head), atol=1e-9)


def read(trace, picture):
    return [trace[slot.stage] for slot in picture.matrices]


def cut(trace, slot, head):
    stage = trace[slot.stage]
    places = [axis.place(Selection(head=head)) for axis in trace.axes(slot.stage)]
    index = [
        place if axis in ("head", "group") else slice(None) for axis, place in zip(stage.axes, places, strict=True)
    ]
    matrix = stage.value[tuple(index)]
    rows_last = slot.rows is not None and slot.rows > slot.columns
    return matrix.T if rows_last else np.atleast_2d(matrix)


LEARNT = TRACES["two layers that learnt"]
GRIDS = {
    "queries, keys and values share their input": (EVERYTHING, "q k v", "- w_q w_k w_v / x q k v"),
    "keys stand above scores": (EVERYTHING, "scores", "- k / q scores"),
    "what is computed place by place": (EVERYTHING, "masked", "scaled mask masked"),
    "logits and their softmax": (LEARNT, "logits probabilities", "- w_u - / residual_2 logits probabilities"),
    "a residual": (LEARNT, "residual_2", "residual_1 output_2 residual_2"),
}


@of_each("case", GRIDS)
def test_matrix_grids(case):
    trace, stages, expected = case
    (picture,) = pictures(trace, tuple(stages.split()))
    rows = [" ".join(slot.stage if slot else "-" for slot in row) for row in picture.grid]
    assert " / ".join(rows) == expected
    assert picture.turns == (stages == "masked" or stages == "residual_2")


def test_axes_and_signs():
    def signs(trace, *stages):
        return [slot.sign for slot in pictures(trace, stages)[0].matrices]

    ((_, keys), (queries, scores)) = pictures(EVERYTHING, ("scores",))[0].grid
    assert [(slot.rows, slot.columns) for slot in (keys, queries, scores)] == [(2, 1), (1, 2), (1, 2)], "transposed"
    assert signs(EVERYTHING, "masked") == ["", "where", "="]
    assert signs(LEARNT, "logits", "probabilities") == ["×", "", "", "softmax"]
    assert signs(LEARNT, "residual_2") == ["", "+", "="]
    context = trace_of(Settings("the cat", context="der Hund schläft"))
    assert [[slot.stage for slot in picture.matrices] for picture in pictures(context, ("q", "k", "v"))] == [
        *(["w_q", "x", "q"], ["w_k", "w_v", "context", "k", "v"])
    ]


def test_contributions_stand_above_the_output():
    by_hand = EVERYTHING.with_change("output", (0, 0), 3.0)
    for trace, signs in (
        (EVERYTHING, ["", "added up:"]),
        (TRACES["bias"], ["", "+", "added up:"]),
        (by_hand, ["", ""]),
    ):
        step, picture = drawn(trace)[-1]
        heads, *bias, row = picture.matrices
        assert (step.id, [slot.sign for slot in picture.matrices]) == ("output", signs)
        assert (heads.stage, heads.rows, heads.columns) == ("contributions", 0, 2)
        assert (row.stage, row.rows, row.columns) == ("output", None, 1)
        assert [slot.stage for slot in bias] == ["b_o"] * (trace is TRACES["bias"])


def test_only_attention_shows_row_sums():
    sums = {slot.stage for _, picture in drawn(EVERYTHING) for slot in picture.matrices if slot.sums}
    assert sums == {"attention"}
    (answer,) = pictures(TRACES["a model"], ("logits", "probabilities"))
    assert [slot.stage for slot in answer.matrices if slot.sums] == ["probabilities"]


@pytest.mark.parametrize("n_heads", [1, 2, 8, 16])
def test_heads_stand_side_by_side_up_to_eight(n_heads):
    (picture,) = pictures(trace_of(Settings("a b", d_model=16, n_heads=n_heads)), ("concat",))
    *heads, concat = picture.matrices
    if n_heads <= MAX_HEADS_SIDE_BY_SIDE:
        assert [slot.fixed for slot in heads] == [{0: head} for head in range(n_heads)]
    else:
        assert [slot.fixed for slot in heads] == [{}]
    assert concat.stage == "concat"


@of_each("name", [*TRACES])
def test_scale_reaches_the_largest_number(name):
    trace = TRACES[name]
    found = limits(trace, steps_of(trace))
    sizes = {s.name: np.abs(s.value[np.isfinite(s.value)].astype(float)).max(initial=0) for s in trace.stages}
    assert found.keys() == sizes.keys()
    for stage, limit in found.items():
        if entry(stage).scale == "share":
            assert limit in (1.0, sizes[stage]), "one is the whole; of rows over their sums it may be passed"
            continue
        assert limit in {size or 1.0 for size in sizes.values()}
        assert limit >= sizes[stage]


def test_related_stages_share_a_scale():
    found = limits(EVERYTHING, steps_of(EVERYTHING))
    for kind in (
        ("embeddings", "positions", "x"),
        ("w_q", "w_k", "w_v"),
        ("q", "k", "v"),
        ("scores", "scaled", "masked"),
        ("heads", "concat"),
        ("contributions", "output"),
    ):
        assert len({found[name] for name in kind}) == 1, kind
    for one, other in product(("q", "scores", "heads"), ("w_q", "output", "embeddings")):
        assert found[one] != found[other]


@of_each("name", [*TRACES])
def test_map_arrows_follow_inputs(name):
    trace = TRACES[name]
    drawn_map = map_of(trace, steps_of(trace))
    shown = [stage for column in drawn_map.columns for stage in column.stages]
    assert len(set(shown)) == len(shown)
    for target in shown:
        sources = {source for source, to in drawn_map.arrows if to == target}
        assert sources == reached(trace, target, set(shown))


def reached(trace, name, shown):
    """The shown stages that a stage is computed from, with none between."""
    found, waiting = set(), list(trace[name].inputs)
    while waiting:
        read = waiting.pop()
        if read in shown:
            found.add(read)
        else:
            waiting += trace[read].inputs
    return found


def test_matrices_by_hand_have_their_own_scales():
    built, learnt = (model.at(0).trace(model.examples[0][1]) for model in (MODELS["by-hand"], MODELS["recall"]))
    own, shared = (limits(trace, steps_of(trace)) for trace in (built, learnt))
    names = ("w_q_1", "w_k_1", "w_v_1")
    assert [own[name] for name in names] == [np.abs(built[name].value).max() for name in names]
    assert {shared[name] for name in names} == {max(np.abs(learnt[name].value).max() for name in names)}


def test_layer_input_keeps_its_scale():
    model = MODELS["recall"]
    trace = model.at(0).trace(model.examples[0][1])
    found = limits(trace, steps_of(trace))
    assert found["x"] == found["embeddings"] < found["residual_1"] < found["residual_2"]
    assert found["residual_1"] == found["output_1"]
