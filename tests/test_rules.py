"""Rules: what they say of every cell is what its terms are, and makes its number."""

import math

import numpy as np
import pytest
from passes import TRACES
from rules import said

from attnviz.analysis.audit import tolerance
from attnviz.core.operations.rule import axes


def computed(trace, most=60):
    """Cells of all stages that are computed: all of a small one, some of a large one."""
    for stage in trace.stages:
        if not stage.is_given:
            indices = list(np.ndindex(stage.shape))
            for index in indices[:: max(1, len(indices) // most)]:
                yield stage, index


@pytest.mark.parametrize("name", TRACES)
def test_a_rule_reads_the_cells_of_the_terms_and_makes_the_number(name):
    trace = TRACES[name]
    for stage, index in computed(trace):
        found, terms = said(trace, stage.name, index), trace.terms(stage.name, index)
        assert [cell for cells, *_ in found.lines for cell in cells] == list(terms.cells)
        total = math.fsum(value for *_, value in found.lines)
        if "sum" in found.numbers:  # a share
            total = found.numbers["own_e" if "own_e" in found.numbers else "own"] / (total or 1)
        number = stage.cell(index).value
        assert total == number or abs(total - number) <= tolerance(terms), (stage.name, index)


@pytest.mark.parametrize("name", TRACES)
def test_a_rule_has_a_letter_for_each_axis_and_a_size_for_each_letter(name):
    trace = TRACES[name]
    for stage in trace.stages:
        if rule := trace.rule(stage.name):
            shapes = {place: each.shape for place, each in enumerate(trace.inputs(stage.name))}
            shapes |= {"": stage.shape, **{each: array.shape for each, array in rule.arrays.items()}}
            for slot in rule.slots.values():
                lengths = [math.prod(rule.sizes[letter] for letter in letters) for letters in axes(slot.pattern)]
                assert tuple(lengths) == shapes[slot.source], (stage.name, slot)


def test_a_given_stage_has_no_rule():
    assert TRACES["plain"].rule("w_q") is None
