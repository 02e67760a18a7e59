"""The viewer without Streamlit: a document, shown in a real browser. What it asks of a server is written down here."""

import json
import math
import re
from itertools import groupby

import pytest
from alone import hasten, number, reveal, sent, written
from documents import fitted_at
from numerals import short
from page import SENTENCE
from tab import becomes, cell, expect, grid, parameters

from attnviz.explain.steps import full_title

pytestmark = pytest.mark.browser


@pytest.mark.slow
def test_steps_cells_and_trails_are_in_the_address_and_back_leads_through_the_steps(opened):
    page = opened("?seed=3")
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Scores", exact=True).click()
    cell(page, "Scores", 3, 4).click()
    assert parameters(page) == {"seed": "3", "step": "scores", "cell": "1.4.5.1.1", "picked": "scores"}
    page.locator(".terms button").first.click()
    assert number(page).startswith("q[head 1, on, ")
    assert parameters(page)["trail"].startswith("scores[0,3,4]<q[0,3,")
    assert re.fullmatch(r"scores\[[^]]+\] ← q\[[^]]+\]", page.locator(".trail").text_content()), "q made the score"
    assert page.locator(".trail [aria-current]").text_content().startswith("q[")
    page.go_back()
    becomes(page, lambda: parameters(page), {"seed": "3", "step": "tokens"})
    page.go_forward()
    becomes(page, lambda: number(page).split(",")[0], "q[head 1")
    page.reload()
    becomes(page, lambda: number(page).split(",")[0], "q[head 1")
    assert sent(page) == []


def test_what_a_step_says_and_its_formula_follow_the_selection(opened):
    page = opened("?step=scores")
    text = page.locator(".step-text")
    assert text.locator("math msub").all_text_contents()[:3] == ["S1", "Q1", "K1"]
    page.keyboard.press("]")
    assert text.locator("math msub").all_text_contents()[:3] == ["S2", "Q2", "K2"]
    cell(page, "Scores", 3, 4).click()
    page.get_by_role("button", name="Whole pass", exact=True).click()
    assert "In head 2, “on” took most from “" in text.inner_text()
    page.keyboard.press("[")
    assert "In head 1, “on” took most from “" in text.inner_text()


def test_keys_lead_on_but_not_out_of_a_box_or_a_grid(opened):
    page = opened("?step=scores")
    cell(page, "Scores", 0, 0).click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert parameters(page)["step"] == "scores"
    page.keyboard.press("PageDown")
    assert parameters(page)["step"] == "scaling"
    page.locator("#other").click()
    page.keyboard.type("p]")
    for key in ("ArrowRight", "PageUp"):
        page.keyboard.press(key)
    assert (parameters(page)["step"], "present" in parameters(page)) == ("scaling", False)
    page.get_by_role("button", name="Copy link").press("PageUp")
    assert parameters(page)["step"] == "scores"


@pytest.mark.slow
def test_a_remote_goes_through_the_reveals_and_back(opened):
    page = opened("?step=scores&view=matrices&present=1&reveal=0")
    there = []
    for _ in range(8):
        there.append((parameters(page)["step"], reveal(page), parameters(page).get("reveal")))
        page.keyboard.press("PageDown")
    names = ["nothing", "lit", "products", "sum", "next", "row", "all"]
    reveals = [*"012345", None]
    assert there == [*(("scores", *each) for each in zip(names, reveals, strict=True)), ("scaling", "nothing", "0")]
    for key, way in (("PageUp", reversed(there)), ("ArrowRight", there[1:3]), ("ArrowLeft", reversed(there[:2]))):
        for each in way:
            page.keyboard.press(key)
            assert (parameters(page)["step"], reveal(page), parameters(page).get("reveal")) == each
    assert page.evaluate("document.documentElement.hasAttribute('data-presenting')")
    page.keyboard.press("Escape")
    assert not page.evaluate("document.documentElement.hasAttribute('data-presenting')")
    assert parameters(page) == {"step": "scores"}


def test_what_is_to_come_is_seen_nowhere(opened):
    page = opened("?step=scores&view=matrices&present=1&reveal=0")
    cells = grid(page, "Scores").locator("[data-row]")
    assert "".join(cells.all_inner_texts()) == ""
    hidden = page.evaluate("[...document.querySelectorAll('.panel')].map((each) => each.innerText).join()")
    page.keyboard.press("Escape")
    assert all(text not in hidden for text in [number(page).split(" = ")[1], *cells.all_inner_texts()])
    page = opened("?step=scores&view=matrices&present=1&reveal=3")
    cells = grid(page, "Scores").locator("[data-row]")
    assert [text for text in cells.all_inner_texts() if text] == [cell(page, "Scores", 1, 2).inner_text()]


PLAYED_TO = """(button, n) => new Promise((paused) => {
  const observer = new MutationObserver(() => { // in time before the next product, on any machine
    if (document.querySelectorAll(".terms tbody tr").length !== n) return;
    observer.disconnect();
    button.click();
    paused();
  });
  button.click();
  observer.observe(document.querySelector(".panel"), { childList: true, subtree: true });
})"""


@pytest.mark.slow
def test_play_comes_to_all_of_it_by_itself_and_can_be_gone_through_by_hand(opened):
    page = opened("?step=scores")
    page.get_by_role("button", name="Play").evaluate(PLAYED_TO, 2)
    lines = page.locator(".terms tbody tr")
    expect(lines).to_have_count(2)
    page.get_by_role("button", name="One reveal on").click()
    expect(lines).to_have_count(3)
    hasten(page)
    page.get_by_role("combobox", name="Speed").select_option("fast")
    page.get_by_role("button", name="Go on").click()
    becomes(page, lambda: reveal(page), "all")
    becomes(page, lambda: page.get_by_role("button", name="Play").count(), 1)
    assert parameters(page) == {"step": "scores"}


DRAGGED = """(box, from) => {
  for (let x = from; x <= from + 20; x += 1) box.dispatchEvent(new PointerEvent("pointermove", { clientX: x }));
}"""
"""At one moment: by the mouse it would take a slow machine as long as numbers are apart."""


@pytest.mark.slow
def test_a_number_is_set_by_typing_and_by_dragging(opened):
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


def test_a_document_that_comes_while_one_types_takes_nothing_away(opened):
    page = opened("?step=scores")
    box = page.get_by_role("textbox", name="Set by hand")
    box.press_sequentially("1")
    typed = box.input_value()
    page.evaluate("show({})")
    assert box.input_value() == typed
    assert box.evaluate("(box) => box === document.activeElement")


def test_a_key_is_hidden_in_the_mask(opened):
    page = opened("?step=mask&picked=mask&cell=1.2.3.1.1", mask="causal")
    page.get_by_role("button", name="Show this key").click()
    assert sent(page)[-1] == ["change", {"cell": "mask[1,2]", "value": 1}]
    cell(page, "Masked scores", 3, 0).click()
    page.get_by_role("button", name="Hide this key").click()
    assert sent(page)[-1] == ["change", {"cell": "masked[0,3,0]", "value": None}]


def test_slopes_are_asked_for_and_said_to_be_slopes(opened):
    page = opened("?step=output")
    page.get_by_role("button", name="what would move it").click()
    assert sent(page) == [["slopes", "output[1,0]"]]
    page.keyboard.press("PageUp")
    assert sent(page) == [["slopes", "output[1,0]"]], "asked once, however often it is wanted"
    page.keyboard.press("PageDown")
    page.evaluate(
        "const { values } = given.stages.attention;"
        "show({ slopes: { of: 'output[1,0]', text: 'It moves.', values: { attention: values } } })"
    )
    assert "No matrix drawn here moves this number. Open “Weighted sum” to see" in page.locator(".panel").inner_text()
    page.get_by_role("button", name="Softmax", exact=True).click()
    assert "It moves." in page.locator(".panel").inner_text()
    assert "raise an orange cell and it rises" in page.locator(".panel").inner_text()
    cell(page, "Attention: slope of output", 3, 4).hover()
    said = re.compile(r"^slope of output\[cat, 1\] by attention\[head 1, on, the \(2\)\] = ")
    expect(page.locator(".status")).to_have_text(said)
    assert len(sent(page)) == 1, "it was answered"


def test_what_attnviz_is_is_said_on_a_first_visit_alone(opened):
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


def test_changes_are_listed_undone_and_shown_by_how_much(opened):
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


def test_numbers_in_the_sentence_lead_to_their_cells(opened):
    page = opened("?step=softmax")
    score = page.locator(".story button").nth(1)
    score.hover()
    expect(page.locator(".status")).to_have_text(re.compile(r"^scaled\[head 1, cat, sat\] = "))
    score.click()
    assert number(page).startswith("scaled[head 1, cat, sat] = ")
    page.keyboard.press("]")
    assert number(page).startswith("scaled[head 2, cat, sat] = ")


def test_a_cell_that_is_pointed_at_lights_up_its_numbers_in_the_panel(opened):
    page = opened("?step=scores")
    cell(page, "Queries", 1, 1).hover()
    becomes(page, lambda: page.locator(".story .lit").all_inner_texts(), ["1.80"])
    assert page.locator(".terms .lit").all_inner_texts() == ["q[head 1, cat, 2]"]
    cell(page, "Queries", 0, 0).hover()
    becomes(page, page.locator(".panel .lit").count, 0)


def test_what_would_move_it_stays_asked_of_one_number(opened):
    page = opened("?step=output&ask=what+would+move+it")
    for key in ("PageUp", "]", "PageUp", "["):
        page.keyboard.press(key)
        assert parameters(page)["trail"] == "output[1,0]"
        assert number(page).startswith("output[cat, 1] = ")
    cell(page, "Attention", 2, 3).click()
    assert parameters(page)["trail"].startswith("attention[")


def test_a_crumb_of_the_trail_leads_back_to_its_own_place(opened):
    page = opened("?step=weighted-sum&cell=1.2.3.4.1&picked=heads")
    page.locator(".terms .link").nth(1).click()  # a value
    page.locator(".terms .link").nth(2).click()  # a place of another word's input
    assert len(parameters(page)["trail"].split("<")) == 3
    page.locator(".trail .link").first.click()
    assert parameters(page)["cell"].split(".")[3] == "4"
    assert number(page).startswith("heads[head 1, cat, 4] = ")


def test_a_number_that_was_typed_is_set_as_one_goes_on_and_no_other_with_it(opened):
    page = opened("?step=scores&ask=what+if")
    box = page.get_by_role("textbox", name="Set by hand")
    box.fill("7")
    page.get_by_role("button", name="Next").evaluate("(button) => button.click()")  # the keyboard stays in the box
    becomes(page, lambda: parameters(page)["step"], "scaling")
    assert sent(page) == [["change", {"cell": "scores[0,1,2]", "value": 7}]]
    box.press("Tab")
    assert len(sent(page)) == 1


def test_a_head_that_was_not_sent_is_asked_for_once(opened):
    page = opened("?step=scores")
    page.evaluate(
        "given.stages = structuredClone(given.stages); for (const stage of Object.values(given.stages))"
        " if (stage.axes[0].name === 'head') stage.values[1] = null; show({})"
    )
    page.keyboard.press("]")
    assert sent(page) == [["need", "scores[1,0,0]"]]
    assert "on its way" in page.locator(".panel").inner_text()


def test_a_viewer_that_has_gone_hears_no_keys(opened):
    page = opened("?step=scores")
    page.evaluate("viewer.end()")
    page.keyboard.press("PageDown")
    assert parameters(page) == {"step": "scores"}


@pytest.mark.slow
def test_printing_gives_each_step_its_pages_with_nothing_cut_off(opened):
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


def read(text):
    """A number as it is written on the page."""
    return float(text.replace("−", "-"))


def values(page):
    """The results of the terms that are listed."""
    return [read(text) for text in page.locator(".terms tbody .value").all_inner_texts()]


def test_terms_come_largest_first_whatever_their_sign_or_in_the_order_of_the_sum(opened):
    page = opened("?step=output")
    by_size = values(page)
    assert len(by_size) == 8
    assert min(by_size) < 0 < max(by_size)
    assert [abs(value) for value in by_size] == sorted(map(abs, by_size), reverse=True)
    page.get_by_role("button", name="in order").click()
    assert sorted(values(page)) == sorted(by_size)
    names = page.locator(".terms tbody button:first-child").all_inner_texts()
    assert names == [f"concat[cat, {place}]" for place in range(1, 9)]


@pytest.mark.slow
def test_each_number_of_a_term_opens_and_the_trail_leads_back_to_each(opened):
    page = opened("?step=output")
    for place, opens in enumerate(("concat[cat, ", "w_o[")):
        page.locator(".terms tbody tr").first.locator("button").nth(place).click()
        assert number(page).startswith(opens)
        page.locator(".trail button").first.click()
        assert number(page).startswith("output[cat, 1]")
    page.locator(".terms tbody button").first.click()
    page.locator(".terms tbody button").first.click()
    assert number(page).startswith("heads[")
    page.locator(".trail button").nth(1).click()
    assert number(page).startswith("concat[cat, ")


def test_a_word_is_taken_as_the_query_and_with_shift_as_the_key_and_says_its_share(opened):
    page = opened("?step=softmax&cell=1.2.3.1.1", mask="causal")
    words = page.locator(".thread [role=option]")
    words.nth(3).click()
    assert parameters(page)["cell"].startswith("1.4.3.")
    words.nth(0).click(modifiers=["Shift"])
    assert parameters(page)["cell"].startswith("1.4.1.")
    said = page.locator(".thread .said").all_inner_texts()
    assert said[4:] == ["hidden", "hidden"]
    shares = [read(cell(page, "Attention", 3, key).inner_text()) for key in range(4)]
    assert [int(re.search(r"\d+", text)[0]) for text in said[:4]] == [
        pytest.approx(100 * each, abs=1) for each in shares
    ]


def test_a_share_that_is_set_by_hand_at_a_hidden_key_is_said_below_its_word(opened):
    page = opened("?step=softmax&cell=1.4.1.1.1", mask="causal", changes="attention[0,3,5]=0.5")
    assert page.locator(".thread .said").all_inner_texts()[4:] == ["hidden", "50\u00a0%"]


DRAWN = """() => [
  ...[...document.querySelectorAll("canvas")].map((each) => each.toDataURL()),
  ...[...document.querySelectorAll(".arrow")].map((each) => each.getAttribute("d")),
]"""


@pytest.mark.slow
@pytest.mark.parametrize("step", ["softmax", "whole-pass"])
def test_what_was_drawn_before_leaves_nothing_behind(opened, step):
    documents = [{"heads": "4", "d_model": "32", "mask": "causal"}, {"sentence": "a b c", "seed": "3"}]
    for document in documents:
        page = opened(f"?step={step}", **document)
        document["drawn"] = page.evaluate(DRAWN)
    for document in (documents[0], documents[1], documents[0]):
        settings = {name: value for name, value in document.items() if name != "drawn"}
        page.evaluate("(given) => viewer.show(given)", json.loads(written(**settings)))
        becomes(page, lambda: page.evaluate(DRAWN), document["drawn"])


FACES = """() => [
  ...[...document.querySelectorAll("canvas")].map((each) => each.toDataURL()),
  ...[...document.querySelectorAll("[role=gridcell], .bar")].map((each) => getComputedStyle(each).backgroundColor),
]"""


def test_numbers_have_the_colours_of_a_theme_as_soon_as_it_is_another(opened):
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


def test_each_head_has_a_picture_of_its_own_and_is_chosen_by_it(opened):
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


def test_bars_are_the_scores_their_exponentials_and_the_shares_and_lead_to_their_cells(opened):
    page = opened("?step=softmax&cell=1.2.3.1.1", mask="causal")
    masked, exponentials, shares = (
        [text.split(": ")[1] for text in row.locator("button").evaluate_all("(all) => all.map((each) => each.title)")]
        for row in page.locator(".bars .bar-row").all()
    )
    assert masked[2:] == ["hidden"] * 4
    scores = [read(text) for text in masked[:2]]
    assert [read(text) for text in exponentials[:2]] == [
        pytest.approx(math.exp(score - max(scores)), abs=0.02) for score in scores
    ]
    assert [read(text) for text in exponentials[2:]] == [0] * 4
    assert shares == [cell(page, "Attention", 1, key).inner_text() for key in range(6)]
    for texts, ends in zip((masked, exponentials, shares), page.evaluate(BARS), strict=True):
        first, second = (read(text) for text in texts[:2])
        assert [begin for begin, _ in ends] == pytest.approx([0] * len(ends), abs=1), "at zero"
        assert ends[0][1] * second == pytest.approx(ends[1][1] * first, rel=0.1)
        assert ends[0][1] * first > 0
    page.locator(".bars .bar-row").last.locator("button").first.click()
    assert number(page).startswith("attention[head 1, cat, the]")


def test_a_late_document_leaves_one_where_one_is_and_an_arrival_leads_where_it_says(opened):
    page = opened("?step=scores")
    page.keyboard.press("PageDown")
    page.evaluate("show({})")
    assert parameters(page)["step"] == "scaling"
    page.evaluate("show({ arrival: 9, where: { ...given.where, step: 'output' } })")
    becomes(page, lambda: parameters(page)["step"], "output")


def test_what_the_address_has_wrong_is_mended_in_it(opened):
    page = opened("?seed=3&step=SOFTMAX&cell=9.9.9.9.9&ask=why&present=yes&trail=q[9,9,9]")
    becomes(page, lambda: parameters(page), {"seed": "3", "step": "softmax", "cell": "2.6.6.4.8"})


def test_in_a_large_pass_lists_are_named_by_the_words_whose_row_or_column_they_are(opened):
    words = [f"w{n}" for n in range(1, 41)]
    address = {"sentence": " ".join(words), "seed": "3"}
    scores = fitted_at(address).trace["scores"].value[0]
    page = opened("?step=scores&cell=1.3.5.1.1", **address)
    lists = page.locator(".readout section").evaluate_all(
        "(all) => all.map((each) => [each.querySelector('h3 .name').textContent,"
        " [...each.querySelectorAll('li')].map((item) => [...item.children].map((part) => part.textContent))])"
    )
    of_query, of_key = (
        list(map(list, zip(words, map(short, line), strict=True))) for line in (scores[2], scores[:, 4])
    )
    assert lists[:2] == [["w3", of_query], ["w5", of_key]]


def test_in_the_whole_pass_the_selected_word_is_marked_and_each_matrix_says_its_shape(opened):
    page = opened("?step=whole-pass&cell=1.2.3.1.4")
    assert page.locator(".whole .words-of .selected").all_inner_texts() == ["cat"]
    stages = fitted_at({"sentence": SENTENCE}).trace.stages
    said = page.locator(".whole canvas").evaluate_all("(all) => all.map((each) => each.ariaLabel)")
    shapes = {" × ".join(map(str, stage.shape)) for stage in stages}
    titles = {f"{full_title(stage.name)}: {' × '.join(map(str, stage.shape))} numbers" for stage in stages}
    assert len(shapes) > 3
    assert len(said) >= 10
    assert {*said} <= titles


@pytest.mark.parametrize(("agrees", "sign"), [(True, "✓"), (False, "⚠")])
def test_the_verdict_of_an_audit_has_a_tick_where_every_number_agrees_and_a_warning_where_one_does_not(
    opened, agrees, sign
):
    page = opened()
    said = {"agrees": agrees, "sentence": "What was found.", "stages": []}
    mounted = page.evaluate(
        "(audit) => { const box = document.createElement('div'); mountAudit(box, {}).show(audit);"
        " const verdict = box.querySelector('.verdict'); return [verdict.className, verdict.textContent]; }",
        said,
    )
    assert mounted == ["verdict good" if agrees else "verdict bad", f"{sign} What was found."]
