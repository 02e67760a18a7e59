"""Mistakes with rotations (RoPE), and with norms of queries and keys."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

import numpy as np

from attnviz.checks.causes.cause import Causes, Change, Setting, alone_and_together, change, joined, n_copies, split
from attnviz.checks.explain.passes import Node
from attnviz.checks.read.masks import seen_in
from attnviz.checks.read.rounding import Precision, Rounded, applied
from attnviz.core.operations.norms import RMSNorm
from attnviz.core.operations.rotation import BASES, Rotation

CAUSES = Causes()
_ROTATION = "q, k = rotate(q, positions), rotate(k, positions)"


def _rotated(setting: Setting) -> tuple[str, ...]:
    return setting.having(Rotation, "q_rotated", "k_rotated")


def _rotation(setting: Setting, stage: str) -> Rotation:
    rotation = setting.operation(stage)
    assert isinstance(rotation, Rotation)
    return rotation


def _with_rotation(setting: Setting, other: Callable[[Rotation], Rotation], **slots: str) -> Iterator[Change]:
    if stages := _rotated(setting):
        rotation = other(_rotation(setting, stages[0]))
        yield change({each: setting.computed(each, rotation) for each in stages}, **slots)


@CAUSES.add(
    "the rotation turned other pairs of dimensions: neighbours in the place of halves, or the reverse",
    "a, b = x[..., 0::2], x[..., 1::2]",
    "a, b = x.chunk(2, dim=-1)",
    "Hugging Face's weights of Llama are for halves, Meta's own for neighbours.",
)
def rotation_of_other_pairs(setting: Setting) -> Iterator[Change]:
    return _with_rotation(
        setting, lambda each: replace(each, pairs="halves" if each.pairs == "neighbours" else "neighbours")
    )


@CAUSES.add("{rows} were not rotated by their positions", "scores = q @ k.transpose(-2, -1)", _ROTATION)
def rotation_left_out(setting: Setting) -> Iterator[Change]:
    return alone_and_together(_rotated(setting), setting.left_out)


@CAUSES.add(
    "{rows} were rotated as if they were one position {shift}",
    "positions = torch.arange(t) {step}",
    "positions = torch.arange(t)",
)
def rotation_off_by_one(setting: Setting) -> Iterator[Change]:
    def shifted(step: int, stage: str) -> Node:
        rotation = _rotation(setting, stage)
        return setting.computed(stage, replace(rotation, first=rotation.first + step))

    later = alone_and_together(_rotated(setting), partial(shifted, 1), shift="later", step="+ 1")
    earlier = alone_and_together(_rotated(setting), partial(shifted, -1), shift="earlier", step="- 1")
    return chain.from_iterable(zip(later, earlier, strict=True))


@CAUSES.add("{rows} were rotated twice", "{letter} = rotate(rotate({letter}, positions), positions)", _ROTATION)
def rotation_twice(setting: Setting) -> Iterator[Change]:
    return alone_and_together(_rotated(setting), lambda each: setting.nodes[each].followed_by(_rotation(setting, each)))


def _n_padded(setting: Setting) -> int:
    """The number of leading keys that no query sees."""
    if "mask" not in setting.trace:
        return 0
    seen = seen_in(setting.trace["mask"].value)
    return int(seen.any(axis=tuple(range(seen.ndim - 1))).argmax())


@CAUSES.add(
    "positions were counted from the left, with the padding",
    "positions = torch.arange(t)",
    "positions = (mask.long().cumsum(dim=-1) - 1).clamp(min=0)",
)
def positions_with_the_padding(setting: Setting) -> Iterator[Change]:
    if n := _n_padded(setting):
        yield from _with_rotation(setting, lambda each: replace(each, first=each.first + n))


@CAUSES.add(
    "positions were counted from the first token that is no padding",
    "positions = (mask.long().cumsum(dim=-1) - 1).clamp(min=0)",
    "positions = torch.arange(t)",
    "Hugging Face's models do so on purpose where a batch is padded on the left.",
)
def positions_without_the_padding(setting: Setting) -> Iterator[Change]:
    if n := _n_padded(setting):
        yield from _with_rotation(setting, lambda each: replace(each, first=each.first - n))


@CAUSES.add(
    "the kept keys, which are rotated already, were rotated again",
    "k = rotate(torch.cat([kept, k], dim=-2), positions)",
    "k = torch.cat([kept, rotate(k, positions[-1:])], dim=-2)",
)
def kept_keys_rotated_again(setting: Setting) -> Iterator[Change]:
    """Cached keys that were stored rotated, and are rotated again with the new one."""
    made = _rotated(setting)
    if "k_rotated" not in made:
        return
    once = setting.nodes["k_rotated"]
    twice = once.followed_by(_rotation(setting, made[0]))

    def make(values: Sequence[Rounded], precision: Precision) -> Rounded:
        new, cached = once.made(values, precision), twice.made(values, precision)
        pairs = ((cached.value, new.value), (cached.error, new.error))
        value, error = (np.concatenate([a[..., :-1, :], b[..., -1:, :]], axis=-2) for a, b in pairs)
        return Rounded(value, error)

    yield change({"k_rotated": Node(once.inputs, make)})


@CAUSES.add(
    "the rotation had a base of {readable}, not that of the pass",
    "angles = positions / {base} ** (torch.arange(0, d_k, 2) / d_k)",
    "angles = positions / base ** (torch.arange(0, d_k, 2) / d_k)",
)
def rotation_of_another_base(setting: Setting) -> Iterator[Change]:
    own = [_rotation(setting, each).base for each in _rotated(setting)[:1]]
    for base in BASES:
        if base not in own:
            other = partial(replace, base=base)
            yield from _with_rotation(setting, other, readable=f"{base:,.0f}", base=f"{base:g}")


@CAUSES.add(
    "all dimensions were rotated, not the first ones alone",
    "q = rotate(q, positions)",
    "q = torch.cat([rotate(q[..., :n_rotated], positions), q[..., n_rotated:]], dim=-1)",
)
def rotation_of_all_dimensions(setting: Setting) -> Iterator[Change]:
    if made := _rotated(setting):
        length = setting.trace[made[0]].shape[-1]
        if _rotation(setting, made[0]).dims != length and length % 2 == 0:
            yield from _with_rotation(setting, lambda each: replace(each, dims=length))


@CAUSES.add(
    "queries and keys were rotated the other way round, by negative angles",
    "rotate(x): a * cos + b * sin, b * cos - a * sin",
    "rotate(x): a * cos - b * sin, b * cos + a * sin",
)
def rotation_the_other_way(setting: Setting) -> Iterator[Change]:
    if made := _rotated(setting):
        rotation = _rotation(setting, made[0])

        def make(values: Sequence[Rounded], precision: Precision) -> Rounded:
            forward = applied(rotation, values[:1], precision)
            (backward,) = rotation.vjp(values[0].value, values[0].value)
            assert backward is not None
            return Rounded(backward, forward.error)

        yield change({each: Node(setting.nodes[each].inputs, make) for each in made})


@CAUSES.add(
    "queries and keys were rotated before they were cut into heads",
    "q = rotate(q).view(n, t, n_heads, d_k).transpose(1, 2)",
    "q = rotate(q.view(n, t, n_heads, d_k).transpose(1, 2))",
)
def rotation_before_the_heads(setting: Setting) -> Iterator[Change]:
    """The last head has the slowest angles."""

    def rotated(stage: str) -> Node:
        rotation, copies = replace(_rotation(setting, stage), dims=None), n_copies(setting, stage)

        def make(values: Sequence[Rounded], precision: Precision) -> Rounded:
            n = len(values[0].value) // copies
            whole = values[0].map(lambda array: joined(array[::copies])[None])
            turned = applied(rotation.for_length(whole.value.shape[-1]), [whole], precision)
            return turned.map(lambda array: np.repeat(split(array[0], n), copies, axis=0))

        return Node(setting.nodes[stage].inputs, make)

    if (made := _rotated(setting)) and setting.sizes["h"] > 1:
        yield change({each: rotated(each) for each in made})


@CAUSES.add(
    "the dimensions of Q and K were permuted, as weights for pairs of {pairs} are for pairs of {others}",
    "w_q = w_q.view(n_heads, {view}, d_model).transpose(1, 2).reshape(-1, d_model)",
    "w_q = w_q",
)
def q_and_k_permuted(setting: Setting) -> Iterator[Change]:
    """The dimensions in the order that converts weights for one pairing to the other."""
    made = _rotated(setting)
    letters = [each[0] for each in made]
    n_rotated = _rotation(setting, made[0]).n_rotated if made else 1
    if n_rotated % 2 or not all(map(setting.makes, letters)):
        return
    first, rest = np.split(np.arange(setting.trace[made[0]].shape[-1]), [n_rotated])
    orders = {
        ("halves", "neighbours", "2, d_k // 2"): first.reshape(2, -1),
        ("neighbours", "halves", "d_k // 2, 2"): first.reshape(-1, 2),
    }
    for (pairs, others, view), order in orders.items():
        permuted = np.concatenate([order.T.ravel(), rest])
        nodes = {each: setting.nodes[each].then(partial(np.take, indices=permuted, axis=-1)) for each in letters}
        yield change(nodes, pairs=pairs, others=others, view=view)


@CAUSES.add(
    "the values were rotated by their positions, too",
    "q, k, v = rotate(q, positions), rotate(k, positions), rotate(v, positions)",
    _ROTATION,
)
def values_rotated(setting: Setting) -> Iterator[Change]:
    nodes = setting.nodes
    reads_v = setting.makes("heads") and nodes["heads"].inputs[1:] == ("v",)
    if "k_rotated" in nodes and reads_v and setting.trace["v"].shape == setting.trace["k"].shape:
        rotate, v = nodes["k_rotated"].make, nodes["v"]
        yield change({"v": Node(v.inputs, lambda values, precision: rotate([v.made(values, precision)], precision))})


# --- Norms of queries and keys


def _normed(setting: Setting) -> tuple[str, ...]:
    return setting.having(RMSNorm, "q_normed", "k_normed")


@CAUSES.add("{rows} were not normed", "scores = q @ k.transpose(-2, -1)", "q, k = q_norm(q), k_norm(k)")
def norm_of_queries_and_keys_left_out(setting: Setting) -> Iterator[Change]:
    return alone_and_together(_normed(setting), setting.left_out)


@CAUSES.add(
    "queries and keys were normed after they were rotated, not before",
    "q = q_norm(rotate(q, positions))",
    "q = rotate(q_norm(q), positions)",
)
def norm_after_the_rotation(setting: Setting) -> Iterator[Change]:
    stages = {f"{each[0]}_rotated": each for each in _normed(setting)}
    if stages and len(setting.having(Rotation, *stages)) == len(stages):
        yield change({each: setting.nodes[normed].after(_rotation(setting, each)) for each, normed in stages.items()})
