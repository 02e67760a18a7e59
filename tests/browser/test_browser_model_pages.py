"""The pages about models, one built by hand and what attention doesn't say, in a real browser."""

import pytest
from answers import WIDE, answer_is, trace_of_model
from tab import becomes, expect, parameters, sentence

from attnviz.articles.evidence import held_out
from attnviz.core.changes import format_changes
from attnviz.core.numerals import digits
from attnviz.models import MODELS
from attnviz.models.byhand import IDEAS, outcomes

pytestmark = pytest.mark.browser


def main(page):
    return page.get_by_test_id("stMain")


def go_through(page, door):
    page.get_by_role("button", name=door, exact=True).click()


def test_strings_are_answered_and_an_idea_breaks_as_many_as_it_says_and_each_opens_as_it_is_answered(visit):
    page = visit().open("by_hand")
    expect(main(page)).to_contain_text("The answer is b, with a probability of 1 ✓. The output is exactly one 1")
    box = page.get_by_role("textbox", name="A string of the letters a to d")
    box.fill("")
    box.press_sequentially("dabcd", delay=20)
    expect(main(page)).to_contain_text("The answer is a, with a probability of 1 ✓. The output is exactly one 1")
    expect(main(page)).to_contain_text("The last “d (2)” looks most at “a”: 1.")
    expect(box).to_have_value("dabcd")
    go_through(page, "Open in the walkthrough")
    answer_is(page, "a", trace_of_model("by-hand", "dabcd"))
    expect(sentence(page)).to_have_value("dabcd")
    becomes(page, lambda: parameters(page), {"model": "by-hand", "sentence": "dabcd", "view": "sheet"})

    page.go_back()
    idea = next(each for each in IDEAS if each.title == "Layer 1 does not pass on c")
    results = outcomes(idea.changes)
    broken = [each for each in results if not each.is_right]
    n_right, n_exact = len(results) - len(broken), sum(each.is_exact for each in results)
    page.get_by_text(idea.title).click()
    expect(main(page)).to_contain_text(
        f"Of 963 strings {n_right} are answered right, {n_exact} of them exactly; {len(broken)} break."
    )
    becomes(page, lambda: parameters(page).get("changes"), format_changes(idea.changes))
    first = broken[0]
    go_through(page, first.string)
    trace = trace_of_model("by-hand", first.string)
    changed = trace.with_changes(*idea.changes)
    answer_is(page, first.answered[0], changed, was=first.right, before=trace)
    there = {"model": "by-hand", "sentence": first.string, "changes": format_changes(idea.changes), "view": "sheet"}
    becomes(page, lambda: parameters(page), there)


def test_a_measurement_leads_to_its_pass_and_the_most_telling_of_random_parameters_is_before_training(visit):
    page = visit().open("what_attention_says")
    go_through(page, "Wide")
    answer_is(page, "animal", trace_of_model("short-cut", WIDE))
    becomes(page, lambda: parameters(page), {"model": "short-cut", "sentence": WIDE, "view": "sheet"})

    page.go_back()
    most = max((held_out("who-is-it", seed, 0).right.max(), seed) for seed in MODELS["who-is-it"].seeds)
    expect(main(page)).to_contain_text(f"this is the most telling one, of seed {most[1]}.")
    go_through(page, "The most telling sentence, untrained")
    expect(page.locator(".training .figures")).to_contain_text("before training")
    there = {"model": "who-is-it", "seed": str(most[1]), "checkpoint": "0"}
    becomes(page, lambda: parameters(page).items() >= there.items(), True)
    trace = trace_of_model("who-is-it", parameters(page)["sentence"], most[1], 0)
    noun = trace.origin.right[-1]
    share = trace["attention"].value[0, -1, trace.labels["key"].index(noun)]
    assert share == pytest.approx(most[0])
    expect(page.locator(".panel h3")).to_have_text(
        f"attention[head 1, {trace.labels['query'][-1]}, {noun}] = {digits(share)}"
    )
