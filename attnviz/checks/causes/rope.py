"""Mistakes with rotations (RoPE), and with norms of queries and keys."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

import numpy as np

from attnviz.checks.causes.cause import (
    Causes,
    Change,
    MistakeContext,
    alone_and_together,
    change,
    joined,
    n_copies,
    split,
)
from attnviz.checks.passes.nodes import Node
from attnviz.checks.read.masks import seen_in
from attnviz.checks.read.rounding import Precision, Rounded, applied
from attnviz.checks.read.table_rotation import OTHER_PAIRS, TableRotation
from attnviz.core.operations.norms import RMSNorm
from attnviz.core.operations.rotation import BASES, Rotation

CAUSES = Causes()
_FACTOR = 1e-3  # how far from 1 a table's factor is certainly one
_ROTATION = "q, k = rotate(q, positions), rotate(k, positions)"


def _rotations(context: MistakeContext) -> dict[str, Rotation]:
    """The rotations of queries and keys by stage."""
    operations = {each: context.operation(each) for each in ("q_rotated", "k_rotated")}
    return {stage: each for stage, each in operations.items() if isinstance(each, Rotation)}


def _by_tables(context: MistakeContext) -> dict[str, TableRotation]:
    return {stage: each for stage, each in _rotations(context).items() if isinstance(each, TableRotation)}


def _with_rotation(context: MistakeContext, changed: Callable[[Rotation], Rotation], **slots: str) -> Iterator[Change]:
    """Queries and keys rotated by a changed rotation, if it differs."""
    others = {stage: changed(each) for stage, each in _rotations(context).items() if changed(each) != each}
    if others:
        yield change({stage: context.computed(stage, each) for stage, each in others.items()}, **slots)


@CAUSES.add(
    "the rotation turned other pairs of dimensions: neighbours in the place of halves, or the reverse",
    "a, b = x[..., 0::2], x[..., 1::2]",
    "a, b = x.chunk(2, dim=-1)",
    "Hugging Face's weights of Llama are for halves, Meta's own for neighbours; GLM turns neighbours by a table for "
    "halves on purpose.",
)
def rotation_of_wrong_pairs(context: MistakeContext) -> Iterator[Change]:
    return _with_rotation(context, lambda each: replace(each, pairs=OTHER_PAIRS[each.pairs]))


@CAUSES.add(
    "{rows} of a decode step were rotated as if no tokens came before them: positions began at 0 again",
    "positions = torch.arange(n_new)",
    "positions = torch.arange(n_kept, n_kept + n_new)",
)
def rotation_restarts_in_a_decode_step(context: MistakeContext) -> Iterator[Change]:
    n_new, n_keys = context.sizes.get("t", 0), context.sizes.get("s", 0)
    tables = _by_tables(context)
    if 0 < n_new < n_keys:
        yield from alone_and_together(
            [*tables], lambda stage: context.computed(stage, tables[stage].restarted(n_keys - n_new, n_new))
        )


@CAUSES.add(
    "{rows} were not rotated by their positions",
    "scores = q @ k.transpose(-2, -1)",
    _ROTATION,
    "Some layers of SmolLM3, Llama 4 and Cohere 2 leave it out on purpose.",
)
def rotation_left_out(context: MistakeContext) -> Iterator[Change]:
    return alone_and_together([*_rotations(context)], context.left_out)


@CAUSES.add(
    "{rows} were rotated as if they were one position {shift}",
    "positions = torch.arange(t) {step}",
    "positions = torch.arange(t)",
)
def rotation_off_by_one(context: MistakeContext) -> Iterator[Change]:
    rotations = _rotations(context)

    def shifted(step: int, stage: str) -> Node:
        return context.computed(stage, replace(rotations[stage], first=rotations[stage].first + step))

    later = alone_and_together([*rotations], partial(shifted, 1), shift="later", step="+ 1")
    earlier = alone_and_together([*rotations], partial(shifted, -1), shift="earlier", step="- 1")
    return chain.from_iterable(zip(later, earlier, strict=True))


@CAUSES.add("{rows} were rotated twice", "{letter} = rotate(rotate({letter}, positions), positions)", _ROTATION)
def rotation_twice(context: MistakeContext) -> Iterator[Change]:
    rotations = _rotations(context)
    return alone_and_together([*rotations], lambda each: context.nodes[each].followed_by(rotations[each]))


def _with_positions_later(context: MistakeContext, sign: int) -> Iterator[Change]:
    """Positions later, or earlier, by the padding on the left: the leading keys that no query sees."""
    if "mask" in context.trace:
        seen = seen_in(context.trace["mask"].value)
        n_padded = int(seen.any(axis=tuple(range(seen.ndim - 1))).argmax())
        yield from _with_rotation(context, lambda each: replace(each, first=each.first + sign * n_padded))


@CAUSES.add(
    "positions were counted from the left, with the padding",
    "positions = torch.arange(t)",
    "positions = (mask.long().cumsum(dim=-1) - 1).clamp(min=0)",
)
def positions_with_the_padding(context: MistakeContext) -> Iterator[Change]:
    return _with_positions_later(context, 1)


@CAUSES.add(
    "positions were counted from the first token that is no padding",
    "positions = (mask.long().cumsum(dim=-1) - 1).clamp(min=0)",
    "positions = torch.arange(t)",
    "Hugging Face's models do so on purpose where a batch is padded on the left.",
)
def positions_without_the_padding(context: MistakeContext) -> Iterator[Change]:
    return _with_positions_later(context, -1)


@CAUSES.add(
    "the kept keys, which are rotated already, were rotated again",
    "k = rotate(torch.cat([kept, k], dim=-2), positions)",
    "k = torch.cat([kept, rotate(k, positions[-1:])], dim=-2)",
)
def cached_keys_rotated_again(context: MistakeContext) -> Iterator[Change]:
    """All keys but the last are cached, and were rotated before."""
    rotations = _rotations(context)
    if "k_rotated" not in rotations:
        return
    once = context.nodes["k_rotated"]
    twice = once.followed_by(rotations["k_rotated"])

    def make(values: Sequence[Rounded], precision: Precision) -> Rounded:
        new, cached = once.evaluate(values, precision), twice.evaluate(values, precision)
        pairs = ((cached.value, new.value), (cached.error, new.error))
        return Rounded(*(np.concatenate([a[..., :-1, :], b[..., -1:, :]], axis=-2) for a, b in pairs))

    yield change({"k_rotated": Node(once.inputs, make)})


@CAUSES.add(
    "the rotation was not scaled as the table is: it had the base of {readable} alone",
    "inv_freq, factor = 1 / {base} ** (torch.arange(0, d_k, 2) / d_k), 1",
    "inv_freq, factor = ROPE_INIT_FUNCTIONS[rope_type](config, device)",
)
def rotation_not_scaled(context: MistakeContext) -> Iterator[Change]:
    """Without the scaling of YaRN or Llama 3.1, or of all positions alike."""
    tables = _by_tables(context)
    base = next((each.base_of_fastest for each in tables.values()), None)
    if base is not None:
        unscaled = {stage: each.with_base(base) for stage, each in tables.items()}
        nodes = {stage: context.computed(stage, each) for stage, each in unscaled.items()}
        yield change(nodes, readable=f"{base:,.0f}", base=f"{base:g}")


@CAUSES.add(
    "cosines and sines were not multiplied by the table's factor, {factor}",
    "cos, sin = angles.cos(), angles.sin()",
    "cos, sin = angles.cos() * {factor}, angles.sin() * {factor}",
)
def rotation_without_its_factor(context: MistakeContext) -> Iterator[Change]:
    tables = {stage: each for stage, each in _by_tables(context).items() if abs(each.largest - 1) > _FACTOR}
    if tables:
        factor = f"{next(iter(tables.values())).largest:.4g}"
        yield change({each: context.computed(each, tables[each].without_factor) for each in tables}, factor=factor)


@CAUSES.add(
    "the rotation had a base of {readable}, not that of the pass",
    "angles = positions / {base} ** (torch.arange(0, d_k, 2) / d_k)",
    "angles = positions / base ** (torch.arange(0, d_k, 2) / d_k)",
)
def rotation_with_wrong_base(context: MistakeContext) -> Iterator[Change]:

    def with_base(base: float, rotation: Rotation) -> Rotation:
        return rotation.with_base(base) if isinstance(rotation, TableRotation) else replace(rotation, base=base)

    unscaled = {each.base_of_fastest for each in _by_tables(context).values()}  # covered by `rotation_not_scaled`
    for base in (each for each in BASES if each not in unscaled):
        yield from _with_rotation(context, partial(with_base, base), readable=f"{base:,.0f}", base=f"{base:g}")


@CAUSES.add(
    "all dimensions were rotated, not the first ones alone",
    "q = rotate(q, positions)",
    "q = torch.cat([rotate(q[..., :n_rotated], positions), q[..., n_rotated:]], dim=-1)",
)
def rotation_of_all_dimensions(context: MistakeContext) -> Iterator[Change]:
    for stage in [*_rotations(context)][:1]:
        d_k = context.trace[stage].shape[-1]
        if d_k % 2 == 0 and not _by_tables(context):
            yield from _with_rotation(context, partial(replace, dims=d_k))


@CAUSES.add(
    "queries and keys were rotated the other way round, by negative angles",
    "rotate(x): a * cos + b * sin, b * cos - a * sin",
    "rotate(x): a * cos - b * sin, b * cos + a * sin",
)
def rotation_by_negative_angles(context: MistakeContext) -> Iterator[Change]:
    def make(rotation: Rotation, values: Sequence[Rounded], precision: Precision) -> Rounded:
        forward = applied(rotation, values[:1], precision)
        (backward,) = rotation.vjp(values[0].value, values[0].value)
        assert backward is not None
        return Rounded(backward, forward.error)

    def backwards(stage: str, rotation: Rotation) -> Node:
        if isinstance(rotation, TableRotation):
            return context.computed(stage, rotation.backwards)
        return Node(context.nodes[stage].inputs, partial(make, rotation))

    if rotations := _rotations(context):
        yield change({stage: backwards(stage, each) for stage, each in rotations.items()})


@CAUSES.add(
    "queries and keys were rotated before they were cut into heads",
    "q = rotate(q).view(n, t, n_heads, d_k).transpose(1, 2)",
    "q = rotate(q.view(n, t, n_heads, d_k).transpose(1, 2))",
)
def rotation_before_the_heads(context: MistakeContext) -> Iterator[Change]:
    """The last head has the slowest angles."""
    rotations = _rotations(context)

    def rotated(stage: str) -> Node:
        copies, (n, _, d_k) = n_copies(context, stage), context.trace[stage].shape
        n_heads = n // copies
        node = Node.of(replace(rotations[stage], dims=None).for_length(n_heads * d_k), context.nodes[stage].inputs[:1])
        whole = node.with_input(node.inputs[0], lambda array: joined(array[::copies])[None])
        return whole.then(lambda array: np.repeat(split(array[0], n_heads), copies, axis=0))

    if rotations and not _by_tables(context) and context.sizes["h"] > 1:
        yield change({each: rotated(each) for each in rotations})


@CAUSES.add(
    "the dimensions of Q and K were permuted, as weights for pairs of {pairs} are for pairs of {others}",
    "w_q = w_q.view(n_heads, {view}, d_model).transpose(1, 2).reshape(-1, d_model)",
    "w_q = w_q",
)
def q_and_k_permuted(context: MistakeContext) -> Iterator[Change]:
    """The dimensions in the order that converts weights for one pairing to the other."""
    rotations = _rotations(context)
    letters = [each[0] for each in rotations]
    if not rotations or not all(map(context.computes, letters)):
        return
    stage, rotation = next(iter(rotations.items()))
    if isinstance(rotation, TableRotation) and rotation.offset:
        return
    first, rest = np.split(np.arange(context.trace[stage].shape[-1]), [rotation.n_rotated])
    for pairs, others, view, shape in (
        ("halves", "neighbours", "2, d_k // 2", (2, -1)),
        ("neighbours", "halves", "d_k // 2, 2", (-1, 2)),
    ):
        permuted = np.concatenate([first.reshape(shape).T.ravel(), rest])
        nodes = {each: context.nodes[each].then(partial(np.take, indices=permuted, axis=-1)) for each in letters}
        yield change(nodes, pairs=pairs, others=others, view=view)


@CAUSES.add(
    "queries and keys were rotated by the number of their head, not by their position",
    "q, k = rotate(q, positions), rotate(k, positions)  # (n, t, n_heads, d_k)",
    "q, k = rotate(q.transpose(1, 2), positions), rotate(k.transpose(1, 2), positions)",
)
def rotation_along_the_heads(context: MistakeContext) -> Iterator[Change]:
    rotations = _rotations(context)

    def rotated(stage: str) -> Node:
        copies, rotation = n_copies(context, stage), rotations[stage]
        if isinstance(rotation, TableRotation):
            rotation = replace(rotation, until=len(context.trace[stage].value) // copies)
        node = Node.of(rotation, context.nodes[stage].inputs)
        along = node.with_input(node.inputs[0], lambda array: array[::copies].swapaxes(0, 1))
        return along.then(lambda array: np.repeat(array.swapaxes(0, 1), copies, axis=0))

    has_kept = any(len(context.nodes[each].inputs) > 1 for each in rotations)
    if rotations and context.sizes["h"] > 1 and not has_kept:
        yield change({each: rotated(each) for each in rotations})


@CAUSES.add(
    "the table repeats its angles for pairs of {others}, and pairs of {pairs} were rotated",
    "angles = torch.cat([angles, angles], dim=-1)",
    "angles = angles.repeat_interleave(2, dim=-1)",
)
def rotation_table_for_other_pairs(context: MistakeContext) -> Iterator[Change]:
    tables = _by_tables(context)
    for pairs in [each.pairs for each in tables.values()][:1]:
        mixed = {stage: context.computed(stage, replace(each, is_mixed=True)) for stage, each in tables.items()}
        yield change(mixed, pairs=pairs, others=OTHER_PAIRS[pairs])


@CAUSES.add(
    "the values were rotated by their positions, too",
    "q, k, v = rotate(q, positions), rotate(k, positions), rotate(v, positions)",
    _ROTATION,
)
def values_rotated(context: MistakeContext) -> Iterator[Change]:
    nodes = context.nodes
    reads_v = context.computes("heads") and nodes["heads"].inputs[1:] == ("v",)
    has_kept = context.sizes["s"] != len(context.trace["k"].value[0]) if "k" in context.trace else True
    if "k_rotated" in nodes and reads_v and not has_kept and context.trace["v"].shape == context.trace["k"].shape:
        rotate, v = nodes["k_rotated"].make, nodes["v"]
        yield change(
            {"v": Node(v.inputs, lambda values, precision: rotate([v.evaluate(values, precision)], precision))}
        )


# --- Norms of queries and keys


@CAUSES.add("{rows} were not normed", "scores = q @ k.transpose(-2, -1)", "q, k = q_norm(q), k_norm(k)")
def norm_of_queries_and_keys_left_out(context: MistakeContext) -> Iterator[Change]:
    return alone_and_together(context.made_by(RMSNorm, "q_normed", "k_normed"), context.left_out)


@CAUSES.add(
    "queries and keys were normed after they were rotated, not before",
    "q = q_norm(rotate(q, positions))",
    "q = rotate(q_norm(q), positions)",
)
def norm_after_the_rotation(context: MistakeContext) -> Iterator[Change]:
    rotations, normed = _rotations(context), context.made_by(RMSNorm, "q_normed", "k_normed")
    nodes = {f"{each[0]}_rotated": context.nodes[each] for each in normed}
    if nodes and nodes.keys() <= rotations.keys():
        yield change({stage: node.after(rotations[stage]) for stage, node in nodes.items()})
