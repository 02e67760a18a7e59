"""Passes: the stages of a pass as nodes that can be changed one by one, and the passes that arrays may belong to."""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import Literal

import numpy as np

from attnviz.checks.read.layouts import Layout, Sizes, arranged, fitted, layouts_of, recomputed
from attnviz.checks.read.masks import WrongMask, seen_in, wrong_masks
from attnviz.checks.read.readings import Reading, UserArray, UserArrays, largest_stage, sizes_of, with_inferred_mask
from attnviz.checks.read.rounding import FLOAT32, FLOAT64, Format, Precision, Rounded, applied, spend, written_in
from attnviz.core.errors import ArrayError, OwnArraysError
from attnviz.core.operations import rotation as operations
from attnviz.core.operations.linear import DotProducts
from attnviz.core.operations.operation import Operation, Source
from attnviz.core.operations.softmax import Softmax
from attnviz.core.stage import Stage, split_layer
from attnviz.core.trace import Trace

# --- Nodes

_MOST_CACHED = 2**17  # larger results aren't cached, as a search has many nodes
_EXACT = Precision(FLOAT64, is_rough=True)
Change = Callable[[np.ndarray], np.ndarray]
Make = Callable[[Sequence[Rounded], Precision], Rounded]


@dataclass(frozen=True, eq=False)
class Node:
    """How one stage is computed from others; by which operation, if it is a single unmodified one."""

    inputs: tuple[str, ...]
    make: Make
    operation: Operation | None = None
    _last: list = field(default_factory=list, repr=False)

    def made(self, inputs: Sequence[Rounded], precision: Precision) -> Rounded:
        if self._last:
            before, last_inputs, value = self._last
            if (before is precision or before == precision) and all(map(operator.is_, last_inputs, inputs)):
                return value
        value = self.make(inputs, precision)
        self._last[:] = (precision, list(inputs), value) if value.value.size <= _MOST_CACHED else ()
        return value

    @classmethod
    def constant(cls, value: Rounded) -> Node:
        return cls((), lambda inputs, precision: value.single if precision.is_single else value)

    @classmethod
    def of(cls, operation: Operation, inputs: tuple[str, ...]) -> Node:
        return cls(inputs, partial(applied, operation), operation)

    @classmethod
    def passing_on(cls, inputs: tuple[str, ...]) -> Node:
        return cls(inputs, lambda values, precision: values[0])

    def with_input(self, name: str, change: Change) -> Node:
        """The node with one input permuted or scaled exactly before it is read."""
        return self._reading(name, lambda value, precision: value.map(change))

    def with_numbers(self, name: str, change: Change) -> Node:
        """The node with other numbers in one input, which keeps its rounding error."""
        return self._reading(name, lambda value, precision: Rounded(change(value.value), value.error))

    def with_constant(self, name: str, constant: Node) -> Node:
        return self._reading(name, lambda value, precision: constant.make([], precision))

    def after(self, operation: Operation) -> Node:
        """The node with an operation applied to its first input."""
        return self._reading(self.inputs[0], lambda value, precision: applied(operation, [value], precision))

    def _reading(self, name: str, read: Callable[[Rounded, Precision], Rounded]) -> Node:
        at = self.inputs.index(name)

        def make(inputs: Sequence[Rounded], precision: Precision) -> Rounded:
            return self.make([*inputs[:at], read(inputs[at], precision), *inputs[at + 1 :]], precision)

        return Node(self.inputs, make)

    def without_input(self, name: str) -> Node:
        return Node(tuple(each for each in self.inputs if each != name), self.make)

    def then(self, change: Change) -> Node:
        return Node(self.inputs, lambda inputs, precision: self.made(inputs, precision).map(change))

    def followed_by(self, operation: Operation) -> Node:
        def make(inputs: Sequence[Rounded], precision: Precision) -> Rounded:
            return applied(operation, [self.made(inputs, precision)], precision)

        return Node(self.inputs, make)


Nodes = Mapping[str, Node]


def nodes_of(trace: Trace, read: Callable[[Stage], Rounded] = lambda stage: Rounded(stage.value)) -> dict[str, Node]:
    """The stages of a pass as nodes; `read` returns a given stage with its rounding error, by default none."""
    return {
        stage.name: Node.constant(read(stage))
        if isinstance(stage.operation, Source)
        else Node.of(stage.operation, stage.inputs)
        for stage in trace.stages
    }


def needed(nodes: Nodes, wanted: set[str], known: Container[str] = ()) -> set[str]:
    """The wanted stages and everything they are computed from, up to known stages."""
    read = set(wanted)
    for name in reversed([*nodes]):
        if name in read:
            inputs = nodes[name].inputs
            read.update([each for each in inputs if each not in known] if known else inputs)
    return read


def evaluated(
    nodes: Nodes, precision: Precision, wanted: set[str], before: tuple[Nodes, Mapping[str, Rounded]] | None = None
) -> dict[str, Rounded]:
    """Compute the stages that the wanted ones need; unchanged ones are taken from `before`."""
    read = needed(nodes, wanted)
    old_nodes, old = before or ({}, {})
    values: dict[str, Rounded] = {}
    changed: set[str] = set()
    for name, node in nodes.items():
        if name not in read:
            continue
        if node is old_nodes.get(name) and name in old and changed.isdisjoint(node.inputs):
            values[name] = old[name]
        else:
            values[name] = node.made([values[each] for each in node.inputs], precision)
            changed.add(name)
    return values


def values_of(nodes: Nodes, wanted: set[str]) -> dict[str, np.ndarray]:
    """The arrays of the wanted stages."""
    return {name: made.value for name, made in evaluated(nodes, _EXACT, wanted).items() if name in wanted}


FULLY_MASKED = ("zeros", "a uniform row", "no numbers", "the row as if nothing were hidden", "numbers of its own")
"""What a query that sees no key gets: in attnviz, ONNX and PyTorch's scaled_dot_product_attention; in JAX; in PyTorch's
softmax; where -1e9 is added to float64; where two masks are added and one number is no longer as small as the other."""

_ANYTHING = 1e9  # an error that allows any number
_BESIDE_A_BILLION = 1e-6  # relative error of a weight whose score lost all but seven digits to −1e9


def filled(attention: Node, filling: str, unmasked: str) -> Node:
    """Attention with its fully masked rows filled in; `unmasked` is the stage that the mask is applied to."""

    def make(values: Sequence[Rounded], precision: Precision) -> Rounded:
        *inputs, scores = values
        weights = attention.made(inputs, precision)
        rows = np.isneginf(inputs[0].value).all(axis=-1, keepdims=True)
        if filling == FULLY_MASKED[3]:
            other = applied(Softmax(), [scores], precision)
            other = Rounded(other.value, other.error + _BESIDE_A_BILLION * other.value)
        elif filling == FULLY_MASKED[4]:
            other = Rounded(np.zeros(weights.value.shape), np.full(weights.value.shape, _ANYTHING))
        else:
            number = 1 / weights.value.shape[-1] if filling == FULLY_MASKED[1] else np.nan
            other = Rounded(np.full(weights.value.shape, number), weights.error)
        return Rounded(np.where(rows, other.value, weights.value), np.where(rows, other.error, weights.error))

    return Node((*attention.inputs, unmasked), make)


# --- Rotations

# Rotated parts of d_k: GPT-NeoX, Pythia, GPT-J; GLM, Phi 1.5; Phi 2; Phi 4 mini; DeepSeek
_PARTS = (0.25, 0.5, 0.4, 0.75, 1 / 3)
_FACTORS = (2, 4, 8)
_LLAMA3 = (8, 32)  # divisors in Llama 3.1 and 3.2 of angles below one turn in 8,192 positions
_TRAINED_FOR = 8_192


@dataclass(frozen=True)
class Rotation:
    """Queries and keys rotated by their positions (RoPE, Su et al. 2021), which arrays may be without saying so.

    The i-th pair is turned by position * base^(-2 i / n_rotated).
    """

    is_in_halves: bool  # as in Hugging Face; else pairs are neighbours
    base: float
    n_rotated: int  # how many dimensions, the first ones
    factor: float = 1  # a divisor of positions in texts longer than those of training (Chen et al. 2023)
    is_llama3: bool = False  # whether it divides the slowest angles alone

    @classmethod
    def like(cls, operation: operations.Rotation, d_k: int) -> Rotation:
        return cls(operation.pairs == "halves", operation.base, operation.for_length(d_k).n_rotated)

    @property
    def angles(self) -> np.ndarray:
        """The angle of each pair per position."""
        angles = float(self.base) ** (-np.arange(0, self.n_rotated, 2) / self.n_rotated)
        if not self.is_llama3:
            return angles / self.factor
        turns = _TRAINED_FOR * angles / (2 * np.pi)
        kept = np.clip((turns - 1) / (4 - 1), 0, 1)
        return angles * (kept + (1 - kept) / self.factor)

    @property
    def operation(self) -> operations.Rotation | None:
        if self.factor != 1:
            return None
        return operations.Rotation(float(self.base), "halves" if self.is_in_halves else "neighbours", self.n_rotated)

    def nodes(self, nodes: Nodes) -> dict[str, Node]:
        def rotate(inputs: Sequence[Rounded], precision: Precision) -> Rounded:
            (rows,) = inputs
            n, d = rows.value.shape[-2:]
            cos, sin, partner = _tables(self, n, d)
            partners = rows.value[..., partner]
            value = rows.value * cos + partners * sin
            spend(value.size)
            if precision.is_rough:
                return Rounded(value)
            error = np.hypot(rows.error * cos, rows.error[..., partner] * sin)
            # angles are in float32 wherever a pass is
            angle_error = 2 * precision.unit + 3 * n * FLOAT32.epsilon
            return Rounded(value, error + angle_error * np.hypot(rows.value, partners))

        return _with_rotated(nodes, rotate)


def nodes_of_each(rotations: Sequence[Rotation], nodes: Nodes) -> dict[str, Node]:
    """The stages of several rotated passes, stacked on a leading axis, without rounding errors."""
    tables: dict[tuple[int, int], list[np.ndarray]] = {}

    def rotate(inputs: Sequence[Rounded], precision: Precision) -> Rounded:
        rows = inputs[0].value
        n, d = rows.shape[-2:]
        if (n, d) not in tables:
            tables[n, d] = [np.stack(each) for each in zip(*(_tables(each, n, d) for each in rotations), strict=True)]
        cos, sin, partner = tables[n, d]
        partners = np.moveaxis(rows[..., partner], -2, 0)
        spend(partners.size)
        return Rounded(rows * cos[:, None].astype(rows.dtype) + partners * sin[:, None].astype(rows.dtype))

    return _with_rotated(nodes, rotate)


@lru_cache(maxsize=4)  # queries and keys are turned alike
def _tables(rotation: Rotation, n: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each number of n rows of d its cosine, the sine that its partner is added with, and this partner."""
    n_pairs = rotation.n_rotated // 2
    first = np.arange(n_pairs) if rotation.is_in_halves else 2 * np.arange(n_pairs)
    second = first + (n_pairs if rotation.is_in_halves else 1)
    angles = np.arange(n)[:, None] * rotation.angles
    cos, sin, partner = np.ones((n, d)), np.zeros((n, d)), np.arange(d)
    cos[:, first] = cos[:, second] = np.cos(angles)
    sin[:, second] = np.sin(angles)
    sin[:, first] = -sin[:, second]
    partner[first], partner[second] = second, first
    return cos, sin, partner


def _with_rotated(nodes: Nodes, rotate: Make) -> dict[str, Node]:
    rotated = {f"{each[0]}_rotated": Node((each,), rotate) for each in nodes["scores"].inputs}
    scores = Node(tuple(rotated), partial(applied, DotProducts()))
    before = [*nodes][: [*nodes].index("scores")]
    return {each: nodes[each] for each in before} | rotated | {**nodes, "scores": scores}


def usual_rotations(d_k: int) -> list[Rotation]:
    """The most common rotations: of all d_k dimensions, without division."""
    halves = (True, False) if d_k % 2 == 0 else ()
    return [Rotation(is_in_halves, base, d_k) for is_in_halves in halves for base in operations.BASES]


def known_rotations(d_k: int) -> Iterator[Rotation]:
    """The rotations of known models, the usual ones first."""
    yield from usual_rotations(d_k)
    for is_in_halves in (True, False):
        for n_rotated in _even_parts(d_k, _PARTS):
            yield from (Rotation(is_in_halves, base, n_rotated) for base in operations.BASES)
        if d_k % 2 == 0:
            yield from (Rotation(is_in_halves, base, d_k, factor) for base in operations.BASES for factor in _FACTORS)
            yield from (Rotation(is_in_halves, 500_000, d_k, factor, is_llama3=True) for factor in _LLAMA3)


def rotations_to_fit(d_k: int) -> Iterator[tuple[Rotation, Literal["base", "factor"]]]:
    """A rotation of each kind, and whether its base or its factor is to be searched."""
    for n_rotated in _even_parts(d_k, (1, *_PARTS[:2])):
        for is_in_halves in (True, False):
            if n_rotated > 2:
                yield Rotation(is_in_halves, operations.BASES[0], n_rotated), "base"
            if n_rotated == d_k:
                yield Rotation(is_in_halves, operations.BASES[0], n_rotated), "factor"


def _even_parts(d_k: int, parts: tuple[float, ...]) -> list[int]:
    return [n for n in dict.fromkeys(int(d_k * part) for part in parts) if n and n % 2 == 0]


# --- Candidates

_SMALL = 2**17  # up to so many numbers, passes are kept in memory
_LARGE = 2**20  # of larger passes nothing is kept while others are examined


@dataclass(frozen=True, eq=False)
class Candidate:
    """A pass that the user's arrays are compared with: a given one, or the one from a reading of the arrays."""

    reading: Reading | None
    sizes: Sizes
    rotation: Rotation | None = None  # of queries and keys, which the pass itself lacks
    _trace: list[Trace] = field(default_factory=list, repr=False)  # empty if it has to be computed again
    _forms: dict[tuple[UserArray, str], list[tuple[Layout, np.ndarray]]] = field(default_factory=dict, repr=False)

    @classmethod
    def of_trace(cls, trace: Trace) -> Candidate:
        sizes = dict(sizes_of({stage.name: stage.shape for stage in trace.stages}))
        if sizes["g"] == sizes["h"]:
            del sizes["g"]  # theirs may hold once what the heads of a group share
        return cls(None, sizes, None, [trace])

    @classmethod
    def of(cls, reading: Reading) -> Candidate:
        """The candidate for a reading of the arrays; OwnArraysError if a number of its pass is not finite."""
        candidate = cls(reading, reading.sizes)
        assert candidate.trace  # computed now, so that it is refused now
        if not candidate.is_small:
            candidate.forget()
        return candidate

    @property
    def trace(self) -> Trace:
        if not self._trace and self.reading:
            spend(sum(each.size for each in self.reading.arrays.values()))
            try:
                self._trace.append(recomputed(self.reading.arrays, self.reading.config))
            except ArrayError as error:
                raise OwnArraysError(str(error)) from None
        return self._trace[0]

    def forget(self) -> None:
        if self.reading:
            self._trace.clear()

    @property
    def is_cached(self) -> bool:
        return bool(self._trace)

    @property
    def is_small(self) -> bool:
        return self.size <= _SMALL

    @property
    def is_large(self) -> bool:
        """Whether memory is too short to keep the pass, so that it is recomputed each time."""
        return self.size > _LARGE

    @cached_property
    def size(self) -> int:
        """How many numbers the pass holds: its parameters, and eight times its largest stage."""
        inputs = self.reading.arrays.values() if self.reading else ()
        return sum(each.size for each in inputs) + 8 * largest_stage(self.sizes)

    @property
    def n_scores(self) -> int:
        return self.trace["scores"].size if "scores" in self.trace else 0

    @property
    def wrong_masks(self) -> list[WrongMask]:
        """The masks that someone may have applied instead of the right one, those of other layers included."""
        if self.reading:
            return list(self.reading.mask.wrong if self.reading.mask else ())
        if "mask" not in self.trace:
            return []
        masks, known = [*wrong_masks(self.trace["mask"].value)], [self.trace["mask"].value]
        for stage in self.trace:
            base, layer = split_layer(stage.name)
            if base == "mask" and layer and not any(np.array_equal(stage.value, each) for each in known):
                known.append(stage.value)
                masks.append(WrongMask("mask of another layer", str(layer), stage.value))
        return masks

    @property
    def hides_all_keys(self) -> bool:
        """Whether the masks leave some query without a visible key."""
        mask = self.reading and self.reading.mask
        return bool(mask and not seen_in(mask.value).any(axis=-1).all())

    @property
    def rotated_by(self) -> Rotation | None:
        """The rotation of the queries and keys, whether the pass includes it or not."""
        operation = self.reading and self.reading.config.rotation
        return Rotation.like(operation, self.sizes["d"]) if operation else self.rotation

    @property
    def formats(self) -> set[Format]:
        """The number formats of a given pass; empty if the pass starts from the user's arrays."""
        inputs = [stage.value for stage in self.trace.stages if stage.is_given] if self.reading is None else []
        return {written_in(value, value.dtype)[0] for value in inputs if value.dtype.kind == "f"}

    def forms(self, array: UserArray, stage: str) -> list[tuple[Layout, np.ndarray]]:
        """An array in attnviz's layout of a stage, for each layout that it may have."""
        if (array, stage) not in self._forms:
            fits = ((layout, fitted(layout, array.value.shape, self.sizes)) for layout in layouts_of(stage))
            forms = [(layout, arranged(array.value, layout, stage, fit)) for layout, fit in fits if fit]
            self._forms[array, stage] = forms
        return self._forms[array, stage]

    def compares(self, stage: str) -> bool:
        """Whether an array of this stage is compared, as the pass doesn't start from it."""
        return self.reading is None or stage not in self.reading.arrays


@dataclass(frozen=True, eq=False)
class Candidates:
    """All passes that a user's arrays may belong to: those without inferred masks, the simplest first, and others."""

    arrays: UserArrays
    likely: Sequence[Candidate]
    failed_searches: set[Hashable] = field(default_factory=set)  # which found nothing near in any one precision

    @cached_property
    def with_inferred_mask(self) -> list[Candidate]:
        """Those that hide more keys than the given masks."""
        likely = [each.reading for each in self.likely if each.reading]
        return [Candidate.of(more) for each in likely for more in with_inferred_mask(each, self.arrays)]


@dataclass(frozen=True, eq=False)
class NodeCache:
    """The unmodified stages of several passes in one precision, each computed once."""

    arrays: UserArrays
    precision: Precision
    _of_traces: dict[Trace, dict[str, Node]] = field(default_factory=dict, repr=False)
    _known: dict[Hashable, Node] = field(default_factory=dict, repr=False)

    def of(self, candidate: Candidate) -> dict[str, Node]:
        """The nodes of a candidate's pass without its rotation; passes share common nodes, unless they are large."""
        if candidate.is_large:
            return nodes_of(candidate.trace, self.read)
        if candidate.trace not in self._of_traces:
            nodes: dict[str, Node] = {}
            read: Mapping = candidate.reading.arrays if candidate.reading else {}
            for name, node in nodes_of(candidate.trace, self.read).items():
                inputs = tuple(id(nodes[each]) for each in node.inputs)
                source = node.operation or id(read.get(name, candidate.trace))
                nodes[name] = self._known.setdefault((name, source, inputs), node)
            self._of_traces[candidate.trace] = nodes
        return self._of_traces[candidate.trace]

    def rotated(self, candidate: Candidate) -> dict[str, Node]:
        """The nodes of a candidate's pass, rotated by its rotation."""
        nodes = self.of(candidate)
        return candidate.rotation.nodes(nodes) if candidate.rotation else nodes

    def read(self, stage: Stage) -> Rounded:
        """A given stage, with the rounding error of its format or digits."""
        spend(stage.size)
        array, fewest = self.arrays.get(stage.name), self.precision.digits
        digits = array.format_and_digits[1] if array and fewest else None
        return Rounded.read(stage.value, self.precision, digits if digits and fewest and digits.n >= fewest.n else None)
