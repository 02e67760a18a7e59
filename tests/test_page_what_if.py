"""What if, without a browser: numbers are set by hand, and what moved is said and drawn."""

import numpy as np
import pytest
from page import (
    ADDRESSES,
    EXAMPLE,
    ROOT,
    SHOWN,
    as_drawn,
    changes_of,
    did,
    drawn,
    matrices,
    opened,
    plain,
    plain_numbers,
    quiet,
    sent,
    stage_of,
    texts,
    trace_at,
    warnings,
)

from attnviz import trace_of
from attnviz.text.movement import caption as moved_caption

WHAT_IF = ROOT / "pages" / "what_if.py"


CHANGES = [
    ("attention", "attention[0,1,0]=1"),
    ("attention", "attention[1,5,5]=-0.25;attention[1,5,4]=1e-300"),
    ("embeddings", "embeddings[2,3]=4.5"),
    ("w_q", "w_q[0,3,1]=2.000000000000001"),
    ("scores", "scores[0,4,2]=1.5;heads[1]=0;w_o[3,3]=0"),
    ("mask", "mask[1,4]=1;mask[0,0]=0"),
    ("masked", "masked[0,3,1]=-inf;masked[0,1,3]=0.5"),
    ("heads", "heads[0]=0"),
    ("output", "output[5,7]=0"),
]


@pytest.mark.parametrize(("stage", "changes"), CHANGES)
def test_changes_of_the_address_are_made_and_marked(stage, changes):
    before = trace_of(EXAMPLE)
    after = before.with_changes(*changes_of(changes))
    at = opened(WHAT_IF, stage=stage, changes=changes, **SHOWN)
    assert quiet(at)
    matrix = matrices(at)[stage]
    shown = plain_numbers(matrix["values"], -np.inf)
    assert np.array_equal(shown, as_drawn(after, stage, after[stage].value, 0))
    for each in sent(at, "picture")["equations"][0]:
        if stage_of(each) in ("w_q", "w_k", "w_v") and each["band"]:  # all heads side by side
            old, new = (np.concatenate(trace[stage_of(each)].value, axis=-1) for trace in (before, after))
        else:
            old, new = (as_drawn(trace, stage_of(each), trace[stage_of(each)].value, 0) for trace in (before, after))
        expected = old != new
        assert np.array_equal(each["marked"], expected.T if "⊤" in each["symbol"] else expected)
    assert np.any(matrix["marked"]) == (stage != "attention" or "[0" in changes)  # head 1 is in sight


@pytest.mark.parametrize(("stage", "changes"), CHANGES)
def test_what_moved_is_said_and_drawn_for_every_stage_that_was_reached(stage, changes):
    before = trace_of(EXAMPLE)
    after = before.with_changes(*changes_of(changes))
    reached = [each.name for each in before.stages if after[each.name] is not each]
    at = opened(WHAT_IF, stage=stage, changes=changes, **SHOWN)
    lines = [text.removeprefix("- ") for text in texts(at) if text.startswith("- ")]
    assert lines == [moved_caption(before, after, name) for name in reached]
    shown = drawn(at, "differences")
    assert list(shown) == reached
    for name, matrix in shown.items():
        old, new = (as_drawn(trace, name, trace[name].value, 0) for trace in (before, after))
        finite = np.isfinite(old) == np.isfinite(new)
        expected = np.where(old == new, 0, np.nan_to_num(new) - np.nan_to_num(old))  # without inf - inf
        values = plain_numbers(matrix["values"], np.nan)
        assert np.array_equal(np.isfinite(values), finite)
        assert np.array_equal(values[finite], expected[finite])
        assert matrix["gap"] == "±∞"
        assert matrix["scale"] == "signed"  # also of shares and of a mask: a difference may be negative
        assert matrix["marked"] is None


def test_without_a_change_nothing_is_marked_and_nothing_has_moved():
    at = opened(WHAT_IF, **SHOWN)
    assert quiet(at)
    assert any(text.startswith("Nothing is changed yet") for text in texts(at))
    assert not np.any(matrices(at)["attention"]["marked"])
    assert not [each for each in at.get("bidi_component") if each.proto.id.endswith("-differences")]


def test_a_number_is_set_and_set_again_and_taken_back():
    at = opened(WHAT_IF, stage="scores", cell="1.5.3.1.1", **SHOWN)
    at.number_input[0].set_value(1.25).run()
    assert "changes" not in at.query_params
    at.button(key="set").click().run()
    assert at.query_params["changes"] == "scores[0,4,2]=1.25"
    assert matrices(at)["scores"]["values"][4][2] == 1.25
    at.number_input[0].set_value(-0.1).run()
    at.button(key="set").click().run()
    assert at.query_params["changes"] == "scores[0,4,2]=-0.1"
    at.selectbox(key="stage").set_value("heads").run()
    at.number_input[0].set_value(3.0).run()
    at.button(key="set").click().run()
    assert at.query_params["changes"] == "scores[0,4,2]=-0.1;heads[0,4,0]=3"
    at.button(key="drop_0").click().run()
    assert at.query_params["changes"] == "heads[0,4,0]=3"
    at.button(key="drop_0").click().run()
    assert "changes" not in at.query_params
    assert quiet(at)


def test_setting_a_number_to_itself_moves_nothing():
    at = opened(WHAT_IF, stage="q", cell="2.3.1.2.1", **SHOWN)
    at.button(key="set").click().run()
    value = float(trace_of(EXAMPLE)["q"].value[1, 2, 1])
    assert at.query_params["changes"] == f"q[1,2,1]={value!r}"
    assert not np.any(matrices(at)["q"]["marked"])
    assert any("did not move." in text for text in texts(at))


def test_a_cell_of_the_mask_is_toggled():
    at = opened(WHAT_IF, stage="mask", cell="1.2.5.1.1", **SHOWN)
    assert plain(at.button(key="toggle").label) == "Show the (2)"
    at.button(key="toggle").click().run()
    assert at.query_params["changes"] == "mask[1,4]=1"
    assert matrices(at)["mask"]["values"][1][4]
    assert "- mask[cat, the (2)] is visible now; 5 of 6 rows did not move." in texts(at)
    assert plain(at.button(key="toggle").label) == "Hide the (2)"
    at.button(key="toggle").click().run()
    assert at.query_params["changes"] == "mask[1,4]=0"
    assert not np.any(matrices(at)["mask"]["marked"])
    assert quiet(at)


def test_heads_are_muted_undone_and_reset():
    at = opened(WHAT_IF, stage="output", **SHOWN)
    at.button(key="mute_1").click().run()
    assert at.query_params["changes"] == "heads[1]=0"
    assert at.button(key="mute_1").disabled
    assert at.button(key="mute_1").label == "Head 2 is muted"
    assert "Head outputs of head 2, all of them = 0" in texts(at)
    at.button(key="mute_0").click().run()
    assert at.query_params["changes"] == "heads[1]=0;heads[0]=0"
    assert not np.any(matrices(at)["output"]["values"])
    at.button(key="undo").click().run()
    assert at.query_params["changes"] == "heads[1]=0"
    at.button(key="mute_0").click().run()
    at.button(key="reset").click().run()
    assert "changes" not in at.query_params
    assert np.array_equal(matrices(at)["output"]["values"], trace_of(EXAMPLE)["output"].value)


SIXTEEN = ";".join(f"scores[0,{n // 6},{n % 6}]={n}.5" for n in range(16))


def test_sixteen_changes_are_all_there_may_be():
    at = opened(WHAT_IF, changes=SIXTEEN, **SHOWN)
    assert quiet(at)
    assert at.button(key="set").disabled
    assert at.button(key="mute_0").disabled
    assert any("at most 16 changes at once" in text for text in texts(at))
    at.button(key="undo").click().run()
    assert at.query_params["changes"].count(";") == 14
    assert not at.button(key="set").disabled


@pytest.mark.parametrize(
    ("changes", "says", "kept"),
    [
        (f"{SIXTEEN};scores[1,0,0]=0", "at most 16 changes at once; got 17", ""),
        ("a" * 60_000, "A change is written stage[index]=number", ""),
        (";" * 60_000, "at most 16 changes at once; got 60,001", ""),
        ("nonsense", "got 'nonsense'", ""),
        ("scores[0,0,0]=nan", "got 'scores[0,0,0]=nan'", ""),
        ("scores[0,0,0]=inf", "finite, or -inf to hide a key; got inf", ""),
        ("scores[0,0,0]=-inf", "got it for scores", ""),
        ("scores[0,0,0]=1e999", "got inf", ""),
        ("nowhere[0]=1", "got 'nowhere'", ""),
        ("scores[0,9,0]=1;heads[0]=0", "got the index (0, 9, 0)", "heads[0]=0"),
        ("mask[0,0]=0.5;;output[0,0]=1", "1 (visible) or 0 (hidden); got 0.5", "output[0,0]=1"),
        ("q[0,0,0]=1e300;k[0,0,0]=1e300", "beyond float64 (1.8e308)", ""),
        ("<b>![](http://evil.example)", "got '<b>![](http://evil.example)'", ""),
    ],
)
def test_changes_that_cannot_be_made_are_said_and_left_out(changes, says, kept):
    before = trace_of(EXAMPLE)
    at = opened(WHAT_IF, stage="output", changes=changes, **SHOWN)
    assert not at.exception
    assert any(says in text for text in warnings(at)), warnings(at)
    after = before.with_changes(*changes_of(kept))
    assert np.array_equal(matrices(at)["output"]["values"], after["output"].value)
    assert not any("](http" in each.value for each in at.warning)
    at.button(key="mute_1").click().run()
    assert at.query_params["changes"] == ";".join(filter(None, (kept, "heads[1]=0")))


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_every_stage_can_be_changed(address):
    trace = trace_at(address)
    at = opened(WHAT_IF, **address)
    for stage in trace.stages:
        at.selectbox(key="stage").set_value(stage.name).run()
        assert quiet(at)
        at.button(key="toggle" if stage.value.dtype == bool else "set").click().run()
        assert quiet(at), stage.name
        (change,) = changes_of(at.query_params["changes"])
        assert change.stage == stage.name
        at.button(key="reset").click().run()


def test_a_picked_cell_is_the_one_that_is_set():
    at = opened(WHAT_IF, stage="scores", **SHOWN)
    did(at, "picture", "pick", sent(at, "picture")["equations"][0][1]["cells"][2][3])  # the keys, transposed
    assert at.selectbox(key="stage").value == "k"
    assert plain(at.number_input[0].label).startswith("k[head 1, on, 3] becomes")
    assert at.number_input[0].value == trace_of(EXAMPLE)["k"].value[0, 3, 2]


def test_a_quick_click_sets_what_was_just_typed():
    at = opened(WHAT_IF, stage="scores", **SHOWN)
    at.number_input[0].set_value(2.5)
    at.button(key="set").click().run()
    assert at.query_params["changes"] == "scores[0,1,2]=2.5"


def test_the_boxes_name_every_word_as_it_is():
    at = opened(WHAT_IF, stage="scores", sentence="head to head", cell="2.1.1.1.1")
    assert at.selectbox(key="pick_key").options == ["head", "to", "head (2)"]
    assert at.selectbox(key="pick_head").options == ["1", "2"]
    at.selectbox(key="pick_key").set_value(2).run()
    assert at.query_params["cell"] == "2.1.3.1.1"


@pytest.mark.parametrize(
    ("changes", "by_hand"),
    [
        ("", False),
        ("scores[0,4,2]=1.5;heads[1]=0", False),
        ("masked[0,3,1]=-inf", True),
        ("heads[1]=0;mask[3,1]=0", True),
    ],
)
def test_a_hidden_number_may_be_set_by_hand_where_a_change_can_hide_one(changes, by_hand):
    at = opened(WHAT_IF, stage="masked", changes=changes, **SHOWN)
    assert quiet(at)
    for matrix in matrices(at).values():
        assert matrix["whyHidden"].startswith("the mask “causal”: no query sees a later key")
        assert matrix["whyHidden"].endswith(", or it was set by hand") == by_hand
