"""Attention as it is built today on the sheet, in a hand and presented: all of it is seen, and large enough."""

import re

import pytest
from tab import at, becomes, expect, resized

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SMALLEST = """all => Math.min(
  ...all.filter(cell => /[0-9]/.test(cell.textContent)).map(cell => parseFloat(getComputedStyle(cell).fontSize))
)"""
"""The smallest digits of some cells, in pixels; more than any where there are none."""
EVERYTHING = {
    **{"d_model": 16, "n_heads": 4, "mask": "causal window", "mask_size": 3, "sharing": "pairs", "qk_norm": True},
    **{"rope": "halves", "softcap": "1", "alibi": True, "sinks": "drawn", "positions": "sinusoidal"},
}
LLAMA = {"d_model": 16, "n_heads": 4, "mask": "causal", "sharing": "all", "rope": "neighbours"}
BY_BLOCKS = EVERYTHING | {"blocks": "2"}
GEMMA = {"mask": "causal window", "mask_size": 2, "softcap": "5", "qk_norm": True, "rope": "halves"}


LAYERS = EVERYTHING | {"d_model": 8, "layers": 2, "window_in": "every second layer"}
NAIVE = EVERYTHING | {"sharing": "latent", "latent_width": 6, "rope_part": "half"}
ABSORBED = NAIVE | {"sharing": "absorbed"}


@pytest.mark.parametrize(
    "settings",
    [EVERYTHING, BY_BLOCKS, LLAMA, GEMMA, LAYERS, NAIVE, ABSORBED],
    ids=["everything", "by blocks", "like Llama", "like Gemma", "in layers", "MLA, naive", "MLA, absorbed"],
)
def test_a_sheet_of_today_is_seen_whole_and_its_digits_are_large(opened, settings):
    settings = {name: str(value) for name, value in settings.items()}
    step = "blocks" if "blocks" in settings else "weighted-sum"
    page = opened(at(view="sheet", step=step, present=1, reveal="all"), **settings)
    resized(page, 1366, 768)
    becomes(page, lambda: page.locator(".sheet td").evaluate_all(SMALLEST) >= 0.015 * 768, True)
    becomes(
        page, lambda: page.locator(".sheet").evaluate("sheet => sheet.scrollHeight - sheet.clientHeight") <= 1, True
    )
    expect(page.locator(".sheet")).to_contain_text("exp(score")
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


def test_beside_the_words_rows_a_matrix_of_one_word_names_its_own(opened):
    page = opened(at(step="blocks", view="matrices"), sentence="the cat sat", blocks="2")
    resized(page, 1366, 768)
    named = page.locator(".matrix", has_text="Running output").locator(".labels.of-rows span")
    expect(named.filter(visible=True)).to_have_text(["the", "cat", "sat"])
