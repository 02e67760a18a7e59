"""Mistakes around attention: norms, the residual stream, W_O, the activation, and other layers' keys and values."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from attnviz.checks.causes.cause import (
    JOINED,
    ROWS,
    Causes,
    Change,
    MistakeContext,
    alone_and_together,
    change,
    each_and_all,
    joined,
    rows,
    split,
)
from attnviz.checks.passes.nodes import Change as ChangeArray
from attnviz.checks.passes.nodes import Node, evaluated
from attnviz.checks.read.rounding import Precision, Rounded, applied
from attnviz.core.operations.linear import Addition
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.order import ALL_ACTIVATIONS
from attnviz.core.stage import split_layer

CAUSES = Causes()
_PLACES = {"attn_norm": "before attention", "mlp_norm": "before the MLP"}
_EPSILONS = (1e-5, 1e-6, 1e-8, 1e-12)
_ACTIVATIONS = {  # name: in words and in code
    "relu": ("ReLU", "F.relu(x)"),
    "relu2": ("ReLU²", "F.relu(x) ** 2"),
    "gelu": ("the exact GELU", "F.gelu(x)"),
    "gelu tanh": ("GELU by tanh", "F.gelu(x, approximate='tanh')"),
}


def _norms(context: MistakeContext, *stages: str) -> dict[str, RMSNorm | LayerNorm]:
    norms = {stage: context.operation(stage) for stage in stages or (*_PLACES, "q_normed", "k_normed")}
    return {stage: norm for stage, norm in norms.items() if isinstance(norm, RMSNorm | LayerNorm)}


@CAUSES.add("the norm {place} was left out", "q, k, v = project(x)", "q, k, v = project(norm(x))")
def norm_left_out(context: MistakeContext) -> Iterator[Change]:
    for stage in _norms(context, *_PLACES):
        yield change({stage: context.left_out(stage)}, place=_PLACES[stage])


_ACROSS = {  # the axis that a wrong norm is along: words, code, and an array with that axis last and back
    "all heads together": ("(1, -1)", lambda x: joined(x)[None], lambda x, n: split(x[0], n)),
    "the heads": ("1", lambda x: np.moveaxis(x, 0, -1), lambda x, n: np.moveaxis(x, -1, 0)),
    "the tokens": ("-2", np.matrix_transpose, lambda x, n: np.matrix_transpose(x)),
}


@CAUSES.add(
    "{rows} were normed over {across}, not each head's alone",
    "{letter} = {letter} * torch.rsqrt({letter}.pow(2).mean(dim={dim}, keepdim=True) + eps)",
    "{letter} = {letter} * torch.rsqrt({letter}.pow(2).mean(dim=-1, keepdim=True) + eps)",
)
def norm_along_the_wrong_axis(context: MistakeContext) -> Iterator[Change]:
    """The norm of queries and keys, whose gain stays that of a head's dimensions."""

    def normed(across: str, stage: str) -> Node:
        _, turned, back = _ACROSS[across]
        norm = _norms(context, stage)[stage]

        def make(values: Sequence[Rounded], precision: Precision) -> Rounded:
            x, *gains = values
            rows = applied(norm, [x.map(turned)], precision).map(lambda each: back(each, len(x.value)))
            for gain in gains:
                value, moved = rows.value * gain.value, np.abs(rows.error * gain.value)
                moved += np.abs(rows.value) * gain.error + precision.unit * np.abs(value)
                rows = Rounded(value, moved)
            return rows

        return Node(context.nodes[stage].inputs, make)

    stages = [*_norms(context, "q_normed", "k_normed")]
    for across, (dim, *_) in _ACROSS.items() if context.sizes["h"] > 1 else ():
        yield from alone_and_together(stages, partial(normed, across), across=across, dim=dim)


@CAUSES.add("the norm was a {other}", "norm = nn.{other}(d_model)", "norm = the model's own")
def wrong_norm(context: MistakeContext) -> Iterator[Change]:
    for stage, norm in _norms(context, *_PLACES).items():
        if len(context.nodes[stage].inputs) < 3:  # no bias, as an RMSNorm has none
            other = LayerNorm(norm.epsilon) if isinstance(norm, RMSNorm) else RMSNorm(norm.epsilon)
            yield change({stage: context.computed(stage, other)}, other=type(other).__name__)


def _with_gain(context: MistakeContext, changed: ChangeArray) -> Iterator[Change]:
    for stage in _norms(context):
        for gain in context.nodes[stage].inputs[1:2]:
            yield change({stage: context.nodes[stage].with_numbers(gain, changed)})


@CAUSES.add("the norm's gain was left out", "y = x * rsqrt", "y = x * rsqrt * gain")
def gain_left_out(context: MistakeContext) -> Iterator[Change]:
    return _with_gain(context, np.ones_like)


@CAUSES.add(
    "1 was added to the norm's gain", "y = x * rsqrt * (1 + gain)", "y = x * rsqrt * gain", "Gemma's gains are used so."
)
def gain_with_1_added(context: MistakeContext) -> Iterator[Change]:
    return _with_gain(context, lambda gain: 1 + gain)


@CAUSES.add(
    "the norm's gain was used without the 1 that is added to it", "y = x * rsqrt * gain", "y = x * rsqrt * (1 + gain)"
)
def gain_without_1_added(context: MistakeContext) -> Iterator[Change]:
    return _with_gain(context, lambda gain: gain - 1)


@CAUSES.add("the norm's epsilon was {epsilon}", "norm.eps = {epsilon}", "norm.eps = config.norm_eps")
def wrong_norm_epsilon(context: MistakeContext) -> Iterator[Change]:
    for stage, norm in _norms(context).items():
        for epsilon in _EPSILONS:
            if epsilon != norm.epsilon:
                yield change({stage: context.computed(stage, type(norm)(epsilon))}, epsilon=f"{epsilon:g}")


def _has_output_shape(context: MistakeContext, stage: str) -> bool:
    return context.computes("output") and context.trace[stage].shape == context.trace["output"].shape


@CAUSES.add("W_O was left out", JOINED, f"{JOINED} @ w_o.T")
def w_o_left_out(context: MistakeContext) -> Iterator[Change]:
    if (
        context.computes("output")
        and "concat" in context.nodes["output"].inputs
        and _has_output_shape(context, "concat")
    ):
        yield change({"output": Node.identity(("concat",))})


@CAUSES.add("x was added to the output already", "return x + out", "return out")
def residual_added(context: MistakeContext) -> Iterator[Change]:
    if "x" in context.trace and _has_output_shape(context, "x"):
        output = context.nodes["output"]

        def added(values: Sequence[Rounded], precision: Precision) -> Rounded:
            *inputs, x = values
            return applied(Addition(), [output.evaluate(inputs, precision), x], precision)

        yield change({"output": Node((*output.inputs, "x"), added)})


@CAUSES.add("what entered was not added (residual)", "x = out", "x = x + out")
def residual_left_out(context: MistakeContext) -> Iterator[Change]:
    for stage in filter(context.computes, ("residual", "mlp_residual")):
        yield change({stage: Node.identity(context.nodes[stage].inputs[1:])})


@CAUSES.add("the activation was {activation}", "x = {code}", "x = self.activation(x)")
def wrong_activation(context: MistakeContext) -> Iterator[Change]:
    right = context.operation("active")
    for name, other in ALL_ACTIVATIONS.items():
        if right and other != right:
            activation, code = _ACTIVATIONS[name]
            yield change({"active": context.computed("active", other)}, activation=activation, code=code)


@CAUSES.add("{rows} were those of layer {layer}", "{letters} = {wrong}", "{letters} = {right}")
def keys_or_values_of_another_layer(context: MistakeContext) -> Iterator[Change]:
    def evaluate(stage: str, inputs: Sequence[Rounded], precision: Precision) -> Rounded:
        return evaluated(context.nodes, precision, {stage})[stage]

    def is_like(stage: str, other: str) -> bool:
        return context.trace[stage].shape == context.trace[other].shape

    readers = {letter: stage for letter, stage in (("k", "scores"), ("v", "heads")) if context.computes(stage)}
    read = {letter: context.nodes[stage].inputs[1] for letter, stage in readers.items()}  # such as "k_rotated"
    names = {split_layer(stage.name): stage.name for stage in context.trace.stages}
    layers = sorted({layer for base, layer in names if layer and base in read.values()})
    for layer in layers:
        nodes = {
            letter: Node((), partial(evaluate, names[stage, layer]))
            for letter, stage in read.items()
            if stage.startswith(letter) and (stage, layer) in names and is_like(stage, names[stage, layer])
        }
        for letters in each_and_all([*nodes], ("k", "v")):
            wrong, right = (", ".join(f"kept_{ROWS[each]}[{of}]" for each in letters) for of in (layer, "layer"))
            slots = {"rows": rows(letters), "letters": ", ".join(letters), "wrong": wrong, "right": right}
            yield change({read[letter]: nodes[letter] for letter in letters}, layer=str(layer), **slots)
