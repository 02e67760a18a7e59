"""The table of causes: every mistake that is searched, with its wording, and the passes that contain mistakes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations

from attnviz.checks.causes import block, heads, masks, matrices, rope_mistakes, scale, softmax
from attnviz.checks.causes.cause import Cause, Mistake, Setting
from attnviz.checks.explain.nodes import Node, Nodes, needed

_PARTS = (scale, masks, rope_mistakes, softmax, matrices, heads, block)
CAUSES: dict[str, Cause] = {id: cause for part in _PARTS for id, cause in part.CAUSES.items()}  # by the ids of mistakes


def mistakes_in(setting: Setting) -> Iterator[Mistake]:
    """All mistakes that may have been made in a pass."""
    yield from masks.mask_mistakes(setting)
    yield from rope_mistakes.rope_mistakes(setting)
    yield from softmax.softmax_mistakes(setting)
    yield from scale.scale_mistakes(setting)
    yield from matrices.matrix_mistakes(setting)
    yield from heads.head_mistakes(setting)
    yield from block.block_mistakes(setting)
    yield from block.layer_mistakes(setting)


def cause(mistake: Mistake) -> str:
    """A mistake as a clause."""
    return CAUSES[mistake.id].clause(mistake.about)


def code(mistake: Mistake, true_hides: bool = False) -> tuple[str, str]:
    """A wrong and a right line of code, for masks whose True is visible, or hides."""
    wrong, right = CAUSES[mistake.id].code(mistake.about)
    return (_inverted_mask(wrong), _inverted_mask(right)) if true_hides else (wrong, right)


def _inverted_mask(line: str) -> str:
    """The line for a mask whose True hides."""
    if line.startswith("mask = "):
        return line.replace("mask = ", "mask = ~", 1)
    return re.sub(r"(~?)\b(masks?)\b", lambda found: found[2] if found[1] else f"~{found[2]}", line)


MistakenPass = tuple[tuple[Mistake, ...], Nodes]

_PROJECTED = {"q", "k", "v", "q_normed", "k_normed", "q_rotated", "k_rotated"}
_BEFORE_USE = "attention averaged over heads"  # leaves the returned attention unchanged
_SCORED = ("scaled", "capped", "masked", "attention")  # adjacent stages, in which mistakes hide each other
_BEFORE = ("transposed", "bias", "rotation", "positions")  # prefixes of mistakes to pair with those in scale and mask
_AFTER = ("concat", "output")


def passes_with_mistakes(setting: Setting, wanted: set[str], known: set[str]) -> tuple[Iterable[MistakenPass], ...]:
    """The passes with a mistake that may explain the `wanted` stages, in three parts.

    First passes in which a mistake affects everything after it. Then those in which the `known` stages stay right but
    are misread later, as hooks record what a module returns, not what happens to it. Then those with two mistakes in
    adjacent stages, which hide each other.
    """
    nodes, found, still_open = setting.nodes, list(mistakes_in(setting)), needed(setting.nodes, wanted, known)
    likely = [each for each in found if not still_open.isdisjoint(each.nodes)]
    return (
        [((each,), {**nodes, **each.nodes}) for each in likely],
        [((each,), _read_otherwise(nodes, each.nodes)) for each in found if _is_of_reading(each, known)],
        (
            ((one, other), {**nodes, **one.nodes, **other.nodes})
            for one, other in _paired(likely)
            if one.stage != other.stage and one.nodes.keys().isdisjoint(other.nodes)
        ),
    )


def _paired(likely: list[Mistake]) -> Iterator[tuple[Mistake, Mistake]]:
    """Pairs of mistakes, the earlier one first: in scores and softmax, before them, and after them."""
    scored = sorted((each for each in likely if each.stage in _SCORED), key=lambda each: _SCORED.index(each.stage))
    before = [each for each in likely if each.stage in _PROJECTED and each.id.startswith(_BEFORE)]
    after = [each for each in likely if each.stage in _AFTER]
    yield from combinations(scored, 2)
    yield from ((one, other) for one in before for other in scored if other.stage != "attention")
    yield from ((one, other) for one in scored if one.stage == "attention" for other in after)


def _is_of_reading(mistake: Mistake, known: set[str]) -> bool:
    """Whether a mistake may concern only how known stages are read."""
    return known.issuperset(mistake.nodes) and (mistake.id == _BEFORE_USE or _PROJECTED.issuperset(mistake.nodes))


def _read_otherwise(nodes: Nodes, changed: Nodes) -> Nodes:
    """Nodes in which later stages read the changed stages, which themselves stay unchanged."""
    as_read = {name: f"{name} as it is read" for name in changed}
    made: dict[str, Node] = {}
    for name, node in nodes.items():
        reads = not as_read.keys().isdisjoint(node.inputs)
        made[name] = Node(tuple(as_read.get(each, each) for each in node.inputs), node.make) if reads else node
        if name in changed:
            made[as_read[name]] = changed[name]
    return made
