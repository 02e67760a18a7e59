"""Pictures: each holds what its stage is computed from, placed so that rows and columns meet; scales and the map."""

from itertools import product

import numpy as np
import pytest
from cases import of_each
from passes import TRACES

from attnviz import Settings, trace_of
from attnviz.core.selection import Selection
from attnviz.explain.pictures import MAX_HEADS_APART, limits, map_of, pictures
from attnviz.explain.steps import entry, steps_of

EVERYTHING = trace_of(Settings("the cat sat on", mask="causal", positions="sinusoidal"))


def drawn(trace):
    return [(step, picture) for step in steps_of(trace) for picture in pictures(trace, step.stages)]


def lengths(trace, slot):
    """How many rows and columns a matrix has."""
    shape = trace[slot.stage].shape
    return (1 if slot.rows is None else shape[slot.rows], shape[slot.columns])


@of_each("name", [*TRACES])
def test_every_stage_of_a_step_is_the_result_of_one_picture_beside_all_that_it_is_computed_from(name):
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
def test_matrices_in_one_row_of_a_grid_have_the_same_rows_and_in_one_column_the_same_columns(name):
    trace = TRACES[name]
    for _, picture in drawn(trace):
        if len(picture.grid) == 1:
            continue
        for row in picture.grid:
            assert len({lengths(trace, slot)[0] for slot in row if slot}) == 1
        for column in zip(*picture.grid, strict=True):
            assert len({lengths(trace, slot)[1] for slot in column if slot}) == 1


@of_each("name", [*TRACES])
def test_in_a_product_a_number_is_its_row_times_its_column(name):
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
    """The matrix of a slot for one head."""
    stage = trace[slot.stage]
    places = [axis.place(Selection(head=head)) for axis in trace.axes(slot.stage)]
    index = [
        place if axis in ("head", "group") else slice(None) for axis, place in zip(stage.axes, places, strict=True)
    ]
    matrix = stage.value[tuple(index)]
    rows_last = slot.rows is not None and slot.rows > slot.columns
    return matrix.T if rows_last else np.atleast_2d(matrix)


def test_queries_keys_and_values_share_the_input_they_are_projected_from():
    (picture,) = pictures(EVERYTHING, ("q", "k", "v"))
    assert [[slot and slot.stage for slot in row] for row in picture.grid] == [
        [None, "w_q", "w_k", "w_v"],
        ["x", "q", "k", "v"],
    ]
    context = trace_of(Settings("the cat", context="der Hund schläft"))
    assert [[slot.stage for slot in picture.matrices] for picture in pictures(context, ("q", "k", "v"))] == [
        ["w_q", "x", "q"],
        ["w_k", "w_v", "context", "k", "v"],
    ]


def test_scores_have_the_keys_above_them_transposed():
    (picture,) = pictures(EVERYTHING, ("scores",))
    (_, keys), (queries, scores) = picture.grid
    assert (keys.stage, keys.rows, keys.columns) == ("k", 2, 1)
    assert (queries.stage, queries.rows, queries.columns) == ("q", 1, 2)
    assert (scores.rows, scores.columns, scores.result, scores.sums) == (1, 2, True, False)


def test_what_is_computed_place_by_place_stands_in_a_row_that_may_turn():
    (picture,) = pictures(EVERYTHING, ("masked",))
    assert [(slot.stage, slot.sign) for slot in picture.matrices] == [
        ("scaled", ""),
        ("mask", "where"),
        ("masked", "="),
    ]
    assert picture.turns
    assert not pictures(EVERYTHING, ("scores",))[0].turns


def test_logits_stand_below_their_matrix_and_beside_their_softmax():
    (picture,) = pictures(TRACES["two layers that learnt"], ("logits", "probabilities"))
    assert [[slot and (slot.stage, slot.sign) for slot in row] for row in picture.grid] == [
        [None, ("w_u", "×"), None],
        [("residual_2", ""), ("logits", ""), ("probabilities", "softmax")],
    ]


def test_a_residual_stands_behind_what_entered_and_what_is_added():
    (picture,) = pictures(TRACES["two layers that learnt"], ("residual_2",))
    assert [(slot.stage, slot.sign) for slot in picture.matrices] == [
        ("residual_1", ""),
        ("output_2", "+"),
        ("residual_2", "="),
    ]


def test_attention_alone_shows_its_rows_sums():
    sums = {slot.stage for _, picture in drawn(EVERYTHING) for slot in picture.matrices if slot.sums}
    assert sums == {"attention"}
    (answer,) = pictures(TRACES["a model"], ("logits", "probabilities"))
    assert [slot.stage for slot in answer.matrices if slot.sums] == ["probabilities"]


@pytest.mark.parametrize("n_heads", [1, 2, 8, 16])
def test_the_heads_stand_side_by_side_or_beyond_eight_the_selected_one(n_heads):
    (picture,) = pictures(trace_of(Settings("a b", d_model=16, n_heads=n_heads)), ("concat",))
    *heads, concat = picture.matrices
    if n_heads <= MAX_HEADS_APART:
        assert [slot.fixed for slot in heads] == [{0: head} for head in range(n_heads)]
    else:
        assert [slot.fixed for slot in heads] == [{}]
    assert concat.stage == "concat"


def test_contributions_stand_above_the_row_of_the_output_that_they_add_up_to():
    *_, (step, picture) = drawn(EVERYTHING)
    assert step.id == "output"
    (heads,), (row,) = picture.grid
    assert (heads.stage, heads.rows, heads.columns) == ("contributions", 0, 2)
    assert (row.stage, row.rows, row.columns) == ("output", None, 1)


def test_the_bias_stands_between_and_nothing_is_said_to_add_up_that_does_not():
    *_, (_, picture) = drawn(TRACES["bias"])
    assert [(slot.stage, slot.sign) for slot in picture.matrices] == [
        ("contributions", ""),
        ("b_o", "+"),
        ("output", "added up:"),
    ]
    *_, (_, picture) = drawn(EVERYTHING.with_change("output", (0, 0), 3.0))
    assert [slot.sign for slot in picture.matrices] == ["", ""]


@of_each("name", [*TRACES])
def test_a_scale_reaches_the_largest_number_of_its_kind(name):
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


def test_what_holds_the_same_kind_of_number_shares_a_scale():
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
def test_an_arrow_leads_to_each_stage_from_all_that_it_comes_from(name):
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
