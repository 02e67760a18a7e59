"""Steps as data: a step's formulas, its NumPy lines and the signs around its matrices are what is computed there."""

import numpy as np
import pytest
from cases import of_each
from documents import document_of
from passes import TRACES

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.explain.views.pictures import pictures

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
