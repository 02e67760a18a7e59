"""Pictures of lessons’ own: a mistake with the mask, the sweep of d_k, and the answers that a class gave."""

import json
import math

import numpy as np
import pytest
from alone import tab_with

from attnviz.analysis.sweep import LENGTHS, REACHES, sweep
from attnviz.explain.wording import percent
from attnviz.lessons.figures import with_mistake
from attnviz.lessons.lesson import LESSONS, moment, passes_at

WIDTHS = """bars => bars.map(bar => {
    const { width, height } = bar.getBoundingClientRect();
    return height > 5 ? width / bar.parentNode.clientWidth : null;
})"""
"""How wide bars are that are seen, of the room that they have."""


@pytest.fixture(scope="module")
def tab(browser):
    yield from tab_with(browser, "lesson_pictures.html")


@pytest.fixture
def drawn(tab):
    """Draw the picture of a moment; it must make no errors."""

    def start(lesson, number, *, covered=False, presented=False):
        sent = json.loads(moment(lesson, number))
        tab.page.evaluate(
            "of => draw(...of)", [{each: sent[each] for each in ("picture", "isOptional")}, covered, presented]
        )
        return tab.page

    yield start
    assert tab.errors == []


def of_kind(kind):
    return [
        (name, number)
        for name, own in LESSONS.items()
        for number, each in enumerate(own.moment, start=1)
        if each.picture and type(each.picture).__struct_config__.tag == kind
    ]


@pytest.mark.parametrize("place", of_kind("mistake"))
def test_mistake_is_drawn_beside_the_right_weights_after_the_answer(drawn, place):
    made = LESSONS[place[0]].moment[place[1] - 1]
    row = with_mistake(passes_at(made.at).trace(), made.picture.of, made.picture.word)
    page = drawn(*place, covered=True)
    assert page.locator(".share-bars").count() == 1, "the wrong shares would give the answer away"
    assert page.locator(".law").count() == 0
    page = drawn(*place)
    right, wrong = page.locator(".share-bars").all()
    for figure, shares in ((right, row.right), (wrong, row.wrong)):
        widths = figure.locator(".bar").evaluate_all(WIDTHS)
        assert widths == pytest.approx(shares.tolist(), abs=0.005)
        assert figure.locator("li.hidden").count() == row.hidden.sum()
        assert figure.locator(".sum").inner_text() == f"Sum {shares.sum():.4f}"
        assert figure.locator(".number").all_inner_texts() == list(map(percent, shares))
    titles, sides = page.locator("figcaption").all_inner_texts(), json.loads(moment(*place))["picture"]["sides"]
    assert titles == [f"Weights of “{made.picture.word}” {sides[0]}", sides[1]]
    assert page.locator(".law").all_inner_texts() == [f"Broken rule: {law}" for law in row.laws]


ROOMS = [(610, 483), (534, 382)]
"""What a class leaves a picture of its projector, at 1024x768 and 900x600."""


@pytest.mark.parametrize("place", of_kind("sweep") + of_kind("mistake"))
def test_presented_picture_ends_above_its_foot(tab, place):
    sent = json.loads(moment(*place))
    of = {each: sent[each] for each in ("picture", "isOptional")}
    assert [tab.page.evaluate("of => drawIn(...of)", [of, *room]) > 0.5 for room in ROOMS] == [False] * len(ROOMS)
    assert tab.page.evaluate("of => drawIn(...of)", [of, 610, 60]) > 0.5, "it was measured"


@pytest.mark.parametrize("place", of_kind("sweep"))
def test_sweep_slider_and_divisor_buttons(drawn, place):
    made = LESSONS[place[0]].moment[place[1] - 1]
    asked = made.picture
    page = drawn(*place, covered=True)
    assert page.locator(".share-bars, .averages").count() == 0, "the question is about scores alone"
    slider = page.get_by_role("slider", name="d_k")
    for key in ("Home", "ArrowRight", "End") if slider.is_visible() else []:
        before = page.locator("output").inner_text()
        slider.press(key)
        assert page.locator("output").inner_text() != before, "what looks alive moves"
    assert page.locator("output").inner_text() == f"d_k = {asked.d_k // 8}", "the next ones would tell the answer"
    page.evaluate("uncover()")
    assert LENGTHS[int(slider.input_value())] == asked.d_k
    page = drawn(*place)
    assert page.locator("output").inner_text() == f"d_k = {asked.d_k}"
    for key, at in (("Home", 0), ("ArrowRight", 1), ("End", 9), ("ArrowLeft", 8)):
        slider.press(key)
        assert page.locator("output").inner_text() == f"d_k = {LENGTHS[at]}"
        assert slider.get_attribute("aria-valuetext") == f"d_k = {LENGTHS[at]}"
    for id, label in (("none", "not divided"), ("d_k", "divided by d_k"), ("root", "divided by √d_k")):
        if id not in asked.offered:
            assert page.get_by_role("button", name=label, exact=True).count() == 0, "asked about later"
            continue
        buttons = page.get_by_role("button", name=label, exact=True)
        assert buttons.count() == (len(asked.offered) > 1), "one divisor alone is no choice"
        if buttons.count():
            buttons.click()
            assert buttons.get_attribute("aria-pressed") == "true"
        swept = sweep()[id][8]
        assert (
            f"spread {swept.spread:.2f}, in theory {swept.expected:.2f} (the curve)."
            in page.locator(".chart p").first.inner_text()
        )
        widths = page.locator(".share-bars .bar").evaluate_all(WIDTHS)
        assert widths == pytest.approx(swept.shares.tolist(), abs=0.005)
        tall = page.locator("rect.bar").evaluate_all("all => all.map(each => Number(each.getAttribute('height')))")
        curve = page.locator(".curve").get_attribute("points").split()
        highest = min(float(point.split(",")[1]) for point in curve)
        assert sum(float(point.split(",")[1]) < highest + 0.01 for point in curve) == 1, "the curve is cut flat"
        assert_normal(page.locator("svg:has(.curve)"), tall, swept.expected / REACHES[id])
        assert [each > 0 for each in tall] == [count > 0 for count in swept.counts]
        slope = [f"{swept.slope:.4f}"] if made.optional else []  # which a card for engineers alone explains
        assert page.locator(".averages dd").all_inner_texts() == [percent(swept.largest), *slope]


def assert_normal(svg, tall, expected):
    """Whether a curve is the density of normal scores of a spread, as a part of the reach, in units of the bars."""
    _, _, width, height = map(float, svg.get_attribute("viewBox").split())
    points = [tuple(map(float, each.split(","))) for each in svg.locator(".curve").get_attribute("points").split()]
    scores = np.array([2 * x / width - 1 for x, _ in points])
    parts = np.array([height - y for _, y in points]) / sum(tall)  # of all pairs, in a bin
    density = np.exp(-((scores / expected) ** 2) / 2) / (expected * math.sqrt(2 * math.pi))
    assert parts == pytest.approx(density * 2 / len(tall), rel=1e-6, abs=1e-9)


ROUNDS = [[[0, 2], [2, 5]], [[1, 7], [2, 1]]]
COUNTED = """all => all.map(each => ({
    label: each.querySelector(".label, .sr-only")?.textContent ?? "",
    text: each.querySelector(".count, .sr-only:not(:first-child)")?.textContent ?? "",
    dots: [...each.querySelectorAll(".stack")].map(stack => stack.children.length),
    isRight: each.classList.contains("right"),
    middle: parseFloat(each.style.left),
}))"""
"""What stands for each answer on the board, or over its place."""


def counted(tab, question, counts, is_shown):
    tab.page.evaluate("given => count(...given)", [question, counts, is_shown])
    return tab.page.locator(".stacks li").evaluate_all(COUNTED)


@pytest.mark.parametrize("is_shown", [True, False])
def test_class_answers_are_counted_by_round(tab, is_shown):
    labels = ["the", "cat", "sat", "on"]
    question = {"kind": "choose", "candidates": [{"label": each} for each in labels], "right": [1], "isCode": False}
    lefts = "all => new Set(all.map(each => each.getBoundingClientRect().left)).size"
    tab.page.evaluate("given => count(...given)", [{**question, "isCode": True}, ROUNDS, is_shown])
    assert tab.page.locator(".stacks .label").evaluate_all(lefts) == 1, "lines of code begin below each other"
    found = counted(tab, question, ROUNDS, is_shown)
    assert tab.page.locator(".class-board h2 math msub").text_content() == "dk", "as in the text beside it"
    assert [each["label"] for each in found] == labels
    for place, each in enumerate(found):
        own = [sum(n for value, n in of if value == place) for of in ROUNDS]
        assert each["dots"] == own
        assert each["isRight"] == (is_shown and place == 1)
        assert each["text"] == (" → ".join(map(str, own)) if any(own) else "") + (" ✓" if each["isRight"] else "")


def test_class_numbers_are_sorted_with_the_right_one(tab):
    question = {"kind": "fill", "right": 1.3333, "text": "1.33", "tolerance": 0.005, "isShare": False}
    for counts, names in (([[[-2, 1], [0.5, 3], [4, 2]]], ["−2", "0.5", "1.33", "4"]), ([[[1.33, 2]]], ["1.33"])):
        found = counted(tab, question, counts, True)
        assert [each["label"] for each in found] == names
        given = {**{f"{value:g}".replace("-", "−"): n for value, n in counts[0]}}
        assert [each["dots"] for each in found] == [[given.get(name, 0)] for name in names]
        assert [name for name, each in zip(names, found, strict=True) if each["isRight"]] == ["1.33"]


OPACITIES = "all => all.map(each => Number(getComputedStyle(each).opacity))"


def test_class_numbers_keep_their_round(tab):
    question = {"kind": "fill", "right": 2, "text": "2", "tolerance": 0.1, "isShare": False}
    rounds = [[[-1, 2], [2.05, 1], [10, 4]], [[-1, 1], [2, 5]]]
    found = counted(tab, question, rounds, False)
    expected = [("−1", [2, 1]), ("2", [0, 5]), ("2.05", [1, 0]), ("10", [4, 0])]
    assert [(each["label"], each["dots"], each["text"]) for each in found] == [
        (label, dots, " → ".join(map(str, dots))) for label, dots in expected
    ]
    first, second = tab.page.locator(".stacks li").first.locator(".stack").evaluate_all(OPACITIES)
    assert first < second == 1, "those of before are paler"
    tab.page.evaluate("given => count(...given)", [question, rounds[:1], False])
    assert set(tab.page.locator(".stacks .stack").evaluate_all(OPACITIES)) == {1}


SPOT = """() => {
    const [dots, slider] = [".placed-dots .stack", ".slider input"].map(what =>
        document.querySelector(what).getBoundingClientRect());
    return [dots.left + dots.width / 2, slider.top + slider.height / 2];
}"""
"""The spot on the slider that is below the dots."""


def test_click_on_slider_gives_the_value_of_the_dot(tab):
    question = {"kind": "fill", "right": 0.5, "text": "50 %", "tolerance": 0.05, "isShare": True}
    for share in (0, 0.07, 0.13, 0.34, 0.49, 0.72, 0.98, 1):
        tab.page.evaluate("given => countOver(...given)", [question, [[[share, 2]]], False])
        tab.page.mouse.click(*tab.page.evaluate(SPOT))
        given = int(tab.page.locator(".slider input").input_value()) / 100
        assert given == pytest.approx(share, abs=0.025 + 0.01), "half a twentieth, and a step of the slider"


def test_class_weights_sit_on_the_slider(tab):
    question = {"kind": "fill", "right": 0.3, "text": "30 %", "tolerance": 0.05, "isShare": True}
    counts = [[[0, 1], [0.32, 2], [1, 4]], [[0.3, 3]]]
    said = {"0 %": "1 → 0", "30 %": "2 → 3", "100 %": "4 → 0"}
    tab.page.evaluate("given => count(...given)", [question, counts, True])
    found = [each for each in tab.page.locator(".stacks li").evaluate_all(COUNTED) if each["label"]]
    assert [each["label"].replace("\N{NO-BREAK SPACE}", " ") for each in found] == [
        ": ".join(each) for each in said.items()
    ]
    assert tab.page.locator(".truth").evaluate("each => [each.textContent, each.style.getPropertyValue('--at')]") == [
        "30 %",
        "30%",
    ]
    tab.page.evaluate("given => countOver(...given)", [question, counts, False])
    over = tab.page.locator(".placed-dots li").evaluate_all(COUNTED)
    assert {each["label"].replace("\N{NO-BREAK SPACE}", " "): each["text"].replace("→", " → ") for each in over} == said
    first, middle, last = (each["middle"] for each in over)
    assert (middle - first) / (last - first) == pytest.approx(0.3, abs=0.01)


@pytest.mark.parametrize("place", [of_kind("sweep")[0], of_kind("mistake")[0]])
def test_pictures_fit_phone_and_hall(drawn, place):
    page = drawn(*place)
    page.set_viewport_size({"width": 390, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1366, "height": 768})
    page = drawn(*place, presented=True)
    sizes = page.locator(".own-picture :is(p, span, dt, dd, button, output, figcaption)").evaluate_all(
        "all => all.filter(each => each.textContent.trim()).map(each => parseFloat(getComputedStyle(each).fontSize))"
    )
    assert min(sizes) >= 0.015 * 768
