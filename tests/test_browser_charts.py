"""Plotly's charts in a real browser: words that JavaScript or Plotly could take for something else."""

import pytest
from page import plain
from tab import at, becomes, expect

from attnviz import Settings, trace_of

pytestmark = pytest.mark.browser

WORDS = "constructor toString valueOf hasOwnProperty 1 2 10 1e5 0x10 null true NaN Infinity y"
TICKS = """axis => [...document.querySelectorAll(`.js-plotly-plot .${axis}tick text`)].map(tick => tick.textContent)"""
SPOKEN = """() => [...document.querySelectorAll(".js-plotly-plot")].flatMap(plot => plot._fullData.flatMap(
  trace => (trace.customdata ?? []).map(each => each[0]).filter(each => typeof each === "string")))"""


@pytest.mark.parametrize("sentence", ["__proto__ a", "2024 - 01 - 01", WORDS])
def test_words_are_ticks_as_they_were_typed(visit, sentence):
    page = visit().open(at(step="Softmax", sentence=sentence))
    words = list(trace_of(Settings(sentence)).labels["key"])
    expect(page.locator(".js-plotly-plot .xtick text").first).to_be_visible()
    for axis in "xy":
        becomes(page, lambda axis=axis: {plain(tick) for tick in page.evaluate(TICKS, axis)}, set(words))
    becomes(page, lambda: {plain(word) for word in page.evaluate(SPOKEN)}, set(words))
