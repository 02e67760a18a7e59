"""Trace: the graph of stages of one pass. Views read it and compute nothing themselves."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, wraps
from itertools import chain
from typing import Any, Protocol, TypeVar

from attnviz.core.operations.operation import Source
from attnviz.core.operations.rule import Rule, Run
from attnviz.core.selection import Axis, Selection
from attnviz.core.stage import Stage, name_in_layer, single_layer_names, split_layer
from attnviz.core.terms import Cell, Terms
from attnviz.core.what_if import StageGraph


class HasTemplate(Protocol):
    """The part of a trace that caching needs."""

    @property
    def template(self) -> Hashable | None:
        """Everything that decides a pass except its numbers."""


Traced = TypeVar("Traced", bound=HasTemplate)
Result = TypeVar("Result")

MAX_TEMPLATES = 32
"""How many templates, the latest, have their results kept; each is about as large as the texts of a pass."""


def cached_on_trace(function: Callable[[Traced], Result]) -> Callable[[Traced], Result]:
    """Cache a function's result on the trace.

    The result must not refer to the trace: it would not be freed before the next collection of reference cycles.
    """
    return _cached(function, vars)


def cached_by_template(function: Callable[[Traced], Result]) -> Callable[[Traced], Result]:
    """Cache a function's result for all traces of a template, or on the trace if it has none.

    The result must follow from the template alone, whatever the numbers are, and must not be modified.
    """
    return _cached(function, lambda trace: vars(trace) if trace.template is None else _template_cache(trace.template))


def _cached(function: Callable[[Traced], Result], cache_of: Callable[[Traced], dict]) -> Callable[[Traced], Result]:
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def cached(trace: Traced) -> Result:
        results = cache_of(trace)
        if name not in results:
            results[name] = function(trace)
        return results[name]

    return cached


@lru_cache(maxsize=MAX_TEMPLATES)
def _template_cache(template: Hashable) -> dict[str, Any]:
    """The cached results of a template."""
    return {}


Cells = tuple[Cell, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Trace(StageGraph):
    """All stages of one pass: a mapping from their names to them, in the order they were made.

    `trace["attention"]` is a `Stage`, which NumPy takes for its array. In a pass of several layers names end in the
    number of the layer: "attention_2". A trace equals itself alone.

    Attributes
    ----------
    stages : tuple of Stage
        All stages.
    labels : mapping of axis names to labels
        The words along the axes "token", "query", "key", "context token" and "answer", no two alike on one axis. In a
        layer whose words are others they go by the axis and the layer, such as "key_3".
    changes : tuple of Change
        The numbers set by hand, in order.
    origin : Origin
        Where its parameters come from.
    template : hashable, optional
        Decides everything about the trace except its numbers: traces of one template have the same stages, words, rules
        and texts. None if unknown, and for traces made from another one.
    batch : tuple of Trace
        The traces of all sentences of a batch, if this is the first; else empty.

    Examples
    --------
    >>> from attnviz import trace_of
    >>> trace = trace_of("the cat sat")
    >>> print(trace)
    Trace: 18 stages, layers: 1, heads: 2, queries: 3, keys: 3
    given: ...
    computed: x (3, 8), q (2, 3, 4), k (2, 3, 4), v (2, 3, 4), scores (2, 3, 3), ...
    >>> [name for name, stage in trace.items() if stage.is_headed][:3]
    ['w_q', 'w_k', 'w_v']
    >>> trace["attention"][0].sum(axis=-1).round(6)  # of each query in the first head
    array([1., 1., 1.])
    >>> trace.inputs("heads")[0].name, trace.lines("heads")
    ('attention', ('heads = attention @ v',))
    """

    batch: tuple[Trace, ...] = field(default=(), init=False)

    def __repr__(self) -> str:
        given = ", ".join(f"{stage.name} {stage.shape}" for stage in self.stages if stage.is_given)
        computed = ", ".join(f"{stage.name} {stage.shape}" for stage in self.stages if not stage.is_given)
        attention = next(stage for stage in reversed(self.stages) if split_layer(stage.name)[0] == "attention")
        heads, queries, keys = attention.shape
        size = f"layers: {self.n_layers}, heads: {heads}, queries: {queries}, keys: {keys}"
        return f"Trace: {len(self)} stages, {size}\ngiven: {given}\ncomputed: {computed}"

    @property
    def output(self) -> Stage:
        """The last computed stage; without w_o the concatenation."""
        return next(stage for stage in reversed(self.stages) if not stage.is_given)

    @cached_property
    def n_layers(self) -> int:
        """The number of layers."""
        return max(*(split_layer(stage.name)[1] for stage in self.stages), 1)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The pass as seen from each of its layers."""
        # not cached: a single layer refers to the trace, so that neither would be freed soon
        return (Layer(1, self, self._names),) if self.n_layers == 1 else self._layers

    @cached_property
    def _layers(self) -> tuple[Layer, ...]:
        return tuple(self._layer(number) for number in range(1, self.n_layers + 1))

    @cached_property
    def _names(self) -> dict[str, str]:
        return {stage.name: stage.name for stage in self.stages}

    def layer_of(self, name: str) -> Layer:
        """The layer of a stage. One without a number belongs to the layer of its inputs, else to the last that has it.

        The embeddings and positions of the text that an encoder reads belong to its first layer.
        """
        base, number = split_layer(name)
        if self.n_layers == 1 or not number:
            number = max([split_layer(each)[1] for each in self[name].inputs], default=0)
        if number and self.n_layers > 1:
            return self.layers[number - 1]
        if self.has_encoder:
            base = base.removeprefix("context_")
        having = [layer for layer in reversed(self.layers) if layer.names.get(base) == name]
        return having[0] if having else next(layer for layer in self.layers if name in layer.names.values())

    def _layer(self, number: int) -> Layer:
        keys = next(name for name in ("k", "compressed") if name_in_layer(name, number) in self)  # absorbed: no keys
        input_name, keys_input = (self._outside(name_in_layer(name, number)) for name in ("q", keys))
        names = single_layer_names(self._by_name, number, input_name, keys_input)
        stages = tuple(stage.renamed(names) for stage in self.stages)
        split = [(*split_layer(axis), words) for axis, words in self.labels.items()]
        labels = {axis: words for of_layer in (0, number) for axis, of, words in split if of == of_layer}
        of_layers = ("layers", "layer_titles", "sides")
        origin = replace(self.origin, **{name: getattr(self.origin, name)[number - 1 : number] for name in of_layers})
        layer = replace(self, stages=stages, labels=labels, origin=origin)
        return Layer(number, layer, {name: full for full, name in names.items()})

    def _outside(self, name: str) -> str:
        """The first stage outside of its layer that is reached by following the first input of each stage."""
        number = split_layer(name)[1]
        while split_layer(name)[1] == number:
            name = self[name].inputs[0]
        return name

    def words(self, name: str, axis: str) -> tuple[str, ...] | None:
        """The words along an axis of the stage `name`; None if it has none."""
        layer = split_layer(name)[1]
        return self.labels.get(name_in_layer(axis, layer)) or self.labels.get(axis)

    @cached_property
    def has_encoder(self) -> bool:
        """Whether its first layers are an encoder: their queries are made of the context."""
        queries = (stage for stage in self.stages if stage.axes[:2] == ("head", "query") and stage.inputs)
        return any(self[stage.inputs[0]].axes[0] == "context token" for stage in queries)

    @property
    @cached_by_template
    def _axes(self) -> dict[str, tuple[Axis, ...]]:
        n_heads: dict[int, int] = {}
        for stage in self.stages:
            if stage.is_headed:
                n_heads.setdefault(split_layer(stage.name)[1], stage.shape[0])
        return {
            stage.name: tuple(
                Axis.of(
                    name,
                    n,
                    n_heads=n_heads.get(split_layer(stage.name)[1], 1),
                    words=self.words(stage.name, name),
                    has_queries=self.has_encoder,
                )
                for name, n in zip(stage.axes, stage.shape, strict=True)
            )
            for stage in self.stages
        }

    def axes(self, name: str) -> tuple[Axis, ...]:
        """The axes of the stage `name`."""
        return self._axes[self[name].name]

    @property
    @cached_by_template
    def lengths(self) -> dict[str, int]:
        """The length of each coordinate of a selection: that of the longest axis."""
        sizes: dict[str, int] = {}
        for coordinate, n in (each for axes in self._axes.values() for axis in axes for each in axis.coordinates):
            sizes[coordinate] = max(n, sizes.get(coordinate, n))
        return sizes

    def cell_at(self, name: str, selection: Selection) -> Cell:
        """The selected cell of the stage `name`; the last one on an axis that is shorter than the selection."""
        return self[name].cell(tuple(axis.place(selection) for axis in self.axes(name)))

    def selection_at(self, cell: Cell, selection: Selection) -> Selection:
        """The selection after picking `cell`; coordinates that its stage lacks stay."""
        for axis, place in zip(self.axes(cell.stage), cell.index, strict=True):
            if axis.shared_by > 1 and axis.place(selection) == place:
                continue  # keep the selected one of the heads that share this place
            selection = replace(selection, **axis.coordinates_at(place))
        return selection

    def terms(self, name: str, index: Sequence[int], read: Callable[[str, Run], Cells] | None = None) -> Terms:
        """How the cell at `index` of the stage `name` was computed.

        Parameters
        ----------
        name : str
            The name of the stage.
        index : sequence of int
            One for each axis of the stage: (head, query, key) for "scores".
        read : callable, optional
            Replaces `Trace.read`, for instance by a caching function.

        Returns
        -------
        Terms
            The cells that it was computed from, and the number.

        Raises
        ------
        IndexError
            If the stage has no such cell.

        Examples
        --------
        >>> from attnviz import trace_of
        >>> trace = trace_of("the cat sat")
        >>> terms = trace.terms("scores", (0, 2, 1))  # head 1, the query of "sat", the key of "cat"
        >>> for q, k in terms.lines:
        ...     print(f"{q} = {q.value:.2f} times {k} = {k.value:.2f}")
        q[0,2,0] = -0.99 times k[0,1,0] = 1.29
        q[0,2,1] = -0.68 times k[0,1,1] = -1.84
        q[0,2,2] = 1.05 times k[0,1,2] = 2.28
        q[0,2,3] = -1.56 times k[0,1,3] = -0.80
        >>> round(terms.total, 2)
        3.62
        """
        stage = self[name]
        try:
            index = tuple(map(operator.index, index))
        except TypeError:
            raise IndexError(f"An index has a whole number for each of {stage.axes}; got {index!r}") from None
        if len(index) != len(stage.shape) or not all(0 <= i < n for i, n in zip(index, stage.shape, strict=True)):
            raise IndexError(f"{name} has axes {stage.axes} of lengths {stage.shape}; got the index {index}")
        if stage.is_overridden(index):
            return Terms((), stage.cell(index).value, recipe=stage.overridden_by or "set by you")
        if isinstance(stage.operation, Source):
            return Terms((), stage.cell(index).value, recipe=stage.operation.recipe)
        read = read or self.read
        lines = [
            list(zip(*(read(stage.inputs[int(run.source)], run) for run in runs), strict=True))
            for runs in self._rules[name].runs(index)
        ]
        numbers = ([tuple([cell.value for cell in cells]) for cells in line] for line in lines)
        return Terms(tuple(chain(*lines)), *stage.operation.recomputed(index, *numbers))

    def read(self, name: str, run: Run) -> Cells:
        """The cells of a run along the stage `name`."""
        array = self[name].value
        return tuple(Cell(name, index, float(array[index])) for index in run.indices)

    def rule(self, name: str) -> Rule | None:
        """How any cell of the stage `name` is computed; None for a given stage."""
        return self._rules.get(self[name].name)

    @cached_property
    def _rules(self) -> dict[str, Rule]:
        return {
            stage.name: stage.operation.rule(*self.inputs(stage.name))
            for stage in self.stages
            if not isinstance(stage.operation, Source)
        }

    def inputs(self, name: str) -> tuple[Stage, ...]:
        """The stages that the stage `name` was computed from."""
        return tuple(self[each] for each in self[name].inputs)

    def lines(self, name: str) -> tuple[str, ...]:
        """The NumPy code of a stage, with a line for each number set by hand; empty for a given stage."""
        stage = self[name]
        if isinstance(stage.operation, Source):
            return ()
        changes = (change.numpy() for change in self.changes if change.stage == name)
        return (*stage.operation.numpy(name, *stage.inputs), *changes)

    def names_at(self, name: str, index: Sequence[int]) -> list[str]:
        """The label of each place of an index, or of its beginning: head 2, cat, sat."""
        return [axis.label(place) for axis, place in zip(self.axes(name), index, strict=False)]

    def name_of(self, cell: Cell) -> str:
        """A cell in words: scores[head 2, cat, sat]."""
        return f"{cell.stage}[{', '.join(self.names_at(cell.stage, cell.index))}]"


@dataclass(frozen=True)
class Layer:
    """A pass as seen from one of its layers, for the texts and pictures of that layer."""

    number: int  # counted from 1
    trace: Trace  # with this layer's stages under their single-layer names, and its input as `x`
    names: Mapping[str, str]  # from each name in `trace` to the name in the whole pass
