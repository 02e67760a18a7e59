"""Matrices drawn as equations, the scale of their colours, and the map of the pass. In a product A B = C the matrix B
stands above C and A to its left, so that the row and the column that make a number cross where it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from attnviz.contract.document import Map, MapColumn
from attnviz.contract.stages import Matrix, Picture
from attnviz.core.operations.operation import Operand
from attnviz.core.stage import Stage, split_layer
from attnviz.core.trace import Trace
from attnviz.explain.one_word import is_product
from attnviz.explain.step import ShownStep
from attnviz.explain.steps import entry
from attnviz.explain.steps.output_projection import adds_up

MAX_HEADS_SIDE_BY_SIDE = 8  # the most heads that are drawn side by side; if there are more, only the selected one is


def pictures(trace: Trace, names: Sequence[str]) -> tuple[Picture, ...]:
    """The pictures of stages. Products with the same left matrix share one, which includes softmaxes of them. The
    heads' contributions are drawn for one query, as the sum that makes its output.
    """
    contributions = [name for name in names if split_layer(name)[0] == "contributions"]
    results = [name for name in names if name not in contributions]
    products: dict[str, list[str]] = {}
    for name in results:
        if is_product(trace[name]):
            products.setdefault(trace[name].inputs[0], []).append(name)
    others = [name for name in results if not is_product(trace[name])]
    sources = {name: trace[name].inputs[0] for name in others if _is_of_a_row_in(results, trace[name])}
    drawn = [
        _products(trace, together, [name for name, source in sources.items() if source in together])
        for together in products.values()
    ]
    drawn += [_in_a_row(trace, name) for name in others if name not in sources]
    return (*drawn, *(_added_up(trace, name) for name in contributions))


def _is_of_a_row_in(names: Sequence[str], stage: Stage) -> bool:
    """Whether each row is computed from a row of one of these stages alone, as in a softmax."""
    reads = [operand.reads for operand, _ in zip(stage.operation.operands, stage.inputs, strict=False)]
    return reads == ["row"] and stage.inputs[0] in names


def _products(trace: Trace, names: Sequence[str], others: Sequence[str]) -> Picture:
    """Products with their right matrices above, their left matrix at the left, and what follows at the right."""
    left, *_ = trace.inputs(names[0])
    above = [list(zip(trace[name].operation.operands, trace.inputs(name), strict=False))[1:] for name in names]
    height = max(map(len, above))
    nothing = (None,) * len(others)
    rows = [(None, *(_above(tops, row, place) for place, tops in enumerate(above)), *nothing) for row in range(height)]
    results = [_result(trace[name]) for name in names]
    results += [_result(trace[name], sign=trace[name].operation.operands[0].sign) for name in others]
    return Picture((*rows, (_matrix(left), *results)))


def _above(tops: Sequence[tuple[Operand, Stage]], row: int, place: int) -> Matrix | None:
    """A matrix above a result; without a sign beside another, which would join what isn't multiplied."""
    if row >= len(tops):
        return None
    operand, stage = tops[row]
    return _operand(operand if place == 0 else replace(operand, sign=""), stage)


def _in_a_row(trace: Trace, name: str) -> Picture:
    stage = trace[name]
    matrices: list[Matrix] = []
    for operand, read in zip(stage.operation.operands, trace.inputs(name), strict=False):
        matrices += _heads_of(read) if read.is_headed and not stage.is_headed else [_operand(operand, read)]
    return Picture(((*matrices, _result(stage, sign="=" if matrices else "")),), turns=True)


def _added_up(trace: Trace, name: str) -> Picture:
    """For the selected query: each head's contribution, the bias, and the output that they add up to."""
    layer = trace.layer_of(name)
    heads = Matrix(name, rows=0, columns=2, result=True)
    bias = [(Matrix(layer.names["b_o"], rows=None, columns=0, sign="+"),)] if "b_o" in layer.trace else []
    row = Matrix(layer.names["output"], rows=None, columns=1, sign="added up:" if adds_up(layer.trace) else "")
    return Picture(((heads,), *bias, (row,)), aside=True)


def _heads_of(stage: Stage) -> list[Matrix]:
    n_heads = stage.shape[0]
    if n_heads > MAX_HEADS_SIDE_BY_SIDE:
        return [_matrix(stage)]
    return [_matrix(stage, fixed={0: head}) for head in range(n_heads)]


def _operand(operand: Operand, stage: Stage) -> Matrix:
    matrix = _matrix(stage, sign=operand.sign, after=operand.after)
    if operand.transposed:
        return Matrix(stage.name, matrix.columns, matrix.rows, matrix.fixed, matrix.sign, matrix.after)
    return matrix


def _matrix(stage: Stage, **drawn: object) -> Matrix:
    """The last two axes of a stage; a bias, with one axis besides the heads', is a single row."""
    has_rows = len(stage.axes) - (stage.axes[0] in ("head", "group")) > 1
    last = len(stage.axes) - 1
    return Matrix(stage.name, last - 1 if has_rows else None, last, **drawn)


def _result(stage: Stage, sign: str = "") -> Matrix:
    are_shares = entry(stage.name).scale == "share" and stage.axes[-1] != "query"
    return _matrix(stage, sign=sign, result=True, sums=are_shares)


def limits(trace: Trace, steps: Sequence[ShownStep]) -> dict[str, float]:
    """The end of each stage's colour scale: the largest finite size of the stages that share it, 1 if all are zero.

    Stages share a scale if they are computed cell by cell from each other (scores and scaled scores, so that dividing
    is visible), or if one step computes or uses them side by side (queries, keys and values; their matrices). The input
    of a layer has its own scale, as the residual stream may grow many times as large; so has each matrix built by hand,
    where one sets a sharpness and the others hold ones. Shares reach to 1, or attention to its largest weight if that
    is so small that all cells would look white; but not for a trained model, whose colours would change with training.
    """
    kinds: list[set[str]] = []
    for together in (*_place_by_place(trace), *_side_by_side(trace, steps)):
        touched = [kind for kind in kinds if kind & together]
        kinds = [kind for kind in kinds if kind not in touched] + [together.union(*touched)]
    largest = {stage.name: _largest(stage) for stage in trace.stages}
    shared = {name: max(largest[each] for each in kind) for kind in kinds for name in kind}
    signed = {name: shared.get(name, size) or 1.0 for name, size in largest.items()}
    return signed | _of_shares(trace)


SMALL_SHARE = 0.3  # below this largest attention weight the scale ends there: on a scale to 1, forty words are white


def _of_shares(trace: Trace) -> dict[str, float]:
    shares = [stage for stage in trace.stages if entry(stage.name).scale == "share"]
    attention = {stage.name for stage in shares if stage.axes[-1] == "key"}
    most = max((_largest(stage) for stage in shares if stage.name in attention), default=1.0)
    is_small = 0 < most < SMALL_SHARE and trace.origin.kind != "learnt"
    return {stage.name: most if is_small and stage.name in attention else 1.0 for stage in shares}


def _place_by_place(trace: Trace) -> Iterable[set[str]]:
    for stage in trace.stages:
        operands = () if stage.is_given else stage.operation.operands
        if operands and all(operand.reads == "cell" for operand in operands):
            read = stage.inputs[1:] if split_layer(stage.name)[0] in ("residual", "mlp_residual") else stage.inputs
            yield {name for name in (stage.name, *read) if entry(name).scale == "signed"}


def _side_by_side(trace: Trace, steps: Sequence[ShownStep]) -> Iterable[set[str]]:
    if trace.origin.kind == "built":
        return
    for step in steps:
        signed = {name for name in step.stages if entry(name).scale == "signed"}
        used = {name for stage in signed for name in trace[stage].inputs}
        yield signed
        yield {name for name in used if entry(name).kind == "parameter"}


def _largest(stage: Stage) -> float:
    finite = stage.value[np.isfinite(stage.value)]
    return float(np.abs(finite).max(initial=0.0))


def map_of(trace: Trace, steps: Sequence[ShownStep]) -> Map:
    """The map: each step with its stages, and arrows between stages, also by way of stages that are not shown."""
    columns = [MapColumn(step=step.id, title=step.title, layer=step.layer, stages=step.stages) for step in steps]
    shown = {name: None for column in columns for name in column.stages}
    return Map(columns=columns, arrows=[(source, name) for name in shown for source in _sources(trace, name, shown)])


def _sources(trace: Trace, name: str, shown: dict[str, None]) -> list[str]:
    names: dict[str, None] = {}
    for read in trace[name].inputs:
        names |= dict.fromkeys([read] if read in shown else _sources(trace, read, shown))
    return list(names)
