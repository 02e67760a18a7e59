"""Rules: what they say of every cell is what its terms are, and makes its number."""

import math
import re
from statistics import NormalDist

import numpy as np
import pytest
from cases import of_each, spread
from passes import TRACES
from rules import said

from attnviz import Parameters, attend
from attnviz.analysis.audit import tolerance
from attnviz.core.arrays import Numbers
from attnviz.core.operations.norms import LayerNorm
from attnviz.core.operations.online_softmax import RunningMaximum
from attnviz.core.operations.rule import Line, Rule, Slot, Variant, axes
from attnviz.core.operations.scores import slopes
from attnviz.core.operations.softmax import SinkShare, Softmax, SumNormalise
from attnviz.core.stage import Stage


def computed(trace, most=4):
    """Some cells of all stages that are computed."""
    for stage in trace.stages:
        if not stage.is_given:
            for index in spread(stage.shape, most):
                yield stage, index


@of_each("name", [*TRACES])
def test_a_rule_reads_the_cells_of_the_terms_and_makes_the_number(name):
    trace = TRACES[name]
    for stage, index in computed(trace):
        found, terms = said(trace, stage.name, index), trace.terms(stage.name, index)
        assert [cell for cells, *_ in found.lines for cell in cells] == list(terms.cells)
        values = [value for *_, value in found.lines]
        total = max(values) if isinstance(stage.operation, RunningMaximum) else math.fsum(values)
        if "sum" in found.numbers:  # a share
            own = next(name for name in ("own_e", "own", "sink_e") if name in found.numbers)
            total = found.numbers[own] / (total or 1)
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
            for slot in filter(None, (*rule.slots.values(), rule.case, rule.until)):
                lengths = [math.prod(rule.sizes[letter] for letter in letters) for letters in axes(slot.pattern)]
                assert tuple(lengths) == shapes[slot.source], (stage.name, slot)


NUMBER = r"(−?(?:[\d.]+(?:e−?\d+)?|∞))"
BRACKETED = r"\(?(−?(?:[\d.]+(?:e−?\d+)?|∞))\)?"


def says(text, value):
    """Whether a text is a number, but for what is rounded away."""
    said = float(text.replace("−", "-").replace("∞", "inf"))
    return said == value or math.isclose(said, value, rel_tol=6e-3 if "e" in text else 0, abs_tol=6e-5)


class Made:
    """A computed cell, and the arrays that it is made from."""

    def __init__(self, trace, stage, index):
        self.trace, self.stage, self.index = trace, stage, index
        self.number, self.inputs = float(stage.value[index]), trace.inputs(stage.name)
        self.read = self.inputs[0].value
        self.own = float(self.read[index]) if self.read.shape == stage.shape else None

    @property
    def row(self):
        """Of what is read the row in which it stands, or of which it is made."""
        return [float(each) for each in self.read[self.index[: self.read.ndim - 1]]]

    @property
    def seen(self):
        return [each for each in self.row if each != -math.inf]

    @property
    def so_far(self):
        """The scores of the keys up to the end of the block of a cell's key."""
        head, query, key, *_ = self.index
        size = self.stage.operation.block_size
        return [float(each) for each in self.read[head, query, : (key // size + 1) * size]]

    @property
    def sink(self):
        """The sink of its head, if there is one."""
        return [float(sinks.value[self.index[0]]) for sinks in self.inputs[1:] if sinks.axes == ("head",)]

    def mean_square(self, about=0.0):
        return math.fsum((each - about) ** 2 for each in self.row) / len(self.row)


def is_kept(cell, line, said, not_, becomes):
    positive = cell.own > 0
    result = {"stays": cell.own, "is squared": cell.own**2, "0": 0}[becomes]
    return says(said, cell.own) and positive == (not not_) == (becomes != "0") and cell.number == result


def is_seen(cell, line, which, said):
    mask = np.broadcast_to(cell.inputs[1].value, cell.stage.shape)[cell.index]
    return mask == (which == "visible") and (says(said, cell.own) and cell.number == cell.own if mask else not said)


def is_part_below(cell, line, said, part, which):
    below = NormalDist().cdf(cell.own)
    return (
        says(said, cell.own) and abs(float(part.replace("−", "-")) - {"below": below, "above": 1 - below}[which]) < 5e-4
    )


def is_affine(cell, line, sign, said, which):
    (read,), place = line[0], {"gain": 1, "bias": 2}[which]
    return (
        sign == {"gain": "×", "bias": "+"}[which] and read.stage == cell.inputs[place].name and says(said, read.value)
    )


def is_square(cell, line, *said):
    number, *mean = said
    return says(number, line[0][0].value) and (not mean or says(mean[0], math.fsum(cell.row) / len(cell.row)))


def is_exponential(cell, line, said, largest):
    if len(line[0]) == 2:  # the maximum is a stage of its own
        return says(said, line[0][0].value) and says(largest, line[0][1].value)
    return says(said, line[0][0].value) and says(largest, max(cell.seen + cell.sink, default=0.0))


def is_weighted(cell, line, score, largest, value):
    return [says(said, read.value) for said, read in zip((score, largest, value), line[0], strict=True)] == [True] * 3


def is_product(cell, line, one, other):
    if len(line[0]) == 2:
        return [says(text, read.value) for text, read in zip((one, other), line[0], strict=True)] == [True, True]
    return says(one, cell.own) and says(other, cell.number / cell.own if cell.own else cell.stage.operation.factor)


def is_of_a_turn(cell, line, said, factor):
    (read,), angle = line[0], turned_by(cell)
    place, half = cell.index[-1], cell.stage.operation.dims // 2
    other = place ^ 1 if cell.stage.operation.pairs == "neighbours" else (place + half) % (2 * half)
    if read.index[-1] not in (place, other):
        return says(factor, 0.0)
    partner = read.index[-1] - place
    return says(said, read.value) and says(
        factor, math.cos(angle) if not partner else math.sin(angle) * (-1 if partner > 0 else 1)
    )


def is_of_a_named_turn(cell, line, said, factor, named):
    angle = turned_by(cell)
    factors = {
        "cosine": math.cos(angle),
        "sine": math.sin(angle),
        "sine with the opposite sign": -math.sin(angle),
    }
    return says(factor, factors[named]) and is_of_a_turn(cell, line, said, factor)


def turned_by(cell):
    """The angle of the pair of a cell."""
    rotation, (*_, row, place) = cell.stage.operation, cell.index
    pair = place // 2 if rotation.pairs == "neighbours" else place % (rotation.dims // 2)
    return (row + rotation.first) * rotation.base ** (-2 * pair / rotation.dims)


def is_biased(cell, line, said, slope, distance):
    head, query, key = cell.index
    return says(said, cell.own) and says(slope, slopes(len(cell.stage))[head]) and says(distance, abs(query - key))


def d_k_of(trace):
    """How many numbers of a query and a key are compared, of content and for positions."""
    return sum(trace[name].shape[-1] for name in ("q", "q_r") if name in trace)


LINES = {
    rf"{NUMBER} × {NUMBER}": is_product,
    rf"{NUMBER} ÷ {NUMBER}": lambda cell, line, one, by: (
        says(one, cell.own) and says(by, math.sqrt(d_k_of(cell.trace.layer_of(cell.stage.name).trace)))
    ),
    rf"{NUMBER} × ln ([23])": lambda cell, line, one, base: (
        says(one, line[0][0].value) and cell.stage.operation.factor == math.log(int(base))
    ),
    NUMBER: lambda cell, line, said: says(said, line[0][0].value),
    "the same number": lambda cell, line: cell.number == line[0][0].value,
    rf"exp\({NUMBER} − {BRACKETED}\)": is_exponential,
    rf"exp\({NUMBER} − {BRACKETED}\), the sink": is_exponential,
    rf"{NUMBER} × {NUMBER}, the (cosine|sine|sine with the opposite sign)": is_of_a_named_turn,
    rf"{NUMBER} × {NUMBER}, which is 0 outside its pair": is_of_a_turn,
    rf"{NUMBER} − {NUMBER} × {NUMBER}, the slope of the head times the distance": is_biased,
    rf"{NUMBER} × tanh\({NUMBER} ÷ {NUMBER}\)": lambda cell, line, limit, said, same: (
        limit == same and says(said, cell.own) and says(limit, cell.stage.operation.limit)
    ),
    rf"exp\({NUMBER} − {BRACKETED}\) × {NUMBER}": is_weighted,
    rf"{NUMBER}, the sink": lambda cell, line, said: [says(said, each) for each in cell.sink] == [True],
    rf"{NUMBER}, hidden": lambda cell, line, said: says(said, -math.inf) and line[0][0].value == -math.inf,
    rf"{NUMBER} ÷ {BRACKETED}, after the last block": lambda cell, line, above, below: (
        says(above, line[0][0].value) and says(below, line[0][1].value)
    ),
    "no key is visible, so 0": lambda cell, line: cell.number == 0 == line[0][1].value,
    rf"{BRACKETED}²": is_square,
    rf"\({NUMBER} − {BRACKETED}\)²": is_square,
    rf"([×+]) {BRACKETED}, the (gain|bias)": is_affine,
    rf"{NUMBER} is (not )?positive, so (?:it )?(stays|is squared|0)": is_kept,
    rf"(visible|hidden), so (?:{NUMBER} stays|−∞)": is_seen,
    rf"{NUMBER} × {NUMBER}, the part of a normal distribution (below|above) it": is_part_below,
}
"""What each line says of a computed cell, by its words."""


def is_sum(cell, lines, n):
    return int(n) == len(lines) and math.isclose(
        math.fsum(value for *_, value in lines), cell.number, rel_tol=1e-9, abs_tol=1e-9
    )


def is_share(cell, lines, own, total, n, hides):
    of = (
        (lambda each: math.exp(each - max(cell.seen + cell.sink)))
        if isinstance(cell.stage.operation, Softmax | SinkShare)
        else float
    )
    (counted,) = cell.sink if cell.own is None else [cell.own]
    return (
        says(own, of(counted) if counted != -math.inf else 0.0)
        and says(total, math.fsum(map(of, cell.seen + cell.sink)))
        and int(n) == len(lines) == len(cell.row + cell.sink)
        and (not hides or -math.inf in cell.read)
    )


def is_normed(cell, lines, own, root, squares, same_root, same_squares, n, epsilon, mean="0.0000"):
    about = math.fsum(cell.row) / len(cell.row) if isinstance(cell.stage.operation, LayerNorm) else 0.0
    return (
        says(own, cell.own)
        and says(mean, about)
        and says(squares, cell.mean_square(about) * len(cell.row))
        and says(root, math.sqrt(cell.mean_square(about) + cell.stage.operation.epsilon))
        and (root, squares, int(n)) == (same_root, same_squares, len(cell.row))
        and says(epsilon, cell.stage.operation.epsilon)
    )


def is_standardised(cell, lines, own, taken, root, *rest):
    *affine, mean, squares, same_root, same_squares, n, epsilon = rest
    given = [read.value[cell.index[-1]] for read in cell.inputs[1:]]
    return (
        taken == mean
        and is_normed(cell, lines, own, root, squares, same_root, same_squares, n, epsilon, mean)
        and len([each for each in affine if each]) == len(given)
        and all(says(text, value) for text, value in zip(affine, given, strict=False))
    )


def is_up_to_its_block(cell, lines, n):
    """Whether lines are of the keys up to the end of the block of a cell, and of the sink."""
    return int(n) == len(lines) == len(cell.so_far + cell.sink)


def is_sum_so_far(cell, lines, n):
    return is_up_to_its_block(cell, lines, n) and is_sum(cell, lines, n)


def is_carried(cell, lines, n, before, old, largest, block):
    (*row, key), size = cell.index, cell.stage.operation.block_size
    last = key // size * size - 1
    sums, maxima = cell.stage.value[*row], cell.inputs[1].value[*row]
    return (
        is_sum_so_far(cell, lines, n)
        and says(before, sums[last])
        and says(old, maxima[last])
        and says(largest, maxima[key])
        and says(block, cell.number - sums[last] * math.exp(maxima[last] - maxima[key]))
    )


ROOT = rf"{NUMBER} is the root of {NUMBER} ÷ (\d+) \+ {NUMBER}"
CONCLUSIONS = {
    r"the sum of (\d+), added up unrounded": is_sum,
    r"the sum of (\d+)(?:: the keys up to the end of this block)?": is_sum_so_far,
    rf"the sum of (\d+), or {NUMBER} × exp\({NUMBER} − {BRACKETED}\), what the blocks before had, "
    rf"and {NUMBER} of this one": is_carried,
    r"the largest of (\d+): the keys up to the end of this block( and the sink)?": lambda cell, lines, n, sink: (
        is_up_to_its_block(cell, lines, n)
        and bool(sink) == bool(cell.sink)
        and cell.number == max(value for *_, value in lines)
    ),
    r"no key is visible so far, so it is (0|−∞)": lambda cell, lines, said: (
        says(said, cell.number) and all(value == -math.inf for value in cell.so_far)
    ),
    rf"{NUMBER} ÷ {BRACKETED}, the sum of (\d+)(, where hidden keys count 0)?": is_share,
    "no key is visible, so the share is 0": lambda cell, lines: not cell.seen and cell.number == 0,
    rf"the sum of (\d+): a pair, turned by an angle of {NUMBER}": lambda cell, lines, n, angle: (
        is_sum(cell, lines, n) and int(n) == len(lines) and says(angle, turned_by(cell))
    ),
    rf"{NUMBER} ÷ {NUMBER} × {BRACKETED}: the squares add up to {NUMBER}, and {ROOT}": lambda cell, lines, *said: (
        is_normed(cell, lines, *said[:2], *said[3:]) and says(said[2], cell.inputs[1].value[cell.index[-1]])
    ),
    rf"{NUMBER} ÷ {NUMBER}: the squares add up to {NUMBER}, and {ROOT}": is_normed,
    rf"\({NUMBER} − {BRACKETED}\) ÷ {NUMBER}(?: × {BRACKETED})?(?: \+ {BRACKETED})?: the mean is {NUMBER}, "
    rf"the squares add up to {NUMBER}, and {ROOT}": is_standardised,
}
"""What each conclusion says, by its words."""

FORMULAS = {
    r"(.+) \\text{ \((visible)\)}": lambda cell, said, _: (
        says(re.sub(r" \\cdot 10\^\{(.+)\}", r"e\1", said).replace("-", "−"), cell.number) and cell.number != -math.inf
    ),
    r"\\text{ hidden}": lambda cell: cell.number == -math.inf,
    r"(0) \\quad\\text{\(no key is visible\)}": lambda cell, _: not cell.seen and cell.number == 0,
}
"""What a formula says that has words; one of numbers alone is computed in `test_rules_in_browser`."""

VISIBLE = np.array([[True, True], [False, False], [True, False]])
GIVEN = np.array([[1.0, -0.5], [-3.0, 2.0], [0.0, 1.0]])
SAID = TRACES | {
    "nothing seen": attend(GIVEN, GIVEN[:2], parameters=Parameters(), mask=VISIBLE, scale=-2.0),
    "nothing seen, over sums": attend(GIVEN, GIVEN[:2], parameters=Parameters(), mask=VISIBLE, normalise=SumNormalise),
    "a neuron at 0": TRACES["a block"].with_change("hidden", (0, 0), 0.0),
    "a neuron at 0, squared": TRACES["an MLP alone"].with_change("hidden", (0, 0), 0.0),
}


def claimed(claims, text):
    """What a text claims and of what, the one claim that it makes."""
    (claim,) = [each for each in claims if re.fullmatch(each, text)]
    return claim, re.fullmatch(claim, text).groups("")


def test_what_a_rule_says_in_words_and_digits_is_so_of_the_arrays():
    made = set()
    for name, trace in SAID.items():
        for stage, index in computed(trace):
            if stage.is_overridden(index):
                continue
            cell, found = Made(trace, stage, index), said(trace, stage.name, index)
            for line in found.lines[:5]:
                claim, of = claimed(LINES, line[1])
                assert LINES[claim](cell, (line[0], line[2]), *of), (name, stage.name, index, line[1])
                made.add(claim)
            if found.conclusion:
                claim, of = claimed(CONCLUSIONS, found.conclusion)
                assert CONCLUSIONS[claim](cell, found.lines, *of), (name, stage.name, index, found.conclusion)
                made.add(claim)
            if "text" in found.formula:
                claim, of = claimed(FORMULAS, found.formula)
                assert FORMULAS[claim](cell, *of), (name, stage.name, index, found.formula)
                made.add(claim)
    assert made == {*LINES, *CONCLUSIONS, *FORMULAS}


@pytest.mark.parametrize("outer", ["a i", "i a"])
def test_letters_that_share_an_axis_are_read_outermost_first(outer):
    given = Stage.given("given", Numbers.of(np.arange(2.0 * 3 * 5)), ("token",))
    split = given.value.reshape([{"a": 2, "i": 3}[letter] for letter in outer.split()] + [5])
    variant = Variant((Line(("x",), "{x}"),))
    rule = Rule("b a", {"a": 2, "i": 3, "b": 5}, {"x": Slot(0, f"({outer} b)")}, (variant,), None, {})
    ((run,),) = rule.runs((4, 1))
    read = [given.value[at] for at in run.indices]
    assert read == list(split[1, :, 4] if outer == "a i" else split[:, 1, 4])


@of_each("name", [*TRACES])
def test_no_line_has_brackets_round_what_is_multiplied(name):
    trace = TRACES[name]
    for stage in trace.stages:
        for variant in getattr(trace.rule(stage.name), "variants", ()):
            said = " ".join([variant.conclusion, *(line.text for line in variant.lines)])
            assert not re.search(r"× {\w+:b}", said), (stage.name, said)


def test_a_given_stage_has_no_rule():
    assert TRACES["plain"].rule("w_q") is None
