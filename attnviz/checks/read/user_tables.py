"""User tables: a user's own cosines and sines, by which queries and keys are rotated, and their positions."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from attnviz.checks.read.files import as_array, numeric
from attnviz.checks.read.formats import FLOAT32, half_step, written_in
from attnviz.checks.read.names import rotation_kind
from attnviz.checks.read.table_rotation import OTHER_PAIRS, SAME, Positions, Table, TableRotation, table_of
from attnviz.core.operations.rotation import Pairs

OF_QUERIES = "queries.position_ids"
"""The name of the keys' positions where some queries are compared alone, whose own keys are the last."""


@dataclass(frozen=True, eq=False)
class UserTables:
    """The tables among a user's arrays, in each way to read them, and the positions of tokens if they are given."""

    names: tuple[str, ...] = ()  # the arrays' names
    tables: tuple[Table, ...] = ()
    speeds: np.ndarray | None = None  # the angle of each pair per position, where there is no table
    position_name: str = ""
    positions: Positions | None = None

    def usual_pairs(self, table: Table) -> Pairs:
        """The pairs that a table tells, or that most models turn by such a one: complex numbers are neighbours."""
        is_complex = any("cis" in name.lower() or "complex" in name.lower() for name in self.names)
        return table.repeats or ("neighbours" if is_complex else "halves")

    def rotations(
        self, d_k: int, n_queries: int, n_keys: int, n_kept: int = 0, may_turn_others: bool = False
    ) -> Iterator[TableRotation]:
        """The ways to rotate queries and keys of these lengths, the likeliest first.

        Other pairs than those that a table tells are turned only if `may_turn_others`.
        """
        for table in self._of_lengths(n_queries, n_keys, n_kept):
            n_rotated = 2 * table.numbers.shape[-1]
            if n_rotated > d_k:
                continue
            first = self.usual_pairs(table)
            for pairs in (first,) if table.repeats and not may_turn_others else (first, OTHER_PAIRS[first]):
                for offset in dict.fromkeys((0, d_k - n_rotated)):
                    yield TableRotation(pairs=pairs, dims=n_rotated, table=table, offset=offset)

    def positions_of(self, n_queries: int, n_keys: int) -> Positions | None:
        """The positions of the keys, the last of which are the queries'; None if both are 0, 1, 2, ..."""
        if n_queries > n_keys:
            return None
        positions = self._of_keys(n_queries, n_keys)
        return positions if n_queries != n_keys or positions != tuple(range(n_keys)) else None

    def _of_keys(self, n_queries: int, n_keys: int) -> Positions:
        """The positions of all keys; those of kept ones lie before the new ones', and a new text begins after them."""
        own = self._own(n_queries, n_keys) or tuple(range(n_keys))
        n_before = n_keys - len(own)
        first = own[0] or n_before
        return (*range(first - n_before, first), *(each + first - own[0] for each in own))

    def _own(self, n_queries: int, n_keys: int) -> Positions:
        fits = self.positions and len(self.positions) in (n_queries, n_keys)
        return self.positions if self.positions and fits else ()

    def _of_lengths(self, n_queries: int, n_keys: int, n_kept: int) -> Iterator[Table]:
        """The tables with a row for each key, or of a decode step for each query alone."""
        own, keys = self._own(n_queries, n_keys), np.array(self._of_keys(n_queries, n_keys))
        if self.speeds is not None:
            yield table_of(keys, self.speeds)
        for table in self.tables:
            n = len(table.numbers)
            is_made = n in (n_queries, n_keys) and (len(own) != n or _may_be_at(table, np.array(own)))
            if not is_made and own and keys.max() < n and keys.min() >= -n:
                yield table.at(keys % n)
            elif not is_made and n >= n_keys:
                yield table.at(np.arange(n_keys))
            elif n == n_keys:
                yield table
            elif n == n_queries:
                # if it begins at 0 again, it is continued to where the new tokens are
                rows = np.arange(n_keys) if table.begins_at_0 else np.arange(n - n_keys, n)
                if table.is_even:
                    yield table.at(rows)
                elif n_kept == n_keys - n_queries:
                    yield table


def _may_be_at(table: Table, positions: np.ndarray) -> bool:
    """Whether the rows may be those of these positions already, not those of 0, 1, 2, ..."""
    rows: dict[int, np.ndarray] = {}
    for row, position in zip(table.numbers, positions.tolist(), strict=True):
        if np.abs(rows.setdefault(position, row) - row).max() > SAME * np.abs(row).max():
            return False
    turns = np.abs(table.numbers.imag).max(axis=-1) > SAME
    return not (turns[positions == 0].any() or (turns.any() and not turns[0] and positions[0] != 0))


# --- Reading


def rotation_tables(arrays: Mapping[str, np.ndarray]) -> tuple[UserTables, dict[str, np.ndarray]]:
    """The tables and positions among the arrays, and the arrays; names that can't be read as tables stay with them."""
    names: defaultdict[str, str] = defaultdict(str)  # keyed by kind
    for name in arrays:
        names.setdefault(rotation_kind(name), name)
    made = _read(arrays, names)
    name = names["positions"]
    if name and (positions := _positions(as_array(name, arrays[name]))):
        made = replace(made, position_name=name, positions=positions)
    return made, {name: each for name, each in arrays.items() if name not in (*made.names, made.position_name)}


def _read(arrays: Mapping[str, np.ndarray], names: Mapping[str, str]) -> UserTables:
    if names["cos"] and names["sin"]:
        cos, sin = (numeric(each, as_array(each, arrays[each])) for each in (names["cos"], names["sin"]))
        numbers = [_rows(each.astype(np.float64)) for each in (cos, sin)]
        if numbers[0] is None or numbers[1] is None or numbers[0].shape != numbers[1].shape:
            return UserTables()
        error = np.maximum(_error(numbers[0], cos.dtype), _error(numbers[1], sin.dtype))
        also = (names["angles"],) if names["angles"] and np.ndim(arrays[names["angles"]]) == 1 else ()
        return UserTables((names["cos"], names["sin"], *also), _tables(numbers[0] + 1j * numbers[1], error))
    if name := names["cis"]:
        array = as_array(name, arrays[name])
        if array.dtype.kind == "f" and array.shape[-1:] == (2,) and array.ndim > 2:
            array = array[..., 0] + 1j * array[..., 1]
        rows = _rows(array) if array.dtype.kind == "c" and array.size else None
        if rows is not None:
            epsilon = FLOAT32.epsilon if array.dtype == np.complex64 else np.finfo(float).eps
            rows = rows.astype(np.complex128)
            return UserTables((name,), (Table(rows, np.full(rows.shape, epsilon)),))
    if name := names["angles"]:
        array = numeric(name, as_array(name, arrays[name])).astype(np.float64)
        rows = _rows(array) if array.ndim > 1 else None
        if rows is not None:
            error = 3 * (1 + np.abs(rows)) * FLOAT32.epsilon
            return UserTables((name,), _tables(np.exp(1j * rows), error))
        if array.ndim == 1 and np.isfinite(array).all() and (np.diff(array) <= 0).all() and (array > 0).all():
            return UserTables((name,), speeds=array)
    return UserTables()


def _rows(array: np.ndarray) -> np.ndarray | None:
    """A table as (positions, pairs or dimensions), without axes of length 1; None if it has more, or no numbers."""
    if array.ndim < 2 or not np.isfinite(array).all():
        return None
    *rest, width = array.shape
    long = [n for n in rest if n > 1]
    return array.reshape(-1, width) if len(long) < 2 else None


def _error(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    format, digits = written_in(array, dtype)
    return np.maximum(format.epsilon * np.abs(array), half_step(digits, array))


def _tables(numbers: np.ndarray, error: np.ndarray) -> tuple[Table, ...]:
    """The ways to read a table of each pair's angle: once, or twice, side by side or in two halves."""
    width, tables = numbers.shape[-1], []
    twice: dict[Pairs, tuple[slice, slice]] = {
        "halves": (slice(0, width // 2), slice(width // 2, width)),
        "neighbours": (slice(0, width, 2), slice(1, width, 2)),
    }
    if width % 2 == 0:
        for pairs, (one, other) in twice.items():
            if np.allclose(numbers[:, one], numbers[:, other], rtol=0, atol=SAME * np.abs(numbers).max()):
                tables.append(Table(numbers[:, one], error[:, one], pairs))
    is_constant = np.allclose(numbers, numbers[:, :1])  # constant, as at position 0
    return (*tables, *([Table(numbers, error)] if not tables or is_constant else []))


def _positions(array: np.ndarray) -> Positions | None:
    """Whole numbers, one for each token; None if the array is of something else."""
    if array.dtype.kind not in "iuf" or array.size == 0 or array.size != max(array.shape, default=0):
        return None
    numbers = array.ravel()
    if not np.isfinite(numbers).all() or not (numbers == np.round(numbers)).all() or np.abs(numbers).max() > 2**31:
        return None
    return tuple(int(each) for each in numbers.tolist())
