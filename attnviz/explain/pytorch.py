"""PyTorch: a pass as a script with torch.nn.MultiheadAttention, for someone who knows that better than NumPy."""

import math
from collections.abc import Iterator, Mapping

from attnviz.core.graph import leading_to
from attnviz.core.stage import Stage
from attnviz.core.trace import Layer, Trace

_HEAD = '''\
import numpy as np
import torch

given = np.load("attnviz.npz")


def tensor(name):
    """An array of attnviz's, in float64; or of booleans."""
    return torch.from_numpy(given[name])


def matrix(name):
    """A projection as PyTorch has it: (heads * d, in), each head's rows below those of the one before."""
    heads = tensor(name)  # (heads, in, d), for x @ W
    return heads.transpose(1, 2).reshape(-1, heads.shape[1])


def compared(name, made, rows=slice(None)):
    """Assert that a tensor is a stage of attnviz's, to 10 digits of its largest number."""
    expected = tensor(name)
    allowed = 1e-10 * float(expected.abs().max())
    torch.testing.assert_close(made[..., rows, :], expected[..., rows, :], rtol=0, atol=allowed)
    print(f"{name}: PyTorch {torch.__version__} agrees")

'''


def torch_script(trace: Trace) -> str | None:
    """The pass as PyTorch, beside the file that `export.arrays` writes; it asserts attention and output of each layer.

    Returns
    -------
    str or None
        None where `torch.nn.MultiheadAttention` cannot make the pass: without projections or a softmax, with other
        widths than its own, or with computed numbers that were set by hand.
    """
    if any(stage.overridden and not stage.is_given for stage in trace.stages) or not all(map(_can, trace.layers)):
        return None
    return "\n".join([_HEAD, *(line for layer in trace.layers for line in _lines(layer))]) + "\n"


def _can(layer: Layer) -> bool:
    """Whether torch.nn.MultiheadAttention can make a layer."""
    trace = layer.trace
    if not all(name in trace for name in ("w_q", "w_k", "w_v", "w_o")):
        return False
    n_heads, d_model, d_k = trace["w_q"].shape
    return (
        all(stage.operation.in_multihead for stage in _computed(trace))
        and "sinks" not in trace
        and n_heads * d_k == d_model
        and trace["w_v"].shape[-1] == d_k
        and trace["w_o"].shape == (d_model, d_model)
    )


def _computed(trace: Trace) -> Iterator[Stage]:
    """The stages from what enters the attention of a layer to its output, but for those that are given."""
    entering = leading_to(trace.stages, trace["q"].inputs[0]) + leading_to(trace.stages, trace["k"].inputs[0])
    before = {stage.name for stage in entering}
    return (each for each in leading_to(trace.stages, "output") if each.inputs and each.name not in before)


def _lines(layer: Layer) -> list[str]:
    trace, names = layer.trace, layer.names
    n_heads, d_model, d_k = trace["w_q"].shape
    n_context = trace["w_k"].shape[1]
    biased = any(name in trace for name in ("b_q", "b_k", "b_v", "b_o"))
    widths = "" if n_context == d_model else f", kdim={n_context}, vdim={n_context}"
    bias = "" if biased else ", bias=False"
    queries, keys = (f'tensor("{names[trace[each].inputs[0]]}")' for each in "qk")
    times = _factor(trace, d_k)
    titled = f"# Layer {layer.number}" if names["q"] != "q" else "# The parameters, as PyTorch lays them out"
    return [
        titled,
        f"mha = torch.nn.MultiheadAttention({d_model}, {n_heads}{widths}{bias}, batch_first=True, dtype=torch.float64)",
        *(
            ["# these scores aren't divided by the root of d_k, but PyTorch's are: so the queries make up for it"]
            * bool(times)
        ),
        "with torch.no_grad():",
        *(
            f"    {line}"
            for line in (
                *_weights(trace, names, widths != "", times),
                *(_biases(trace, names, times) if biased else []),
            )
        ),
        *_mask(trace, names["mask"]),
        f"x = {queries}[None]  # a batch of one",
        f"context = {keys}[None]",
        "with torch.no_grad():",
        "    output, attention = mha(x, context, context, attn_mask=hidden, average_attn_weights=False)",
        f'compared("{names["attention"]}", attention[0], seeing)',
        f'compared("{names["output"]}", output[0], seeing)',
        "",
    ]


def _factor(trace: Trace, d_k: int) -> str:
    """The factor of the queries with which PyTorch's division leaves the scores as the pass has them."""
    factor = trace["scaled"].operation.factor
    return "" if factor is None else f" * {factor * math.sqrt(d_k)!r}"


def _weights(trace: Trace, names: Mapping[str, str], apart: bool, times: str) -> list[str]:
    q, k, v = (f'matrix("{names[each]}")' for each in ("w_q", "w_k", "w_v"))
    if apart:
        projections = [
            f"mha.{each}_proj_weight.copy_({matrix})" for each, matrix in (("q", q + times), ("k", k), ("v", v))
        ]
    else:
        projections = [f"mha.in_proj_weight.copy_(torch.cat([{q}{times}, {k}, {v}]))"]
    return [*projections, f'mha.out_proj.weight.copy_(tensor("{names["w_o"]}").T)']


def _biases(trace: Trace, names: Mapping[str, str], times: str) -> list[str]:
    length = trace["w_q"].shape[1]
    parts = [
        f'tensor("{names[b]}").flatten(){times if b == "b_q" else ""}'
        if b in trace
        else f"torch.zeros({length}, dtype=torch.float64)"
        for b in ("b_q", "b_k", "b_v")
    ]
    out = f'tensor("{names["b_o"]}")' if "b_o" in trace else f"torch.zeros({length}, dtype=torch.float64)"
    return [
        "mha.in_proj_bias.copy_(",
        f"    torch.cat([{', '.join(parts)}])",
        ")",
        f"mha.out_proj.bias.copy_({out})",
    ]


def _mask(trace: Trace, name: str) -> list[str]:
    mask = trace["mask"].value
    selects, for_each_head = mask.dtype == bool, mask.ndim == 3
    what = "True is a hidden key here, and a visible one in attnviz" if selects else "it is added to the scores"
    return [
        f"# {what}{'; (batch * heads, queries, keys), for a batch of one' if for_each_head else ''}",
        f'hidden = {"~" * selects}tensor("{name}")',
        "# a query that sees no key gets zeros in attnviz, and nan here",
        f"seeing = ~hidden{'' if selects else '.isneginf()'}.all(dim=-1){'.all(dim=0)' if for_each_head else ''}",
    ]
