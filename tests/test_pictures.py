"""Pictures lay out the numbers of a stage, and the marks on them, alike."""

from dataclasses import replace

import numpy as np
import pytest

from attnviz import Settings, trace_of
from attnviz.core.changes import Change
from attnviz.core.selection import Selection
from attnviz.examples import EXAMPLES
from attnviz.text.vocabulary import VOCABULARY
from attnviz.views import matrices

TRACE = trace_of(Settings("the cat sat", d_model=6, n_heads=2, mask="causal", initialiser="pytorch"))


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("name", [stage.name for stage in TRACE.stages])
def test_every_cell_of_a_picture_is_the_cell_of_its_stage(name, transposed):
    drawn = matrices.matrix(TRACE, name, Selection(1, 1, 2, 0, 3), transposed=transposed)
    for place in np.ndindex(drawn.values.shape):
        assert drawn.values[place] == TRACE[name].value[drawn.index(*place)]
    assert drawn.index(*drawn.selected) == TRACE.cell_at(name, Selection(1, 1, 2, 0, 3)).index
    assert drawn.marked is None


@pytest.mark.parametrize("name", ["w_q", "w_k", "w_v"])
def test_every_cell_of_the_one_big_matrix_is_a_head_s_own(name):
    drawn = matrices.whole(TRACE, name, Selection(1, 1, 2, 2, 3))
    for place in np.ndindex(drawn.values.shape):
        assert drawn.values[place] == TRACE[name].value[drawn.index(*place)]
    assert drawn.index(*drawn.selected) == (1, 3, 2)


def test_contributions_are_those_of_the_query_in_focus():
    selection = Selection(1, 2, 0, 0, 4)
    for drawn in matrices.contributions(TRACE, selection):
        for place in np.ndindex(drawn.values.shape):
            assert drawn.values[place] == TRACE[drawn.stage].value[drawn.index(*place)]
        assert 2 in drawn.index(0, 0)


def test_the_sign_between_contributions_and_output_says_what_makes_one_of_the_other():
    from_heads, output = matrices.contributions(TRACE, Selection(1, 2, 0, 0, 4))
    means = {"=": from_heads.values, "added up:": from_heads.values.sum(axis=0, keepdims=True)}
    assert output.values.shape == means[output.sign].shape
    np.testing.assert_allclose(output.values, means[output.sign], rtol=1e-12)


@pytest.mark.parametrize("n_heads", [2, 16])
def test_an_equation_shows_all_heads_where_they_are_put_side_by_side_and_one_head_elsewhere(n_heads):
    trace = trace_of(Settings("the cat sat", d_model=16, n_heads=n_heads, mask="causal", initialiser="pytorch"))
    selection = Selection(1, 1, 1, 0, 3)

    def heads(name):
        return [(drawn.stage, drawn.head) for drawn in matrices.equation(trace, name, selection)]

    shown = range(2) if n_heads == 2 else (1,)
    assert heads("concat") == [*(("heads", head) for head in shown), ("concat", None)]
    assert heads("q") == [("x", None), ("w_q", None), ("q", 1)]
    assert heads("scores") == [("q", 1), ("k", 1), ("scores", 1)]
    assert heads("masked") == [("scaled", 1), ("mask", None), ("masked", 1)]
    assert heads("contributions") == [("heads", 1), ("w_o", None), ("contributions", 1)]
    assert heads("output") == [("concat", None), ("w_o", None), ("output", None)]
    given = EXAMPLES["001"].variant("with").trace  # its queries and keys are given, and no parameters
    assert [drawn.head for drawn in matrices.equation(given, "scores", Selection())] == [0, 0, 0]


def test_a_bias_is_the_selected_head_s():
    trace = EXAMPLES["004"].variant("sum").trace
    assert [(drawn.stage, drawn.head) for drawn in matrices.equation(trace, "q", Selection().within(trace))] == [
        ("x", None),
        ("w_q", None),
        ("b_q", 0),
        ("q", 0),
    ]


@pytest.mark.parametrize("trace", [TRACE, *(v.trace for e in EXAMPLES.values() for v in e.variants)])
def test_a_whole_pass_has_every_stage_but_the_biases_once(trace):
    drawn = [each.stage for row in matrices.rows_of(trace, Selection().within(trace)) for each in row]
    assert len(drawn) == len(set(drawn))
    assert set(drawn) == {stage.name for stage in trace.stages if not stage.name.startswith("b_")}


def test_a_stage_that_no_row_names_stands_after_what_it_is_computed_from(monkeypatch):
    monkeypatch.setitem(VOCABULARY, "capped", VOCABULARY["scaled"])
    capped = replace(TRACE["scaled"], name="capped", inputs=("scaled",))
    trace = replace(TRACE, stages=(*TRACE.stages, capped))
    rows = [[each.stage for each in row] for row in matrices.rows_of(trace, Selection())]
    assert ["scores", "scaled", "capped", "mask", "masked", "attention"] in rows


@pytest.mark.parametrize("transposed", [False, True])
def test_cells_that_were_set_by_hand_are_marked(transposed):
    changes = [Change("k", (1, 2, 0), 5.0), Change("w_v", (0, 4, 1), 5.0), Change("heads", (1,), 0.0)]
    trace = TRACE.with_changes(*changes)
    drawn = matrices.matrix(trace, "k", Selection(1, 0, 0, 0, 0), transposed=transposed)
    assert [drawn.index(*place) for place in np.argwhere(drawn.marked)] == [(1, 2, 0)]
    assert not matrices.matrix(trace, "k", Selection(0, 0, 0, 0, 0)).marked.any()
    big = matrices.whole(trace, "w_v", Selection())
    assert [big.index(*place) for place in np.argwhere(big.marked)] == [(0, 4, 1)]
    assert matrices.matrix(trace, "heads", Selection(1)).marked.all()
    assert matrices.matrix(trace, "scores", Selection(1)).marked is None


def test_cells_of_contributions_that_were_set_by_hand_are_marked_for_their_own_query():
    trace = TRACE.with_changes(Change("output", (0, 3), 5.0), Change("contributions", (1, 2, 4), 7.0))
    for query in range(3):
        from_heads, output = matrices.contributions(trace, Selection(0, query, 0, 0, 0))
        assert np.argwhere(output.marked).tolist() == ([[0, 3]] if query == 0 else [])
        assert np.argwhere(from_heads.marked).tolist() == ([[1, 4]] if query == 2 else [])
