"""Mistakes: all that may have gone wrong in a pass, by its parts, and the passes in which one of them was made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attnviz.analysis.check.causes.block import surroundings
from attnviz.analysis.check.causes.heads import headings
from attnviz.analysis.check.causes.masking import maskings
from attnviz.analysis.check.causes.matrices import matrices
from attnviz.analysis.check.causes.mistake import Mistake, Setting
from attnviz.analysis.check.causes.scale import scalings
from attnviz.analysis.check.causes.softmax import softmaxes
from attnviz.analysis.check.causes.turns import turns
from attnviz.analysis.check.nodes import Node, Nodes, needed

_PARTS = (maskings, turns, softmaxes, scalings, matrices, headings, surroundings)
_PROJECTED = {"q", "k", "v"}


def mistakes_in(setting: Setting) -> Iterator[Mistake]:
    """All that might have gone wrong in a pass."""
    for part in _PARTS:
        yield from part(setting)


def mistaken(setting: Setting, wanted: set[str], known: set[str]) -> Iterator[Iterable[tuple[Mistake, Nodes]]]:
    """The passes with one mistake that may change some stages; first those in which it changes all that comes of it.

    Then those in which queries, keys and values are right as they were given, and are read otherwise: a hook hears what
    a projection returns, and not what becomes of it.

    Parameters
    ----------
    setting : Setting
    wanted : set of stages
        Those that should change.
    known : set of stages
        Those that shouldn't, as theirs are as they are.
    """
    found, still_open = list(mistakes_in(setting)), needed(setting.nodes, wanted, known)
    yield [(each, {**setting.nodes, **each.nodes}) for each in found if not still_open.isdisjoint(each.nodes)]
    yield [(each, _read_otherwise(setting.nodes, each.nodes)) for each in found if {*each.nodes} <= known & _PROJECTED]


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
