"""The pass as PyTorch and as microgpt: the script asserts what it makes, and was run."""

import json
import re

import numpy as np
import pytest
from page import changes_of
from passes import planted
from torchruns import RECORDED, passes, run

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core.operations.activations import GELU
from attnviz.core.operations.norms import RMSNorm
from attnviz.core.operations.scores import Scale
from attnviz.core.operations.softmax import SumNormalise
from attnviz.explain import microgpt_script
from attnviz.explain.export import torch_script
from attnviz.models import MODELS

PASSES = passes()


@pytest.mark.parametrize("name", PASSES)
def test_the_script_is_the_one_that_ran_with_torch(name):
    recorded = json.loads(RECORDED.read_text("utf-8"))
    record = recorded["runs"][name]
    assert torch_script(PASSES[name]) == record["script"], "record it again: tests/torchruns.py says how"
    names = [stage.name for stage in PASSES[name].stages if stage.name.startswith(("attention", "output"))]
    assert record["printed"].splitlines() == [f"{each}: PyTorch {recorded['torch']} agrees" for each in names]


@pytest.mark.parametrize("name", PASSES)
def test_where_torch_is_it_runs(name):
    pytest.importorskip("torch")
    assert run(PASSES[name], torch_script(PASSES[name])).count("agrees") >= 2


def test_where_torch_is_a_wrong_array_is_found():
    pytest.importorskip("torch")
    trace = PASSES["causal"]
    wrong = trace.with_change("attention", (0, 2, 1), trace["attention"].value[0, 2, 1] + 1e-6)
    with pytest.raises(AssertionError):
        run(wrong, torch_script(trace))


@pytest.mark.parametrize(
    "trace",
    [
        attend(np.eye(2), parameters=Parameters()),
        attend(np.eye(2), parameters=Parameters(*np.ones((3, 1, 2, 2)), np.ones((2, 3)))),
        attend(np.eye(2), parameters=Parameters(*np.ones((3, 1, 2, 3)), np.ones((3, 2)))),
        attend(np.eye(2), parameters=Parameters(*np.ones((3, 1, 2, 2)), np.eye(2)), normalise=SumNormalise),
        trace_of(Settings("a b")).with_changes(*changes_of("scores[0,0,0]=1")),
    ],
)
def test_what_torch_cannot_make_has_no_script(trace):
    assert torch_script(trace) is None


class Capped(Scale):
    """A step between scores and softmax that MultiheadAttention lacks."""

    in_multihead = False

    def compute(self, scores):
        return np.tanh(super().compute(scores))


def test_each_layer_reads_its_own_mask_and_what_is_normed_for_it():
    script = torch_script(trace_of(Settings("the cat", layers=2, norm="rmsnorm", mask="causal")))
    read = re.findall(r'tensor\("((?:mask|attn_norm)\w*)"\)', script)
    assert read == ["mask_1", "attn_norm_1", "attn_norm_1", "mask_2", "attn_norm_2", "attn_norm_2"]


def test_a_pass_with_a_step_that_multihead_attention_lacks_has_no_script():
    trace = trace_of(Settings("a b c", n_heads=2))
    assert torch_script(trace)
    assert torch_script(planted(trace, "scaled", Capped(trace["q"].shape[-1]))) is None


@pytest.mark.parametrize(
    ("stage", "operation"),
    [("scaled", Scale(4, 1.0)), ("attn_norm", RMSNorm(0.1)), ("active", GELU()), ("attention", SumNormalise())],
)
def test_a_pass_that_microgpt_cannot_compute_has_no_script_of_it(stage, operation):
    trace = MODELS["microgpt"].at(0).trace("ada")
    assert microgpt_script.script(trace)
    assert microgpt_script.script(planted(trace, stage, operation)) is None
    assert microgpt_script.script(trace.with_change("mask", (0, 1), 1.0)) is None
    assert microgpt_script.script(trace.with_change("scores", (0, 1, 1), 1.0)) is None
