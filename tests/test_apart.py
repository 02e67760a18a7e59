"""The pages on which numbers are taken apart, changed and made a second time, without a browser."""

import json
import math
import re

import numpy as np
import pytest
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from test_pages import ROOT, SOURCES, matrices, opened, stage_of, warnings

from attnviz import Settings, trace_of
from attnviz.analysis.audit import Audit, audit
from attnviz.analysis.gradients import gradients
from attnviz.analysis.provenance import format_trail, parse_trail
from attnviz.core import operations
from attnviz.core.changes import parse_changes
from attnviz.core.terms import Given, Share, Sum
from attnviz.examples import EXAMPLES
from attnviz.text.movement import caption as moved_caption
from attnviz.text.movement import steepest
from attnviz.ui.sections import check

APART, WHAT_IF, AUDIT = (ROOT / "pages" / f"{name}.py" for name in ("take_apart", "what_if", "audit"))
OWN = {"sentence": "the cat sat", "context": "le chat noir dort", "positions": "sinusoidal", "mask": "padding"}
ADDRESSES = {"own sentence": OWN, **{source: {"source": source} for source in SOURCES}}
EXAMPLE = Settings("the cat sat on the mat", mask="causal", positions="sinusoidal")
SHOWN = {"mask": "causal", "positions": "sinusoidal"}


def trace_at(address):
    """The pass that an address stands for."""
    if "source" in address:
        example, variant = address["source"].split()
        return EXAMPLES[example].variant(variant).trace
    return trace_of(Settings(**address))


def component(at, key):
    return next(each.proto for each in at.get("bidi_component") if each.proto.id.endswith(f"-{key}"))


def sent(at, key):
    """What a matrix component was sent."""
    return json.loads(component(at, key).json)


def named(data, cell):
    """A cell's name, as the browser makes it of the address."""
    stage, index = cell.removesuffix("]").split("[")
    axes = zip(data["axes"][stage], map(int, index.split(",")), strict=True)
    return f"{stage}[{', '.join(data['labels'][axis][place] for axis, place in axes)}]"


def told(at, key="trail"):
    """The breakdowns that a component shows, by cell."""
    data = sent(at, key)
    return {cell: data["breakdowns"][cell] for cell in data["answer"]["cells"]}


def did(at, key, event, value):
    """What the component's script says to the server when a person clicks; at.session_state calls nothing back."""
    states = at._tree.get_widget_states()
    state = states.widgets.add()
    state.id = _make_trigger_id(component(at, key).id, "events")
    state.json_trigger_value = json.dumps([{"event": event, "value": value}])
    return at._run(states)


def texts(at):
    """The text of the page as a person reads it."""
    return [each.value.replace("\\", "").replace("\u2060", "") for each in at.markdown]


def quiet(at):
    return not at.exception and not at.warning and not at.error


def drawn(at, key):
    """The numbers of a component's matrices, by stage; hidden ones are None."""
    return {stage_of(matrix): matrix for equation in sent(at, key)["equations"] for matrix in equation}


def as_drawn(trace, name, values, head):
    """A stage's array as its picture has it: one head of it, a bias as a row."""
    values = values[head] if trace[name].axes[0] == "head" else values
    return np.atleast_2d(np.asarray(values, dtype=float))


def plain_numbers(values, gap):
    return np.array([[gap if value is None else value for value in row] for row in values], dtype=float)


# Take it apart

MOVES = "what would move it"


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_every_stage_is_taken_apart_and_its_terms_add_up(address):
    trace = trace_at(address)
    at = opened(APART, **address)
    for stage in trace.stages:
        cell = stage.cell(tuple(n // 2 for n in stage.shape))
        at.query_params["trail"] = format_trail([cell])
        at.run()
        assert quiet(at), stage.name
        assert walked(at) == [trace.name_of(cell)]
        ((address_of_it, breakdown),) = told(at).items()
        assert address_of_it == format_trail([cell])
        assert breakdown["value"] == repr(cell.value)
        adds_up(trace.terms(stage.name, cell.index), breakdown, cell)
        assert drawn(at, "picture")[stage.name]["selected"][-1] == cell.index[-1]


def walked(at):
    """The names on the trail."""
    data = sent(at, "trail")
    return [named(data, cell) for cell in data["answer"]["trail"]]


def adds_up(made_from, breakdown, cell):
    """Read the breakdown as a person would, and do its sums."""
    values, total = [float(value) for _, _, value in breakdown["lines"]], float(breakdown["total"])
    assert total == made_from.total()
    assert total == cell.value or abs(total - cell.value) <= 1e-14 * (1 + made_from.magnitude())
    if isinstance(made_from, Given):
        assert breakdown["lines"] == [[[], made_from.recipe, repr(cell.value)]]
    elif isinstance(made_from, Sum):
        for _, product, value in breakdown["lines"]:
            assert math.prod(map(float, product.split(" × "))) == float(value)
        assert math.fsum(values) == total
    elif isinstance(made_from, Share):
        assert made_from.exponentials[made_from.place] in values
        assert total == made_from.exponentials[made_from.place] / (math.fsum(values) or 1)


@pytest.mark.parametrize("order", ["large ones first", "in order"])
def test_clicks_lead_from_the_output_to_an_embedding(order):
    trace = trace_of(EXAMPLE)
    at = opened(APART, cell="2.4.3.2.5", order=order, **SHOWN)
    names = [trace.name_of(trace["output"].cell((3, 4)))]
    assert walked(at) == names
    for stage in ("concat", "heads", "attention", "masked", "scaled", "scores", "q", "x", "embeddings"):
        (breakdown,) = told(at).values()
        cell = next(cell for cells, *_ in breakdown["lines"] for cell in cells if cell.startswith(f"{stage}["))
        names.append(named(sent(at, "trail"), cell))
        did(at, "trail", "follow", "<".join([*sent(at, "trail")["answer"]["trail"], cell]))
        assert quiet(at)
        assert walked(at) == names
        cells, notice = parse_trail(trace, at.query_params["trail"])
        assert [trace.name_of(cell) for cell in cells] == names
        assert not notice
    assert any(text.startswith("This is where the trail ends") for text in texts(at))
    did(at, "trail", "follow", "<".join(sent(at, "trail")["answer"]["trail"][:3]))
    assert walked(at) == names[:3]
    assert len(parse_trail(trace, at.query_params["trail"])[0]) == 3


def test_what_a_click_would_show_is_sent_along():
    at = opened(APART, trail="output[1,2]<concat[1,5]", order="in order", **SHOWN)
    data = sent(at, "trail")
    trail = data["answer"]["trail"]
    following = [cell for cells, *_ in data["breakdowns"][trail[-1]]["lines"] for cell in cells]
    assert data["breakdowns"].keys() == {*trail, *following}
    for clicked in [*(trail[: n + 1] for n in range(len(trail))), *([*trail, cell] for cell in following)]:
        after = opened(APART, trail="<".join(clicked), order="in order", **SHOWN)
        assert told(after) == {clicked[-1]: data["breakdowns"][clicked[-1]]}


def test_the_difference_is_said_at_full_precision():
    trace = trace_of(EXAMPLE)
    at = opened(APART, trail="output[1,2]", **SHOWN)
    total, value = trace.terms("output", (1, 2)).total(), float(trace["output"].value[1, 2])
    assert (
        f"The terms add up to `{total!r}` in plain Python; the pass holds `{value!r}`. "
        f"The difference is `{abs(total - value):.1g}`."
    ) in [each.value for each in at.markdown]


@pytest.mark.parametrize("trail", ["output[1,2]", "attention[1,3,2]", "scores[0,2,5]", "masked[0,1,4]"])
def test_both_orders_show_the_same_lines(trail):
    at = opened(APART, trail=trail, **SHOWN)
    (by_size,) = told(at).values()
    sizes = [abs(float(value)) for _, _, value in by_size["lines"]]
    assert sizes == sorted(sizes, reverse=True)
    at.segmented_control(key="order").set_value("in order").run()
    (in_order,) = told(at).values()
    assert sorted(in_order.pop("lines")) == sorted(by_size.pop("lines"))
    assert in_order == by_size
    trace = trace_of(EXAMPLE)
    (cell,), _ = parse_trail(trace, trail)
    lines = trace.terms(cell.stage, cell.index).lines(repr)
    (breakdown,) = told(at).values()
    assert [float(value) for _, _, value in breakdown["lines"]] == [line.value for line in lines]


@pytest.mark.parametrize(
    ("trail", "shown", "says"),
    [
        ("nonsense", ["output[cat, 1]"], "got 'nonsense'"),
        ("", ["output[cat, 1]"], "got ''"),
        ("output[1,2]<concat[1,99]", ["output[cat, 3]"], "got 'concat[1,99]'"),
        (
            "output[1,2]<concat[0,5]",
            ["output[cat, 3]"],
            "concat[0,5] is not among those that output[1,2] was made from",
        ),
        ("output[1,2]<" * 5_000, ["output[cat, 3]"], "output[1,2] is not among those"),
        ("![](http://evil.example)<:red[x]", ["output[cat, 1]"], "got '![](http://evil.example)'"),
    ],
)
def test_a_bad_trail_is_shown_as_far_as_it_goes_and_says_so(trail, shown, says):
    at = opened(APART, trail=trail, **SHOWN)
    assert not at.exception
    assert any(says in text for text in warnings(at)), warnings(at)
    assert walked(at) == shown
    assert "](http" not in at.warning[0].value


def test_the_boxes_start_another_trail():
    trace = trace_of(EXAMPLE)
    at = opened(APART, trail="output[1,2]<concat[1,5]", **SHOWN)
    at.selectbox(key="start_stage").set_value("attention").run()
    assert walked(at) == ["attention[head 1, cat, sat]"]
    at.selectbox(key="start_0").set_value(1).run()
    at.selectbox(key="start_2").set_value(0).run()
    assert at.query_params["trail"] == "attention[1,1,0]"
    assert walked(at) == [trace.name_of(trace["attention"].cell((1, 1, 0)))]
    assert quiet(at)


def test_a_cell_of_the_picture_goes_on_the_trail_or_starts_another():
    at = opened(APART, trail="scores[1,4,3]", **SHOWN)
    pictured = [stage_of(matrix) for matrix in sent(at, "picture")["equations"][0]]
    assert pictured == ["q", "k", "scores"]
    did(at, "picture", "pick", sent(at, "picture")["equations"][0][0]["cells"][4][2])
    assert at.query_params["trail"] == "scores[1,4,3]<q[1,4,2]"
    at = opened(APART, trail="scores[1,4,3]", **SHOWN)
    did(at, "picture", "pick", sent(at, "picture")["equations"][0][1]["cells"][2][3])  # the keys are drawn transposed
    assert at.query_params["trail"] == "scores[1,4,3]<k[1,3,2]"
    at = opened(APART, trail="scores[1,4,3]", **SHOWN)
    did(at, "picture", "pick", sent(at, "picture")["equations"][0][2]["cells"][0][1])
    assert at.query_params["trail"] == "scores[1,0,1]"


def test_a_trail_outlives_a_change_of_words_as_far_as_it_can():
    at = opened(APART, trail="output[5,2]<concat[5,5]", **SHOWN)
    at.text_input(key="sentence").set_value("snow falls").run()
    assert not at.exception
    assert any("got 'output[5,2]'" in text for text in warnings(at))
    assert walked(at) == ["output[falls, 1]"]


@pytest.mark.parametrize(
    ("address", "cell"),
    [
        (SHOWN, ("output", (3, 4))),
        (SHOWN, ("attention", (1, 3, 2))),
        (SHOWN, ("embeddings", (0, 0))),
        (OWN, ("output", (2, 0))),
        ({"source": "003 steps"}, ("output", (1, 1))),
        ({"source": "001 with"}, ("heads", (0, 2, 3))),
        ({"source": "004 sum"}, ("attention", (0, 0, 1))),
    ],
)
def test_slopes_are_the_gradients(address, cell):
    name, index = cell
    trace = trace_of(EXAMPLE) if address == SHOWN else trace_at(address)
    at = opened(APART, trail=format_trail([trace[name].cell(index)]), ask=MOVES, **address)
    assert quiet(at)
    found = gradients(trace, name, index)
    assert steepest(trace, name, index, found) in texts(at)
    if len(found) == 1:
        assert not [each for each in at.get("bidi_component") if each.proto.id.endswith("-slopes")]
        return
    shown = drawn(at, "slopes")
    assert list(shown) == [each for each in found if each != name]
    head = index[0] if trace[name].axes[0] == "head" else 0
    for each, matrix in shown.items():
        assert np.array_equal(matrix["values"], as_drawn(trace, each, found[each], head)), each
        assert matrix["scale"] == "signed"
        assert matrix["limit"] == (np.abs(found[each]).max() or 1)


def test_a_hidden_key_has_no_slope():
    at = opened(APART, trail="output[2,0]", ask=MOVES, **SHOWN)
    shown = drawn(at, "slopes")
    for name in ("scaled", "scores"):
        assert not np.triu(shown[name]["values"], 1).any()
        assert np.any(shown[name]["values"])
    assert not np.any(shown["embeddings"]["values"][3:])


@pytest.mark.parametrize("d_model", [2, 17, 128])
def test_large_passes_are_taken_apart_too(d_model):
    words = " ".join(f"w{i}" for i in range(d_model // 2))
    at = opened(APART, sentence=words, d_model=str(d_model), heads="1", trail="output[0,1]<concat[0,1]")
    assert quiet(at)
    assert len(walked(at)) == 2
    at.segmented_control(key="ask").set_value(MOVES).run()
    assert quiet(at)


# What if


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


@pytest.mark.parametrize("page", ["walkthrough", "take_apart", "audit", "numpy_code"])
def test_changes_hold_on_every_page_until_they_are_taken_back(page):
    after = trace_of(EXAMPLE).with_changes(*parse_changes("heads[1]=0;scores[0,1,0]=3.5"))
    address = {"step": "Scores", "trail": "heads[1,2,0]", **SHOWN}
    at = opened(ROOT / "pages" / f"{page}.py", changes="heads[1]=0;scores[0,1,0]=3.5", **address)
    assert quiet(at)
    assert "**Set by hand:** Head outputs of head 2, all of them = 0; scores[head 1, cat, the] = 3.5" in texts(at)
    if page == "walkthrough":
        assert matrices(at)["scores"]["values"] == after["scores"].value[0].tolist()
        assert np.argwhere(matrices(at)["scores"]["moved"]).tolist() == [[1, 0]]
        assert at.code[0].value == "scores = q @ k.swapaxes(-1, -2)\nscores[0, 1, 0] = 3.5  # set by hand"
    if page == "take_apart":
        assert told(at)["heads[1,2,0]"]["lines"] == [[[], "set by you", "0.0"]]
    if page == "numpy_code":
        assert "scores[0, 1, 0] = 3.5  # set by hand" in at.code[0].value
    at.button(key="reset").click().run()
    assert quiet(at)
    assert not any("Set by hand" in text for text in texts(at))
    assert "changes" not in at.query_params


@pytest.mark.parametrize("page", ["walkthrough", "what_if"])
@pytest.mark.parametrize("changes", ["rubbish", "scores[0,99,0]=1", "heads[0]=0;" * 17, "v[0,0,0]=1e308;x[0,0]=1e308"])
def test_changes_that_cannot_be_made_are_taken_back_in_one_click(page, changes):
    at = opened(ROOT / "pages" / f"{page}.py", changes=changes)
    assert warnings(at)
    assert not at.exception
    at.button(key="reset").click().run()
    assert quiet(at)
    assert "changes" not in at.query_params


def test_another_pass_is_shown_without_the_changes_of_this_one():
    at = opened(changes="scores[0,1,2]=9")
    at.selectbox(key="source").set_value("003 steps").run()
    assert quiet(at)
    assert not any("Set by hand" in text for text in texts(at))
    at = opened(changes="scores[0,1,2]=9", source="003 steps")
    assert any("Set by hand" in text for text in texts(at))
    at.button(key="own_sentence").click().run()
    assert not any("Set by hand" in text for text in texts(at))


def test_a_lesson_says_nothing_of_a_changed_pass_that_is_not_so():
    at = opened(step="Softmax", changes="masked[0,2,1]=-inf")
    assert not any("No mask hides anything" in text for text in texts(at))
    assert any("No mask hides anything" in text for text in texts(opened(step="Softmax")))
    for changes in ("concat[1,0]=9", "output[1,0]=9"):
        assert not any(
            "as the sum of what each head adds" in text for text in texts(opened(step="Output", changes=changes))
        )
    assert any(
        "as the sum of what each head adds" in text for text in texts(opened(step="Output", changes="heads[0]=0"))
    )


@pytest.mark.parametrize(("stage", "changes"), CHANGES)
def test_changes_of_the_address_are_made_and_marked(stage, changes):
    before = trace_of(EXAMPLE)
    after = before.with_changes(*parse_changes(changes))
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
        assert np.array_equal(each["moved"], expected.T if "⊤" in each["symbol"] else expected)
    assert np.any(matrix["moved"]) == (stage != "attention" or "[0" in changes)  # head 1 is in sight


@pytest.mark.parametrize(("stage", "changes"), CHANGES)
def test_what_moved_is_said_and_drawn_for_every_stage_that_was_reached(stage, changes):
    before = trace_of(EXAMPLE)
    after = before.with_changes(*parse_changes(changes))
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
        assert matrix["moved"] is None


def test_without_a_change_nothing_is_marked_and_nothing_has_moved():
    at = opened(WHAT_IF, **SHOWN)
    assert quiet(at)
    assert any(text.startswith("Nothing is changed yet") for text in texts(at))
    assert not np.any(matrices(at)["attention"]["moved"])
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
    assert not np.any(matrices(at)["q"]["moved"])
    assert any("did not move." in text for text in texts(at))


def test_a_cell_of_the_mask_is_toggled():
    at = opened(WHAT_IF, stage="mask", cell="1.2.5.1.1", **SHOWN)
    assert at.button(key="toggle").label == "Show the (2)"
    at.button(key="toggle").click().run()
    assert at.query_params["changes"] == "mask[1,4]=1"
    assert matrices(at)["mask"]["values"][1][4]
    assert "- mask[cat, the (2)] is visible now; 5 of 6 rows did not move." in texts(at)
    assert at.button(key="toggle").label == "Hide the (2)"
    at.button(key="toggle").click().run()
    assert at.query_params["changes"] == "mask[1,4]=0"
    assert not np.any(matrices(at)["mask"]["moved"])
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
    after = before.with_changes(*parse_changes(kept))
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
        (change,) = parse_changes(at.query_params["changes"])
        assert change.stage == stage.name
        at.button(key="reset").click().run()


def test_a_picked_cell_is_the_one_that_is_set():
    at = opened(WHAT_IF, stage="scores", **SHOWN)
    did(at, "picture", "pick", sent(at, "picture")["equations"][0][1]["cells"][2][3])  # the keys, transposed
    assert at.selectbox(key="stage").value == "k"
    assert at.number_input[0].label.startswith("k[head 1, on, 3] becomes")
    assert at.number_input[0].value == trace_of(EXAMPLE)["k"].value[0, 3, 2]


# Audit


def verdict(at):
    (box,) = [*at.success, *at.error]
    return box.value.replace("\\", "").replace("\u2060", "")


def stage_by_stage(at, found):
    """The table has the counts of the audit."""
    table = at.markdown[-1].value
    for each in found.stages:
        (row,) = re.findall(rf"^\| `{each.stage}` \|.*$", table, re.MULTILINE)
        assert ("given" in row, "agree" in row) == (each.n_given > 0, each.n_made > 0)
        assert f"{each.n_given} given" in row or not each.n_given
        assert f"{each.n_agree} of {each.n_made} agree" in row or not each.n_made


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_the_audit_is_told_as_it_came_out(address):
    trace = trace_at(address)
    found = Audit(tuple(audit(trace)))
    at = opened(AUDIT, **address)
    assert quiet(at)
    assert verdict(at) == f"{found.sentence(trace)}."
    stage_by_stage(at, found)
    assert found.first is None


def test_a_large_pass_asks_before_it_is_audited(monkeypatch):
    at = opened(AUDIT, d_model="128", sentence=" ".join(f"w{i}" for i in range(64)))
    assert quiet(at)
    assert not at.success
    assert at.button(key="run_audit").label.startswith("Recompute ")
    monkeypatch.setattr(check, "PATIENCE", 1000)
    at = opened(AUDIT)
    assert not at.success
    at.button(key="run_audit").click().run()
    assert verdict(at) == f"{Audit(tuple(audit(trace_of(Settings('the cat sat on the mat'))))).sentence(None)}."


def one_key_short(self, attention, v):
    return attention[..., :-1] @ v[..., :-1, :]


def along_the_queries(self, attention, v):
    return attention.swapaxes(-1, -2) @ v


def softmax_of_queries(self, masked):
    exponentials = np.exp(masked - masked.max())
    return exponentials / exponentials.sum(axis=-2, keepdims=True)


@pytest.mark.parametrize(
    ("operation", "compute", "named"),
    [
        (operations.WeightedSum, one_key_short, "heads[head 1, the, 1]"),
        (operations.WeightedSum, along_the_queries, "heads[head 1, the, 1]"),
        (operations.Softmax, softmax_of_queries, "attention[head 1, the, the]"),
        (operations.Scale, lambda self, scores: scores / self.d_k, "scaled[head 1, the, the]"),
    ],
)
def test_a_planted_mistake_is_named_on_the_page(monkeypatch, operation, compute, named):
    monkeypatch.setattr(operation, "compute", compute)
    at = opened(AUDIT)
    assert not at.exception
    assert not at.success
    wrong = trace_of(Settings("the cat sat on the mat"))
    found = Audit(tuple(audit(wrong)))
    assert f"; the first that does not is {named}: {found.first.wrong.value!r}, its terms give" in verdict(at)
    assert verdict(at) == f"{found.sentence(wrong)}."
    assert found.n_agree < found.n_made
    stage_by_stage(at, found)
