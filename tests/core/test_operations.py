"""Every operation: its LaTeX, NumPy and rule are what it computes, alone or in a batch, and its slopes are right."""

import math
import re

import numpy as np
import pytest
from latex import value_of
from operationcases import CASES, COLUMNS, MASKED, OPERATIONS, ROTATIONS, ROWS, SINKS, VALUES, array
from rules import said

from attnviz.analysis.audit import audit_of, tolerance
from attnviz.core.arrays import Numbers
from attnviz.core.operations.activations import ReLU
from attnviz.core.operations.linear import Concatenation, Contributions, Identity
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.operations.online_softmax import LastQuotient, RunningMaximum, RunningOutput, RunningSum
from attnviz.core.operations.rotation import Rotation
from attnviz.core.operations.rule import Line, Rule, Slot, Variant, axes
from attnviz.core.operations.scores import ALiBi, Hide, Scale, slopes
from attnviz.core.operations.softmax import SinkShare, Softmax
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace

SENTENCES, STEP = 3, 1e-6
ANY_CASE = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
RUNNING = (RunningMaximum, RunningSum, RunningOutput, LastQuotient)
OF_THEIR_OWN = (Identity, Concatenation, Contributions, ALiBi, Rotation, *RUNNING)
"""Those whose LaTeX has a test of its own below."""


def test_every_operation_has_a_case():
    assert {type(case.operation) for case in CASES.values()} == OPERATIONS


def traced(case):
    axes = ("head", "query", "key", "d_v")
    given = [
        Stage.given(name, Numbers.of(each.copy()), axes[: each.ndim])
        for name, each in zip("abc", case.arrays, strict=False)
    ]
    return Trace((*given, Stage.computed("y", case.operation, given)), {})


@ANY_CASE
def test_numpy_shape_and_bound_match_compute(case):
    names = "abc"[: len(case.arrays)]
    made = {"np": np, **dict(zip(names, case.arrays, strict=True))}
    for line in case.operation.numpy("y", *names):
        assert ":=" not in line
        exec(line, made)
    stage = traced(case)["y"]
    assert made["y"].tobytes() == case.operation.compute(*case.arrays).tobytes() == stage.value.tobytes()
    assert stage.shape == stage.value.shape
    assert len(stage.axes) == stage.value.ndim
    assert np.abs(stage.value[np.isfinite(stage.value)]).max(initial=0) <= case.operation.bound(
        *traced(case).stages[:-1]
    )
    assert len(case.arrays) <= len(case.operation.operands) <= len(case.arrays) + 2


@ANY_CASE
def test_cells_recompute_from_their_rule(case):
    trace = traced(case)
    checked = audit_of(trace, trace["y"], np.ndindex(trace["y"].shape))
    assert checked.n_agree == checked.n_recomputed == trace["y"].size
    for index in np.ndindex(trace["y"].shape):
        found, terms = said(trace, "y", index), trace.terms("y", index)
        assert [cell for cells, *_ in found.lines for cell in cells] == list(terms.cells)
        assert all(cell == trace[cell.stage].cell(cell.index) for cell in terms.cells)
        assert type(terms.total) is float
        total, number = concluded(case.operation, found, len(case.arrays)), trace["y"].cell(index).value
        assert total == number or abs(total - number) <= tolerance(terms), index


def concluded(operation, found, n_inputs):
    """The number that the lines of a rule give, and the other numbers that its sentence names."""
    values, numbers = [value for *_, value in found.lines], found.numbers
    if isinstance(operation, RunningMaximum):
        return max(values)
    if isinstance(operation, (RMSNorm, LayerNorm)):
        n_squares = len(values) - (n_inputs - 1)
        squares, (gain, bias) = values[:n_squares], (values[n_squares:] + [1.0, 0.0][n_inputs - 1 :])[:2]
        mean = numbers.get("mean", 0)
        assert math.fsum(squares) == pytest.approx(numbers["squares"])
        root = math.sqrt(math.fsum(squares) / n_squares + operation.epsilon)
        assert root == pytest.approx(numbers["root"])
        return (numbers["own"] - mean) / root * gain + bias
    total = math.fsum(values)
    if "sum" not in numbers:
        return total
    if "max" in numbers:
        largest = max(cell.value for cells, *_ in found.lines for cell in cells)
        assert numbers["max"] == (0 if largest == -math.inf else largest)
    assert total == pytest.approx(numbers["sum"]) or not total
    return numbers[next(name for name in ("own_e", "own", "sink_e") if name in numbers)] / (total or 1)


SIGNS = {"−": "-", "×": "*", "÷": "/", "²": "**2", "∞": "math.inf", "exp": "math.exp", "tanh": "math.tanh"}


def calculated(text):
    """What the arithmetic that a sentence begins with gives; None if it begins with words, or is a single number."""
    if not re.search(r"\S [−×÷] |²|\(", text):
        return None
    arithmetic = re.split(r"[,:] ", re.sub(r"ln (\d)", r"math.log(\1)", text))[0]
    for sign, code in SIGNS.items():
        arithmetic = arithmetic.replace(sign, code)
    return eval(arithmetic) if re.fullmatch(r"(?:math\.\w+|[-+*/() .\d]|\de-\d)+", arithmetic) else None


@ANY_CASE
def test_arithmetic_in_sentences_holds(case):
    """Numbers are written with four decimals; how the words around them are put doesn't matter."""
    trace = traced(case)
    for index, number in np.ndenumerate(trace["y"].value):
        found = said(trace, "y", index)
        for text, value in [*((text, value) for _, text, value in found.lines), (found.conclusion, number)]:
            made = calculated(text)
            assert made is None or made == pytest.approx(value, rel=6e-3, abs=3e-3), text
        words = " ".join([found.conclusion, *(text for _, text, _ in found.lines)])
        if isinstance(case.operation, ReLU):
            assert ("not positive" in words) == (found.numbers["a"] <= 0)
        elif isinstance(case.operation, Hide):
            assert ("hidden" in words) == (number == -math.inf) != ("visible" in words)
        elif "no key is visible" in words:
            assert number in (0, -math.inf)
        elif isinstance(case.operation, Rotation) and "angle" in words:
            angle = turned_by(case.operation, *index[1:])
            factors = {"the cosine": math.cos(angle), "the sine": math.sin(angle)}
            factors["the sine with the opposite sign"] = -math.sin(angle)
            assert found.numbers["angle"] == pytest.approx(angle)
            for cells, text, value in found.lines:
                if (claim := text.partition(", ")[2]) in factors:
                    assert value == pytest.approx(factors[claim] * cells[0].value), text
        elif "before" in found.numbers and "or" in words:
            m, (*row, key) = case.arrays[1], index
            last, ends = key // 2 * 2 - 1, {each: found.numbers[each] for each in ("before", "old", "max")}
            assert ends == {"before": trace["y"].value[*row, last], "old": m[*row, last], "max": m[index]}
            carried = ends["before"] * math.exp(ends["old"] - ends["max"])
            assert carried + found.numbers["block"] == pytest.approx(number)


def turned_by(rotation, row, place):
    """The angle of the pair of a number."""
    pair = place // 2 if rotation.pairs == "neighbours" else place % (rotation.dims // 2)
    return (row + rotation.first) * rotation.base ** (-2 * pair / rotation.dims)


@ANY_CASE
def test_rule_axes_match_their_arrays(case):
    rule, trace = traced(case).rule("y"), traced(case)
    shapes = dict(enumerate(each.shape for each in case.arrays)) | {"": trace["y"].shape}
    shapes |= {name: array.shape for name, array in rule.arrays.items()}
    for slot in filter(None, (*rule.slots.values(), rule.case, rule.until)):
        lengths = [math.prod(rule.sizes[letter] for letter in letters) for letters in axes(slot.pattern)]
        assert tuple(lengths) == shapes[slot.source], slot
    for variant in rule.variants:
        texts = [variant.conclusion, *(line.text for line in variant.lines)]
        assert not any(re.search(r"× {\w+:b}", text) for text in texts)
    assert trace.rule("a") is None


@pytest.mark.parametrize("outer", ["a i", "i a"])
def test_shared_axis_reads_outermost_first(outer):
    given = np.arange(2.0 * 3 * 5)
    split = given.reshape([{"a": 2, "i": 3}[letter] for letter in outer.split()] + [5])
    slots, variant = {"x": Slot(0, f"({outer} b)")}, Variant((Line(("x",), "{x}"),))
    ((run,),) = Rule("b a", {"a": 2, "i": 3, "b": 5}, slots, (variant,), None, {}).runs((4, 1))
    assert [given[at] for at in run.indices] == list(split[1, :, 4] if outer == "a i" else split[:, 1, 4])


@ANY_CASE
def test_batch_equals_single_sentences(case):
    """Parameters and masks are shared: their derivatives are the sum of those of the sentences."""
    draw, operation = np.random.default_rng(2), case.operation
    own = [
        np.array([each * draw.uniform(0.5, 1.5, each.shape) for _ in range(SENTENCES)])
        for each in case.arrays[: case.n_own]
    ]
    shared = case.arrays[case.n_own :]
    together = operation.compute(*own, *shared)
    alone = [operation.compute(*(each[n] for each in own), *shared) for n in range(SENTENCES)]
    np.testing.assert_allclose(together, alone, rtol=1e-13, atol=1e-13)
    upstream = draw.standard_normal(together.shape)
    expected = [operation.vjp(upstream[n], *(each[n] for each in own), *shared) for n in range(SENTENCES)]
    for place, (found, each) in enumerate(
        zip(operation.vjp(upstream, *own, *shared), zip(*expected, strict=True), strict=True)
    ):
        if found is None:
            assert each == (None,) * SENTENCES
        else:
            wanted = np.array(each) if place < case.n_own else np.sum(each, axis=0)
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@ANY_CASE
def test_derivatives_are_central_differences(case):
    draw = np.random.default_rng(4).standard_normal
    upstream = draw(case.operation.compute(*case.arrays).shape)
    for place, derivatives in enumerate(case.operation.vjp(upstream, *case.arrays)):
        if derivatives is None:
            assert case.arrays[place].dtype == bool
            continue
        array = case.arrays[place]
        direction = np.where(np.isfinite(array) & (array != 0), draw(array.shape), 0)
        ends = [
            case.operation.compute(
                *(each + sign * STEP * direction if n == place else each for n, each in enumerate(case.arrays))
            )
            for sign in (-1, 1)
        ]
        moved = np.subtract(*ends[::-1], out=np.zeros(upstream.shape), where=np.isfinite(ends[0])) / (2 * STEP)
        assert (upstream * moved).sum() == pytest.approx((derivatives * direction).sum(), rel=1e-5, abs=1e-5)


def sides(formula, names):
    """The values of all that a formula says its left side is equal to.

    Weights are written by entries, as in y_{nm} = ..., of what `softmax(A):` or `z = A` calls a or z.
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


def of_head(case, head, n_heads):
    for place, each in enumerate(case.arrays):
        is_sinks = each.ndim == 1 and isinstance(case.operation, (Softmax, SinkShare))
        has_heads = each.ndim == 3 or is_sinks or (place == 2 and case.arrays[1].ndim == 3)
        yield each[head * len(each) // n_heads] if has_heads else each


NOT_A_NUMBER = ("softmax of hidden keys", "sum normalisation")
"""The LaTeX has no number for a row in which all keys are hidden, or for the sum of one with hidden keys."""


@pytest.mark.parametrize("name", [each for each in CASES if not isinstance(CASES[each].operation, OF_THEIR_OWN)])
def test_latex_equals_compute(name):
    case, letters = CASES[name], "ABC"[: len(CASES[name].arrays)]
    computed = case.operation.compute(*case.arrays)
    n_heads = len(computed) if computed.ndim == 3 or isinstance(case.operation, SinkShare) else 1
    for head in range(0 if name in NOT_A_NUMBER else n_heads):
        arrays = of_head(case, head, n_heads) if n_heads > 1 else case.arrays
        names = dict(zip(letters, arrays, strict=True)) | {"d_k": getattr(case.operation, "d_k", None)}
        values = sides(case.operation.latex("Y", *letters), names)
        assert values
        for value in values:
            np.testing.assert_allclose(value, computed[head] if n_heads > 1 else computed, rtol=1e-12, atol=1e-14)


@ANY_CASE
def test_cell_formula_equals_its_number(case):
    trace = traced(case)
    spoken = {r"\text{ hidden}": r"-\infty", r" \text{ (visible)}": "", r" \quad\text{(no key is visible)}": ""}
    for index in np.ndindex(trace["y"].shape):
        formula = said(trace, "y", index, most_terms=math.inf).formula
        for words, meaning in spoken.items():
            formula = formula.replace(words, meaning)
        if formula:  # of whose numbers four decimals are written
            assert value_of(formula, {}) == pytest.approx(trace["y"].cell(index).value, rel=2e-3, abs=2e-3), index


def test_latex_of_copies():
    x, heads, bands = array(4, 4), array(2, ROWS, 7), array(14, COLUMNS)
    (value,) = sides(Identity("query", 2).latex("Y_i", "A"), {"A": x})
    np.testing.assert_array_equal(Identity("query", 2).compute(x), [value, value])
    (value,) = sides(Concatenation().latex("Y", "H_i"), {"H_1": heads[0], "H_h": heads[1]})
    np.testing.assert_array_equal(value, Concatenation().compute(heads))
    for head, band in enumerate(np.split(bands, 2)):
        names = {f"H_{head + 1}": heads[head], f"B_{head + 1}": band}
        (value,) = sides(Contributions().latex("Y", f"H_{head + 1}", "B"), names)
        np.testing.assert_allclose(value, Contributions().compute(heads, bands)[head], rtol=1e-13, atol=1e-14)
    for head in ("i", "2", "{10}"):
        assert Contributions().latex(f"O_{head}", f"H_{head}", "W^O") == rf"O_{head} = H_{head}\,W^O_{head}"


@pytest.mark.parametrize("sinks", [(), (SINKS,)])
def test_latex_of_running_softmax(sinks):
    """Each says how a block follows from the one before; the first from m_0 and l_0, and an output of 0."""
    maximum, total, output = RunningMaximum(2), RunningSum(2), RunningOutput(2, 2)
    m, names = maximum.compute(MASKED, *sinks), "AS"[: 1 + len(sinks)]
    formulas = [maximum.latex("Y", *names), total.latex("Y", "A", "M", *names[1:]), output.latex("Y", "A", "M", "V")]
    steps = [re.search(r"[mlo]_b = (.*?)(?=, \\quad)", each)[1] for each in formulas]
    m_0, l_0 = re.search(r"m_0 = (.*?),", formulas[0])[1], re.search(r"l_0 = (.*)", formulas[1])[1]
    assert (m_0, l_0) == (("S", "1") if sinks else (r"-\infty", "0"))
    made = [m, total.compute(MASKED, m, *sinks), output.compute(MASKED, m, VALUES)]
    for head, query in np.ndindex(MASKED.shape[:2]):
        before = [sinks[0][head] if sinks else -np.inf, float(l_0), np.zeros(7)]
        for keys in ([0, 1], [2, 3], [4]):
            here = evaluated(steps, before, MASKED[head, query, keys], VALUES[head // 2, keys])
            for found, stage in zip(here, made, strict=True):
                np.testing.assert_allclose(stage[head, query, keys], [found] * len(keys), rtol=1e-13, atol=1e-15)
            before = here


def evaluated(steps, before, z, v):
    """The maximum, the sum and the output that these three formulas make of those before and of a block."""
    known, found = dict(zip(("m_old", "l_old", "o_old"), before, strict=True)), []
    code = {r"m_{b-1}": "m_old", r"l_{b-1}": "l_old", r"o_{b-1}": "o_old", "m_b": "m"}
    code |= {r"\max_{j \in b} z_j": "z.max()", r"\max": "max", " e^{m_old - m}": " * np.exp(m_old - m)"}
    code |= {
        r"\sum_{j \in b} e^{z_j - m} v_j": "np.exp(z - m) @ v",
        r"\sum_{j \in b} e^{z_j - m}": "np.exp(z - m).sum()",
    }
    for formula in steps:
        for latex, python in code.items():
            formula = formula.replace(latex, python)
        if found and np.isneginf(found[0]):
            found.append(before[len(found)])
        else:
            found.append(
                eval(formula, known | {"np": np, "max": max, "z": z, "v": v, "m": found[0] if found else None})
            )
    return found


def test_latex_of_last_quotient():
    assert LastQuotient().latex("Y", "O", "L") == r"Y: \quad h = \frac{o_b}{l_b} \text{ after the last block}"
    output, sums = CASES["last quotient"].arrays
    expected = output[..., -1, :] / (sums[..., -1:] + 1)
    np.testing.assert_array_equal(LastQuotient().compute(output, sums + 1), expected)


def test_latex_of_alibi():
    scores = array(3, ROWS, COLUMNS)
    (formula,) = re.findall(r"y_\{nm\} = (.*?), \\quad z = A", ALiBi(3).latex("Y", "A"))
    for (head, n, m), expected in np.ndenumerate(ALiBi(3).compute(scores)):
        value = value_of(formula, {"z": scores[head], "s_i": slopes(3)[head], "n": n, "m": m}, n=n, m=m)
        assert value == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("rotation", ROTATIONS)
def test_latex_of_rotation(rotation):
    x = array(1, ROWS, 8)
    _, sides, angle = re.split(r": \\quad |, \\quad θ = ", rotation.latex("Y", "A"))
    written = re.findall(r"y_\{n,(.*?)\} = (.*?)(?:, \\quad|$)", sides)
    assert len(written) == 2
    for n, j in np.ndindex(ROWS, rotation.dims // 2):
        names = {"n": n + 1, "j": j + 1}
        places = [2 * j, 2 * j + 1] if rotation.pairs == "neighbours" else [j, j + rotation.dims // 2]
        assert [eval(place.replace("2j", "2*j"), {"j": j + 1}) - 1 for place, _ in written] == places
        names |= {"θ": value_of(angle, names), "a": x[0, n, places[0]], "b": x[0, n, places[1]]}
        for (_, formula), place in zip(written, places, strict=True):
            for (of, _), letter in zip(written, "ab", strict=True):
                formula = formula.replace(f"x_{{n,{of}}}", letter)
            assert value_of(formula, names) == pytest.approx(rotation.compute(x)[0, n, place], rel=1e-12)


@pytest.mark.parametrize("operation", [Scale(4), Scale(7), Scale(7, -0.375), Scale(7, math.log(2))])
def test_scale_operand_equals_compute(operation):
    (operand,), scores = operation.operands, array(4, 4)
    sign, root, written = re.fullmatch("([÷×]) (√|ln )?(.+)", operand.after).groups()
    number = {"√": math.sqrt, "ln ": math.log, None: float}[root](float(written))
    np.testing.assert_allclose(
        operation.compute(scores), scores / number if sign == "÷" else scores * number, rtol=1e-13
    )
