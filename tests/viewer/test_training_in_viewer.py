"""The strip of a training, answers beside the words, and swaps: the viewer alone, shown passes of models."""

import json
import re

import pytest
from alone import sent, show, written
from sight import rectangles
from tab import becomes, frames, move_mouse, resized

from attnviz.core.numerals import short
from attnviz.explain.wording import percent

pytestmark = pytest.mark.browser


def drawn_as(page, name):
    """The points of the lines of a name in the curves, each with its height from the bottom."""
    paths = page.locator(f".curve .{name}").evaluate_all("(all) => all.map((each) => each.getAttribute('d'))")
    numbers = [[float(number) for number in re.findall(r"[\d.]+", path)] for path in paths]
    return [[(x, 100 - y) for x, y in zip(each[::2], each[1::2], strict=True)] for each in numbers]


def test_curves_match_the_recorded_training(opened):
    page = opened(model="who-is-it")
    steps, losses, accuracies = zip(*json.loads(written(model="who-is-it"))["model"]["training"]["curve"], strict=True)
    for name, figures, most in (("loss", losses, max(losses)), ("accuracy", accuracies, 1)):
        (points,) = drawn_as(page, name)
        assert [height for _, height in points] == pytest.approx([100 * each / most for each in figures], abs=0.01)
        assert [x for x, _ in points] == sorted({x for x, _ in points})
        assert len(points) == len(steps)
    said = page.locator(".curve").get_attribute("aria-label")
    assert said.startswith(f"The loss goes from {short(losses[0])} to {short(losses[-1])} and held-out accuracy from ")
    assert said.endswith(f"{percent(accuracies[0])} to {percent(accuracies[-1])} in {steps[-1]} steps of training")


def test_each_digit_is_above_its_answer(opened):
    page = opened(model="mirror", sentence="3 1 4 1 5 9 2 6")
    assert page.locator(".thread .answer strong").all_inner_texts() == [*"62951413"]
    words, answers = (
        [box["x"] + box["width"] / 2 for box in (each.bounding_box() for each in page.locator(selector).all())]
        for selector in (".thread .words button", ".thread .answer")
    )
    assert words == [pytest.approx(x, abs=2) for x in answers]


@pytest.mark.slow
def test_typed_words_can_be_swapped(opened):
    page = opened("?step=softmax&ask=what if&cell=1.12.2.1.1", model="who-is-it")
    page.get_by_role("button", name="Swap “tired” and “animal”").click()
    assert sent(page) == [["swap", [11, 1]]]
    page = opened("?step=softmax&ask=what if&cell=1.2.2.1.1", model="who-is-it")
    assert page.get_by_role("button", name="Swap").count() == 0, "a word and itself"
    page = opened("?step=softmax&ask=what if&cell=1.2.3.1.1", source="001 with")
    assert page.get_by_role("button", name="Swap").count() == 0, "nobody typed these"


PLACES = [
    *(".training > *", ".training span", ".training td", ".thread button", ".step-text", ".matrix"),
    *(".legend .scale", ".panel > :not(.reply)"),
]


@pytest.mark.parametrize(
    ("model", "step"), [("who-is-it", "question"), pytest.param("recall", "answer", marks=pytest.mark.slow)]
)
def test_nothing_moves_while_training_plays(opened, model, step):
    page = opened(f"?step={step}", model=model)
    last = len(json.loads(written(model=model))["model"]["training"]["checkpoints"]) - 1
    there = {}
    for place in (1, 2, last // 2, last):
        show(page, model=model, checkpoint=str(place))
        frames(page)
        there[place] = rectangles(page, PLACES)
    for place, now in there.items():
        moved = {name: (now.get(name), at) for name, at in there[last].items() if now.get(name) != at}
        assert moved == {}, place


@pytest.mark.parametrize(("model", "sentence", "answers"), [("mirror", "1 2 3", 3), ("who-is-it", "was", 1)])
def test_unjudged_answer_is_marked(opened, model, sentence, answers):
    page = opened(model=model, sentence=sentence)
    marks = page.locator(".thread .answer").get_by_role(
        "img", name="No answer is right: the model was not made for this text"
    )
    assert marks.all_inner_texts() == ["?"] * answers
    assert page.locator(".thread .answer").first.get_attribute("title").startswith("No answer is right: ")


@pytest.mark.parametrize(("model", "step"), [("who-is-it", "softmax"), ("mirror", "question")])
def test_phone_shows_question_first(opened, model, step):
    page = opened(f"?step={step}", model=model)
    resized(page, 366, 844)
    order = [
        page.locator(each).bounding_box()["y"] for each in (".way", ".step-text", ".thread", ".training", ".panel")
    ]
    assert order == sorted(order)
    for word in page.locator(".thread button").filter(visible=True).all():
        box = word.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 366


@pytest.mark.slow
@pytest.mark.parametrize("model", ["who-is-it", "microgpt"])
def test_strip_appears_with_the_mouse_in_a_talk(opened, model):
    page = opened("?present=1&view=matrices&step=answer", model=model)
    strip = page.locator(".training")
    for size in ((1024, 768), (3840, 2160)):
        resized(page, *size)
        move_mouse(page)
        becomes(page, lambda: strip.evaluate("(each) => getComputedStyle(each).opacity"), "1", size)
        assert strip.evaluate("(each) => each.clientWidth > 0 && each.scrollWidth <= each.clientWidth"), size
        page.keyboard.press("PageUp")
        becomes(page, lambda: strip.evaluate("(each) => getComputedStyle(each).opacity"), "0", size)
