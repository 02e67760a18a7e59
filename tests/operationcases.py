"""Cases of every operation: the one place where tests ask for a new one, besides a pass in `passes.TRACES`."""

import importlib
import math
import pkgutil
from typing import NamedTuple

import numpy as np

from attnviz.core import operations
from attnviz.core.operations.activations import GELU, ReLU
from attnviz.core.operations.linear import (
    Addition,
    Concatenation,
    Contributions,
    DotProducts,
    HeadProjection,
    Identity,
    Projection,
    WeightedSum,
)
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.operations.online_softmax import LastQuotient, RunningMaximum, RunningOutput, RunningSum
from attnviz.core.operations.operation import Operation
from attnviz.core.operations.rotation import PAIRS, Rotation
from attnviz.core.operations.scores import ALiBi, Hide, Scale, Softcap
from attnviz.core.operations.softmax import SinkShare, Softmax, SumNormalise

MODULES = [
    importlib.import_module(f"{operations.__name__}.{each.name}") for each in pkgutil.iter_modules(operations.__path__)
]
OPERATIONS = {
    each
    for module in MODULES
    for each in vars(module).values()
    if isinstance(each, type) and Operation in each.__mro__[1:]
}
"""Every operation, found and not listed."""


class Case(NamedTuple):
    """An operation and the arrays of its inputs; the first `n_own` of them differ from sentence to sentence."""

    operation: Operation
    arrays: tuple[np.ndarray, ...]
    n_own: int = 1


def case(operation, *arrays, n_own=1):
    return Case(operation, arrays, n_own)


RANDOM = np.random.default_rng(7)
HEADS, ROWS, COLUMNS = 2, 3, 5


def array(*shape):
    return RANDOM.standard_normal(shape)


def hidden(*shape):
    """Scores, some of them hidden, in one row of several heads all."""
    scores = np.where(RANDOM.random(shape) < 0.6, array(*shape), -np.inf)
    scores[..., 0, :2] = -np.inf
    scores[-1:, 1] = -np.inf
    return scores


SCORES, SQUARES, X = array(HEADS, ROWS, COLUMNS), array(HEADS, 4, 4), array(ROWS, 7)  # squares fit on either side
MASK = RANDOM.random((ROWS, COLUMNS)) < 0.6
MASKED, SINKS, VALUES = hidden(4, ROWS, COLUMNS), array(4), array(2, COLUMNS, 7)
LARGEST, LARGEST_WITH_SINKS = RunningMaximum(2).compute(MASKED), RunningMaximum(2).compute(MASKED, SINKS)
SEES = np.array([1, 1, 0])  # the last query sees no key
SUMS = RANDOM.random((HEADS, ROWS, COLUMNS)) * SEES[:, None]
ROTATIONS = [Rotation(50.0, pairs, dims, first) for pairs in PAIRS for dims, first in ((8, 0), (4, 3))]
CASES = {
    "identity": case(Identity("query"), X),
    "identity for each head": case(Identity("query", HEADS), X),
    "residual": case(Addition(), X, array(ROWS, 7), n_own=2),
    "scores of two parts": case(Addition(), SCORES, array(*SCORES.shape), n_own=2),
    "added mask": case(Addition(hides=True), SCORES, np.where(MASK, array(ROWS, COLUMNS), -np.inf)),
    "added mask of each head": case(Addition(hides=True), SCORES, hidden(*SCORES.shape)),
    "projection": case(Projection("query"), X, array(7, COLUMNS)),
    "projection and bias": case(Projection("query"), X, array(7, COLUMNS), array(COLUMNS)),
    "projection of each head": case(Projection("query"), array(4, 4), array(HEADS, 4, 4)),
    "projection and bias of each head": case(Projection("query"), X, array(HEADS, 7, COLUMNS), array(HEADS, COLUMNS)),
    "each head's matrix": case(HeadProjection(), array(HEADS, ROWS, 7), array(HEADS, 7, 7)),
    "each head's matrix, transposed": case(HeadProjection(transposed=True), SCORES, array(HEADS, 7, COLUMNS)),
    "each head's matrix of groups": case(HeadProjection(2), array(HEADS, ROWS, 7), array(4, 7, COLUMNS)),
    "dot products": case(DotProducts(), SQUARES, array(HEADS, 4, 4), n_own=2),
    "dot products of groups": case(DotProducts(2), array(4, ROWS, 7), VALUES, n_own=2),
    "weighted sum": case(WeightedSum(), SQUARES, array(HEADS, 4, 4), n_own=2),
    "weighted sum of groups": case(WeightedSum(2), array(4, ROWS, COLUMNS), VALUES, n_own=2),
    "concatenation": case(Concatenation(), array(HEADS, ROWS, 7)),
    "contributions": case(Contributions(), array(HEADS, ROWS, 7), array(14, COLUMNS)),
    "scale": case(Scale(7), SCORES),
    "scale by a factor": case(Scale(7, -0.375), SCORES),
    "scale by a large factor": case(Scale(7, 30.0), SCORES),
    "scale by ln 3": case(Scale(7, math.log(3)), SCORES),
    "softcap": case(Softcap(0.75), 2 * SCORES),
    "alibi": case(ALiBi(HEADS), SCORES),
    "alibi of three heads": case(ALiBi(3), array(3, ROWS, COLUMNS)),
    "hide": case(Hide(), SCORES, MASK),
    "hide by a mask of each head": case(Hide(), SCORES, RANDOM.random(SCORES.shape) < 0.6),
    "softmax": case(Softmax(), SCORES),
    "softmax of scores whose exponentials overflow": case(Softmax(), 1000 * SCORES),
    "softmax of hidden keys": case(Softmax(), MASKED),
    "softmax of some hidden keys": case(Softmax(), np.where(np.arange(COLUMNS) % 2, SCORES, -np.inf)),
    "softmax of answers": case(Softmax(), X),
    "softmax and sinks": case(Softmax(), MASKED, SINKS),
    "softmax and sinks above all": case(Softmax(), MASKED, SINKS + 9),
    "weight of the sinks": case(SinkShare(), MASKED, SINKS),
    "weight of sinks above all": case(SinkShare(), MASKED, SINKS + 9),
    "sum normalisation": case(SumNormalise(), np.where(np.isneginf(MASKED), MASKED, np.abs(MASKED) + 1)),
    "sum normalisation of both signs": case(SumNormalise(), SCORES + np.array([2, -1, 1, 1, 1])),
    "rmsnorm": case(RMSNorm(), X),
    "rmsnorm of small numbers": case(RMSNorm(0.5), X),
    "rmsnorm and gain": case(RMSNorm(), array(HEADS, ROWS, COLUMNS), array(COLUMNS)),
    "layernorm": case(LayerNorm(), X),
    "layernorm and gain": case(LayerNorm(), X, array(7)),
    "layernorm, gain and bias": case(LayerNorm(0.5), X, *array(2, 7)),
    "relu": case(ReLU(), X),
    "relu squared": case(ReLU(squared=True), X),
    "gelu": case(GELU(), X),
    "gelu by tanh": case(GELU(tanh=True), X),
    "running maximum": case(RunningMaximum(2), MASKED),
    "running maximum and sinks": case(RunningMaximum(3), MASKED, SINKS),
    "running sum": case(RunningSum(2), MASKED, LARGEST, n_own=2),
    "running sum and sinks": case(RunningSum(2), MASKED, LARGEST_WITH_SINKS, SINKS, n_own=2),
    "running output": case(RunningOutput(2), MASKED, LARGEST, array(4, COLUMNS, 7), n_own=3),
    "running output of groups": case(RunningOutput(2, 2), MASKED, LARGEST, VALUES, n_own=3),
    "last quotient": case(LastQuotient(), array(HEADS, ROWS, COLUMNS, 7) * SEES[..., None, None], SUMS, n_own=2),
    **{f"rotation {each.pairs}, {each.dims}": case(each, array(HEADS, ROWS, 8)) for each in ROTATIONS},
    "rotation of three in four": case(Rotation(50.0, "halves", 6), array(HEADS, ROWS, 8)),
}
