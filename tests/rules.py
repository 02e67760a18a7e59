"""Rules, read by a second interpreter: what they say of one cell, as the viewer does."""

import functools
import math
import re
from dataclasses import dataclass

import numpy as np

from attnviz.core.numerals import bracketed_tex, digits, tex
from attnviz.core.terms import Cell


def bracketed(value):
    """A number to stand behind an operator: in brackets, if it has a minus of its own."""
    return f"({digits(value)})" if value < 0 else digits(value)


FORMATS = {"": digits, "b": bracketed, "t": tex, "bt": bracketed_tex}


@dataclass(frozen=True)
class Said:
    """What a rule says of one cell: its lines as (cells, text, value), and the texts around them."""

    lines: list
    conclusion: str
    formula: str
    numbers: dict
    places: list  # the axis and place that each line stands for, if it runs over one


def said(trace, name, index, most_terms=4):
    """All that the rule of a computed stage says of one cell."""
    rule = trace.rule(name)
    stages = {place: stage.name for place, stage in enumerate(trace.inputs(name))} | {"": name}

    def read(slot, at):
        array = rule.arrays[slot.source] if slot.source in rule.arrays else trace[stages[slot.source]].value
        where = where_of(slot.pattern, at, rule.sizes)
        return Cell(stages.get(slot.source, slot.source), where, float(array[where]))

    def cells_at(at):
        return {each: read(slot, at) for each, slot in rule.slots.items() if "i" in at or "i" not in slot.pattern}

    def numbers_of(cells):
        return {each: cell.value for each, cell in cells.items()}

    last = {letter: size - 1 for letter, size in rule.sizes.items() if letter != "i"}
    here = last | places_of(rule.result, index, rule.sizes)
    variant = rule.variants[int(read(rule.case, here).value) if rule.case else 0]
    lines, terms, places = [], [], []
    for line in variant.lines:
        runs = any("i" in rule.slots[each].pattern for each in line.cells)
        count = int(read(rule.until, here).value) if rule.until else rule.sizes.get("i", 1)
        for at in [{**here, "i": i} for i in range(count)] if runs else [here]:
            cells = cells_at(at)
            numbers = numbers_of(cells)
            of = [cells[each] for each in line.cells]
            value = numbers[line.value] if line.value else result_of(line, [cell.value for cell in of])
            lines.append((of, filled(line.text, numbers), value))
            terms += [filled(variant.term, numbers)] * runs
            places.append(running_place(trace, stages, [rule.slots[each] for each in line.cells], at) if runs else None)
    others = {"n": str(len(lines)), "terms": " + ".join(elided(terms, most_terms))}
    numbers = numbers_of(cells_at({**here, "i": 0}))
    return Said(
        lines, *(filled(text, numbers, others) for text in (variant.conclusion, variant.formula)), numbers, places
    )


def running_place(trace, stages, slots, at):
    """The axis of the first stage that a line reads place by place, and the place."""
    for slot in slots:
        if slot.source in stages and ["i"] in groups(slot.pattern):
            return trace.axes(stages[slot.source])[groups(slot.pattern).index(["i"])], at["i"]
    return None


def result_of(line, numbers):
    """The product of what a line reads, or of the exponential of its first two and the others."""
    if not line.is_exponential:
        return math.prod(numbers)
    return math.exp(numbers[0] - numbers[1]) * math.prod(numbers[2:])


def filled(template, numbers, others=None):
    """A template with its slots filled: numbers in their formats, and texts as they are."""

    def text(slot):
        name, way = slot[1], slot[2] or ""
        return FORMATS[way](numbers[name]) if name in numbers else (others or {}).get(name, slot[0])

    return re.sub(r"\{([a-z_]+)(?::([a-z]+))?\}", text, template)


def elided(terms, most):
    """The first two and the last of more than that many terms."""
    return terms if len(terms) <= most else [*terms[:2], r"\dots", terms[-1]]


@functools.cache
def groups(pattern):
    """The letters on each axis: of "q (h f)", ["q"] and ["h", "f"]."""
    return [found.strip("()").split() for found in re.findall(r"\([^)]*\)|\S+", pattern)]


def places_of(pattern, index, sizes):
    """The place of each letter."""
    found = {}
    for letters, place in zip(groups(pattern), index, strict=True):
        found |= zip(letters, map(int, np.unravel_index(place, [sizes[each] for each in letters])), strict=True)
    return found


def where_of(pattern, places, sizes):
    """The index that a pattern stands for."""
    where = []
    for letters in groups(pattern):
        place = 0
        for letter in letters:
            place = place * sizes[letter] + places[letter]
        where.append(place)
    return tuple(where)
