"""Training in a real browser: the pass of the server follows the slider, its numbers, its answer and its address."""

import pytest
from answers import RECALL, TIRED, answer_is, trace_of_model
from numerals import short
from tab import at, becomes, expect, numbers_are, parameters

from attnviz.explain.wording import percent
from attnviz.models import MODELS

pytestmark = pytest.mark.browser


def figures(page):
    return page.locator(".training .figures")


def address(page):
    """The parameters of the address besides the cell: what is seen first may be another at another checkpoint."""
    return {name: value for name, value in parameters(page).items() if name != "cell"}


def strip_is(page, model, checkpoint):
    """Wait until the strip says what a checkpoint can do: its loss, accuracy, patterns and table of kinds."""
    training = MODELS[model].training_data(0, checkpoint)
    steps = training["checkpoints"]
    loss, accuracy = next(each for step, *each in training["curve"] if step == steps[checkpoint])
    after = f"after {steps[checkpoint]} of {steps[-1]} steps" if checkpoint else "before training"
    expect(figures(page)).to_have_text(f"{after}:loss {short(loss)}held-out accuracy {percent(accuracy)}")
    for pattern in training["patterns"]:
        expect(page.locator(".training .patterns")).to_contain_text(percent(pattern["value"]) + pattern["label"])
    kinds = training["kinds"]["values"] if training["kinds"] else []
    becomes(page, page.locator(".kinds td").all_inner_texts, [short(value) for row in kinds for value in row])


def test_pictures_figures_answer_and_address_follow_the_slider(visit):
    there = {"model": "recall", "step": "softmax-2"}
    page = visit().open(at(**there))
    slider = page.get_by_role("slider", name="Training steps")
    for key, checkpoint, answer in (("Home", 0, "2"), ("ArrowRight", 1, "5"), ("ArrowRight", 2, "1"), ("End", 9, "1")):
        slider.press(key)
        trace = trace_of_model("recall", RECALL, checkpoint=checkpoint)
        answer_is(page, answer, trace)
        numbers_are(page, "Attention", trace["attention_2"].value)
        strip_is(page, "recall", checkpoint)
        here = there | ({} if checkpoint == 9 else {"checkpoint": str(checkpoint)})
        becomes(page, lambda: address(page), here)


def test_play_shows_each_checkpoint_to_the_last(visit):
    page = visit().open(at(model="who-is-it", step="softmax", checkpoint=8))
    strip_is(page, "who-is-it", 8)
    figures(page).evaluate(
        """(box) => {
            window.shown = [];
            new MutationObserver(() => shown.push(box.firstChild.textContent)).observe(box, { childList: true });
        }"""
    )
    page.get_by_role("button", name="Play training").click()
    becomes(
        page, lambda: list(dict.fromkeys(page.evaluate("shown"))), [f"after {n} of 400 steps:" for n in (100, 200, 400)]
    )
    expect(page.get_by_role("button", name="Play training")).to_be_visible()
    answer_is(page, "animal", trace_of_model("who-is-it", TIRED))
    becomes(page, lambda: address(page), {"model": "who-is-it", "step": "softmax"})
