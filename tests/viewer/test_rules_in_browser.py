"""Rules in the browser: what it says of a cell of a document is what Python says of that of the pass."""

import json
import math
import re
from types import SimpleNamespace

import latex
import numpy as np
import pytest
from cases import of_each, spread
from documents import given
from page import ROOT
from passes import MODELS, ROWS, TRACES
from rules import said
from sentences import chosen, told, without_note

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core.changes import Change
from attnviz.core.numerals import tex
from attnviz.core.operations.softmax import SumNormalise
from attnviz.core.selection import Selection
from attnviz.core.stage import split_layer
from attnviz.explain.steps import ENTRIES, stories_of
from attnviz.explain.steps import symbol as symbol_of

pytestmark = pytest.mark.slow  # 156 passes

BY_HAND = {
    "attention by hand": TRACES["causal"].with_changes(Change("attention", (1, 2, 0), 0.25), Change("x", (0, 0), -2.0)),
    "a hidden key by hand": TRACES["plain"].with_changes(Change("masked", (0, 1, 2), -math.inf)),
    "a row by hand": TRACES["plain"].with_changes(*(Change("mask", (1, key), 0.0) for key in range(6))),
}
SEEING_NOTHING = trace_of(Settings("the cat sat", mask="padding", mask_size=3))
WIDE_APART = {(0, 0, 0): 1.7e308, (0, 0, 1): -1.7e308}
NEAR = {(0, 1, 0): 1e10, (0, 1, 1): 2.0, (0, 1, 2): 2.0 + 1e-12, (0, 1, 3): 2.0 + 1e-6, (0, 1, 4): -0.5}
BY_HAND |= {
    "a hidden share by hand": TRACES["causal"].with_change("attention", (0, 0, 2), 0.5),
    "a hidden share of a second layer by hand": MODELS["two layers that learnt"].with_change(
        "attention_2", (0, 0, 4), 1.0
    ),
    "a share by hand where nothing is seen": SEEING_NOTHING.with_change("attention", (0, 1, 0), 0.5),
    "a head by hand where nothing is seen": SEEING_NOTHING.with_change("heads", (0, 1, 0), 2.0),
    "no share at all by hand": TRACES["plain"].with_change("attention", (0, 1, 0), -1.7e308),
    "beside a large number": TRACES["plain"].with_changes(*(Change("scores", *each) for each in NEAR.items())),
    "as far apart as can be": TRACES["plain"].with_changes(*(Change("scaled", *each) for each in WIDE_APART.items())),
    "logits by hand": MODELS["a model"].with_changes(Change("logits", (4, 0), 1e10), Change("logits", (4, 1), 2.0)),
    "a probability by hand": MODELS["a model"].with_change("probabilities", (4, 0), 0.125),
}
# a sees itself, b all three, c none; the scores are (9, −3, 0), (−3, 2, 2) and (0, 2, 4)
MADE = attend(
    np.array([[3.0, 0.0], [-1.0, 1.0], [0.0, 2.0]]),
    parameters=Parameters(w_q=np.eye(2)[None], w_o=np.array([[3.0, 0.0], [0.0, 4.0]])),
    mask=np.array([[1, 0, 0], [1, 1, 1], [0, 0, 0]], dtype=bool),
    scale=1.0,
).labelled(token=("a", "b", "c"), query=("a", "b", "c"), key=("a", "b", "c"))
PLAIN_CAUSAL = trace_of(Settings("the cat sat", mask="causal"))
SET = {
    f"{name} by hand": PLAIN_CAUSAL.with_change(name, (0,), 0.5)
    for name in [
        "x",
        "w_q",
        "q",
        "scores",
        "scaled",
        "masked",
        "attention",
        "heads",
        "concat",
        "contributions",
        "output",
    ]
}
SET |= {
    f"{name} by hand": MODELS["two layers that learnt"].with_change(name, (0,), 0.5)
    for name in ("attention_1", "heads_2", "residual_1", "w_u", "logits", "probabilities")
}
SET |= {
    "unscaled scores by hand": TRACES["unscaled"].with_change("scores", (0,), 0.5),
    "unscaled, masked scores by hand": trace_of(Settings("the cat sat", mask="causal", scaled=False)).with_change(
        "scores", (0,), 0.5
    ),
    "added mask by hand": TRACES["added mask"].with_change("scores", (0,), 0.5),
    "an added mask beside a sink": attend(ROWS, parameters=Parameters(sinks=np.ones(1)), mask=np.tri(5)),
}
KINDS = {
    "scaled": {},
    "unscaled": {"scale": 1.0},
    "capped": {"softcap": 9.0},
    "biased": {"softcap": 9.0, "alibi": True},
}


def sums(**options):
    return attend(np.ones((2, 2)), parameters=Parameters(), normalise=SumNormalise, **options)


SET |= {"sums of added": sums(mask=np.ones((2, 2)))}
for is_masked in (True, False):
    of_five, of_two = ({"mask": np.tri(n, dtype=bool)} if is_masked else {} for n in (5, 2))
    for kind, options in KINDS.items():
        name = f"{kind}, {'masked' if is_masked else 'not masked'}"
        SET[f"beside a sink: {name}"] = attend(ROWS, parameters=Parameters(sinks=np.ones(1)), **of_five, **options)
        SET[f"sums: {name}"] = sums(**of_two, **options)
        if "softcap" in options:
            SET[name] = attend(ROWS, parameters=Parameters(), **of_five, **options)
            SET[f"scores by hand: {name}"] = SET[name].with_change("scores", (0,), 0.5)
ONE_KEY = trace_of(Settings("the cat", context="Hund"))
ONE_LATENT = trace_of(Settings("the cat", context="Hund", sharing="absorbed"))
BIASED = attend(
    ROWS,
    parameters=Parameters(
        **dict.fromkeys(("w_q", "w_k", "w_v"), np.ones((1, 3, 3))),
        **dict.fromkeys(("b_q", "b_k", "b_v"), np.full((1, 3), 99.0)),
    ),
)
ONES = dict.fromkeys(("w_q", "w_k", "w_v"), np.ones((1, 1, 1))) | dict.fromkeys(
    ("w_o", "w_hidden", "w_mlp"), np.ones((1, 1))
)
ONE_DIMENSION = attend(
    np.array([[1.0], [2.0]]), parameters=Parameters(**ONES), residual=True, w_u=np.array([[1.0, 2.0]])
)
PASSES = (
    TRACES
    | BY_HAND
    | SET
    | {"biased": BIASED, "made": MADE, "one key": ONE_KEY, "one latent": ONE_LATENT, "one dimension": ONE_DIMENSION}
)
MAX_CELLS = dict.fromkeys(PASSES, 3) | dict.fromkeys(SET, 2)
MAX_CELLS |= {"two blocks with biases": 6, "latents made into keys, with rope": 12}
"""How many cells of a stage: what SET is of differs in a word or two, others need some until every story is told."""


def some_cells(trace, most):
    """Some cells of all stages, and those at places set by hand."""
    for stage in trace.stages:
        changed = [each for each in trace.stages if each.shape == stage.shape and each.overridden]
        indices = np.ndindex(stage.shape) if changed else ()
        by_hand = [index for index in indices if any(each.is_overridden(index) for each in changed)]
        yield from ((stage.name, index) for index in {*spread(stage.shape, most), *by_hand[:3]})


@pytest.fixture(scope="module")
def answers(node):
    """What the browser says of some cells of each pass."""
    asked = {name: list(some_cells(trace, MAX_CELLS[name])) for name, trace in PASSES.items()}
    of_passes = [
        (PASSES[name], {"selection": vars(within(PASSES[name])), "cells": cells}) for name, cells in asked.items()
    ]
    found = json.loads(node(str(ROOT / "tests/js/answers.mjs"), "cells", text=given(of_passes)))
    return {
        name: [(*cell, SimpleNamespace(**answer)) for cell, answer in zip(asked[name], each, strict=True)]
        for name, each in zip(asked, found, strict=True)
    }


def within(trace):
    return Selection().within(trace)


@of_each("name", [*PASSES])
def test_cell_rules_match_python(answers, name):
    trace = PASSES[name]
    for stage, index, answer in answers[name]:
        assert answer.address == str(trace[stage].cell(index))
        assert answer.name == trace.name_of(trace[stage].cell(index))
        if trace[stage].is_overridden(index):
            assert (answer.recipe, answer.lines) == ("set by hand", [])
        elif trace[stage].is_given:
            assert (answer.recipe, answer.lines) == (trace[stage].operation.recipe, [])
        else:
            expected = said(trace, stage, index)
            cells = [[[cell.stage, list(cell.index)] for cell in cells] for cells, *_ in expected.lines]
            assert [line[0] for line in answer.lines] == cells
            assert [line[1] for line in answer.lines] == [text for _, text, _ in expected.lines]
            values = [float(line[2].replace("Infinity", "inf")) for line in answer.lines]
            for value, (_, text, wanted) in zip(values, expected.lines, strict=True):  # two libraries' exponentials
                assert value == wanted or (text.startswith("exp(") and math.isclose(value, wanted, rel_tol=1e-15))
            assert answer.conclusion == expected.conclusion
            assert answer.formula == formula(trace, stage, index, expected.formula)


@of_each("name", [*PASSES])
def test_picked_number_is_in_focus(answers, name):
    for stage, index, answer in answers[name]:
        assert answer.picked == answer.linked == [stage, list(index)]


def formula(trace, stage, index, right):
    """The formula of a cell, its places counted from 1."""
    in_head = trace[stage].is_headed
    place = ", ".join(str(i + 1) for i in index[in_head:])
    head = f"_{index[0] + 1}" if index[0] < 9 else f"_{{{index[0] + 1}}}"
    symbol = symbol_of(trace[stage])
    symbol = symbol.replace("_i", head) if in_head else symbol
    left = f"({symbol})_{{{place}}}"
    return right and f"{left} = {right} = {tex(float(trace[stage].value[index]))}"


@of_each("name", [*PASSES])
def test_formula_is_true(answers, name):
    for stage, index, answer in answers[name]:
        if answer.formula and not re.search(r"dots|text|infty", answer.formula):
            _, right, result = answer.formula.split(" = ")
            sizes = [float(size) for size in re.findall(r"\d+\.\d+", right)]
            rounding = 2e-4 * len(sizes) * max(1, *sizes)  # of numbers of four decimals
            value = latex.value_of(right, {})
            assert value == pytest.approx(latex.value_of(result, {}), abs=rounding, rel=1e-2), (stage, index)


def test_stories_match_the_arrays_and_every_story_occurs(answers):
    """The first that applies is told; `tests/explain/test_sentences.py` says what it may claim."""
    seen = set()
    for name, cells in answers.items():
        trace = PASSES[name]
        for stage, index, answer in cells:
            stories = [(story.when, story.text) for story in stories_of(trace, stage)]
            text = told(trace, stories, stage, index, within(trace))
            assert without_note(trace, answer.story) == text, (name, stage, index)
            template = chosen(trace, stories, stage, index, within(trace))
            seen.add(re.sub(r"(?<=\{)\w+", lambda slot: split_layer(slot[0])[0], template))
    untold = {story.text for each in ENTRIES.values() for story in each.stories} - seen
    assert all(any(each.startswith(text[:-1]) for each in seen) for text in untold), "but for one that says less"


@of_each("name", [*PASSES])
def test_story_has_no_empty_slot(answers, name):
    for *_, answer in answers[name]:
        assert re.match(r"[A-Z“\d−]", answer.story), answer.story
        assert answer.story.endswith(".")
        assert not re.search(r"[{}]|nan|None|\binf\b|  | [.,;:]|;.*;|of one\b|−0\.00", answer.story), answer.story
        assert len(answer.story) < 200


@of_each("trace", TRACES)
def test_hand_set_story_comes_first(trace):
    for stage in trace.stages:
        cases = [story.when for story in stories_of(trace, stage.name)]
        assert cases[0] == "set"
        assert cases == sorted(cases, key=("set", "unseeing", "hidden", "given", "").index)
