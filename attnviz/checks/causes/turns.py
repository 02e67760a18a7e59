"""Turns: queries and keys that are rotated by their positions, or normed, otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from attnviz.checks.causes.heads import cut, heads_of_a_group, side_by_side
from attnviz.checks.causes.mistake import Mistake, Setting, each_and_all, followed_by, passed_on
from attnviz.checks.masks import seen_in
from attnviz.checks.nodes import Node
from attnviz.checks.rounding import Precision, Rounded, applied
from attnviz.core.operations.norms import RMSNorm
from attnviz.core.operations.rotation import BASES, Rotation

_ROTATED = ("q_rotated", "k_rotated")
_NORMED = ("q_normed", "k_normed")


def turns(setting: Setting) -> Iterator[Mistake]:
    """Rotations, and norms of queries and keys, got wrong."""
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
    of_rows = {each: each[0] for each in made if setting.makes(each[0])}
    if len(of_rows) == len(made) and rotation.dims % 2 == 0:
        for about, places in _permutations(rotation.dims, length).items():
            changed = {of_rows[each]: nodes[of_rows[each]].then(lambda x, p=places: x[..., p]) for each in made}
            yield Mistake("q and k permuted", next(iter(changed)), about, changed)


def _rotated_values(setting: Setting) -> Iterator[Mistake]:
    """Values that are rotated as the keys are."""
    turned = setting.nodes.get("k_rotated")
    if turned is None or not setting.makes("heads") or setting.nodes["heads"].inputs[1:] != ("v",):
        return
    v = setting.nodes["v"]
    if setting.trace["v"].shape == setting.trace["k"].shape:
        node = Node(v.inputs, lambda given, precision: turned.make([v.made(given, precision)], precision))
        yield Mistake("values rotated", "v", "", {"v": node})


def _padded(setting: Setting) -> int:
    """How many keys no query sees, before the first that one sees."""
    if "mask" not in setting.trace:
        return 0
    seen = seen_in(setting.trace["mask"].value)
    return int(seen.any(axis=tuple(range(seen.ndim - 1))).argmax())


def _other(pairs: str) -> str:
    return "halves" if pairs == "neighbours" else "neighbours"


def _backwards(rotation: Rotation) -> Callable[[list[Rounded], Precision], Rounded]:
    def turned(given: list[Rounded], precision: Precision) -> Rounded:
        forward = applied(rotation, given[:1], precision)
        (value,) = rotation.vjp(given[0].value, given[0].value)
        return Rounded(value, forward.error)

    return turned


def _before_heads(setting: Setting, stage: str) -> Callable[[list[Rounded], Precision], Rounded]:
    """Rows that are turned before they are cut into heads: the slowest angles of all are those of the last head."""
    rotation, shared = setting.operation(stage), heads_of_a_group(setting, stage)

    def turned(given: list[Rounded], precision: Precision) -> Rounded:
        n_groups = len(given[0].value) // shared
        rows = given[0].map(lambda array: side_by_side(array[::shared])[None])
        whole = replace(rotation, dims=None).of(rows.value.shape[-1])
        made = applied(whole, [rows], precision).map(lambda array: cut(array[0], n_groups))
        return made.map(lambda array: np.repeat(array, shared, axis=0))

    return turned


def _again_but_last(node: Node, rotation: Rotation) -> Node:
    """Keys that were kept rotated, and are rotated again with all: only the newest is turned once."""
    twice = followed_by(node, rotation)

    def turned(given: list[Rounded], precision: Precision) -> Rounded:
        once, again = node.made(given, precision), twice.made(given, precision)
        return Rounded(*(np.concatenate([a[..., :-1, :], b[..., -1:, :]], axis=-2) for a, b in _pairs(again, once)))

    return Node(node.inputs, turned)


def _pairs(one: Rounded, other: Rounded) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    return (one.value, other.value), (one.error, other.error)


def _permutations(dims: int, length: int) -> dict[str, np.ndarray]:
    """The orders of dimensions with which weights for one pairing become those for the other."""
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
    turned = {normed: f"{normed[0]}_rotated" for normed in made}
    if all(isinstance(setting.operation(each), Rotation) for each in turned.values()):
        changed = {turned[each]: _normed_after(setting, each, turned[each]) for each in made}
        yield Mistake("norm after the rotation", next(iter(changed)), "", changed)


def _normed_after(setting: Setting, normed: str, turned: str) -> Node:
    norm, rotation = setting.nodes[normed], setting.operation(turned)
    return Node(
        norm.inputs,
        lambda given, precision: norm.make([applied(rotation, given[:1], precision), *given[1:]], precision),
    )
