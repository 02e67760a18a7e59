"""What is said beside bands of the mask, the output, norms, the MLP and the answer, read back against the arrays."""

import itertools
import json
import math
import re

import numpy as np
import pytest
from claims import COUNTS, NUMBER, RANKED, Cell, is_ranked, without_note
from documents import given
from numerals import short
from page import ROOT
from passes import TRACES
from test_bands import CLAIMS as OF_ATTENTION
from test_bands import FIRSTS, percent, read, said, shown

from attnviz import Settings, trace_of
from attnviz.contract.stages import Matrix
from attnviz.core.graph import leading_to
from attnviz.core.operations.norms import LayerNorm
from attnviz.core.operations.online_softmax import LastQuotient
from attnviz.core.selection import Selection
from attnviz.core.stage import split_layer

BY_HAND = {
    f"{name} set by hand": TRACES["causal"].with_change(name, (1, 2, 1), 0.5)
    for name in ("scores", "scaled", "masked", "attention")
}
PASSES = TRACES | FIRSTS | BY_HAND
SELECTIONS = [Selection(0, 0, 0, 0, 0), Selection(1, 2, 1, 1, 2, 1, 3), Selection(0, 1, 3, 2, 1, 2, 2)]


class Beside:
    """A band with its layer and the selected word."""

    def __init__(self, trace, band, selection):
        self.trace, self.band, self.selection = trace, band, selection
        self.layer = trace.layer_of(band.cells.stage)
        self.own = split_layer(band.cells.stage)[0]
        self.made = trace[band.cells.stage]

    def stage(self, name):
        """A stage of the same layer."""
        return self.layer.trace[name]

    def row(self, name):
        """The row that the selected word has in a stage without heads."""
        return self.stage(name).value[self.selection.query]

    def is_asking(self, word):
        return word == self.trace.axes(self.layer.names["scores"])[1].label(self.selection.query)

    def place_of(self, word, axis):
        """The one place of a word among queries or keys."""
        return self.trace.axes(self.layer.names["scores"])[{"query": 1, "key": 2}[axis]].labels.index(word)

    def is_kept(self, query, key, stage, number, *dimension):
        """Whether what is kept at the end of a key's block is that number."""
        at = (self.selection.head, self.place_of(query, "query"), self.place_of(key, "key"), *dimension)
        return number == short(self.stage(stage).value[at])

    def score(self, stage, query, key):
        return self.stage(stage).value[self.selection.head, self.place_of(query, "query"), self.place_of(key, "key")]

    @property
    def before(self):
        """The row that a norm reads."""
        return self.line_of(self.made.inputs[0])

    def line_of(self, name):
        """The selected row of a stage."""
        return read(self.trace, Matrix(name, None, len(self.trace[name].axes) - 1), self.selection)[0]


def is_squared(at, *said):
    """What stands in the band is so, and its sum beside it."""
    taken = at.before.mean() * {"Subtract": 1, "Add": -1, "Square": 0}[said[0]]
    at_row = at.trace.cell_at(at.band.cells.stage, at.selection).index[:-1]
    row = at.trace.rule(at.band.cells.stage).arrays[at.band.array][at_row]
    return (
        np.allclose(row, (at.before - taken) ** 2) and at.band.cells.sums and (len(said) < 2 or at.is_asking(said[1]))
    )


def is_normed(at, less, root, now, dimension, before):
    place, rest = int(dimension) - 1, at.before - (at.before.mean() if less else 0)
    mean = np.square(rest).mean() + at.made.operation.epsilon
    made = rest / (mean**0.5 if root else mean)
    for affine, of in zip(at.made.inputs[1:], (np.multiply, np.add), strict=False):
        made = of(made, at.trace[affine].value)
    written = at.line_of(at.band.cells.stage)
    return (
        [before, now] == [short(at.before[place]), short(written[place])]
        and np.allclose(made, written)
        and bool(less) == isinstance(at.made.operation, LayerNorm)
    )


def fires(at, n, of, passes):
    some = np.count_nonzero(at.row("active"))
    return (int(n), int(of)) == (
        {"something": some, "nothing": at.row("active").size - some}[passes],
        at.row("active").size,
    )


def is_moved(at, query, key, added, score):
    numbers = [at.score(stage, query, key) for stage in ("scaled", "masked")]
    mask = np.broadcast_to(at.stage("mask").value, at.made.shape)
    more = mask[at.selection.head, at.place_of(query, "query"), at.place_of(key, "key")]
    return (
        at.is_asking(query)
        and [added, score] == [short(more), short(numbers[1])]
        and np.isclose(numbers[0] + more, numbers[1])
    )


def is_turned(at, word, number, dimension):
    row, turned, rotation = at.before, at.line_of(at.band.cells.stage), at.made.operation
    position = at.trace.cell_at(at.band.cells.stage, at.selection).index[1] + rotation.first
    half = rotation.dims // 2
    pairs = {"neighbours": (row[0 : 2 * half : 2], row[1 : 2 * half : 2]), "halves": (row[:half], row[half : 2 * half])}
    angles = position * rotation.base ** (-np.arange(half) / half)
    a, b = pairs[rotation.pairs]
    complex_ = (a + 1j * b) * np.exp(1j * angles)
    made = row.copy()
    for side, part in enumerate((complex_.real, complex_.imag)):
        made[slice(side, 2 * half, 2) if rotation.pairs == "neighbours" else slice(side * half, (side + 1) * half)] = (
            part
        )
    labels = at.trace.axes(at.band.cells.stage)[1].labels
    return (
        np.allclose(made, turned)
        and number == short(turned[int(dimension) - 1])
        and word == labels[position - rotation.first]
    )


def is_capped(at, before, query, key, number):
    (old, new), limit = (at.score(stage, query, key) for stage in ("scaled", "capped")), at.made.operation.limit
    return [before, number] == [short(old), short(new)] and np.isclose(new, limit * np.tanh(old / limit))


def is_biased(at, before, query, key, number):
    old, new = (at.score(split_layer(stage)[0], query, key) for stage in (at.made.inputs[0], "biased"))
    apart = abs(at.place_of(query, "query") - at.place_of(key, "key"))
    slope = 2.0 ** (-8 * (at.selection.head + 1) / len(at.stage("scores").value))  # of 2, 4 or 8 heads
    return [before, number] == [short(old), short(new)] and np.isclose(old - slope * apart, new)


def is_added_by_mlp(at, word, before, dimension, added):
    place = int(dimension) - 1
    numbers = [at.row(name)[place] for name in ("residual", "mlp", "mlp_residual")]
    return (
        at.is_asking(word)
        and [before, added] == [*map(short, numbers[:2])]
        and np.isclose(sum(numbers[:2]), numbers[2])
    )


def has_logit(at, answer, number, *rank):
    place = at.trace.axes(at.band.cells.stage)[1].labels.index(answer)
    index = (at.trace.cell_at(at.band.cells.stage, at.selection).index[0], place)
    if not rank:
        return at.made.shape[1] == 1 and number == short(at.made.value[index])
    return is_ranked(Cell(at.trace, at.band.cells.stage, index), number, *rank)


def of_row(at):
    """The numbers of the row, of keys those that are seen."""
    row = read(at.trace, at.band.cells, at.selection)[0]
    if at.own == "probabilities":
        return row, row
    masked = at.stage("masked").value[at.selection.head, at.selection.query]
    return row, row[masked != -np.inf]


def are_alike(at, limit, unit, number, each, word, n, kind, sunk=""):
    """Whether all that a query may see have the same number; that others are hidden is said where any are."""
    whole, row = of_row(at)
    labels = at.trace.axes(at.band.cells.stage)[-1].labels
    count = {None: 1, "both": 2}.get(n) or COUNTS.index(n.removeprefix("all ")) + 2
    is_score = at.own == "scores"
    is_number = number == short(row[0]) if is_score else abs(int(number.rstrip("%").rstrip()) - 100 * row[0]) <= 0.5
    return (
        is_number
        and len(row) == count
        and np.allclose(row, row[0], rtol=1e-9, atol=0)
        and bool(each) == (count > 1)
        and (word is None or labels[int((whole == row[0]).argmax())] == word)
        and bool(limit) == (is_score and np.isneginf(at.stage("masked").value).any())
        and (not unit or unit == at.trace.origin.unit)
        and kind in (None, "answers" if at.own == "probabilities" else "keys")
        and (not sunk or sunk == percent(1 - math.fsum(whole)))
    )


def is_subtracted(at, largest, each):
    scores = at.stage("masked").value[at.selection.head, at.selection.query]
    ties = np.isclose(scores, scores.max(), rtol=1e-9, atol=0).sum()
    return short(scores.max()) == largest and bool(each) == (ties > 1)


def is_row_of_queries(at, what, number, dimension):
    own = {"the absorbed query of": "q_absorbed", "the part for positions": at.own, "": at.own}[what]
    is_known = what or at.own in ("compressed", "q_compressed")
    return is_known and own == at.own and number == short(at.line_of(at.band.cells.stage)[int(dimension) - 1])


def is_score_of(at, what, key, number):
    own = {"contents": "content_scores", "positions": "position_scores", "both scores": "scores"}[what]
    there = at.line_of(at.band.cells.stage)[at.place_of(key, "key")]
    parts = [at.line_of(name)[at.place_of(key, "key")] for name in at.made.inputs] if own == "scores" else [there]
    return own == at.own and number == short(there) and np.isclose(sum(parts), there)


ALIKE = r"( each)? for (?:“([^”]+)” alone|(both|all \w+) (keys|answers) alike)\.$"
IN = r"(?:at place|in dimension) (\d+)"
CLAIMS = {
    r"^“(.+)” asks with its query, every (\w+) answers with its key: "
    rf"“(.+)” with {NUMBER} {IN}\.$": lambda at, word, unit, key, number, dimension: (
        at.is_asking(word)
        and unit == at.trace.origin.unit
        and int(dimension) == at.selection.feature + 1
        and number == short(at.stage("k").value[at.selection.head, at.place_of(key, "key"), int(dimension) - 1])
        and key == at.trace.axes(at.band.cells.stage)[1].label(at.selection.key)
    ),
    r"^Mask: “(.+)” sees no key, so every score is −∞\.$": lambda at, word: (
        at.is_asking(word) and np.isneginf(read(at.trace, at.band.cells, at.selection)).all()
    ),
    r"^Mask: “(.+)” is hidden from “(.+)”, so its score is −∞\.$": lambda at, key, query: (
        at.is_asking(query) and at.score("masked", query, key) == -np.inf
    ),
    rf"add up\. “(.+)” scores {NUMBER} with “(.+)”, as it is set by hand\.$": lambda at, query, score, key: (
        at.made.is_overridden((at.selection.head, at.place_of(query, "query"), at.place_of(key, "key")))
        and score == short(at.score("scores", query, key))
    ),
    rf"^Scale: “(.+)” has {NUMBER}, as it is set by hand\.$": lambda at, key, score: (
        at.made.is_overridden((at.selection.head, at.selection.query, at.place_of(key, "key")))
        and score == short(at.line_of("scaled")[at.place_of(key, "key")])
    ),
    rf"^Mask: “(.+)” gives “(.+)” the score {NUMBER}, as it is set by hand\.$": lambda at, query, key, score: (
        at.made.is_overridden((at.selection.head, at.place_of(query, "query"), at.place_of(key, "key")))
        and score == short(at.score("masked", query, key))
    ),
    rf"^Mask: “(.+)” sees “(.+)”: with what the mask adds, {NUMBER}, its score is {NUMBER}\.$": is_moved,
    rf"^Mask: “(.+)” sees “(.+)”, whose score stays {NUMBER}\.$": lambda at, query, key, score: (
        at.is_asking(query)
        and at.score("masked", query, key) == at.score(split_layer(at.made.inputs[0])[0], query, key)
        and score == short(at.score("masked", query, key))
    ),
    rf"add up\. (?:Of (the) (\w+)s it may see: )?{NUMBER}{ALIKE}": are_alike,
    rf"^Share: divide by the sum(?:, in which the sink counts)?: ()()(.+?%){ALIKE[:-3]}"
    r"(?:; the sink takes (.+ %))?\.$": are_alike,
    rf"^Softmax\. ()()(.+?%){ALIKE}": are_alike,
    r"add up\. “(.+)” may see no (\w+)\.$": lambda at, word, unit: (
        at.is_asking(word) and not len(of_row(at)[1]) and unit == at.trace.origin.unit
    ),
    rf"^Subtract the largest, {NUMBER}( each)?, and exponentiate\.$": is_subtracted,
    r"^Subtract the largest, though “(.+)” sees no key, and exponentiate\.$": lambda at, word: (
        at.is_asking(word) and not at.stage("attention").value[at.selection.head, at.selection.query].any()
    ),
    rf"^Share: “(.+)” gives “(.+)” {NUMBER}, as it is set by hand\.$": lambda at, query, key, share: (
        at.made.is_overridden((at.selection.head, at.place_of(query, "query"), at.place_of(key, "key")))
        and share == short(at.score("attention", query, key))
    ),
    r"^Share: “(.+)” sees no key, so it gives nothing to any\.$": lambda at, word: (
        at.is_asking(word) and not read(at.trace, at.band.cells, at.selection).any()
    ),
    r"^Share: “(.+)” sees no key, so the sink takes all of its row\.$": lambda at, word: (
        at.is_asking(word) and at.stage("sink_share").value[at.selection.head, at.selection.query] == 1
    ),
    r"^(Square) each number of “(.+)”, and add up\.$": is_squared,
    r"^(Subtract|Add) the mean, square, and add up\.$": is_squared,
    r"^Norm: (?:each number|(less the mean), and) over the (root of )?the mean of the squares: "
    rf"{NUMBER} {IN}, {NUMBER} before\.$": is_normed,
    rf"^Added up: neuron (\d+) gets {NUMBER}\.$": lambda at, neuron, number: (
        int(neuron) == at.selection.neuron + 1 and number == short(at.row("hidden")[int(neuron) - 1])
    ),
    r"^Fire: (\d+) of (\d+) neurons pass (something|nothing) on\.$": fires,
    rf"^Fire: neuron (\d+) passes on {NUMBER}\.$": lambda at, neuron, number: (
        int(neuron) == at.selection.neuron + 1 and number == short(at.row("active")[int(neuron) - 1])
    ),
    rf"^Added up: what the MLP adds to “(.+)”, {NUMBER} {IN}\.$": lambda at, word, number, dimension: (
        at.is_asking(word) and number == short(at.row("mlp")[int(dimension) - 1])
    ),
    rf"^Added up: the absorbed query of “(.+)”, {NUMBER} {IN}\.$": lambda at, word, number, dimension: (
        at.is_asking(word) and is_row_of_queries(at, "the absorbed query of", number, dimension)
    ),
    rf"^Added up: (the part for positions)?(?:, )?{NUMBER} {IN}\.$": lambda at, what, *said: is_row_of_queries(
        at, what or "", *said
    ),
    rf"^(Added up|Divide [^:]+): what head (\d+) found for “(.+)”, {NUMBER} {IN}\.$": (
        lambda at, how, head, word, number, dimension: (
            at.own == "heads"
            and (how == "Added up") == (not isinstance(at.made.operation, LastQuotient))
            and int(head) == at.selection.head + 1
            and at.is_asking(word)
            and number == short(at.line_of(at.band.cells.stage)[int(dimension) - 1])
        )
    ),
    rf"^Compare (contents|positions), dimension by dimension, and add up: “(.+)” has {NUMBER}\.$": is_score_of,
    rf"^Add (both scores): “(.+)” has {NUMBER}\.$": is_score_of,
    rf"^Turned by the position of “(.+)”: {NUMBER} {IN}\.$": is_turned,
    rf"^The scaled score {NUMBER} of “(.+)” with “(.+)” is brought to {NUMBER}, inside the limit\.$": is_capped,
    rf"^Of the capped score {NUMBER} of “(.+)” with “(.+)” the distance leaves {NUMBER}\.$": is_biased,
    rf"^Of the scaled score {NUMBER} of “(.+)” with “(.+)” the distance leaves {NUMBER}\.$": is_biased,
    r"^By the end of the block of “(.+)”, the largest (?:of the sink and the scores|score) of “(.+)” is (\S+)\.$": (
        lambda at, key, query, number: at.is_kept(query, key, "running_max", number)
    ),
    rf"^By the end of the block of “(.+)”, exp\(score − {NUMBER}\) of “(.+)” adds up to {NUMBER}"
    r"(?:, with that of the sink)?\.$": lambda at, key, largest, query, number: (
        at.is_kept(query, key, "running_max", largest) and at.is_kept(query, key, "running_sum", number)
    ),
    rf"^“(.+)” is hidden from “(.+)”: by the end of its block the sum is {NUMBER}\.$": lambda at, key, query, number: (
        at.score("masked", query, key) == -np.inf and at.is_kept(query, key, "running_sum", number)
    ),
    rf"^By the end of the block of “(.+)”, “(.+)” has collected {NUMBER} {IN}, not yet divided by the sum\.$": (
        lambda at, key, query, number, dimension: at.is_kept(query, key, "running_output", number, int(dimension) - 1)
    ),
    rf"^In dimension (\d+)(?: of the latents)?, “(.+)” collects {NUMBER}: its running output after the .+ sum\.$": (
        lambda at, dimension, query, number: (
            at.is_asking(query)
            and number == short(at.made.value[at.selection.head, at.selection.query, int(dimension) - 1])
        )
    ),
    rf"^Added: “(.+)” had {NUMBER} {IN}, and the MLP adds {NUMBER}\.$": is_added_by_mlp,
    rf"^Added up: “(.+)” has the logit {RANKED}\.$": has_logit,
    rf"^Added up: “(.+)” has the logit {NUMBER}\.$": has_logit,
}
"""What each sentence says, by its words."""


def test_each_sentence_beside_a_band_makes_a_claim_and_it_is_true_of_the_numbers(node):
    made = set()
    for name, band, own, text in said(node, PASSES, SELECTIONS):
        at, text = Beside(PASSES[name], band, own), without_note(PASSES[name], text).lstrip()
        claims = [claim for claim in CLAIMS if re.search(claim, text)]
        assert not text or claims or any(re.search(claim, text) for claim in OF_ATTENTION), text
        for claim in claims:
            assert CLAIMS[claim](at, *re.search(claim, text).groups()), (name, text)
        made.update(claims)
    assert made == set(CLAIMS)


MODERN = {"mask": "causal", "positions": "sinusoidal", "norm": "rmsnorm", "alibi": True, "sinks": "drawn"}
TO_SET = {
    "modern": trace_of(Settings("the cat sat", d_model=4, softcap="5", qk_norm=True, rope="halves", **MODERN)),
    "plain": trace_of(Settings("the cat sat", d_model=4, mask="causal")),
    "latents": trace_of(Settings("the cat sat", d_model=4, sharing="latent", rope="halves", mask="causal")),
    "absorbed": trace_of(Settings("the cat sat", d_model=4, sharing="absorbed", query_latent_width=3)),
    "blocks": trace_of(Settings("the cat sat", d_model=4, blocks="2", **MODERN)),
    "a model's layer": TRACES["a block"],
}
SELECTED = Selection(1, 2, 1, 1, 1, 1, 1)


def with_each_number_set(trace):
    """For each stage the pass in which its selected number is set, those above it, and how the number is written."""
    for stage in trace.stages:
        index = trace.cell_at(stage.name, SELECTED.within(trace)).index
        is_share = split_layer(stage.name)[0] in ("attention", "probabilities")
        number = 1 - stage.value[index] if stage.value.dtype == bool else 0.731 if is_share else 7.31
        above = {each.name for each in leading_to(trace.stages, stage.name)} - {stage.name}
        written = r"(?<!−)\b0\.73\b|\b73 %" if is_share else r"\b7\.31\b"
        yield stage.name, index, trace.with_change(stage.name, index, float(number)), above, written


def test_every_sentence_that_leans_on_a_number_set_by_hand_says_so(node):
    """Every row of One word and the panel, whichever stage the number is of; and none that comes before it does."""
    changed = {
        f"{kind}: {each[0]}": each for kind, unchanged in TO_SET.items() for each in with_each_number_set(unchanged)
    }
    passes, n_said = {name: trace for name, (_, _, trace, *_) in changed.items()}, 0
    for name, band, own, text in said(node, passes, [SELECTED]):
        stage, index, trace, _, written = changed[name]
        slots = [slot for slot in (band.cells, band.left, band.right, band.leftover) if slot]
        shown_at = [places_of(trace, slot, own) for slot in (slots[1:] if band.array else slots) if slot.stage == stage]
        if any(index in each for each in shown_at) or re.search(written, text):
            assert "by hand" in text, (name, band.cells.stage, text)
            n_said += 1
    selected = {name: SELECTED.within(trace) for name, trace in passes.items()}
    cells = {
        name: [[each.name, trace.cell_at(each.name, selected[name]).index] for each in trace.stages]
        for name, trace in passes.items()
    }
    asked = [(trace, {"selection": vars(selected[name]), "cells": cells[name]}) for name, trace in passes.items()]
    found = json.loads(node(str(ROOT / "tests/js/told.mjs"), text=given(asked)))
    for name, answers in zip(passes, found, strict=True):
        stage, _, _, above, written = changed[name]
        for (other, _), answer in zip(cells[name], answers, strict=True):
            story = answer["story"]
            if other in above:
                assert "by hand" not in story, (name, other, story)
            elif other == stage or re.search(written, story):
                assert "by hand" in story, (name, other, story)
                n_said += 1
            if (name, other) == ("plain: scaled", "attention"):
                assert "its scaled score, 7.31," in story
                assert story.endswith("scaled[head 2, sat, cat] is set by hand.")
    assert n_said > 300


def places_of(trace, slot, selection):
    """The indices of all numbers that a slot shows."""
    shape = trace[slot.stage].shape
    index = [[axis.place(selection)] for axis in trace.axes(slot.stage)]
    for axis in (slot.rows, slot.columns):
        if axis is not None:
            index[axis] = range(shape[axis])
    return set(itertools.product(*index))


@pytest.mark.parametrize("name", ["bias", "plain", "two blocks with biases"])
def test_what_heads_add_and_the_bias_beside_them_add_up_to_the_output(name):
    trace, selection = TRACES[name], SELECTIONS[1]
    totals, seen = {}, 0
    for _, band, _ in shown(trace):
        layer, own = trace.layer_of(band.cells.stage), split_layer(band.cells.stage)[0]
        if own in ("contributions", "b_o"):
            totals[layer.number] = totals.get(layer.number, 0) + read(trace, band.cells, selection).sum(axis=0)
        if own == "output" and layer.number in totals:
            seen += 1
            assert np.allclose(totals[layer.number], read(trace, band.cells, selection)[0]), name
    assert seen == trace.n_layers
