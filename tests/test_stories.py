"""Stories: one holds for every number of every pass, its slots can be filled, and what it says is so.

The slots are filled here by a second way of computing: products of whole arrays, and ranks by sorting.
"""

import math
import re

import numpy as np
import pytest
from passes import ROWS, TRACES
from stories import percent

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core.numerals import short
from attnviz.core.selection import Selection
from attnviz.text.story import said_of
from attnviz.text.vocabulary import VOCABULARY, stories

FIRST = Selection(0, 0, 0, 0, 0)
LABELS = ("head", "query", "key", "row", "column")
COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
ORDINALS += tuple(f"{n}th" for n in range(11, 301))
SLOT = r"\{(\w+)(?::([\w.]+))?\}"

# a sees itself, b all three, c none; the scores are (9, −3, 0), (−3, 2, 2) and (0, 2, 4)
MADE = attend(
    np.array([[3.0, 0.0], [-1.0, 1.0], [0.0, 2.0]]),
    parameters=Parameters(w_q=np.eye(2)[None], w_o=np.array([[3.0, 0.0], [0.0, 4.0]])),
    mask=np.array([[1, 0, 0], [1, 1, 1], [0, 0, 0]], dtype=bool),
    scale=1.0,
).labelled(token=("a", "b", "c"), query=("a", "b", "c"), key=("a", "b", "c"))
PLAIN = trace_of(Settings("the cat sat", mask="causal"))
BY_HAND = {
    f"{name} by hand": PLAIN.with_change(name, (0,), 0.5)
    for name in (
        "x",
        "w_q",
        "q",
        "scores",
        "scaled",
        "masked",
        "attention",
        "heads",
        "concat",
        "contributions",
        "output",
    )
}
BIASED = attend(
    ROWS,
    parameters=Parameters(
        **dict.fromkeys(("w_q", "w_k", "w_v"), np.ones((1, 3, 3))),
        **dict.fromkeys(("b_q", "b_k", "b_v"), np.full((1, 3), 99.0)),
    ),
)
EVERYWHERE = pytest.mark.parametrize(
    "trace", [*TRACES.values(), *BY_HAND.values(), BIASED], ids=[*TRACES, *BY_HAND, "biased"]
)


class UnfillableError(Exception):
    """There is nothing to say in a slot."""


def told(trace, name, index):
    """The first story of a number that holds, and what it says of it."""
    place = trace.selection_at(trace[name].cell(index), FIRST)
    for story in stories(trace, name):
        if holds(trace, name, index, place, story.when):
            try:
                return story, re.sub(SLOT, lambda slot: filled(trace, name, index, place, *slot.groups()), story.text)
            except UnfillableError:
                continue
    return None


def holds(trace, name, index, place, when):
    row = trace["masked"].value[place.head, place.query]
    return {
        "": True,
        "set": index in trace[name].overridden,
        "given": not trace[name].inputs,
        "hidden": name in ("masked", "attention") and row[place.key] == -np.inf,
        "unseeing": (row == -np.inf).all(),
    }[when]


def filled(trace, name, index, place, slot, form):
    axes = trace.axes(name)
    if slot in ("row", "column"):
        at = -2 if slot == "row" else -1
        return axes[at].label(index[at])
    if slot in LABELS:
        return trace.label(slot, getattr(place, slot))
    of, at = (name, index) if slot == "value" else (slot, trace.cell_at(slot, place).index)
    return FORMATS[form or "s"](trace, of, at)


def written(value):
    return "−∞" if value == -np.inf else short(value)


def visible(trace, name, index):
    row = trace[name].value[index[:-1]]
    return row[np.isfinite(row)] if name in ("masked", "attention") else row


def rank(trace, name, index):
    row, value = visible(trace, name, index), trace[name].value[index]
    if len(row) < 2:
        raise UnfillableError
    levels = []  # numbers that rounding alone tells apart are one level, the highest first
    for each in sorted(row, reverse=True):
        if not levels or levels[-1][0] - each > 1e-9 * max(map(abs, row)):
            levels.append([])
        levels[-1].append(each)
    level = next(each for each in levels if value in each)
    above = sum(map(len, levels[: levels.index(level)]))
    named = "highest" if level is levels[0] else "lowest" if level is levels[-1] else ORDINALS[above]
    return f"{'tied for ' * (len(level) > 1)}{named}"


def count(trace, name, index):
    n = len(visible(trace, name, index))
    return COUNTS[n] if n <= 12 else str(n)


def factors(trace, name, index):
    """The two rows of numbers that a cell is the sum of products of, and what is added to it."""
    of = {stage.name: stage.value for stage in trace.stages}
    if name in ("q", "k", "v"):
        bias = of[f"b_{name}"][index[0], index[2]] if f"b_{name}" in of else None
        return of[trace[name].inputs[0]][index[1]], of[f"w_{name}"][index[0], :, index[2]], bias
    if name == "scores":
        return of["q"][index[:2]], of["k"][index[0], index[2]], None
    if name == "heads":
        return of["attention"][index[:2]], of["v"][index[0], :, index[2]], None
    band = of["w_o"].reshape(len(of["heads"]), -1, of["w_o"].shape[-1])[index[0]]
    return of["heads"][index[:2]], band[:, index[2]], None


def largest(trace, name, index):
    """Which term of a sum is the largest of those with its own sign."""
    if index in trace[name].overridden:
        raise UnfillableError
    left, right, bias = factors(trace, name, index)
    towards = -1 if trace[name].value[index] < 0 else 1
    terms = towards * left * right
    if bias is not None and towards * bias > terms.max():
        raise UnfillableError
    at = int(terms.argmax())
    return at, left[at], right[at]


def part_place(trace, name, index):
    at, *_ = largest(trace, name, index)
    return trace.label("key", at) if name == "heads" else f"place {at + 1}"


FORMATS = {
    "s": lambda trace, name, index: written(trace[name].value[index]),
    "percent": percent,
    "rank": rank,
    "count": count,
    "sum": lambda trace, name, index: short(visible(trace, name, index).sum()),
    "part": lambda *cell: short(math.prod(largest(*cell)[1:])),
    "part.place": part_place,
    "part.sum": lambda *cell: " × ".join(map(short, largest(*cell)[1:])),
}


def some_cells(stage):
    """All cells of a stage; of many some from everywhere, the first and the last among them."""
    cells = list(np.ndindex(stage.shape))
    return {*cells[:: len(cells) // 40 + 1], cells[-1]}


@EVERYWHERE
def test_a_story_holds_for_every_number_and_is_english(trace):
    for stage in trace.stages:
        for index in some_cells(stage):
            _, text = told(trace, stage.name, index)
            assert re.match(r"[A-Z“\d−]", text), text
            assert text.endswith("."), text
            assert not re.search(r"[{}]|nan|None|\binf\b|  | [.,;:]|;.*;|of one\b|−0\.00", text), text
            assert len(text) < 200


@EVERYWHERE
def test_slots_are_labels_or_stages_that_the_number_comes_from(trace):
    for stage in trace.stages:
        before = (
            {name for name in VOCABULARY if name in trace} if stage.name == "output" else sources(trace, stage.name)
        )
        for story in stories(trace, stage.name):
            for slot, form in re.findall(SLOT, story.text):
                assert slot in {"value", *LABELS, *before}, (stage.name, slot)
                assert form in {"", *FORMATS}


def sources(trace, name):
    """All stages that a stage was computed from, by way of others too."""
    inputs = trace[name].inputs
    return {*inputs, *(each for source in inputs for each in sources(trace, source))}


@EVERYWHERE
def test_the_number_itself_is_said_but_where_it_is_minus_infinity_or_nothing(trace):
    for stage in trace.stages:
        for index in some_cells(stage):
            story, _ = told(trace, stage.name, index)
            if "{value" not in story.text:
                assert stage.value[index] in (0, -np.inf)


def test_every_story_is_told_of_some_number():
    said = {
        told(trace, stage.name, index)[0]
        for trace in (*TRACES.values(), *BY_HAND.values(), BIASED, MADE)
        for stage in trace.stages
        for index in some_cells(stage)
    }
    written = {story for entry in VOCABULARY.values() for story in entry.stories}
    never = {story.text for story in written - said}
    assert never == set()


@pytest.mark.parametrize(
    ("name", "index", "text"),
    [
        ("x", (1, 0), "“b” enters with −1.00 at place 1, as it is given."),
        (
            "w_q",
            (0, 0, 1),
            "In head 1, place 1 of what enters is multiplied by 0.00 on its way to place 2 of the query.",
        ),
        ("q", (0, 0, 0), "“a” asks with 3.00 at place 1; place 1 of its input alone adds 3.00 (3.00 × 1.00)."),
        ("k", (0, 0, 0), "“a” answers to 3.00 at place 1: its input, as it is."),
        ("scores", (0, 0, 1), "“a” scores −3.00 with “b”, lowest of three; place 1 alone adds −3.00 (3.00 × −1.00)."),
        (
            "scores",
            (0, 1, 2),
            "“b” scores 2.00 with “c”, tied for highest of three; place 2 alone adds 2.00 (1.00 × 2.00).",
        ),
        ("scaled", (0, 0, 0), "The score of “a” with “a” stays 9.00, as scaling is switched off."),
        ("mask", (1, 2), "For “b” and “c” the mask holds 1.00: 1 is visible, 0 is hidden."),
        ("masked", (0, 1, 1), "“b” sees “b”, so its score stays 2.00."),
        ("masked", (0, 0, 1), "“b” is hidden from “a”: its score becomes −∞, and its share 0."),
        # e^−5 / (e^−5 + 2) = 0.003, and 1 / (e^−5 + 2) = 0.498 twice
        (
            "attention",
            (0, 1, 2),
            "“b” gives “c” 50 %: its score 2.00 is tied for highest of three; place 2 alone adds 2.00 to its dot "
            "product (1.00 × 2.00).",
        ),
        (
            "attention",
            (0, 1, 0),
            "“b” gives “a” under 1 %: its score −3.00 is lowest of three; place 1 alone adds −3.00 to its dot "
            "product (−1.00 × 3.00).",
        ),
        ("attention", (0, 0, 0), "“a” gives “a” 100 %, all of its attention: it sees no other key."),
        ("attention", (0, 0, 1), "“b” is hidden from “a”: its score is −∞, so its share is exactly 0."),
        ("attention", (0, 2, 1), "“c” sees no key in head 1, so it gives nothing to any."),
        ("heads", (0, 1, 1), "At place 2, “b” collects 1.49; “c” alone adds 1.00 (0.50 × 2.00)."),
        ("heads", (0, 2, 0), "“c” sees no key in head 1, so nothing is mixed and its row is 0."),
        ("concat", (1, 1), "At place 2 of its row, “b” has 1.49, copied from head 1."),
        (
            "w_o",
            (1, 1),
            "Place 2 of the heads side by side, which is head 1’s, is multiplied by 4.00 on its way to place 2 of the "
            "output.",
        ),
        (
            "contributions",
            (0, 1, 0),
            "At place 1 of the output of “b”, head 1 adds −1.46; place 1 of its row alone adds −1.46 (−0.49 × 3.00).",
        ),
        ("output", (1, 0), "“b” leaves with −1.46 at place 1; head 1 adds −1.46 to it."),
    ],
)
def test_what_is_said_of_numbers_made_by_hand(name, index, text):
    assert told(MADE, name, index)[1] == text


@pytest.mark.parametrize(
    ("trace", "name", "index", "begins"),
    [
        ("causal", "x", (0, 1), "“the” enters with "),  # cos 0 = 1 is added
        ("causal", "positions", (0, 1), "1.00 is added at place 2 of “the”, because of where the word stands."),
        ("unscaled", "scaled", (0, 0, 1), "The score of “the” with “cat” stays "),
        ("one word", "scores", (1, 0, 0), "“alone” scores −1.23 with “alone”, its only key; place "),
        (
            "one word",
            "attention",
            (0, 0, 0),
            "“alone” gives “alone” 100 %, all of its attention: it sees no other key.",
        ),
        ("one word, hidden", "attention", (0, 0, 0), "“alone” sees no key in head 1, so it gives nothing to any."),
        ("ties", "attention", (0, 0, 1), "“a” gives “a (2)” 25 %: its score "),
        ("projected", "v", (0, 0, 0), "“1” passes on 1.00 at place 1, as it is given."),
        ("negative", "attention", (0, 0, 1), "“1” gives “2” 0 %: its score 0.00 over 3.10, the sum of its row."),
        ("added mask", "mask", (0, 1), "To the score of “1” with “2” the mask adds −∞; −∞ hides a key."),
        ("added mask", "masked", (0, 0, 0), "“1” sees “1”: with what the mask adds, 0.50, its score is "),
    ],
)
def test_how_stories_begin(trace, name, index, begins):
    assert told(TRACES[trace], name, index)[1].startswith(begins)


def test_what_is_set_by_hand_is_said_to_be_and_has_no_terms():
    trace = PLAIN.with_change("attention", (0, 2, 1), 0.5).with_change("scores", (1, 2, 0), 2.0)
    row = trace["attention"].value[0, 2].sum()
    assert told(trace, "attention", (0, 2, 1))[1] == (
        f"“sat” gives “cat” 50 %, as you set it by hand; its row now adds up to {short(row)}."
    )
    assert told(trace, "scores", (1, 2, 0))[1] == (
        "You set this number to 2.00 by hand; what follows is recomputed from it."
    )
    ranked = told(trace, "attention", (1, 2, 0))[1]
    assert re.fullmatch(r"“sat” gives “the” \d+ %: its score 1\.00 is highest of three\.", ranked)


def test_the_parts_of_an_output_are_not_said_once_they_do_not_add_up():
    assert "head 1 adds" in told(PLAIN, "output", (0, 0))[1]
    assert "adds" not in told(PLAIN.with_change("concat", (2, 0), 1.0), "output", (0, 0))[1]


def test_the_largest_term_may_be_the_bias_and_is_then_not_sought_among_the_places():
    assert told(BIASED, "q", (0, 0, 0))[1].endswith("its input times a column of parameters, and a bias.")


def test_a_number_set_by_hand_comes_before_all_other_cases():
    for trace in TRACES.values():
        for name in (stage.name for stage in trace.stages):
            cases = [story.when for story in said_of(trace, VOCABULARY[name].stories)]
            assert cases[0] == "set"
            assert cases == sorted(cases, key=("set", "unseeing", "hidden", "given", "").index)
