"""Axes: a selection finds its cell of every stage, and a cell its selection, in any pass."""

import numpy as np
from cases import of_each, spread
from hypothesis import given, settings
from hypothesis import strategies as st
from passes import TRACES

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core.selection import Axis, Selection
from attnviz.examples import EXAMPLES
from attnviz.models import MODELS


def array(*shape):
    return np.random.RandomState(sum(shape)).standard_normal(shape)


PASSES = {
    "own sentence": trace_of(Settings("the cat sat on", mask="causal")),
    "another sentence": trace_of(Settings("the cat", context="le chat noir", d_model=6, n_heads=3)),
    "primes": attend(
        array(3, 13),
        array(5, 17),
        parameters=Parameters(
            w_q=array(2, 13, 7), w_k=array(2, 17, 7), w_v=array(2, 17, 11), w_o=array(22, 19), b_v=array(2, 11)
        ),
    ),
    "values alone are projected": attend(array(3, 4), parameters=Parameters(w_v=array(2, 4, 11))),
    "layers of other lengths": TRACES["layers of other lengths"],
    "groups": TRACES["groups"],
    "built by hand": MODELS["by-hand"].at(0).trace("a b c a"),
    **{f"{e.id} {v.id}": v.trace for e in EXAMPLES.values() for v in e.variants},
}
ANY_PASS = of_each("trace", PASSES)
selections = st.builds(Selection, *[st.integers(0, 9998)] * 5)


@ANY_PASS
@settings(deadline=None, max_examples=8)
@given(selection=selections)
def test_a_selection_within_a_pass_is_a_cell_of_every_stage(trace, selection):
    inside = selection.within(trace)
    assert inside.within(trace) == inside
    for stage in trace.stages:
        cell = trace.cell_at(stage.name, inside)
        assert all(0 <= place < n for place, n in zip(cell.index, stage.shape, strict=True))
        assert cell == stage.cell(cell.index)


@ANY_PASS
def test_a_cell_that_was_picked_is_the_one_selected(trace):
    elsewhere = Selection(1, 1, 1, 1, 1)
    for stage in trace.stages:
        for index in spread(stage.shape, 24):
            cell = stage.cell(index)
            selection = trace.selection_at(cell, elsewhere)
            assert trace.cell_at(stage.name, selection) == cell
            within = selection.within(trace)
            assert trace.cell_at(stage.name, Selection.parse(str(within))) == cell, "no shorter axis moves it"


@ANY_PASS
def test_one_selection_is_the_same_word_and_head_in_every_stage(trace):
    selection = Selection(1, 2, 2, 1, 1).within(trace)
    for stage in trace.stages:
        for axis, place in zip(stage.axes, trace.cell_at(stage.name, selection).index, strict=True):
            expected = {"head": "head", "query": "query", "token": "query", "key": "key", "context token": "key"}
            if axis in expected:
                assert place == getattr(selection, expected[axis])


def test_a_selection_of_a_longer_axis_is_the_end_of_a_shorter_one_and_stays_what_it_is():
    trace = PASSES["built by hand"]
    selection = trace.selection_at(trace["q_1"].cell((0, 2, 5)), Selection()).within(trace)
    assert selection.feature == 5
    assert [trace.cell_at(name, selection).index for name in ("q_1", "q_2")] == [(0, 2, 5), (0, 2, 4)]


@given(st.integers(1, 7), st.integers(1, 7), st.data())
def test_places_and_coordinates_of_an_axis_are_one_to_one(n_heads, width, data):
    axis = Axis.of("heads * d_v", n_heads * width, n_heads=n_heads)
    places = [axis.place(Selection(head=head, feature=i)) for head in range(n_heads) for i in range(width)]
    assert places == list(range(axis.length))
    place = data.draw(st.sampled_from(places))
    assert axis.place(Selection(**axis.coordinates_at(place))) == place


def test_an_axis_has_a_label_for_every_place():
    assert Axis.of("head", 2, n_heads=2).labels == ("head 1", "head 2")
    assert Axis.of("query", 2, n_heads=2, words=("the", "cat")).label(1) == "cat"
    assert Axis.of("heads * d_v", 4, n_heads=2).labels == ("1", "2", "3", "4")
