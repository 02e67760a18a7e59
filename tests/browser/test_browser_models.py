"""A model is chosen, given words, linked to and come back to, in a real browser."""

import pytest
from answers import RECALL, TIRED, WIDE, answer_is, first_answer_is, trace_of_model
from tab import at, becomes, expect, heading, numbers_are, parameters, pick, picked_is, sentence, typed

from attnviz import Settings, trace_of
from attnviz.scene.address import query
from attnviz.scene.scene import FIRST_VISIT, SENTENCE


def test_first_visit_asks_who_it_is(visit):
    page = visit().open()
    picked_is(page, "Show", "Who is “it”?")
    expect(heading(page, f"What does “it” refer to in “{TIRED}”?")).to_be_visible()
    first = query(FIRST_VISIT)
    first_answer_is(page, "animal", trace_of_model("who-is-it", TIRED, checkpoint=FIRST_VISIT.checkpoint))
    becomes(page, lambda: parameters(page), first)
    page.get_by_role("button", name="wide", exact=True).click()
    first_answer_is(page, "street", trace_of_model("who-is-it", WIDE, checkpoint=FIRST_VISIT.checkpoint))
    expect(heading(page, f"What does “it” refer to in “{WIDE}”?")).to_be_visible()
    expect(heading(page, "attention[head 1, wide, street]")).to_be_visible()
    expect(sentence(page)).to_have_value(WIDE)
    becomes(page, lambda: parameters(page), first | {"sentence": WIDE})


def test_unknown_word_gives_a_random_pass(visit):
    tab = visit()
    page = tab.open(at(model="who-is-it", step="softmax"))
    typed(sentence(page), "The catt was tired", delay=20)
    notice = page.get_by_role("alert")
    expect(notice).to_contain_text("This model doesn't know “catt”, so the pass below has random parameters.")
    numbers_are(page, "Attention", trace_of(Settings("The catt was tired"))["attention"].value[0])
    expect(sentence(page)).to_have_value("The catt was tired")
    expect(sentence(page)).to_be_focused()
    pick(page, "Mask", "causal")
    pick(page, "Heads", "1")
    masked = Settings("The catt was tired", n_heads=1, mask="causal")
    numbers_are(page, "Attention", trace_of(masked)["attention"].value[0])
    there = {"model": "who-is-it", "sentence": "The catt was tired", "heads": "1", "mask": "causal"}
    becomes(page, lambda: parameters(page).items() >= there.items(), True)
    page.reload()
    tab.settled()
    numbers_are(page, "Attention", trace_of(masked)["attention"].value[0])
    notice.get_by_role("button", name="catt → cat").click()
    expect(sentence(page)).to_have_value("The cat was tired")
    numbers_are(page, "Attention", trace_of_model("who-is-it", "the cat was tired")["attention"].value[0])
    expect(notice).to_be_hidden()
    sentence(page).press("End")
    sentence(page).press_sequentially(" today", delay=20)
    notice.get_by_role("button", name="Back to Who is “it”?").click()
    expect(sentence(page)).to_have_value(TIRED)
    answer_is(page, "animal", trace_of_model("who-is-it", TIRED))
    becomes(page, lambda: parameters(page), {"model": "who-is-it", "step": "softmax"})


def test_own_sentence_is_one_click_away(visit):
    page = visit().open()
    page.get_by_role("button", name="or type your own sentence").click()
    picked_is(page, "Show", "Your own sentence")
    expect(sentence(page)).to_have_value(SENTENCE)
    expect(page.get_by_role("combobox", name="d_model")).to_be_visible()
    expect(page.get_by_role("button", name="or type your own sentence")).to_have_count(0)
    page.keyboard.type("snow falls")
    expect(heading(page, "In “snow falls”, what does")).to_be_visible()
    becomes(page, lambda: parameters(page), {"sentence": "snow falls", "view": "sheet"})


@pytest.mark.parametrize("source", [{"model": "who-is-it", "view": "matrices"}, {"source": "002 sum"}])
def test_a_chosen_own_sentence_has_the_cursor_in_the_one_word_view(visit, source):
    page = visit().open(at(**source))
    pick(page, "Show", "Your own sentence")
    expect(sentence(page)).to_be_focused()
    becomes(page, lambda: parameters(page).get("view"), "sheet")
    page.keyboard.type("snow falls")
    becomes(page, lambda: parameters(page).get("sentence"), "snow falls")


def test_back_and_reload_keep_the_model(visit):
    tab = visit()
    address = {"model": "recall", "seed": "1", "checkpoint": "3", "step": "softmax-2"}
    page = tab.open(at(**address))
    early, late = (trace_of_model("recall", RECALL, 1, checkpoint) for checkpoint in (3, None))

    def is_early():
        answer_is(page, "1", early)
        numbers_are(page, "Attention", early["attention_2"].value)
        expect(page.locator(".learns .after")).to_have_text("after 125 of 600 steps")
        picked_is(page, "Seed", "1")
        becomes(page, lambda: parameters(page), address)

    is_early()
    page.reload()
    tab.settled()
    is_early()
    page.get_by_role("slider", name="Training steps").press("End")
    answer_is(page, "1", late)
    becomes(page, lambda: "checkpoint" in parameters(page), False)
    tab.settled()
    page.go_back()
    is_early()
