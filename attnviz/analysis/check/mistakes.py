"""Mistakes: all that may have gone wrong in a pass, by its parts, and the passes in which they were made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from attnviz.analysis.check.causes.block import surroundings
from attnviz.analysis.check.causes.heads import headings
from attnviz.analysis.check.causes.masking import maskings
from attnviz.analysis.check.causes.matrices import matrices
from attnviz.analysis.check.causes.mistake import Mistake, Setting
from attnviz.analysis.check.causes.scale import scalings
from attnviz.analysis.check.causes.softmax import softmaxes
from attnviz.analysis.check.causes.turns import turns
from attnviz.analysis.check.nodes import Node, Nodes, needed

Mistaken = tuple[tuple[Mistake, ...], Nodes]

_PARTS = (maskings, turns, softmaxes, scalings, matrices, headings, surroundings)
_PROJECTED = {"q", "k", "v"}
_NEIGHBOURS = ("scaled", "capped", "masked", "attention")
"""Stages of which each follows the last, so that mistakes in two of them hide each other."""


def mistakes_in(setting: Setting) -> Iterator[Mistake]:
    """All that might have gone wrong in a pass."""
    for part in _PARTS:
        yield from part(setting)


def mistaken(setting: Setting, wanted: set[str], known: set[str], in_pairs: bool) -> Iterator[Iterable[Mistaken]]:
    """The passes with a mistake that may change some stages: first those in which it changes all that comes of it.

    Then those in which queries, keys and values are right as they were given, and are read otherwise: a hook hears what
    a projection returns, and not what becomes of it. Then those with two mistakes, in different ones of the stages from
    scaled scores to attention, which hide each other.

    Parameters
    ----------
    setting : Setting
    wanted : set of stages
        Those that should change.
    known : set of stages
        Those that shouldn't, as theirs are as they are.
    in_pairs : bool
        Whether two are tried.
    """
    nodes, found, still_open = setting.nodes, list(mistakes_in(setting)), needed(setting.nodes, wanted, known)
    likely = [each for each in found if not still_open.isdisjoint(each.nodes)]
    yield [((each,), {**nodes, **each.nodes}) for each in likely]
    yield [((each,), _read_otherwise(nodes, each.nodes)) for each in found if {*each.nodes} <= known & _PROJECTED]
    if in_pairs:
        yield [
            ((one, other), {**nodes, **one.nodes, **other.nodes})
            for one, other in combinations(sorted(filter(_is_neighbour, likely), key=_place), 2)
            if one.stage != other.stage and one.nodes.keys().isdisjoint(other.nodes)
        ]


def _is_neighbour(mistake: Mistake) -> bool:
    return mistake.stage in _NEIGHBOURS


def _place(mistake: Mistake) -> int:
    return _NEIGHBOURS.index(mistake.stage)


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
