"""A sentence of forty words in the viewer: what has a column, what stands for the others, what is seen at a glance."""

import numpy as np
import pytest
from numerals import short
from sight import out_of_sight
from tab import becomes, resized

from attnviz.core.attention import trace_of
from attnviz.core.settings import Settings
from attnviz.explain.pictures import limits
from attnviz.explain.steps import steps_of

pytestmark = pytest.mark.browser

FORTY = (
    "When the old sailor came home from the sea he told the children in the village about a storm that had broken the "
    "mast of his ship and how the crew had rowed for three days without any water to drink"
)
QUERY, KEY, LATEST = 30, 4, 39
LINES = """(sheet) => [...sheet.querySelectorAll("tr:not(.names)")].map((line) => {
  const cells = [...line.querySelectorAll("td:not(.said, .sum, .blank)")];
  return [line.querySelector("[data-cell]:not([data-cell=''])")?.dataset.cell ?? "", cells.find((cell) =>
    cell.matches(".together"))?.firstChild.data ?? ""];
})"""


EIGHT_HEADS = {"sentence": FORTY, "d_model": "64", "heads": "8"}


def address(step, **others):
    """Where QUERY asks and KEY is selected."""
    return f"?step={step}&view=sheet&cell=1.{QUERY + 1}.{KEY + 1}.1.1" + "".join(
        f"&{key}={value}" for key, value in others.items()
    )


def columns(page):
    """The words that have a column, by their places in the sentence."""
    words = page.locator(".sentence button").all_inner_texts()
    names = page.locator(".sheet .names").first.locator("button").all_inner_texts()
    return [words.index(name) for name in names]


def together(page):
    """What stands for the other words in each line from the scores on; and which dimensions have a line of values."""
    lines = page.locator(".sheet").evaluate(LINES)
    first = next((nth for nth, (cell, _) in enumerate(lines) if cell.startswith("scores[")), 0)
    dimensions = [int(cell.rstrip("]").split(",")[-1]) for cell, _ in lines if cell.startswith("v[")]
    return [text for _, text in lines[first:] if text], dimensions


@pytest.mark.slow
@pytest.mark.parametrize("mask", ["none", "causal"])
def test_what_stands_for_the_other_words_is_their_sum_their_mean_or_their_range(opened, mask):
    trace = trace_of(Settings(FORTY, d_model=64, n_heads=8, mask=mask))
    page = opened(address("weighted-sum"), **EIGHT_HEADS, mask=mask)
    kept = columns(page)
    rest = [key for key in range(len(FORTY.split())) if key not in kept]
    shares, values = trace["attention"].value[0, QUERY], trace["v"].value[0]
    assert KEY in kept
    assert set(np.argsort(-shares)[: len(kept) - 1]) <= set(kept), "the largest shares"
    scores, scaled, masked = (trace[name].value[0, QUERY] for name in ("scores", "scaled", "masked"))
    exp = np.exp(masked - masked.max())
    mean = shares[rest] @ values[rest] / shares[rest].sum()
    found, dimensions = together(page)
    ranges = [f"{short(row[rest].min())} to {short(row[rest].max())}" for row in (scores, scaled)]
    if mask == "causal":
        ranges.append(f"−∞ to {short(masked[rest].max())}")
    sums = [short(exp[rest].sum()), short(shares[rest].sum())]
    assert found == [*ranges, *sums, *map(short, mean[dimensions])]
    assert 0 in dimensions, "the selected one"
    total = (shares[kept][:, None] * values[kept]).sum(axis=0) + shares[rest].sum() * mean
    assert np.allclose(total, trace["heads"].value[0, QUERY])
    page = opened(address("output"), **EIGHT_HEADS, mask=mask)
    kept = columns(page)
    rest = [key for key in range(len(FORTY.split())) if key not in kept]
    sums = [short(each) for each in trace["attention"].value[:, QUERY][:, rest].sum(axis=1)]
    assert together(page)[0] == sums


@pytest.mark.slow
def test_a_click_on_a_word_of_the_sentence_brings_it_in_and_one_on_its_column_lets_it_ask(opened):
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


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height", "present"), [(1366, 768, 0), (1280, 720, 1), (1920, 1080, 1)])
def test_the_sentence_is_whole_and_no_column_is_narrow(opened, width, height, present):
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


@pytest.mark.slow
def test_at_first_one_sees_where_the_word_looks_in_every_head(opened):
    trace = trace_of(Settings(FORTY, d_model=64, n_heads=8))
    page = opened(f"?cell=1.{QUERY + 1}.{KEY + 1}.1.1", **EIGHT_HEADS)
    words = page.get_by_role("option").locator(".text").all_inner_texts()
    shares = trace["attention"].value[:, QUERY]
    expected = [
        f"Head {n}: “{words[row.argmax()]}” {round(100 * row.max())}\xa0%" for n, row in enumerate(shares, start=1)
    ]
    becomes(page, lambda: page.locator(".glance button").all_inner_texts(), expected)
    drawn = page.locator(".glance svg").evaluate_all("(all) => all.map((svg) => svg.querySelectorAll('.arc').length)")
    assert drawn == [len(words)] * 8
    becomes(page, lambda: out_of_sight(page), {})
    page.locator(".glance button").nth(2).click()
    assert page.locator(".glance button").nth(2).get_attribute("aria-pressed") == "true"
    assert page.get_by_role("radio", name="3").get_attribute("aria-checked") == "true"


def test_where_all_shares_are_small_colours_reach_to_the_largest_in_every_head():
    small, large = (trace_of(Settings(FORTY, seed=seed, d_model=64, n_heads=heads)) for seed, heads in [(0, 1), (0, 8)])
    reached = [limits(trace, steps_of(trace))["attention"] for trace in (small, large)]
    assert small["attention"].value.max() < 0.3 < large["attention"].value.max()
    assert reached == [small["attention"].value.max(), 1.0]
