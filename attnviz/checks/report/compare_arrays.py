"""Compare arrays: `attnviz.compare`, a user's arrays beside a pass."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from attnviz.checks.causes import cause
from attnviz.checks.causes.cause import WRONG_AXES
from attnviz.checks.causes.libraries import lines_of
from attnviz.checks.explain.batch import BatchExplanation, explain_batch
from attnviz.checks.explain.explanation import Explanation, explain
from attnviz.checks.read.batches import batches_of
from attnviz.checks.read.files import as_array
from attnviz.checks.read.labels import (
    Texts,
    conflicting_words,
    shortened,
    title,
    with_words,
    without_words,
    words_of,
    wrong_counts,
)
from attnviz.checks.read.layouts import IN_OUT, OUT_IN, PROJECTIONS, Orientation, layouts_of, score_stages
from attnviz.checks.read.names import KEY_WORDS, MEANINGS, Meaning, layers_of, named, of_layer, renamed, unknown_names
from attnviz.checks.read.queries import arrays_of_queries, words_of_queries
from attnviz.checks.read.rounding import Tolerance
from attnviz.checks.read.user_arrays import Conventions
from attnviz.checks.report.notes import how_read, questions
from attnviz.checks.report.unexplained import unexplained
from attnviz.checks.report.verdict import ARRAYS_TO_SEND, Comparison
from attnviz.checks.report.words import Row, difference_clause, to_rounding
from attnviz.core.arguments import check_choice, check_int, check_type, quoted
from attnviz.core.errors import OwnArraysError, guarded
from attnviz.core.stage import split_layer
from attnviz.core.trace import Trace
from attnviz.explain.wording import counted, listed


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
        Any stages of one layer and one sentence, such as x (tokens, d_model), in_proj_weight (3 d_model,
        d_model) and attention (heads, tokens, tokens), by attnviz's names or those of PyTorch, Hugging Face,
        TransformerLens, Keras or Flax, in their layouts; or of a batch, with an axis of sentences. A single array of
        another name is taken for the stage of `trace` that it is nearest to. A number `scale` says by what scores are
        multiplied, and words called `tokens` (and `context_tokens`) name the rows and columns.
    layer : int, optional
        The layer of `trace` that the arrays belong to, counted from 1; the first by default. Of arrays whose names are
        numbered by layer, only those of this layer are compared.
    n_heads : int, optional
        How many heads there are; by default as many as fit the arrays, and the trace.
    orientation : {"(in, out)", "(out, in)"}, optional
        The layout of all matrices; by default whichever fits.
    true_is : {"visible", "hidden"}, optional
        What True means in a mask; by default whichever fits.
    names : mapping of str to str, optional
        The stages of arrays with unknown names, or names that are known: `{"proj_a.weight": "w_q", "sees": "mask"}`.
    query : slice, optional
        Compare only these queries, such as `slice(0, 128)`, if all scores don't fit into memory. Give the arrays whole;
        not together with a trace.
    rtol, atol : float, optional
        The tolerance, as in `numpy.allclose`; if you give one, the other has NumPy's default. Without either, numbers
        may differ only by the rounding of the type that your arrays are stored in.

    Returns
    -------
    Comparison
        `print` it to read the verdict, or let a notebook show it.

    Raises
    ------
    OwnArraysError
        If an array holds no real numbers, or they don't fit each other; or if an argument has an invalid value.
    UnexpectedError
        If attnviz has a bug; the message says what to send us.

    Examples
    --------
    >>> import numpy as np
    >>> from attnviz import compare
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
    _check_order(trace, arrays)
    check_arrays("compare takes a trace, or None, and arrays by their names", arrays)
    _check_stated(layer, n_heads, orientation, true_is)
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
    if shown is not None and (trace is None or (texts and "attention" in trace and not trace.labels)):
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
        _missing=explanation.missing,
        _lines=lines_of(arrays, {layouts[w].family for w in PROJECTIONS if w in layouts} == {IN_OUT}),
        _of_nan=() if first else diagnosis.mistakes,
        sentence=batch.sentence if batch else None,
        n_sentences=batch.n if batch else 1,
        differing=batch.differing if batch else (),
        alike=batch.alike if batch else (),
    )


def check_arrays(rule: str, arrays: object) -> None:
    """OwnArraysError with a rule unless these are arrays by their names."""
    if not isinstance(arrays, Mapping):
        is_recording = hasattr(arrays, "context_tokens")
        write = "Give one of its layers, as recorded[0]" if is_recording else 'Write {"attention": array}'
        raise OwnArraysError(f"{rule}; got {quoted(arrays)} as arrays. {write}.")
    if other := [name for name in arrays if not isinstance(name, str)]:
        raise OwnArraysError(f"Names of arrays are str, such as 'attention'; got {quoted(other[0])} for one.")


def _check_order(trace: object, arrays: object) -> None:
    """OwnArraysError unless a trace, or None, comes first."""
    if trace is None or isinstance(trace, Trace):
        return
    turn = "compare(trace, arrays)" if isinstance(arrays, Trace) else "compare(None, arrays)"
    raise OwnArraysError(
        f"compare takes a trace, or None, and arrays by their names; got {quoted(trace)} and {quoted(arrays)}. Write "
        f"{turn}."
    )


def _check_stated(layer: object, n_heads: object, orientation: object, true_is: object) -> None:
    """OwnArraysError if a convention has a value that it can't have."""
    if layer is not None:
        check_type("layer", layer, int | np.integer, "the number of a layer, from 1 on", OwnArraysError)
    if n_heads is not None:
        check_int("n_heads", n_heads, 1, "how many heads there are", OwnArraysError)
    for name, stated, allowed in (("orientation", orientation, (IN_OUT, OUT_IN)), ("true_is", true_is, MEANINGS)):
        if stated is not None:
            check_choice(name, stated, allowed, OwnArraysError)


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
    n_layers = max(len(layers_of(arrays)), 1)
    if layer is not None and not 1 <= layer <= n_layers:
        raise OwnArraysError(
            f"The arrays are of {counted(n_layers, 'layer')}; got the layer {layer}. Leave layer out, or give it from "
            "1 on with arrays of several layers, such as attention_1 and attention_2."
        )
    own = arrays if layer is None else of_layer(arrays, layer)
    batches = batches_of(own, max(map(len, texts.values()), default=0), stated.n_heads or 0)
    if query is None:
        batch = explain_batch(batches, None, stated) if batches else None
        return batch, batch.shown if batch else explain(None, arrays, layer, stated), texts
    ways = [arrays_of_queries(each, query) for each in (batches[0].of_each if batches else [own])]
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
    for name, counted_by, other in batch.batch.unlikely if batch and not batch.differing else ():
        yield (
            f"Does the first axis of your {shortened(name)} count {counted_by}? It is as long as there are {other}, "
            f"and read as {other} the numbers differ."
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
