"""Rules: what they say of every cell is what its terms are, and makes its number."""

import math

import numpy as np
import pytest
from cases import of_each
from passes import TRACES
from rules import said

from attnviz import Parameters, attend
from attnviz.analysis.audit import tolerance
from attnviz.core.numbers import Numbers
from attnviz.core.operations.rule import Line, Rule, Slot, Variant, axes
from attnviz.core.operations.sumnormalise import SumNormalise
from attnviz.core.stage import Stage


def computed(trace, most=20):
    """Cells of all stages that are computed: all of a small one, some of a large one."""
    for stage in trace.stages:
        if not stage.is_given:
            indices = list(np.ndindex(stage.shape))
            for index in indices[:: max(1, len(indices) // most)]:
                yield stage, index


@of_each("name", [*TRACES])
def test_a_rule_reads_the_cells_of_the_terms_and_makes_the_number(name):
    trace = TRACES[name]
    for stage, index in computed(trace):
        found, terms = said(trace, stage.name, index), trace.terms(stage.name, index)
        assert [cell for cells, *_ in found.lines for cell in cells] == list(terms.cells)
        total = math.fsum(value for *_, value in found.lines)
        if "sum" in found.numbers:  # a share
            total = found.numbers["own_e" if "own_e" in found.numbers else "own"] / (total or 1)
        if "squares" in found.numbers:  # a norm, whose lines are squares of its row, and then its gain and bias
            (read, *affine), length = trace.inputs(stage.name), stage.shape[-1]
            squares, others = found.lines[:length], [value for *_, value in found.lines[length:]]
            total = (found.numbers["own"] - found.numbers.get("mean", 0)) / math.sqrt(
                math.fsum(value for *_, value in squares) / length + stage.operation.epsilon
            )
            gain, bias = (others + [1.0, 0.0][len(affine) :])[:2]
            total = total * gain + bias
            assert [cells[0].stage for cells, *_ in squares] == [read.name] * length
        number = stage.cell(index).value
        assert total == number or abs(total - number) <= tolerance(terms), (stage.name, index)


@of_each("name", [*TRACES])
def test_a_rule_has_a_letter_for_each_axis_and_a_size_for_each_letter(name):
    trace = TRACES[name]
    for stage in trace.stages:
        if rule := trace.rule(stage.name):
            shapes = {place: each.shape for place, each in enumerate(trace.inputs(stage.name))}
            shapes |= {"": stage.shape, **{each: array.shape for each, array in rule.arrays.items()}}
            for slot in rule.slots.values():
                lengths = [math.prod(rule.sizes[letter] for letter in letters) for letters in axes(slot.pattern)]
                assert tuple(lengths) == shapes[slot.source], (stage.name, slot)


VISIBLE = np.array([[True, True], [False, False], [True, False]])
ROWS = np.array([[1.0, -0.5], [-3.0, 2.0], [0.0, 1.0]])


def attended(**kept):
    return attend(ROWS, ROWS[:2], parameters=Parameters(), **{"mask": VISIBLE, "scale": 1.0, **kept})


PROJECTED = attend(ROWS, parameters=Parameters(w_v=np.array([[[2.0], [-1.0]]]), b_v=np.array([[0.25]])))
SUMS = attended(normalise=SumNormalise)
UNSEEING = ("no key is visible, so the share is 0", r"0 \quad\text{(no key is visible)}")


@pytest.mark.parametrize(
    ("trace", "stage", "index", "lines", "conclusion", "formula"),
    [
        (
            PROJECTED,
            "v",
            (0, 0, 0),
            ["1.0000 × 2.0000", "−0.5000 × −1.0000", "0.2500"],
            "the sum of 3, added up unrounded",
            r"1.0000 \cdot 2.0000 + (-0.5000) \cdot (-1.0000) + 0.2500",
        ),
        (attended(scale=None), "scaled", (0, 0, 0), ["1.2500 ÷ 1.4142"], "", r"\frac{1.2500}{1.4142}"),
        (attended(scale=-2.0), "scaled", (0, 0, 1), ["−4.0000 × −2.0000"], "", r"(-4.0000) \cdot (-2.0000)"),
        (attended(), "masked", (0, 0, 1), ["visible, so −4.0000 stays"], "", r"-4.0000 \text{ (visible)}"),
        (attended(), "masked", (0, 2, 1), ["hidden, so −∞"], "", r"\text{ hidden}"),
        (
            attended(mask=np.where(VISIBLE, 0.5, -np.inf)),
            "masked",
            (0, 2, 1),
            ["2.0000", "−∞"],
            "the sum of 2, added up unrounded",
            r"2.0000 + (-\infty)",
        ),
        (
            attended(),
            "attention",
            (0, 0, 1),
            ["exp(1.2500 − 1.2500)", "exp(−4.0000 − 1.2500)"],
            "0.0052 ÷ 1.0052, the sum of 2",
            r"\frac{e^{-4.0000 - 1.2500}}{1.0000 + 0.0052}",
        ),
        (attended(), "attention", (0, 1, 0), ["exp(−∞ − 0.0000)"] * 2, *UNSEEING),
        (
            SUMS,
            "attention",
            (0, 0, 1),
            ["1.2500", "−4.0000"],
            "−4.0000 ÷ (−2.7500), the sum of 2, where hidden keys count 0",
            r"\frac{(-4.0000)}{1.2500 + (-4.0000)}",
        ),
        (SUMS, "attention", (0, 1, 1), ["−∞", "−∞"], *UNSEEING),
        (PROJECTED, "concat", (2, 0), ["the same number"], "", ""),
    ],
)
def test_a_rule_says_in_words_and_digits_how_a_number_is_computed(trace, stage, index, lines, conclusion, formula):
    found = said(trace, stage, index)
    assert ([text for _, text, _ in found.lines], found.conclusion, found.formula) == (lines, conclusion, formula)


@pytest.mark.parametrize("outer", ["a i", "i a"])
def test_letters_that_share_an_axis_are_read_outermost_first(outer):
    given = Stage.given("given", Numbers.of(np.arange(2.0 * 3 * 5)), ("token",))
    split = given.value.reshape([{"a": 2, "i": 3}[letter] for letter in outer.split()] + [5])
    variant = Variant((Line(("x",), "{x}"),))
    rule = Rule("b a", {"a": 2, "i": 3, "b": 5}, {"x": Slot(0, f"({outer} b)")}, (variant,), None, {})
    read = [given.value[at] for ((_, at),) in rule.cells((4, 1))]
    assert read == list(split[1, :, 4] if outer == "a i" else split[:, 1, 4])


def test_a_given_stage_has_no_rule():
    assert TRACES["plain"].rule("w_q") is None
