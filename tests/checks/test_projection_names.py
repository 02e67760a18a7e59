"""The names that people give to projections are read, and none of them where it may be something else."""

import kinds
import numpy as np
import pytest
from fakemodules import FusedAttention, Linear, tensor

from attnviz import compare, record
from attnviz.checks.read.names import meanings, stage_named

RIGHT = kinds.Layer(5, (7, 4, 8), "", "causal")
PARAMETERS = {
    "query_proj": ("query_proj", "key_proj", "value_proj", "out_proj"),
    "output_proj": ("query_proj", "key_proj", "value_proj", "output_proj"),
    "queries": ("queries", "keys", "values", "fc_out"),
    "q_proj": ("q_proj", "k_proj", "v_proj", "dense"),
    "BERT's attention alone": ("self.query", "self.key", "self.value", "output.dense"),
}


def linear(names, path="", has_bias=True):
    """Parameters of Linear layers (out, in)."""
    named = dict(zip("qkvo", names, strict=True))
    arrays = {f"{path}{name}.weight": RIGHT.w[each].T for each, name in named.items()}
    return arrays | ({f"{path}{name}.bias": RIGHT.b[each] for each, name in named.items()} if has_bias else {})


def fused(name, output):
    w = np.concatenate([RIGHT.w[each] for each in "qkv"], axis=1).T
    return {f"{name}.weight": w, f"{name}.bias": np.concatenate([RIGHT.b[each] for each in "qkv"])} | {
        f"{output}.weight": RIGHT.w["o"].T,
        f"{output}.bias": RIGHT.b["o"],
    }


def computed():
    return {"x": RIGHT.x, **{each: RIGHT.stages[each] for each in ("q", "attention", "output")}}


@pytest.mark.parametrize("path", ["", "model.layers.0.self_attn."])
@pytest.mark.parametrize("names", PARAMETERS.values(), ids=PARAMETERS)
def test_parameters_of_linear_layers_are_read(names, path):
    found = compare(None, computed() | linear(names, path))
    assert (found.first, found.unread, found.not_recomputed) == (None, (), ())
    assert {each.stage for each in found.stages} == {"q", "attention", "output"}


@pytest.mark.parametrize("output", ["dense", "fc_out", "to_out.0", "output_proj"])
@pytest.mark.parametrize("name", ["to_qkv", "query_key_value"])
def test_fused_parameters_are_read(name, output):
    found = compare(None, computed() | fused(name, output))
    assert (found.first, found.unread, found.not_recomputed) == (None, (), ())


@pytest.mark.parametrize(
    "names", [("query_proj", "key_proj", "value_proj", "out_proj"), ("wq", "wk", "wv", "fc_out"), ("to_qkv", "dense")]
)
def test_matrices_of_these_names_alone_are_read(names):
    matrices = [RIGHT.w[each] for each in "qkvo"]
    if len(names) == 2:
        matrices = [np.concatenate(matrices[:3], axis=1), matrices[3]]
    biases = {f"b_{each}": RIGHT.b[each] for each in "qkvo"}
    found = compare(None, computed() | dict(zip(names, matrices, strict=True)) | biases)
    assert (found.first, found.unread, found.not_recomputed) == (None, (), ())


@pytest.mark.parametrize(
    "names",
    [
        ["attention.self.query.weight", "attention.output.dense.weight", "output.dense.weight"],
        ["layers.0.q_proj.weight", "layers.0.o_proj.weight", "layers.0.dense.weight"],
        ["q_proj.weight", "mlp.dense.weight"],
        ["attn.q_proj.weight", "mlp.fc_out.weight"],
        ["layers.0.attention.queries.weight", "decoder.fc_out.weight"],
        ["transformer.h.0.attn.query_proj.weight", "pooler.dense.weight"],
        ["attn.qkv.weight", "attn.proj.weight", "patch_embed.proj.weight"],
        ["qkv.weight", "mlp.proj.weight"],
        ["x", "dense.weight"],
    ],
)
def test_a_dense_layer_elsewhere_is_no_output_matrix(names):
    assert names[-1] not in meanings(names)


def test_queries_keys_and_values_are_still_stages():
    assert [stage_named(each) for each in ("queries", "keys", "values", "out")] == ["q", "k", "v", "output"]


class Renamed(FusedAttention):
    """A fused layer and an output matrix under other names."""

    def __init__(self, name, output, seed=0):
        super().__init__(seed)
        self.called = name, output
        del self.c_attn, self.c_proj
        setattr(self, name, Linear(6, 18, seed))
        setattr(self, output, Linear(6, 6, seed + 1))

    def projected(self, x):
        return np.split(getattr(self, self.called[0])(x), 3, axis=-1)

    def out_proj(self, joined):
        return getattr(self, self.called[1])(joined)


@pytest.mark.parametrize(
    ("name", "output"), [("to_qkv", "dense"), ("qkv", "fc_out"), ("qkv", "proj"), ("to_qkv", "output_proj")]
)
def test_modules_of_these_names_are_recorded(name, output):
    module = Renamed(name, output)
    with record(module) as recorded:
        module(tensor(np.random.default_rng(0).normal(size=(1, 5, 6))))
    assert {f"{name}.weight", f"{output}.weight"} <= recorded[0].keys()
    found = compare(None, recorded[0], n_heads=2)
    assert (found.first, found.unread) == (None, ())
    assert "output" in {each.stage for each in found.stages}
