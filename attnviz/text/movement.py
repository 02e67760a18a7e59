"""Movement: what a change moved in each stage, and what would move a number, in one line each."""

import numpy as np

from attnviz.analysis.differences import difference
from attnviz.core.numerals import digits
from attnviz.core.trace import Trace
from attnviz.text.vocabulary import VOCABULARY


def caption(before: Trace, after: Trace, name: str) -> str:
    """What moved in a stage, in one line: the row that moved furthest, by how much, and how many rows did not.

    Examples
    --------
    >>> from attnviz import Settings, trace_of
    >>> before = trace_of(Settings("the cat sat", mask="causal"))
    >>> caption(before, before.with_change("attention", (0, 2, 1), 1.0), "output")
    'The output of “sat” moved by 0.43; 2 of 3 rows did not move.'
    """
    stage, title = after[name], f"The {VOCABULARY[name].title.lower()}"
    moved = np.abs(difference(before, after, name))
    furthest = np.unravel_index(moved.argmax(), moved.shape)
    rows = moved.max(axis=-1)
    n_still = np.count_nonzero(rows == 0)
    if n_still == rows.size:
        return f"{title} did not move."
    if np.isinf(moved[furthest]) or stage.value.dtype == bool:
        hidden = not stage.value[furthest] if stage.value.dtype == bool else np.isneginf(stage.value[furthest])
        what = f"{after.name_of(stage.cell(furthest))} is {'hidden' if hidden else 'visible'} now"
    else:
        what = f"{title}{_of_row(after, name, furthest[:-1])} moved by {_short(moved[furthest])}"
    if rows.size == 1:
        return f"{what}."
    return f"{what}; {f'{n_still} of {rows.size} rows did not move' if n_still else 'every row moved'}."


def _of_row(trace: Trace, name: str, row: tuple[int, ...]) -> str:
    """A row as a person would say it: " of “sat” in head 2"."""
    words, places = "", []
    for axis, place in zip(trace[name].axes, row, strict=False):
        label = trace.label(axis, place)
        if axis in trace.labels:
            words = f" of “{label}”"
        else:
            places.append(label if axis == "head" else f"row {label}")
    return words + (f" in {', '.join(places)}" if places else "")


def _short(value: float) -> str:
    return f"{value:.2f}" if 0.01 <= value < 1e6 else digits(value)
