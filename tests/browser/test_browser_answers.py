"""What a model answers, what made it, and what it would be if something were another, in a real browser."""

import re

import pytest
from answers import RECALL, TIRED, answer_is, trace_of_model
from tab import at, becomes, expect, heading, numbers_are, parameters

from attnviz.core.changes import mute_change, parse_change
from attnviz.core.numerals import digits

pytestmark = pytest.mark.browser

WHO, RECALLED = trace_of_model("who-is-it", TIRED), trace_of_model("recall", RECALL)

_PLACES = "(all) => all.map((each) => each.getBoundingClientRect().y)"


def test_hiding_the_animal_from_the_last_word_changes_the_answer_and_says_what_it_was(visit):
    tab = visit()
    page = tab.open(at(model="who-is-it"))
    page.get_by_role("button", name="Hide “animal” from “tired”").click()
    hidden = WHO.with_changes(parse_change("mask[11,1]=0"))
    answer_is(page, "horse", hidden, was="animal", before=WHO)
    becomes(page, lambda: parameters(page).get("changes"), "mask[11,1]=0")
    page.get_by_role("button", name="Softmax", exact=True).click()
    numbers_are(page, "Attention", hidden["attention"].value)
    tab.settled()
    page.get_by_role("button", name="Show “animal” to “tired”").click()
    answer_is(page, "animal", WHO)
    becomes(page, lambda: "changes" in parameters(page), False)


def test_a_muted_head_of_a_layer_changes_the_answer_and_is_undone(visit):
    tab = visit()
    page = tab.open(at(model="recall", step="weighted-sum-2", ask="whatif"))
    page.get_by_role("button", name="Mute head 1 of layer 2").press("Enter")
    quiet = RECALLED.with_changes(mute_change(0, "heads_2"))
    answer_is(page, "1", quiet, was="1", before=RECALLED)
    numbers_are(page, "Head outputs", quiet["heads_2"].value)
    tab.settled()
    expect(page.get_by_role("button", name="Unmute head 1 of layer 2")).to_be_focused()
    page.keyboard.press("Enter")
    answer_is(page, "1", RECALLED)


LAYER_2 = ["residual_2", "output_2", "concat_2", "heads_2", "v_2"]
LAYER_1 = ["residual_1", "output_1", "concat_1", "heads_1", "v_1"]


def unfolded(page):
    """The number that was unfolded last, as the address writes it."""
    return parameters(page).get("trail", "").split("<")[-1]


@pytest.mark.slow
def test_the_answer_is_taken_apart_down_to_the_words_by_clicks(opened):
    page = opened(model="recall")
    page.locator(".thread .answer").click()
    expect(heading(page, "probabilities[e (2), 1] = ")).to_be_visible()
    for stage in ["logits", *LAYER_2, *LAYER_1, "x", "embeddings"]:
        page.locator(".terms").get_by_role("button", name=re.compile(f"^{stage}\\[")).first.click()
        becomes(page, lambda: unfolded(page).partition("[")[0], stage)
        value = RECALLED[stage].value[parse_change(f"{unfolded(page)}=0").index]
        expect(page.locator(".panel h3")).to_have_text(re.compile(f"^{stage}\\[.* = {digits(value)}$"))
    expect(page.locator(".panel")).to_contain_text("learnt in training")


def test_while_presenting_the_training_and_the_answer_are_there_and_the_answer_comes_last(visit):
    page = visit().open(at(model="who-is-it", step="answer", view="matrices", present=1, reveal=0))
    answer = page.locator(".thread .answer")
    expect(answer).to_have_text("?")
    expect(page.locator(".settings")).to_be_hidden()
    page.get_by_role("slider", name="Training steps").press("Home")
    expect(page.locator(".training .figures")).to_contain_text("before training")
    there = {"checkpoint": "0", "step": "answer", "present": "1", "reveal": "0"}
    becomes(page, lambda: parameters(page).items() >= there.items(), True)
    expect(answer).to_have_text("?")
    while page.locator(".viewer").get_attribute("data-reveal") != "all":
        page.keyboard.press("PageDown")
    answer_is(page, "animal", trace_of_model("who-is-it", TIRED, checkpoint=0))
    page.get_by_role("slider", name="Training steps").press("End")
    answer_is(page, "animal", WHO)
    becomes(page, lambda: "checkpoint" in parameters(page), False)
    becomes(page, lambda: parameters(page).get("present"), "1")


def test_on_a_first_visit_a_second_tap_at_a_place_hits_what_stood_there(visit):
    tab = visit()
    tab.open().evaluate("localStorage.clear()")
    page = tab.open()
    stands = page.locator(".viewer :is(.thread, .step-text, .columns)")
    expect(page.locator(".welcome")).to_be_visible()
    before = stands.evaluate_all(_PLACES)
    for chip, answer in (("wide", "street"), ("tired", "animal")):
        page.get_by_role("button", name=chip, exact=True).click()
        expect(page.locator(".answer strong").first).to_have_text(answer)
        tab.settled()
        expect(page.locator(".welcome")).to_be_visible()
        becomes(page, lambda: stands.evaluate_all(_PLACES), before)
