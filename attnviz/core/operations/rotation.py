"""Rotation (RoPE): pairs of numbers of a query or key are rotated by an angle proportional to the position."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from attnviz.core.errors import ArrayError
from attnviz.core.operations.operation import Derivatives, Index, Lines, Operand, Operation, Recomputed
from attnviz.core.operations.rule import SAME_NUMBER, Input, Line, Rule, Slot, Variant
from attnviz.core.terms import rounding_of

Pairs = Literal["neighbours", "halves"]
PAIRS: tuple[Pairs, ...] = ("neighbours", "halves")

_TURNED = "the sum of {n}: a pair, turned by an angle of {angle}"
"""How the two products of a pair give one of its numbers."""

_OUTSIDE = "0 outside its pair"

BASES = (10_000.0, 500_000.0, 1_000_000.0)
"""The bases of Llama 2 and most others, of Llama 3, and of Qwen and Mixtral."""


@dataclass(frozen=True)
class Rotation(Operation):
    """RoPE: (a, b) becomes (a cos pθ - b sin pθ, a sin pθ + b cos pθ) at position p, for each pair of a query or key.

    Parameters
    ----------
    base : float
        From 1 on. Pair i of d rotated numbers turns by θ = base^(-2i / d) radians for each position.
    pairs : {"neighbours", "halves"}
        Numbers 2i and 2i + 1 are a pair, as in the paper and in Llama's own code; or i and i + d/2, as in Hugging
        Face's. The two differ by a permutation of the dimensions.
    dims : int, optional
        How many numbers of each row, from the first on, are rotated: an even number; by default as many as possible.
    first : int
        The position of the first row.

    Raises
    ------
    ArrayError
        If the base or the pairs have an invalid value.

    References
    ----------
    Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding", equation 15.

    Examples
    --------
    >>> import numpy as np
    >>> from attnviz import Parameters, Rotation, attend
    >>> x = np.array([[1.0, 0.0]] * 3)  # the same word at the positions 0, 1 and 2
    >>> attend(x, parameters=Parameters(), rotation=Rotation())["q_rotated"][0].round(2)
    array([[ 1.  ,  0.  ],
           [ 0.54,  0.84],
           [-0.42,  0.91]])
    """

    base: float = 10_000.0  # pair i of d numbers turns by θ = base^(-2i / d) for each position
    # the pairs: numbers 2i and 2i + 1, as in the paper and in Llama's own code, or i and i + d/2, as in Hugging Face.
    # The two differ by a permutation of the dimensions.
    pairs: Pairs = "neighbours"
    # how many numbers of each row, from the first on, are rotated: an even number; by default as many as possible
    dims: int | None = None
    first: int = 0  # the position of the first row
    operands = (Operand("row", "rope"),)

    def __post_init__(self):
        if not (isinstance(self.base, int | float) and not isinstance(self.base, bool) and 1 <= self.base < math.inf):
            raise ArrayError(f"The base of a rotation is a finite number from 1 on, as 10000 is; got {self.base!r}.")
        if self.pairs not in PAIRS:
            raise ArrayError(f"The pairs of a rotation are {' or '.join(PAIRS)}; got {self.pairs!r}.")
        for name, each in (("dims", self.dims or 0), ("first", self.first)):
            if isinstance(each, bool) or not isinstance(each, int | np.integer):
                raise ArrayError(f"{name} of a rotation is a whole number; got {each!r}.")

    def for_length(self, length: int) -> "Rotation":
        """The rotation of rows of this length, with `dims` set; ArrayError if `dims` is odd or too large."""
        if self.dims is None and length > 1:
            return replace(self, dims=length - length % 2)
        if self.dims is None or not 0 < self.dims <= length or self.dims % 2:
            raise ArrayError(
                "A rotation turns pairs, so an even number of a query's dimensions; "
                f"got {self.dims or 'all'} of {length}."
            )
        return self

    @property
    def n_rotated(self) -> int:
        """`dims`, once `for_length` has set it."""
        assert self.dims is not None
        return self.dims

    def compute(self, x: np.ndarray) -> np.ndarray:
        return self._rotated(x, 1.0)

    def cut(self, places: Mapping[str, int]) -> "Rotation":
        return replace(self, first=self.first + places.get("query", 0))

    def vjp(self, upstream: np.ndarray, x: np.ndarray) -> Derivatives:
        return (self._rotated(upstream, -1.0),)

    def _rotated(self, x: np.ndarray, direction: float) -> np.ndarray:
        cos, sin = _cos_sin(float(self.base), self.n_rotated, self.first, x.shape[-2])
        one, other = self._places
        turned = x.copy()
        a, b = x[..., one], x[..., other]
        turned[..., one] = a * cos - b * (sin * direction)
        turned[..., other] = a * (sin * direction) + b * cos
        return turned

    @property
    def _places(self) -> tuple[slice, slice]:
        """The places of the first and of the second numbers of all pairs."""
        if self.pairs == "neighbours":
            return slice(0, self.n_rotated, 2), slice(1, self.n_rotated, 2)
        return slice(0, self.n_rotated // 2), slice(self.n_rotated // 2, self.n_rotated)

    def rule(self, x: Input) -> Rule:
        n_heads, n_rows, length = x.shape
        sizes = {"h": n_heads, "q": n_rows, "f": length, "i": length}
        factors, angles = self._factors(n_rows, length)
        numbers = np.stack(self._of_pairs(x.value), axis=-1)
        arrays = {"#angle": angles, "#case": self._cases(length)}
        if length % self.n_rotated == 0:
            # a place on the last axis is a block of `dims` (o), a pair (p) and a side of it (s); i stays at the first
            # side, and t, which the result lacks, is at the last
            own, pair = ("(o p s)", "(o p {})") if self.pairs == "neighbours" else ("(o s p)", "(o {} p)")
            sizes |= {"o": length // self.n_rotated, "p": self.n_rotated // 2, "s": 2, "i": 2, "t": 2}
            slots, turned = _pair_slots(own, first=pair.format("i"), second=pair.format("t"))
            arrays["#once"], until = np.ones(length, dtype=int), Slot("#once", own)
        else:  # the whole row, where all but the pair have a factor of 0
            own, until = "f", None
            slots, turned = _row_slots()
            factors, numbers = self._in_row(factors), x.value[..., None, :]
        return Rule(
            f"h q {own}",
            sizes,
            {**slots, "a": Slot(0, f"h q {own}"), "angle": Slot("#angle", f"q {own}")},
            (*turned, Variant((Line(("a",), SAME_NUMBER),))),
            Slot("#case", own),
            {**arrays, "#factor": factors, "#product": factors * numbers},
            until,
        )

    def _cases(self, length: int) -> np.ndarray:
        """For each number 0 if it is the first of its pair, 1 if the second, 2 if it stays."""
        cases = np.full(length, 2)
        for side, place in enumerate(self._places):
            cases[place] = side
        return cases

    def lengths(self, x: np.ndarray) -> np.ndarray:
        """For each number the length of its pair, which rotation preserves; for one that stays at least its size."""
        return np.hypot(*self._of_pairs(x))

    def _of_pairs(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each number the first and the second number of its pair; the number itself if it has none."""
        firsts, seconds = x.copy(), x.copy()
        for place in self._places:
            firsts[..., place], seconds[..., place] = (x[..., each] for each in self._places)
        return firsts, seconds

    def _in_row(self, factors: np.ndarray) -> np.ndarray:
        """The factors of pairs, spread over whole rows (0 elsewhere)."""
        length = factors.shape[1]
        firsts, seconds = (each[0].astype(int) for each in self._of_pairs(np.arange(length)[None]))
        whole, places = np.zeros((len(factors), length, length)), np.arange(self.n_rotated)
        whole[:, places, firsts[: self.n_rotated]] = factors[:, : self.n_rotated, 0]
        whole[:, places, seconds[: self.n_rotated]] = factors[:, : self.n_rotated, 1]
        return whole

    def _factors(self, n_rows: int, length: int) -> tuple[np.ndarray, np.ndarray]:
        """For each number the factors of the two numbers of its pair, (rows, length, 2), and the angle."""
        cos, sin = _cos_sin(float(self.base), self.n_rotated, self.first, n_rows)
        angle = _angles(float(self.base), self.n_rotated, self.first, n_rows)
        factors, angles = np.zeros((n_rows, length, 2)), np.zeros((n_rows, length))
        for place, pair in zip(self._places, ((cos, -sin), (sin, cos)), strict=True):
            factors[:, place] = np.stack(pair, axis=-1)
            angles[:, place] = angle
        return factors, angles

    def recomputed(self, index: Index, *lines: Lines) -> Recomputed:
        *_, row, place = index
        numbers = [x for line in lines for (x,) in line]  # the pair, or a row that has it
        if place >= self.n_rotated:
            return numbers[0], 0.0
        pair, side = divmod(place, 2) if self.pairs == "neighbours" else divmod(place, self.n_rotated // 2)[::-1]
        angle = (self.first + row) * float(self.base) ** (-2 * pair / self.n_rotated)
        first, second = (2 * pair, 2 * pair + 1) if self.pairs == "neighbours" else (pair, pair + self.n_rotated // 2)
        a, b = numbers if len(numbers) == 2 else (numbers[first], numbers[second])
        cos, sin = math.cos(angle), math.sin(angle)
        total = math.fsum((a * sin, b * cos) if side else (a * cos, -b * sin))
        # an angle of many turns is rounded as it is large, and its cosine and sine with it
        return total, rounding_of(a, b) * (1 + abs(angle))

    def latex(self, result: str, x: str) -> str:
        # rows n and pairs j count from 1, like everything on the screen
        first, second = ("2j-1", "2j") if self.pairs == "neighbours" else ("j", f"j+{self.n_rotated // 2}")
        a, b = f"x_{{n,{first}}}", f"x_{{n,{second}}}"
        before = self.first - 1
        position = f"(n {'+' if before > 0 else '-'} {abs(before)})" if before else "n"
        angle = rf"θ = {position} \cdot {self.base:.12g}^{{\frac{{-2 \cdot (j - 1)}}{{{self.n_rotated}}}}}"
        y = (
            rf"y_{{n,{first}}} = {a} \cdot \cos(θ) - {b} \cdot \sin(θ), \quad "
            rf"y_{{n,{second}}} = {a} \cdot \sin(θ) + {b} \cdot \cos(θ)"
        )
        return rf"{result} = \mathrm{{RoPE}}({x}): \quad {y}, \quad {angle}"

    def numpy(self, result: str, x: str) -> tuple[str, ...]:
        positions = (
            f"np.arange({self.first}, {self.first} + {x}.shape[-2])" if self.first else f"np.arange({x}.shape[-2])"
        )
        one, other = (_format_slice(place) for place in self._places)
        return (
            f"speeds = {float(self.base)!r} ** (-np.arange(0, {self.n_rotated}, 2) / {self.n_rotated})  # of each pair",
            f"angles = {positions}[:, None] * speeds",
            f"one, other = {x}[..., {one}], {x}[..., {other}]",
            f"{result} = {x}.copy()",
            f"{result}[..., {one}] = one * np.cos(angles) - other * np.sin(angles)",
            f"{result}[..., {other}] = one * np.sin(angles) + other * np.cos(angles)",
        )


def _pair_slots(own: str, first: str, second: str) -> tuple[dict[str, Slot], tuple[Variant, ...]]:
    """The slots and variants of a rule that reads the two numbers of a pair."""
    slots: dict[str, Slot] = {}
    for number, place, factor in (("x", first, "i"), ("y", second, "t")):
        slots |= {
            number: Slot(0, f"h q {place}"),
            f"factor_{number}": Slot("#factor", f"q {own} {factor}"),
            f"product_{number}": Slot("#product", f"h q {own} {factor}"),
        }
    formula = r"{x:bt} \cdot {factor_x:bt} + {y:bt} \cdot {factor_y:bt}"
    cosine, sine, opposite = "the cosine", "the sine", "the sine with the opposite sign"
    of_sides = (("x", cosine), ("y", opposite)), (("x", sine), ("y", cosine))
    return slots, tuple(Variant(_rotation_lines(each), _TURNED, formula) for each in of_sides)


def _row_slots() -> tuple[dict[str, Slot], tuple[Variant, ...]]:
    """The slots and variants of a rule that reads a whole row."""
    slots = {
        "x": Slot(0, "h q i"),
        "factor_x": Slot("#factor", "q f i", f"Factor, {_OUTSIDE}"),
        "product_x": Slot("#product", "h q f i"),
    }
    lines = _rotation_lines((("x", f"which is {_OUTSIDE}"),))
    return slots, (Variant(lines, _TURNED, "{terms}", r"{x:bt} \cdot {factor_x:bt}"),) * 2


def _rotation_lines(of_numbers: Iterable[tuple[str, str]]) -> tuple[Line, ...]:
    """A line for each number and the name of its factor."""
    return tuple(Line((x,), f"{{{x}}} × {{factor_{x}}}, {factor_is}", f"product_{x}") for x, factor_is in of_numbers)


def _format_slice(place: slice) -> str:
    return f"{place.start or ''}:{place.stop}" + f":{place.step}" * (place.step is not None)


def _angles(base: float, dims: int, first: int, n_rows: int) -> np.ndarray:
    return np.arange(first, first + n_rows)[:, None] * base ** (-np.arange(0, dims, 2) / dims)


@lru_cache(maxsize=32)
def _cos_sin(base: float, dims: int, first: int, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The cosines and sines of the angles, (rows, pairs)."""
    angles = _angles(base, dims, first, n_rows)
    return np.cos(angles), np.sin(angles)
