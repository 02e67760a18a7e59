"""Layers in the viewer: a pass of two layers that ends in answers, shown in a real browser."""

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from alone import number, sent, written
from answers import RECALL, answer_is, trace_of_model
from passes import TRACES
from tab import at, becomes, cell, parameters, resized

from attnviz.core.numerals import digits
from attnviz.models import MODELS
from attnviz.scene.address import VIEWERS
from attnviz.scene.scene import of_model
from attnviz.scene.with_pass import resolve

pytestmark = pytest.mark.browser

TRACE, RECALLED = TRACES["two layers that learnt"], trace_of_model("recall", RECALL)
LAYERS = ("Layer 1", "Layer 2")


def steps(trace=TRACE):
    return json.loads(written(trace=trace))["steps"]


def titles(page):
    """The steps that stand on the map."""
    return page.locator(".map .step .title").all_inner_texts()


@pytest.mark.slow
def test_the_map_opens_the_layer_one_is_in_and_folds_the_other_into_one_step(opened):
    page = opened(trace=TRACE)
    before, after = ([step["title"] for step in each if not step["layer"]] for each in (steps()[:4], steps()[4:]))
    of_layer = {n: [step["title"] for step in steps() if step["layer"] == n] for n in (1, 2)}
    assert titles(page) == [*before, *LAYERS, *after]
    page.get_by_role("button", name="Layer 2", exact=True).click()
    assert parameters(page)["step"] == "qkv-2"
    assert titles(page) == [*before, "Layer 1", *of_layer[2], *after]
    assert page.locator(".map [aria-current]").evaluate("(each) => each === document.activeElement"), (
        "the key stays there"
    )
    page.get_by_role("button", name="Layer 1", exact=True).press("Enter")
    assert titles(page) == [*before, *of_layer[1], "Layer 2", *after]
    page.get_by_role("button", name="Scores", exact=True).click()
    assert parameters(page)["step"] == "scores-1"


@pytest.mark.slow
def test_next_walks_through_all_steps_each_on_the_map_and_named_with_its_layer(opened):
    page = opened(model="recall")
    for step in steps(RECALLED):
        assert parameters(page).get("step", "question") == step["id"]
        assert page.locator(".map [aria-current] .title").inner_text() == step["title"]
        said = page.locator(".step-text header .layer").all_inner_texts()
        assert said == ([LAYERS[step["layer"] - 1]] if step["layer"] else [])
        seen, there = page.locator(".map").evaluate("(map) => [map.clientWidth, map.scrollWidth]")
        assert there <= seen + 1, "the whole map is in sight"
        answer_is(page, "1", RECALLED)
        page.keyboard.press("PageDown")
    assert sent(page) == []


@pytest.mark.parametrize("n", [1, 2])
def test_words_arcs_and_heads_are_those_of_the_step_s_layer(opened, n):
    page = opened(f"?step=softmax-{n}&cell=1.3.2.1.1", trace=TRACE)
    shares = TRACE[f"attention_{n}"].value[0, 2]
    arcs = page.locator(".thread .arc").evaluate_all(
        "(all) => all.map((each) => parseFloat(getComputedStyle(each).strokeWidth))"
    )
    assert sorted(arcs) == [pytest.approx(max(13 * share, 0.75), abs=0.01) for share in sorted(shares) if share]
    page.locator(".thread .target").first.dispatch_event("click")
    assert number(page).startswith(f"attention_{n}[head 1, ")
    page.get_by_role("button", name="what if", exact=True).click()
    page.get_by_role("button", name=f"Mute head 1 of layer {n}").click()
    assert sent(page)[-1] == ["mute", {"stage": f"heads_{n}", "place": 0}]


def test_a_number_that_another_layer_has_no_place_for_is_itself_when_picked_set_and_opened_by_a_link(opened):
    trace = resolve(replace(of_model("by-hand"), sentence="a b c a")).trace
    page = opened("?step=scores-1", model="by-hand", sentence="a b c a")
    cell(page, "Queries", 2, 5).click()
    said = f"q_1[head 1, b, 6] = {digits(trace['q_1'].value[0, 2, 5])}"
    assert number(page) == said
    box = page.get_by_role("textbox", name="Set by hand")
    box.fill("2")
    box.press("Enter")
    assert sent(page)[-1] == ["change", {"cell": "q_1[0,2,5]", "value": 2}]
    link = {name: text for name, text in parameters(page).items() if name in VIEWERS}
    page = opened(at(**link), model="by-hand", sentence="a b c a")
    assert number(page) == said


@pytest.mark.slow
def test_the_steps_of_each_layer_open_where_its_purpose_is_seen_until_a_word_is_picked(opened):
    page = opened("?step=softmax-1", model="recall", sentence="g 5 d 6 e 1 a 3 e")
    layers = MODELS["recall"].task.layers

    def opens(n, words):
        assert number(page).startswith(f"attention_{n}[head 1, {words}]")
        said = page.locator(".step-text p.said")
        assert said.inner_text().startswith(layers[n - 1])
        assert said.evaluate("(p) => p.getBoundingClientRect().top >= p.parentNode.getBoundingClientRect().top")

    opens(1, "1, e")
    page.get_by_role("button", name="Layer 2", exact=True).click()
    page.get_by_role("button", name="Softmax", exact=True).click()
    opens(2, "e (2), 1")
    assert "cell" not in parameters(page)
    page.get_by_role("option", name="3").first.click()
    page.get_by_role("button", name="Layer 1", exact=True).click()
    page.get_by_role("button", name="Softmax", exact=True).click()
    opens(1, "3, 1")


@pytest.mark.slow
@pytest.mark.parametrize(("size", "presenting"), [((1366, 768), "&present=1&view=matrices"), ((1920, 1080), "")])
def test_the_whole_pass_has_a_row_for_each_layer_and_is_seen_whole(opened, size, presenting):
    page = opened(f"?step=whole-pass{presenting}", trace=TRACE)
    page.add_style_tag(content=f".viewer {{ height: {size[1] - (0 if presenting else 128)}px !important }}")
    resized(page, *size)
    rows = page.locator(".whole .row")
    assert [row.get_attribute("data-layer") for row in rows.all()] == [*LAYERS]
    box = page.locator(".whole").bounding_box()
    for figure in page.locator(".whole .stage-of, .whole button.title").all():
        at = figure.bounding_box()
        assert box["x"] <= at["x"] <= at["x"] + at["width"] <= box["x"] + box["width"] + 1
        assert box["y"] <= at["y"] <= at["y"] + at["height"] <= box["y"] + box["height"] + 1
    tops = [row.bounding_box()["y"] for row in rows.all()]
    assert tops[1] - tops[0] > 60
    page.locator(".whole canvas").nth(3).click(position={"x": 5, "y": 5})
    becomes(page, lambda: page.locator(".whole .thumb .frame:not([hidden])").count(), 1)


@pytest.mark.slow
def test_of_many_layers_each_row_of_the_whole_pass_has_room_and_one_scrolls_to_the_last(opened):
    page = opened("?step=whole-pass", sentence="the cat sat on the mat", layers="6", mask="causal")
    page.add_style_tag(content=".viewer { height: 640px !important }")
    resized(page, 1366, 768)
    becomes(page, lambda: page.locator(".whole").evaluate("box => box.scrollHeight > box.clientHeight"), True)
    edges = """rows => rows.map(row => [...row.querySelectorAll(".stage-of, button.title")]
      .map(each => each.getBoundingClientRect())
      .reduce(([top, bottom], at) => [Math.min(top, at.top), Math.max(bottom, at.bottom)], [1e9, 0]))"""

    def apart():
        at = page.locator(".whole .row").evaluate_all(edges)
        return len(at) == 6 and all(above[1] <= below[0] + 1 for above, below in pairwise(at))

    becomes(page, apart, True)
    page.get_by_role("button", name="Residual", exact=True).last.click()
    assert parameters(page)["step"] == "residual-6"
