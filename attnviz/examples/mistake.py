"""Mistakes: what a notebook got wrong, each with the wrong and the right number computed live."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from attnviz.examples.variant import Variant


@dataclass(frozen=True)
class Side:
    """One of the two numbers of a mistake."""

    what: str
    compute: Callable[[], ArrayLike]

    @cached_property
    def value(self) -> np.ndarray:
        """Its numbers, computed once; a wrong one may be NaN or inf, and does not warn."""
        with np.errstate(all="ignore"):
            return np.asarray(self.compute())


@dataclass(frozen=True)
class Mistake:
    """Something that a notebook does or says, and that is not so.

    Attributes
    ----------
    title : str
    explanation : str
    variant : Variant
        The pass to look at.
    stage : str
        The stage of it where wrong and right diverge.
    wrong, right : Side
        Their numbers differ; where a shape is in dispute, they are the shapes.
    """

    title: str
    explanation: str
    variant: Variant
    stage: str
    wrong: Side
    right: Side


def unshifted_softmax(scores: ArrayLike) -> np.ndarray:
    """The wrong way, for showing: exp of a score above 709.78 is inf, and inf / inf is NaN."""
    exponentials = np.exp(np.asarray(scores, dtype=float))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)
