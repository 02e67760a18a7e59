"""A pass as a NumPy script, as arrays, and as a PyTorch script, to check your own implementation with."""

import io
import math
from collections.abc import Iterator, Mapping

import numpy as np

from attnviz.core.operations.operation import Operation
from attnviz.core.operations.scores import Hide
from attnviz.core.stage import Stage, ancestors
from attnviz.core.trace import Layer, Trace
from attnviz.explain.steps import full_title

_NUMPY_HEAD = '''\
import numpy as np

np.seterr(all="ignore")  # what overflows or is no number DIFFERS, without a warning
given = np.load("attnviz.npz")
agrees = {}


def compared(name, made):
    """Compare a stage with attnviz's array and return that array, so that a difference shows in one stage alone.

    It is compared in the precision that it was made in: float16, float32, else float64. Its last digits depend on the
    processor, and on those of the stages before it. So a stage agrees if three quarters of the digits do: no number is
    further off than epsilon ** 0.75 of its row's size, which is the most that the terms of one number of the row add up
    to when all signs are dropped. What is set by hand agrees to the last digit.
    """
    made, expected, size = np.asarray(made), given[name], given[f"size_{name}"][..., None]
    precision = np.finfo(made.dtype if made.dtype in (np.float16, np.float32) else float)
    epsilon = float(precision.eps)
    allowed = epsilon**0.75 * size + epsilon * np.abs(np.nan_to_num(expected)) + float(precision.tiny)
    is_shaped = made.shape == expected.shape
    off = np.where(made == expected, 0, np.abs(made - expected)) if is_shaped else np.full(expected.shape, np.inf)
    agrees[name] = bool((off <= allowed).all())
    verdict = "identical" if not off.any() else "agrees to rounding" if agrees[name] else "DIFFERS"
    worst = np.argmax(off / allowed)
    print(f"{name} in {precision.dtype}: {verdict}, off by {off.flat[worst]:.2g}, {allowed.flat[worst]:.2g} allowed")
    return expected
'''
_NUMPY_FOOT = 'print("Every stage agrees." if all(agrees.values()) else "Not every stage agrees.")'


def script(trace: Trace) -> str:
    """The pass as a NumPy script, which computes each stage and compares it with the file that `arrays` writes."""
    given = [stage for stage in trace.stages if stage.is_given]
    computed = [stage for stage in trace.stages if not stage.is_given]
    lines = [_NUMPY_HEAD, *(f'{stage.name} = given["{stage.name}"]  # {_shape(stage)}' for stage in given)]
    for stage in computed:
        lines += ["", f"# {full_title(stage.name)}, {_shape(stage)}", *_lines(trace, stage)]
        lines += [f'{stage.name} = compared("{stage.name}", {stage.name})']
    return "\n".join([*lines, "", _NUMPY_FOOT]) + "\n"


def arrays(trace: Trace) -> bytes:
    """Every stage at full precision, as the bytes of a NumPy .npz file. `words_query` and so on hold the tokens;
    `size_q` and so on hold the scale of rounding errors, row by row.
    """
    file = io.BytesIO()
    words = {f"words_{axis.replace(' ', '_')}": np.array(labels) for axis, labels in trace.labels.items()}
    sizes = {f"size_{stage.name}": _sizes(trace, stage) for stage in trace.stages if not stage.is_given}
    np.savez(file, **{stage.name: stage.value for stage in trace.stages}, **words, **sizes)
    return file.getvalue()


def _lines(trace: Trace, stage: Stage) -> tuple[str, ...]:
    if stage.overridden_by:
        return (f'{stage.name} = given["{stage.name}"]  # {stage.overridden_by}',)
    return trace.lines(stage.name)


def _shape(stage: Stage) -> str:
    return f"{stage.shape}: {', '.join(stage.axes)}"


def _sizes(trace: Trace, stage: Stage) -> np.ndarray:
    """For each row the largest sum of absolute terms of one of its numbers, which rounding errors scale with.

    An operation of several inputs without terms of its own is a sum of their products, so applying it to their absolute
    values gives that sum. A mask only selects, so a row's errors are those of all its scaled scores, hidden ones too.
    """
    is_sum = len(stage.inputs) > 1 and type(stage.operation).recomputed is Operation.recomputed
    inputs = [np.where(np.isfinite(each.value), np.abs(each.value), 0) for each in trace.inputs(stage.name)]
    with np.errstate(over="ignore"):
        if isinstance(stage.operation, Hide):
            values = inputs[0]
        else:
            values = stage.operation.compute(*inputs) if is_sum else stage.value
    counts = values != -np.inf
    for index in stage.overridden:
        counts[index] = False
    return np.minimum(np.where(counts, np.abs(values), 0).max(axis=-1), np.finfo(float).max)


_TORCH_HEAD = '''\
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


_UNDIVIDED = "# these scores aren't divided by the root of d_k, but PyTorch's are: so the queries make up for it"


def torch_script(trace: Trace) -> str | None:
    """The pass as a PyTorch script, which checks attention and output of each layer against the file of `arrays`.

    None if `torch.nn.MultiheadAttention` can't compute the pass: without projections or a softmax, with other widths,
    or with computed numbers set by hand.
    """
    if any(stage.overridden and not stage.is_given for stage in trace.stages) or not all(map(_can, trace.layers)):
        return None
    return "\n".join([_TORCH_HEAD, *(line for layer in trace.layers for line in _layer_lines(layer))]) + "\n"


def _can(layer: Layer) -> bool:
    """Whether torch.nn.MultiheadAttention can compute a layer."""
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
    """The computed stages from the input of a layer's attention to its output."""
    entering = ancestors(trace.stages, trace["q"].inputs[0]) + ancestors(trace.stages, trace["k"].inputs[0])
    before = {stage.name for stage in entering}
    return (each for each in ancestors(trace.stages, "output") if each.inputs and each.name not in before)


def _layer_lines(layer: Layer) -> list[str]:
    trace, names = layer.trace, layer.names
    n_heads, d_model, d_k = trace["w_q"].shape
    n_context = trace["w_k"].shape[1]
    biased = any(name in trace for name in ("b_q", "b_k", "b_v", "b_o"))
    widths = "" if n_context == d_model else f", kdim={n_context}, vdim={n_context}"
    bias = "" if biased else ", bias=False"
    queries, keys = (f'tensor("{names[trace[each].inputs[0]]}")' for each in "qk")
    times = _factor(trace, d_k)
    copies = [*_weights(trace, names, widths != "", times), *(_biases(trace, names, times) if biased else [])]
    titled = f"# Layer {layer.number}" if names["q"] != "q" else "# The parameters, as PyTorch lays them out"
    return [
        titled,
        f"mha = torch.nn.MultiheadAttention({d_model}, {n_heads}{widths}{bias}, batch_first=True, dtype=torch.float64)",
        *([_UNDIVIDED] if times else []),
        "with torch.no_grad():",
        *(f"    {line}" for line in copies),
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
    """The factor of queries that undoes PyTorch's division and applies the pass's scale."""
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
    return ["mha.in_proj_bias.copy_(", f"    torch.cat([{', '.join(parts)}])", ")", f"mha.out_proj.bias.copy_({out})"]


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
