"""Numbers of stages: made when asked for, known to be finite before, and nobody's but the trace's."""

import gc
import tracemalloc

import numpy as np
import pytest
from cases import of_each
from passes import TRACES

from attnviz import Parameters, attend
from attnviz.core import stage as stages
from attnviz.core.arrays import Numbers
from attnviz.core.errors import ArrayError
from attnviz.core.operations.softmax import Softmax

SHAPES = {
    "w_q": (2, 5, 3),
    "w_k": (2, 7, 3),
    "w_v": (2, 7, 4),
    "w_o": (8, 5),
    "b_q": (2, 3),
    "b_v": (2, 4),
    "b_o": (5,),
}
NOBODY = np.random.default_rng(7).standard_normal


def given(draw=NOBODY):
    """Arrays for `attend`, by the names of their stages."""
    mask = np.where(np.tri(3, 4, dtype=bool), draw((3, 4)), -np.inf)
    arrays = {name: draw(shape) for name, shape in SHAPES.items()}
    return {"x": draw((3, 5)), "context": draw((4, 7)), "mask": mask, "w_u": draw((5, 6)), **arrays}


def passed(arrays):
    parameters = Parameters(**{name: arrays[name] for name in SHAPES})
    others = {name: array for name, array in arrays.items() if name not in SHAPES and name != "x"}
    return attend(arrays["x"], parameters=parameters, residual=True, **others)


def numbers(stages):
    return {stage.name: stage.value.tobytes() for stage in stages}


@of_each("name", [*TRACES])
def test_axes_and_the_largest_number_are_known_before_the_numbers_are_made(name):
    for stage in TRACES[name].stages:
        assert stage.shape == stage.value.shape
        assert len(stage.axes) == stage.value.ndim
        assert stage.size == stage.value.size
        assert np.abs(stage.value[np.isfinite(stage.value)]).max(initial=0) <= stage.bound


@pytest.mark.parametrize("number", [0, 1e-320, 1e-170, -1e-150, 1, 1e154, -1e155, 1.7e308, -np.inf])
def test_no_number_is_larger_than_the_largest(number):
    array = np.array([[number, 0.0], [0.0, number]])
    assert abs(number) <= Numbers.of(array).bound
    assert np.isnan(Numbers.of(np.array([number, np.nan])).bound)


def test_nothing_is_made_that_nobody_asks_for(monkeypatch):
    monkeypatch.setattr(Softmax, "compute", None)
    trace = attend(np.eye(3), parameters=Parameters())
    assert trace["scaled"].value.shape == trace["heads"].shape == (1, 3, 3)
    with pytest.raises(TypeError):
        trace["heads"].value  # noqa: B018


def test_numbers_made_when_asked_for_are_those_made_at_once(monkeypatch):
    arrays = given()
    first, last = passed(arrays).stages, numbers(reversed(passed(arrays).stages))
    assert numbers(first) == last
    assert all(stage.value is stage.value for stage in first)
    monkeypatch.setattr(stages, "MAX_SAFE_NUMBER", 0.0)
    assert numbers(passed(arrays).stages) == last


@pytest.mark.parametrize("name", given())
def test_who_gave_an_array_may_write_into_it(name):
    arrays = given()
    wanted = numbers(passed(arrays).stages)
    trace = passed(arrays)
    arrays[name][...] = 99
    assert numbers(trace.stages) == wanted


def test_passes_share_parameters_that_nobody_can_write_into():
    arrays = given()
    parameters = Parameters(**{name: arrays[name] for name in SHAPES})
    one, other = (attend(arrays["x"], arrays["context"], parameters=parameters) for _ in range(2))
    for name in SHAPES:
        arrays[name][...] = 99
        assert one[name].value is other[name].value is getattr(parameters, name)
        with pytest.raises(ValueError, match="read-only"):
            getattr(parameters, name)[...] = 99


def test_a_pass_is_refused_or_all_of_its_numbers_are_finite():
    random, refused = np.random.default_rng(0), set()
    for _ in range(300):
        arrays = given(lambda shape: random.standard_normal(shape) * 10.0 ** random.integers(-200, 200))
        try:
            trace = passed(arrays)
        except ArrayError as error:
            refused.add(str(error).split()[0])
            continue
        for stage in trace.stages:
            hides = stage.name in ("mask", "masked")
            assert (np.isfinite(stage.value) | (hides & np.isneginf(stage.value))).all(), stage.name
    assert {"q", "scores", "contributions"} <= refused


def test_what_cancels_in_the_output_is_refused_in_the_contributions():
    x, w_v = np.ones((1, 2)), np.array([np.eye(2)] * 2)
    w_o = np.array([[-1.2e308], [0], [1.2e308], [1.2e308]])
    assert np.isfinite(attend(x, parameters=Parameters(w_v=w_v))["concat"].value @ w_o).all()
    with pytest.raises(ArrayError, match="contributions holds numbers beyond float64"):
        attend(x, parameters=Parameters(w_v=w_v, w_o=w_o))


def test_a_pass_takes_little_more_memory_than_its_stages():
    draw = np.random.default_rng(0).standard_normal
    x, w_o, mask = draw((128, 32)), draw((32, 32)), np.tri(128, dtype=bool)
    matrices = [*(draw((4, 32, 8)) for _ in range(3)), w_o]
    gc.collect()
    tracemalloc.start()
    parameters = Parameters(*matrices)
    arrays = {id(stage.value): stage.value for stage in attend(x, parameters=parameters, mask=mask).stages}
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.2 * sum(array.nbytes for array in arrays.values())
