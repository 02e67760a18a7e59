"""Pictures lay out the numbers of a stage, and the marks on them, alike."""

import numpy as np
import pytest

from attnviz import Settings, trace_of
from attnviz.core.changes import Change
from attnviz.core.selection import Selection
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
