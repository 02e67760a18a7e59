"""Stage: a named array of a pass and the operation that computed it; and how stages of several layers are named."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import attrgetter
from typing import Any

import numpy as np

from attnviz.core.arrays import MAX_SQUARED_NUMBER, ROUNDING, Numbers
from attnviz.core.errors import ArrayError
from attnviz.core.operations.operation import GIVEN, Operation, Source
from attnviz.core.terms import Cell

_NUMBERED = re.compile(r"(?P<name>.+)_(?P<layer>[1-9][0-9]*)")


def name_in_layer(name: str, layer: int) -> str:
    """The name of a stage in a layer, counted from 1; layer 0 is for a single layer, and for what layers share.

    >>> name_in_layer("scores", 2), name_in_layer("scores", 0)
    ('scores_2', 'scores')
    """
    return f"{name}_{layer}" if layer else name


def split_layer(name: str) -> tuple[str, int]:
    """The name of a stage without its layer, and the layer.

    >>> split_layer("w_q_1"), split_layer("w_q")
    (('w_q', 1), ('w_q', 0))
    """
    match = _NUMBERED.fullmatch(name)
    return (match["name"], int(match["layer"])) if match else (name, 0)


def single_layer_names(names: Iterable[str], layer: int, input_name: str, keys_input: str) -> dict[str, str]:
    """Map the name of each stage to the one it would have if this layer were the only one.

    The input of the layer becomes `x`. What its keys are made from becomes `context`, unless that is the input. Stages
    of other layers keep their names; what is displaced is numbered 1.

    >>> single_layer_names(["x", "q_1", "output_1", "q_2"], 2, "output_1", "output_1")
    {'x': 'x_1', 'q_1': 'q_1', 'output_1': 'x', 'q_2': 'q'}
    >>> single_layer_names(["context", "x", "q_1", "memory", "output_2"], 3, "output_2", "memory")
    {'context': 'context_1', 'x': 'x_1', 'q_1': 'q_1', 'memory': 'context', 'output_2': 'x'}
    """
    layer_names = {name: base if of == layer else name for name in names for base, of in (split_layer(name),)}
    roles = {"x": input_name, "context": "" if keys_input == input_name else keys_input}
    if input_name == "context":  # a stream with embeddings and positions of its own
        roles |= {name: f"context_{name}" for name in ("embeddings", "positions") if f"context_{name}" in layer_names}
    displaced = {role: name_in_layer(role, 1) for role, full in roles.items() if role in layer_names and role != full}
    return layer_names | displaced | {full: role for role, full in roles.items() if full in layer_names}


_NAME = attrgetter("name")


@dataclass(eq=False, repr=False, slots=True)  # never modified; frozen, it would take five times as long to create
class Stage:
    """A named array and the operation that computed it from earlier stages; NumPy accepts it as an array.

    Attributes
    ----------
    name : str
        Its name in the trace, such as "scores".
    numbers : Numbers
        Its array, computed when needed; read it as `value`.
    axes : tuple of str
        What each axis counts, such as ("head", "query", "key").
    shape : tuple of int
        The lengths of the axes.
    operation : Operation or Source
        What computed it, such as a `Softmax`; or the source of given numbers.
    inputs : tuple of str
        The names of the stages that the operation reads.
    overridden : frozenset of tuple of int
        The cells that hold a number set by hand: their indices, or the beginnings of indices (see `Trace.with_change`).
    overridden_by : str
        The source of these numbers (see `Trace.with_stages`); empty for numbers set by hand.

    Examples
    --------
    >>> import numpy as np
    >>> from attnviz import trace_of
    >>> attention = trace_of("the cat sat")["attention"]
    >>> attention.axes, attention.shape, attention.inputs
    (('head', 'query', 'key'), (2, 3, 3), ('masked',))
    >>> int(attention[0, 2].argmax())  # the key that the third word looks at most, in the first head
    1
    >>> np.round(attention, 1).shape, attention.value.dtype
    ((2, 3, 3), dtype('float64'))
    """

    name: str
    numbers: Numbers
    axes: tuple[str, ...]
    shape: tuple[int, ...]
    operation: Operation | Source
    inputs: tuple[str, ...] = ()
    overridden: frozenset[tuple[int, ...]] = frozenset()
    overridden_by: str = ""

    @classmethod
    def given(cls, name: str, numbers: Numbers, axes: tuple[str, ...], source: Source = GIVEN) -> Stage:
        """A stage of given numbers."""
        return cls(name, numbers, axes, numbers.array.shape, source)

    @classmethod
    def computed(cls, name: str, operation: Operation, inputs: Sequence[Stage]) -> Stage:
        """The stage that an operation computes from others, at first use.

        If the inputs are so large that a number may exceed float64, it is computed and checked now.

        Raises
        ------
        ArrayError
            If a number is too large for float64.
        """
        bound = operation.bound(*inputs)
        if bound < MAX_SQUARED_NUMBER:
            numbers = Numbers(bound, (operation, inputs))
        else:
            numbers = Numbers.of(_checked(name, operation, inputs))
        axes, shape = operation.extent(*inputs)
        return cls(name, numbers, axes, shape, operation, tuple(map(_NAME, inputs)))

    def __getitem__(self, index: Any) -> Any:
        return self.value[index]

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.value, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        return f"Stage {self.name} {self.shape}, axes ({', '.join(self.axes)}):\n{self.value!r}"

    @property
    def value(self) -> np.ndarray:
        """Its array, read-only: of float64, or bool for a mask that selects. It is computed at first use."""
        return self.numbers.array

    @property
    def bound(self) -> float:
        """An upper bound of its numbers (see `Numbers`)."""
        return self.numbers.bound

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)

    @property
    def is_given(self) -> bool:
        """Whether no operation computed it."""
        return isinstance(self.operation, Source)

    @property
    def is_headed(self) -> bool:
        """Whether it has one array for each head, along its first axis."""
        return self.axes[0] == "head"

    def cell(self, index: tuple[int, ...]) -> Cell:
        """The number at `index`, with its place."""
        return Cell(self.name, index, float(self.value[index]))

    def recomputed(self, inputs: Sequence[Stage]) -> Stage:
        """The stage computed from new inputs; numbers set by hand stay."""
        assert not isinstance(self.operation, Source)
        made = Stage.computed(self.name, self.operation, inputs)
        if not self.overridden:
            return made
        value = made.value.copy()
        for index in self.overridden:
            value[index] = self.value[index]
        return replace(self, numbers=Numbers.of(value))

    def renamed(self, names: Mapping[str, str]) -> Stage:
        """The stage with new names for itself and its inputs."""
        return replace(self, name=names[self.name], inputs=tuple(names[each] for each in self.inputs))

    def with_value(self, value: np.ndarray) -> Stage:
        """The stage with new numbers."""
        return replace(self, numbers=Numbers.of(np.array(value, dtype=np.float64)))

    def with_numbers(self, numbers: Numbers, recipe: str) -> Stage:
        """The stage with new numbers from `recipe`; those that differ only by rounding stay."""
        own, other = self.value.astype(np.float64), numbers.array
        apart = _differing(own, other)
        if not apart.any():
            return self
        numbers = Numbers.of(np.where(apart, other, own))
        return replace(self, numbers=numbers, overridden=frozenset(_index_prefixes(apart)), overridden_by=recipe)

    def with_cells(self, number: float, indices: Iterable[tuple[int, ...]]) -> Stage:
        """The stage with `number` at some indices, or in all cells whose indices begin with them."""
        value, overridden = self.value.copy(), frozenset(indices)
        for index in overridden:
            value[index] = number
        return replace(self, numbers=Numbers.of(value), overridden=self.overridden | overridden)

    def is_overridden(self, index: tuple[int, ...]) -> bool:
        """Whether the cell at `index` holds a number set by hand."""
        return bool(self.overridden) and not self.overridden.isdisjoint(index[:n] for n in range(1, len(index) + 1))

    @property
    def is_overridden_whole(self) -> bool:
        """Whether every cell was set by hand."""
        return all((place,) in self.overridden for place in range(len(self)))


def _differing(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Where two arrays differ by more than rounding."""
    finite = np.isfinite(one) & np.isfinite(other)
    largest = max(np.abs(each[finite]).max(initial=0.0) for each in (one, other))
    with np.errstate(over="ignore"):  # two numbers of float64 may be further apart than its largest
        distance = np.abs(np.subtract(one, other, out=np.zeros(one.shape), where=finite))
    return np.where(finite, distance > ROUNDING * largest, one != other)


def _index_prefixes(cells: np.ndarray, before: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """The indices of the True cells, abbreviated to their common beginning where all cells below it are True."""
    for place, each in enumerate(cells):
        if each.all():
            yield (*before, place)
        elif each.any():
            yield from _index_prefixes(each, (*before, place))


def _checked(name: str, operation: Operation, inputs: Sequence[Stage]) -> np.ndarray:
    """The result of an operation; ArrayError unless every number is finite or hidden on purpose."""
    arrays = [stage.value for stage in inputs]
    with np.errstate(over="ignore", invalid="ignore"):
        values = operation.compute(*arrays)
    hidden: np.ndarray | bool = False
    if operation.hides:  # an input hides the key, and no sum overflowed to -inf
        hiding = (
            ~array if array.dtype == bool else np.isneginf(array) for array in arrays if array.ndim > 1
        )  # no sinks
        hidden = reduce(np.logical_or, hiding) & np.isneginf(values)
    if not (np.isfinite(values) | hidden).all():
        raise ArrayError(f"{name} holds numbers beyond float64 (1.8e308); give smaller inputs or parameters.")
    return values


Arrays = dict[str, np.ndarray]
"""Arrays by the names of their stages; an extra first axis is a batch (see `Operation`)."""


def ancestors(stages: Sequence[Stage], name: str) -> tuple[Stage, ...]:
    """The stage `name` and everything it depends on, in order.

    >>> from attnviz import Settings, trace_of
    >>> [stage.name for stage in ancestors(trace_of(Settings("the cat sat")).stages, "k")]
    ['embeddings', 'x', 'w_k', 'k']
    """
    wanted = {name}
    for stage in reversed(stages):
        if stage.name in wanted:
            wanted.update(stage.inputs)
    return tuple(stage for stage in stages if stage.name in wanted)


def forward(stages: Sequence[Stage], given: Mapping[str, np.ndarray]) -> Arrays:
    """The array of each stage, with new numbers in some given stages; any of these may be a batch."""
    arrays: Arrays = {}
    for stage in stages:
        if isinstance(stage.operation, Source):
            arrays[stage.name] = given.get(stage.name, stage.value)
        else:
            arrays[stage.name] = stage.operation.compute(*(arrays[each] for each in stage.inputs))
    return arrays


def backward(stages: Sequence[Stage], arrays: Mapping[str, np.ndarray], upstream: Mapping[str, np.ndarray]) -> Arrays:
    """The derivatives of some number with respect to every cell it depends on, boolean masks aside.

    `upstream` has those with respect to the last stages.

    A cell set by hand is a constant: it has a derivative, but passes none back.
    """
    gradients = dict(upstream)
    for stage in reversed(stages):
        if stage.name not in gradients or isinstance(stage.operation, Source):
            continue
        upstream_here = gradients[stage.name]
        if stage.overridden:
            upstream_here = upstream_here.copy()
            for index in stage.overridden:
                upstream_here[index] = 0.0
        derivatives = stage.operation.vjp(upstream_here, *(arrays[each] for each in stage.inputs))
        for source, derivative in zip(stage.inputs, derivatives, strict=True):
            if derivative is not None:
                gradients[source] = gradients[source] + derivative if source in gradients else derivative
    return gradients
