"""Sentences filled in by a second way than the browser's: each slot from the arrays alone."""

import re
from fractions import Fraction
from functools import cached_property

import numpy as np
from rules import said

from attnviz.contract.base import ORDINALS
from attnviz.core.numerals import short
from attnviz.core.operations.scores import Scale
from attnviz.core.selection import Selection
from attnviz.explain.steps import ENTRIES, INPUT_STEPS, LAYER, STEPS
from attnviz.explain.steps.answer import verdict
from attnviz.explain.wording import percent

COUNTS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
SLOT = re.compile(r"\{(\w+)(?::([\w.]+))?\}")
NOTE = re.compile(r"(?: (\w+\[[^\]]+\]) is| (\d+) numbers here are) set by hand\.$")


def steps_with_layers(trace):
    """The steps of a trace as they are declared, each with the layer that it is about."""
    for layer in trace.layers:
        for step in STEPS:
            begins = layer.number == 1 or (trace.has_encoder and layer.names["x"] == "x")
            wanted = step in LAYER or (begins if step in INPUT_STEPS else layer.number == trace.n_layers)
            if wanted and step.is_in(layer.trace):
                yield step, layer


def slots_of(text):
    """The slots of a template, as pairs of a name and a format."""
    return SLOT.findall(text)


def chosen(trace, stories, name, index, selection):
    """The first template of some (case, template) that applies to a cell and whose slots can all be filled."""
    cell = Cell(trace, name, tuple(index), selection)
    applying = (template for when, template in stories if cell.is_case(when))
    return next((each for each in applying if None not in [cell.fill(*slot) for slot in slots_of(each)]), None)


def told(trace, stories, name, index, selection):
    """The story that is told of a cell, filled in."""
    cell, template = Cell(trace, name, tuple(index), selection), chosen(trace, stories, name, index, selection)
    return plain(SLOT.sub(lambda slot: cell.fill(slot[1], slot[2] or ""), template or ""))


def read(trace, runs, selection):
    """The text of runs for a selection."""
    parts = []
    for style, content in runs:
        if style == "verdict":
            parts += [text for _, text in verdict(trace)]
        elif style == "story":
            index = trace.cell_at(content["of"], selection).index
            parts.append(told(trace, content["stories"], content["of"], index, selection))
        elif style == "math":
            head = str(selection.head + 1) if selection.head < 9 else f"{{{selection.head + 1}}}"
            parts.append(re.sub(r"_i(?![a-z])", f"_{head}", content))
        else:
            parts.append(content)
    return plain("".join(parts))


def plain(text):
    return text.replace("\N{NO-BREAK SPACE}", " ")


def without_note(trace, text):
    """A text without the note on numbers that are set by hand, each of which is."""
    note = NOTE.search(text)
    if not note:
        return text
    by_hand = [
        trace.name_of(stage.cell(index))
        for stage in trace.stages
        if stage.overridden
        for index in np.ndindex(stage.shape)
        if stage.is_overridden(index)
    ]
    name, n = note.groups()
    assert name in by_hand if name else 1 < int(n) <= len(by_hand)
    return text[: note.start()]


def listed(parts):
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def counted(n):
    return COUNTS[n] if n < len(COUNTS) else f"{n:,}"


def ordinal(n):
    if n <= len(ORDINALS):
        return ORDINALS[n - 1]
    return f"{n}{'th' if n % 100 in (11, 12, 13) else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"


def ties(one, other):
    return one == other or (np.isfinite(one - other) and abs(one - other) <= 1e-9 * max(abs(one), abs(other)))


class Cell:
    """A cell of a pass, and the selection that it is at."""

    def __init__(self, trace, name, index, selection):
        self.trace, self.name, self.index = trace, name, index
        self.stage, self.axes = trace[name], trace.axes(name)
        moved = {}
        for axis, place in zip(self.axes, index, strict=True):
            if axis.shared_by == 1 or axis.place(selection) != place:
                moved |= axis.coordinates_at(place)
        self.at = Selection(**vars(selection) | moved)
        self.layer = trace.layer_of(name)
        self.masked = trace[self.layer.names["masked"]].value
        self.is_share = ENTRIES[name.rpartition("_")[0] if name not in ENTRIES else name].scale == "share"

    @property
    def value(self):
        return float(self.stage.value[self.index])

    @property
    def row(self):
        return [float(each) for each in self.stage.value[self.index[:-1]]]

    def is_unseen(self, place):
        """Whether the mask hides the key at a place of its row from its query."""
        is_of_keys = self.stage.axes == self.trace[self.layer.names["masked"]].axes
        return is_of_keys and self.masked[*self.index[:-1], place] == -np.inf

    @property
    def seen(self):
        return [value for place, value in enumerate(self.row) if not self.is_unseen(place)]

    def is_case(self, when):
        if when == "unseeing":
            stages = (self.layer.names["masked"], self.layer.names["attention"])
            masked, weights = (self.trace[each].value[self.trace.cell_at(each, self.at).index[:-1]] for each in stages)
            return bool((masked == -np.inf).all() and not weights.any())
        return {
            "set": self.stage.is_overridden(self.index),
            "hidden": self.is_unseen(self.index[-1]),
            "given": self.stage.is_given,
            "": True,
        }[when]

    def fill(self, slot, way):
        """The text of a slot; None where there is nothing to say."""
        if slot != "value" and slot not in self.trace:
            return self.label(slot)
        cell = self
        if slot != "value":
            cell = Cell(self.trace, slot, self.trace.cell_at(slot, self.at).index, self.at)
        return getattr(cell, f"as_{way.replace('.', '_')}")()

    def label(self, slot):
        if slot in ("row", "column"):
            at = {"row": -2, "column": -1}[slot]
            return self.axes[at].labels[self.index[at]]
        of_layer = [name for own, name in self.layer.names.items() if own in ("q", "k")]  # words may differ by layer
        names = [*of_layer, *(stage.name for stage in self.trace.stages)]
        everywhere = [axis for name in names for axis in self.trace.axes(name)]
        named = [a for a in everywhere if a.name == slot and len(a.coordinates) == 1]
        along = [a for a in everywhere if [name for name, _ in a.coordinates] == [slot]]
        own = [axis for axis in self.axes if axis in named or axis in along]
        axes = [*own, *named, *along]
        return axes[0].labels[axes[0].place(self.at)] if axes else None

    def as_(self):
        return str(int(self.value)) if self.stage.value.dtype == bool else short(self.value)

    def as_percent(self):
        return percent(self.value)

    def as_rank(self):
        row = self.seen
        if len(row) < 2:
            return None
        higher, lower = (
            sum(sign * each > sign * self.value and not ties(each, self.value) for each in row) for sign in (1, -1)
        )
        first, last = ("the higher", "the lower") if len(row) == 2 else ("the highest", "the lowest")
        place = first if not higher else last if not lower else f"the {ordinal(higher + 1)} highest"
        return f"tied for {place}" if higher + lower + 1 < len(row) else place

    def as_count(self):
        return counted(len(self.seen))

    def as_positive(self):
        return f"{sum(each > 0 for each in self.seen)} of {len(self.seen)}"

    def as_sum(self):
        return short(sum(each for each in self.row if each != -np.inf))

    @cached_property
    def lines(self):
        """What it is added up of: cells, their product, and the place that they stand for."""
        if self.stage.is_given or self.stage.is_overridden(self.index):
            return []
        found = said(self.trace, self.name, self.index)
        return [(*line, place) for line, place in zip(found.lines, found.places, strict=True)]

    @cached_property
    def largest(self):
        return max(self.lines, key=lambda line: abs(line[2]), default=None)

    def as_part(self):
        return short(self.largest[2]) if self.largest else None

    def as_part_place(self):
        if not self.largest or not self.largest[3]:
            return None
        axis, place = self.largest[3]
        if len(axis.coordinates) == 1 and axis.coordinates[0][0] in ("query", "key", "answer"):
            return axis.labels[place]
        return f"{'neuron' if axis.name == 'neuron' else 'dimension'} {axis.labels[place]}"

    def as_part_rest(self):
        others = [each[2] for each in self.lines if each is not self.largest]
        return short(sum(others)) if others else None

    def as_part_sum(self):
        return " × ".join(short(cell.value) for cell in self.largest[0]) if self.largest else None

    def as_length(self):
        return str(self.stage.shape[-1])

    def as_rows(self):
        return str(self.stage.shape[-2])

    def as_first(self):
        return str(self.stage.shape[0])

    def as_root(self):
        return short(self.stage.shape[-1] ** 0.5)

    def as_before(self):
        return None  # the documents of tests have no numbers from before a change

    @property
    def taken(self):
        """The places of its row that hold something for its query, and those with the largest number."""
        row = self.row
        taken = [n for n, each in enumerate(row) if (self.is_share and each != 0) or not self.is_unseen(n)]
        return taken, [n for n in taken if ties(row[n], max(row[m] for m in taken))]

    def as_best(self):
        taken, most = self.taken
        if not most or len(most) == len(taken):
            return None
        words, rest = [f"“{self.axes[-1].labels[place]}”" for place in most[:3]], len(most) - 3
        return listed(words + [f"{rest} other{'s' * (rest > 1)}"] * (rest > 0))

    def as_alike(self):
        taken, most = self.taken
        if not most or len(most) < len(taken):
            return None
        if len(most) == 1:
            return f"“{self.axes[-1].labels[most[0]]}” alone"
        kind = "answers" if self.axes[-1].name == "answer" else "keys"
        return f"both {kind} alike" if len(most) == 2 else f"all {counted(len(most))} {kind} alike"

    def as_most(self):
        most = self.taken[1]
        if not most:
            return None
        value = self.row[most[0]]
        text = percent(value) if self.is_share else short(value)
        if any(isinstance(stage.operation, Scale) and stage.operation.base for stage in self.trace.stages):
            exact = Fraction(value).limit_denominator(99)
            if exact.denominator > 1 and abs(exact - value) * exact.denominator < 1e-9:
                text = f"{exact} ({text})".replace("-", "−")
        return f"{text} each" if len(most) > 1 else text

    def as_s(self):
        return "s" * (len(self.taken[1]) > 1)

    def as_es(self):
        return "es" * (len(self.taken[1]) > 1)

    def as_is(self):
        return "are" if len(self.taken[1]) > 1 else "is"

    def as_longest(self):
        rows = self.stage.value[(slice(None), *self.index[1:-1])]
        lengths = np.sqrt(np.square(rows / (np.abs(rows).max() or 1)).sum(axis=-1))
        most = [n for n, each in enumerate(lengths) if ties(each, max(lengths))]
        return listed([self.axes[0].labels[n] for n in most]) if len(most) < len(lengths) else None
