"""Share: what part of a row one cell gets, guessed on a slider."""

from __future__ import annotations

import numpy as np

from attnviz.core.layers import split_layer
from attnviz.lessons.misreadings import misreadings
from attnviz.lessons.questions.ask import Ask, cell_of, giving_away
from attnviz.lessons.questions.number import nears
from attnviz.lessons.reference import LessonError, Passes, Reference, find
from attnviz.lessons.slots import filled, written
from attnviz.scene.contract.lesson import Fill

_SCORED = {"attention": "masked", "probabilities": "logits"}
"""The stage whose rows are made into shares."""


class Share(Ask, tag="share", frozen=True):
    """A share to guess.

    Attributes
    ----------
    of
        Its cell.
    tolerance
        How far off a guess may be.
    """

    of: str
    tolerance: float = 0.05

    def question(self, passes: Passes) -> Fill:
        of = find(self.of, passes)
        if split_layer(of.stage.name)[0] not in _SCORED:
            raise LessonError(f"A share is one of attention or of probabilities; got {self.of}.")
        right = float(of.cell.value)
        return Fill(
            prompt=filled(self.prompt, passes),
            right=right,
            text=written(right, "%"),
            tolerance=self.tolerance,
            is_share=True,
            lead=lead(of),
            nears=nears(right, self.tolerance / 2, misreadings(of)),
        )

    def covers(self, passes: Passes) -> set[str]:
        return giving_away(find(self.of, passes), is_order_asked=False)

    def asked(self, passes: Passes) -> str | None:
        return cell_of(self.of, passes)


def lead(of: Reference) -> tuple[float, float]:
    """A share's own score, and the logarithm of the sum of the others' exponentials."""
    scores = of.trace[of.stage.inputs[0]].value[of.index[:-1]]
    others = np.delete(scores, of.index[-1])
    visible = others[np.isfinite(others)]
    if not len(visible) or np.isneginf(scores[of.index[-1]]):
        raise LessonError(f"A share is asked of a row in which several are visible; {of.cell} is alone or hidden.")
    largest = visible.max()
    return float(scores[of.index[-1]]), float(largest + np.log(np.exp(visible - largest).sum()))
