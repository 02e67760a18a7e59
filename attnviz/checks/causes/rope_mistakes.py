"""Mistakes with rotations (RoPE), and with norms of queries and keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from attnviz.checks.causes.cause import (
    Cause,
    Mistake,
    Setting,
    each_and_all,
    followed_by,
    letter_slots,
    passed_on,
    plain,
    rows_clause,
)
from attnviz.checks.causes.heads import cut, heads_of_a_group, side_by_side
from attnviz.checks.explain.nodes import Node
from attnviz.checks.read.masks import seen_in
from attnviz.checks.read.rounding import Precision, Rounded, applied
from attnviz.core.operations.norms import RMSNorm
from attnviz.core.operations.rotation import BASES, Rotation

_ROTATION = "q, k = rotate(q, positions), rotate(k, positions)"


def _shift_slots(about: str) -> Mapping[str, str]:
    return {"shift": {"later": "+ 1", "earlier": "- 1"}[about.split()[-1]]}


def _pair_slots(about: str) -> Mapping[str, str]:
    return {"pairs": "2, d_k // 2" if about.startswith("halves") else "d_k // 2, 2"}


CAUSES: dict[str, Cause] = {
    "rotation left out": Cause(
        rows_clause("not rotated by their positions"), "scores = q @ k.transpose(-2, -1)", _ROTATION
    ),
    "rotation of other pairs": Cause(
        plain("the rotation turned other pairs of dimensions: neighbours in the place of halves, or the reverse"),
        "a, b = x[..., 0::2], x[..., 1::2]",
        "a, b = x.chunk(2, dim=-1)",
        "Hugging Face's weights of Llama are for halves, Meta's own for neighbours.",
    ),
    "rotation off by one": Cause(
        rows_clause("rotated as if they were one position {}"),
        "positions = torch.arange(t) {shift}",
        "positions = torch.arange(t)",
        slots=_shift_slots,
    ),
    "positions with the padding": Cause(
        plain("positions were counted from the left, with the padding"),
        "positions = torch.arange(t)",
        "positions = (mask.long().cumsum(dim=-1) - 1).clamp(min=0)",
    ),
    "positions without the padding": Cause(
        plain("positions were counted from the first token that is no padding"),
        "positions = (mask.long().cumsum(dim=-1) - 1).clamp(min=0)",
        "positions = torch.arange(t)",
        "Hugging Face's models do so on purpose where a batch is padded on the left.",
    ),
    "values rotated": Cause(
        plain("the values were rotated by their positions, too"),
        "q, k, v = rotate(q, positions), rotate(k, positions), rotate(v, positions)",
        _ROTATION,
    ),
    "rotation twice": Cause(
        rows_clause("rotated twice"),
        "{letter} = rotate(rotate({letter}, positions), positions)",
        _ROTATION,
        slots=letter_slots,
    ),
    "kept keys rotated again": Cause(
        plain("the kept keys, which are rotated already, were rotated again"),
        "k = rotate(torch.cat([kept, k], dim=-2), positions)",
        "k = torch.cat([kept, rotate(k, positions[-1:])], dim=-2)",
    ),
    "rotation of another base": Cause(
        lambda about: f"the rotation had a base of {float(about.split()[-1]):,.0f}, not that of the pass",
        "angles = positions / {about} ** (torch.arange(0, d_k, 2) / d_k)",
        "angles = positions / base ** (torch.arange(0, d_k, 2) / d_k)",
    ),
    "rotation of all dimensions": Cause(
        plain("all dimensions were rotated, not the first ones alone"),
        "q = rotate(q, positions)",
        "q = torch.cat([rotate(q[..., :n_rotated], positions), q[..., n_rotated:]], dim=-1)",
    ),
    "rotation the other way": Cause(
        plain("queries and keys were rotated the other way round, by negative angles"),
        "rotate(x): a * cos + b * sin, b * cos - a * sin",
        "rotate(x): a * cos - b * sin, b * cos + a * sin",
    ),
    "rotation before the heads": Cause(
        plain("queries and keys were rotated before they were cut into heads"),
        "q = rotate(q).view(n, t, n_heads, d_k).transpose(1, 2)",
        "q = rotate(q.view(n, t, n_heads, d_k).transpose(1, 2))",
    ),
    "q and k permuted": Cause(
        lambda about: "the dimensions of Q and K were permuted, as weights for pairs of {} are for pairs of {}".format(
            *about.split()
        ),
        "w_q = w_q.view(n_heads, {pairs}, d_model).transpose(1, 2).reshape(-1, d_model)",
        "w_q = w_q",
        slots=_pair_slots,
    ),
    "norm of queries and keys left out": Cause(
        rows_clause("not normed"), "scores = q @ k.transpose(-2, -1)", "q, k = q_norm(q), k_norm(k)"
    ),
    "norm after the rotation": Cause(
        plain("queries and keys were normed after they were rotated, not before"),
        "q = q_norm(rotate(q, positions))",
        "q = rotate(q_norm(q), positions)",
    ),
}


_ROTATED = ("q_rotated", "k_rotated")
_NORMED = ("q_normed", "k_normed")


def rope_mistakes(setting: Setting) -> Iterator[Mistake]:
    """Mistakes with rotations, and with norms of queries and keys."""
    yield from _rotations(setting)
    yield from _rotated_values(setting)
    yield from _norms(setting)


def _rotations(setting: Setting) -> Iterator[Mistake]:
    made = tuple(each for each in _ROTATED if isinstance(setting.operation(each), Rotation))
    if not made:
        return
    nodes, rotation = setting.nodes, setting.operation(made[0])

    def of(id: str, stages: tuple[str, ...], change: Callable[[str], Node], about: str = "") -> Mistake:
        named = " ".join(each[0] for each in stages)
        return Mistake(id, stages[0], f"{named} {about}".strip(), {each: change(each) for each in stages})

    def by(other: Rotation) -> Callable[[str], Node]:
        return lambda each: Node.of(other, nodes[each].inputs)

    yield of("rotation of other pairs", made, by(replace(rotation, pairs=_other(rotation.pairs))))
    for stages in each_and_all(made, made):
        yield of("rotation left out", stages, lambda each: Node(nodes[each].inputs, passed_on))
        for step in (1, -1):
            further = replace(rotation, first=rotation.first + step)
            yield of("rotation off by one", stages, by(further), "later" if step > 0 else "earlier")
        yield of("rotation twice", stages, lambda each: followed_by(nodes[each], setting.operation(each)))
    if n_padded := _padded(setting):
        for kind, by_so_many in (("with", n_padded), ("without", -n_padded)):
            further = replace(rotation, first=rotation.first + by_so_many)
            yield of(f"positions {kind} the padding", made, by(further))
    if "k_rotated" in made:
        yield of("kept keys rotated again", ("k_rotated",), lambda each: _again_but_last(nodes[each], rotation))
    for base in BASES:
        if base != rotation.base:
            yield of("rotation of another base", made, by(replace(rotation, base=base)), f"{base:g}")
    length = setting.trace[made[0]].shape[-1]
    if rotation.dims != length and length % 2 == 0:
        yield of("rotation of all dimensions", made, by(replace(rotation, dims=length)))
    yield of("rotation the other way", made, lambda each: Node(nodes[each].inputs, _backwards(rotation)))
    if setting.sizes["h"] > 1:
        yield of("rotation before the heads", made, lambda each: Node(nodes[each].inputs, _before_heads(setting, each)))
    rows_clause = {each: each[0] for each in made if setting.makes(each[0])}
    if len(rows_clause) == len(made) and rotation.dims % 2 == 0:
        for about, places in _permutations(rotation.dims, length).items():
            changed = {rows_clause[each]: nodes[rows_clause[each]].then(lambda x, p=places: x[..., p]) for each in made}
            yield Mistake("q and k permuted", next(iter(changed)), about, changed)


def _rotated_values(setting: Setting) -> Iterator[Mistake]:
    rotated = setting.nodes.get("k_rotated")
    if rotated is None or not setting.makes("heads") or setting.nodes["heads"].inputs[1:] != ("v",):
        return
    v = setting.nodes["v"]
    if setting.trace["v"].shape == setting.trace["k"].shape:
        node = Node(v.inputs, lambda given, precision: rotated.make([v.made(given, precision)], precision))
        yield Mistake("values rotated", "v", "", {"v": node})


def _padded(setting: Setting) -> int:
    """The number of leading keys that no query sees."""
    if "mask" not in setting.trace:
        return 0
    seen = seen_in(setting.trace["mask"].value)
    return int(seen.any(axis=tuple(range(seen.ndim - 1))).argmax())


def _other(pairs: str) -> str:
    return "halves" if pairs == "neighbours" else "neighbours"


def _backwards(rotation: Rotation) -> Callable[[list[Rounded], Precision], Rounded]:
    def rotated(given: list[Rounded], precision: Precision) -> Rounded:
        forward = applied(rotation, given[:1], precision)
        (value,) = rotation.vjp(given[0].value, given[0].value)
        return Rounded(value, forward.error)

    return rotated


def _before_heads(setting: Setting, stage: str) -> Callable[[list[Rounded], Precision], Rounded]:
    """Rotate rows before they are split, so that the last head has the slowest angles."""
    rotation, shared = setting.operation(stage), heads_of_a_group(setting, stage)

    def rotated(given: list[Rounded], precision: Precision) -> Rounded:
        n_groups = len(given[0].value) // shared
        rows = given[0].map(lambda array: side_by_side(array[::shared])[None])
        whole = replace(rotation, dims=None).of(rows.value.shape[-1])
        made = applied(whole, [rows], precision).map(lambda array: cut(array[0], n_groups))
        return made.map(lambda array: np.repeat(array, shared, axis=0))

    return rotated


def _again_but_last(node: Node, rotation: Rotation) -> Node:
    """Cached keys that were stored rotated, and are rotated again with the new one."""
    twice = followed_by(node, rotation)

    def rotated(given: list[Rounded], precision: Precision) -> Rounded:
        once, again = node.made(given, precision), twice.made(given, precision)
        return Rounded(*(np.concatenate([a[..., :-1, :], b[..., -1:, :]], axis=-2) for a, b in _pairs(again, once)))

    return Node(node.inputs, rotated)


def _pairs(one: Rounded, other: Rounded) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    return (one.value, other.value), (one.error, other.error)


def _permutations(dims: int, length: int) -> dict[str, np.ndarray]:
    """The orders of dimensions that convert weights for one pairing to the other."""
    places, rest = np.arange(dims), np.arange(dims, length)
    halves = places.reshape(2, -1).T.ravel()
    return {
        "halves neighbours": np.concatenate([halves, rest]),
        "neighbours halves": np.concatenate([places.reshape(-1, 2).T.ravel(), rest]),
    }


def _norms(setting: Setting) -> Iterator[Mistake]:
    made = tuple(each for each in _NORMED if isinstance(setting.operation(each), RMSNorm))
    if not made:
        return
    nodes = setting.nodes
    for stages in each_and_all(made, made):
        about = " ".join(each[0] for each in stages)
        left_out = {each: Node(nodes[each].inputs, passed_on) for each in stages}
        yield Mistake("norm of queries and keys left out", stages[0], about, left_out)
    rotated = {normed: f"{normed[0]}_rotated" for normed in made}
    if all(isinstance(setting.operation(each), Rotation) for each in rotated.values()):
        changed = {rotated[each]: _normed_after(setting, each, rotated[each]) for each in made}
        yield Mistake("norm after the rotation", next(iter(changed)), "", changed)


def _normed_after(setting: Setting, normed: str, rotated: str) -> Node:
    norm, rotation = setting.nodes[normed], setting.operation(rotated)
    return Node(
        norm.inputs,
        lambda given, precision: norm.make([applied(rotation, given[:1], precision), *given[1:]], precision),
    )
