"""What a cell depends on: its gradients with respect to all earlier stages, and trails back towards the words.

A trail is a chain of cells, each computed from the next, in an address as `output[1,2]<concat[1,5]<heads[1,1,1]`.
"""

import operator
import re
from collections.abc import Sequence

import numpy as np

from attnviz.core.errors import ArrayError
from attnviz.core.stage import backward
from attnviz.core.terms import CELL, Cell
from attnviz.core.trace import Trace

_PATTERN = re.compile(CELL)
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
    match = _PATTERN.fullmatch(text)
    if not match or match["stage"] not in trace:
        return None
    stage = trace[match["stage"]]
    index = tuple(map(int, match["index"].split(",")))
    fits = len(index) == len(stage.shape) and all(i < n for i, n in zip(index, stage.shape, strict=True))
    return stage.cell(index) if fits else None


def gradients(trace: Trace, name: str, index: Sequence[int]) -> dict[str, np.ndarray]:
    """The derivatives of one cell with respect to every cell that it was computed from.

    A cell that was set by hand is a constant: it has a derivative, but what would have computed it gets none through
    it.

    >>> from attnviz import Settings, trace_of
    >>> trace = trace_of(Settings("the cat sat", mask="causal"))
    >>> of_embeddings = gradients(trace, "output", (1, 0))["embeddings"]
    >>> [bool(row.any()) for row in of_embeddings]  # "cat" sees "the" and "cat", not "sat"
    [True, True, False]
    """
    index = tuple(map(operator.index, index))
    trace.terms(name, index)  # checks the index
    one = np.zeros(trace[name].shape)
    one[index] = 1.0
    arrays = {stage.name: stage.value for stage in trace.stages}
    with np.errstate(over="ignore", invalid="ignore"):  # looked at once, below
        slopes_of = backward(trace.stages, arrays, {name: one})
    if not all(np.isfinite(slopes).all() for slopes in slopes_of.values()):
        raise ArrayError(
            f"The slopes of {trace.name_of(trace[name].cell(index))} go beyond float64 (1.8e308); give smaller numbers."
        )
    return {stage.name: slopes_of[stage.name] for stage in trace.stages if stage.name in slopes_of}
