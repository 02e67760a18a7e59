"""The viewer without Streamlit: a document, shown in a real browser. What it asks of a server is written down here."""

import json
import math
import re
from itertools import groupby
from urllib.parse import parse_qsl

import pytest
from alone import number, sent, show, written
from documents import document, fitted_at
from page import SENTENCE
from readback import number as as_number
from tab import becomes, cell, expect, frames, grid, parameters

from attnviz.core.numerals import digits


def test_unrevealed_numbers_are_not_in_the_page(opened):
    page = opened("?step=scores&view=matrices&present=1&reveal=0")
    cells = grid(page, "Scores").locator("[data-row]")
    assert "".join(cells.all_inner_texts()) == ""
    hidden = page.evaluate("[...document.querySelectorAll('.panel')].map((each) => each.innerText).join()")
    page.keyboard.press("Escape")
    assert all(text not in hidden for text in [number(page).split(" = ")[1], *cells.all_inner_texts()])
    page = opened("?step=scores&view=matrices&present=1&reveal=3")
    cells = grid(page, "Scores").locator("[data-row]")
    assert [text for text in cells.all_inner_texts() if text] == [cell(page, "Scores", 1, 2).inner_text()]


DRAGGED = """(box, from) => {
  for (let x = from; x <= from + 20; x += 1) box.dispatchEvent(new PointerEvent("pointermove", { clientX: x }));
}"""
"""At one moment: by the mouse it would take a slow machine as long as numbers are apart."""


def test_number_is_set_by_typing_and_dragging(opened):
    page = opened("?step=scores")
    box = page.get_by_role("textbox", name="Set by hand")
    box.fill("-2.5")
    box.press("Enter")
    assert sent(page) == [["change", {"cell": "scores[0,1,2]", "value": -2.5}]]
    box.fill("nonsense")
    box.press("Enter")
    assert (box.get_attribute("aria-invalid"), len(sent(page))) == ("true", 1)
    box.press("Escape")
    page.reload()
    box.focus()
    before = float(box.input_value())
    at = box.bounding_box()
    page.mouse.move(at["x"] + 20, at["y"] + 9)
    page.mouse.down()
    page.mouse.move(at["x"] + 60, at["y"] + 9)
    box.evaluate(DRAGGED, at["x"] + 60)
    page.mouse.up()
    after = float(box.input_value())
    assert after > before
    becomes(page, lambda: sent(page)[-1:], [["change", {"cell": "scores[0,1,2]", "value": after}]])
    assert 1 < len(sent(page)) < 5, "not with every pixel"


def test_a_number_to_set_has_four_digits_until_it_is_focused(opened):
    page = opened("?step=scores")
    box = page.get_by_role("textbox", name="Set by hand")
    value = fitted_at({"sentence": SENTENCE}).trace["scores"].value[0, 1, 2]
    expect(box).to_have_value(digits(value))
    box.focus()
    expect(box).to_have_value(repr(float(value)))
    box.blur()
    expect(box).to_have_value(digits(value))
    assert sent(page) == []


UNSEEN_TERMS = """(box) => {
  const textOf = (selector) => box.querySelector(selector).textContent;
  const [{ top }, { top: bottom }] = [box, box.querySelector("tfoot")].map((each) => each.getBoundingClientRect());
  const unseen = [...box.querySelectorAll("tbody tr")].filter((each) => {
    const at = each.getBoundingClientRect();
    return at.top < top - 1 || at.bottom > bottom + 1;
  });
  const values = unseen.map((each) => each.querySelector(".value").textContent);
  return [values, textOf(".rest .sum"), textOf(".rest .value")];
}"""
"""The values of the terms that one would have to scroll to, and what the line that stands for them says."""


def test_terms_out_of_sight_are_counted_and_added_up(opened):
    page = opened("?step=qkv&picked=q", d_model="64")
    for scrolled in (0, 200):
        page.locator(".terms").evaluate("(box, by) => { box.scrollTop = by; }", scrolled)
        frames(page)
        unseen, sum_, value = page.locator(".terms").evaluate(UNSEEN_TERMS)
        assert sum_ == f"{len(unseen)} more terms"
        assert as_number(value) == pytest.approx(sum(map(as_number, unseen)), abs=5e-5 * (len(unseen) + 1))
        assert unseen
    page = opened("?step=scores")
    expect(page.locator(".terms .rest")).to_be_hidden()


def test_new_document_keeps_typing(opened):
    page = opened("?step=scores")
    box = page.get_by_role("textbox", name="Set by hand")
    box.press_sequentially("1")
    typed = box.input_value()
    page.evaluate("show({})")
    assert box.input_value() == typed
    assert box.evaluate("(box) => box === document.activeElement")


def test_key_is_hidden_in_the_mask(opened):
    page = opened("?step=mask&picked=mask&cell=1.2.3.1.1", mask="causal")
    page.get_by_role("button", name="Show this key").click()
    assert sent(page)[-1] == ["change", {"cell": "mask[1,2]", "value": 1}]
    cell(page, "Masked scores", 3, 0).click()
    page.get_by_role("button", name="Hide this key").click()
    assert sent(page)[-1] == ["change", {"cell": "masked[0,3,0]", "value": None}]


def test_welcome_only_on_first_visit(opened):
    opened("").evaluate("localStorage.clear()")
    page = opened("")
    welcome = page.get_by_text("attnviz shows attention number by number")
    expect(welcome).to_be_visible()
    words = page.locator(".thread").bounding_box()
    page.evaluate("mountAgain(viewer.end()); show({ arrival: 1 }); drawn()")  # as Streamlit draws the page anew
    expect(welcome).to_be_visible()
    assert page.locator(".thread").bounding_box() == words, "what one is about to press stays where it is"
    page.keyboard.press("PageDown")
    expect(page.get_by_role("heading", name="Words become vectors")).to_be_visible()
    expect(welcome).to_have_count(0)
    page = opened("")
    expect(page.get_by_role("heading", name="what does")).to_be_visible()
    expect(welcome).to_have_count(0)


def test_changes_are_listed_undone_and_measured(opened):
    page = opened("?step=scores")
    page.evaluate(
        "show({ changes: [{ text: 'scores = 2.5', stage: 'scores' }], before: { scores: given.stages.scores.values },"
        " moved: [{ stage: 'attention', text: 'The attention moved.' }] })"
    )
    page.get_by_role("button", name="See what moved").click()
    page.get_by_role("button", name="by how much they moved").click()
    assert "Nothing of this step moved" in page.locator(".panel").inner_text()  # the document says of attention alone
    assert set(grid(page, "Scores: change").locator("[data-row]").all_inner_texts()) == {"0.00"}
    page.get_by_role("button", name="Undo", exact=True).click()
    page.get_by_role("button", name="Undo all").click()
    page.get_by_role("button", name="Mute head 1").click()
    assert sent(page) == [["drop", 0], ["reset", True], ["mute", {"stage": "heads", "place": 0}]]
    page.get_by_role("button", name="The attention moved.").click()
    assert parameters(page)["step"] == "softmax"


def test_number_in_sentence_opens_its_cell(opened):
    page = opened("?step=softmax")
    score = page.locator(".story button").nth(1)
    score.hover()
    expect(page.locator(".status")).to_have_text(re.compile(r"^scaled\[head 1, cat, sat\] = "))
    score.click()
    assert number(page).startswith("scaled[head 1, cat, sat] = ")
    page.keyboard.press("]")
    assert number(page).startswith("scaled[head 2, cat, sat] = ")


def test_hovered_cell_lights_its_numbers(opened):
    page = opened("?step=scores")
    cell(page, "Queries", 1, 1).hover()
    becomes(page, lambda: page.locator(".story .lit").all_inner_texts(), ["1.80"])
    assert page.locator(".terms .lit").all_inner_texts() == ["q[head 1, cat, 2]"]
    cell(page, "Queries", 0, 0).hover()
    becomes(page, page.locator(".panel .lit").count, 0)


def test_trail_link_returns_to_its_cell(opened):
    page = opened("?step=weighted-sum&cell=1.2.3.4.1&picked=heads")
    page.locator(".terms .link").nth(1).click()  # a value
    page.locator(".terms .link").nth(2).click()  # a place of another word's input
    assert len(parameters(page)["trail"].split("<")) == 3
    page.locator(".trail .link").first.click()
    assert parameters(page)["cell"].split(".")[3] == "4"
    assert number(page).startswith("heads[head 1, cat, 4] = ")


def test_typed_number_is_set_on_next(opened):
    page = opened("?step=scores&ask=what+if")
    box = page.get_by_role("textbox", name="Set by hand")
    box.fill("7")
    page.get_by_role("button", name="Next").evaluate("(button) => button.click()")  # the keyboard stays in the box
    becomes(page, lambda: parameters(page)["step"], "scaling")
    assert sent(page) == [["change", {"cell": "scores[0,1,2]", "value": 7}]]
    box.press("Tab")
    assert len(sent(page)) == 1


def test_print_has_a_page_per_step(opened):
    page = opened("?step=scores", theme="dark", afresh=True, model="mirror")
    page.evaluate(
        """addEventListener("beforeprint", () => {
            const pages = [...document.querySelectorAll(".printed")];
            const isCut = (each) => each.scrollHeight > each.clientHeight || each.scrollWidth > each.clientWidth;
            window.texts = pages.map((each) => each.innerText);
            window.said = pages.map((each) => each.querySelector("div.said > strong")?.innerText).filter(Boolean);
            window.headings = pages.map((each) => each.querySelector("h2").innerText);
            window.cut = pages.filter(isCut).map((each) => each.innerText);
            window.controls = [...document.querySelectorAll(".pages :is(.way, .toolbar, input, select)")]
              .filter((each) => each.checkVisibility()).length;
        })"""
    )
    printed = page.pdf(landscape=True, prefer_css_page_size=True)
    steps = json.loads(written(model="mirror"))["steps"]
    headings = page.evaluate("headings")
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) == len(headings)
    assert len(list(groupby(headings))) == len(steps)
    assert (page.evaluate("cut"), page.evaluate("controls")) == ([], 0)
    subjects = [step["subject"] for step in steps]
    assert [said.split("[")[0] for said in page.evaluate("said")] == subjects, "each page is of its own step"
    assert not any("{" in text for text in page.evaluate("texts")), "every slot is filled"
    assert page.locator(".printed").count() == 0


def values(page):
    return [as_number(text) for text in page.locator(".terms tbody .value").all_inner_texts()]


def test_terms_sort_by_size_or_order(opened):
    page = opened("?step=output")
    by_size = values(page)
    assert len(by_size) == 8
    assert min(by_size) < 0 < max(by_size)
    assert [abs(value) for value in by_size] == sorted(map(abs, by_size), reverse=True)
    page.get_by_role("button", name="in order").click()
    assert sorted(values(page)) == sorted(by_size)
    names = page.locator(".terms tbody button:first-child").all_inner_texts()
    assert names == [f"concat[cat, {place}]" for place in range(1, 9)]


def test_click_picks_query_and_shift_click_picks_key(opened):
    page = opened("?step=softmax&cell=1.2.3.1.1", mask="causal")
    words = page.locator(".thread [role=option]")
    words.nth(3).click()
    assert parameters(page)["cell"].startswith("1.4.3.")
    words.nth(0).click(modifiers=["Shift"])
    assert parameters(page)["cell"].startswith("1.4.1.")
    said = page.locator(".thread .said").all_inner_texts()
    assert said[4:] == ["hidden", "hidden"]
    shares = [as_number(cell(page, "Attention", 3, key).inner_text()) for key in range(4)]
    assert [int(re.search(r"\d+", text)[0]) for text in said[:4]] == [
        pytest.approx(100 * each, abs=1) for each in shares
    ]


DRAWN = """() => [
  ...[...document.querySelectorAll("canvas")].map((each) => each.toDataURL()),
  ...[...document.querySelectorAll(".arrow")].map((each) => each.getAttribute("d")),
]"""


def test_picture_is_independent_of_history(opened):
    cases, drawn = [{"heads": "4", "d_model": "32", "mask": "causal"}, {"sentence": "a b c", "seed": "3"}], []
    for settings in cases:
        page = opened("?step=whole-pass", **settings)
        drawn.append(page.evaluate(DRAWN))
    for nth in (0, 1, 0):
        show(page, **cases[nth])
        becomes(page, lambda nth=nth: page.evaluate(DRAWN) == drawn[nth], True)


FACES = """() => [
  ...[...document.querySelectorAll("canvas")].map((each) => each.toDataURL()),
  ...[...document.querySelectorAll("[role=gridcell], .bar")].map((each) => getComputedStyle(each).backgroundColor),
]"""


def test_cells_follow_the_theme(opened):
    page = opened("?step=softmax")
    light = page.evaluate(FACES)
    paint = "(colour) => document.documentElement.style.setProperty('--st-background-color', colour)"
    page.evaluate(paint, "#101418")
    becomes(page, lambda: page.evaluate(FACES) == light, False)
    page.evaluate("drawn()")  # the map comes a frame later
    dark = page.evaluate(FACES)
    page.evaluate("show({})")
    becomes(page, lambda: page.evaluate(FACES), dark, "the next answer finds all of them painted")
    page.evaluate(paint, "#ffffff")
    becomes(page, lambda: page.evaluate(FACES), light)


def test_each_head_has_a_picture(opened):
    page = opened("?step=softmax")
    pictures = page.locator(".heads canvas").evaluate_all("(all) => all.map((each) => each.toDataURL())")
    assert len(pictures) == len(set(pictures)) == 2
    page.locator(".heads [role=radio]").nth(1).click()
    assert parameters(page)["cell"].startswith("2.2.3.")
    assert number(page).startswith("attention[head 2, cat, sat]")


BARS = """() => [...document.querySelectorAll(".bar-row")].map((row) => {
  const zero = row.querySelector(".zero").getBoundingClientRect().bottom;
  const bars = [...row.querySelectorAll(".bar:not([hidden])")].map((bar) => bar.getBoundingClientRect());
  return bars.map(({ top, bottom }) => [zero - top, zero - bottom].sort((a, b) => Math.abs(a) - Math.abs(b)));
})"""
"""Of each row of bars how far over zero each begins and ends."""


def test_bars_show_scores_exponentials_and_weights(opened):
    page = opened("?step=softmax&cell=1.2.3.1.1", mask="causal")
    masked, exponentials, shares = (
        [text.split(": ")[1] for text in row.locator("button").evaluate_all("(all) => all.map((each) => each.title)")]
        for row in page.locator(".bars .bar-row").all()
    )
    assert masked[2:] == ["hidden"] * 4
    scores = [as_number(text) for text in masked[:2]]
    assert [as_number(text) for text in exponentials[:2]] == [
        pytest.approx(math.exp(score - max(scores)), abs=0.02) for score in scores
    ]
    assert [as_number(text) for text in exponentials[2:]] == [0] * 4
    assert shares == [cell(page, "Attention", 1, key).inner_text() for key in range(6)]
    for texts, ends in zip((masked, exponentials, shares), page.evaluate(BARS), strict=True):
        first, second = (as_number(text) for text in texts[:2])
        assert [begin for begin, _ in ends] == pytest.approx([0] * len(ends), abs=1), "at zero"
        assert ends[0][1] * second == pytest.approx(ends[1][1] * first, rel=0.1)
        assert ends[0][1] * first > 0
    page.locator(".bars .bar-row").last.locator("button").first.click()
    assert number(page).startswith("attention[head 1, cat, the]")


def test_only_an_arrival_moves_the_view(opened):
    page = opened("?step=scores")
    page.keyboard.press("PageDown")
    page.evaluate("show({})")
    assert parameters(page)["step"] == "scaling"
    page.evaluate("show({ arrival: 9, where: { ...given.where, step: 'output' } })")
    becomes(page, lambda: parameters(page)["step"], "output")


def test_audit_verdict_has_tick_or_cross(opened):
    page = opened()
    for agrees, sign in ((True, "✓"), (False, "✗")):
        said = {"agrees": agrees, "sentence": "What was found.", "stages": []}
        mounted = page.evaluate(
            "(audit) => { const box = document.createElement('div'); mountAudit(box, {}).show(audit);"
            " const verdict = box.querySelector('.verdict'); return [verdict.className, verdict.textContent]; }",
            said,
        )
        assert mounted == ["verdict", f"{sign} What was found."]


ASKS = """async ([one, other]) => {
    for (const each of [other, one]) {
        show(each);
        await drawn();
    }
    const watcher = new MutationObserver(() => {});
    const all = { subtree: true, childList: true, characterData: true, attributes: true, attributeOldValue: true };
    watcher.observe(document, all);
    const isChange = ({ type, target, attributeName, oldValue }) =>
        type !== "attributes" || target.getAttribute(attributeName) !== oldValue;
    const asks = [], put = [];
    const watch = (owner, name, isCalled) => {
        const before = Object.getOwnPropertyDescriptor(owner, name), part = isCalled ? "value" : "get";
        put.push(() => Object.defineProperty(owner, name, before));
        Object.defineProperty(owner, name, { ...before, [part]: function () {
            if (watcher.takeRecords().some(isChange)) asks.push(`${name} of ${this.getAttribute("class")}`);
            return before[part].call(this);
        } });
    };
    for (const side of ["Width", "Height", "Left", "Top"]) {
        watch(HTMLElement.prototype, `offset${side}`);
        for (const kind of ["client", "scroll"]) watch(Element.prototype, kind + side);
    }
    watch(Element.prototype, "getBoundingClientRect", true);
    show(other);
    watcher.disconnect();
    for (const back of put) back();
    return asks;
}"""
"""What is asked of the layout while a document is drawn again, each time after something was written since the last."""


@pytest.mark.parametrize(
    ("address", "other"),
    [
        ("step=softmax", {"step": "softmax", "heads": "4"}),
        ("step=qkv", {"step": "qkv", "seed": "5"}),
        ("model=who-is-it&step=softmax", {"model": "who-is-it", "step": "softmax", "checkpoint": "2"}),
        ("model=microgpt&sentence=ka", {"model": "microgpt", "sentence": "kay"}),
    ],
)
def test_drawing_forces_at_most_one_layout(opened, address, other):
    page = opened(f"?{address}")
    asked = page.evaluate(ASKS, [document(fitted_at(each)) for each in (dict(parse_qsl(address)), other)])
    assert len(asked) <= 1, asked


@pytest.mark.parametrize(("view", "settings"), [("sheet", {"heads": "2"}), ("matrices", {"model": "microgpt"})])
def test_position_counts_the_stations_of_the_map(opened, view, settings):
    page = opened(f"?view={view}", **settings)
    stations = page.locator(".map [data-step]")
    for nth in (0, stations.count() // 2, stations.count() - 3):
        stations.nth(nth).click()
        expect(page.locator(".way .place")).to_have_text(f"step {nth + 1} of {stations.count()}")


def test_views_are_offered_where_they_differ(opened):
    page = opened("?view=sheet")
    views = page.locator(".toolbar .views")
    expect(views).to_be_hidden()
    page.get_by_role("button", name="Begin").click()
    expect(views).to_be_visible()


def test_a_writing_model_starts_without_statistics(opened):
    """Its start has the question, the bars and the arcs; what was measured of its heads comes at the softmax."""
    page = opened(model="microgpt", sentence="so")
    shown = page.locator(".columns").inner_text()
    assert "On average over" not in shown
    assert "multiplications instead" not in shown
    page.locator(".map [data-step=softmax]").click()
    expect(page.locator(".panel .habit")).to_contain_text("On average over")


def test_one_line_stands_for_what_comes_later(opened):
    page = opened("?view=sheet&step=qkv")
    later = page.get_by_text("Still to come")
    expect(later).to_have_count(1)
    expect(page.locator(".sheet td.to-come").filter(visible=True)).to_have_count(0)
    expect(page.locator(".sheet .names .rest")).to_contain_text("query")
    page.locator(".map [data-step=scores]").click()
    expect(page.locator(".score-to-weight")).to_be_visible()
    expect(later).to_have_count(0)  # the picture stands there
    expect(page.locator(".sheet td.to-come").filter(visible=True)).to_have_count(0)
    page.locator(".map [data-step=output]").click()
    expect(later).to_have_count(0)
