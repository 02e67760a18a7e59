"""Paper read back: head and foot of each page of the sheet, and which numbers a worksheet leaves to be written."""

import re

import pytest
from documents import fitted_at
from page import changes_of
from readback import called, go, lines, written

pytestmark = pytest.mark.browser

PAIR = {
    "sentence": "the cat sat on the mat",
    "heads": "2",
    "mask": "causal",
    "seed": "7",
    "changes": "scores[1,2,0]=3;q[0,1,1]=-2",
    "beside": "mask=&changes=&seed=3",
}
PAGES = """(all) => all.map((page) => ({
  head: page.querySelector("header").textContent,
  words: [...page.querySelectorAll(".sentence-whole .word")].map((each) => [each.localName, each.textContent]),
  made: page.querySelector("footer").firstChild.textContent,
  place: page.querySelector("footer .place").textContent,
}))"""

ON_PAPER = """(pages) => {
  const isSeen = (each) => each.checkVisibility({ visibilityProperty: true });
  const parts = ["footer", "header", "strong.word", "table"], sheets = [...pages.querySelectorAll(".printed")];
  const others = [...pages.parentNode.children].filter((each) => each !== pages);
  return {
    onPaper: parts.filter((each) => sheets.every((sheet) => isSeen(sheet.querySelector(each)))),
    screen: others.filter(isSeen).map(({ className }) => className),
    exact: sheets.map((each) => getComputedStyle(each).printColorAdjust === "exact"),
  };
}"""
"""What of the sheet is printed, what of the screen is, and whether each sheet keeps its colours."""


@pytest.mark.slow
def test_head_and_foot_say_whose_page_it_is_and_what_both_passes_were_made_of(opened):
    trace, page = fitted_at(PAIR).trace, opened("?view=sheet", **PAIR)
    cell = page.evaluate("given.where.cell") | {"head": 1, "query": 2, "key": 1}
    go(page, step="weighted-sum", cell=cell)
    assert page.locator(".panel .changed").inner_text().startswith("2 numbers are set by hand.")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    pages = page.locator(".printed").evaluate_all(PAGES)
    page.emulate_media(media="print")
    paper = page.locator(".pages").evaluate(ON_PAPER)
    page.emulate_media(media="null")
    assert paper == {"onPaper": ["footer", "header", "strong.word", "table"], "screen": [], "exact": [True, True]}
    assert "underline" in page.locator(".printed strong.word").first.evaluate(
        "(all) => getComputedStyle(all).textDecoration"
    )
    assert [each["head"] for each in pages] == ["Where “sat” looks, head 2 of 2", "What “sat” becomes"]
    changes = [f"{called(trace, each.stage, each.index)} = {each.value:g}" for each in changes_of(PAIR["changes"])]
    for nth, each in enumerate(pages, start=1):
        words = [text for _, text in each["words"]]
        assert words == list(trace.labels["query"])
        assert [text for kind, text in each["words"] if kind == "strong"] == ["sat"], "the word that looks"
        of_b, of_a = each["made"].split(" A beside it: ")
        assert {"Mask: causal", "Seed: 7.", "Heads: 2"} <= set(re.split(r", | (?=Set by hand)", of_b))
        assert of_b.partition("Set by hand: ")[2] == "; ".join(changes).replace("-", "−") + "."
        assert of_a.split(". ")[0].split("; ") == ["Set by hand: nothing", "Mask: none", "Seed: 3"]
        assert "They part at the embeddings" in of_a
        assert each["place"] == f"Page {nth} of {len(pages)}"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".printed").count() == 0


def sheets(page):
    return [
        lines(page, f".printed:nth-of-type({nth + 1}) .sheet > table")
        for nth in range(page.locator(".printed").count())
    ]


@pytest.mark.slow
@pytest.mark.parametrize("band", ["Scores", "Residual"])
def test_a_worksheet_leaves_out_what_is_worked_out_from_a_band_on_and_nothing_that_is_given(opened, band):
    page, trace = opened("?view=sheet", afresh=True, model="recall"), fitted_at({"model": "recall"}).trace
    page.evaluate("window.print = () => dispatchEvent(new Event('beforeprint'))")
    page.get_by_role("button", name="Print", exact=True).click()
    page.get_by_label("Numbers left out from").select_option(band)
    page.get_by_role("button", name="Worksheet and key").click()
    copies, heads = sheets(page), [each["head"] for each in page.locator(".printed").evaluate_all(PAGES)]
    named = [f"{copy}Layer {n}{does}" for copy in ("Worksheet", "Key") for n in (1, 2) for does in ("Where", "What")]
    assert [re.match(r"(?:Worksheet|Key)Layer \d(?:Where|What)", each)[0] for each in heads] == named
    worked, solved = copies[: len(copies) // 2], copies[len(copies) // 2 :]
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    left = set().union(*(worked_out(solved[nth : nth + 2], band) for nth in range(0, len(solved), 2)))
    seen = {cell.name for sheet in worked for line in sheet for cell in line.cells} - {""}
    assert not seen & left
    for sheet, key in zip(worked, solved, strict=True):
        rows = {line.label: line for line in sheet if "single" in line.kind.split()}
        whole = {line.label: line for line in key if "single" in line.kind.split()}
        assert list(rows) == list(whole)
        for label, line in whole.items():
            if line.cells[0].name:
                assert any(cell.name for cell in rows[label].cells) == (line.cells[0].name not in left), label
        for cell in (cell for each in (*sheet, *key) for cell in each.cells if cell.name):
            assert cell.text == written(trace[cell.name].value[cell.index])
    assert {"x", "w_o_1", "k_1", "v_2"} <= seen, "what a pupil works with"
    assert {"residual_1", "residual_2", "logits"} <= left


def worked_out(pages, band):
    """The stages of a layer from the row of that name on, of which something is said: what comes in is only there."""
    rows = [line for page in pages for line in page if line.cells[0].name]
    names, first = [], False
    for line in rows:
        first = first or line.label == band
        if first and "single" in line.kind.split() and line.label != "what came in":
            names.append(line.cells[0].name)
    return set(names)
