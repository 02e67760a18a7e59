"""What is announced, pointed at and labelled, read back: answers, flags, heads, and the ends of scales."""

import json
import re

import numpy as np
import pytest
from alone import written as document_of
from documents import fitted_at
from numerals import short
from readback import called, go, titled

from attnviz import Settings, trace_of
from attnviz.core.numerals import digits
from attnviz.explain.steps import steps_of
from attnviz.explain.views.scales import limits
from attnviz.explain.wording import percent

pytestmark = pytest.mark.browser

LONG = " ".join(f"word{n}" for n in range(1, 41))
LABELS = """(matrix) => {
  const box = (each) => each.getBoundingClientRect(), middle = (each) => (box(each).left + box(each).right) / 2;
  const isUnder = (band, cell) => box(band).left < middle(cell) && middle(cell) < box(band).right;
  return [...matrix.querySelectorAll(".band")].map((band) => {
    const under = [...matrix.querySelectorAll("[data-row='0']")].filter((cell) => isUnder(band, cell));
    return [band.textContent, band.classList.contains("lit"), under.map(({ dataset }) => Number(dataset.column))];
  });
}"""


@pytest.mark.slow
def test_each_answer_is_announced_with_its_own_share_and_whether_it_is_right(opened):
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
    heard = page.locator("p.heard").inner_text()
    assert re.search(r"The answer: (.*)\.$", heard)[1].split("; ") == expected
    assert {each.split()[-1] for each in expected} == {"right", "wrong"}
    assert page.locator(".answers .before").evaluate_all("(all) => all.map((each) => each.textContent)") == before
    assert len(set(before)) > 1
    step = page.evaluate("given.steps.findIndex(({ id }) => id === 'weighted-sum')")
    go(page, step="weighted-sum", view="matrices")
    heard = page.locator("p.heard").inner_text()
    place = page.evaluate("given.where.cell")
    assert titled(fitted_at(settings).trace, "heads", (place["head"], place["query"], place["feature"])) + ". " in heard
    count, title = page.evaluate("(at) => [given.steps.length, given.steps[at].title]", step)
    assert heard.startswith(f"Step {step + 1} of {count}: {title}.")


def test_what_is_pointed_at_is_called_by_its_name_and_is_its_number(opened):
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


def test_over_heads_side_by_side_stands_whose_columns_they_are(opened):
    page = opened(sentence="the cat sat on", heads="2")
    cell = page.evaluate("given.where.cell") | {"head": 1}
    go(page, view="matrices", step="concatenation", cell=cell)
    bands = [each for matrix in page.locator(".matrix").all() for each in matrix.evaluate(LABELS)]
    assert bands == [["head 1", False, [0, 1, 2, 3]], ["head 2", True, [4, 5, 6, 7]]]


def test_a_legend_ends_where_its_scale_does(opened):
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
