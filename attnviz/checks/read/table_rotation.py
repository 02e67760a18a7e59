"""Table rotation: the rotation of queries and keys by the user's own table."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from attnviz.core.errors import ArrayError
from attnviz.core.operations.rotation import Pairs, Rotation

Positions = tuple[int, ...]
OTHER_PAIRS: dict[Pairs, Pairs] = {"halves": "neighbours", "neighbours": "halves"}
SAME = 1e-5  # how far numbers of a table in float32 may be apart, relative to the largest
_ANGLE_ERROR = 3 * float(np.finfo(np.float32).eps)  # angles are in float32 wherever a pass is


@dataclass(frozen=True, eq=False)
class Table:
    """What each pair is multiplied by at each position, as complex numbers (positions, pairs), and their error.

    `repeats` says how the user's table repeats each angle for both numbers of a pair; None if it holds it once. A
    factor such as YaRN's is the length of these numbers.
    """

    numbers: np.ndarray
    error: np.ndarray
    repeats: Pairs | None = None

    def at(self, positions: np.ndarray) -> Table:
        """The rows of these positions, beyond both ends continued if the angles grow evenly; else ArrayError."""
        inside = (positions >= 0) & (positions < len(self.numbers))
        rows = np.clip(positions, 0, len(self.numbers) - 1)
        numbers = self.numbers[rows]
        if not inside.all():
            if not self.is_even:
                raise ArrayError("A table is continued if its angles grow by as much at each position.")
            numbers[~inside] = self.numbers[0] * self.step ** positions[~inside, None]
        return replace(self, numbers=numbers, error=self.error[rows])

    @property
    def begins_at_0(self) -> bool:
        """Whether the first row turns nothing."""
        return bool(np.abs(self.numbers[0].imag).max() <= SAME * np.abs(self.numbers[0]).max())

    @property
    def is_even(self) -> bool:
        """Whether each pair is turned by as much from any position to the next."""
        n = len(self.numbers)
        return n > 1 and np.allclose(self.numbers[:-1] * self.step, self.numbers[1:], rtol=1e-3, atol=1e-3)

    @property
    def step(self) -> np.ndarray:
        """The rotation of each pair from one position to the next."""
        step = self.numbers[1] / self.numbers[0]
        return step / np.abs(step)


@dataclass(frozen=True)
class TableRotation(Rotation):
    """A rotation by the user's own table, whose rows are the positions of the last rows that it rotates."""

    table: Table = field(kw_only=True)
    until: int | None = None  # the row of the table after the last one; all by default
    offset: int = 0  # how many dimensions come before the rotated ones
    is_given: bool = True  # whether the table is the user's, not made of the base
    is_mixed: bool = False  # whether the table repeats its angles for the other pairs

    def for_length(self, length: int) -> TableRotation:
        return self

    @property
    def _places(self) -> tuple[slice, slice]:
        one, other = super()._places
        return (
            slice(one.start + self.offset, one.stop + self.offset, one.step),
            slice(other.start + self.offset, other.stop + self.offset, other.step),
        )

    def with_base(self, base: float) -> TableRotation:
        """A rotation by a base in place of the table, if its rows are those of 0, 1, 2, ..."""
        n = len(self.table.numbers)
        if not self.table.begins_at_0 or n < 2:
            return self
        return replace(self, table=as_table(Rotation(base, self.pairs, self.dims), np.arange(n)).table)

    @property
    def base_of_fastest(self) -> float | None:
        """The base of the two fastest pairs, which a scaling such as YaRN's leaves; None if unknown."""
        n_rows, n_pairs = self.table.numbers.shape
        if n_rows < 2 or n_pairs < 2 or not self.table.begins_at_0:
            return None
        fastest, next_one = np.angle(self.table.step[:2])
        return float(f"{(fastest / next_one) ** n_pairs:.3g}") if fastest > next_one > 0 else None

    @property
    def without_factor(self) -> TableRotation:
        """The rotation by the same angles alone, without a factor of lengths."""
        return replace(self, table=replace(self.table, numbers=self.table.numbers / np.abs(self.table.numbers)))

    @property
    def backwards(self) -> TableRotation:
        """The rotation by the opposite angles."""
        return replace(self, table=replace(self.table, numbers=self.table.numbers.conj()))

    def restarted(self, n_kept: int, n_new: int) -> TableRotation:
        """The rotation whose last rows, those of new tokens, begin at position 0 again."""
        table, n = self.table, len(self.table.numbers)
        if n_new == 1:
            again = np.abs(table.numbers[-1:]).astype(complex)
        elif n == n_new and not table.is_even:
            return self
        else:
            again = table.at(np.arange(n_new) - (n_kept if n == n_new else 0)).numbers
        return replace(self, table=replace(table, numbers=np.concatenate([table.numbers[: n - n_new], again])))

    @property
    def largest(self) -> float:
        """The largest factor of a length, such as YaRN's."""
        return float(np.abs(self.table.numbers).max())

    def rows(self, n: int) -> Table:
        """The rows of the table for `n` rows of queries or keys."""
        until = len(self.table.numbers) if self.until is None else self.until
        return self.table.at(np.arange(until - n, until) + self.first)

    def error_of(self, x: np.ndarray) -> np.ndarray:
        """The error that the table's rounding leaves in each number."""
        lengths, error = self.lengths(x), np.zeros(x.shape)
        for place in self._places:
            error[..., place] = lengths[..., place] * self.rows(x.shape[-2]).error
        return error

    def _rotated(self, x: np.ndarray, direction: float) -> np.ndarray:
        numbers = self.rows(x.shape[-2]).numbers
        one, other = self._places
        turned = x.copy()
        a, b = x[..., one], x[..., other]
        for place, which in ((one, 0), (other, 1)):
            side = numbers[:, self._pair_of(which)] if self.is_mixed else numbers
            own, partner = (a, -b) if which == 0 else (b, a)
            turned[..., place] = own * side.real + partner * (side.imag * direction)
        return turned

    def _pair_of(self, side: int) -> np.ndarray:
        """The pair whose angle a table for the other pairing holds at each first or second number."""
        n = self.n_rotated // 2
        places = np.arange(n) + side * n if self.pairs == "halves" else 2 * np.arange(n) + side
        return places // 2 if self.pairs == "halves" else places % n


def table_of(positions: np.ndarray, speeds: np.ndarray) -> Table:
    """The table of the angles that pairs with these speeds have at these positions, in float32 wherever a pass is."""
    angles = positions[:, None] * speeds
    return Table(np.exp(1j * angles), _ANGLE_ERROR * (1 + np.abs(angles)))


def as_table(rotation: Rotation, positions: np.ndarray) -> TableRotation:
    """A rotation by a base as one by a table of these positions."""
    speeds = float(rotation.base) ** (-np.arange(0, rotation.n_rotated, 2) / rotation.n_rotated)
    table = table_of(positions, speeds)
    return TableRotation(rotation.base, rotation.pairs, rotation.dims, rotation.first, table=table, is_given=False)
