"""Hide: a boolean mask keeps keys from being seen."""

import math
from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Index, Operand, Operation, Reads
from attnviz.core.operations.rule import Line, Rule, Slot, Variant
from attnviz.core.terms import Cell, Terms


@dataclass(frozen=True)
class Hide(Operation):
    """A boolean mask: a visible key keeps its score, a hidden one gets -inf.

    It selects. Multiplying by the mask would leave a score of 0, which is a
    share like any other, and adding -1e9 would not hide a score of 1e9.
    """

    operands = (Operand("cell"), Operand("cell", "where"))
    in_multihead = True
    hides = True

    def compute(self, scaled: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return scaled if mask.all() else np.where(mask, scaled, -np.inf)

    def vjp(self, upstream: np.ndarray, scaled: np.ndarray, mask: np.ndarray) -> Derivatives:
        return np.where(mask, upstream, 0), None

    def extent(self, scaled: Input, mask: Input) -> AxesAndShape:
        return scaled.axes, scaled.shape

    def bound(self, scaled: Input, mask: Input) -> float:
        return scaled.bound

    def rule(self, scaled: Input, mask: Input) -> Rule:
        shared = "h q k"[-2 * len(mask.shape) + 1 :]
        slots = {"a": Slot(0, "h q k"), "mask": Slot(1, shared), "result": Slot("", "h q k")}
        cells = ("a", "mask")
        return Rule.of(
            (scaled, mask),
            "h q k",
            slots,
            Variant((Line(cells, "visible, so {a} stays", "result"),), formula=r"{a:t} \text{ (visible)}"),
            Variant((Line(cells, "hidden, so −∞", "result"),), formula=r"\text{ hidden}"),
            case=Slot("#hidden", shared),
            arrays={"#hidden": (~mask.value).astype(int)},
        )

    def terms(self, index: Index, reads: Reads) -> Terms:
        return Masked(*reads[0])

    def latex(self, result: str, scaled: str, mask: str) -> str:
        return rf"{result} = {scaled} \text{{ where }} {mask} \text{{, else }} -\infty"

    def numpy(self, result: str, scaled: str, mask: str) -> tuple[str, ...]:
        return (f"{result} = np.where({mask}, {scaled}, -np.inf)",)


@dataclass(frozen=True)
class Masked(Terms):
    """A cell that is kept where the key is visible, and is -inf where it is hidden."""

    cell: Cell
    visible: Cell

    @property
    def cells(self) -> tuple[Cell, ...]:
        return (self.cell, self.visible)

    def total(self) -> float:
        return self.cell.value if self.visible.value else -math.inf
