"""Trails: one that a pass holds is read back as it was written, and any other is cut off with a sentence."""

import itertools
import time

import numpy as np
import pytest
from cases import of_each
from hypothesis import given, settings
from hypothesis import strategies as st
from passes import MODELS, TRACES

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.analysis.provenance import MAX_TRAIL_CELLS, format_trail, parse_trail
from attnviz.examples import EXAMPLES

TRACE = trace_of(Settings("the cat sat on", mask="causal", positions="sinusoidal"))
PASSES = {
    "causal, with positions": TRACE,
    "from another sentence": trace_of(Settings("the cat", "le chat noir", d_model=6, n_heads=3, scaled=False)),
    "float mask": attend(np.eye(3), parameters=Parameters(), mask=np.where(np.tri(3, dtype=bool), 0.5, -np.inf)),
    "set by hand": TRACE.with_change("heads", (1,), 0.0).with_change("masked", (0, 1, 2), 2.0),
    "two layers": MODELS["two layers that learnt"],
    "two texts": TRACES["a translator"],
    **{f"{e.id} {v.id}": v.trace for e in EXAMPLES.values() for v in e.variants},
}


def walked(draw, trace):
    """A way from any cell down to a number that comes from nothing."""
    stage = draw(st.sampled_from(trace.stages))
    cells = [stage.cell(draw(st.tuples(*(st.integers(0, n - 1) for n in stage.shape))))]
    while made_from := trace.terms(cells[-1].stage, cells[-1].index).cells:
        cells.append(draw(st.sampled_from(made_from)))
    return tuple(cells)


@pytest.mark.parametrize("trace", PASSES.values(), ids=PASSES)
@settings(max_examples=8)  # of each pass
@given(data=st.data())
def test_trail_round_trips(trace, data):
    cells = walked(data.draw, trace)
    assert not trace.terms(cells[-1].stage, cells[-1].index).lines
    assert len(cells) <= MAX_TRAIL_CELLS
    end = data.draw(st.integers(1, len(cells)))
    assert parse_trail(trace, format_trail(cells[:end])) == (cells[:end], "")


def test_trail_uses_numpy_indices():
    cells = (TRACE["output"].cell((1, 2)), TRACE["concat"].cell((1, 5)), TRACE["heads"].cell((1, 1, 1)))
    assert format_trail(cells) == "output[1,2]<concat[1,5]<heads[1,1,1]"
    assert [cell.value for cell in cells] == [
        TRACE["output"].value[1, 2],
        TRACE["concat"].value[1, 5],
        TRACE["heads"].value[1, 1, 1],
    ]


WRITTEN_OTHERWISE = "A trail is cells of the pass with “<” between them"
NOT_A_TERM = "Each cell of a trail was made from the next"
NO_CELLS = "output|output[1,2|output[]|output[1]|output[1,2,0]|output[-1,0]|output[1, 2]|output[1,2]\n|output[1.0,2]|"
NO_CELLS += "output[٣,0]|OUTPUT[1,2]|output[99999,0]|<output[1,2]|nonsense|nowhere[0,0]|output[4,0]|output[0,8]|"


@of_each(
    "case",
    [
        *((text, 0, WRITTEN_OTHERWISE) for text in NO_CELLS.split("|")),
        ("", 0, f"{WRITTEN_OTHERWISE}, as in output[1,2]<concat[1,5]; got '', and ends before it."),
        ("output[1,2]<", 1, "got '', and ends"),
        ("output[1,2]<concat[1,5]<nowhere[0]<q[0,0,0]", 2, "got 'nowhere[0]'"),
        ("output[1,2]<concat[1,8]", 1, "got 'concat[1,8]'"),
        ("output[1,2]<concat[0,5]", 1, "concat[0,5] is not among those that output[1,2] was made from"),
        ("output[1,2]<output[1,2]", 1, NOT_A_TERM),
        ("concat[1,5]<output[1,2]", 1, NOT_A_TERM),
        ("concat[1,5]<heads[0,1,1]", 1, NOT_A_TERM),  # column 5 is head 2's
        ("embeddings[0,0]<x[0,0]", 1, NOT_A_TERM),
    ],
)
def test_wrong_trail_is_cut_off(case):
    text, n_kept, says = case
    cells, notice = parse_trail(TRACE, text)
    assert format_trail(cells) == "<".join(text.split("<")[:n_kept])
    assert says in notice


def test_foreign_trail_ends_where_passes_part():
    trail = "output[1,2]<concat[1,5]<heads[1,1,1]<v[1,0,1]<x[0,3]<positions[0,3]"
    assert len(parse_trail(TRACE, trail)[0]) == 6
    cells, notice = parse_trail(trace_of(Settings("the cat sat on")), trail)
    assert len(cells) == 5
    assert "got 'positions[0,3]'" in notice
    cells, notice = parse_trail(PASSES["set by hand"], trail)  # its second head is muted: it was made from nothing
    assert len(cells) == 3
    assert NOT_A_TERM in notice


@pytest.mark.parametrize(
    "part",
    ["x", "<", "output[1,2]", "output[1,2]<", "concat[1,5]<", "output[1,2]<concat[1,5]<", "[", "1,", "\0", "🎈<"],
)
def test_huge_trail_is_answered_quickly(part):
    text = part * (1_000_000 // len(part))
    before = time.process_time()
    cells, notice = parse_trail(TRACE, text)
    assert time.process_time() - before < 1
    assert len(cells) <= 2
    assert 0 < len(notice) < 300


pieces = st.sampled_from(
    ["output", "concat", "w_o", "heads", "mask", "nowhere", "[", "]", ",", "0", "1", "99", "<", " "]
)
cells_of_the_pass = st.sampled_from(
    [f"{stage.name}[{','.join(map(str, index))}]" for stage in TRACE.stages for index in np.ndindex(stage.shape)]
)


@given(
    st.one_of(
        st.text(),
        st.lists(pieces).map("".join),
        st.lists(st.one_of(cells_of_the_pass, st.text()), min_size=1).map("<".join),
    )
)
def test_any_text_gives_a_valid_prefix(text):
    cells, notice = parse_trail(TRACE, text)
    for cell, after in itertools.pairwise(cells):
        assert after in TRACE.terms(cell.stage, cell.index).cells
    assert all(cell.value == TRACE[cell.stage].value[cell.index] for cell in cells)
    assert (notice == "") == (len(cells) == len(text.split("<")))
