"""What is drawn, as a person sees it: colours, digits, hatches and borders on the real page, light and dark."""

import re
import tomllib

import numpy as np
import pytest
from page import ROOT, SENTENCE
from tab import at, cell, expect, grid
from test_javascript import channels, contrast

from attnviz import Settings, trace_of
from attnviz.core.numerals import short
from attnviz.text.vocabulary import VOCABULARY
from attnviz.views import palette

pytestmark = pytest.mark.browser

TRACE = trace_of(Settings(SENTENCE, mask="causal"))
THEMES = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]
COLOURS = {  # DESIGN: one colour each for Q, K, V and the output, everywhere
    "w_q": "blue",
    "q": "blue",
    "w_k": "orange",
    "k": "orange",
    "w_v": "green",
    "v": "green",
    "concat": "green",
    "w_o": "violet",
    "output": "violet",
}
LOOKS = """grid => [...grid.querySelectorAll("[data-row]")].map((cell) => {
  const style = getComputedStyle(cell);
  return [cell.textContent, style.backgroundColor, style.backgroundImage, style.color, style.boxShadow, style.opacity];
})"""


def looks(page, name):
    """How each cell of a stage looks: (text, colour, image, colour of the text, shadow, opacity), row by row."""
    expect(grid(page, VOCABULARY[name].title).last).to_be_visible()
    return grid(page, VOCABULARY[name].title).last.evaluate(LOOKS)


def rgb(text):
    return [float(number) for number in re.findall(r"[\d.]+", text)][:3]


def mixed(colour, page, strength):
    return [round(c * strength + p * (1 - strength)) for c, p in zip(colour, page, strict=True)]


@pytest.mark.parametrize("theme", THEMES)
def test_numbers_wear_the_colours_of_their_scale_and_can_be_read(visit, theme):
    background = channels(THEMES[theme]["backgroundColor"])
    tab = visit(theme)
    page = tab.open(at(step="Mask", mask="causal"))
    limit = np.abs(TRACE["scaled"].value).max()
    for name in ("scaled", "masked"):
        for value, look in zip(TRACE[name].value[0].ravel(), looks(page, name), strict=True):
            if np.isfinite(value):
                hue = palette.NEGATIVE if value < 0 else palette.POSITIVE
                end = limit if name == "scaled" else np.abs(TRACE[name].value[np.isfinite(TRACE[name].value)]).max()
                _is_drawn(look, short(value), mixed(hue, background, 0.9 * abs(value) / end))
            else:
                _is_hidden(look, "-inf", background)
    for value, look in zip(TRACE["mask"].value.ravel(), looks(page, "mask"), strict=True):
        if value:
            assert look[0] == "1"
            assert look[2] == "none"
        else:
            _is_hidden(look, "0", background)
    page = tab.open(at(step="Softmax", mask="causal"))
    for value, look in zip(TRACE["attention"].value[0].ravel(), looks(page, "attention"), strict=True):
        _is_drawn(look, short(value), mixed(palette.SHARE, background, 0.95 * value))


def _is_drawn(look, text, colour):
    assert look[0] == text
    assert rgb(look[1]) == pytest.approx(colour, abs=1)
    assert look[2] == "none"
    assert contrast(rgb(look[3]), rgb(look[1])) >= 4.5


def _is_hidden(look, text, page):
    assert look[0] == text
    stripes = [list(map(float, each.split(","))) for each in re.findall(r"rgba\((.*?)\)", look[2])]
    assert "repeating-linear-gradient" in look[2]
    assert len({tuple(stripe) for stripe in stripes}) == 2
    for *grey, strength in stripes:
        assert contrast(rgb(look[3]), mixed(grey, page, strength)) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_every_role_has_its_own_colour(visit, theme):
    tab = visit(theme)
    for step, drawn in {"Q, K, V": list(COLOURS)[:6], "Output": list(COLOURS)[6:]}.items():
        page = tab.open(at(step=step))
        for name in drawn:
            matrix = page.locator("figure").filter(has=grid(page, VOCABULARY[name].title)).first
            colour = THEMES[theme][f"{COLOURS[name]}TextColor"]
            css = f"rgb({', '.join(map(str, channels(colour)))})"
            for part, property_ in ((".symbol", "color"), (".title", "color"), ("figcaption", "border-left-color")):
                expect(matrix.locator(part)).to_have_css(property_, css)


def test_heads_are_told_apart_in_one_big_matrix(visit):
    page = visit().open(at(step="Q, K, V", cell="2.1.1.1.1"))
    for row in range(8):
        for column in range(8):
            expect(cell(page, "Query parameters", row, column)).to_have_css("opacity", "0.6" if column < 4 else "1")
    shadows = [look[4] != "none" for look in looks(page, "w_q")]
    assert shadows == [column == 4 for _ in range(8) for column in range(8)]
