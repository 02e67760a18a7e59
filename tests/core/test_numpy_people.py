"""What somebody who knows NumPy tries first with a pass, its stages and its parameters."""

from dataclasses import replace

import numpy as np
import pytest

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core.errors import ArrayError
from attnviz.core.operations.norms import LayerNorm, RMSNorm

TRACE = trace_of("the cat sat")
SQUARE = np.eye(3)[None]


def test_a_sentence_alone_is_its_settings():
    assert np.array_equal(TRACE["output"], trace_of(Settings("the cat sat"))["output"])


def test_a_stage_is_indexed_counted_and_taken_as_its_array():
    attention = TRACE["attention"]
    assert np.array_equal(attention[0], attention.value[0])
    assert attention[1, 2, 0] == attention.value[1, 2, 0]
    assert len(attention) == attention.shape[0]
    assert np.asarray(attention) is not None
    assert np.allclose(np.sum(attention, axis=-1), 1)
    assert [head.shape for head in attention] == [attention.shape[1:]] * len(attention)
    assert "attention" in repr(attention)
    assert repr(attention.value) in repr(attention)


def test_what_numpy_is_given_of_a_stage_is_read_only_unless_it_is_a_copy():
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(TRACE["q"])[0] = 1
    copied = np.array(TRACE["q"])
    copied[0] = 1
    assert not np.array_equal(copied, TRACE["q"])


def test_a_pass_has_its_stages_by_name_and_in_order():
    assert [stage.name for stage in TRACE] == list(TRACE.keys())
    assert len(TRACE) == len(TRACE.stages)
    assert dict(TRACE)["scores"] is TRACE["scores"]


def test_a_pass_is_written_in_three_lines():
    size, given, computed = repr(TRACE).splitlines()
    assert size == f"Trace: {len(TRACE.stages)} stages, layers: 1, heads: 2, queries: 3, keys: 3"
    assert given.startswith("given: ")
    assert computed.endswith(f"output {TRACE['output'].shape}")
    for stage in TRACE:
        assert f"{stage.name} {stage.shape}" in (given if stage.is_given else computed)


@pytest.mark.parametrize(("name", "norm"), [("rmsnorm", RMSNorm()), ("layernorm", LayerNorm())])
def test_a_norm_goes_by_its_name(name, norm):
    x, parameters = np.arange(12.0).reshape(4, 3), Parameters(w_q=SQUARE, w_k=SQUARE, w_v=SQUARE)
    named, given = (attend(x, parameters=parameters, norm=each) for each in (name, norm))
    assert np.array_equal(named["attn_norm"], given["attn_norm"])


def test_a_name_that_no_norm_or_activation_has_is_told_those_that_are():
    for what, known in (("norm", "rmsnorm, layernorm"), ("activation", "relu, relu2, gelu")):
        with pytest.raises(ArrayError, match=rf"{what} is one of {known}, or an operation; got 'swish'"):
            attend(np.eye(2), parameters=Parameters(), **{what: "swish"})


def test_parameters_are_equal_if_their_numbers_are():
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
def test_a_tensor_that_requires_a_gradient_is_taken(dtype):
    x = np.arange(6.0).reshape(2, 3)
    taken = attend(Tensor(x, dtype), parameters=Parameters(w_q=Tensor(SQUARE, dtype)))
    assert np.array_equal(taken["scores"], attend(x, parameters=Parameters(w_q=SQUARE))["scores"])
