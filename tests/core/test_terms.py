"""Terms: every cell taken apart adds up to itself, by a second way of computing."""

import math

import numpy as np
import pytest
from cases import of_each, spread

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core.numerals import digits
from attnviz.core.operations.scores import Scaled
from attnviz.core.terms import Cell, Copy, Sum
from attnviz.core.trace import Trace

Q, K, H = 3, 5, 2  # queries, keys, heads


def array(*shape: int) -> np.ndarray:
    return np.random.RandomState(sum(shape)).standard_normal(shape)


def projections() -> dict[str, np.ndarray]:
    return {"w_q": array(H, 13, 7), "w_k": array(H, 17, 7), "w_v": array(H, 17, 11), "w_o": array(22, 19)}


def biases() -> dict[str, np.ndarray]:
    return {"b_q": array(H, 7), "b_k": array(H, 7) + 1, "b_v": array(H, 11), "b_o": array(19)}


def cross(mask=None, scale=None, **parameters) -> Trace:
    return attend(array(Q, 13), array(K, 17), parameters=Parameters(**parameters), mask=mask, scale=scale)


def float_mask(*shape: int) -> np.ndarray:
    return np.where(array(*shape) > 1, -np.inf, array(*shape))


TRACES = {
    "settings": lambda: trace_of(Settings("the cat sat", positions="sinusoidal", mask="causal")),
    "settings, cross": lambda: trace_of(Settings("the cat", context="on the mat", mask="padding", n_heads=4)),
    "settings, unscaled": lambda: trace_of(Settings("the cat sat", scaled=False, initialiser="uniform")),
    "settings, blind": lambda: trace_of(Settings("the cat", mask="padding", mask_size=2)),
    "cross": lambda: cross(**projections()),
    "biases": lambda: cross(**projections(), **biases()),
    "boolean mask": lambda: cross(array(Q, K) > 0, **projections()),
    "boolean mask per head": lambda: cross(array(H, Q, K) > 0, **projections()),
    "float mask": lambda: cross(float_mask(Q, K), **projections()),
    "float mask per head": lambda: cross(float_mask(H, Q, K), **projections()),
    "scale": lambda: cross(scale=-1 / 3, **projections()),
    "no projections": lambda: attend(array(Q, 4), array(K, 4), parameters=Parameters()),
    "only w_v, no w_o": lambda: attend(array(Q, 4), array(K, 4), parameters=Parameters(w_v=array(H, 4, 11))),
    "only w_o": lambda: attend(array(Q, 4), parameters=Parameters(w_o=array(4, 19), b_o=array(19))),
    "lowest float mask": lambda: attend(array(Q, 4), parameters=Parameters(), mask=np.full((Q, Q), LOWEST)),
    "two layers and answers": lambda: attend(
        array(Q, 4), parameters=[Parameters(w_o=array(4, 4))] * 2, residual=True, w_u=array(4, 3)
    ),
    "large scores": lambda: attend(array(Q, 4) * 1e5, parameters=Parameters()),
}
LOWEST = np.finfo(float).min  # what many write for -inf; hiding every key so leaves them all equal


def cells(trace: Trace):
    for stage in trace.stages:
        for index in spread(stage.shape, 12):
            yield stage, index


@of_each("name", [*TRACES])
def test_every_cell_is_the_total_of_its_terms(name):
    trace = TRACES[name]()
    for stage, index in cells(trace):
        terms = trace.terms(stage.name, index)
        # only the order of an addition may differ: a few roundings of the largest product
        sizes = [abs(math.prod(cell.value for cell in product)) for product in getattr(terms, "products", ())]
        assert type(terms.total()) is float
        assert terms.total() == pytest.approx(
            float(stage.value[index]), rel=1e-13, abs=1e-14 * max(filter(math.isfinite, sizes), default=0)
        ), (stage.name, index)


@of_each("name", [*TRACES])
def test_the_cells_of_the_terms_are_cells_of_the_inputs(name):
    trace = TRACES[name]()
    for stage, index in cells(trace):
        terms = trace.terms(stage.name, index)
        assert {cell.stage for cell in terms.cells} == set(stage.inputs)
        for cell in terms.cells:
            assert cell == trace[cell.stage].cell(cell.index)
            assert cell.value == float(trace[cell.stage].value[cell.index])


@of_each("name", [*TRACES])
def test_the_numpy_lines_make_the_stage_bit_for_bit(name):
    trace = TRACES[name]()
    made = {"np": np}
    for stage in trace.stages:
        lines = trace.lines(stage.name)
        if stage.is_given:
            assert lines == ()
            made[stage.name] = stage.value
        else:
            for line in lines:
                assert "\n" not in line
                exec(line, made)
            assert made[stage.name].dtype == stage.value.dtype
            assert made[stage.name].shape == stage.shape
            assert made[stage.name].tobytes() == stage.value.tobytes(), stage.name


@of_each("name", [*TRACES])
def test_axes_name_every_axis_and_equal_names_have_equal_lengths(name):
    trace = TRACES[name]()
    lengths = {}
    for stage in trace.stages:
        assert len(stage.axes) == len(stage.shape)
        for axis, length in zip(stage.axes, stage.shape, strict=True):
            if axis in ("head", "query", "key", "token", "context token", "d_k", "d_v", "heads * d_v"):
                assert lengths.setdefault(axis, length) == length, (stage.name, axis)


@of_each("name", [*TRACES])
def test_every_formula_begins_with_its_result(name):
    trace = TRACES[name]()
    for stage in trace.stages:
        if not stage.is_given:
            symbols = [f"<{each}>" for each in (stage.name, *stage.inputs)]
            formula = stage.operation.latex(*symbols)
            assert formula.startswith(f"{symbols[0]} = ")
            assert all(symbol in formula for symbol in symbols)
            assert formula.count("{") == formula.count("}")
            assert len(stage.operation.operands) >= 1
            assert len(stage.inputs) <= len(stage.operation.operands) <= len(stage.inputs) + 1


@pytest.mark.parametrize("index", [(0,), (0, 0, 0, 0), (-1, 0, 0), (0, 3, 0), (0, 0, 99), ()])
def test_a_cell_that_is_not_there_is_an_index_error(index):
    with pytest.raises(IndexError, match=r"scores has axes \('head', 'query', 'key'\) of lengths \(2, 3, 3\)"):
        trace_of(Settings("the cat sat")).terms("scores", index)


def test_a_given_number_says_where_it_is_from():
    trace = trace_of(Settings("the cat", seed=7, initialiser="xavier", positions="sinusoidal", mask="causal"))
    assert "the word and the seed 7" in trace.terms("embeddings", (0, 0)).recipe
    assert "sinusoidal" in trace.terms("positions", (0, 0)).recipe
    for name in ("w_q", "w_k", "w_v", "w_o"):
        index = (0,) * len(trace[name].shape)
        assert "xavier" in trace.terms(name, index).recipe
        assert "seed 7" in trace.terms(name, index).recipe
    assert "causal" in trace.terms("mask", (0, 0)).recipe


def cell(value: float, place: int = 0) -> Cell:
    return Cell("scores", (0, 0, place), value)


@pytest.mark.parametrize(
    ("products", "total"),
    [
        ([(1e308,), (1e308,), (-1e308,)], 1e308),
        ([(-1e308,), (1.5e308, 1.5)], 1.25e308),
        ([(1.5e308, 1.5), (-1.5e308, 1.5), (2.0,)], 2.0),
        ([(1e308, 10.0), (2.0,)], math.inf),
        ([(0.5,), (-math.inf,)], -math.inf),
        ([(5e-324,), (5e-324,)], 1e-323),
    ],
)
def test_sums_are_right_even_where_they_leave_float64_on_the_way(products, total):
    assert Sum(tuple(tuple(map(cell, product)) for product in products)).total() == pytest.approx(total, rel=1e-15)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0000"),
        (-1.5, "−1.5000"),
        (0.00123, "0.0012"),
        (0.00099, "9.90e−4"),
        (999999.0, "999999.0000"),
        (-1e6, "−1.00e6"),
        (1e-300, "1.00e−300"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
    ],
)
def test_digits(value, text):
    assert digits(value) == text


def test_one_number_that_is_recomputed_may_be_one_rounding_off_and_a_copy_none():
    cell = Cell("scores", (0, 0, 0), -7.0)
    scaled = Scaled(cell, divisor=3.0)
    assert scaled.rounding() == pytest.approx(7 / 3 * np.finfo(float).eps, rel=1e-9, abs=0)
    assert Copy(cell).rounding() == 0
