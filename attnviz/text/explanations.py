"""Answers: what a page says under a picture of the selected cells, and what it will say when another is picked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from attnviz.core.selection import Selection
from attnviz.core.terms import Cell
from attnviz.core.trace import Trace
from attnviz.text import captions


@dataclass(frozen=True, eq=False)
class Answer:
    """Captions, and cells whose making is told.

    Attributes
    ----------
    trace : Trace
    selection : Selection
    captioned : sequence of str
        The stages that have a caption.
    told : sequence of str
        The stages whose selected cell is told.
    to_picks : mapping of str to sequences of str
        The stages to be told once a cell is picked, by the stage of that cell.
    """

    trace: Trace
    selection: Selection
    captioned: Sequence[str]
    told: Sequence[str]
    to_picks: Mapping[str, Sequence[str]]

    @property
    def captions(self) -> tuple[str, ...]:
        """One for each stage that has one."""
        return tuple(captions.caption(self.trace, name, self.selection) for name in self.captioned)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """One of each stage that is told."""
        return tuple(self.trace.cell_at(name, self.selection) for name in self.told)

    def captions_by_row(self) -> dict[str, list[list[str]]]:
        """For each stage its captions by head and row, which is all that they look at; for one head if it has none."""
        return {
            name: [[captions.caption(self.trace, name, selection) for selection in row] for row in self._rows(name)]
            for name in self.captioned
        }

    def _rows(self, name: str) -> list[list[Selection]]:
        stage = self.trace[name]
        rows = self.trace.axes(name)[-2]
        heads = range(stage.shape[0]) if stage.axes[0] == "head" else (self.selection.head,)
        return [[replace(self.selection, head=head, **rows.moves(row)) for row in range(rows.length)] for head in heads]
