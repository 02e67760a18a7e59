"""Block: what stands around attention: norms, the residual stream, W_O and the activation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attnviz.checks.causes.mistake import Mistake, Setting, passed_on
from attnviz.checks.nodes import Node
from attnviz.checks.rounding import Precision, Rounded, applied
from attnviz.core.operations.linear import Addition
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.order import ALL_ACTIVATIONS

_EPSILONS = (1e-5, 1e-6, 1e-8, 1e-12)
_NORMS = ("attn_norm", "mlp_norm", "q_normed", "k_normed")
_CALLED = {"relu": "ReLU", "relu2": "ReLU²", "gelu": "the exact GELU", "gelu tanh": "GELU by tanh"}


def surroundings(setting: Setting) -> Iterator[Mistake]:
    """The rest of a layer got wrong."""
    nodes = setting.nodes
    yield from _norms(setting)
    if setting.makes("output"):
        yield from _outputs(setting)
    for residual in setting.made_of("residual", "mlp_residual"):
        _, added = nodes[residual].inputs
        yield Mistake("residual left out", residual, "", {residual: Node((added,), passed_on)})
    if (own := setting.operation("active")) is not None:
        for name, other in ALL_ACTIVATIONS.items():
            if other != own:
                node = Node.of(other, nodes["active"].inputs)
                yield Mistake("another activation", "active", _CALLED[name], {"active": node})


def _norms(setting: Setting) -> Iterator[Mistake]:
    for stage in setting.made_of(*_NORMS):
        norm, node = setting.operation(stage), setting.nodes[stage]
        if not isinstance(norm, RMSNorm | LayerNorm):
            continue
        if stage in _NORMS[:2]:
            yield Mistake("norm left out", stage, stage, {stage: Node(node.inputs, passed_on)})
            other = LayerNorm(norm.epsilon) if isinstance(norm, RMSNorm) else RMSNorm(norm.epsilon)
            if len(node.inputs) < 3:
                yield Mistake("another norm", stage, type(other).__name__, {stage: Node.of(other, node.inputs)})
        for gain in node.inputs[1:2]:
            unlearnt = node.with_numbers(gain, np.ones_like)
            yield Mistake("gain left out", stage, gain, {stage: unlearnt})
            yield Mistake("gain with 1 added", stage, gain, {stage: node.with_numbers(gain, lambda g: 1 + g)})
            yield Mistake("gain without the 1", stage, gain, {stage: node.with_numbers(gain, lambda g: g - 1)})
        for epsilon in _EPSILONS:
            if epsilon != norm.epsilon:
                other = type(norm)(epsilon)
                yield Mistake("another epsilon", stage, f"{epsilon:g}", {stage: Node.of(other, node.inputs)})


def _outputs(setting: Setting) -> Iterator[Mistake]:
    node, shape = setting.nodes["output"], setting.trace["output"].shape
    if "concat" in node.inputs and setting.trace["concat"].shape == shape:
        yield Mistake("w_o left out", "output", "", {"output": Node(("concat",), passed_on)})
    if "x" in setting.trace and setting.trace["x"].shape == shape:
        yield Mistake("residual added", "output", "", {"output": Node((*node.inputs, "x"), _added_to(node))})


def _added_to(node: Node):
    def added(given: list[Rounded], precision: Precision) -> Rounded:
        *inputs, x = given
        return applied(Addition(), [node.made(inputs, precision), x], precision)

    return added
