"""Mistakes around attention: norms, the residual stream, W_O, the activation, and other layers' keys and values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from attnviz.checks.causes.cause import JOINED, ROWS, Cause, Mistake, Setting, each_and_all, passed_on, plain
from attnviz.checks.explain.nodes import Node, Nodes, evaluated
from attnviz.checks.read.rounding import Precision, Rounded, applied
from attnviz.core.operations.linear import Addition
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.order import ALL_ACTIVATIONS
from attnviz.core.stage import split_layer
from attnviz.explain.wording import listed

_PLACES = {"attn_norm": "before attention", "mlp_norm": "before the MLP"}
_ACTIVATIONS = {
    "ReLU": "F.relu(x)",
    "ReLU²": "F.relu(x) ** 2",
    "the exact GELU": "F.gelu(x)",
    "GELU by tanh": "F.gelu(x, approximate='tanh')",
}


def _activation_slots(about: str) -> Mapping[str, str]:
    return {"activation": _ACTIVATIONS[about]}


def _layer_clause(about: str) -> str:
    *letters, layer = about.split()
    return f"{listed([ROWS[each] for each in letters])} were those of layer {layer}"


def _layer_slots(about: str) -> Mapping[str, str]:
    *letters, layer = about.split()
    made = ", ".join(letters)
    read = ", ".join(f"kept_{ROWS[each]}[{{0}}]" for each in letters)
    return {"wrong": f"{made} = {read.format(layer)}", "right": f"{made} = {read.format('layer')}"}


CAUSES: dict[str, Cause] = {
    "norm left out": Cause(
        lambda about: f"the norm {_PLACES[about]} was left out", "q, k, v = project(x)", "q, k, v = project(norm(x))"
    ),
    "another norm": Cause(plain("the norm was a {}"), "norm = nn.{about}(d_model)", "norm = the model's own"),
    "gain left out": Cause(plain("the norm's gain was left out"), "y = x * rsqrt", "y = x * rsqrt * gain"),
    "gain with 1 added": Cause(
        plain("1 was added to the norm's gain"),
        "y = x * rsqrt * (1 + gain)",
        "y = x * rsqrt * gain",
        "Gemma's gains are used so.",
    ),
    "gain without the 1": Cause(
        plain("the norm's gain was used without the 1 that is added to it"),
        "y = x * rsqrt * gain",
        "y = x * rsqrt * (1 + gain)",
    ),
    "another epsilon": Cause(plain("the norm's epsilon was {}"), "norm.eps = {about}", "norm.eps = config.norm_eps"),
    "w_o left out": Cause(plain("W_O was left out"), JOINED, f"{JOINED} @ w_o.T"),
    "residual added": Cause(plain("x was added to the output already"), "return x + out", "return out"),
    "residual left out": Cause(plain("what entered was not added (residual)"), "x = out", "x = x + out"),
    "another activation": Cause(
        plain("the activation was {}"), "x = {activation}", "x = self.activation(x)", slots=_activation_slots
    ),
    "of another layer": Cause(_layer_clause, "{wrong}", "{right}", slots=_layer_slots),
}


_EPSILONS = (1e-5, 1e-6, 1e-8, 1e-12)
_NORMS = ("attn_norm", "mlp_norm", "q_normed", "k_normed")
_CALLED = {"relu": "ReLU", "relu2": "ReLU²", "gelu": "the exact GELU", "gelu tanh": "GELU by tanh"}


def block_mistakes(setting: Setting) -> Iterator[Mistake]:
    """Mistakes in the rest of a layer."""
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


def layer_mistakes(setting: Setting) -> Iterator[Mistake]:
    """Keys, values or both taken from another layer."""
    read = _read(setting)
    elsewhere = [(*split_layer(stage.name), stage.name) for stage in setting.trace.stages]
    elsewhere = [each for each in elsewhere if each[1] and each[0] in read.values()]
    for number in sorted({layer for _, layer, _ in elsewhere}):
        of_layer = {stage: _made(setting.nodes, name) for stage, layer, name in elsewhere if layer == number}
        for letters in each_and_all(tuple(letter for letter in read if read[letter] in of_layer), ("k", "v")):
            changed = {read[letter]: of_layer[read[letter]] for letter in letters}
            yield Mistake("of another layer", next(iter(changed)), f"{' '.join(letters)} {number}", changed)


def _read(setting: Setting) -> dict[str, str]:
    """The stages that the scores read as keys, and the heads as values."""
    pairs = {"k": "scores", "v": "heads"}
    made = {letter: setting.nodes[stage].inputs for letter, stage in pairs.items() if setting.makes(stage)}
    return {letter: inputs[1] for letter, inputs in made.items() if inputs[1].startswith(letter)}


def _made(nodes: Nodes, stage: str) -> Node:
    """A node that computes a stage of the original pass."""

    def make(given: list[Rounded], precision: Precision) -> Rounded:
        return evaluated(nodes, precision, {stage})[stage]

    return Node((), make)
