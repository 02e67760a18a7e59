"""What is said under a picture, and what is sent beforehand of the cells that may be picked next."""

import numpy as np
import pytest
from page import ADDRESSES, SHOWN, breakdowns, did, named, opened, sent, stage_of, trace_at

from attnviz import Settings, trace_of
from attnviz.analysis.provenance import parse_trail
from attnviz.core.numerals import digits, tex
from attnviz.core.selection import Selection
from attnviz.core.terms import Copy, Given
from attnviz.text.captions import caption
from attnviz.text.explanations import Explanation
from attnviz.text.steps import steps_of


def pictured(at, key="picture"):
    """The cells of a component's matrices."""
    return [
        cell for equation in sent(at, key)["equations"] for drawn in equation for row in drawn["cells"] for cell in row
    ]


def asked(step, key="picture", **address):
    """The page of a step, and what its picture gets when a pointer comes near."""
    at = opened(step=step, **address)
    assert sent(at, key)["breakdowns"].keys() == set(sent(at, key)["answer"]["cells"])
    assert sent(at, key)["captions"] == {}
    did(at, key, "prefetch", True)
    return at, sent(at, key)


@pytest.mark.parametrize(
    "step", ["Tokens", "Positions", "Q, K, V", "Scores", "Mask", "Softmax", "Output", "Whole pass"]
)
def test_what_was_sent_beforehand_is_what_the_server_says_of_a_pick(step):
    at, before = asked(step, **SHOWN)
    cells = pictured(at)
    assert set(cells) <= before["breakdowns"].keys()
    for cell in cells[:: max(len(cells) // 6, 1)]:
        after = did(opened(step=step, **SHOWN), "picture", "pick", cell)
        assert cell in breakdowns(after, "picture")
        assert breakdowns(after, "picture") == {
            each: before["breakdowns"][each] for each in breakdowns(after, "picture")
        }
        stage = cell.partition("[")[0]
        assert [each.partition("[")[0] for each in breakdowns(after, "picture")] == before["explained"][stage]


def test_it_is_sent_once_and_not_with_every_run():
    at, _ = asked("Scores")
    at.selectbox(key="pick_query").set_value(4).run()
    assert len(sent(at, "picture")["breakdowns"]) == 1


def test_contributions_answer_under_their_own_picture():
    at, before = asked("Output", "contributions")
    drawn = sent(at, "contributions")["equations"][0]
    assert [stage_of(each) for each in drawn] == ["contributions", "output"]
    for cell, shown in [("contributions[1,1,4]", "contributions[1,1,4]"), ("output[1,6]", "contributions[0,1,6]")]:
        after = did(opened(step="Output"), "contributions", "pick", cell)
        assert breakdowns(after, "contributions") == {shown: before["breakdowns"][shown]}
        assert after.query_params["picked"] == cell.partition("[")[0]


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_a_caption_for_each_head_and_row_is_the_caption_with_the_focus_there(address):
    trace = trace_at(address)
    stages = [name for step in steps_of(trace) for name in step.stages if name in trace]
    names = [*stages, *(name for name in ["contributions"] if name in trace)]
    said = Explanation(trace, Selection(0, 0, 0, 0, 0), names, names, {}).captions_by_row()
    assert list(said) == names
    for head, query, key in np.ndindex(trace["scores"].shape):
        for name in names:
            row = key if trace[name].axes[-2] in ("key", "context token") else query
            by_row = said[name][head if trace[name].axes[0] == "head" else 0]
            assert by_row[row] == caption(trace, name, Selection(head, query, key, 0, 0)), name


def test_captions_look_at_rows_alone():
    trace = trace_of(Settings("the cat sat", mask="causal", positions="sinusoidal"))
    for name in ("embeddings", "x", "q", "k", "v", "scores", "scaled", "masked", "attention", "heads", "output"):
        assert caption(trace, name, Selection(1, 2, 1, 0, 0)) == caption(trace, name, Selection(1, 2, 1, 3, 5)), name


def test_too_much_is_not_sent_beforehand():
    words = " ".join(f"w{i}" for i in range(16))
    at, before = asked("Whole pass", sentence=words, d_model="16", heads="1")
    assert before["complete"]
    assert list(before["breakdowns"]) == ["output[1,0]"]
    after = did(at, "picture", "pick", "q[0,9,9]")
    assert list(breakdowns(after, "picture")) == ["q[0,9,9]"]


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_every_formula_holds_the_cell_s_own_numbers(address):
    trace = trace_at(address)
    _, before = asked("Whole pass", **address)
    assert before["breakdowns"]
    for text, breakdown in before["breakdowns"].items():
        (cell,), _ = parse_trail(trace, text)
        terms = trace.terms(cell.stage, cell.index)
        assert named(before, text) == trace.name_of(cell)
        assert breakdown["value"] == digits(cell.value)
        if isinstance(terms, Copy | Given):
            assert breakdown["formula"] == ""
            continue
        left, right, result = breakdown["formula"].split(" = ")
        assert right == terms.latex()
        assert result == tex(cell.value)
        in_head = trace[cell.stage].axes[0] == "head"
        assert left.endswith(f")_{{{', '.join(str(i + 1) for i in cell.index[in_head:])}}}")
        assert ("_1" in left.rpartition(")")[0]) == in_head  # the picture is of head 1


@pytest.mark.parametrize("pick", ["nonsense", "scores[0,1,99]", "output", "", "scores[0,1,1]<q[0,1,1]<q[0,1,1]"])
def test_what_no_picture_sends_moves_nothing_or_to_a_cell_there_is(pick):
    at = did(opened(step="Scores"), "picture", "pick", pick)
    assert not at.exception
    assert list(breakdowns(at, "picture")) in (["scores[0,1,2]"], ["q[0,1,1]"])
