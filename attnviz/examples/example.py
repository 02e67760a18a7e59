"""An example: a notebook's published pass as data, its variants and common mistakes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from attnviz.core.selection import Selection
from attnviz.core.trace import Trace
from attnviz.examples.printout import Agreement, Number, PrintOut


@dataclass(frozen=True)
class Variant:
    """One pass of a worked example."""

    id: str  # short, for addresses
    title: str
    description: str  # one sentence
    make: Callable[[], Trace]  # makes the pass, without arguments
    ours: bool = False  # true for a pass that the notebook does not have

    @cached_property
    def trace(self) -> Trace:
        """The pass, made once."""
        return self.make()

    def cells(self, stage: str, *index: int | slice) -> Cells:
        """Some cells of one of its stages, computed when called."""
        return Cells(self, stage, index)


@dataclass(frozen=True)
class Cells:
    """Cells of a stage of a variant: calling it gives their numbers."""

    variant: Variant
    stage: str
    index: tuple[int | slice, ...]

    def __call__(self) -> np.ndarray:
        return self.variant.trace[self.stage].value[self.index]


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
    """A mistake in a notebook: something it does or says that is wrong."""

    title: str
    explanation: str
    variant: Variant  # the pass to look at
    stage: str  # the stage of it where wrong and right diverge
    wrong: Side  # their numbers differ; where a shape is in dispute, they are the shapes
    right: Side  # their numbers differ; where a shape is in dispute, they are the shapes


def unshifted_softmax(scores: ArrayLike) -> np.ndarray:
    """A softmax without shift, to show its overflow: exp of a score above 709.78 is inf, and inf / inf is NaN."""
    exponentials = np.exp(np.asarray(scores, dtype=float))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


@dataclass(frozen=True)
class Example:
    """A notebook, worked through."""

    id: str  # the number of the notebook, "000" to "004"
    title: str  # what it teaches, in a few words
    summary: str  # the same in one sentence
    description: str  # what it shows, and where to look
    step: str  # the id of the step that this speaks of
    source: str  # where the facts and figures come from, and what had to be rebuilt
    variants: tuple[Variant, ...]
    print_outs: tuple[PrintOut, ...]
    mistakes: tuple[Mistake, ...]
    selection: Selection = field(default_factory=Selection)  # the number that the description speaks of
    trained: str = ""  # the id of a trained model that does the same

    def variant(self, id: str) -> Variant:
        """The variant of that id."""
        for variant in self.variants:
            if variant.id == id:
                return variant
        raise KeyError(f"no variant {id!r}; example {self.id} has {', '.join(each.id for each in self.variants)}")

    @property
    def numbers(self) -> tuple[Number, ...]:
        """Every number that the notebook printed, in order, with the computed one."""
        return tuple(number for print_out in self.print_outs if not print_out.of for number in print_out.numbers)

    @cached_property
    def agreement(self) -> Agreement:
        """The counts of those that agree, by how closely."""
        return Agreement.of(self.numbers)
