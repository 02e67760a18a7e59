"""Lessons: which steps a trace has, that they leave no stage unexplained, and that what they say holds for it."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from passes import TRACES as PASSES

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core.attention import attend_projected
from attnviz.core.masks import MASKS, REASONS
from attnviz.core.operations.scale import Scale
from attnviz.core.operations.sumnormalise import SumNormalise
from attnviz.core.selection import Selection
from attnviz.core.stage import Stage
from attnviz.text.entry import Entry
from attnviz.text.steps import STEPS, find, steps_of
from attnviz.text.steps.mask import masks
from attnviz.text.steps.softmax import row_steps
from attnviz.text.vocabulary import VOCABULARY
from attnviz.views import matrices

IDS = [step.id for step in STEPS]
OWN = {
    "positions": trace_of(Settings("the cat sat", positions="sinusoidal")),
    "half scale": attend(np.eye(3), parameters=Parameters(), scale=0.5),
    "masked by hand": trace_of(Settings("the cat sat")).with_change("masked", (0, 0, 1), -math.inf),
    "attention by hand": trace_of(Settings("the cat sat")).with_change("attention", (0, 0, 1), 5.0),
    "sums by hand": PASSES["negative"].with_change("attention", (0, 0, 1), 5.0),
    "output by hand": trace_of(Settings("the cat sat")).with_change("output", (0, 0), 1.0),
}
TRACES = PASSES | OWN
EVERYWHERE = pytest.mark.parametrize("trace", TRACES.values(), ids=TRACES)


def step(trace, id_):
    return next(step for step in steps_of(trace) if step.id == id_)


def explained(trace):
    """The stages that the steps of a trace show, or explain in a note, with how often."""
    parts = [part for each in steps_of(trace) for part in (each, *each.sections, *each.notes, *each.charts)]
    return [name for part in parts for name in part.stages]


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("plain", ["positions", "mask"]),
        ("positions", ["mask"]),
        ("window 0", ["positions"]),
        ("context", ["mask"]),
        ("masked by hand", ["positions"]),
        ("001 without", ["tokens", "positions", "mask", "output"]),
        ("001 with", ["tokens", "positions", "output"]),
        ("002 softmax", ["positions", "mask", "output"]),
        ("003 steps", ["positions", "mask"]),
    ],
)
def test_a_trace_has_the_steps_of_its_stages(name, missing):
    assert [each.id for each in steps_of(TRACES[name])] == [each for each in IDS if each not in missing]


@EVERYWHERE
def test_no_stage_that_is_computed_goes_unexplained_or_is_explained_twice(trace):
    names = explained(trace)
    assert len(names) == len(set(names))
    assert {stage.name for stage in trace.stages if stage.inputs} <= set(names)
    assert set(names) <= {stage.name for stage in trace.stages}


def test_a_stage_that_no_step_knows_is_noticed():
    trace = TRACES["plain"]
    unknown = replace(trace["scaled"], name="capped", inputs=("scaled",))
    trace = replace(trace, stages=(*trace.stages, unknown))
    assert {stage.name for stage in trace.stages if stage.inputs} - set(explained(trace)) == {"capped"}


@EVERYWHERE
def test_a_symbol_in_a_note_is_of_a_stage_that_the_trace_has(trace):
    for each in steps_of(trace):
        for note in each.notes:
            assert "Z^M" not in note.text or np.array_equal(trace["masked"].value, trace["scaled"].value)


def test_the_text_names_the_scores_that_the_mask_is_laid_on_whatever_they_are(monkeypatch):
    """An operation between the scaled and the masked scores, such as a cap, makes the scores before the mask."""
    monkeypatch.setitem(VOCABULARY, "capped", Entry("Z^C_i", "Capped scores", "the scaled scores, capped"))
    plain = TRACES["plain"]
    capped = Stage.computed("capped", Scale(1, 0.5), [plain["scaled"]])
    masked = Stage.computed("masked", plain["masked"].operation, [capped, plain["mask"]])
    stages = {stage.name: [stage] for stage in plain.stages} | {"masked": [capped, masked]}
    trace = replace(plain, stages=tuple(stage for each in stages.values() for stage in each))
    notes = {trace: step(trace, "softmax").notes[0].text for trace in (plain, trace)}
    said = "No mask hides anything here, so the masked scores are the"
    assert notes[plain] == f"{said} scaled scores: $Z^M_i = Z_i$."
    assert notes[trace] == f"{said} capped scores: $Z^M_i = Z^C_i$."
    assert "mask" not in [each.id for each in steps_of(trace)]
    assert "scaled" not in VOCABULARY["masked"].meaning


@EVERYWHERE
def test_a_step_of_a_trace_has_one_heading_and_a_short_text(trace):
    for each in steps_of(trace):
        assert len(each.headings) == 1
        assert not re.search(r"\bweights?\b", each.text, re.IGNORECASE)
        sentences = re.findall(r"[.?!](?= [A-Z$*:]|$)", each.text)
        assert 2 <= len(sentences) <= 4, each.text


def test_every_section_is_said_of_some_trace_and_names_are_unique():
    said = {
        (each.id, part.name) for t in TRACES.values() for each in steps_of(t) for part in (*each.sections, *each.notes)
    }
    assert said == {(each.id, part.name) for each in STEPS for part in (*each.sections, *each.notes)}
    for each in STEPS:
        assert len({part.name for part in each.sections}) == len(each.sections)
        assert not any(part.stages and part in each.sections for part in each.notes)


@pytest.mark.parametrize("each", STEPS, ids=IDS)
def test_a_step_is_found_by_its_id_and_its_title_in_any_case(each):
    assert re.fullmatch("[a-z-]+", each.id)
    for text in (each.id, each.title, each.title.upper(), f" {each.title.lower()} "):
        assert find(text) == each.id
    assert find("") is find("nonsense") is None


def test_ids_and_titles_tell_steps_apart():
    assert len({*IDS}) == len({each.title for each in STEPS}) == len(STEPS)


@EVERYWHERE
def test_what_depends_on_the_trace_is_said_where_it_holds(trace):
    factor = trace["scaled"].operation.factor
    assert ("switched off" in step(trace, "scaling").heading) == (factor == 1)
    assert ("would keep" in step(trace, "scaling").text) == (factor is not None)
    assert ("multiplied by a number" in step(trace, "scaling").text) == (factor not in (None, 1))
    summed = isinstance(trace["attention"].operation, SumNormalise)
    assert ("not softmax" in step(trace, "softmax").heading) == summed
    by_hand = bool(trace["attention"].overridden)
    assert ("No share is negative" in step(trace, "softmax").text) == (not summed and not by_hand)
    assert ("rows do add up to 1" in step(trace, "softmax").text) == (summed and not by_hand)
    matrices = [name for name in ("w_q", "w_k", "w_v") if name in trace]
    assert ("no matrices" in step(trace, "qkv").text) == (not matrices)
    assert ("only some are made by matrices" in step(trace, "qkv").text) == (len(matrices) in (1, 2))
    assert ("other sentence" in step(trace, "qkv").text) == ("context" in trace and len(matrices) == 3)
    if masks(trace):
        assert ("0 is hidden and 1 is visible" in step(trace, "mask").text) == (trace["mask"].value.dtype == bool)
        assert ("is **added**" in step(trace, "mask").text) == (trace["mask"].value.dtype != bool)
    if "output" in trace:
        assert ("bias" in step(trace, "output").text) == ("b_o" in trace)


@EVERYWHERE
def test_the_input_is_shown_before_it_is_projected(trace):
    steps = steps_of(trace)
    for stage in ("embeddings", "context_embeddings", "x", "context"):
        if stage in trace:
            assert [stage in each.stages for each in steps[:2]].count(True) == 1
    if "x" in trace:
        bare = "embeddings" in trace and "positions" not in trace
        assert ("Without positions this is also the input $X$" in steps[0].text) == bare


@EVERYWHERE
def test_shares_are_as_the_text_says(trace):
    text, attention = step(trace, "softmax").text, trace["attention"].value
    if "No share is negative" in text:
        assert (attention >= 0).all()
    if "sums to 1" in text or "add up to 1" in text:
        assert np.allclose(attention.sum(axis=-1), np.isfinite(trace["masked"].value).any(axis=-1))


@EVERYWHERE
def test_formulas_in_the_text_hold(trace):
    if "positions" in trace:
        assert "$X = E + P$" in step(trace, "positions").text
        assert np.allclose(trace["x"].value, trace["embeddings"].value + trace["positions"].value)
    if any(chart.name == "contributions" for each in steps_of(trace) for chart in each.charts):
        assert "**adding up** what comes out" in step(trace, "output").text
        bias = trace["b_o"].value if "b_o" in trace else 0
        assert np.allclose(trace["contributions"].value.sum(axis=0) + bias, trace["output"].value)


@EVERYWHERE
def test_the_whole_pass_draws_every_stage_except_the_biases(trace):
    assert "every stage in order, except the biases" in step(trace, "whole-pass").text
    rows = matrices.rows_of(trace, Selection().within(trace))
    drawn = {matrix.stage for row in rows for matrix in row}
    assert {stage.name for stage in trace.stages} - drawn == {name for name in VOCABULARY if name[:2] == "b_"} & {
        stage.name for stage in trace.stages
    }


NUMBER = r"\(?(−?[\d.]+(?:e−?\d+)?)\)?"


def value(text):
    return float(text.replace("−", "-"))


@EVERYWHERE
def test_the_softmax_step_by_step_is_the_softmax(trace):
    for place in np.ndindex(trace["attention"].shape):
        if max(place) > 3:
            continue
        lines = row_steps(trace, Selection(*place, 0, 0))
        row = trace["masked"].value[place[:2]]
        summed = isinstance(trace["attention"].operation, SumNormalise)
        by_hand = place in trace["attention"].overridden
        assert bool(lines) == (not summed and not by_hand and np.isfinite(row).any())
        if not lines or np.isneginf(row[place[2]]):
            continue
        score, largest, shifted = map(value, re.search(f": {NUMBER} − {NUMBER} = {NUMBER}$", lines[0]).groups())
        exponent, exponential = map(
            value, re.search(rf"exp\({NUMBER}\) = {NUMBER}$", lines[1].replace("((", "(")).groups()
        )
        total = value(re.search(f": {NUMBER}$", lines[2])[1])
        part, whole, share = map(value, re.search(f": {NUMBER} ÷ {NUMBER} = {NUMBER}$", lines[3]).groups())
        near = {"rel_tol": 5e-3, "abs_tol": 1e-4}
        assert math.isclose(score, row[place[2]], **near)
        assert math.isclose(largest, max(row), **near)
        assert math.isclose(shifted, score - largest, rel_tol=5e-3, abs_tol=2e-4)
        assert exponent == shifted
        assert math.isclose(exponential, math.exp(row[place[2]] - max(row)), **near)
        assert math.isclose(total, sum(math.exp(each - max(row)) for each in row), **near)
        assert (part, whole) == (exponential, total)
        assert math.isclose(share, trace["attention"].value[place], **near)


def test_a_hidden_key_goes_through_the_softmax_as_minus_infinity():
    lines = row_steps(TRACES["causal"], Selection(0, 0, 1, 0, 0))
    assert re.search(r": −∞ − .* = −∞$", lines[0])
    assert lines[1].endswith("exp(−∞) = 0.0000")


@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_the_reason_of_a_mask_says_which_keys_it_hides(size):
    """The words of each reason, spelt out as a rule of its own; `size` is the number in the words."""
    rules = {
        "nothing is hidden": lambda query, key, n: False,
        "no query sees a later key": lambda query, key, n: key > query,
        f"the last {size} keys are fillers": lambda query, key, n: key in range(n)[n - size if size < n else 0 :],
        f"a query sees no key more than {size} places away": lambda query, key, n: abs(query - key) > size,
    }
    assert MASKS.keys() == REASONS.keys()
    for name, make in MASKS.items():
        hides = rules.pop(REASONS[name].format(size=size))
        for query, key in np.ndindex(3, 4):
            assert make(3, 4, size)[query, key] == (not hides(query, key, 4)), name
    assert not rules


def test_what_the_mask_step_says_of_each_mask_is_what_it_hides():
    """The words of each claim, spelt out as a rule of its own, of a query, a key, their number and a size."""
    rules = {
        "hides the future": lambda query, key, n, size: key > query,
        "hides fillers at the end": lambda query, key, n, size: key >= n - size,
        "hides what is far away": lambda query, key, n, size: abs(query - key) > size,
    }
    claims = dict(re.findall(r"\*\*(\w+)\*\*(?: mask)? (hides [\w ]+)", step(TRACES["causal"], "mask").text))
    assert claims.keys() == MASKS.keys() - {"none"}
    for name, claim in claims.items():
        for query, key in np.ndindex(5, 5):
            assert MASKS[name](5, 5, 2)[query, key] == (not rules[claim](query, key, 5, 2)), name


@pytest.mark.parametrize("scale", [None, 1.0, 0.5])
def test_the_spread_of_scores_grows_with_d_k_where_the_text_says_so(scale):
    draw = np.random.default_rng(3)
    few, many = (attend_projected(*draw.standard_normal((3, 1, 64, d_k)), scale=scale) for d_k in (4, 256))
    text = step(many, "scaling").text
    assert "spread of dot products grows like $\\sqrt{d_k}$" in text
    assert many["scores"].value.std() / few["scores"].value.std() == pytest.approx(math.sqrt(256 / 4), rel=0.1)
    kept = many["scaled"].value.std() / few["scaled"].value.std() == pytest.approx(1, rel=0.1)
    assert ("Dividing by $\\sqrt{d_k}$ keeps the spread from growing" in text) == kept
    assert ("Dividing by $\\sqrt{d_k}$ would keep the spread from growing" in text) == (not kept)
