"""Share: what part of a row one cell gets, or several together, guessed on a slider."""

from __future__ import annotations

import numpy as np
from msgspec import UNSET

from attnviz.contract.lesson import Fill
from attnviz.core.stage import split_layer
from attnviz.lessons.expression import value
from attnviz.lessons.misreadings import misreadings
from attnviz.lessons.naming import noun
from attnviz.lessons.questions.ask import Ask, cell_of, covers_of
from attnviz.lessons.questions.number import Wrong, computed, leeway, nears
from attnviz.lessons.reference import PATTERN, LessonError, Passes, Reference, find
from attnviz.lessons.slots import filled, format_number

_SCORES = {"attention": "scaled", "probabilities": "logits"}
"""The stages of shares, and of the scores that one would have to change for another share."""


class Share(Ask, tag="share", frozen=True):
    """A share to guess.

    Attributes
    ----------
    of
        Its cell, or an expression.
    tolerance
        How far off a guess may be; the prompt says it.
    wrong
        Other expressions that somebody may guess.
    """

    of: str
    tolerance: float = 0.05
    wrong: tuple[Wrong, ...] = ()

    def question(self, passes: Passes) -> Fill:
        right, cell = float(value(self.of, passes)), self._cell(passes)
        if not 0 <= right <= 1:
            raise LessonError(f"A share lies between 0 and 1; {self.of} is {right}.")
        return Fill(
            prompt=[*filled(self.prompt, passes), *leeway(100 * self.tolerance, "points")],
            right=right,
            text=format_number(right, "%"),
            tolerance=self.tolerance,
            is_share=True,
            lead=lead(cell) if cell else UNSET,
            score=noun(_SCORES[split_layer(cell.stage.name)[0]]) if cell else "",
            nears=nears(
                right, self.tolerance / 2, [*computed(self.wrong, passes), *(misreadings(cell) if cell else ())]
            ),
        )

    def covers(self, passes: Passes) -> set[str]:
        return covers_of(self.of, passes)

    def asked_cell(self, passes: Passes) -> str | None:
        return cell_of(self.of, passes)

    def _cell(self, passes: Passes) -> Reference | None:
        if not PATTERN.fullmatch(self.of):
            return None
        of = find(self.of, passes)
        if split_layer(of.stage.name)[0] not in _SCORES:
            raise LessonError(f"A share is one of attention or of probabilities; got {self.of}.")
        return of


def lead(of: Reference) -> tuple[float, float]:
    """A share's own score, and the logarithm of the sum of the others' exponentials."""
    scores = of.trace[of.stage.inputs[0]].value[of.index[:-1]]
    others = np.delete(scores, of.index[-1])
    visible = others[np.isfinite(others)]
    if not len(visible) or np.isneginf(scores[of.index[-1]]):
        raise LessonError(f"A share is asked of a row in which several are visible; {of.cell} is alone or hidden.")
    largest = visible.max()
    return float(scores[of.index[-1]]), float(largest + np.log(np.exp(visible - largest).sum()))
