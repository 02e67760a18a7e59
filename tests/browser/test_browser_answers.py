"""What a model answers, what made it, what would change it and how its training led to it, in a real browser."""

import re

from answers import RECALL, TIRED, answer_is, trace_of_model
from tab import at, becomes, expect, heading, numbers_are, parameters

from attnviz import Settings, trace_of
from attnviz.analysis.flips import flips
from attnviz.analysis.row_ranking import ranking_of
from attnviz.core.changes import parse_change
from attnviz.core.numerals import digits, short
from attnviz.explain.flips import headline, sentences
from attnviz.explain.wording import percent
from attnviz.models import MODELS

WHO, RECALLED = trace_of_model("who-is-it", TIRED), trace_of_model("recall", RECALL)

_PLACES = "(all) => all.map((each) => each.getBoundingClientRect().y)"


def test_hiding_a_word_changes_the_answer(visit):
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


LAYER_2 = ["residual_2", "output_2", "concat_2", "heads_2", "v_2"]
LAYER_1 = ["residual_1", "output_1", "concat_1", "heads_1", "v_1"]


def unfolded(page):
    return parameters(page).get("trail", "").split("<")[-1]


def test_answer_unfolds_down_to_the_words(opened):
    page = opened(model="recall")
    page.locator(".learns .answer-of button").click()
    expect(heading(page, "probabilities[e (2), 1] = ")).to_be_visible()
    for stage in ["logits", *LAYER_2, *LAYER_1, "x", "embeddings"]:
        page.locator(".terms").get_by_role("button", name=re.compile(f"^{stage}\\[")).first.click()
        becomes(page, lambda: unfolded(page).partition("[")[0], stage)
        value = RECALLED[stage].value[parse_change(f"{unfolded(page)}=0").index]
        expect(page.locator(".panel h3")).to_have_text(re.compile(f"^{stage}\\[.* = {digits(value)}$"))
    expect(page.locator(".panel")).to_contain_text("learnt in training")


def test_presented_answer_comes_last(visit):
    page = visit().open(at(model="who-is-it", step="answer", view="matrices", present=1, reveal=0))
    answer = page.locator(".thread .answer")
    expect(answer).to_have_text("?")
    expect(page.locator(".settings")).to_be_hidden()
    page.get_by_role("slider", name="Training steps").press("Home")
    expect(page.locator(".learns .after")).to_have_text("before training")
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


def test_second_tap_hits_the_same_place(visit):
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


def test_flip_of_an_answer_is_listed_and_set(visit):
    page = visit().open(at(model="who-is-it"))
    trace = trace_of_model("who-is-it", TIRED)
    contest = ranking_of(trace, "probabilities", (11, 0))
    found = flips(trace, contest)
    page.get_by_role("button", name="What would flip it?").click()
    listed = page.get_by_role("region", name="What would flip it")
    expect(listed.locator(".head p")).to_have_text(headline(trace, contest))
    expect(listed.locator("li p")).to_have_text([text for _, text in sentences(trace, contest, found)])
    scores = next(each.flip for each in found if each.stage == "scores")
    listed.get_by_role("button", name=trace.name_of(scores.cell)).click()
    expect(heading(page, f"{trace.name_of(scores.cell)} = 56.7104")).to_be_visible()
    listed.locator("li", has_text=trace.name_of(scores.cell)).get_by_role("button", name="Set it").click()
    after = trace.with_change("scores", scores.cell.index, scores.turns)
    answer_is(page, trace.axes("probabilities")[-1].label(scores.winner), after, was="animal", before=trace)
    expect(listed).to_be_hidden()
    becomes(page, lambda: parameters(page).get("changes"), f"scores[0,11,1]={scores.turns}")

    page.get_by_role("button", name="Undo all").click()
    answer_is(page, "animal", trace)
    other = next(each.flip for each in found if each.stage == "v")
    assert other.cell.index[1] != 11, "in another row, which leaves one at the row that it turns"
    page.get_by_role("button", name="What would flip it?").click()
    own = listed.locator("li", has_text=trace.name_of(other.cell))
    own.get_by_role("button", name=trace.name_of(other.cell), exact=True).first.click()
    own.get_by_role("button", name="Set it").click()
    becomes(page, lambda: parameters(page).get("changes"), f"v[{','.join(map(str, other.cell.index))}]={other.turns}")
    expect(page.locator(".thread [role=option][aria-description*=query]")).to_have_text(re.compile("^tired"))


def test_flip_of_a_row_is_listed(visit):
    page = visit().open(at(sentence="the cat sat", step="softmax", view="matrices", cell="1.2.1.1.1"))
    trace = trace_of(Settings("the cat sat"))
    contest = ranking_of(trace, "attention", (0, 1, 0))
    page.get_by_role("button", name="What would flip this row?").click()
    listed = page.get_by_role("region", name="What would flip it")
    texts = [text for _, text in sentences(trace, contest, flips(trace, contest))]
    expect(listed.locator("li p")).to_have_text(texts)
    listed.get_by_role("button", name="Close").click()
    expect(listed).to_be_hidden()
    expect(page.get_by_role("button", name="What would flip this row?")).to_be_visible()


def figures(page):
    return page.locator(".measures .figures")


def address(page):
    """The parameters of the address besides the cell: what is seen first may be another at another checkpoint."""
    return {name: value for name, value in parameters(page).items() if name != "cell"}


def strip_is(page, model, checkpoint):
    """Wait until “About this model” says what a checkpoint can do: its loss, accuracy, patterns and table of kinds."""
    training = MODELS[model].training_data(0, checkpoint)
    steps = training["checkpoints"]
    loss, accuracy = next(each for step, *each in training["curve"] if step == steps[checkpoint])
    after = f"after {steps[checkpoint]} of {steps[-1]} steps" if checkpoint else "before training"
    expect(figures(page)).to_have_text(f"{after}:loss {short(loss)}held-out accuracy {percent(accuracy)}")
    for pattern in training["patterns"]:
        expect(page.locator(".measures .patterns")).to_contain_text(percent(pattern["value"]) + pattern["label"])
    kinds = training["kinds"]["values"] if training["kinds"] else []
    becomes(page, page.locator(".kinds td").all_inner_texts, [short(value) for row in kinds for value in row])


def test_slider_moves_the_checkpoint(visit):
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


def test_play_ends_with_the_last_checkpoint_everywhere(visit):
    page = visit().open(at(model="who-is-it", checkpoint=8))
    strip_is(page, "who-is-it", 8)
    page.get_by_role("button", name="Play the training").click()
    strip_is(page, "who-is-it", 11)
    expect(page.get_by_role("button", name="Play the training")).to_be_visible()
    becomes(page, lambda: address(page), {"model": "who-is-it"})
