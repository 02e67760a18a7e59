"""Numbers set by hand, what they move and what would move a number, in a real browser."""

from page import SENTENCE
from tab import at, becomes, cell, expect, grid, heading, parameters

from attnviz import Settings, trace_of
from attnviz.analysis.provenance import gradients
from attnviz.core.changes import parse_change
from attnviz.core.numerals import short

TRACE = trace_of(Settings(SENTENCE))


def box(page):
    return page.get_by_role("textbox", name="Set by hand")


def attention_is(page, trace):
    for key, value in enumerate(trace["attention"].value[0, 1]):
        expect(cell(page, "Attention", 1, key)).to_have_text(short(value))


def test_typed_number_changes_the_pass(visit):
    page = visit().open(at(step="Softmax", picked="masked"))
    attention_is(page, TRACE)
    box(page).fill("4.5")
    box(page).press("Enter")
    attention_is(page, TRACE.with_changes(parse_change("masked[0,1,2]=4.5")))
    expect(heading(page, "masked[head 1, cat, sat] = 4.5000")).to_be_visible()
    becomes(page, lambda: parameters(page).get("changes"), "masked[0,1,2]=4.5")
    page.reload()
    attention_is(page, TRACE.with_changes(parse_change("masked[0,1,2]=4.5")))
    page.get_by_role("button", name="Undo all").click()
    attention_is(page, TRACE)
    becomes(page, lambda: "changes" in parameters(page), False)


def test_slopes_equal_the_cores(visit):
    page = visit().open(at(step="Output"))
    page.get_by_role("button", name="what would move it").click()
    expect(grid(page, "Concatenation: slope of output[cat, 1]")).to_be_visible()
    page.get_by_role("button", name="Softmax", exact=True).click()
    slopes = gradients(TRACE, "output", (1, 0))["attention"][0]
    title = "Attention: slope of output[cat, 1]"
    for key in range(6):
        expect(cell(page, title, 1, key)).to_have_text(short(slopes[1, key]))
    cell(page, title, 1, 4).hover()
    expect(page.locator(".status")).to_have_text(
        f"slope of output[cat, 1] by attention[head 1, cat, the (2)] = {float(slopes[1, 4])!r}"
    )
    page.get_by_role("button", name="what made it").click()
    attention_is(page, TRACE)
