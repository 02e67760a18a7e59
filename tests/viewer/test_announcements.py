"""Announcements: each change is heard once, in the words and count that are seen, and the keyboard is never lost."""

import json
import re

import pytest
from alone import number, written
from tab import cell, expect, forced_colours, parameters, resized

WIDE = "the animal did not cross the street because it was too wide"
PAIR = {"mask": "causal", "beside": "mask="}


def heard(page):
    return page.locator(".viewer > .sr-only").inner_text()


def shown(page, **settings):
    """Show another pass in place of the one that is shown, as an act would."""
    page.evaluate("(given) => { viewer.show(given); return drawn(); }", json.loads(written(**settings)))
    return page


def held(page):
    """What has the keyboard, as it is heard: its name, else its text; "" where nothing has it."""
    return page.evaluate(
        "() => { const { activeElement: each } = document;"
        " return each === document.body ? '' : each.ariaLabel ?? each.innerText }"
    )


def test_written_letter_is_announced(opened):
    page = shown(opened(model="microgpt", sentence="eliz"), model="microgpt", sentence="eliza")
    assert re.fullmatch(r"Written: “eliza”\. (Next: “.*”, .*|It ends here)\.", heard(page))
    shown(page, model="microgpt", sentence="eliz")
    assert heard(page).startswith("Written: “eliz”. Next: “a”, ")


def test_hundred_names_are_announced_once(opened):
    page = opened(model="microgpt", sentence="eliza")
    given = json.loads(written(model="microgpt", sentence="eliza"))
    names = {"listed": [{"text": "ann", "is": "new"}], "text": "100 texts from seeds 0 to 99.", "about": ""}
    page.evaluate("(given) => viewer.show(given)", given | {"next": given["next"] | {"names": names}})
    assert heard(page) == names["text"]


def test_bars_and_names_are_one_tab_stop(opened):
    page = opened(model="microgpt", sentence="eliza")
    stops = ":is(button, [tabindex]):not([tabindex='-1'])"
    for box, count in ((".next-letter .bars-of", 27), (".measures [aria-label=Names]", 10)):
        assert page.locator(f"{box} button").count() == count
        assert page.locator(f"{box} {stops}").count() == 1
    page.locator(f".next-letter .bars-of {stops}").focus()
    first = held(page)
    page.keyboard.press("ArrowRight")
    assert held(page) != first
    assert page.locator(f".next-letter .bars-of {stops}").count() == 1
    expect(page.locator(".next-letter")).to_be_visible()


def test_pair_cell_names_its_pass_and_band(opened):
    page = opened("?step=softmax&view=sheet&cell=1.2.6.1.1", **PAIR)
    cells = page.locator(".sheet [data-cell='attention[0,1,5]']")
    names = []
    for place in range(cells.count()):
        cells.nth(place).focus()
        names.append(held(page))
    assert len(names) == 2
    assert names[0].startswith("A, Attention: attention[head 1, cat, mat] = 0.3610")
    assert names[1].startswith("B, Attention: attention[head 1, cat, mat] = 0.0000")
    page.locator(".sheet [data-cell='attention[0,1,2]']").first.focus()
    page.keyboard.press("Enter")
    assert heard(page).startswith("attention[head 1, cat, sat]: A 0.4751, B 0.0000, hidden. B − A = −0.4751.")


def test_pinning_is_announced(opened):
    page = shown(opened(), beside="same")
    assert heard(page).startswith("A is pinned. Change anything: what you see then is B.")
    shown(page, **PAIR)
    assert heard(page).startswith("A and B beside each other. The first difference is at the ")
    shown(page, mask="causal")
    assert heard(page).startswith("A is no longer pinned.")


def test_focus_survives_steps_and_name_end(opened):
    page = opened("?step=scores")
    cell(page, "Scores", 1, 2).focus()
    for _ in range(6):
        page.keyboard.press("PageDown")
        assert held(page)
    page = opened("", model="microgpt", sentence="eliza")
    page.locator(".bars-of button").first.focus()
    page.keyboard.press("PageDown")
    assert held(page)
    page = opened("", model="microgpt", sentence="eliz")
    page.get_by_role("button", name="Write to the end").press("Enter")
    given = json.loads(written(model="microgpt", sentence="eliza"))
    page.evaluate("(given) => viewer.show(given)", given | {"next": given["next"] | {"ends": True}})
    expect(page.get_by_role("button", name="Write to the end")).to_be_disabled()
    assert held(page)


@pytest.mark.parametrize("settings", [{"positions": "sinusoidal"}, {"model": "microgpt", "sentence": "eliza"}])
def test_sheet_starts_with_the_words_row_and_then_its_query(opened, settings):
    page = opened("?view=sheet", **settings)
    for step in ("tokens", "qkv"):
        page.keyboard.press("PageDown")
        while not parameters(page)["step"].startswith(step):
            page.keyboard.press("PageDown")
        said = number(page)
        assert re.match(r"(q|q_1|embeddings)\[.*\] = ", said), said
        focus, value = page.locator(".sheet td.focus"), said.split(" = ")[1].replace("−", "-")
        assert float(focus.inner_text().replace("−", "-")) == pytest.approx(float(value), abs=0.005)
    query, sheet = "times the query parameters", page.locator(".sheet")
    sheet.locator(".ways button", has_text="query").click()
    expect(sheet).to_contain_text(query)
    page = opened("?view=sheet&step=tokens", **settings)
    assert "Input" in sheet.inner_text()
    assert query not in sheet.inner_text(), "that is the next step"


_PAINTED = """(all) => all.map((each) => {
  const { backgroundColor, color } = getComputedStyle(each);
  return [backgroundColor, color, getComputedStyle(each.closest(".viewer")).backgroundColor];
})"""

_EDGED = """(all) => all.filter((each) => getComputedStyle(each).borderTopWidth !== "0px").map((each) => [
  getComputedStyle(each).borderTopColor,
  getComputedStyle(each.closest(".viewer")).backgroundColor,
])"""
_DRAWN = """(all) => all.map((each) => {
  const { backgroundImage, outlineStyle } = getComputedStyle(each);
  return backgroundImage !== "none" || outlineStyle !== "none";
})"""
"""Whether what is drawn by a gradient or an outline is there: a system with few colours draws no shadow."""


def test_sheet_is_visible_in_forced_colours(opened):
    page = opened("", model="microgpt", sentence="eliza")
    with forced_colours(page):
        for bar, _, ground in page.locator(".next-letter .given").evaluate_all(_PAINTED):
            assert bar != ground
        page = opened("?step=softmax&view=sheet", **PAIR)
        badges = page.locator(".pairing .side strong, .panel strong.side").evaluate_all(_PAINTED)
        assert len(badges) >= 2
        assert all(ground != ink for ground, ink, _ in badges)
        edges = page.locator(".sheet tr.first > :is(td:not(.said), th)").evaluate_all(_EDGED)
        assert all(edge in (ground, "rgba(0, 0, 0, 0)") for edge, ground in edges), set(map(tuple, edges))
        colours = {ground for ground, _, _ in page.locator(".sheet td.number").evaluate_all(_PAINTED)}
        assert len(colours) > 3
        for drawn in (".sheet td.apart", ".map .distance .bar"):
            assert page.locator(drawn).evaluate_all(_DRAWN) == [True] * page.locator(drawn).count(), drawn


def test_column_of_two_words_names_both(opened):
    page = opened(
        "?step=softmax&view=sheet", sentence="the cat sat on the mat", beside="sentence=the cat sat on the rug"
    )
    names = page.locator(".sheet tr.names th button").all_inner_texts()
    assert names.count("rug / mat") == 1
    assert "mat" not in names
    assert opened("?step=softmax&view=sheet").locator(".sheet tr.names .both").count() == 0


def test_sheet_rows_and_columns_have_names(opened):
    page = opened("?step=neurons&view=sheet", model="microgpt", sentence="eliza")
    sheet = page.get_by_role("grid", name="a: what it becomes")
    for role, names in (
        ("columnheader", ["dimension 1", "dimension 16", "neuron 4"]),
        ("rowheader", ["dimension 2", "Neurons", "Firing"]),
    ):
        for name in names:
            expect(sheet.get_by_role(role, name=name, exact=True)).to_have_count(1)
    expect(sheet.get_by_role("button", name=re.compile(r"^Hidden parameters.*: other \d+$"))).to_have_count(1)
    page = opened("?step=softmax&view=sheet", model="who-is-it", beside=f"sentence={WIDE}")
    expect(page.get_by_role("grid", name="tired: its attention")).to_have_count(1)
    for side in "AB":
        expect(page.get_by_role("button", name=re.compile(f"^{side}, Keys: other \\d+$"))).to_have_count(1)


_OF_WORDS = """async () => {
  const viewer = document.querySelector(".viewer"), names = ["aria-label", "aria-description", "title"];
  const said = () => {
    const texts = document.createTreeWalker(viewer, NodeFilter.SHOW_TEXT), all = [];
    while (texts.nextNode()) all.push(texts.currentNode.data);
    for (const name of names)
      all.push(...[viewer, ...viewer.querySelectorAll(`[${name}]`)].map((each) => each.getAttribute(name) ?? ""));
    return all;
  };
  const found = [], next = { key: "PageDown", bubbles: true, cancelable: true };
  for (let before = null; before !== location.search; ) {
    await drawn();
    found.push(...said().filter((text) => /\\bwords?\\b/i.test(text)));
    before = location.search;
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", next));
  }
  return found;
}"""
"""What is said of words on the way to the last step."""


def test_letter_model_never_says_word(opened):
    pair = {"beside": "sentence=elina"}
    for shown, address in (({}, "?view=matrices"), (pair, "?view=sheet")):  # a pair's sheet has all that one of one has
        page = opened(address, model="microgpt", sentence="eliza", **shown)
        assert page.evaluate(_OF_WORDS) == []
        assert parameters(page)["step"] == "whole-pass"
    page = opened("?view=sheet&step=softmax", model="microgpt", sentence="eliza")
    resized(page, 390, 844)
    expect(page.locator(".hand .rows th").first).to_have_text("letter")
