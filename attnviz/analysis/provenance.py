"""Trails: chains of cells, each computed from the next, back towards the words.

In an address as `output[1,2]<concat[1,5]<heads[1,1,1]`, counted from 0 as in NumPy.
"""

import re
from collections.abc import Sequence

from attnviz.core.terms import CELL, Cell
from attnviz.core.trace import Trace

_WRITTEN = re.compile(CELL)
MAX_TRAIL_CELLS = 24


def format_trail(cells: Sequence[Cell]) -> str:
    """The trail as written in an address."""
    return "<".join(map(str, cells))


def parse_trail(trace: Trace, text: str) -> tuple[tuple[Cell, ...], str]:
    """Read a trail, up to the first cell that wasn't computed from the next."""
    cells: list[Cell] = []
    for part in text.split("<", MAX_TRAIL_CELLS)[:MAX_TRAIL_CELLS]:
        cell = _cell(trace, part)
        if cell is None:
            return tuple(cells), (
                "A trail is cells of the pass with “<” between them, as in output[1,2]<concat[1,5]; "
                f"got {part[:40]!r}, and ends before it."
            )
        if cells and cell not in trace.terms(cells[-1].stage, cells[-1].index).cells:
            return tuple(cells), (
                f"Each cell of a trail was made from the next; {part} is not among those that "
                f"{cells[-1]} was made from, and the trail ends before it."
            )
        cells.append(cell)
    return tuple(cells), ""


def _cell(trace: Trace, text: str) -> Cell | None:
    written = _WRITTEN.fullmatch(text)
    if not written or written["stage"] not in trace:
        return None
    stage = trace[written["stage"]]
    index = tuple(map(int, written["index"].split(",")))
    fits = len(index) == len(stage.shape) and all(i < n for i, n in zip(index, stage.shape, strict=True))
    return stage.cell(index) if fits else None
