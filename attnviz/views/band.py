"""Band: some rows of the sheet of one word, with a sentence; and those that several steps have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from attnviz.core.layers import split_layer
from attnviz.core.operations.layernorm import LayerNorm
from attnviz.core.operations.rmsnorm import RMSNorm
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace
from attnviz.text.bands import sentence
from attnviz.text.condition import several_heads
from attnviz.text.markup import Runs
from attnviz.text.steps import entry
from attnviz.views.pictures import Slot


@dataclass(frozen=True)
class Band:
    """Some rows of a sheet, with one sentence.

    Attributes
    ----------
    sentence : runs
    label : str
        What stands before its row.
    cells : Slot
    array : str
        The array of the stage's rule that stands there in place of its own numbers; none if empty.
    left : Slot or None
        The numbers that its rows are multiplied by.
    right : Slot or None
        What each of its rows gives.
    leftover : Slot or None
        The number that its row, of shares, leaves over: it stands in place of the row's sum.
    factors : bool
        Whether its row is the sum of what the band before it multiplies.
    """

    sentence: Runs
    label: str
    cells: Slot
    array: str = ""
    left: Slot | None = None
    right: Slot | None = None
    leftover: Slot | None = None
    factors: bool = False


def normed(trace: Trace, stage: Stage) -> Iterator[Band]:
    """The row before it is normed, its squares with their sum, and the row after."""
    read, kind = stage.inputs[0], type(stage.operation).__name__
    after = "" if kind == "RMSNorm" else kind
    yield Band([], entry(read).title, line(trace[read]))
    squares = sentence(trace, stage.name, "#square" + f" of {after}" * bool(after))
    yield Band(squares, "squares", line(stage, sums=True), array="#square")
    yield Band(sentence(trace, stage.name, after, left=read), entry(stage.name).title, line(stage))


def multiplied(trace: Trace, matrix: Stage, left: Stage, result: Stage) -> Band:
    """A matrix of parameters, with what its rows are multiplied by, on the way to a stage."""
    cells = Slot(matrix.name, len(matrix.axes) - 2, len(matrix.axes) - 1)
    return Band(sentence(trace, matrix.name, sum=result.name), entry(matrix.name).title, cells, left=column(left))


def contributed(trace: Trace, stage: Stage) -> Iterator[Band]:
    """The bands of each head's part of the output, and of the bias."""
    if not joins(trace, stage):
        return
    yield Band(sentence(trace, stage.name), entry(stage.name).title, Slot(stage.name, 0, 2))
    bias = trace.layer_of(stage.name).names.get("b_o")
    if bias:
        yield Band([], entry(bias).title, Slot(bias, None, 0))


def joins(trace: Trace, stage: Stage) -> bool:
    """Whether a stage is of a layer with several heads."""
    return several_heads(trace.layer_of(stage.name).trace)


def is_compared(trace: Trace, stage: Stage) -> bool:
    """Whether a stage is the keys that queries are compared with."""
    scores = trace.layer_of(stage.name).names.get("scores")
    return scores is not None and stage.name in trace[scores].inputs[1:]


def is_query_or_key(trace: Trace, stage: Stage) -> bool:
    """Whether a stage is queries or keys, as they are compared or on their way to that."""
    scores = trace.layer_of(stage.name).names.get("scores")
    stages = trace.inputs(scores) if scores else ()
    while stages and stage not in stages:
        stages = tuple(each for after in stages for each in trace.inputs(after.name)[:1] if each.shape == after.shape)
    return bool(stages)


def is_product(stage: Stage) -> bool:
    """Whether a stage is made of rows times columns."""
    return not stage.is_given and {"row", "column"} <= {operand.reads for operand in stage.operation.operands}


def is_norm(stage: Stage) -> bool:
    """Whether a norm makes a stage."""
    return isinstance(stage.operation, RMSNorm | LayerNorm)


def is_output(stage: Stage) -> bool:
    """Whether a stage is the output of a layer."""
    return split_layer(stage.name)[0] == "output"


def line(stage: Stage, *, sums: bool = False) -> Slot:
    """The row of a stage."""
    return Slot(stage.name, None, len(stage.axes) - 1, sums=sums)


def column(stage: Stage) -> Slot:
    """The row of a stage as a column."""
    return Slot(stage.name, len(stage.axes) - 1, None)


def turned(stage: Stage) -> Slot:
    """The columns and rows of a stage."""
    return Slot(stage.name, len(stage.axes) - 1, len(stage.axes) - 2)
