"""Online softmax: block by block of keys, with a running maximum, sum and output, and without a row of weights.

After each block a query keeps the largest score so far, m, the sum of exp(score - m), l, and the sum of these times the
values, o. When a block has a larger score m', the old l and o are multiplied by exp(m - m'). In the end o / l is the
result of softmax and weighted sum (Milakov and Gimelshein 2018, "Online normalizer calculation for softmax"; Dao et al.
2022, "FlashAttention", algorithm 1). With a sink a row begins with m = sink and l = 1.

A stage has a number for each key: the value after the key's block. Before a query sees a key m is -inf, l and o are 0.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attnviz.core.errors import ArrayError
from attnviz.core.operations.linear import group_rule, repeat_groups, repeat_groups_code, sum_groups
from attnviz.core.operations.operation import Derivatives, Index, Lines, Operand, Operation, Recomputed, sum_broadcast
from attnviz.core.operations.rule import AxesAndShape, Input, Line, Rule, Slot, Variant
from attnviz.core.terms import rounding_of


@dataclass(frozen=True)
class Running:
    """A running number of each query, after the block of each key."""

    block_size: int

    def __post_init__(self):
        if not isinstance(self.block_size, int) or isinstance(self.block_size, bool) or self.block_size < 1:
            raise ArrayError(f"block_size must be a whole number of keys, as 2 is; got {self.block_size!r}.")

    def blocks(self, n_keys: int) -> Iterator[slice]:
        """The keys of each block; the last may have fewer."""
        return (slice(at, min(at + self.block_size, n_keys)) for at in range(0, n_keys, self.block_size))

    def ends(self, n_keys: int) -> np.ndarray:
        """For each key, the number of keys up to the end of its block."""
        return np.minimum((np.arange(n_keys) // self.block_size + 1) * self.block_size, n_keys)

    def recomputed(self, index: Index, *lines: Lines) -> Recomputed:
        """The sum of exp(a - b), times c if a line has three numbers; a line with a single one (-inf) counts 0."""
        visible = [line for numbers in lines for line in numbers if len(line) > 1]
        summands = [math.exp(a - b) * math.prod(factors) for a, b, *factors in visible]
        # the rounding of a difference grows with its numbers, and carries over to the exponential
        rounding = math.fsum(
            rounding_of(summand) * (1 + abs(a) + abs(b))
            for summand, (a, b, *_) in zip(summands, visible, strict=True)
            if math.isfinite(a)
        )
        return math.fsum(summands), rounding

    def rule_of(
        self, inputs: tuple[Input, ...], result: str, slots: dict[str, Slot], *variants: Variant, **arrays: np.ndarray
    ) -> Rule:
        """The rule of numbers that read all keys up to the end of their block; `case` chooses the variant."""
        head = result.partition(" q")[0]
        return Rule.of(
            inputs,
            result,
            {"z": Slot(0, f"{head} q i"), "result": Slot("", result)} | slots,
            *variants,
            case=Slot("#case", f"{head} q k"),
            until=Slot("#until", "k"),
            arrays={"#until": self.ends(inputs[0].shape[-1])} | {f"#{name}": each for name, each in arrays.items()},
        )


def block_factor(m: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """The factor from the maximum of a block to that of each of its keys: 1, unless one is set by hand."""
    with np.errstate(over="ignore"):
        return np.exp(m - finite_maximum(largest))


def finite_maximum(largest: np.ndarray) -> np.ndarray:
    """The maximum to subtract: 0 if no key is visible so far, as -inf - -inf would be NaN."""
    return np.where(np.isneginf(largest), 0, largest)


@dataclass(frozen=True)
class RunningMaximum(Running, Operation):
    """m: the largest score so far, at least the sink."""

    operands = (Operand("row", after="max so far"), Operand("cell", "sink"))
    hides = True

    def compute(self, masked: np.ndarray, sinks: np.ndarray | None = None) -> np.ndarray:
        largest = np.maximum.accumulate(masked, axis=-1)[..., self.ends(masked.shape[-1]) - 1]
        return largest if sinks is None else np.maximum(largest, sinks[..., None, None])

    def vjp(self, upstream: np.ndarray, masked: np.ndarray, sinks: np.ndarray | None = None) -> Derivatives:
        of_masked, largest = np.zeros_like(upstream), self.compute(masked, sinks)
        of_sinks = np.zeros_like(upstream[..., :1])
        for block in self.blocks(masked.shape[-1]):
            last = slice(block.stop - 1, block.stop)
            moved = upstream[..., block].sum(axis=-1, keepdims=True)
            is_largest = (masked[..., : block.stop] == largest[..., last]) & np.isfinite(largest[..., last])
            first = is_largest & (np.cumsum(is_largest, axis=-1) == 1)
            of_masked[..., : block.stop] += first * moved
            of_sinks += ~is_largest.any(axis=-1, keepdims=True) * moved
        return (of_masked,) if sinks is None else (of_masked, sum_broadcast(of_sinks.sum(axis=(-2, -1)), sinks))

    def rule(self, masked: Input, sinks: Input | None = None) -> Rule:
        inputs = (masked,) if sinks is None else (masked, sinks)
        slots, lines = {}, [Line(("z",), "{z}")]
        if sinks is not None:
            slots["sink"] = Slot(1, "h")
            lines.append(Line(("sink",), "{sink}, the sink"))
        largest = self.compute(*(each.value for each in inputs))
        return self.rule_of(
            inputs,
            "h q k",
            slots,
            Variant(
                tuple(lines),
                "the largest of {n}: the keys up to the end of this block" + _WITH_SINK * (sinks is not None),
            ),
            Variant(tuple(lines), "no key is visible so far, so it is −∞"),
            case=np.isneginf(largest).astype(int),
        )

    def recomputed(self, index: Index, *lines: Lines) -> Recomputed:
        return max(z for numbers in lines for (z,) in numbers), 0.0

    def latex(self, result: str, masked: str, sinks: str | None = None) -> str:
        first = r"-\infty" if sinks is None else sinks
        return rf"{result}: \quad m_b = \max(m_{{b-1}}, \max_{{j \in b}} z_j), \quad m_0 = {first}, \quad z = {masked}"

    def numpy(self, result: str, masked: str, sinks: str | None = None) -> tuple[str, ...]:
        with_sinks = () if sinks is None else (f"{result} = np.maximum({result}, {sinks}[..., None, None])",)
        return (
            *_ends(self.block_size, masked),
            f"{result} = np.maximum.accumulate({masked}, axis=-1)[..., ends - 1]",
            *with_sinks,
        )


_WITH_SINK = " and the sink"


def _ends(block_size: int, masked: str) -> tuple[str, str]:
    """`Running.ends` in NumPy."""
    return (
        f"n_keys = {masked}.shape[-1]",
        f"ends = np.minimum((np.arange(n_keys) // {block_size} + 1) * {block_size}, n_keys)",
    )


_CARRIED = "or {before} × exp({old} − {max:b}), what the blocks before had, and {block} of this one"


@dataclass(frozen=True)
class RunningSum(Running, Operation):
    """l: the sum of exp(score - m) so far, and of exp(sink - m)."""

    operands = (Operand("row", after="sum so far"), Operand("cell", "less"), Operand("cell", "sink"))

    def compute(self, masked: np.ndarray, largest: np.ndarray, sinks: np.ndarray | None = None) -> np.ndarray:
        # in a batch any of the three may be shared
        sunk = () if sinks is None else (sinks[..., None, None].shape,)
        made = np.empty(np.broadcast_shapes(masked.shape, largest.shape, *sunk))
        # the sink is a block before the first, with a sum of exp(sink - sink)
        total = 0.0 if sinks is None else 1.0
        before = np.array(-np.inf) if sinks is None else sinks[..., None, None]
        for block in self.blocks(masked.shape[-1]):
            m = finite_maximum(largest[..., block.stop - 1 : block.stop])
            with np.errstate(over="ignore"):
                total = total * np.exp(before - m) + np.exp(masked[..., block] - m).sum(axis=-1, keepdims=True)
            made[..., block], before = total * block_factor(m, largest[..., block]), m
        return made

    def vjp(
        self, upstream: np.ndarray, masked: np.ndarray, largest: np.ndarray, sinks: np.ndarray | None = None
    ) -> Derivatives:
        # l = sum of exp(z - m): d l / d z = exp(z - m), d l / d m = -l
        of_masked, of_sinks = np.zeros_like(upstream), np.zeros_like(upstream[..., :1])
        for block in self.blocks(masked.shape[-1]):
            m = finite_maximum(largest[..., block.stop - 1 : block.stop])
            moved = (upstream[..., block] * block_factor(m, largest[..., block])).sum(axis=-1, keepdims=True)
            of_masked[..., : block.stop] += np.exp(masked[..., : block.stop] - m) * moved
            if sinks is not None:
                of_sinks += np.exp(sinks[..., None, None] - m) * moved
        of_largest = -upstream * self.compute(masked, largest, sinks)
        if sinks is None:
            return of_masked, of_largest
        return of_masked, of_largest, sum_broadcast(of_sinks.sum(axis=(-2, -1)), sinks)

    def bound(self, masked: Input, largest: Input, sinks: Input | None = None) -> float:
        return math.inf  # its exponentials may overflow

    def rule(self, masked: Input, largest: Input, sinks: Input | None = None) -> Rule:
        inputs = (masked, largest) if sinks is None else (masked, largest, sinks)
        made = self.compute(*(each.value for each in inputs))
        slots = {"max": Slot(1, "h q k")}
        lines: tuple[Line, ...] = (Line(("z", "max"), "exp({z} − {max:b})", is_exponential=True),)
        if sinks is not None:
            slots["sink"] = Slot(2, "h")
            lines = (*lines, Line(("sink", "max"), "exp({sink} − {max:b}), the sink", is_exponential=True))
        old, before, block = self._parts(masked.value, largest.value, made)
        slots |= {name: Slot(f"#{name}", "h q k") for name in ("old", "before", "block")}
        return self.rule_of(
            inputs,
            "h q k",
            slots,
            Variant(lines, "the sum of {n}, " + _CARRIED, r"{before:t} \cdot e^{{old:t} - {max:bt}} + {block:t}"),
            Variant(lines, "the sum of {n}"),
            Variant((Line(("z",), "{z}, hidden", "result"),), "no key is visible so far, so it is 0"),
            case=np.where(np.isneginf(largest.value), 2, np.where(np.isneginf(old), 1, 0)),
            old=np.where(np.isneginf(old), 0, old),
            before=before,
            block=block,
        )

    def _parts(
        self, masked: np.ndarray, largest: np.ndarray, made: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For each key the maximum and sum before its block (-inf and 0 before the first), and what the block adds."""
        old, before, added = np.full(largest.shape, -np.inf), np.zeros(made.shape), np.empty(made.shape)
        for block in self.blocks(largest.shape[-1]):
            if block.start:
                old[..., block] = largest[..., block.start - 1 : block.start]
                before[..., block] = made[..., block.start - 1 : block.start]
            m = finite_maximum(largest[..., block.stop - 1 : block.stop])
            added[..., block] = np.exp(masked[..., block] - m).sum(axis=-1, keepdims=True)
        return old, before, added

    def latex(self, result: str, masked: str, largest: str, sinks: str | None = None) -> str:
        total = r"l_b = l_{b-1} e^{m_{b-1} - m_b} + \sum_{j \in b} e^{z_j - m_b}"
        return rf"{result}: \quad {total}, \quad l_0 = {int(sinks is not None)}"

    def numpy(self, result: str, masked: str, largest: str, sinks: str | None = None) -> tuple[str, ...]:
        start = "0.0, -np.inf" if sinks is None else f"1.0, {sinks}[..., None, None]"
        return (
            f"{result} = np.empty_like({masked})",
            f"total, before = {start}",
            f"for start in range(0, {masked}.shape[-1], {self.block_size}):\n"
            f"    block = slice(start, start + {self.block_size})\n"
            f"    m = {largest}[..., block][..., -1:]\n"
            "    m = np.where(np.isneginf(m), 0, m)  # no key is visible so far\n"
            f"    total = total * np.exp(before - m) + np.exp({masked}[..., block] - m).sum(axis=-1, keepdims=True)\n"
            f"    own = np.where(np.isneginf({largest}[..., block]), 0, {largest}[..., block])\n"
            f"    {result}[..., block], before = total * np.exp(m - own), m  # own is m, unless set by hand",
        )


@dataclass(frozen=True)
class RunningOutput(Running, Operation):
    """o: the sum of exp(score - m) times the values so far."""

    shared_by: int = 1
    operands = (Operand("cell", after="collected"), Operand("cell", "less"), Operand("column", "×"))

    def compute(self, masked: np.ndarray, largest: np.ndarray, v: np.ndarray) -> np.ndarray:
        v = repeat_groups(v, self.shared_by)
        # in a batch any of the three may be shared
        leading = np.broadcast_shapes(masked.shape[:-2], largest.shape[:-2], v.shape[:-2])
        made = np.empty((*leading, *masked.shape[-2:], v.shape[-1]))
        total, before = 0.0, np.array(-np.inf)
        for block in self.blocks(masked.shape[-1]):
            m = finite_maximum(largest[..., block.stop - 1 : block.stop])
            with np.errstate(over="ignore"):
                total = total * np.exp(before - m) + np.exp(masked[..., block] - m) @ v[..., block, :]
            made[..., block, :] = total[..., None, :] * block_factor(m, largest[..., block])[..., None]
            before = m
        return made

    def vjp(self, upstream: np.ndarray, masked: np.ndarray, largest: np.ndarray, v: np.ndarray) -> Derivatives:
        values = repeat_groups(v, self.shared_by)
        of_masked, of_values = np.zeros(upstream.shape[:-1]), np.zeros((*upstream.shape[:-3], *values.shape[-2:]))
        for block in self.blocks(masked.shape[-1]):
            m = finite_maximum(largest[..., block.stop - 1 : block.stop])
            moved = (upstream[..., block, :] * block_factor(m, largest[..., block])[..., None]).sum(axis=-2)
            exponentials = np.exp(masked[..., : block.stop] - m)
            of_masked[..., : block.stop] += exponentials * (moved @ values[..., : block.stop, :].swapaxes(-1, -2))
            of_values[..., : block.stop, :] += exponentials.swapaxes(-1, -2) @ moved
        of_largest = -(upstream * self.compute(masked, largest, v)).sum(axis=-1)
        return of_masked, of_largest, sum_groups(of_values, self.shared_by)

    def extent(self, masked: Input, largest: Input, v: Input) -> AxesAndShape:
        return (*masked.axes, v.axes[-1]), (*masked.shape, v.shape[-1])

    def bound(self, masked: Input, largest: Input, v: Input) -> float:
        return math.inf  # its exponentials may overflow

    def rule(self, masked: Input, largest: Input, v: Input) -> Rule:
        head, group = ("h", "h") if self.shared_by == 1 else ("(g r)", "g")
        slots = {"max": Slot(1, f"{head} q k"), "v": Slot(2, f"{group} i f")}
        lines = (Line(("z", "max", "v"), "exp({z} − {max:b}) × {v}", is_exponential=True),)
        rule = self.rule_of(
            (masked, largest, v),
            f"{head} q k f",
            slots,
            Variant(lines, "the sum of {n}: the keys up to the end of this block"),
            Variant((Line(("z",), "{z}, hidden", "result"),), "no key is visible so far, so it is 0"),
            case=np.isneginf(largest.value).astype(int),
        )
        return rule if self.shared_by == 1 else group_rule(rule, self.shared_by)

    def latex(self, result: str, masked: str, largest: str, v: str) -> str:
        total = r"o_b = o_{b-1} e^{m_{b-1} - m_b} + \sum_{j \in b} e^{z_j - m_b} v_j"
        return rf"{result}: \quad {total}, \quad v = {v}"

    def numpy(self, result: str, masked: str, largest: str, v: str) -> tuple[str, ...]:
        return (
            f"values = {repeat_groups_code(v, self.shared_by)}",
            f"{result} = np.empty((*{masked}.shape, values.shape[-1]), {masked}.dtype)",
            "total, before = 0.0, -np.inf",
            f"for start in range(0, {masked}.shape[-1], {self.block_size}):\n"
            f"    block = slice(start, start + {self.block_size})\n"
            f"    m = {largest}[..., block][..., -1:]\n"
            "    m = np.where(np.isneginf(m), 0, m)  # no key is visible so far\n"
            f"    total = total * np.exp(before - m) + np.exp({masked}[..., block] - m) @ values[..., block, :]\n"
            f"    own = np.where(np.isneginf({largest}[..., block]), 0, {largest}[..., block])\n"
            f"    {result}[..., block, :] = total[..., None, :] * np.exp(m - own)[..., None]  # 1, unless set by hand\n"
            "    before = m",
        )


@dataclass(frozen=True)
class LastQuotient(Operation):
    """o / l after the last block (Dao et al. 2022, "FlashAttention"); a query that sees no key gets zeros."""

    operands = (Operand("row", "last"), Operand("cell", "÷ last"))

    def compute(self, output: np.ndarray, sums: np.ndarray) -> np.ndarray:
        return output[..., -1, :] / _divisor(sums)

    def vjp(self, upstream: np.ndarray, output: np.ndarray, sums: np.ndarray) -> Derivatives:
        of_output, of_sums, divisor = np.zeros_like(output), np.zeros_like(sums), _divisor(sums)
        of_output[..., -1, :] = upstream / divisor
        of_sums[..., -1] = -(upstream * output[..., -1, :]).sum(axis=-1) / divisor[..., 0] ** 2
        return of_output, of_sums

    def extent(self, output: Input, sums: Input) -> AxesAndShape:
        return (*output.axes[:2], output.axes[-1]), (*output.shape[:2], output.shape[-1])

    def bound(self, output: Input, sums: Input) -> float:
        return np.inf  # a sum may be set near 0 by hand

    def rule(self, output: Input, sums: Input) -> Rule:
        last = sums.value[..., -1]
        return Rule.of(
            (output, sums),
            "h q f",
            {"o": Slot(0, "h q k f"), "l": Slot(1, "h q k"), "result": Slot("", "h q f")},
            Variant((Line(("o", "l"), "{o} ÷ {l:b}, after the last block", "result"),), formula=r"\frac{{o:t}}{{l:t}}"),
            Variant((Line(("o", "l"), "no key is visible, so 0", "result"),)),
            case=Slot("#unseeing", "h q"),
            arrays={"#unseeing": (last == 0).astype(int)},
        )

    def recomputed(self, index: Index, numbers: Lines) -> Recomputed:
        ((above, below),) = numbers
        total = above / (below or 1.0)
        return total, rounding_of(total)

    def latex(self, result: str, output: str, sums: str) -> str:
        return rf"{result}: \quad h = \frac{{o_b}}{{l_b}} \text{{ after the last block}}"

    def numpy(self, result: str, output: str, sums: str) -> tuple[str, ...]:
        return (
            f"last = {sums}[..., -1:]",
            f"{result} = {output}[..., -1, :] / np.where(last == 0, 1, last)  # 0 where no key is visible",
        )


def _divisor(sums: np.ndarray) -> np.ndarray:
    last = sums[..., -1:]
    return np.where(last == 0, 1, last)
