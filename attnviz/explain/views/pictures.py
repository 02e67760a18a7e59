"""Pictures: a stage and what it was computed from, as matrices in a grid.

In a product A B = C the matrix B stands above C and A to its left, so that the
row and the column that make a number cross where it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attnviz.contract.steps import Matrix, Picture
from attnviz.core.operations.operation import Operand
from attnviz.core.stage import Stage, split_layer
from attnviz.core.trace import Trace
from attnviz.explain.steps import entry
from attnviz.explain.steps.output import adds_up

MAX_HEADS_APART = 8
"""The most heads that are drawn beside each other; of more, the selected one alone."""


def pictures(trace: Trace, names: Sequence[str]) -> tuple[Picture, ...]:
    """The pictures of some stages; products that share their left matrix are one picture, softmaxes of them beside.

    The contributions of the heads are drawn for one query, as what its output is the sum of.
    """
    contributions = [name for name in names if split_layer(name)[0] == "contributions"]
    results = [name for name in names if name not in contributions]
    products: dict[str, list[str]] = {}
    for name in results:
        if _is_product(trace[name]):
            products.setdefault(trace[name].inputs[0], []).append(name)
    others = [name for name in results if not _is_product(trace[name])]
    sources = {name: trace[name].inputs[0] for name in others if _is_of_a_row_in(results, trace[name])}
    drawn = [
        _products(trace, together, [name for name, source in sources.items() if source in together])
        for together in products.values()
    ]
    drawn += [_in_a_row(trace, name) for name in others if name not in sources]
    return (*drawn, *(_added_up(trace, name) for name in contributions))


def _is_product(stage: Stage) -> bool:
    return not stage.is_given and {"row", "column"} <= {operand.reads for operand in stage.operation.operands}


def _is_of_a_row_in(names: Sequence[str], stage: Stage) -> bool:
    """Whether each of its rows is computed from the row of one of these stages alone, as those of a softmax are."""
    reads = [operand.reads for operand, _ in zip(stage.operation.operands, stage.inputs, strict=False)]
    return reads == ["row"] and stage.inputs[0] in names


def _products(trace: Trace, names: Sequence[str], others: Sequence[str]) -> Picture:
    """Some stages, with what makes their columns above them, what makes their rows at the left, and what follows."""
    left, *_ = trace.inputs(names[0])
    above = [list(zip(trace[name].operation.operands, trace.inputs(name), strict=False))[1:] for name in names]
    height = max(map(len, above))
    nothing = (None,) * len(others)
    rows = [(None, *(_above(tops, row, place) for place, tops in enumerate(above)), *nothing) for row in range(height)]
    results = [_result(trace[name]) for name in names]
    results += [_result(trace[name], sign=trace[name].operation.operands[0].sign) for name in others]
    return Picture((*rows, (_matrix(left), *results)))


def _above(tops: Sequence[tuple[Operand, Stage]], row: int, place: int) -> Matrix | None:
    """The row above the results; a sign between two of its matrices would join what is not multiplied."""
    if row >= len(tops):
        return None
    operand, stage = tops[row]
    return _operand(operand if place == 0 else replace(operand, sign=""), stage)


def _in_a_row(trace: Trace, name: str) -> Picture:
    """A stage behind the stages whose cells it is computed from, place by place."""
    stage = trace[name]
    matrices: list[Matrix] = []
    for operand, read in zip(stage.operation.operands, trace.inputs(name), strict=False):
        matrices += _heads_of(read) if _joins_heads(stage, read) else [_operand(operand, read)]
    return Picture(((*matrices, _result(stage, sign="=" if matrices else "")),), turns=True)


def _added_up(trace: Trace, name: str) -> Picture:
    """For the selected query: a row of numbers from each head, the bias, and the row of the output they add up to."""
    layer = trace.layer_of(name)
    heads = Matrix(name, rows=0, columns=2, result=True)
    bias = [(Matrix(layer.names["b_o"], rows=None, columns=0, sign="+"),)] if "b_o" in layer.trace else []
    row = Matrix(layer.names["output"], rows=None, columns=1, sign="added up:" if adds_up(layer.trace) else "")
    return Picture(((heads,), *bias, (row,)), aside=True)


def _joins_heads(stage: Stage, read: Stage) -> bool:
    return read.is_headed and not stage.is_headed


def _heads_of(stage: Stage) -> list[Matrix]:
    n_heads = stage.shape[0]
    if n_heads > MAX_HEADS_APART:
        return [_matrix(stage)]
    return [_matrix(stage, fixed={0: head}) for head in range(n_heads)]


def _operand(operand: Operand, stage: Stage) -> Matrix:
    matrix = _matrix(stage, sign=operand.sign, after=operand.after)
    if operand.transposed:
        return Matrix(stage.name, matrix.columns, matrix.rows, matrix.fixed, matrix.sign, matrix.after)
    return matrix


def _matrix(stage: Stage, **drawn: object) -> Matrix:
    """The last two axes of a stage; a bias, of one axis besides the heads', is a single row."""
    has_rows = len(stage.axes) - (stage.axes[0] in ("head", "group")) > 1
    last = len(stage.axes) - 1
    return Matrix(stage.name, last - 1 if has_rows else None, last, **drawn)


def _result(stage: Stage, sign: str = "") -> Matrix:
    are_shares = entry(stage.name).scale == "share" and stage.axes[-1] != "query"
    return _matrix(stage, sign=sign, result=True, sums=are_shares)
