"""Room: in windows, frames and talks of any size nothing is cut off, hidden by something else or too small."""

import re
from fractions import Fraction
from itertools import pairwise

import pytest
from alone import ALONE, MODULES, PAGE, SHEET, written
from documents import fitted_at
from page import SENTENCE
from readback import go
from sight import digits_sizes, out_of_sight
from tab import at, becomes, expect, frames, parameters, resized

from attnviz import Settings, show, trace_of
from attnviz.explain.pictures import limits
from attnviz.explain.steps import steps_of
from attnviz.viewer.bundle import inert

pytestmark = pytest.mark.browser

WHO = {"model": "who-is-it"}
CUT = """(all) => all.filter((each) => {
  const letters = document.createRange();
  letters.selectNodeContents(each);
  const own = letters.getBoundingClientRect(), box = each.getBoundingClientRect();
  return own.width > box.width + 1 || own.right > box.right + 1;
}).map((each) => each.textContent)"""
"""The texts that reach out of their boxes."""
_OVERFLOW = "(each) => each.scrollWidth - each.clientWidth"


def edges(part):
    at = part.bounding_box()
    return at["y"], at["y"] + at["height"]


def test_arcs_touch_their_letters(opened):
    page = opened(model="recall", changes="scores_1[0,0,0]=0")  # else the training is drawn
    (_, above), (top, bottom), (below, _) = (
        edges(page.locator(f".thread .inner > {part}")) for part in (".spoken + .arcs", ".spoken", ".words + .arcs")
    )
    assert 0 <= top - above <= 8
    assert 0 <= below - bottom <= 8


def test_panel_is_reachable_in_a_low_window(opened):
    page = opened(at(step="answer"), model="microgpt", sentence="eliza")
    last = page.locator(".panel button:visible").last
    last.focus()
    assert edges(last)[1] <= edges(page.locator(".viewer"))[1]
    assert edges(page.locator(".panel"))[1] <= edges(page.locator(".viewer"))[1]


def test_example_words_fit_frames_from_700_pixels(opened):
    page = opened(**WHO)
    for step in ("question", "softmax"):
        go(page, step=step, view="matrices")
        for width in (1024, 830, 700):
            resized(page, width, 720)
            becomes(page, lambda: page.locator(".thread").evaluate(_OVERFLOW) <= 1, True, width)
            toolbar, main = (page.locator(part).bounding_box() for part in (".toolbar", ".foot"))
            assert toolbar["x"] + toolbar["width"] <= main["x"] + main["width"] + 1, width


def test_row_names_fit_a_small_screen(opened):
    page = opened(at(step="answer", view="sheet"), **WHO)
    resized(page, 1024, 768)
    # names of places stand in the empty columns beside them
    assert page.locator(".sheet th.label:not(.place)").evaluate_all(CUT) == []


def at_size(opened, width, height, **address):
    """The viewer alone, as high as in the app, in a window of a size."""
    page = opened(at(**{key: address.pop(key) for key in ("step", "view", "cell") if key in address}), **address)
    page.add_style_tag(content=f".viewer {{ height: {height - 134}px !important }} #other {{ display: none }}")
    resized(page, width, height)
    frames(page)
    return page


def test_matrices_keep_digits_in_a_small_window(opened):
    place = {"step": "softmax", "view": "matrices", "cell": "1.8.8.1.1"}  # the last one, for which some are scrolled
    page = at_size(opened, 1024, 768, **place, sentence=f"{SENTENCE} and slept", mask="causal")
    cell = page.evaluate("given.where.cell") | {"query": 7, "key": 7}
    for step in ("softmax", "mask", "output"):
        go(page, step=step, view="matrices", cell=cell)
        frames(page)
        becomes(page, lambda: min(digits_sizes(page)) >= 9, True)
        assert page.locator(".matrices").evaluate(_OVERFLOW) <= 1
        top, bottom = edges(page.locator(".matrices"))
        focus = edges(page.locator(".frame.focus").first)
        assert all(top <= edge <= bottom for edge in focus), "the cell in focus is seen"


def test_six_layers_scroll_in_the_whole_pass(opened):
    page = opened("?step=whole-pass", sentence="the cat sat on the mat", layers="6", mask="causal")
    page.add_style_tag(content=".viewer { height: 640px !important }")
    resized(page, 1366, 768)
    becomes(page, lambda: page.locator(".whole").evaluate("box => box.scrollHeight > box.clientHeight"), True)
    edges = """rows => rows.map(row => [...row.querySelectorAll(".stage-of, button.title")]
      .map(each => each.getBoundingClientRect())
      .reduce(([top, bottom], at) => [Math.min(top, at.top), Math.max(bottom, at.bottom)], [1e9, 0]))"""

    def apart():
        at = page.locator(".whole .row").evaluate_all(edges)
        return len(at) == 6 and all(above[1] <= below[0] + 1 for above, below in pairwise(at))

    becomes(page, apart, True)
    page.get_by_role("button", name="Residual", exact=True).last.click()
    assert parameters(page)["step"] == "residual-6"


SETTINGS = {"sentence": "the cat sat", "initialiser": "whole", "d_model": "3", "heads": "1", "seed": "5"}


def test_weight_is_a_fraction_and_a_decimal(opened):
    shares = fitted_at(SETTINGS).trace["attention"].value[0, 1]
    page = opened("?view=sheet&step=softmax&cell=1.2.1.1.1", **SETTINGS)
    for key, share in enumerate(shares):
        exact, decimals = page.locator(f'.sheet [data-cell="attention[0,1,{key}]"]').first.inner_text().split(" = ")
        assert float(Fraction(exact)) == pytest.approx(share, abs=1e-12)
        assert decimals == f"{share:.2f}"
    title = page.locator(".panel h3").inner_text()
    exact = title.split(" = ")[1]
    assert float(Fraction(exact)) == pytest.approx(shares[0], abs=1e-12), title


@pytest.mark.parametrize(("sentence", "present"), [("the cat sat", ""), ("the cat sat down", "&present=1")])
def test_fraction_fits_its_cell(opened, sentence, present):
    page = opened(f"?view=sheet&step=softmax&cell=1.2.1.1.1{present}", **SETTINGS | {"sentence": sentence})
    cells = page.locator('.sheet [data-cell^="attention["]')
    assert cells.count() == len(sentence.split())
    assert cells.evaluate_all(CUT) == []


SMALLEST_DIGITS = """all => Math.min(
  ...all.filter(cell => /[0-9]/.test(cell.textContent)).map(cell => parseFloat(getComputedStyle(cell).fontSize))
)"""
"""The smallest digits of some cells, in pixels; more than any where there are none."""
EVERYTHING = {
    **{"d_model": 16, "n_heads": 4, "mask": "causal window", "mask_size": 3, "sharing": "pairs", "qk_norm": True},
    **{"rope": "halves", "softcap": "1", "alibi": True, "sinks": "drawn", "positions": "sinusoidal"},
}
BY_BLOCKS = EVERYTHING | {"blocks": "2"}
GEMMA = {"mask": "causal window", "mask_size": 2, "softcap": "5", "qk_norm": True, "rope": "halves"}

LAYERS = EVERYTHING | {"d_model": 8, "layers": 2, "window_in": "every second layer"}
NAIVE = EVERYTHING | {"sharing": "latent", "latent_width": 6, "rope_part": "half"}
ABSORBED = NAIVE | {"sharing": "absorbed"}


@pytest.mark.parametrize(
    "settings",
    [BY_BLOCKS, GEMMA, LAYERS, NAIVE, ABSORBED],
    ids=["by blocks", "like Gemma", "in layers", "MLA, naive", "MLA, absorbed"],
)
def test_sheet_of_modern_attention_fits(opened, settings):
    settings = {name: str(value) for name, value in settings.items()}
    step = "blocks" if "blocks" in settings else "weighted-sum"
    page = opened(at(view="sheet", step=step, present=1, reveal="all"), **settings)
    resized(page, 1366, 768)
    becomes(page, lambda: page.locator(".sheet td").evaluate_all(SMALLEST_DIGITS) >= 0.015 * 768, True)
    becomes(
        page, lambda: page.locator(".sheet").evaluate("sheet => sheet.scrollHeight - sheet.clientHeight") <= 1, True
    )
    expect(page.locator(".sheet :is(.collecting, .score-to-weight):visible")).to_have_count(1)
    page = opened(at(view="sheet", step=step), **settings)
    resized(page, 1366, 768)
    sink = page.locator('.sheet [data-name="sink"]')
    expect(sink).to_have_count(int("sinks" in settings))
    if "sinks" in settings:
        sink.click()
        expect(page.locator(".panel h3, .panel h2").first).to_contain_text(re.compile(r"sink_share(_1)?\["))
        resized(page, 390, 844)
        page.locator('.hand [data-cell^="sink_share"]').click()
        expect(page.locator(".hand .workings")).to_contain_text("the sink takes")
    for width, height in ((1366, 768), (390, 844)):
        resized(page, width, height)
        becomes(page, lambda: page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, True, width)
    resized(page, 1366, 768)


IN_A_COLUMN = '<iframe src="%s/inner?step=softmax" style="width: 900px; height: 720px; border: none"></iframe>'
"""As in the README."""
_CUT = """(page) => {
  const boxOf = (each) => each.getBoundingClientRect(), all = (selector) => [...page.querySelectorAll(selector)];
  const { left, right, top, bottom } = boxOf(page.querySelector(".map"));
  const isOut = (box) => box.left < left - 1 || box.right > right + 1 || box.top < top - 1 || box.bottom > bottom + 1;
  const cut = all(".map .step, .map .title").filter((each) => isOut(boxOf(each)));
  const beside = all(".way *, .learns *").filter((each) => boxOf(each).right > innerWidth + 1);
  return [...cut, ...beside].map(({ tagName, textContent }) => `${tagName} ${textContent}`);
}"""
"""Steps of the map that are not all in sight, and parts above the sheet that reach out of the page."""

_DRAWN_AGAIN = """async (box) => {
  let n = 0;
  const observer = new MutationObserver((all) => { n += all.length; });
  observer.observe(box, { subtree: true, childList: true, attributes: true });
  for (let i = 0; i < 3; i += 1) await new Promise(requestAnimationFrame);
  observer.disconnect();
  return n;
}"""
"""How often a part is drawn again while nothing happens."""


def test_iframe_of_900_pixels_shows_a_row_per_word(browser):
    context = browser.new_context(viewport={"width": 1366, "height": 900})
    page = context.new_page()
    inner = PAGE % (SHEET, MODULES, inert(written(model="who-is-it").encode()))
    page.route(f"{ALONE}/inner*", lambda route: route.fulfill(body=inner, content_type="text/html"))
    page.route(f"{ALONE}/", lambda route: route.fulfill(body=IN_A_COLUMN % ALONE, content_type="text/html"))
    page.goto(f"{ALONE}/")
    frame = page.frame_locator("iframe")
    rows = frame.locator(".hand .rows > tbody > tr")
    expect(rows).to_have_count(12)
    sizes = frame.locator(".hand .rows td .stop").evaluate_all(
        "(all) => all.map((each) => parseFloat(getComputedStyle(each).fontSize))"
    )
    assert min(sizes) >= 15
    frame.get_by_role("button", name="All words").click()
    expect(frame.locator(".picture")).to_be_visible()
    context.close()


def test_embedded_page_shows_a_row_per_word(opened):
    search = "?step=softmax&embed=true"
    for width, more in ((900, {}), (830, {"model": "who-is-it"})):
        page = opened(search, **more)
        expect(page.locator(".picture")).to_be_visible()
        resized(page, width, 720)
        page.evaluate("([search, document]) => beginAgain(search, document)", [search, written(**more)])
        expect(page.locator(".hand .rows").first).to_be_visible()
        expect(page.locator(".picture")).to_be_hidden()


@pytest.mark.parametrize(("model", "step"), [("recall", "scores-2"), ("microgpt", "scores")])
def test_every_map_step_is_visible(opened, model, step):
    page = opened(at(step=step, view="sheet"), model=model)
    for width in (1366, 1024, 830, 700):
        resized(page, width, 720)
        becomes(page, lambda: page.locator(".viewer").evaluate(_CUT), [], width)
    page.get_by_role("toolbar", name="All steps").get_by_role("button").last.click()
    expect(page.locator(".map .step").last).to_have_attribute("aria-current", "step")
    becomes(page, lambda: page.locator(".whole").evaluate(_DRAWN_AGAIN), 0, "its own scrollbar has it drawn for ever")


def test_file_address_keeps_the_place(offline):
    page = offline(show(trace_of(Settings(SENTENCE))).html, "#step=softmax&view=sheet&present=1")
    heading = page.locator(".step-text h2")
    expect(heading).to_contain_text("Scores become attention weights")
    expect(page.locator(".viewer.presenting")).to_be_visible()
    page.keyboard.press("PageDown")
    expect(heading).to_contain_text("Collect the values")
    for _ in range(2):
        becomes(page, lambda: "step=weighted-sum" in page.evaluate("location.hash"), True)
        page.reload()
        expect(heading).to_contain_text("Collect the values")
        expect(page.locator(".viewer.presenting")).to_be_visible()


def test_wide_font_cuts_no_number(offline):
    """No number and no name is cut, in a font as wide as a typewriter's."""
    wide = show(trace_of(Settings("the animal saw the creature again"))).html
    page = offline(wide.replace("--st-font: ", "--st-font: monospace, "), "#step=weighted-sum&view=sheet")
    resized(page, 1100, 768)
    expect(page.locator(".sheet td.number").first).to_be_visible()
    assert page.locator(".sheet :is(td.number, th button)").evaluate_all(CUT) == []


FORTY = (
    "When the old sailor came home from the sea he told the children in the village about a storm that had broken the "
    "mast of his ship and how the crew had rowed for three days without any water to drink"
)
QUERY, KEY, LATEST = 30, 4, 39

EIGHT_HEADS = {"sentence": FORTY, "d_model": "64", "heads": "8"}


def address(step, **others):
    """Where QUERY asks and KEY is selected."""
    return f"?step={step}&view=sheet&cell=1.{QUERY + 1}.{KEY + 1}.1.1" + "".join(
        f"&{key}={value}" for key, value in others.items()
    )


def columns(page):
    words = page.locator(".sentence button").all_inner_texts()
    names = page.locator(".sheet .names").first.locator("button").all_inner_texts()
    return [words.index(name) for name in names]


def test_sentence_click_adds_a_column(opened):
    page = opened(address("weighted-sum"), **EIGHT_HEADS)
    words = page.locator(".sentence button")
    absent = max(set(range(LATEST)) - set(columns(page)))
    before = columns(page)
    words.nth(absent).click()
    assert absent in columns(page)
    assert len(columns(page)) == len(before)
    words.nth(LATEST).click()
    assert {absent, LATEST} <= set(columns(page)), "those that were brought in before stay"
    page.locator(".sheet .names").first.get_by_role("button", name=words.nth(absent).inner_text(), exact=True).click()
    assert "asks" in words.nth(absent).get_attribute("class").split()


@pytest.mark.parametrize(("width", "height", "present"), [(1366, 768, 0), (1280, 720, 1)])
def test_forty_words_fit_with_wide_columns(opened, width, height, present):
    page = opened(address("weighted-sum", present=present), **EIGHT_HEADS)
    page.add_style_tag(content=f".viewer {{ height: {height if present else height - 80}px !important }}")
    resized(page, width, height)
    for step in ("weighted-sum", "output"):
        place = {"step": step, "present": bool(present)}
        page.evaluate("(place) => show({ where: { ...given.where, ...place } })", place)
        becomes(page, lambda: out_of_sight(page), {})
        widths = (
            page.locator(".sheet .names")
            .first.locator("th:has(button)")
            .evaluate_all("(all) => all.map((each) => each.getBoundingClientRect().width)")
        )
        assert len(widths) >= 5
        assert min(widths) >= 42, "44 px and the space between"
        words = page.locator(".sentence button").evaluate_all(
            "(all) => all.map((each) => each.getBoundingClientRect().bottom)"
        )
        assert len(words) == len(FORTY.split())
        assert max(words) <= height


def test_first_view_shows_every_heads_top_word(opened):
    trace = trace_of(Settings(FORTY, d_model=64, n_heads=8))
    page = opened(f"?cell=1.{QUERY + 1}.{KEY + 1}.1.1", **EIGHT_HEADS)
    words = page.get_by_role("option").locator(".text").all_inner_texts()
    shares = trace["attention"].value[:, QUERY]
    expected = [
        f"Head {n}: “{words[row.argmax()]}” {round(100 * row.max())}\xa0%" for n, row in enumerate(shares, start=1)
    ]
    becomes(page, lambda: page.locator(".glance button").all_inner_texts(), expected)
    drawn = page.locator(".glance svg").evaluate_all("(all) => all.map((svg) => svg.querySelectorAll('.arc').length)")
    assert drawn == (shares >= 0.01).sum(axis=1).tolist()
    becomes(page, lambda: out_of_sight(page), {})
    page.locator(".glance button").nth(2).click()
    assert page.locator(".glance button").nth(2).get_attribute("aria-pressed") == "true"
    assert page.get_by_role("radio", name="3").get_attribute("aria-checked") == "true"


def test_colour_scale_reaches_the_largest_weight():
    small, large = (trace_of(Settings(FORTY, seed=seed, d_model=64, n_heads=heads)) for seed, heads in [(0, 1), (0, 8)])
    reached = [limits(trace, steps_of(trace))["attention"] for trace in (small, large)]
    assert small["attention"].value.max() < 0.3 < large["attention"].value.max()
    assert reached == [small["attention"].value.max(), 1.0]


def test_matrices_of_long_sentences_scroll_and_stay_legible(opened):
    n = 64
    page = at_size(opened, 1366, 768, sentence=" ".join(["the cat sat on"] * (n // 4)), step="softmax", view="matrices")
    cells = page.locator(".matrix .cells").last
    for size in ((1366, 768), (390, 844)):
        resized(page, *size)
        becomes(page, lambda: min(cells.evaluate("(box) => [box.clientWidth, box.clientHeight]")) >= 18 * n, True)
        assert page.locator(".matrices").evaluate("(box) => box.scrollWidth + box.scrollHeight > innerHeight")
        for column in page.locator(".readout .line").all():
            assert column.locator("li").count() in (n, 4)
