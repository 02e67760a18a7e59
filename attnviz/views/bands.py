"""Bands: what stands on the sheet of one word, step by step. Each follows from a stage and what it reads.

A band is rows under the words: the row of a stage, which the selected query has; or a matrix, with a column at its
left whose numbers its rows are multiplied by, or at its right, which its rows add up to. Stages that hold one number
for each key are rows, whatever computes them: a new operation between the scores and the softmax is one, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from attnviz.core.layers import split_layer
from attnviz.core.operations.layernorm import LayerNorm
from attnviz.core.operations.rmsnorm import RMSNorm
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace
from attnviz.text.bands import said
from attnviz.text.condition import several_heads
from attnviz.text.markup import Runs
from attnviz.text.step import Step
from attnviz.text.steps import ENTERING, entry
from attnviz.text.steps.scaling import is_unscaled
from attnviz.text.steps.tokens import TOKENS
from attnviz.views.pictures import Slot


@dataclass(frozen=True)
class Band:
    """Some rows of a sheet, with one sentence.

    Attributes
    ----------
    said : runs
    label : str
        What stands before its row.
    cells : Slot
    array : str
        The array of the stage's rule that stands there in place of its own numbers; none if empty.
    left : Slot or None
        The numbers that its rows are multiplied by.
    right : Slot or None
        What each of its rows gives.
    factors : bool
        Whether its row is the sum of what the band before it multiplies.
    """

    said: Runs
    label: str
    cells: Slot
    array: str = ""
    left: Slot | None = None
    right: Slot | None = None
    factors: bool = False


def bands(trace: Trace, step: Step) -> tuple[Band, ...]:
    """The bands that a step adds to the sheet; a step that would add nothing to see has none."""
    if step.id == TOKENS.id:
        return _first_query(trace)
    if step.id in {entering.id for entering in ENTERING} or _is_of_sources(step):
        return ()
    return tuple(band for name in step.stages for band in _bands(trace, step, trace[name]))


@dataclass(frozen=True)
class Source:
    """Where a number of the first band is from: its word's row of what enters, times a matrix of parameters.

    Attributes
    ----------
    name : str
        What is made there.
    word : {"query", "key"}
        Whose it is.
    heading : runs
    bands : tuple of Band
    """

    name: str
    word: str
    heading: Runs
    bands: tuple[Band, ...]


def sources(trace: Trace, step: Step) -> tuple[Source, ...]:
    """Where the queries, keys and values of a step are from, and the output of several heads.

    Nothing of those that no matrix makes.
    """
    made = [trace[name] for name in step.stages if split_layer(name)[0] in ("q", "k", "v")]
    joined = [trace[name] for name in step.stages if _is_output(trace[name]) and _joins(trace, trace[name])]
    return (
        *(_source(trace, stage) for stage in made if _is_product(stage)),
        *(_join(trace, stage) for stage in joined if _is_product(stage)),
    )


def _first_query(trace: Trace) -> tuple[Band, ...]:
    """How the query of the first layer comes of what its word enters with, where a matrix makes it."""
    query = trace[trace.layers[0].names["q"]]
    return _source(trace, query).bands if _is_product(query) else ()


def _join(trace: Trace, output: Stage) -> Source:
    """What the heads found, side by side, times the output parameters: what each adds, and their sum."""
    layer = trace.layer_of(output.name)
    concat, w_o = trace.inputs(output.name)[:2]
    return Source(
        entry(w_o.name).title.lower(),
        "query",
        said(trace, output.name, "output from"),
        (
            replace(
                _multiplied(trace, w_o, concat, output), said=said(trace, w_o.name, "w_o of heads", sum=output.name)
            ),
            *_contributed(trace, trace[layer.names["contributions"]]),
            Band(said(trace, output.name), entry(output.name).title, _line(output)),
        ),
    )


def _source(trace: Trace, stage: Stage) -> Source:
    own, _ = split_layer(stage.name)
    enters, matrix, *bias = trace.inputs(stage.name)
    is_sum = not (enters.is_given or len(enters.inputs) < 2 or split_layer(enters.name)[0] != "x" or _is_norm(enters))
    added = enters.inputs if is_sum else []
    bands_ = (
        *(_norm_alone(trace, enters) if _is_norm(enters) else ()),
        *(Band([], entry(name).title, _line(trace[name])) for name in added),
        *((Band([], entry(enters.name).title, _line(enters)),) if added else ()),
        _multiplied(trace, matrix, enters, stage),
        *(Band([], entry(each.name).title, _line(each)) for each in bias),
        Band(said(trace, stage.name, f"{own} sum"), entry(stage.name).title, _line(stage), factors=True),
    )
    word = "query" if stage.axes[1] == "query" else "key"
    return Source(_ONE[own], word, said(trace, stage.name, f"{own} from"), bands_)


_ONE = {"q": "query", "k": "key", "v": "value"}


def page(trace: Trace, step: Step, there: Sequence[Band]) -> str:
    """Which page of the sheet the bands of a step stand on: that of a layer's words, or of what comes of them.

    Before them the first query has one.

    Of an MLP the neurons have a page of their own, and so has what they write, and the answer after it.
    """
    if step.id == TOKENS.id:
        return "query-1"
    layer = trace.layers[step.layer - 1].number
    own = {split_layer(name)[0] for name in step.stages}
    if own & _OF_NEURONS:
        return f"neurons-{layer}"
    if own & _OF_MLP:
        return f"mlp-{layer}"
    if "logits" in own and "mlp" in trace.layers[-1].trace:
        return f"answer-{layer}"
    is_of_words = bool(there) and all(_columns(trace, band.cells) == "key" and not _by_head(band) for band in there)
    return f"{'words' if is_of_words else 'join'}-{layer}"


_OF_NEURONS, _OF_MLP = {"mlp_norm", "hidden", "active"}, {"mlp", "mlp_residual"}


def _is_of_sources(step: Step) -> bool:
    """Whether what a step shows stands where queries, keys and values are from: the norm before them."""
    return {split_layer(name)[0] for name in step.stages} == {"attn_norm"}


def _norm_alone(trace: Trace, stage: Stage) -> Iterator[Band]:
    """What a norm does, without a sentence."""
    return (replace(band, said=[]) for band in _normed(trace, stage))


def _bands(trace: Trace, step: Step, stage: Stage) -> Iterator[Band]:
    own, _ = split_layer(stage.name)
    if own == "k":
        yield from _compared(trace, stage)
    elif own in ("q", "v") or (own == "scaled" and is_unscaled(trace.layer_of(stage.name).trace)):
        return  # beside the keys; under the shares; the scores as they are
    elif own == "concat":
        yield from _side_by_side(trace, stage)
    elif own == "contributions":
        yield from _contributed(trace, stage)
    elif _is_product(stage) and _reads_shares(trace, stage):
        yield _mixed(trace, stage)
    elif stage.axes[-2] in ("query", "token"):
        yield from _row(trace, step, stage)


def _compared(trace: Trace, keys: Stage) -> Iterator[Band]:
    """Each key under its word, with the query at the left."""
    layer = trace.layer_of(keys.name)
    if "scores" not in layer.trace:
        return
    query, _ = (trace[name] for name in trace[layer.names["scores"]].inputs[:2])
    yield Band(said(trace, keys.name), entry(keys.name).title, _turned(keys), left=_column(query))


def _row(trace: Trace, step: Step, stage: Stage) -> Iterator[Band]:
    """The row of a stage that the selected query has, after what it is computed from, where that is not there yet."""
    is_summed = _is_product(stage) and not (_joins(trace, stage) and _is_output(stage))
    if is_summed and stage.axes[-1] != "key":
        left, matrix = trace.inputs(stage.name)[:2]
        yield _multiplied(trace, matrix, left, stage)
    slots = {}
    if _is_norm(stage):
        yield from _normed(trace, stage)
        return
    if split_layer(stage.name)[0] in ("residual", "mlp_residual"):
        slots = dict(zip(("left", "right"), stage.inputs, strict=True))
        yield Band([], "what came in", _line(trace[stage.inputs[0]]))
    for bar in step.bars:
        if bar.stage == stage.name and bar.array:
            yield Band(said(trace, stage.name, bar.array), "exp(score − max)", _line(stage, sums=True), array=bar.array)
    sums = entry(stage.name).scale == "share"
    yield Band(said(trace, stage.name, **slots), _label(stage), _line(stage, sums=sums), factors=is_summed)


def _normed(trace: Trace, stage: Stage) -> Iterator[Band]:
    """The row before it is normed, its squares with their sum, and the row after."""
    read, kind = stage.inputs[0], type(stage.operation).__name__
    after = "" if kind == "RMSNorm" else kind
    yield Band([], entry(read).title, _line(trace[read]))
    squares = said(trace, stage.name, "#square" + f" of {after}" * bool(after))
    yield Band(squares, "squares", _line(stage, sums=True), array="#square")
    yield Band(said(trace, stage.name, after, left=read), entry(stage.name).title, _line(stage))


def _multiplied(trace: Trace, matrix: Stage, left: Stage, made: Stage) -> Band:
    """A matrix of parameters, with what its rows are multiplied by, on the way to a stage."""
    return Band(said(trace, matrix.name, sum=made.name), entry(matrix.name).title, _matrix(matrix), left=_column(left))


def _mixed(trace: Trace, stage: Stage) -> Band:
    """Each value under its word, with what they add up to at the right."""
    values = trace[stage.inputs[1]]
    return Band(said(trace, values.name), entry(values.name).title, _turned(values), right=_column(stage))


def _side_by_side(trace: Trace, stage: Stage) -> Iterator[Band]:
    """The shares of each head, with what it found at the right; one head is seen already."""
    if _joins(trace, stage):
        layer = trace.layer_of(stage.name)
        heads, shares = trace[stage.inputs[0]], trace[layer.names["attention"]]
        yield Band(
            said(trace, stage.name), entry(shares.name).title, Slot(shares.name, 0, 2), right=Slot(heads.name, 0, 2)
        )


def _contributed(trace: Trace, stage: Stage) -> Iterator[Band]:
    """What each head adds to the output, and the bias."""
    if not _joins(trace, stage):
        return
    yield Band(said(trace, stage.name), entry(stage.name).title, Slot(stage.name, 0, 2))
    bias = trace.layer_of(stage.name).names.get("b_o")
    if bias:
        yield Band([], entry(bias).title, Slot(bias, None, 0))


def _joins(trace: Trace, stage: Stage) -> bool:
    return several_heads(trace.layer_of(stage.name).trace)


def _is_product(stage: Stage) -> bool:
    return not stage.is_given and {"row", "column"} <= {operand.reads for operand in stage.operation.operands}


def _is_norm(stage: Stage) -> bool:
    return isinstance(stage.operation, RMSNorm | LayerNorm)


def _reads_shares(trace: Trace, stage: Stage) -> bool:
    return trace[stage.inputs[0]].axes[-1] == "key"


def _is_output(stage: Stage) -> bool:
    return split_layer(stage.name)[0] == "output"


def _label(stage: Stage) -> str:
    """What is done to the row before, where a sign says it; else what the row is."""
    signs = [operand.after for operand in stage.operation.operands] if not stage.is_given else []
    return next(filter(None, signs), entry(stage.name).title)


def _line(stage: Stage, *, sums: bool = False) -> Slot:
    return Slot(stage.name, None, len(stage.axes) - 1, sums=sums)


def _column(stage: Stage) -> Slot:
    return Slot(stage.name, len(stage.axes) - 1, None)


def _matrix(stage: Stage) -> Slot:
    return Slot(stage.name, len(stage.axes) - 2, len(stage.axes) - 1)


def _turned(stage: Stage) -> Slot:
    return Slot(stage.name, len(stage.axes) - 1, len(stage.axes) - 2)


def _columns(trace: Trace, slot: Slot) -> str:
    return trace[slot.stage].axes[slot.columns]


def _by_head(band: Band) -> bool:
    return band.right is not None and band.right.columns is not None
