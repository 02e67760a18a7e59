"""Variants: the passes that one notebook goes through, each a trace like any other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attnviz.core.trace import Trace


@dataclass(frozen=True)
class Variant:
    """One pass of a worked example.

    Attributes
    ----------
    id : str
        Short, for addresses.
    title : str
    description : str
        One sentence.
    make : callable
        Makes the pass, without arguments.
    ours : bool
        True for a pass that the notebook does not have.
    """

    id: str
    title: str
    description: str
    make: Callable[[], Trace]
    ours: bool = False

    @cached_property
    def trace(self) -> Trace:
        """The pass, made once."""
        return self.make()

    def cells(self, stage: str, *index: int | slice) -> Cells:
        """Some cells of one of its stages, to be computed when called."""
        return Cells(self, stage, index)


@dataclass(frozen=True)
class Cells:
    """Cells of a stage of a variant: calling it gives their numbers."""

    variant: Variant
    stage: str
    index: tuple[int | slice, ...]

    def __call__(self) -> np.ndarray:
        return self.variant.trace[self.stage].value[self.index]
