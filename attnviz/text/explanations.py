"""Explanations: what a page says under a picture of the selected cells, and will say once another is picked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from attnviz.core.selection import Selection
from attnviz.core.terms import Cell
from attnviz.core.trace import Trace
from attnviz.text import captions


@dataclass(frozen=True, eq=False)
class Explanation:
    """Captions, and cells whose making is explained.

    Attributes
    ----------
    trace : Trace
    selection : Selection
    captioned : sequence of str
        The stages that have a caption.
    explained : sequence of str
        The stages whose selected cell is explained.
    explained_for : mapping of str to sequences of str
        The stages to be explained once a cell is picked, by the stage of that cell.
    """

    trace: Trace
    selection: Selection
    captioned: Sequence[str]
    explained: Sequence[str]
    explained_for: Mapping[str, Sequence[str]]

    @property
    def captions(self) -> tuple[str, ...]:
        """The caption of each captioned stage."""
        return tuple(captions.caption(self.trace, name, self.selection) for name in self.captioned)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The selected cell of each stage that is explained."""
        return tuple(self.trace.cell_at(name, self.selection) for name in self.explained)

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
