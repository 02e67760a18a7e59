"""Working: who computes by the numbers that a class is shown gets the number that it is asked for."""

import math
import re

import numpy as np
import pytest
from passes import TRACES

from attnviz.core.numerals import digits
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
from attnviz.core.operations.rotation import Rotation
from attnviz.core.operations.scores import ALiBi, Hide, Scale, Softcap
from attnviz.core.operations.softmax import SinkShare, Softmax, SumNormalise
from attnviz.lessons.cell_reference import Reference
from attnviz.lessons.worked_solution import FORMS, rounding, worked_solution

FLAGS = {"visible": 1.0, "hidden": 0.0}


def number(text):
    return FLAGS[text] if text in FLAGS else float(text.replace("−", "-").replace("∞", "inf"))


class Read:
    """The numbers that stand in a working: columns of what runs, and what stands alone."""

    def __init__(self, made):
        running = [table for table in made.tables if table.heads]
        self.columns = [list(each) for table in running[:1] for each in zip(*table.lines, strict=True)]
        self.labels = self.columns[0] if self.columns else []
        self.columns = [np.array([*map(number, each)]) for each in self.columns[1:]]
        lines = [line for table in made.tables if not table.heads for line in table.lines]
        self.told = [text for _, text in lines if "×" in text]
        self.alone = [number(text) for _, text in lines if "×" not in text]

    def at(self, place):
        """The number of the line of that place: words are in order, dimensions are counted from 1."""
        return self.columns[0][place]


def summed(read, operation, index):
    return (float(np.prod(read.columns, axis=0).sum()) if read.columns else 0.0) + sum(read.alone)


def copied(read, operation, index):
    if not read.columns:
        return read.alone[0]
    return read.at(index[-1] % len(read.labels))


def shared(read, operation, index):
    if np.isneginf(read.columns[0]).all():
        return 0.0
    powers = np.exp(read.columns[0] - max(*read.columns[0], *read.alone, -700))
    sinks = [math.exp(sink - max(*read.columns[0], *read.alone, -700)) for sink in read.alone]
    return powers[index[-1]] / (powers.sum() + sum(sinks))


def sunk(read, operation, index):
    return 1 / (1 + np.exp(read.columns[0] - read.alone[0]).sum())


def proportional(read, operation, index):
    counted = np.where(np.isneginf(read.columns[0]), 0, read.columns[0])
    return counted[index[-1]] / counted.sum()


def normed(read, operation, index):
    row, (gain, *_) = read.columns[0], [*read.alone, 1.0]
    return row[index[-1]] / math.sqrt((row**2).mean() + operation.epsilon) * gain


def standardised(read, operation, index):
    row, (gain, bias) = read.columns[0], read.alone or (1.0, 0.0)
    return (row[index[-1]] - row.mean()) / math.sqrt(row.var() + operation.epsilon) * gain + bias


def scaled(read, operation, index):
    by = 1 / math.sqrt(operation.d_k) if operation.factor is None else operation.factor
    return copied(read, operation, index) * by


def biased(read, operation, index):
    score, slope, distance = map(number, re.findall(r"−?[\d.]+(?:e−?\d+)?", read.told[0])[:3])
    return score - slope * distance


def gated(read, operation, index):
    return multiplied(*read.told)


def multiplied(told):
    one, other = re.match(r"(\S+) × (\S+),", told).groups()
    return number(one) * number(other)


def turned(read, operation, index):
    if len(read.told) == 2:
        return sum(map(multiplied, read.told))
    return summed(read, operation, index) if len(read.columns) == 2 else copied(read, operation, index)


def positive(read, operation, index):
    x = max(copied(read, operation, index), 0)
    return x**2 if operation.squared else x


def capped(read, operation, index):
    return operation.limit * math.tanh(copied(read, operation, index) / operation.limit)


def hidden(read, operation, index):
    score, mask = (column[index[-1]] for column in read.columns)
    assert mask == 1
    return score


def largest(read, operation, index):
    return max(*read.columns[0], *read.alone, -math.inf) if read.columns else max(read.alone)


def of_powers(read, operation, index):
    if len(read.columns) == 1:  # hidden so far
        return 0.0
    score, most, *value = read.columns
    sink = math.exp(read.alone[0] - read.alone[1]) if read.alone else 0.0
    return float((np.exp(score - most) * np.prod(value, axis=0)).sum()) + sink


def quotient(read, operation, index):
    above, below = read.alone
    return above / below if below else above


RULES = {
    **dict.fromkeys((Projection, DotProducts, WeightedSum, HeadProjection, Contributions, Addition), summed),
    **dict.fromkeys((Concatenation, Identity), copied),
    Rotation: turned,
    Softmax: shared,
    SinkShare: sunk,
    SumNormalise: proportional,
    RMSNorm: normed,
    LayerNorm: standardised,
    Scale: scaled,
    ALiBi: biased,
    GELU: gated,
    ReLU: positive,
    Softcap: capped,
    Hide: hidden,
    RunningMaximum: largest,
    RunningSum: of_powers,
    RunningOutput: of_powers,
    LastQuotient: quotient,
}
"""How operations' numbers are worked out by hand, once more and by the written numbers alone."""


def asked_cells(trace):
    """Two cells of each stage that a class may be asked for."""
    rng = np.random.default_rng(3)
    for stage in trace.values():
        for _ in range(0 if stage.is_given else 2):
            index = tuple(int(rng.integers(n)) for n in stage.shape)
            if not stage.is_overridden(index) and np.isfinite(stage.value[index]):
                yield Reference("B", trace, stage, index)


@pytest.mark.parametrize("name", TRACES)
def test_worked_solution_gives_the_number(name):
    for of in asked_cells(TRACES[name]):
        operation, right = of.stage.operation, float(of.cell.value)
        for form in FORMS if type(operation) in RULES else ():
            made = RULES[type(operation)](Read(worked_solution(of, form)), operation, of.index)
            assert made == pytest.approx(right, abs=rounding(of, form) + 2e-3 * (1 + abs(right))), (of.cell, form)


def test_worked_solution_shows_inputs_only():
    for name in ("all options set", "two layers of 2025", "two blocks with biases"):
        for of in asked_cells(TRACES[name]):
            made = worked_solution(of, digits)
            inputs = {digits(float(each)) for stage in of.trace.inputs(of.stage.name) for each in stage.value.flat}
            columns = [column for table in made.tables if table.heads for column in zip(*table.lines, strict=True)]
            alone = [line for table in made.tables if not table.heads for line in table.lines]
            if isinstance(of.stage.operation, Rotation):
                del columns[2:]  # cosines and sines
            assert {text for column in columns[1:] for text in column} <= inputs | {"visible", "hidden"}, of.cell
            assert {text for _, text in alone if "×" not in text} <= inputs, of.cell
