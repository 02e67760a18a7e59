"""The screen read back against the arrays of the pass: the next letter, names, variants, and pages on paper."""

import json
import re

import numpy as np
import pytest
from alone import written as document_of
from documents import fitted_at
from page import changes_of
from readback import called, go, lines, numerals, titled, written
from tab import from_menu
from test_writers import written_by

from attnviz import Settings, trace_of
from attnviz.analysis.stream import parts
from attnviz.core.numerals import digits, short
from attnviz.explain.pictures import limits
from attnviz.explain.steps import steps_of
from attnviz.explain.wording import percent
from attnviz.models.continuation import Sampling, filtered_probabilities
from attnviz.scene.with_pass import resolve

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


def test_printed_head_and_foot_state_both_passes(opened):
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
        assert "The first difference is at the embeddings" in of_a
        assert each["place"] == f"Page {nth} of {len(pages)}"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".printed").count() == 0


def sheets(page):
    return [
        lines(page, f".printed:nth-of-type({nth + 1}) .sheet > table")
        for nth in range(page.locator(".printed").count())
    ]


@pytest.mark.parametrize("band", ["Scores", "Residual"])
def test_worksheet_omits_results_and_keeps_inputs(opened, band):
    page, trace = opened("?view=sheet", afresh=True, model="recall"), fitted_at({"model": "recall"}).trace
    page.evaluate("window.print = () => dispatchEvent(new Event('beforeprint'))")
    printed = []
    for copy, button in (("Worksheet", "Worksheet"), ("Key", "Its key")):
        from_menu(page, "Print").click()
        page.get_by_label("Numbers left out from").select_option(band)
        page.get_by_role("button", name=button, exact=True).click()
        printed.append(sheets(page))
        heads = [each["head"] for each in page.locator(".printed").evaluate_all(PAGES)]
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        named = [f"{copy}Layer {n}{does}" for n in (1, 2) for does in ("Where", "What")]
        assert [re.match(r"(?:Worksheet|Key)Layer \d(?:Where|What)", each)[0] for each in heads] == named
    worked, solved = printed
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


LONG = " ".join(f"word{n}" for n in range(1, 41))
LABELS = """(matrix) => {
  const box = (each) => each.getBoundingClientRect(), middle = (each) => (box(each).left + box(each).right) / 2;
  const isUnder = (band, cell) => box(band).left < middle(cell) && middle(cell) < box(band).right;
  return [...matrix.querySelectorAll(".band")].map((band) => {
    const under = [...matrix.querySelectorAll("[data-row='0']")].filter((cell) => isUnder(band, cell));
    return [band.textContent, band.classList.contains("lit"), under.map(({ dataset }) => Number(dataset.column))];
  });
}"""


def test_each_answer_is_announced_with_its_probability(opened):
    settings, change = {"model": "mirror"}, {"changes": "attention[0,7,0]=0"}
    page = opened("?step=softmax", **settings)
    right = page.evaluate("given.model.right")
    page.evaluate("(document) => viewer.show(document)", json.loads(document_of(**settings, **change)))
    trace, original = fitted_at(settings | change).trace, fitted_at(settings).trace["probabilities"].value
    labels, expected, before = trace.axes("probabilities")[1].labels, [], []
    for row, old, wanted in zip(trace["probabilities"].value, original, right, strict=True):
        answer, said = labels[row.argmax()], f"{labels[old.argmax()]} {percent(old.max())}"
        before.append("" if said == f"{answer} {percent(row.max())}" else f"was {said}")
        expected.append(f"{answer}, {percent(row.max())}, {'right' if answer == wanted else 'wrong'}")
    heard = page.locator("p.sr-only").inner_text()
    assert re.search(r"The answer: (.*)\.$", heard)[1].split("; ") == expected
    assert {each.split()[-1] for each in expected} == {"right", "wrong"}
    assert page.locator(".answers .before").evaluate_all("(all) => all.map((each) => each.textContent)") == before
    assert len(set(before)) > 1
    step = page.evaluate("given.steps.findIndex(({ id }) => id === 'weighted-sum')")
    go(page, step="weighted-sum", view="matrices")
    heard = page.locator("p.sr-only").inner_text()
    place = page.evaluate("given.where.cell")
    assert titled(fitted_at(settings).trace, "heads", (place["head"], place["query"], place["feature"])) + ". " in heard
    count, title = page.evaluate("(at) => [given.steps.length, given.steps[at].title]", step)
    assert heard.startswith(f"Step {step + 1} of {count}: {title}.")


def test_hovered_cell_is_named_with_its_number(opened):
    trace = trace_of(Settings("the cat sat on", n_heads=2, mask="causal"))
    page = opened(sentence="the cat sat on", heads="2", mask="causal")
    cell = page.evaluate("given.where.cell") | {"head": 1, "query": 1}
    go(page, view="matrices", step="mask", cell=cell)
    for title, name, place in (("Mask ", "mask", ()), ("Scaled", "scaled", (1,)), ("Masked", "masked", (1,))):
        grid = page.locator(f".matrix:has([role=grid][aria-label^='{title}'])")
        for query, key in ((1, 0), (1, 3), (3, 1)):
            value = trace[name].value[(*place, query, key)]
            grid.locator(f"[data-row='{query}'][data-column='{key}']").hover()
            said, number = page.locator(".status").inner_text().split(" = ")
            assert said == called(trace, name, (*place, query, key))
            if name == "mask":
                assert number == ("visible" if value else "hidden")
            elif np.isfinite(value):
                assert float(number.replace("−", "-")) == pytest.approx(value, abs=1e-12)
            else:
                assert "hidden" in number


def test_head_columns_are_labelled(opened):
    page = opened(sentence="the cat sat on", heads="2")
    cell = page.evaluate("given.where.cell") | {"head": 1}
    go(page, view="matrices", step="concatenation", cell=cell)
    bands = [each for matrix in page.locator(".matrix").all() for each in matrix.evaluate(LABELS)]
    assert bands == [["head 1", False, [0, 1, 2, 3]], ["head 2", True, [4, 5, 6, 7]]]


def test_legend_ends_match_the_scale(opened):
    settings = {"sentence": LONG, "d_model": "16", "heads": "1", "seed": "0"}
    trace, page = fitted_at(settings).trace, opened(**settings)
    reached = limits(trace, steps_of(trace))
    shares = trace["attention"].value.max()
    assert reached["attention"] == shares < 0.3
    ends = "(all) => all.map((bar) => [bar.className, bar.firstChild.textContent, bar.lastChild.textContent])"
    for step, name in (("softmax", "attention"), ("scores", "scores"), ("scaling", "scaled")):
        go(page, view="matrices", step=step)
        found = page.locator(".legend .bar").evaluate_all(ends)
        if name == "attention":
            assert ["bar share", "0", digits(shares)] in found
        else:
            assert ["bar signed", short(-reached[name]), short(reached[name])] in found
            assert reached[name] >= abs(trace[name].value).max()


KA = {"model": "microgpt", "sentence": "ka", "draw": "0.5,5,0.9,3", "beside": "changes=output%5B%3A%5D%3D0&draw="}
FULL, ENDED = "mgnashorthlhhoj", "eliza"
BARS = """(all) => all.map((bar) => {
  const style = (name) => bar.querySelector(name).style, high = (text) => parseFloat(text || "0");
  const [name, share] = [".name", ".share"].map((each) => bar.querySelector(each).textContent);
  const line = bar.querySelector(".in-a");
  return { name, share, heard: bar.ariaLabel, kind: [...bar.classList], given: high(style(".given").height),
    drawn: high(style(".weight").height), line: line.hidden ? null : high(line.style.bottom) };
})"""
WRITERS = """(box) => {
  const read = (line) => {
    const bar = line.querySelector(".bar"), [isDown, isUp] = ["down", "up"].map((each) => bar.classList.contains(each));
    const name = line.querySelector(".name").textContent, cell = line.querySelector("button")?.dataset.cell ?? "";
    const value = line.lastChild.textContent, width = parseFloat(bar.firstChild.style.width);
    return { name, cell, isDown, isUp, value, width };
  };
  return { head: box.querySelector("p").textContent, lines: [...box.querySelectorAll("li")].map(read) };
}"""


def test_bar_heights_are_probabilities(opened):
    fitted, page = fitted_at(KA), opened(**KA)
    answers = fitted.trace.axes("probabilities")[1].labels
    row, in_a = (trace["probabilities"].value[-1] for trace in (fitted.trace, resolve(fitted.scene.other).trace))
    weights = filtered_probabilities(row, Sampling(0.5, 5, 0.9, 3))
    most = max(*row, *in_a, *weights)
    bars = page.locator(".bar-of").evaluate_all(BARS)
    assert [bar["name"] for bar in bars] == [answers[place] for place in np.argsort(-row, kind="stable")]
    assert sum("comes" in bar["kind"] for bar in bars) == 1
    for bar in bars:
        place = answers.index(bar["name"])
        heights = [bar["given"], bar["drawn"], bar["line"]]
        assert heights == pytest.approx([100 * each[place] / most for each in (row, weights, in_a)], abs=1e-3)
        shares = [percent(each[place]) for each in (row, weights, in_a)]
        assert re.findall(r"(?:under |over )?\d+\xa0%", bar["heard"]) == shares
        assert re.fullmatch(rf"{bar['name']}: .+, drawn with .+, in A .+", bar["heard"])
        assert bar["share"] == (shares[0] if row[place] >= 0.01 else "")
        assert ("out" in bar["kind"]) == (weights[place] == 0)
        if "comes" in bar["kind"]:
            assert page.locator(".next-letter .primary").inner_text() == f"Next letter: {bar['name']}"
            assert place == page.evaluate("given.next.answer")


def by_key(trace, head, answer):
    """What a head adds to a logit of the last token from each key, as a loop finds it."""
    shares, values = trace["attention"].value[head, -1], trace["v"].value[head]
    width = values.shape[-1]
    rows = trace["w_o"].value[head * width : (head + 1) * width]
    return [
        share * float((value @ rows) @ trace["w_u"].value[:, answer])
        for share, value in zip(shares, values, strict=True)
    ]


def test_logit_lines_match_their_writers(opened):
    trace, page = fitted_at({"model": "microgpt", "sentence": ENDED}).trace, opened(model="microgpt", sentence=ENDED)
    answers = trace.axes("logits")[1].labels
    for name in ("a", "n", "end"):
        page.locator(".bar-of", has=page.get_by_text(name, exact=True)).click()
        answer = answers.index(name)
        logit, found = trace["logits"].value[-1, answer], page.locator(".writers").evaluate(WRITERS)
        assert numerals(found["head"])[-1] == digits(logit)
        assert f"“{name}”" in found["head"]
        values = [float(written_by(trace, cell) @ trace["w_u"].value[:, answer]) for cell in cells_of(trace)]
        *alone, others = found["lines"]
        shown = [float(written_by(trace, line["cell"]) @ trace["w_u"].value[:, answer]) for line in alone]
        assert sorted(map(abs, shown)) == pytest.approx(sorted(map(abs, values))[-len(shown) :])
        together = logit - sum(shown)
        assert numerals(others["name"]) == [str(len(parts(trace, len(trace["logits"].value) - 1)) - len(alone))]
        for line, value in zip(found["lines"], [*shown, together], strict=True):
            assert line["value"] == digits(value)
            assert (line["isDown"], line["isUp"]) == (value < 0, value >= 0)
            assert line["width"] == pytest.approx(50 * abs(value) / max(map(abs, shown)), abs=0.01)
        for line in alone:
            stage, index = line["cell"].removesuffix("]").split("[")
            place = [int(each) for each in index.split(",")]
            if stage == "contributions":
                added = by_key(trace, place[0], answer)
                key = int(np.argmax(np.abs(added)))
                said = f"head {place[0] + 1} (from “{trace.labels['key'][key]}” {digits(added[key])})"
                assert line["name"] == said
            else:
                expected = {"active": f"neuron {place[-1] + 1}", "x": f"“{trace.labels['token'][-1]}” as it entered"}
                assert line["name"] == expected[stage]


def cells_of(trace):
    """All that may write to the stream: what entered, the heads, and the neurons."""
    last = trace["x"].shape[0] - 1
    yield f"x[{last},0]"
    yield from (f"contributions[{head},{last},0]" for head in range(trace.lengths["head"]))
    yield from (f"active[{last},{neuron}]" for neuron in range(trace["active"].shape[1]))


def test_ended_and_full_texts_differ(opened):
    full = f"The context is full: {len(FULL) + 1} tokens."  # the start is one
    for text, said in ((ENDED, f"It ends here: “{ENDED}”."), (FULL, full), ("ka", "")):
        page = opened(model="microgpt", sentence=text)
        found, data = page.locator(".next-letter .line .said").inner_text(), page.evaluate("given.next")
        assert (data["ends"], data["isFull"]) == (text == ENDED, text == FULL)
        assert said in found
        assert bool(found) == bool(said)
        assert page.locator(".next-letter .primary").is_disabled() == bool(said)
