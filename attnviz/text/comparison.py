"""Comparison: someone's own arrays beside a pass, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from attnviz.analysis.agreement import Agreement
from attnviz.analysis.arraynames import Meaning, Orientation, named
from attnviz.analysis.diagnosis import UNSEEING, Candidate, Diagnosis, Examiner
from attnviz.analysis.layouts import IN_OUT, JOINED, LAYOUTS, OUT_IN, Layout
from attnviz.analysis.mistakes import Mistake
from attnviz.analysis.ownarrays import OwnArrays, own_arrays, readings, sizes_of
from attnviz.analysis.ownpass import own_pass
from attnviz.analysis.rounding import Precision
from attnviz.core.errors import ArrayError, OwnArraysError
from attnviz.core.parameters import PARAMETER_AXES
from attnviz.core.trace import Trace
from attnviz.text.comparing import capital, cause, listed, off, shortened, title
from attnviz.text.comparisontable import Row, html_of


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Someone's arrays beside attnviz's pass; `str` says what came out.

    Attributes
    ----------
    stages : tuple of Agreement
        One for each stage that was compared, in the order of the pass.
    first : Agreement or None
        The first that differs by more than rounding.
    causes : tuple of Mistake
        With these mistakes, one after the other, more of the arrays agree.
    alternatives : tuple of Mistake
        Others than the first cause that these arrays don't tell from it.
    explained : bool
        Whether all of the arrays agree, if need be with the causes.
    read : tuple of str
        A sentence on each array that was read otherwise than attnviz lays it out.
    not_recomputed : tuple of str
        The stages that were compared with nothing, as nothing earlier was given to recompute them from.
    unread : tuple of str
        The names of the arrays that are of no known stage.
    precision : str
        The coarsest of the arrays': float16, float32 or float64.
    rows : tuple of Row
        What each array was read as, and what came out; those that were compared come first.
    trace : Trace or None
        Attnviz's pass: the given one; or that of their inputs and parameters, None where it doesn't reach from queries,
        keys and values to head outputs.
    """

    stages: tuple[Agreement, ...]
    first: Agreement | None
    causes: tuple[Mistake, ...]
    alternatives: tuple[Mistake, ...]
    explained: bool
    read: tuple[str, ...]
    not_recomputed: tuple[str, ...]
    unread: tuple[str, ...]
    precision: str
    rows: tuple[Row, ...]
    trace: Trace | None

    def __str__(self) -> str:
        return "\n".join((*self.verdict, *self.notes))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The same in a notebook, with a table of all arrays."""
        said = self.verdict if self.first else self.verdict[1:]
        return html_of((self.headline, *said, *self.notes), self.rows)

    @property
    def headline(self) -> str:
        """What came out, in one sentence or two."""
        if self.first is None:
            return self.verdict[0]
        because = f" {capital(cause(self.causes[0]))}." if self.causes else ""
        return f"The first stage that differs: {title(self.first.stage)}.{because}"

    @property
    def notes(self) -> tuple[str, ...]:
        """How the arrays were read, and what was not compared, in a sentence each."""
        return (*self.read, *self._rest())

    @property
    def verdict(self) -> list[str]:
        """What agrees, the first stage that differs, and the mistake that explains it, in a sentence each."""
        if not self.stages:
            return ["There is nothing to compare yet: give a stage that your code computes, such as attention."]
        if self.first is None:
            return [f"{_several([title(each.stage) for each in self.stages])} to rounding in {self.precision}."]
        before = [title(each.stage) for each in self.stages[: self.stages.index(self.first)]]
        agree = [f"{_several(before)}."] if before else []
        return [*agree, f"{capital(title(self.first.stage))} {off(self.first, self.precision)}.", *self._blame()]

    def _blame(self) -> list[str]:
        if not self.causes:
            return ["No mistake that attnviz knows of makes these numbers."]
        first, *more = self.causes
        said = [
            f"{capital(cause(first))}: computed so, {'all of' if self.explained and not more else 'more of'} "
            "your numbers agree."
        ]
        if self.alternatives:
            said.append(f"These numbers would be the same if {' or if '.join(map(cause, self.alternatives[:2]))}.")
        said += [f"Besides, {cause(each)}." for each in more]
        return said if self.explained else [*said, "Something else differs too."]

    def _rest(self) -> list[str]:
        said = []
        if self.not_recomputed:
            titles = listed([title(each) for each in self.not_recomputed])
            said.append(f"Taken as given, as there is nothing to recompute it from: {titles}.")
        if self.unread:
            names = listed([shortened(each) for each in self.unread[:8]])
            said.append(f"Not read, as attnviz doesn't know the name: {names}.")
        return said


@np.errstate(all="ignore")  # of someone's numbers any may overflow; what comes of it is looked at
def compare(
    trace: Trace | None,
    arrays: Mapping[str, np.ndarray],
    *,
    layer: int = 1,
    n_heads: int | None = None,
    orientation: Orientation | None = None,
    true_is: Meaning | None = None,
) -> Comparison:
    """Compare the arrays of an implementation of one's own with attnviz's pass, stage by stage.

    Parameters
    ----------
    trace : Trace or None
        The pass to compare with; None for attnviz's pass from the inputs and parameters in `arrays`,
        beginning at the earliest stages that there are.
    arrays : mapping of names to ndarray
        Any stages of one layer and one sentence, such as {"x": (tokens, d_model), "in_proj_weight": (3 d_model,
        d_model), "attention": (heads, tokens, tokens)}, by attnviz's names or those of PyTorch, Hugging Face,
        TransformerLens, Keras or Flax, in their layouts. A single array of another name is taken for the stage of
        `trace` that it is nearest to.
    layer : int
        Which layer of `trace` the arrays are of, from 1 on.
    n_heads : int, optional
        How many heads there are; by default as many as fit the arrays, and the trace.
    orientation : {"(in, out)", "(out, in)"}, optional
        How all matrices are laid out; by default what fits.
    true_is : {"visible", "hidden"}, optional
        What True means in a mask; by default what fits.

    Returns
    -------
    Comparison
        `print` it, or have a notebook show it.

    Raises
    ------
    OwnArraysError
        If an array holds no real numbers, or they do not fit each other.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> unscaled = np.exp(x @ x.T) / np.exp(x @ x.T).sum(axis=-1, keepdims=True)
    >>> print(compare(None, {"x": x, "attention": unscaled}))
    Attention differs by up to 0.0613, 4 · 10^14 times the rounding of float64.
    The scores were not divided by √d_k: computed so, all of your numbers agree.
    """
    own, unread = own_arrays(arrays, orientation, true_is)
    if trace is not None:
        if not 1 <= layer <= trace.n_layers:
            raise OwnArraysError(f"The pass has the layers 1 to {trace.n_layers}; got {layer}.")
        own, unread = _guessed(own, unread, arrays, trace.layers[layer - 1].trace)
    precision = _precision(own)
    candidates = [_beside(trace.layers[layer - 1].trace)] if trace is not None else _candidates(own, n_heads)
    found = Examiner(own, precision).diagnosis(candidates)
    return _comparison(found, own, unread, precision, trace)


def _beside(trace: Trace) -> Candidate:
    return Candidate(trace, None, sizes_of({stage.name: stage.shape for stage in trace.stages}))


def _candidates(own: OwnArrays, n_heads: int | None) -> list[Candidate]:
    try:
        return [
            Candidate(own_pass(each.arrays, each.sizes["h"], each.sizes.get("d")), each, each.sizes)
            for each in readings(own, n_heads)
        ]
    except ArrayError as error:
        raise OwnArraysError(str(error)) from None


def _guessed(
    own: OwnArrays, unread: tuple[str, ...], arrays: Mapping[str, np.ndarray], trace: Trace
) -> tuple[OwnArrays, tuple[str, ...]]:
    """The stages, with a single array of no known name as the stage that it is nearest to."""
    if own or len(unread) != 1:
        return own, unread
    (name,) = unread
    beside = _beside(trace)
    found = []
    for stage in trace.stages:
        if not named(stage.name) or (stage.name == "mask") != (np.asarray(arrays[name]).dtype == bool):
            continue
        alone, _ = own_arrays({stage.name: arrays[name]})
        for each in Examiner(alone, _precision(alone)).diagnosis([beside]).stages:
            if each.layout and each.stage == stage.name:
                found.append((not each.agrees, each.roundings, len(found), stage.name, alone[stage.name]))
    if not found:
        return own, unread
    *_, nearest, array = min(found)
    return {nearest: replace(array, name=name)}, ()


def _precision(own: OwnArrays) -> Precision:
    """The coarsest of the arrays of floats, float64 if there are none."""
    floats = [array.dtype for array in own.values() if array.dtype.kind == "f"]
    return Precision(min(floats, key=lambda dtype: dtype.itemsize, default=np.dtype(np.float64)))


def _comparison(
    found: Diagnosis, own: OwnArrays, unread: tuple[str, ...], precision: Precision, given: Trace | None
) -> Comparison:
    trace, last = found.candidate.trace, found.explained or found.stages
    beside = {each.name for each in found.stages}
    entering = {"x", "context", "mask", *PARAMETER_AXES} if given is None else set()
    aside = [stage for stage, array in own.items() if array.name not in beside and stage not in entering]
    if given is None and {"q", "k", "v"} <= set(aside):  # where a pass may well begin
        aside = [stage for stage in aside if stage not in "qkv"]
    whole = {"q", "k", "v", "heads"} <= {stage.name for stage in trace.stages}
    return Comparison(
        found.stages,
        next((each for each in found.stages if not each.agrees), None),
        found.mistakes,
        found.alternatives,
        all(each.agrees for each in last),
        tuple(_read(found, own)),
        tuple(aside),
        unread,
        str(precision.dtype),
        tuple(sorted(_rows(found, own, entering, str(precision.dtype)), key=lambda row: row.agrees is None)),
        given or (trace if whole else None),
    )


def _rows(found: Diagnosis, own: OwnArrays, entering: set[str], precision: str) -> Iterator[Row]:
    layouts, compared = _layouts(found), {each.name: each for each in found.stages}
    for stage, array in own.items():
        beside = compared.get(array.name)
        read_as = beside.stage if beside else stage
        layout = beside.layout if beside else layouts.get(stage)
        says = f"agrees to rounding in {precision}" if beside and beside.agrees else beside and off(beside, precision)
        aside = "where the pass begins" if stage in entering else "taken as given"
        laid_out = "" if layout is None or layout in LAYOUTS[read_as][:1] else layout.title
        yield Row(array.name, title(read_as), laid_out, says or aside, beside and beside.agrees)


def _layouts(found: Diagnosis) -> dict[str, Layout]:
    """How each stage was read."""
    reading = found.candidate.reading
    layouts = {each.stage: each.layout for each in found.explained or found.stages if each.layout}
    return layouts | dict(reading.layouts if reading else {})


def _read(found: Diagnosis, own: OwnArrays) -> list[str]:
    """What is said of the arrays that are laid out otherwise than attnviz's."""
    reading, layouts = found.candidate.reading, _layouts(found)
    one_head = found.candidate.sizes["h"] == 1
    said = []
    for oriented in (OUT_IN, IN_OUT):
        names = [title(stage) for stage, layout in layouts.items() if layout.title == oriented and stage != "w_o"]
        names += [title("w_o")] * (layouts.get("w_o") is not None and layouts["w_o"].title == oriented == OUT_IN)
        if names:
            how = (
                "read transposed"
                if oriented == OUT_IN
                else "read as they stand"
                if len(names) > 1
                else "read as it stands"
            )
            said.append(f"Your {listed(names)} {'is' if len(names) == 1 else 'are'} {oriented}: {how}.")
    alike: dict[str, list[str]] = {}
    for stage, layout in layouts.items():
        if layout.title not in ("", OUT_IN, IN_OUT, JOINED) and not (layout.is_averaged and one_head):
            alike.setdefault(layout.title, []).append(title(stage))
    said += [f"Your {listed(names)}: {how}." for how, names in alike.items()]
    if reading and reading.true_is == "hidden":
        said.append("True in your mask is a hidden key: read the other way round.")
    renamed = [
        each for each in found.stages if each.agrees and each.stage in ("scaled", "masked") and each.stage not in own
    ]
    said += [f"Your {shortened(each.name)} are attnviz's {title(each.stage)}." for each in renamed]
    if found.unseeing != UNSEEING[0]:
        said.append(f"A query that sees no key gets {found.unseeing} in your pass, and zeros in attnviz's.")
    return said


def _several(titles: list[str]) -> str:
    return f"{capital(listed(titles))} {'agree' if len(titles) > 1 or titles[0].endswith('s') else 'agrees'}"
