"""Report: `attnviz.compare`, and the verdict on a user's arrays in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attnviz.checks.causes.cause import WRONG_AXES, Mistake
from attnviz.checks.causes.table import CAUSES, cause, code
from attnviz.checks.explain.agreement import Agreement
from attnviz.checks.explain.diagnosis import Diagnosis
from attnviz.checks.explain.explanation import Explanation, explain
from attnviz.checks.read.arrays import Conventions
from attnviz.checks.read.files import as_array
from attnviz.checks.read.layouts import layouts_of
from attnviz.checks.read.names import Meaning, Orientation, is_rotation_table, named
from attnviz.checks.read.stages import score_stages
from attnviz.checks.read.token_words import (
    OF_KEYS,
    Texts,
    conflicting_words,
    with_words,
    without_words,
    words_of,
    wrong_counts,
)
from attnviz.checks.report.notes import how_read, questions, skipped_sentence, unexplained
from attnviz.checks.report.words import Row, capital, difference_clause, html_of, shortened, title, to_rounding
from attnviz.core.errors import OwnArraysError, guarded
from attnviz.core.order import LayerConfig
from attnviz.core.trace import Trace
from attnviz.explain.wording import counted, listed

ARRAYS_TO_SEND = "the arrays, or their names and shapes,"
AS_COMPUTED = "as your code computed it"  # the source of a mistaken stage's numbers


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Your arrays compared with attnviz's pass; `str` gives the verdict.

    Attributes
    ----------
    stages : tuple of Agreement
        One for each compared stage, in the order of the pass.
    first : Agreement or None
        The first that differs by more than rounding.
    causes : tuple of Mistake
        Cumulative mistakes, each of which makes more of the arrays agree.
    alternatives : tuple of tuple of Mistake
        Other mistakes, or pairs, that these arrays don't tell from the first cause.
    explained : bool
        Whether all arrays agree, with the causes if there are any.
    read : tuple of str
        A sentence on each array that was read in another way than attnviz lays it out.
    not_recomputed : tuple of str
        The stages compared with nothing, as no earlier array was given to recompute them from.
    unread : tuple of str
        The names of the arrays that match no stage.
    questions : tuple of str
        Questions that the arrays' names raise and their numbers don't answer.
    unknown : list of str
        Sentences for when no cause is found.
    skipped_checks : list of str
        What the search left out, in one sentence; empty if nothing, or if all is explained.
    precision : str
        The finest precision in which all agree, or else the stored one: bfloat16, float16, TF32, float32 or float64, "4
        decimals" or "5 significant digits".
    rows : tuple of Row
        A table of the arrays, the compared ones first.
    trace : Trace or None
        Attnviz's pass: the given one, or that of your inputs and parameters. None if that doesn't reach from queries,
        keys and values to head outputs, or needs a rotation that attnviz has no operation for.
    block : LayerConfig or None
        The layer settings of a pass from your inputs and parameters; None if the pass was given.
    mistaken : mapping of stages to ndarray
        The stages of `trace` that the causes change, with their changed values.
    at : str
        The first stage that differs, as `trace` names it; "" if none does.
    true_hides : bool
        Whether True hides a key in your masks.
    unless : str
        An alternative to the cause, as a clause: "your True means a visible key".
    not_finite : tuple of str
        A clause on each array with NaN or ∞, except −∞ in scores and masks: "output has NaN in 3 of 8 places".
    """

    stages: tuple[Agreement, ...]
    first: Agreement | None
    causes: tuple[Mistake, ...]
    alternatives: tuple[tuple[Mistake, ...], ...]
    explained: bool
    read: tuple[str, ...]
    not_recomputed: tuple[str, ...]
    unread: tuple[str, ...]
    questions: tuple[str, ...]
    unexplained: list[str]
    skipped_checks: list[str]
    precision: str
    rows: tuple[Row, ...]
    trace: Trace | None
    block: LayerConfig | None
    mistaken: Mapping[str, np.ndarray]
    at: str
    true_hides: bool
    unless: str = ""
    not_finite: tuple[str, ...] = ()

    @guarded("word this comparison", ARRAYS_TO_SEND)
    def __str__(self) -> str:
        return "\n".join((*self.verdict, *self.code, *self.notes))

    __repr__ = __str__

    @guarded("word this comparison", ARRAYS_TO_SEND)
    def _repr_html_(self) -> str:
        """The verdict as HTML, with a table of all arrays."""
        sentences = self.verdict if self.first else self.verdict[1:]
        return html_of((self.headline, *sentences, *self.code, *self.notes), self.rows)

    @cached_property
    def theirs(self) -> Trace | None:
        """The pass as the user's code computes it: `trace` with the causes; None without causes or trace."""
        return self.trace.with_stages(self.mistaken, AS_COMPUTED) if self.mistaken else None

    @property
    def headline(self) -> str:
        """The outcome in one or two sentences."""
        if self.first is None:
            return self.verdict[0]
        because = f" {self._first_cause}." if self.causes else ""
        unread = f", in a pass without your {listed(self._turning)}" if self._turning and not self.causes else ""
        return f"The first stage that differs: {title(self.first.stage)}{unread}.{because}"

    @property
    def _turning(self) -> list[str]:
        """The names of unread arrays that rotate queries and keys."""
        return [shortened(each) for each in self.unread if is_rotation_table(each)]

    @property
    def _first_cause(self) -> str:
        clause = capital(cause(self.causes[0]))
        return f"{clause}, so it is inverted unless {self.unless}" if self.unless else clause

    @property
    def code(self) -> tuple[str, ...]:
        """A wrong and a right line of PyTorch code for each cause."""
        lines = (code(each, self.true_hides) for each in self.causes)
        return tuple(line for wrong, right in lines if wrong for line in (f"Wrong: {wrong}", f"Right: {right}"))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on how the arrays were read, and on what was not compared."""
        return (*self.read, *self._rest(), *self.questions)

    @property
    def verdict(self) -> list[str]:
        """Sentences on what agrees, the first stage that differs, and the mistake that explains it."""
        if not self.stages:
            return ["There is nothing to compare yet: give a stage that your code computes, such as attention."]
        if self.first is None:
            agree = f"{_several([title(each.stage) for each in self.stages])} {to_rounding(self.precision)}"
            without = f", without your {listed(self._turning)}, which attnviz doesn't read" if self._turning else ""
            if not self.not_finite:
                return [f"{agree}{without}."]
            return [f"Not every number is one: {'; '.join(self.not_finite)}. {agree}{without}, elsewhere."]
        before = [title(each.stage) for each in self.stages[: self.stages.index(self.first)]]
        sentences = [f"{_several(before)}."] if before else []
        if not self._has_wrong_axes:
            sentences.append(f"{capital(title(self.first.stage))} {difference_clause(self.first, self.precision)}.")
        return [*sentences, *self._blame()]

    @property
    def _has_wrong_axes(self) -> bool:
        return bool(self.causes) and self.causes[0].id == WRONG_AXES

    def _blame(self) -> list[str]:
        if not self.causes:
            return self.unexplained if self.first.shapes else [*self.unexplained, *self.skipped_checks]
        _, *more = self.causes
        agree = f"{'all' if self.explained else 'more'} of your numbers agree."
        so = "read so" if self._has_wrong_axes else "computed so"
        sentences = [f"{self._first_cause}." if more else f"{self._first_cause}: {so}, {agree}"]
        if self.alternatives:
            others = (" and ".join(map(cause, each)) for each in self.alternatives)
            sentences.append(f"These numbers would be the same if {' or if '.join(others)}.")
        sentences += filter(None, (CAUSES[each.id].on_purpose for each in self.causes))
        if more:
            so = "Read so" if all(each.id == WRONG_AXES for each in self.causes) else "Computed with these mistakes"
            sentences += [*(f"Besides, {cause(each)}." for each in more), f"{so}, {agree}"]
        return sentences if self.explained else [*sentences, "Something else differs too.", *self.skipped_checks]

    def _rest(self) -> list[str]:
        sentences = []
        if self.not_recomputed:
            titles = listed([title(each) for each in self.not_recomputed])
            sentences.append(f"Taken as given, as there is nothing to recompute it from: {titles}.")
        if self.unread:
            names = listed([shortened(each) for each in self.unread[:8]])
            sentences.append(f"Not read, as attnviz doesn't know the name: {names}.")
        if self._turning:
            turning = listed(self._turning)
            sentences.append(
                f"Does your code rotate queries and keys by your {turning}? Nothing here was compared with that."
            )
        return sentences


@guarded("compare these arrays", ARRAYS_TO_SEND)
def compare(
    trace: Trace | None,
    arrays: Mapping[str, np.ndarray],
    *,
    layer: int | None = None,
    n_heads: int | None = None,
    orientation: Orientation | None = None,
    true_is: Meaning | None = None,
) -> Comparison:
    """Compare the arrays of your own implementation with attnviz's pass, stage by stage.

    Parameters
    ----------
    trace : Trace or None
        The pass to compare with; None for attnviz's pass from the inputs and parameters in `arrays`,
        beginning at the earliest stages that there are.
    arrays : mapping of names to ndarray
        Any stages of one layer and one sentence, such as {"x": (tokens, d_model), "in_proj_weight": (3 d_model,
        d_model), "attention": (heads, tokens, tokens)}, by attnviz's names or those of PyTorch, Hugging Face,
        TransformerLens, Keras or Flax, in their layouts. A single array of another name is taken for the stage of
        `trace` that it is nearest to. A number `scale` says by what scores are multiplied, and words called `tokens`
        (and `context_tokens`) name the rows and columns.
    layer : int, optional
        Which layer of `trace` the arrays are of, from 1 on; the first by default. Of arrays of several layers, whose
        names have numbers, those of this layer are compared, too.
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
    UnexpectedError
        At a bug in attnviz; it says what to send us.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> unscaled = np.exp(x @ x.T) / np.exp(x @ x.T).sum(axis=-1, keepdims=True)
    >>> print(compare(None, {"x": x, "attention": unscaled}))
    Attention differs by up to 0.0613; rounding in float64 would leave 1.5 · 10^-16.
    The scores were not divided by √d_k: computed so, all of your numbers agree.
    T5 and GPT-Neo leave it out on purpose.
    Wrong: scores = q @ k.transpose(-2, -1)
    Right: scores = q @ k.transpose(-2, -1) / d_k ** 0.5
    """
    if not (trace is None or isinstance(trace, Trace)) or not hasattr(arrays, "items"):
        kinds = " and ".join(type(each).__name__ for each in (trace, arrays))
        raise OwnArraysError(f"compare takes a trace, or None, and arrays by their names; got {kinds}.")
    texts, of_numbers = without_words(arrays)
    explanation = explain(trace, of_numbers, layer, Conventions(n_heads, orientation, true_is))
    diagnosis, own_pass = explanation.diagnosis, explanation.rotated_trace
    read = how_read(explanation)
    if trace is None and own_pass is not None:
        own_pass = with_words(own_pass, *words_of(own_pass, texts, of_numbers))
        read += _unused(own_pass, texts)
    return Comparison(
        diagnosis.stages,
        diagnosis.first,
        diagnosis.mistakes,
        diagnosis.alternatives,
        diagnosis.explains_all,
        tuple(read),
        explanation.not_recomputed,
        explanation.unread,
        tuple(questions(explanation)),
        unexplained(explanation),
        skipped_sentence(diagnosis.skipped_checks),
        diagnosis.precision.name,
        tuple(sorted(_rows(explanation), key=lambda row: row.agrees is None)),
        own_pass,
        explanation.block,
        explanation.mistaken,
        explanation.full_name(diagnosis.first.stage) if diagnosis.first else "",
        explanation.true_hides,
        _unless(diagnosis),
        tuple(_not_finite(of_numbers)),
    )


def _unused(trace: Trace, texts: Texts) -> Iterator[str]:
    """A sentence for each row of words whose count doesn't fit."""
    for name, n_words, n in wrong_counts(trace, texts):
        side, places = ("key", "columns") if name in OF_KEYS else ("token", "rows")
        words, has = counted(n_words, "word"), counted(n, side)
        yield f"Your {name} hold {words}, and the pass has {has}: {places} are numbered."
    if name := conflicting_words(trace, texts):
        yield (
            f"Your {name} are not shown: without a context, keys are made of x and have its words. Give the rows that "
            f"keys are made of as `context`, or leave {name} out."
        )


def _not_finite(arrays: Mapping[str, np.ndarray]) -> Iterator[str]:
    """A clause on each array with NaN or ∞, except −∞ in scores and masks."""
    for name, given in arrays.items():
        array = as_array(name, given)
        if array.dtype.kind != "f":
            continue
        known = named(name)
        hides = known is not None and known.stage in ("mask", *score_stages())
        kinds = {"NaN": np.isnan(array), "∞": np.isinf(array) & ((array > 0) | (not hides))}
        counts = {kind: int(where.sum()) for kind, where in kinds.items() if where.any()}
        if counts:
            n = sum(counts.values())
            yield f"{shortened(name)} has {' and '.join(counts)} in {n:,} of {counted(array.size, 'place')}"


def _unless(diagnosis: Diagnosis) -> str:
    """The meaning of True under which a mask reported as inverted would be right."""
    taken = diagnosis.against.taken if diagnosis.against else ()
    meanings = [each for each in taken if each.is_against]
    own = f"True in your {listed([shortened(each.name) for each in meanings])}"
    return f"{own} means a {meanings[0].meaning} key" if meanings else ""


def _rows(explanation: Explanation) -> Iterator[Row]:
    precision = explanation.diagnosis.precision.name
    compared = {each.name: each for each in explanation.diagnosis.stages}
    reordered = {each.stage: each for each in explanation.diagnosis.mistakes if each.id == WRONG_AXES}
    for stage, array in explanation.own.items():
        agreement = compared.get(array.name)
        read_as = agreement.stage if agreement else stage
        layout = agreement.layout if agreement else explanation.layouts.get(stage)
        if agreement is None:
            verdict = "where the pass begins" if stage in explanation.entering else "taken as given"
        else:
            verdict = (
                f"agrees {to_rounding(precision)}" if agreement.agrees else difference_clause(agreement, precision)
            )
        laid_out = "" if layout is None or layout in layouts_of(read_as)[:1] else layout.title
        if agreement and agreement.shapes:
            laid_out = "in another shape"
            if stage in reordered:
                laid_out, verdict = "its axes in another order", cause(reordered[stage])
        yield Row(array.name, title(read_as), laid_out, verdict, agreement and agreement.agrees)


def _several(titles: list[str]) -> str:
    return f"{capital(listed(titles))} {'agree' if len(titles) > 1 or titles[0].endswith('s') else 'agrees'}"
