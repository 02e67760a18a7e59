"""Band: rows of the sheet of one word that several steps have, and what tells which they are."""

from __future__ import annotations

from collections.abc import Iterator

from attnviz.contract.steps import Band, Matrix
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.stage import Stage, split_layer
from attnviz.core.trace import Trace
from attnviz.explain.bands import sentence
from attnviz.explain.condition import several_heads
from attnviz.explain.steps import entry


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
    rows, columns = len(matrix.axes) - 2, len(matrix.axes) - 1
    if result.operation.operands[1].transposed:
        rows, columns = columns, rows
    times = f"{split_layer(matrix.name)[0]} times {split_layer(left.name)[0]}"
    text = sentence(trace, matrix.name, times, sum=result.name)
    return Band(text, entry(matrix.name).title, Matrix(matrix.name, rows, columns), left=column(left))


def contributed(trace: Trace, stage: Stage) -> Iterator[Band]:
    """The bands of each head's part of the output, and of the bias."""
    if not joins(trace, stage):
        return
    yield Band(sentence(trace, stage.name), entry(stage.name).title, Matrix(stage.name, 0, 2))
    bias = trace.layer_of(stage.name).names.get("b_o")
    if bias:
        yield Band([], entry(bias).title, Matrix(bias, None, 0))


def joins(trace: Trace, stage: Stage) -> bool:
    """Whether a stage is of a layer with several heads."""
    return several_heads(trace.layer_of(stage.name).trace)


def comparisons(trace: Trace, stage: Stage) -> list[Stage]:
    """Where queries meet keys in the layer of a stage: the scores, or those of their parts."""
    layer = trace.layer_of(stage.name)
    scores = layer.names.get("scores")
    if scores is None:
        return []
    return [trace[scores]] if is_product(trace[scores]) else list(trace.inputs(scores))


def follows_its_factors(trace: Trace, stage: Stage) -> bool:
    """Whether the row of a product comes right after the band with what it multiplies, and not after another one."""
    parts = comparisons(trace, stage)
    if stage not in parts or len(parts) == 1:
        return True
    order = list(trace.keys()).index
    first, last = (
        min(parts, key=lambda each: order(each.name)),
        max(parts, key=lambda each: max(map(order, each.inputs))),
    )
    return stage is first is last


def compared_by(trace: Trace, stage: Stage) -> Stage | None:
    """The comparison that can be made once there is this stage: of its two the one that comes later."""
    order = list(trace.keys())
    return next((each for each in comparisons(trace, stage) if max(each.inputs, key=order.index) == stage.name), None)


def is_query_or_key(trace: Trace, stage: Stage) -> bool:
    """Whether a stage is queries or keys, as they are compared or on their way to that."""
    stages = tuple(each for scores in comparisons(trace, stage) for each in trace.inputs(scores.name)[:2])
    while stages and stage not in stages:
        stages = tuple(
            each for after in stages for each in trace.inputs(after.name)[:1] if each.axes[:2] == after.axes[:2]
        )
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


def line(stage: Stage, *, sums: bool = False) -> Matrix:
    """The row of a stage."""
    return Matrix(stage.name, None, len(stage.axes) - 1, sums=sums)


def column(stage: Stage) -> Matrix:
    """The row of a stage as a column."""
    return Matrix(stage.name, len(stage.axes) - 1, None)


def turned(stage: Stage) -> Matrix:
    """The columns and rows of a stage."""
    return Matrix(stage.name, len(stage.axes) - 1, len(stage.axes) - 2)
