"""What would flip an answer is asked in a real browser, and set: the answer is the other word then."""

import re

import pytest
from answers import TIRED, answer_is, trace_of_model
from tab import at, becomes, expect, heading, parameters

from attnviz import Settings, trace_of
from attnviz.analysis.flips import flips
from attnviz.analysis.row_ranking import ranking_of
from attnviz.explain.flips import headline, sentences

pytestmark = pytest.mark.browser


def test_what_would_flip_an_answer_is_listed_led_to_and_set(visit):
    page = visit().open()
    trace = trace_of_model("who-is-it", TIRED)
    contest = ranking_of(trace, "probabilities", (11, 0))
    found = flips(trace, contest)
    page.locator(".thread").get_by_role("button", name="What would flip it?").click()
    listed = page.get_by_role("region", name="What would flip it")
    expect(listed.locator(".head p")).to_have_text(headline(trace, contest))
    expect(listed.locator("li p")).to_have_text([text for _, text in sentences(trace, contest, found)])
    scores = next(each.flip for each in found if each.stage == "scores")
    listed.get_by_role("button", name=trace.name_of(scores.cell)).click()
    expect(heading(page, f"{trace.name_of(scores.cell)} = 56.7104")).to_be_visible()
    listed.locator("li", has_text=trace.name_of(scores.cell)).get_by_role("button", name="Set it").click()
    after = trace.with_change("scores", scores.cell.index, scores.turns)
    answer_is(page, trace.label("answer", scores.winner), after, was="animal", before=trace)
    expect(listed).to_be_hidden()
    becomes(page, lambda: parameters(page).get("changes"), f"scores[0,11,1]={scores.turns}")

    page.get_by_role("button", name="Undo all").click()
    answer_is(page, "animal", trace)
    other = next(each.flip for each in found if each.stage == "v")
    assert other.cell.index[1] != 11, "in another row, which leaves one at the row that it turns"
    page.locator(".thread").get_by_role("button", name="What would flip it?").click()
    own = listed.locator("li", has_text=trace.name_of(other.cell))
    own.get_by_role("button", name=trace.name_of(other.cell), exact=True).first.click()
    own.get_by_role("button", name="Set it").click()
    becomes(page, lambda: parameters(page).get("changes"), f"v[{','.join(map(str, other.cell.index))}]={other.turns}")
    expect(page.locator(".thread [role=option][aria-description*=query]")).to_have_text(re.compile("^tired"))


def test_a_row_of_shares_is_asked_about_from_one_of_them(visit):
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
