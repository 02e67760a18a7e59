"""Take it apart, without a browser: trails of terms, and slopes."""

import math

import numpy as np
import pytest
from page import (
    ADDRESSES,
    EXAMPLE,
    OWN,
    ROOT,
    SENTENCE,
    SHOWN,
    as_drawn,
    breakdowns,
    did,
    drawn,
    named,
    opened,
    quiet,
    sent,
    stage_of,
    texts,
    trace_at,
    warnings,
)

from attnviz import Settings, trace_of
from attnviz.analysis.gradients import gradients
from attnviz.analysis.provenance import format_trail, parse_trail
from attnviz.core.changes import parse_change
from attnviz.core.operations.softmax import Share
from attnviz.core.terms import Given, Sum
from attnviz.text.movement import steepest

APART = ROOT / "pages" / "take_apart.py"

MOVES = "what would move it"


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_every_stage_is_taken_apart_and_its_terms_add_up(address):
    trace = trace_at(address)
    for stage in trace.stages:
        cell = stage.cell(tuple(n // 2 for n in stage.shape))
        at = opened(APART, trail=format_trail([cell]), **address)
        assert quiet(at), stage.name
        assert walked(at) == [trace.name_of(cell)]
        ((address_of_it, breakdown),) = breakdowns(at).items()
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
    assert total == cell.value or abs(total - cell.value) <= 1e-14 + 45 * made_from.rounding()
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
        (breakdown,) = breakdowns(at).values()
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
        assert breakdowns(after) == {clicked[-1]: data["breakdowns"][clicked[-1]]}


def test_the_difference_is_said_at_full_precision():
    trace = trace_of(EXAMPLE)
    at = opened(APART, trail="output[1,2]", **SHOWN)
    total, value = trace.terms("output", (1, 2)).total(), float(trace["output"].value[1, 2])
    assert (
        f"Recomputed from its terms in plain Python it is `{total!r}`; the pass holds `{value!r}`. "
        f"The difference is `{abs(total - value):.1g}`."
    ) in [each.value for each in at.markdown]


@pytest.mark.parametrize("trail", ["output[1,2]", "attention[1,3,2]", "scores[0,2,5]", "masked[0,1,4]"])
def test_both_orders_show_the_same_lines(trail):
    at = opened(APART, trail=trail, **SHOWN)
    (by_size,) = breakdowns(at).values()
    sizes = [abs(float(value)) for _, _, value in by_size["lines"]]
    assert sizes == sorted(sizes, reverse=True)
    at.segmented_control(key="order").set_value("in order").run()
    (in_order,) = breakdowns(at).values()
    assert sorted(in_order.pop("lines")) == sorted(by_size.pop("lines"))
    assert in_order == by_size
    trace = trace_of(EXAMPLE)
    (cell,), _ = parse_trail(trace, trail)
    lines = trace.terms(cell.stage, cell.index).lines(repr)
    (breakdown,) = breakdowns(at).values()
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
    assert quiet(at)
    assert "trail" not in at.query_params
    assert walked(at) == ["output[falls, 1]"]
    at.text_input(key="sentence").set_value(SENTENCE).run()
    assert walked(at) == ["output[mat, 3]", "concat[mat, 6]"]


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
    at.segmented_control(key="question").set_value(MOVES).run()
    assert quiet(at)


@pytest.mark.parametrize("name", ["output", "attention", "masked", "scaled"])
@pytest.mark.parametrize(
    ("mask", "changes"), [("none", ()), ("causal", ()), ("none", ("masked[0,1,2]=-inf",)), ("causal", ("mask[0,2]=1",))]
)
def test_that_hidden_scores_have_no_slope_is_said_where_it_is_so(name, mask, changes):
    trace = trace_of(Settings(SENTENCE, mask=mask)).with_changes(*map(parse_change, changes))
    cell = trace[name].cell((1, 2) if name == "output" else (0, 0, 2))
    at = opened(APART, trail=format_trail([cell]), ask=MOVES, mask=mask, changes=";".join(changes))
    said = any("A hidden key's scores have a slope of exactly 0" in text for text in texts(at))
    hidden = np.isneginf(trace["masked"].value)
    found = gradients(trace, name, cell.index)
    assert said == (hidden.any() and name in ("output", "attention"))
    if said:
        assert all((found[each][hidden] == 0).all() for each in ("scores", "scaled", "masked"))
