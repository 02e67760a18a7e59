"""Cell: which cell of a row is the largest; one clicks it in the picture."""

from __future__ import annotations

from attnviz.contract.lesson import Candidate
from attnviz.lessons.naming import place_name
from attnviz.lessons.questions.extreme import Extreme
from attnviz.lessons.reference import Reference


class CellAsked(Extreme, tag="cell", frozen=True):
    """A question that is answered by a click on a cell."""

    def candidate(self, of: Reference, place: int) -> Candidate:
        name = place_name(of, of.index.index(None), place)
        return Candidate(label=name, feedback=self.feedback(of, place), cell=str(of.cells[place]))
