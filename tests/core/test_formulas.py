"""Formulas: what an operation writes of itself, as LaTeX and as NumPy, is what it computes."""

import math
import re

import numpy as np
import pytest
from kinds import OPERATIONS
from latex import value_of
from rules import said

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core.operations.activations import GELU, ReLU
from attnviz.core.operations.linear import (
    Addition,
    Concatenation,
    Contributions,
    DotProducts,
    HeadProjection,
    Identity,
    Projection,
    WeightedSum,
)
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.operations.online_softmax import LastQuotient, RunningMaximum, RunningOutput, RunningSum
from attnviz.core.operations.rotation import PAIRS, Rotation
from attnviz.core.operations.scores import ALiBi, Hide, Scale, Softcap, slopes
from attnviz.core.operations.softmax import SinkShare, Softmax, SumNormalise

DRAW = np.random.default_rng(7)
ROW, COLUMN = 3, 5


def array(*shape):
    return DRAW.standard_normal(shape)


MASK = DRAW.random((ROW, COLUMN)) < 0.6
MASK[:, 0] = True
MASKED = np.where(MASK, array(ROW, COLUMN), -np.inf)
SQUARE = array(4, 4)  # where a factor on the wrong side would fit too
HEADS = array(2, ROW, 7)
BANDS = array(14, COLUMN)
ROTATIONS = [Rotation(50.0, pairs, dims, first) for pairs in PAIRS for dims, first in ((8, 0), (4, 3))]
OF_ONE_HEAD = {
    "identity": (Identity("query"), SQUARE),
    "addition": (Addition(), SQUARE, array(4, 4)),
    "addition of a mask": (Addition(hides=True), array(ROW, COLUMN), MASKED),
    "projection": (Projection("query"), SQUARE, array(4, 4)),
    "projection and bias": (Projection("query"), array(ROW, 7), array(7, COLUMN), array(COLUMN)),
    "dot products": (DotProducts(), SQUARE, array(4, 4)),
    "dot products of other lengths": (DotProducts(), array(ROW, 7), array(COLUMN, 7)),
    "scale": (Scale(7), SQUARE),
    "scale by a factor": (Scale(7, -0.375), SQUARE),
    "scale by ln 3": (Scale(7, math.log(3)), SQUARE),
    "hide": (Hide(), array(ROW, COLUMN), MASK),
    "softmax": (Softmax(), array(ROW, COLUMN)),
    "softmax of scores whose exponentials overflow": (Softmax(), 1000 * array(ROW, COLUMN)),
    "softmax of a masked row": (Softmax(), MASKED),
    "sum normalisation": (SumNormalise(), DRAW.random((ROW, COLUMN)) + 1),
    "weighted sum": (WeightedSum(), SQUARE, array(4, 4)),
    "rmsnorm": (RMSNorm(), array(ROW, COLUMN)),
    "rmsnorm of small numbers": (RMSNorm(0.5), array(ROW, COLUMN)),
    "layernorm": (LayerNorm(), array(ROW, COLUMN)),
    "layernorm and gain": (LayerNorm(), array(ROW, COLUMN), array(COLUMN)),
    "layernorm, gain and bias": (LayerNorm(0.5), array(ROW, COLUMN), *array(2, COLUMN)),
    "rmsnorm and gain": (RMSNorm(), array(ROW, COLUMN), array(COLUMN)),
    "softmax and a sink": (Softmax(), MASKED, np.array(0.7)),
    "softmax and a sink above all": (Softmax(), MASKED, np.array(9.0)),
    "share of a sink": (SinkShare(), MASKED, np.array(0.7)),
    "share of a sink above all": (SinkShare(), MASKED, np.array(9.0)),
    "softcap": (Softcap(0.75), 2 * SQUARE),
    "relu": (ReLU(), SQUARE),
    "relu squared": (ReLU(squared=True), SQUARE),
    "gelu": (GELU(), SQUARE),
    "gelu by tanh": (GELU(tanh=True), SQUARE),
}
RUNNING = np.random.default_rng(37)  # of its own, so that the arrays beside stay as they are
SINKS, VALUES = RUNNING.standard_normal(4), RUNNING.standard_normal((2, COLUMN, 7))
SCORES = np.where(RUNNING.random((4, ROW, COLUMN)) < 0.6, RUNNING.standard_normal((4, ROW, COLUMN)), -np.inf)
SCORES[0, 0, :2] = -np.inf
LARGEST = {None: RunningMaximum(2).compute(SCORES), "sinks": RunningMaximum(2).compute(SCORES, SINKS)}
OUTPUT, SUMS = RUNNING.standard_normal((2, ROW, COLUMN, 7)), RUNNING.random((2, ROW, COLUMN)) * [1, 1, 1, 1, 0]
OF_ALL_HEADS = {
    "running maximum": (RunningMaximum(2), SCORES),
    "running maximum and sinks": (RunningMaximum(3), SCORES, SINKS),
    "running sum": (RunningSum(2), SCORES, LARGEST[None]),
    "running sum and sinks": (RunningSum(2), SCORES, LARGEST["sinks"], SINKS),
    "running output of groups": (RunningOutput(2, 2), SCORES, LARGEST[None], VALUES),
    "last quotient": (LastQuotient(), OUTPUT, SUMS),
    "identity for each head": (Identity("query", 2), SQUARE),
    "concatenation": (Concatenation(), HEADS),
    "contributions": (Contributions(), HEADS, BANDS),
    "alibi": (ALiBi(2), array(2, ROW, COLUMN)),
    "each head's matrix": (HeadProjection(), HEADS, array(2, 7, COLUMN)),
    "each head's matrix, transposed": (HeadProjection(transposed=True), HEADS, array(2, COLUMN, 7)),
    "each head's matrix of groups": (HeadProjection(2), HEADS, array(4, 7, COLUMN)),
    "dot products of groups": (DotProducts(2), array(4, ROW, 7), array(2, COLUMN, 7)),
    "weighted sum of groups": (WeightedSum(3), array(6, ROW, COLUMN), array(2, COLUMN, 7)),
    "softmax and the sinks of heads": (Softmax(), array(2, ROW, COLUMN), array(2)),
    **{f"rotation {each.pairs}, {each.dims}": (each, array(2, ROW, 8)) for each in ROTATIONS},
}
CASES = OF_ONE_HEAD | OF_ALL_HEADS


def sides(formula, names):
    """The values of all that a formula says its left side is equal to.

    Shares are said of entries, as in y_{nm} = ..., of what `softmax(A):` or `z = A` calls a or z; some with a shift.
    """
    said = re.search(r"\b[ay]_(?:\{nm\}|n) = (\\frac.*?)(?:, \\quad|$)", formula)
    if not said:
        left, *right = formula.split(" = ")
        assert left.startswith("Y")
        return [value_of(side, names) for side in right]
    read = re.search(r"(?:softmax|Norm)\}\((\w)\)|z = (\w)", formula).expand(r"\1\2")
    z = names[read]
    rows, columns = map(range, z.shape)
    known = names | {"z": z, "x": z, read.lower(): z, "length": len(columns), "d": len(columns)}
    known |= {letter: names[of] for letter, of in re.findall(r"([gb]) = (\w)", formula)}
    if shift := re.search(r"c_n = (.*?)(?:, \\quad|$)", formula):
        known["c"] = np.array([value_of(shift[1], known, n=n) for n in rows])
    if "y_n = " in formula:  # a number for each row
        return [np.array([value_of(said[1], known, n=n) for n in rows])]
    return [np.array([[value_of(said[1], known, n=n, m=m) for m in columns] for n in rows])]


def test_every_operation_has_its_formulas_checked():
    assert {type(operation) for operation, *_ in CASES.values()} == OPERATIONS


@pytest.mark.parametrize("case", OF_ONE_HEAD)
def test_the_latex_evaluates_to_what_is_computed(case):
    operation, *arrays = OF_ONE_HEAD[case]
    names = dict(zip("ABC", arrays, strict=False)) | {"d_k": getattr(operation, "d_k", None)}
    values = sides(operation.latex("Y", *"ABC"[: len(arrays)]), names)
    assert values
    for value in values:
        np.testing.assert_allclose(value, operation.compute(*arrays), rtol=1e-13, atol=1e-14)


def test_the_latex_of_a_copy_for_each_head_is_the_same_in_each():
    for head in Identity("query", 2).compute(SQUARE):
        (value,) = sides(Identity("query", 2).latex("Y_i", "A"), {"A": SQUARE})
        np.testing.assert_array_equal(value, head)


@pytest.mark.parametrize("transposed", [False, True])
def test_the_latex_of_each_heads_matrix_evaluates_to_what_is_computed_in_each(transposed):
    operation, w = HeadProjection(transposed=transposed), array(2, 7, 7)
    for head, expected in enumerate(operation.compute(HEADS, w)):
        (value,) = sides(operation.latex("Y", "A", "B"), {"A": HEADS[head], "B": w[head]})
        np.testing.assert_allclose(value, expected, rtol=1e-13, atol=1e-14)


def test_the_latex_of_a_concatenation_evaluates_to_what_is_computed():
    (value,) = sides(Concatenation().latex("Y", "H_i"), {"H_1": HEADS[0], "H_h": HEADS[1]})
    np.testing.assert_array_equal(value, Concatenation().compute(HEADS))


def test_the_latex_of_contributions_evaluates_to_what_is_computed():
    computed = Contributions().compute(HEADS, BANDS)
    for head, band in enumerate(np.split(BANDS, 2)):
        names = {f"H_{head + 1}": HEADS[head], f"B_{head + 1}": band}
        (value,) = sides(Contributions().latex("Y", f"H_{head + 1}", "B"), names)
        np.testing.assert_allclose(value, computed[head], rtol=1e-13, atol=1e-14)


def test_the_latex_of_what_runs_evaluates_block_after_block_to_what_is_computed():
    """Each formula says how a block follows from the one before; the first from m_0 and l_0, and an output of 0."""
    for sinks in ((), (SINKS,)):
        maximum, total = RunningMaximum(2), RunningSum(2)
        m = maximum.compute(SCORES, *sinks)
        names = "AS" if sinks else "A"
        formulas = [
            maximum.latex("Y", *names),
            total.latex("Y", "A", "M", *names[1:]),
            RunningOutput(2, 2).latex("Y", "A", "M", "V"),
        ]
        steps = [re.search(r"[mlo]_b = (.*?)(?=, \\quad)", each)[1] for each in formulas]
        m_0, l_0 = re.search(r"m_0 = (.*?),", formulas[0])[1], re.search(r"l_0 = (.*)", formulas[1])[1]
        assert l_0 == "01"[len(sinks)]
        assert m_0 == ("S" if sinks else r"-\infty")
        made = [m, total.compute(SCORES, m, *sinks), RunningOutput(2, 2).compute(SCORES, m, VALUES)]
        for head, query in np.ndindex(4, ROW):
            before = [sinks[0][head] if sinks else -np.inf, float(l_0), np.zeros(7)]
            for keys in ([0, 1], [2, 3], [4]):
                z, v = SCORES[head, query, keys], VALUES[head // 2, keys]
                here = evaluated(steps, before, z, v)
                for found, stage in zip(here, made, strict=True):
                    np.testing.assert_allclose(stage[head, query, keys[0]], found, rtol=1e-13, atol=1e-15)
                    np.testing.assert_array_equal(stage[head, query, keys], [stage[head, query, keys[0]]] * len(keys))
                before = here


def evaluated(steps, before, z, v):
    """The maximum, the sum and the output that these three formulas make of those before and of a block."""
    (m_old, l_old, o_old), found = before, []
    names = {r"m_{b-1}": "m_old", r"l_{b-1}": "l_old", r"o_{b-1}": "o_old", "m_b": "m"}
    names |= {r"\max_{j \in b} z_j": "z.max()", r"\max": "max", " e^{m_old - m}": " * np.exp(m_old - m)"}
    names |= {r"\sum_{j \in b} e^{z_j - m} v_j": "np.exp(z - m) @ v"}
    names |= {r"\sum_{j \in b} e^{z_j - m}": "np.exp(z - m).sum()"}
    m = -np.inf
    for formula in steps:
        for latex, code in names.items():
            formula = formula.replace(latex, code)
        known = {"np": np, "max": max, "m_old": m_old, "l_old": l_old, "o_old": o_old, "z": z, "v": v}
        seen = found and not np.isneginf(found[0])
        found.append(
            eval(formula, known | {"m": found[0] if found else m}) if seen or not found else before[len(found)]
        )
    return found


def test_the_latex_of_a_last_quotient_is_that_of_the_last_block():
    assert LastQuotient().latex("Y", "O", "L") == r"Y: \quad h = \frac{o_b}{l_b} \text{ after the last block}"
    output, sums = OUTPUT, SUMS + 1
    for head, query in np.ndindex(2, ROW):
        expected = output[head, query, -1] / sums[head, query, -1]
        np.testing.assert_array_equal(LastQuotient().compute(output, sums)[head, query], expected)


def test_the_latex_of_a_bias_by_distance_evaluates_to_what_is_computed():
    scores = array(3, ROW, COLUMN)
    for head, expected in enumerate(ALiBi(3).compute(scores)):
        (said,) = re.findall(r"y_\{nm\} = (.*?), \\quad z = A", ALiBi(3).latex("Y", "A"))
        names = {"z": scores[head], "s_i": slopes(3)[head]}
        for n, m in np.ndindex(ROW, COLUMN):
            value = value_of(said, names | {"n": n, "m": m}, n=n, m=m)
            assert value == pytest.approx(expected[n, m], rel=1e-13)


@pytest.mark.parametrize("rotation", ROTATIONS)
def test_the_latex_of_a_rotation_evaluates_to_what_is_computed(rotation):
    x = array(1, ROW, 8)
    _, sides, angle = re.split(r": \\quad |, \\quad θ = ", rotation.latex("Y", "A"))
    written = re.findall(r"y_\{n,(.*?)\} = (.*?)(?:, \\quad|$)", sides)
    assert len(written) == 2
    for n, j in np.ndindex(ROW, rotation.dims // 2):
        names = {"n": n + 1, "j": j + 1}
        places = [2 * j, 2 * j + 1] if rotation.pairs == "neighbours" else [j, j + rotation.dims // 2]
        spelt = [eval(place.replace("2j", "2*j"), {"j": j + 1}) for place, _ in written]
        assert [each - 1 for each in spelt] == places
        names["θ"] = value_of(angle, names)
        for (_, formula), place in zip(written, places, strict=True):
            for (of, _), letter in zip(written, "ab", strict=True):
                formula = formula.replace(f"x_{{n,{of}}}", letter)
            names |= {"a": x[0, n, places[0]], "b": x[0, n, places[1]]}
            assert value_of(formula, names) == pytest.approx(rotation.compute(x)[0, n, place], rel=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_the_numpy_lines_make_what_is_computed(case):
    operation, *arrays = CASES[case]
    made = {"np": np, **dict(zip("abc", arrays, strict=False))}
    for line in operation.numpy("y", *"abc"[: len(arrays)]):
        assert ":=" not in line
        exec(line, made)
    assert made["y"].tobytes() == operation.compute(*arrays).tobytes()


@pytest.mark.parametrize("operation", [Scale(4), Scale(7), Scale(7, -0.375), Scale(7, math.log(2))])
def test_what_stands_behind_the_scores_in_the_picture_is_done_to_them(operation):
    (operand,) = operation.operands
    sign, root, written = re.fullmatch("([÷×]) (√|ln )?(.+)", operand.after).groups()
    number = {"√": math.sqrt, "ln ": math.log, None: float}[root](float(written))
    expected = {"÷": SQUARE / number, "×": SQUARE * number}[sign]
    np.testing.assert_allclose(operation.compute(SQUARE), expected, rtol=1e-13)


def passes():
    """Passes with sums of at most four, so that no term is left out of a formula."""
    w = {"w_q": array(2, 4, 3), "w_k": array(2, 4, 3), "w_v": array(2, 4, 2), "w_o": array(4, 3)}
    return {
        "a query that sees no key": attend(array(3, 4), parameters=Parameters(**w), mask=np.tri(3, k=-1, dtype=bool)),
        "a bias and a float mask": attend(
            array(3, 3),
            parameters=Parameters(w_q=array(1, 3, 3), b_q=array(1, 3)),
            mask=np.where(np.tri(3, dtype=bool), -0.5, -np.inf),
            scale=0.7,
        ),
        "two layers and answers": attend(
            array(3, 4),
            parameters=[Parameters(**w | {"w_o": array(4, 4)}) for _ in range(2)],
            mask=np.tri(3, dtype=bool),
            residual=True,
            w_u=array(4, 3),
        ),
        "a block": attend(
            array(3, 4),
            parameters=Parameters(w_q=array(1, 4, 4), w_o=array(4, 4), w_hidden=array(4, 3), w_mlp=array(3, 4)),
            residual=True,
            norm=RMSNorm(),
        ),
        "a block with squares": attend(
            array(3, 4),
            parameters=Parameters(w_o=array(4, 4), w_hidden=array(4, 3), w_mlp=array(3, 4)),
            activation=ReLU(squared=True),
        ),
        "a block of GPT-2": attend(
            array(3, 4),
            parameters=Parameters(
                **{"w_o": array(4, 4), "w_hidden": array(4, 3), "b_hidden": array(3), "w_mlp": array(3, 4)},
                **{"g_attn_norm": array(4), "b_attn_norm": array(4), "g_mlp_norm": array(4)},
            ),
            residual=True,
            norm=LayerNorm(),
            activation=GELU(tanh=True),
        ),
        "groups, sinks and a softcap": attend(
            array(3, 4),
            parameters=Parameters(w_q=array(4, 4, 4), w_k=array(2, 4, 4), w_v=array(2, 4, 3), sinks=array(4)),
            mask=np.tri(3, k=-1, dtype=bool),
            softcap=1.5,
            qk_norm=True,
            rotation=Rotation(9.0, "halves", 2),
            alibi=True,
        ),
        "whole numbers": trace_of(Settings("the cat sat", d_model=3, n_heads=1, initialiser="whole")),
        "rows over their sums": attend(
            DRAW.random((4, 2)) + 0.5, parameters=Parameters(), mask=np.tri(4, k=-1, dtype=bool), normalise=SumNormalise
        ),
    }


@pytest.mark.parametrize("trace", passes().values(), ids=passes())
def test_the_formula_of_a_cell_evaluates_to_its_number(trace):
    for stage in trace.stages:
        for index in () if stage.is_given else np.ndindex(stage.shape):
            formula = said(trace, stage.name, index).formula
            assert r"\dots" not in formula
            spoken = {r"\text{ hidden}": r"-\infty", r" \text{ (visible)}": "", r" \quad\text{(no key is visible)}": ""}
            for words, meaning in spoken.items():
                formula = formula.replace(words, meaning)
            cell = stage.cell(index)  # of whose numbers four decimals are written
            if formula:
                assert value_of(formula, {}) == pytest.approx(cell.value, rel=1e-3, abs=1e-3), cell
