"""Report: `attnviz.compare`, and the verdict on a user's arrays in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from attnviz.checks.causes import CAUSES, cause, code
from attnviz.checks.causes.cause import ALONG_THE_BATCH, WRONG_AXES, Mistake
from attnviz.checks.causes.libraries import Lines, lines_of
from attnviz.checks.explain.comparison import Agreement
from attnviz.checks.explain.explanation import Explanation, explain
from attnviz.checks.explain.sentences import BatchExplanation, explain_batch
from attnviz.checks.read.files import as_array
from attnviz.checks.read.layouts import IN_OUT, PROJECTIONS, Orientation, layouts_of, score_stages
from attnviz.checks.read.names import (
    KEY_WORDS,
    Meaning,
    Texts,
    conflicting_words,
    is_rotation_table,
    named,
    of_layer,
    renamed,
    unknown_names,
    with_words,
    without_words,
    words_of,
    wrong_counts,
)
from attnviz.checks.read.queries import of_queries, words_of_queries
from attnviz.checks.read.readings import Conventions
from attnviz.checks.read.rounding import Tolerance
from attnviz.checks.read.sentences import batches_of
from attnviz.checks.report.notes import how_read, questions
from attnviz.checks.report.unexplained import unexplained
from attnviz.checks.report.words import Row, capital, difference_clause, html_of, shortened, title, to_rounding
from attnviz.core.errors import OwnArraysError, guarded
from attnviz.core.order import LayerConfig
from attnviz.core.stage import split_layer
from attnviz.core.trace import Trace
from attnviz.explain.wording import counted, listed

ARRAYS_TO_SEND = "the arrays, or their names and shapes,"
_MAX_SAID = 4  # alternatives in the verdict
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
        Other mistakes, or pairs, that these arrays don't tell from the first cause, the likeliest first. The verdict
        says four of them.
    explained : bool
        Whether all arrays agree, with the causes if there are any.
    read : tuple of str
        A sentence on each array that was read in another way than attnviz lays it out.
    not_recomputed : tuple of str
        The stages compared with nothing, as no earlier array was given to recompute them from.
    unused : tuple of str
        The inputs and parameters that no compared stage is made of, such as W_V where attention is compared alone.
    unread : tuple of str
        The names of the arrays that match no stage.
    questions : tuple of str
        Questions that the arrays' names raise and their numbers don't answer.
    unexplained : list of str
        Sentences for when no cause is found.
    skipped_checks : list of str
        What the search left out, in one sentence; empty if nothing, or if all is explained.
    precision : str
        The finest precision in which all agree, or else the stored one: bfloat16, float16, TF32, float32 or float64, "4
        decimals", "5 significant digits" or your tolerance, such as "rtol 0.001".
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
    sentence : int or None
        Which one of a batch, from 0 on, all of this is of: the first that differs, or one that agrees. None without a
        batch.
    n_sentences : int
        How many sentences the batch has.
    differing : tuple of int
        Those that differ.
    alike : tuple of int
        Those of them, after the first, that the causes explain too.
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
    sentence: int | None = None
    n_sentences: int = 1
    differing: tuple[int, ...] = ()
    alike: tuple[int, ...] = ()
    unused: tuple[str, ...] = ()
    _lines: Lines = field(default_factory=dict)
    _of_nan: tuple[Mistake, ...] = ()  # why numbers that agree are NaN

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
        return self.trace.with_stages(self.mistaken, AS_COMPUTED) if self.trace and self.mistaken else None

    def raise_for_difference(self) -> None:
        """Return None if all numbers that were compared agree; else raise, for a test of yours.

        Arrays that were not read and open questions raise nothing; `attnviz.testing.assert_attention` is strict about
        them, too.

        Raises
        ------
        AssertionError
            If a stage differs, a number is NaN or infinite, or nothing was compared. Its message is the headline, on a
            line of its own, then the whole verdict.

        Examples
        --------
        >>> x = np.array([[1.0, 2.0], [3.0, 5.0]])
        >>> compare(None, {"x": x, "scores": x @ x.T}).raise_for_difference()
        >>> compare(None, {"x": x, "scores": x @ x.T - 1}).raise_for_difference()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        AssertionError: The first stage that differs: scores.
        Scores differ by up to 1; ...
        """
        if self.first is not None or self.not_finite or not self.stages:
            raise AssertionError(self.with_headline())

    @guarded("word this comparison", ARRAYS_TO_SEND)
    def with_headline(self, *problems: str) -> str:
        """The headline, then problems, then the rest of the verdict, each on lines of its own."""
        lines = [self.headline, *problems, *(each for each in str(self).split("\n") if each != self.headline)]
        return "\n".join(lines)

    @property
    def headline(self) -> str:
        """The outcome in one or two sentences."""
        if self.first is None:
            return self.verdict[0]
        because = f" {self._first_cause}." if self.causes else ""
        tables = self._rotation_tables
        unread = f", in a pass without your {tables}" if tables and not self.causes else ""
        of_batch = f", in sentence {self._number} of {self.n_sentences}" if self._is_of_one_sentence else ""
        return f"The first stage that differs: {title(self.first.stage)}{of_batch}{unread}.{because}"

    @property
    def _number(self) -> int:
        return (self.sentence or 0) + 1

    @property
    def _is_of_one_sentence(self) -> bool:
        """Whether the verdict is on one sentence of several."""
        along_the_batch = bool(self.causes) and self.causes[0].id == ALONG_THE_BATCH
        return self.n_sentences > 1 and bool(self.differing) and not along_the_batch

    @property
    def _rotation_tables(self) -> str:
        """The names of unread arrays that rotate queries and keys, listed; "" if there are none."""
        names = [shortened(each) for each in self.unread if is_rotation_table(each)]
        return listed(names) if names else ""

    @property
    def _first_cause(self) -> str:
        clause = capital(cause(self.causes[0]))
        return f"{clause}, so it is inverted unless {self.unless}" if self.unless else clause

    @property
    def code(self) -> tuple[str, ...]:
        """A wrong and a right line for each cause: of the library that the arrays' names are of, or PyTorch's."""
        lines = (code(each, self.true_hides, self._lines) for each in self.causes or self._of_nan)
        return tuple(line for wrong, right in lines if wrong for line in (f"Wrong: {wrong}", f"Right: {right}"))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on how the arrays were read, and on what was not compared."""
        notes = [*self.read]
        if self.not_recomputed:
            titles = listed([title(each) for each in self.not_recomputed])
            notes.append(f"Taken as given, as there is nothing to recompute it from: {titles}.")
        if self.unused and self.stages and self.first is None:
            titles = listed([title(each) for each in self.unused])
            notes.append(f"Not checked, as nothing that was compared is made of it: {titles}.")
        if self.unread:
            names = listed([shortened(each) for each in self.unread[:8]])
            notes.append(f"Not read, as attnviz doesn't know the name: {names}.")
        if tables := self._rotation_tables:
            question = f"Does your code rotate queries and keys by your {tables}?"
            notes.append(f"{question} Nothing here was compared with that.")
        return (*notes, *self.questions)

    @property
    def verdict(self) -> list[str]:
        """Sentences on what agrees, the first stage that differs, and the mistake that explains it."""
        if not self.stages:
            return ["There is nothing to compare yet: give a stage that your code computes, such as attention."]
        if self.first is None:
            tables = self._rotation_tables
            without = f", without your {tables}, which attnviz doesn't read" if tables else ""
            agree = f"{_agreeing(self.stages)} {to_rounding(self.precision)}{without}"
            if self.n_sentences > 1:
                titles = listed([title(each.stage) for each in self.stages])
                agree = f"All {self.n_sentences} sentences agree: {titles} {to_rounding(self.precision)}{without}"
            if not self.not_finite:
                return [f"{agree}."]
            because = [f"{capital(cause(each))}." for each in self._of_nan]
            return [f"Not every number is one: {'; '.join(self.not_finite)}. {agree}, elsewhere.", *because]
        return [*self._of_the_batch, *self._of_the_first_difference(self.first), *self._of_others]

    @property
    def _of_the_batch(self) -> list[str]:
        """Which sentences of a batch differ."""
        if not self._is_of_one_sentence:
            return []
        if len(self.differing) == self.n_sentences:
            return [f"All {self.n_sentences} sentences differ. This is on the first."]
        agree = self.n_sentences - len(self.differing)
        return [
            f"Sentence {self._number} of {self.n_sentences} differs; {agree} {'agrees' if agree == 1 else 'agree'}."
        ]

    @property
    def _of_others(self) -> list[str]:
        """What the other differing sentences of a batch show of the cause."""
        others = [each for each in self.differing if each != self.sentence]
        if not self._is_of_one_sentence or not others:
            return []
        rest = [each for each in others if each not in self.alike]
        sentences = [f"{_which(self.alike)} for the same reason."] if self.alike else []
        return sentences + ([f"{_which(rest)} too, which this doesn't explain."] if rest and self.causes else [])

    def _of_the_first_difference(self, first: Agreement) -> list[str]:
        before = self.stages[: self.stages.index(first)]
        sentences = [f"{_agreeing(before)}."] if before else []
        has_wrong_axes = bool(self.causes) and self.causes[0].id == WRONG_AXES
        if not has_wrong_axes:
            sentences.append(f"{capital(title(first.stage))} {difference_clause(first, self.precision)}.")
        if not self.causes:
            return [*sentences, *self.unexplained, *([] if first.shapes else self.skipped_checks)]
        more = self.causes[1:]
        whose = "its" if self._is_of_one_sentence else "your"
        agree = f"{'all' if self.explained else 'more'} of {whose} numbers agree."
        so = "read so" if has_wrong_axes else "computed so"
        sentences.append(f"{self._first_cause}." if more else f"{self._first_cause}: {so}, {agree}")
        if self.alternatives:
            others = [" and ".join(map(cause, each)) for each in self.alternatives]
            more_ways = f" (and in {len(others) - _MAX_SAID} more ways)" if len(others) > _MAX_SAID else ""
            sentences.append(f"These numbers would be the same if {' or if '.join(others[:_MAX_SAID])}{more_ways}.")
        sentences += filter(None, (CAUSES[each.id].on_purpose for each in self.causes))
        if more:
            so = "Read so" if all(each.id == WRONG_AXES for each in self.causes) else "Computed with these mistakes"
            sentences += [*(f"Besides, {cause(each)}." for each in more), f"{so}, {agree}"]
        return sentences if self.explained else [*sentences, "Something else differs too.", *self.skipped_checks]


def _which(sentences: Sequence[int]) -> str:
    numbers = listed([str(each + 1) for each in sentences])
    return f"Sentence {numbers} differs" if len(sentences) == 1 else f"Sentences {numbers} differ"


def _agreeing(stages: tuple[Agreement, ...]) -> str:
    titles = [title(each.stage) for each in stages]
    return f"{capital(listed(titles))} {'agree' if len(titles) > 1 or titles[0].endswith('s') else 'agrees'}"


@guarded("compare these arrays", ARRAYS_TO_SEND)
def compare(
    trace: Trace | None,
    arrays: Mapping[str, np.ndarray],
    *,
    layer: int | None = None,
    n_heads: int | None = None,
    orientation: Orientation | None = None,
    true_is: Meaning | None = None,
    names: Mapping[str, str] | None = None,
    query: slice | None = None,
    rtol: float | None = None,
    atol: float | None = None,
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
        TransformerLens, Keras or Flax, in their layouts; or of a batch, with an axis of sentences. A single array of
        another name is taken for the stage of `trace` that it is nearest to. A number `scale` says by what scores are
        multiplied, and words called `tokens` (and `context_tokens`) name the rows and columns.
    layer : int, optional
        Which layer of `trace` the arrays are of, from 1 on; the first by default. Of arrays of several layers, whose
        names have numbers, those of this layer are compared, too.
    n_heads : int, optional
        How many heads there are; by default as many as fit the arrays, and the trace.
    orientation : {"(in, out)", "(out, in)"}, optional
        How all matrices are laid out; by default what fits.
    true_is : {"visible", "hidden"}, optional
        What True means in a mask; by default what fits.
    names : mapping of str to str, optional
        What arrays are whose names don't say it, by names that do: {"proj_a.weight": "w_q", "sees": "mask"}.
    query : slice, optional
        Compare these queries alone, such as `slice(0, 128)`, where there are too many scores for your memory. Give all
        arrays whole; only without a trace.
    rtol, atol : float, optional
        How far your numbers may differ, as in `numpy.allclose`, whose value the other one has if you give one. By
        default only by the rounding of the type that your arrays are stored in.

    Returns
    -------
    Comparison
        `print` it, or have a notebook show it.

    Raises
    ------
    OwnArraysError
        If an array holds no real numbers, or they do not fit each other; or if a tolerance is no number from 0 on.
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

    An array whose name attnviz doesn't know is not read until `names` says what it is:

    >>> scaled = np.exp(x @ x.T / 2**0.5)
    >>> arrays = {"x": x, "looks": scaled / scaled.sum(axis=-1, keepdims=True)}
    >>> print(compare(None, arrays))
    There is nothing to compare yet: give a stage that your code computes, such as attention.
    Not read, as attnviz doesn't know the name: looks.
    >>> print(compare(None, arrays, names={"looks": "attention"}))
    Attention agrees to float64 rounding.
    """
    if not (trace is None or isinstance(trace, Trace)) or not hasattr(arrays, "items"):
        kinds = " and ".join(type(each).__name__ for each in (trace, arrays))
        raise OwnArraysError(f"compare takes a trace, or None, and arrays by their names; got {kinds}.")
    texts, numbers = without_words(renamed(arrays, names) if names else arrays)
    stated = Conventions(n_heads, orientation, true_is, Tolerance.of(rtol, atol))
    try:
        batch, explanation, texts = _explained(trace, numbers, texts, layer, stated, query)
    except OwnArraysError as error:
        raise OwnArraysError(f"{error} {unknown_names(numbers)}".rstrip()) from None
    diagnosis, shown = explanation.diagnosis, explanation.trace
    reading, first = diagnosis.candidate.reading, diagnosis.first_difference
    skipped = "; ".join(each.value for each in diagnosis.skipped_checks)
    read = [*(_sentences_read(batch) if batch else ()), *how_read(explanation)]
    against = [
        each
        for each in (diagnosis.unconventional_mask.chosen if diagnosis.unconventional_mask else ())
        if each.contradicts
    ]
    masks = [shortened(each.name) for each in against]
    layouts = explanation.layouts
    unless = f"True in your {listed(masks)} means a {against[0].true_is} key" if against else ""
    if trace is None and shown is not None:
        shown = with_words(shown, *words_of(shown, texts, numbers))
        read += _unused_words(shown, texts)
    return Comparison(
        stages=diagnosis.stages,
        first=first,
        causes=diagnosis.mistakes if first else (),
        alternatives=diagnosis.alternatives,
        explained=diagnosis.explains_all,
        read=tuple(read),
        not_recomputed=explanation.not_recomputed,
        unread=explanation.unread,
        questions=(*_sentence_questions(batch), *questions(explanation)),
        unexplained=unexplained(explanation),
        skipped_checks=[f"Not tried: {skipped}."] if skipped else [],
        precision=diagnosis.precision.name,
        rows=tuple(sorted(_rows(explanation), key=lambda row: row.agrees is None)),
        trace=shown,
        block=explanation.config if reading else None,
        mistaken=explanation.mistaken,
        at=explanation.full_name(first.stage) if first else "",
        true_hides=bool(reading and reading.mask and reading.mask.true_hides),
        unless=unless,
        not_finite=tuple(_infinities(numbers)),
        unused=explanation.unused,
        _lines=lines_of(arrays, {layouts[w].family for w in PROJECTIONS if w in layouts} == {IN_OUT}),
        _of_nan=() if first else diagnosis.mistakes,
        sentence=batch.sentence if batch else None,
        n_sentences=batch.n if batch else 1,
        differing=batch.differing if batch else (),
        alike=batch.alike if batch else (),
    )


def _explained(
    trace: Trace | None,
    arrays: Mapping[str, np.ndarray],
    texts: Texts,
    layer: int | None,
    stated: Conventions,
    query: slice | None,
) -> tuple[BatchExplanation | None, Explanation, Texts]:
    """The explanation, that of a batch if there are several sentences, and the words of the compared queries."""
    if trace is not None:
        if query is not None:
            raise OwnArraysError("query compares with the pass of your own arrays: give None as the trace.")
        return None, explain(trace, arrays, layer, stated), texts
    own = arrays if layer is None else of_layer(arrays, layer)
    batches = batches_of(own, max(map(len, texts.values()), default=0))
    if query is None:
        batch = explain_batch(batches, None, stated) if batches else None
        return batch, batch.shown if batch else explain(None, arrays, layer, stated), texts
    ways = [of_queries(each, query) for each in (batches[0].of_each if batches else [own])]
    found = None
    for at in range(max(map(len, ways))):
        cut, keys = zip(*(each[min(at, len(each) - 1)] for each in ways), strict=True)
        batch = explain_batch([replace(batches[0], of_each=cut)], None, stated) if batches else None
        explanation = batch.shown if batch else explain(None, cut[0], None, stated)
        if found is None or explanation.diagnosis.explains_all:
            found = batch, explanation, words_of_queries(texts, query, keys[0])
        if explanation.diagnosis.first_difference is None:
            break
    assert found
    return found


def _sentences_read(batch: BatchExplanation) -> Iterator[str]:
    if batch.batch.axis and not batch.batch.contradicted_by:
        yield f"Your arrays were read sequence first: (tokens, {batch.n} sentences, d_model)."


def _sentence_questions(batch: BatchExplanation | None) -> Iterator[str]:
    if batch and batch.batch.axis and not batch.batch.is_certain and not batch.batch.contradicted_by:
        yield (
            "Is your x (tokens, sentences, d_model)? If its first axis counts sentences, attention ran along the batch "
            "axis."
        )


def _unused_words(trace: Trace, texts: Texts) -> Iterator[str]:
    for name, n_words, n in wrong_counts(trace, texts):
        side, places = ("key", "columns") if name in KEY_WORDS else ("token", "rows")
        words, has = counted(n_words, "word"), counted(n, side)
        yield f"Your {name} hold {words}, and the pass has {has}: {places} are numbered."
    if name := conflicting_words(trace, texts):
        yield (
            f"Your {name} are not shown: without a context, keys are made of x and have its words. Give the rows that "
            f"keys are made of as `context`, or leave {name} out."
        )


def _infinities(arrays: Mapping[str, np.ndarray]) -> Iterator[str]:
    """A clause on each array with NaN or ∞, except −∞ in scores and masks."""
    for name, value in arrays.items():
        array = as_array(name, value)
        if array.dtype.kind != "f":
            continue
        known = named(name) or named(split_layer(name)[0])
        hides = known is not None and known.stage in ("mask", *score_stages())
        kinds = {"NaN": np.isnan(array), "∞": np.isinf(array) & ((array > 0) | (not hides))}
        if counts := {kind: int(where.sum()) for kind, where in kinds.items() if where.any()}:
            places = f"{sum(counts.values()):,} of {counted(array.size, 'place')}"
            yield f"{shortened(name)} has {' and '.join(counts)} in {places}"


def _rows(explanation: Explanation) -> Iterator[Row]:
    diagnosis, precision = explanation.diagnosis, explanation.diagnosis.precision.name
    compared = {each.name: each for each in diagnosis.stages}
    reordered = {each.stage: each for each in diagnosis.mistakes if each.id == WRONG_AXES}
    for stage, array in explanation.arrays.items():
        agreement = compared.get(array.name)
        read_as = agreement.stage if agreement else stage
        layout = agreement.layout if agreement else explanation.layouts.get(stage)
        laid_out = "" if layout is None or layout in layouts_of(read_as)[:1] else layout.title
        if agreement is None:
            verdict = "where the pass begins" if stage in explanation.inputs else "taken as given"
        elif agreement.shapes and stage in reordered:
            laid_out, verdict = "its axes in another order", cause(reordered[stage])
        elif agreement.agrees:
            verdict = f"agrees {to_rounding(precision)}"
        else:
            laid_out = "in another shape" if agreement.shapes else laid_out
            verdict = difference_clause(agreement, precision)
        yield Row(array.name, title(read_as), laid_out, verdict, agreement.agrees if agreement else None)
