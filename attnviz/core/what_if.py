"""The stages of a trace, and the traces made from one by changing numbers, a mask, words or sources."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, KeysView, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self, cast

import numpy as np

from attnviz.core.arguments import check_type, quoted
from attnviz.core.arrays import mask_array, mask_numbers, stage_numbers
from attnviz.core.changes import HIDEABLE, Change
from attnviz.core.errors import ArrayError, ChangeError
from attnviz.core.operations.operation import Source
from attnviz.core.parameters import GIVEN, Origin
from attnviz.core.stage import Stage, name_in_layer, split_layer

WORD_AXES = ("token", "query", "key", "context token", "answer")
"""The axes that can be labelled with words."""


@dataclass(frozen=True, eq=False, repr=False)
class StageGraph(Mapping[str, Stage]):
    """The stages of a trace by name, and the traces made from it.

    Stages that a change doesn't reach are the same objects.
    """

    stages: tuple[Stage, ...]
    labels: Mapping[str, tuple[str, ...]]
    changes: tuple[Change, ...] = ()
    origin: Origin = GIVEN
    template: Hashable | None = field(default=None, init=False)  # not an argument, so that `replace` drops it

    @cached_property
    def _by_name(self) -> dict[str, Stage]:
        return {stage.name: stage for stage in self.stages}

    def __getitem__(self, name: str) -> Stage:
        if name not in self._by_name:
            raise KeyError(f"no stage {name!r}; this trace has {', '.join(self._by_name)}")
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self.stages)

    def keys(self) -> KeysView[str]:
        """The names of the stages, in order."""
        return self._by_name.keys()  # `print` lists them

    __eq__ = object.__eq__  # not the comparison of all arrays
    __hash__ = object.__hash__

    def with_change(self, name: str, index: Sequence[int], value: float) -> Self:
        """The trace with one number set by hand: `with_changes` for a single change."""
        return self.with_changes(Change(name, cast(tuple[int, ...], index), value))

    def with_changes(self, *changes: Change) -> Self:
        """The trace with some numbers set by hand, and everything that depends on them recomputed.

        Stages that no change reaches are the same objects. A cell that is set keeps its number when its stage is
        recomputed; of two changes to one cell the later holds.

        Parameters
        ----------
        *changes : Change
            The numbers, in order.

        Returns
        -------
        Trace
            The changed pass; this one stays as it is.

        Raises
        ------
        ChangeError
            If a change names no cell of this trace, or the cell cannot hold its number.
        ArrayError
            If a number that follows is too large for float64.

        Examples
        --------
        >>> from attnviz import Change, trace_of
        >>> before = trace_of("the cat sat")
        >>> after = before.with_changes(Change("scores", (0, 2, 1), 0.0))
        >>> before["attention"][0, 2].round(2), after["attention"][0, 2].round(2)
        (array([0.03, 0.83, 0.14]), array([0.11, 0.45, 0.44]))
        >>> after["q"] is before["q"], after["output"] is before["output"]
        (True, False)
        """
        for change in changes:
            self.check(change)

        def changed(stage: Stage) -> Stage:
            for change in changes:
                if change.stage == stage.name:
                    stage = stage.with_cells(change.value, change.indices(stage.shape))
            return stage

        return replace(self, stages=self._recomputed(changed), changes=self.changes + changes)

    def _recomputed(self, change: Callable[[Stage], Stage]) -> tuple[Stage, ...]:
        """The stages after `change`, with those downstream recomputed; unaffected ones are the same objects."""
        made: dict[str, Stage] = {}
        others: set[str] = set()
        for old in self.stages:
            stale = not others.isdisjoint(old.inputs)
            new = change(old.recomputed([made[each] for each in old.inputs]) if stale else old)
            made[old.name] = new
            if new is not old:
                others.add(old.name)
        return tuple(made.values())

    def check(self, change: Change) -> None:
        """Raise ChangeError unless `change` fits a stage of this trace."""
        check_type("A change", change, Change, 'a Change, as Change("attention", (0, 0, 1), 1.0) is', ChangeError)
        if change.stage not in self:
            names = ", ".join(stage.name for stage in self.stages)
            raise ChangeError(f"A change names a stage of the pass: {names}; got {change.stage[:40]!r}.")
        change.check(self[change.stage])

    def with_mask(self, visible: np.ndarray, recipe: str) -> Self:
        """The trace with a new mask, and everything that depends on it recomputed.

        Parameters
        ----------
        visible : ndarray of bool (queries, keys) or (heads, queries, keys)
            True where the key is visible.
        recipe : str
            Where it comes from, in words.

        Returns
        -------
        Trace
            The changed pass.

        Raises
        ------
        ArrayError
            If it doesn't fit the trace, or layers read texts of unlike lengths.

        Examples
        --------
        >>> import numpy as np
        >>> from attnviz import trace_of
        >>> trace = trace_of("the cat sat").with_mask(np.tri(3, dtype=bool), "each word sees itself and earlier ones")
        >>> trace["attention"][0].round(2)
        array([[1.  , 0.  , 0.  ],
               [0.75, 0.25, 0.  ],
               [0.03, 0.83, 0.14]])
        """
        visible = mask_array("visible", visible)
        scores, *others = (stage for stage in self.stages if split_layer(stage.name)[0] == "scores")
        if any(each.shape[1:] != scores.shape[1:] for each in others):
            raise ArrayError(
                "A mask for all layers needs as many queries and keys in each; got "
                f"{[each.shape[1:] for each in (scores, *others)]}. Set cells of mask_1 and so on, by with_changes."
            )
        axes = scores.axes[-visible.ndim :]
        numbers, source = mask_numbers(visible, *scores.shape), Source(recipe)

        def masked(stage: Stage) -> Stage:
            is_mask = split_layer(stage.name)[0] == "mask"
            return Stage.given(stage.name, numbers, axes, source) if is_mask else stage

        return replace(self, stages=self._recomputed(masked))

    def with_stages(self, values: Mapping[str, np.ndarray], recipe: str) -> Self:
        """The trace with new numbers in some stages, and everything that depends on them recomputed.

        Parameters
        ----------
        values : mapping of stage names to ndarray
            Arrays of the stages' shapes; -inf may stand where a key is hidden.
        recipe : str
            Where the numbers are from, in words.

        Returns
        -------
        Trace
            The changed pass.

        Raises
        ------
        ArrayError
            If one doesn't fit its stage, or a number that follows is too large for float64.

        Examples
        --------
        >>> from attnviz import trace_of
        >>> french, english = trace_of("le chat dort"), trace_of("the cat sat")
        >>> mixed = english.with_stages({"v": french["v"]}, "the values of another sentence")
        >>> mixed["attention"] is english["attention"], mixed["heads"] is english["heads"]
        (True, False)
        """
        check_type("values", values, Mapping, 'arrays by their stages, as {"attention": array} is')
        if unknown := [name for name in values if name not in self]:
            raise ArrayError(f"values are of stages of the pass: {', '.join(self)}; got {quoted(unknown[0])}.")

        def changed(stage: Stage) -> Stage:
            if stage.name not in values:
                return stage
            hides = split_layer(stage.name)[0] in HIDEABLE
            return stage.with_numbers(stage_numbers(stage.name, values[stage.name], stage.shape, hides=hides), recipe)

        return replace(self, stages=self._recomputed(changed))

    def with_values(self, values: Mapping[str, np.ndarray]) -> Self:
        """The trace with gradients or differences in place of its numbers, to draw them in the same pictures."""
        return replace(
            self,
            stages=tuple(
                stage.with_value(values[stage.name]) if stage.name in values else stage for stage in self.stages
            ),
        )

    def with_first_stages(self, stages: Iterable[Stage]) -> Self:
        """The trace with `stages` in front, replacing given ones of the same names."""
        first = tuple(stages)
        names = {stage.name for stage in first}
        return replace(self, stages=first + tuple(stage for stage in self.stages if stage.name not in names))

    def with_sources(self, recipes: Mapping[str, str]) -> Self:
        """The trace with the sources of its given stages."""
        return replace(
            self,
            stages=tuple(
                replace(stage, operation=Source(recipes[stage.name])) if stage.name in recipes else stage
                for stage in self.stages
            ),
        )

    def labelled(self, **labels: Sequence[str]) -> Self:
        """The trace with new words along some of its axes.

        Parameters
        ----------
        **labels : sequence of str
            A word for each place along an axis: "token", "query", "key", "context_token" or "answer"; for the axis in
            one of several layers "key_3". Axes that the trace doesn't have are ignored.

        Returns
        -------
        Trace
            The pass with these words.

        Raises
        ------
        ArrayError
            If an axis is unknown, or has more or fewer places than words.

        Examples
        --------
        >>> import numpy as np
        >>> from attnviz import Parameters, attend
        >>> trace = attend(np.eye(2), parameters=Parameters()).labelled(query=["le", "chat"], key=["le", "chat"])
        >>> trace.names_at("scores", (0, 1, 0))
        ['head 1', 'chat', 'le']
        """
        named = {
            name_in_layer(axis.replace("_", " "), layer): words
            for each, words in labels.items()
            for axis, layer in (split_layer(each),)
        }
        # one set for all axes is faster, as every pass of settings is labelled
        lengths = {
            (axis, split_layer(stage.name)[1], n)
            for stage in self.stages
            for axis, n in zip(stage.axes, stage.shape, strict=True)
        }
        for each, words in named.items():
            axis, layer = split_layer(each)
            layers = {layer} if layer else {of for _, of, _ in lengths if name_in_layer(axis, of) not in named} | {0}
            _check_words(axis, words, [n for name, of, n in lengths if name == axis and of in layers])
        return replace(self, labels={**self.labels, **{axis: tuple(words) for axis, words in named.items()}})

    def with_origin(self, origin: Origin) -> Self:
        """The trace with the origin of its parameters."""
        return replace(self, origin=origin)

    def with_template(self, template: Hashable) -> Self:
        """The trace with a template, which decides everything but its numbers."""
        made = replace(self)
        object.__setattr__(made, "template", template)
        return made

    def with_batch(self, batch: Sequence[Self]) -> Self:
        """The trace with the traces of all sentences of its batch."""
        made = replace(self)
        object.__setattr__(made, "batch", tuple(batch))
        return made


def _check_words(axis: str, words: Sequence[str], lengths: Sequence[int]) -> None:
    written = axis.replace(" ", "_")
    if axis not in WORD_AXES:
        known = ", ".join(each.replace(" ", "_") for each in WORD_AXES)
        raise ArrayError(f"Words stand along {known}; got {written[:40]!r}.")
    is_list = isinstance(words, Sequence | np.ndarray) and not isinstance(words, str)
    if not is_list or not all(isinstance(each, str) for each in words):
        raise ArrayError(f"{written} must be a sequence of words; got {type(words).__name__}. Give a list of str.")
    if any(n != len(words) for n in lengths):
        raise ArrayError(
            f"{written} must have a word for each of {' and '.join(map(str, sorted(lengths)))} places along that "
            f"axis; got {len(words)}. Give as many, or leave {written} out: its places are numbered then."
        )
