"""Steps as data: a step's formulas, its NumPy lines and the signs around its matrices are what is computed there."""

import numpy as np
import pytest
from cases import of_each
from documents import document_of
from passes import TRACES
from tab import resized

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.explain.pictures import pictures
from attnviz.explain.steps import BAND_TEXTS, STEPS, steps_of

PRESENTED = [(1024, 768), (1920, 1080), (3840, 2160)]


@pytest.mark.parametrize("name", [*TRACES])
def test_every_step_of_every_pass_says_why_in_one_or_two_sentences(name):
    for step in steps_of(TRACES[name]):
        (why,) = step.why
        said = "".join(text for _, text in why.text)
        assert said.endswith("."), (step.id, said)
        assert said.count(". ") <= 1, (step.id, said)
        assert 40 <= len(said) <= 220, (step.id, said)


def test_every_reason_is_given_in_some_pass():
    given = {
        (step.id.split("-")[0], each.name) for trace in TRACES.values() for step in steps_of(trace) for each in step.why
    }
    assert given == {(step.id.split("-")[0], each.name) for step in STEPS for each in step.why}


def test_no_band_says_that_a_number_becomes_another():
    said = [each for text, stories in BAND_TEXTS.values() for each in (text, *(story.text for story in stories))]
    assert len(said) > 50
    assert not [each for each in said if "become" in each]


@pytest.mark.parametrize("size", PRESENTED)
def test_why_is_read_under_the_title_in_a_talk_too(opened, size):
    page = opened("?step=scores&view=sheet&present=1")
    resized(page, *size)
    why = page.locator(".step-text .why")
    assert "compared by their dot product" in why.inner_text()
    above, there = page.locator(".step-text h2").bounding_box(), why.bounding_box()
    assert above["y"] + above["height"] <= there["y"] + 1
    letters = why.evaluate("(line) => parseFloat(getComputedStyle(line).fontSize)")
    assert letters >= 0.015 * size[1]


CONTEXT = trace_of(Settings("the cat", "le chat noir", mask="causal", positions="sinusoidal"))


def steps(trace):
    return {step["id"]: step for step in document_of(trace)["steps"]}


@pytest.mark.parametrize(
    ("step", "begin"),
    [
        ("positions", ["X = E + P", "C = E^C + P^C"]),
        ("qkv", [r"Q_i = X\,W^Q_i", r"K_i = C\,W^K_i", r"V_i = C\,W^V_i"]),
        ("scores", [r"S_i = Q_i\,{K_i}^{\top}"]),
        ("scaling", [r"Z_i = \frac{S_i}"]),
        ("mask", [r"Z^M_i = Z_i \text{ where } M"]),
        ("softmax", [r"A_i = \mathrm{softmax}(Z^M_i)"]),
        ("weighted-sum", [r"H_i = A_i\,V_i"]),
        ("concatenation", ["H = [H_1 "]),
        ("output", [r"O_i = H_i\,W^O_i", r"O = H\,W^O"]),
    ],
)
def test_a_step_s_formulas_are_those_of_the_paper(step, begin):
    found = steps(CONTEXT)[step]["formulas"]
    assert [latex[: len(start)] for latex, start in zip(found, begin, strict=True)] == begin


@of_each("trace", TRACES)
def test_a_step_s_numpy_lines_compute_its_stages_from_those_before(trace):
    for step in steps(trace).values():
        made = {"np": np, **{name: trace[name].value for name in (each.name for each in trace.stages)}}
        computed = [name for name in step["stages"] if trace[name].inputs]
        for name in computed:
            del made[name]
        exec("\n".join(step["numpy"]), made)
        for name in computed:
            assert np.array_equal(made[name], trace[name].value), (step["id"], name)


@pytest.mark.parametrize(
    ("scale", "written"),
    [(None, [("scores", "", "÷ √2"), ("scaled", "=", "")]), (0.5, [("scores", "", "× 0.5"), ("scaled", "=", "")])],
)
def test_what_is_done_to_the_scores_stands_behind_them(scale, written):
    (picture,) = pictures(attend(np.eye(2), parameters=Parameters(), scale=scale), ("scaled",))
    assert [(slot.stage, slot.sign, slot.after) for slot in picture.matrices] == written


def test_a_row_of_the_output_is_said_to_be_its_heads_rows_added_up():
    (*_, picture) = pictures(CONTEXT, ("contributions", "output"))
    assert [slot.sign for slot in picture.matrices] == ["", "added up:"]
