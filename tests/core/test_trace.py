"""A pass: its stages in order, its numbers safe and made when needed, its axes, and what a NumPy user tries with it."""

import gc
import json
import math
import tracemalloc
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from cases import of_each, spread
from hypothesis import given, settings
from hypothesis import strategies as st
from page import ROOT
from passes import TRACES

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core import stage as stages
from attnviz.core.arrays import Numbers
from attnviz.core.errors import ArrayError
from attnviz.core.numerals import digits
from attnviz.core.operations.linear import Identity, Projection
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.operations.scores import Scale
from attnviz.core.operations.softmax import Softmax, SumNormalise
from attnviz.core.selection import Axis, Selection
from attnviz.core.stage import forward
from attnviz.core.terms import exact_sum
from attnviz.examples import EXAMPLES
from attnviz.models import MODELS

PLAIN = attend(np.ones((2, 2)), parameters=Parameters())


def test_stages_come_in_order():
    stages = [stage.name for stage in trace_of(Settings("the cat", "on it", positions="sinusoidal")).stages]
    given = ["embeddings", "positions", "x", "context_embeddings", "context_positions", "context"]
    given += ["w_q", "w_k", "w_v", "w_o"]
    made = ["q", "k", "v", "scores", "scaled", "mask", "masked", "attention"]
    assert stages == given + made + ["heads", "concat", "contributions", "output"]
    assert [stage.name for stage in trace_of(Settings("the cat")).stages][:3] == ["embeddings", "x", "w_q"]


def test_missing_stage_is_a_key_error():
    assert "scores" in PLAIN
    assert "output" not in PLAIN
    with pytest.raises(KeyError, match="no stage 'output'; this trace has x, q, k, v, scores"):
        PLAIN["output"]


def test_cell_names_use_words():
    trace = trace_of(Settings("the cat the", "sat sat"))
    assert trace.name_of(trace["scores"].cell((1, 2, 1))) == "scores[head 2, the (2), sat (2)]"
    assert trace.name_of(trace["embeddings"].cell((2, 0))) == "embeddings[the (2), 1]"
    assert trace.name_of(trace["context"].cell((1, 7))) == "context[sat (2), 8]"
    assert trace.name_of(trace["output"].cell((1, 0))) == "output[cat, 1]"
    assert PLAIN.name_of(PLAIN["scores"].cell((0, 1, 0))) == "scores[head 1, 2, 1]"


CROSS = attend(np.ones((2, 2)), np.ones((3, 2)), parameters=Parameters())
REFUSED = json.loads((ROOT / "tests/data/refused_words.json").read_text("utf-8"))


@pytest.mark.parametrize("name", REFUSED)
def test_misfit_words_are_refused(name):
    words, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        CROSS.labelled(**words)


@pytest.mark.parametrize("index", [(0,), (0, 0, 0, 0), (-1, 0, 0), (0, 3, 0), (0, 0, 99), ()])
def test_missing_cell_is_an_index_error(index):
    with pytest.raises(IndexError, match=r"scores has axes \('head', 'query', 'key'\) of lengths \(2, 3, 3\)"):
        trace_of(Settings("the cat sat")).terms("scores", index)


@pytest.mark.parametrize(
    ("value", "text"),
    json.loads((ROOT / "tests/data/digits.json").read_text("utf-8")),
)
def test_digits(value, text):
    assert digits(value) == text


@of_each(
    "case",
    [
        ([(1e308,), (1e308,), (-1e308,)], 1e308),
        ([(-1e308,), (1.5e308, 1.5)], 1.25e308),
        ([(1.5e308, 1.5), (-1.5e308, 1.5), (2.0,)], 2.0),
        ([(1e308, 10.0), (2.0,)], math.inf),
        ([(0.5,), (-math.inf,)], -math.inf),
        ([(5e-324,), (5e-324,)], 1e-323),
    ],
)
def test_sums_survive_overflow(case):
    products, total = case
    assert exact_sum(products) == pytest.approx(total, rel=1e-15)
    assert Projection("query").recomputed((0, 0), products)[0] == pytest.approx(total, rel=1e-15)


def test_copies_are_exact_and_sums_state_rounding():
    assert Identity("query").recomputed((0, 0), [(-7.0,)]) == (-7.0, 0.0)
    assert Scale(9).recomputed((0, 0, 0), [(-7.0,)]) == (-7 / 3, 7 / 3 * np.finfo(float).eps)
    cancelling = Projection("query").recomputed((0, 0), [(1e8,), (-1e8,), (1.0,)])
    assert cancelling == (1.0, (2e8 + 1) * np.finfo(float).eps)
    assert SumNormalise().recomputed((0, 0, 1), [(1.5,), (-0.5,)])[1] == 0.5 * 2 * np.finfo(float).eps


THREE_WORDS = trace_of("the cat sat")
SQUARE = np.eye(3)[None]


def test_sentence_equals_its_settings():
    assert np.array_equal(THREE_WORDS["output"], trace_of(Settings("the cat sat"))["output"])


def test_stage_behaves_as_its_array():
    attention = THREE_WORDS["attention"]
    assert np.array_equal(attention[0], attention.value[0])
    assert attention[1, 2, 0] == attention.value[1, 2, 0]
    assert len(attention) == attention.shape[0]
    assert np.asarray(attention) is not None
    assert np.allclose(np.sum(attention, axis=-1), 1)
    assert [head.shape for head in attention] == [attention.shape[1:]] * len(attention)
    assert "attention" in repr(attention)
    assert repr(attention.value) in repr(attention)


def test_stage_arrays_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(THREE_WORDS["q"])[0] = 1
    copied = np.array(THREE_WORDS["q"])
    copied[0] = 1
    assert not np.array_equal(copied, THREE_WORDS["q"])


def test_trace_maps_names_to_stages():
    assert isinstance(THREE_WORDS, Mapping)
    names = [stage.name for stage in THREE_WORDS.stages]
    assert [*THREE_WORDS] == [*THREE_WORDS.keys()] == names
    assert (*THREE_WORDS.values(),) == THREE_WORDS.stages
    assert dict(THREE_WORDS) == dict(THREE_WORDS.items()) == dict(zip(names, THREE_WORDS.stages, strict=True))
    assert len(THREE_WORDS) == len(names)
    assert "scores" in THREE_WORDS
    assert "score" not in THREE_WORDS
    assert THREE_WORDS.get("scores") is THREE_WORDS["scores"]
    assert THREE_WORDS.get("score") is None


def test_trace_equals_itself_alone():
    again = THREE_WORDS.labelled()
    assert again.stages == THREE_WORDS.stages
    assert again != THREE_WORDS
    assert len({again, THREE_WORDS, THREE_WORDS}) == 2


def test_repr_has_three_lines():
    size, given, computed = repr(THREE_WORDS).splitlines()
    assert size == f"Trace: {len(THREE_WORDS.stages)} stages, layers: 1, heads: 2, queries: 3, keys: 3"
    assert given.startswith("given: ")
    assert computed.endswith(f"output {THREE_WORDS['output'].shape}")
    for stage in THREE_WORDS.values():
        assert f"{stage.name} {stage.shape}" in (given if stage.is_given else computed)


@pytest.mark.parametrize(("name", "norm"), [("rmsnorm", RMSNorm()), ("layernorm", LayerNorm())])
def test_norm_is_accepted_by_name(name, norm):
    x, parameters = np.arange(12.0).reshape(4, 3), Parameters(w_q=SQUARE, w_k=SQUARE, w_v=SQUARE)
    named, given = (attend(x, parameters=parameters, norm=each) for each in (name, norm))
    assert np.array_equal(named["attn_norm"], given["attn_norm"])


def test_unknown_norm_or_activation_lists_the_known():
    for what, known in (("norm", "rmsnorm, layernorm"), ("activation", "relu, relu2, gelu")):
        with pytest.raises(ArrayError, match=rf"{what} is one of {known}, or an operation such as .*\(\); got 'swish'"):
            attend(np.eye(2), parameters=Parameters(), **{what: "swish"})


def test_equal_parameters_are_equal():
    assert Parameters(w_q=SQUARE) == Parameters(w_q=SQUARE.copy())
    assert Parameters(w_q=SQUARE) != Parameters(w_q=2 * SQUARE)
    assert Parameters(w_q=SQUARE) != Parameters(w_k=SQUARE)
    assert Parameters() != "parameters"
    assert replace(Parameters(w_q=SQUARE), w_q=None) == Parameters()


class Tensor:
    """As torch's tensors behave: NumPy refuses those that require a gradient, and those of bfloat16."""

    def __init__(self, array, dtype="torch.float32", requires_grad=True):
        self.array, self.dtype, self.requires_grad = np.asarray(array), dtype, requires_grad

    def detach(self):
        return Tensor(self.array, self.dtype, requires_grad=False)

    def cpu(self):
        return self

    def float(self):
        return Tensor(self.array, "torch.float32", self.requires_grad)

    def __array__(self, dtype=None, copy=None):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        if self.dtype == "torch.bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return np.array(self.array, dtype=dtype, copy=copy)


@pytest.mark.parametrize("dtype", ["torch.float32", "torch.bfloat16"])
def test_gradient_tensor_is_accepted(dtype):
    x = np.arange(6.0).reshape(2, 3)
    taken = attend(Tensor(x, dtype), parameters=Parameters(w_q=Tensor(SQUARE, dtype)))
    assert np.array_equal(taken["scores"], attend(x, parameters=Parameters(w_q=SQUARE))["scores"])


CROSS_SHAPES = {
    "w_q": (2, 5, 3),
    "w_k": (2, 7, 3),
    "w_v": (2, 7, 4),
    "w_o": (8, 5),
    "b_q": (2, 3),
    "b_v": (2, 4),
    "b_o": (5,),
}
NOBODY = np.random.default_rng(7).standard_normal


def some_arrays(draw=NOBODY):
    mask = np.where(np.tri(3, 4, dtype=bool), draw((3, 4)), -np.inf)
    arrays = {name: draw(shape) for name, shape in CROSS_SHAPES.items()}
    return {"x": draw((3, 5)), "context": draw((4, 7)), "mask": mask, "w_u": draw((5, 6)), **arrays}


def passed(arrays):
    parameters = Parameters(**{name: arrays[name] for name in CROSS_SHAPES})
    others = {name: array for name, array in arrays.items() if name not in CROSS_SHAPES and name != "x"}
    return attend(arrays["x"], parameters=parameters, residual=True, **others)


def numbers(stages):
    return {stage.name: stage.value.tobytes() for stage in stages}


@pytest.mark.parametrize("number", [0, 1e-320, 1e-170, -1e-150, 1, 1e154, -1e155, 1.7e308, -np.inf])
def test_bound_covers_every_number(number):
    array = np.array([[number, 0.0], [0.0, number]])
    assert abs(number) <= Numbers.of(array).bound
    assert np.isnan(Numbers.of(np.array([number, np.nan])).bound)


def test_unread_stages_are_not_computed(monkeypatch):
    monkeypatch.setattr(Softmax, "compute", None)
    trace = attend(np.eye(3), parameters=Parameters())
    assert trace["scaled"].value.shape == trace["heads"].shape == (1, 3, 3)
    with pytest.raises(TypeError):
        trace["heads"].value  # noqa: B018


def test_lazy_equals_eager(monkeypatch):
    arrays = some_arrays()
    first, last = passed(arrays).stages, numbers(reversed(passed(arrays).stages))
    assert numbers(first) == last
    assert all(stage.value is stage.value for stage in first)
    monkeypatch.setattr(stages, "MAX_SQUARED_NUMBER", 0.0)
    assert numbers(passed(arrays).stages) == last


@pytest.mark.parametrize("name", some_arrays())
def test_caller_may_overwrite_its_arrays(name):
    arrays = some_arrays()
    wanted = numbers(passed(arrays).stages)
    trace = passed(arrays)
    arrays[name][...] = 99
    assert numbers(trace.stages) == wanted


def test_passes_share_read_only_parameters():
    arrays = some_arrays()
    parameters = Parameters(**{name: arrays[name] for name in CROSS_SHAPES})
    one, other = (attend(arrays["x"], arrays["context"], parameters=parameters) for _ in range(2))
    for name in CROSS_SHAPES:
        arrays[name][...] = 99
        assert one[name].value is other[name].value is getattr(parameters, name)
        with pytest.raises(ValueError, match="read-only"):
            getattr(parameters, name)[...] = 99


def test_pass_is_refused_or_finite():
    random, refused = np.random.default_rng(0), set()
    for _ in range(300):
        arrays = some_arrays(lambda shape: random.standard_normal(shape) * 10.0 ** random.integers(-200, 200))
        try:
            trace = passed(arrays)
        except ArrayError as error:
            refused.add(str(error).split()[0])
            continue
        for stage in trace.stages:
            hides = stage.name in ("mask", "masked")
            assert (np.isfinite(stage.value) | (hides & np.isneginf(stage.value))).all(), stage.name
    assert {"q", "scores", "contributions"} <= refused


def test_pass_memory_is_about_its_stages():
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


draw = np.random.default_rng(4).standard_normal


def test_forward_repeats_the_pass():
    for name, trace in TRACES.items():
        arrays = forward(trace.stages, {})
        for stage in trace.stages:
            np.testing.assert_array_equal(arrays[stage.name], stage.value, f"{name}: {stage.name}")


def array(*shape):
    return np.random.RandomState(sum(shape)).standard_normal(shape)


PASSES = {
    "own sentence": trace_of(Settings("the cat sat on", mask="causal")),
    "another sentence": trace_of(Settings("the cat", context="le chat noir", d_model=6, n_heads=3)),
    "primes": attend(
        array(3, 13),
        array(5, 17),
        parameters=Parameters(
            w_q=array(2, 13, 7), w_k=array(2, 17, 7), w_v=array(2, 17, 11), w_o=array(22, 19), b_v=array(2, 11)
        ),
    ),
    "values alone are projected": attend(array(3, 4), parameters=Parameters(w_v=array(2, 4, 11))),
    "layers of other lengths": TRACES["layers of other lengths"],
    "groups": TRACES["groups"],
    "built by hand": MODELS["by-hand"].at(0).trace("a b c a"),
    **{f"{e.id} {v.id}": v.trace for e in EXAMPLES.values() for v in e.variants},
}
ANY_PASS = of_each("trace", PASSES)
selections = st.builds(Selection, *[st.integers(0, 9998)] * 5)


@ANY_PASS
@settings(deadline=None, max_examples=8)
@given(selection=selections)
def test_selection_is_a_cell_of_every_stage(trace, selection):
    inside = selection.within(trace)
    assert inside.within(trace) == inside
    for stage in trace.stages:
        cell = trace.cell_at(stage.name, inside)
        assert all(0 <= place < n for place, n in zip(cell.index, stage.shape, strict=True))
        assert cell == stage.cell(cell.index)


@ANY_PASS
def test_picked_cell_is_selected(trace):
    elsewhere = Selection(1, 1, 1, 1, 1)
    for stage in trace.stages:
        for index in spread(stage.shape, 24):
            cell = stage.cell(index)
            selection = trace.selection_at(cell, elsewhere)
            assert trace.cell_at(stage.name, selection) == cell
            within = selection.within(trace)
            assert trace.cell_at(stage.name, Selection.parse(str(within))) == cell, "no shorter axis moves it"


@ANY_PASS
def test_selection_is_the_same_word_everywhere(trace):
    selection = Selection(1, 2, 2, 1, 1).within(trace)
    for stage in trace.stages:
        for axis, place in zip(stage.axes, trace.cell_at(stage.name, selection).index, strict=True):
            expected = {"head": "head", "query": "query", "token": "query", "key": "key", "context token": "key"}
            if axis in expected:
                assert place == getattr(selection, expected[axis])


def test_selection_of_a_longer_axis_is_clipped():
    trace = PASSES["built by hand"]
    selection = trace.selection_at(trace["q_1"].cell((0, 2, 5)), Selection()).within(trace)
    assert selection.feature == 5
    assert [trace.cell_at(name, selection).index for name in ("q_1", "q_2")] == [(0, 2, 5), (0, 2, 4)]


@given(st.integers(1, 7), st.integers(1, 7), st.data())
def test_axis_places_are_one_to_one(n_heads, width, data):
    axis = Axis.of("heads * d_v", n_heads * width, n_heads=n_heads)
    places = [axis.place(Selection(head=head, feature=i)) for head in range(n_heads) for i in range(width)]
    assert places == list(range(axis.length))
    place = data.draw(st.sampled_from(places))
    assert axis.place(Selection(**axis.coordinates_at(place))) == place


def test_axis_labels_every_place():
    assert Axis.of("head", 2, n_heads=2).labels == ("head 1", "head 2")
    assert Axis.of("query", 2, n_heads=2, words=("the", "cat")).label(1) == "cat"
    assert Axis.of("heads * d_v", 4, n_heads=2).labels == ("1", "2", "3", "4")
