"""Mistakes: all that may have gone wrong in a pass, by its parts, and the passes in which they were made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from attnviz.checks.causes.block import surroundings
from attnviz.checks.causes.heads import headings
from attnviz.checks.causes.layers import of_other_layers
from attnviz.checks.causes.masking import maskings
from attnviz.checks.causes.matrices import matrices
from attnviz.checks.causes.mistake import Mistake, Setting
from attnviz.checks.causes.scale import scalings
from attnviz.checks.causes.softmax import softmaxes
from attnviz.checks.causes.turns import turns
from attnviz.checks.nodes import Node, Nodes, needed

Mistaken = tuple[tuple[Mistake, ...], Nodes]

_PARTS = (maskings, turns, softmaxes, scalings, matrices, headings, surroundings, of_other_layers)
_PROJECTED = {"q", "k", "v", "q_normed", "k_normed", "q_rotated", "k_rotated"}
_BEFORE_USE = "attention averaged over heads"
"""A mistake in attention that leaves the attention that is returned as it is."""

_SCORED = ("scaled", "capped", "masked", "attention")
"""Stages of which each follows the last, so that mistakes in two of them hide each other."""

_BEFORE = ("transposed", "bias", "rotation", "positions")
"""How mistakes begin that are looked for together with those of the scale and the mask."""

_AFTER = ("concat", "output")


def mistakes_in(setting: Setting) -> Iterator[Mistake]:
    """All that might have gone wrong in a pass."""
    for part in _PARTS:
        yield from part(setting)


def mistaken(setting: Setting, wanted: set[str], known: set[str]) -> tuple[Iterable[Mistaken], ...]:
    """The passes with a mistake that may change some stages, in three parts.

    First those in which it changes all that comes of it. Then those in which queries, keys and values, or the
    attention, are right as they were given, and are read otherwise: a hook hears what is returned, and not what becomes
    of it. Then those with two mistakes in stages that follow each other, which hide each other.

    Parameters
    ----------
    setting : Setting
    wanted : set of stages
        Those that should change.
    known : set of stages
        Those that shouldn't, as theirs are as they are.
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
    """Two mistakes each, the earlier one first: in scores and shares, before these, and after them."""
    scored = sorted((each for each in likely if each.stage in _SCORED), key=lambda each: _SCORED.index(each.stage))
    before = [each for each in likely if each.stage in _PROJECTED and each.id.startswith(_BEFORE)]
    after = [each for each in likely if each.stage in _AFTER]
    yield from combinations(scored, 2)
    yield from ((one, other) for one in before for other in scored if other.stage != "attention")
    yield from ((one, other) for one in scored if one.stage == "attention" for other in after)


def _is_of_reading(mistake: Mistake, known: set[str]) -> bool:
    """Whether it may have been made in what reads stages that are known."""
    return known.issuperset(mistake.nodes) and (mistake.id == _BEFORE_USE or _PROJECTED.issuperset(mistake.nodes))


def _read_otherwise(nodes: Nodes, changed: Nodes) -> Nodes:
    """The nodes of a pass in which others read the changed stages, which stay as they are themselves."""
    as_read = {name: f"{name} as it is read" for name in changed}
    made: dict[str, Node] = {}
    for name, node in nodes.items():
        reads = not as_read.keys().isdisjoint(node.inputs)
        made[name] = Node(tuple(as_read.get(each, each) for each in node.inputs), node.make) if reads else node
        if name in changed:
            made[as_read[name]] = changed[name]
    return made
