"""The next letter read back: bars, what is heard of them, and what wrote to each logit, against the model's arrays."""

import re

import numpy as np
import pytest
from documents import fitted_at
from readback import numerals
from test_writers import written_by

from attnviz.analysis.stream import parts
from attnviz.core.numerals import digits
from attnviz.explain.wording import percent
from attnviz.models.continuation import Drawing, weighed
from attnviz.scene.resolution import resolve

pytestmark = pytest.mark.browser

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


def test_a_bar_is_as_high_as_its_probabilities_and_is_heard_with_them(opened):
    fitted, page = fitted_at(KA), opened(**KA)
    answers = fitted.trace.axes("probabilities")[1].labels
    row, in_a = (trace["probabilities"].value[-1] for trace in (fitted.trace, resolve(fitted.scene.other).trace))
    weights = weighed(row, Drawing(0.5, 5, 0.9, 3))
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


def test_each_line_of_a_logit_s_sum_is_what_its_writer_added_to_that_logit(opened):
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


def test_a_text_that_ends_and_one_that_is_full_are_told_apart(opened):
    full = f"The context is full: {len(FULL) + 1} tokens."  # the start is one
    for text, said in ((ENDED, f"It ends here: “{ENDED}”."), (FULL, full), ("ka", "")):
        page = opened(model="microgpt", sentence=text)
        found, data = page.locator(".next-letter .line .said").inner_text(), page.evaluate("given.next")
        assert (data["ends"], data["isFull"]) == (text == ENDED, text == FULL)
        assert said in found
        assert bool(found) == bool(said)
        assert page.locator(".next-letter .primary").is_disabled() == bool(said)
