"""Stories, told by a second filler of their slots: what the viewer says of one number."""

import math
import re
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
from numerals import short

from attnviz.core.axes import Axis
from attnviz.core.layers import split_layer
from attnviz.core.numerals import digits
from attnviz.core.terms import Sum
from attnviz.text.vocabulary import stories_of

COUNTS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
PLACES = [
    *["first", "second", "third", "fourth", "fifth", "sixth"],
    *["seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"],
]
SLOT = r"\{(\w+)(?::([\w.]+))?\}"
WORDS = ("query", "key", "token", "context token")


class UnfilledError(Exception):
    """A slot of a story says nothing of this number."""


def told(trace, name, index, selection):
    """What the first story of a cell that holds and can be filled says of it."""
    return story_of(trace, name, index, selection)[1]


def story_of(trace, name, index, selection):
    """That story, and what it says."""
    here = trace.selection_at(trace[name].cell(index), selection)
    for story in stories_of(trace, name):
        if holds(trace, story.when, name, index, here):
            try:
                return story, re.sub(SLOT, lambda slot: fill(trace, name, index, here, *slot.groups("")), story.text)
            except UnfilledError:
                continue
    raise AssertionError(f"nothing is said of {name}{index}")


def read(trace, runs, selection):
    """Runs as one text, their stories told; of one that can't be told nothing is said."""
    return "".join(text if style != "story" else _told_in(trace, text, selection) for style, text in runs)


def _told_in(trace, run, selection):
    index = trace.cell_at(run["of"], selection).index
    here = trace.selection_at(trace[run["of"]].cell(index), selection)
    for when, story in run["stories"]:
        if holds(trace, when, run["of"], index, here):
            try:
                return re.sub(SLOT, lambda slot: fill(trace, run["of"], index, here, *slot.groups("")), story)
            except UnfilledError:
                continue
    return ""


OF_KEYS = ("scores", "scaled", "masked", "attention")
"""Stages with a number for each key of a query."""


def holds(trace, when, name, index, here):
    layer = trace.layer_of(name)
    sees = np.isfinite(layer.trace["masked"].value[here.head, here.query])
    return {
        "": True,
        "set": trace[name].is_overridden(index),
        "given": trace[name].is_given,
        "unseeing": not sees.any() and not layer.trace["attention"].value[here.head, here.query].any(),
        "hidden": split_layer(name)[0] in OF_KEYS and not sees[here.key],
    }[when]


def fill(trace, name, index, here, slot, way):
    if slot in ("row", "column"):
        axis = ("column", "row").index(slot) + 1
        return trace.axes(name)[-axis].labels[index[-axis]]
    if slot == "value":
        return SAYS[way](trace, name, index)
    if slot in trace:
        return SAYS[way](trace, slot, trace.cell_at(slot, here).index)
    for axis in (*trace.axes(name), *(axis for stage in trace.stages for axis in trace.axes(stage.name))):
        if [coordinate for coordinate, _ in axis.coordinates] == [slot]:
            return axis.label(axis.place(here))
    raise UnfilledError


def number(trace, name, index):
    if trace[name].value.dtype == bool:
        return str(int(trace[name].value[index]))
    return short(float(trace[name].value[index])) if np.isfinite(trace[name].value[index]) else "−∞"


def percent(trace, name, index):
    share = float(trace[name].value[index])
    if 0 < share < 0.01 or 0.99 < share < 1:
        return "under 1 %" if share < 0.5 else "over 99 %"
    if abs(share) >= 1e4:
        return digits(share)
    hundredths = (Decimal(repr(abs(share))) * 100).quantize(Decimal(1), ROUND_HALF_UP)
    return f"{'−' if share < 0 < hundredths else ''}{hundredths} %"


def finite(trace, name, index):
    """The numbers of a row: a hidden key's score is none, its share is one."""
    row = trace[name].value[index[:-1]]
    return row[np.isfinite(row)]


def seen(trace, name, index):
    """The numbers of a row but for those of the keys that the mask hides from its query."""
    row = trace[name].value[index[:-1]]
    if split_layer(name)[0] in OF_KEYS:
        masked = trace.layer_of(name).trace["masked"].value
        row = row[np.isfinite(masked[index[:-1]])]
    return row


def rank(trace, name, index):
    row, value = seen(trace, name, index), trace[name].value[index]
    if len(row) == 1:
        raise UnfilledError
    alike = np.array([math.isclose(each, value, rel_tol=1e-9) for each in row])
    above = int((~alike & (row > value)).sum())
    if above == 0:
        place = "highest"
    elif above + alike.sum() == len(row):
        place = "lowest"
    else:
        place = PLACES[above] if above < 12 else f"{above + 1}{ending(above + 1)}"
    return "tied for " * bool(alike.sum() > 1) + place


def ending(n):
    return "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")


def largest(trace, name, index):
    """The terms' cells and their products, and the place of the largest by size."""
    terms = trace.terms(name, index)
    if not isinstance(terms, Sum):
        raise UnfilledError
    products = [math.prod(cell.value for cell in cells) for cells in terms.products]
    place = max(range(len(products)), key=lambda i: abs(products[i]))
    return terms.products[place], products[place], place


def part_rest(trace, name, index):
    _, _, place = largest(trace, name, index)
    products = [math.prod(cell.value for cell in cells) for cells in trace.terms(name, index).products]
    if len(products) == 1:
        raise UnfilledError
    return short(math.fsum(products[:place] + products[place + 1 :]))


def part_place(trace, name, index):
    cells, _, place = largest(trace, name, index)
    if len(cells) == 1:
        raise UnfilledError
    first = cells[0].stage
    axis: Axis = trace.axes(first)[-1]
    if axis.name in WORDS:
        return axis.label(place)
    return f"{'neuron' if axis.name == 'neuron' else 'dimension'} {axis.label(place)}"


def unknown(*cell):
    raise UnfilledError  # a trace doesn't hold what it was before


def taken(trace, name, index):
    """The places of a row that hold something, and those of them with its largest number."""
    row = trace[name].value[index[:-1]]
    hides = name if split_layer(name)[0] == "masked" else trace.layer_of(name).names.get("masked")
    is_hidden = np.zeros(len(row), bool)
    if split_layer(name)[0] in OF_KEYS:
        is_hidden = np.isneginf(trace[hides].value[index[:-1]])
    is_share = split_layer(name)[0] in ("attention", "probabilities")
    places = [place for place, value in enumerate(row) if (is_share and value != 0) or not is_hidden[place]]
    most = max(row[places]) if places else None
    return places, [place for place in places if math.isclose(row[place], most, rel_tol=1e-9) or row[place] == most]


def quoted(trace, name, places):
    words = [f"“{trace.axes(name)[-1].labels[place]}”" for place in places[:3]]
    rest = len(places) - 3
    words += [f"{rest} other{'s' * (rest > 1)}"] if rest > 0 else []
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def best(trace, name, index):
    places, most = taken(trace, name, index)
    if not most or len(most) == len(places):
        raise UnfilledError
    return quoted(trace, name, most)


def alike(trace, name, index):
    places, most = taken(trace, name, index)
    if not most or len(most) < len(places):
        raise UnfilledError
    if len(most) == 1:
        return f"{quoted(trace, name, most)} alone"
    many = "answers" if split_layer(name)[0] == "probabilities" else "keys"
    return f"both {many} alike" if len(most) == 2 else f"all {COUNTS[len(most)]} {many} alike"


def largest_of_row(trace, name, index):
    _, most = taken(trace, name, index)
    if not most:
        raise UnfilledError
    at = (*index[:-1], most[0])
    is_share = split_layer(name)[0] in ("attention", "probabilities")
    return (percent if is_share else number)(trace, name, at) + " each" * (len(most) > 1)


SAYS = {
    "best": best,
    "alike": alike,
    "most": largest_of_row,
    "before": unknown,
    "": number,
    "percent": percent,
    "rank": rank,
    "count": lambda *cell: dict(enumerate(COUNTS)).get(len(seen(*cell)), str(len(seen(*cell)))),
    "positive": lambda *cell: f"{int((finite(*cell) > 0).sum())} of {len(finite(*cell))}",
    "sum": lambda *cell: short(float(finite(*cell).sum())),
    "part": lambda *cell: short(largest(*cell)[1]),
    "part.place": part_place,
    "part.rest": part_rest,
    "part.sum": lambda *cell: " × ".join(short(each.value) for each in largest(*cell)[0]),
}
