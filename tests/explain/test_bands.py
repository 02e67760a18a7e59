"""Bands: what stands on the sheet of one word, computed again from the arrays alone, and what is said beside it."""

import json
import math
import re
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from cases import of_each
from documents import given
from msgspec import to_builtins
from numerals import short
from page import ROOT
from passes import TRACES

from attnviz import Parameters, attend
from attnviz.contract.stages import Matrix
from attnviz.core.operations.linear import DotProducts
from attnviz.core.operations.softmax import SumNormalise
from attnviz.core.selection import Selection
from attnviz.core.stage import split_layer
from attnviz.explain.one_word import bands, is_product, page, sources
from attnviz.explain.steps import steps_of
from attnviz.models import MODELS

FIRSTS = {id: choice.at(choice.seeds[0], None).trace(choice.examples[0][1]) for id, choice in MODELS.items()}
random = np.random.default_rng(6)
LONG_VALUES = attend(
    random.standard_normal((3, 4)),
    parameters=Parameters(
        **{name: random.standard_normal((2, 4, length)) for name, length in (("w_q", 1), ("w_k", 1), ("w_v", 5))}
    ),
)
ALL = TRACES | FIRSTS | {"values longer than keys": LONG_VALUES}
SELECTIONS = [Selection(0, 0, 0, 0, 0), Selection(1, 2, 1, 1, 2), Selection(0, 1, 3, 2, 1)]


def read(trace, slot, selection):
    """The numbers of a slot, as rows and columns, read by the names of its axes."""
    index = [axis.place(selection) for axis in trace.axes(slot.stage)]
    for axis in (slot.rows, slot.columns):
        if axis is not None:
            index[axis] = slice(None)
    found = trace[slot.stage].value[tuple(index)]
    if slot.rows is None or slot.columns is None:
        return found.reshape((1, -1) if slot.rows is None else (-1, 1))
    return found.T if slot.rows > slot.columns else found


def values_of(layer):
    """The values of each head in a layer; those that could be made of latents, where none are."""
    trace = layer.trace
    n_heads, made = len(trace["attention"]), trace["v" if "v" in trace else "latent"].value
    values = np.repeat(made, n_heads // len(made), axis=0)
    return values if "v" in trace else values @ trace["w_uv"].value


@cache
def shown(trace):
    """Each step's bands, with the band before on the same page."""
    return list(_shown(trace))


@cache
def unfolded(trace):
    """What the bands of each step unfold to."""
    return [source for step in steps_of(trace) for source in sources(trace, step)]


def _shown(trace):
    before = {}
    for step in steps_of(trace):
        there = bands(trace, step)
        for band in there:
            on = page(trace, step, there)
            yield step, band, before.get(on)
            if not split_layer(band.cells.stage)[0].startswith("b_"):  # it is added to what the band before adds up to
                before[on] = band


@pytest.mark.parametrize("selection", SELECTIONS, ids=str)
@of_each("name", [*ALL])
def test_what_is_multiplied_adds_up_to_what_stands_below_it_or_beside_it(name, selection):
    trace = ALL[name]
    for _, band, above in shown(trace):
        cells, layer = read(trace, band.cells, selection), trace.layer_of(band.cells.stage)
        if any(trace[slot.stage].overridden for slot in (band.cells, band.right) if slot):
            continue
        if band.factors:
            bias = 0
            if len(trace[band.cells.stage].inputs) > 2:
                name = trace[band.cells.stage].inputs[2]
                bias = read(trace, Matrix(name, None, len(trace[name].axes) - 1), selection)[0]
            total = (read(trace, above.left, selection) * read(trace, above.cells, selection)).sum(axis=0)
            assert np.allclose(total + bias, cells[0], rtol=1e-9, atol=1e-12)
        if band.right and band.right.columns is None:
            shares = read(trace, Matrix(layer.names["attention"], None, 2), selection)
            assert np.allclose((shares * cells).sum(axis=1), read(trace, band.right, selection)[:, 0])
        if band.right and band.right.columns is not None:
            values = values_of(layer)
            for head, row in enumerate(read(trace, band.right, selection)):
                assert np.allclose(cells[head] @ values[head], row)


@of_each("name", [*ALL])
def test_every_stage_that_has_a_number_for_each_key_is_a_row_unless_it_changes_none(name):
    trace = ALL[name]
    for layer in trace.layers:
        of_keys = [stage.name for stage in trace.stages if stage.axes == ("head", "query", "key") and stage.inputs]
        own = [name for name in of_keys if split_layer(name)[1] in (0, layer.number) and name in layer.names.values()]
        moves = [own[0], *(each for each in own[1:] if trace[each].value is not trace[trace[each].inputs[0]].value)]
        rows = [band.cells.stage for _, band, _ in shown(trace) if band.cells.rows is None and not band.array]
        drawn = [each for each in rows if each in own]
        assert [each for each in moves if each in drawn or not _is_told_in_words(trace, each)] == drawn


def _is_told_in_words(trace, name):
    """Whether a text says that a stage is what it was before, so that no picture shows it."""
    return not any(name in step.stages for step in steps_of(trace)) or _factor(trace[name]) == 1


def _factor(stage):
    return getattr(stage.operation, "factor", None)


@of_each("name", [*ALL])
def test_the_exponentials_and_their_sum_make_the_shares(name):
    trace = ALL[name]
    for _, band, above in shown(trace):
        if split_layer(band.cells.stage)[0] == "attention" and band.cells.rows is None and not band.array:
            if isinstance(trace[band.cells.stage].operation, SumNormalise):
                continue
            arrays = trace.rule(above.cells.stage).arrays
            exponentials, sunk = arrays[above.array], "#sink" in arrays
            assert above.cells.sums == (not sunk), "no sum is shown that is not what they are divided by"
            sums = exponentials.sum(axis=-1, keepdims=True) + (arrays["#sink"][..., None] if sunk else 0)
            sums = np.maximum(sums, 1)
            if not trace[band.cells.stage].overridden:
                assert np.allclose(exponentials / sums, trace[band.cells.stage].value)


def assert_joined(trace, contributions, product, total):
    """What stands at the left of the rows of a head, times these, is what it adds; all together are the output."""
    for selection in SELECTIONS[:1]:
        products = read(trace, product.left, selection) * read(trace, product.cells, selection)
        heads = read(trace, contributions.cells, selection)
        assert np.allclose(products.reshape(len(heads), -1, products.shape[1]).sum(axis=1), heads)
        made = trace[total.cells.stage]
        bias = trace[made.inputs[2]].value if len(made.inputs) > 2 else 0
        assert np.allclose(heads.sum(axis=0) + bias, read(trace, total.cells, selection)[0])


def assert_changed(trace, total, after):
    """What follows are the stages from there to the scores, in order, each once, a norm with its squares before it."""
    names = [band.cells.stage for band in after if not band.array and not trace[band.cells.stage].is_given]
    assert [trace[name].inputs[0] for name in names] == [total.cells.stage, *names][: len(names)]
    if split_layer(total.cells.stage)[0] in ("q", "k", "q_r", "k_r"):
        scores = trace[trace.layer_of(total.cells.stage).names["scores"]]
        parts = [] if isinstance(scores.operation, DotProducts) else [trace[name] for name in scores.inputs]
        assert any([total.cells.stage, *names][-1] in each.inputs for each in (scores, *parts))
    normed = [name for name in names if "_normed" in name or split_layer(name)[0] in ("latent", "q_latent")]
    assert [band.cells.stage for band in after if band.array] == normed


@of_each("name", [*ALL])
def test_queries_keys_and_values_unfold_at_the_first_step_at_which_any_two_can_be_compared(name):
    trace = ALL[name]
    products = [each for each in trace.stages if "key" in each.axes[-1:] and isinstance(each.operation, DotProducts)]
    made, first, unfolding = set(), {}, {}
    for step in steps_of(trace):
        made |= {*step.stages}
        ready = {split_layer(each.name)[1] for each in products if made.issuperset(each.inputs)}
        first |= dict.fromkeys(ready - first.keys(), step.id)
        if [source for source in sources(trace, step) if source.name != "output parameters"]:
            unfolding.setdefault(step.layer if trace.n_layers > 1 else 0, []).append(step.id)
    assert all(unfolding[layer] == [first[layer]] for layer in unfolding)


@of_each("name", [*ALL])
def test_queries_keys_and_values_are_from_what_enters_times_their_parameters(name):
    trace, selection = ALL[name], Selection(0, 1, 1, 0, 0)
    for step in steps_of(trace):
        for source in sources(trace, step):
            found = [band for band in source.bands if "b_" not in band.cells.stage]
            last = next((n for n, band in enumerate(found) if band.factors), len(found) - 1)
            *before, product, total = found[: last + 1]
            assert_changed(trace, total, found[last + 1 :])
            if source.name == "output parameters":
                assert_joined(trace, product, *before, total)
                continue
            entered = read(trace, product.left, selection)
            if before:
                rows = [read(trace, band.cells, selection) for band in before]
                last = trace[before[2].cells.stage]
                others = [each.value for each in trace.inputs(last.name)[1:]] if before[1].array else [rows[1]]
                assert np.allclose(last.operation.compute(rows[0], *others), rows[2])
                assert np.allclose(rows[2][0], entered[:, 0])
            made, bias = trace[total.cells.stage], trace[total.cells.stage].inputs[2:]
            value = (entered * read(trace, product.cells, selection)).sum(axis=0)
            value += trace[bias[0]].value[0] if bias else 0
            rows = made.value[0] if made.value.ndim == 3 else made.value
            assert np.allclose(value, rows[min(1, len(rows) - 1)]) or made.overridden
            assert (source.name, source.word) == WHOSE[split_layer(made.name)[0]]


WHOSE = {
    "q_compressed": ("query latent", "query"),
    "compressed": ("latent", "key"),
    "q": ("query", "query"),
    "k": ("key", "key"),
    "v": ("value", "key"),
    "q_r": ("position query", "query"),
    "k_r": ("position key", "key"),
}
"""What the source of a stage is called, and whose word it is of."""


@of_each("name", [*ALL])
def test_each_layer_says_where_its_queries_keys_and_values_are_from(name):
    trace = ALL[name]
    found = {band.cells.stage for step in steps_of(trace) for source in sources(trace, step) for band in source.bands}
    for layer in trace.layers:
        made = [layer.names[each] for each in "qkv" if each in layer.names]
        assert {each for each in made if is_product(trace[each])} <= found


def filled(node, passes, asked):
    """What the browser makes of runs, each for a selection and beside its band if any, by the names of passes."""
    of_passes = [
        (passes[name], {"asked": [[runs, vars(at), *map(to_builtins, band)] for runs, at, *band in each]})
        for name, each in asked.items()
    ]
    found = json.loads(node(str(ROOT / "tests/js/filled.mjs"), text=given(of_passes)))
    return dict(zip(asked, found, strict=True))


def said(node, passes, selections):
    """Each band of passes, with the selection of its row and what the browser says beside it."""
    there = {
        name: [each for selection in selections for each in told(trace, selection.within(trace))]
        for name, trace in passes.items()
    }
    asked = {name: [(band.sentence, own, band) for band, own in each] for name, each in there.items()}
    texts = filled(node, passes, asked)
    return [
        (name, band, own, text)
        for name, each in there.items()
        for (band, own), text in zip(each, texts[name], strict=True)
    ]


def percent(share):
    """A share in words, as a sentence has it; a half is rounded up."""
    if 0 < share < 0.01 or 0.99 < share < 1:
        return "under 1 %" if share < 0.5 else "over 99 %"
    return f"{'−' if share < 0 else ''}{math.floor(100 * abs(share) * (1 + 1e-12) + 0.5)} %"


def share_said(trace, share):
    """A share in words; of whole numbers also as the fraction that it is, if its denominator has two digits."""
    exact = Fraction(share).limit_denominator(99)
    is_exact = exact.denominator > 1 and math.isclose(exact, share, rel_tol=0, abs_tol=1e-12)
    of_whole = any(getattr(stage.operation, "base", None) for stage in trace.stages)
    return f"{exact} ({percent(share)})" if of_whole and is_exact else percent(share)


PARTS = {"query": "q", "key": "k", "value": "v", "output": "output", "latent": "latent"}


def is_asked_by(trace, band, selection, word, one, unit, other, key, dimension, *product):
    own = [split_layer(slot.stage)[0] for slot in (band.left, band.cells)]
    queries, keys = (list(trace.axes(slot.stage)[1].labels) for slot in (band.left, band.cells))
    asked, offered = (
        trace[slot.stage].value[trace.axes(slot.stage)[0].place(selection)] for slot in (band.left, band.cells)
    )
    factors = asked[selection.query], offered[selection.key]
    largest = int(np.abs(factors[0] * factors[1]).argmax())
    return (
        [each.split("_")[0] for each in own] == [PARTS[one], PARTS[other]]
        and [word, key] == [queries[selection.query], keys[selection.key]]
        and unit == trace.origin.unit
        and int(dimension) == largest + 1
        and list(product) == [short(each[largest]) for each in (*factors, factors[0] * factors[1])]
    )


def is_multiplied(trace, band, selection, to, place, *product):
    """Of all products in the selected column it is the largest that is named."""
    axis = trace.axes(band.cells.stage)[-1]
    column, labels = axis.place(selection), trace.axes(band.left.stage)[-1].labels
    factors = read(trace, band.left, selection)[:, 0], read(trace, band.cells, selection)[:, column]
    products = factors[0] * factors[1]
    largest = int(np.abs(products).argmax())
    numbers = [short(each[largest]) for each in (*factors, products)]
    return (to, place, list(product)) == (axis.labels[column], labels[largest], numbers)


def is_row_by_row(trace, band, selection):
    """A bias counts most, or what the products add up to is set by hand."""
    made = next(stage for stage in trace.stages if band.cells.stage in stage.inputs)
    return bool(made.overridden) or len(made.inputs) > 2


PARAMETERS = {
    "query": "w_q",
    "key": "w_k",
    "value": "w_v",
    "latent": "w_dkv",
    "query latent": "w_dq",
    "position query": "w_qr",
    "position key": "w_kr",
}


def is_multiplied_by(trace, band, selection, word, which, *product):
    of_query = which.startswith("query") or which.endswith("query")
    whose = trace.axes(band.left.stage)[0].label(selection.query if of_query else selection.key)
    own = PARAMETERS[which] == split_layer(band.cells.stage)[0]
    return own and word == whose and is_multiplied(trace, band, selection, *product)


def is_made_of_latent(trace, band, selection, word, which, *product):
    own = {"key": "w_uk", "value": "w_uv"}[which] == split_layer(band.cells.stage)[0]
    whose = trace.axes(band.left.stage)[1].label(selection.key)
    of_latent = split_layer(band.left.stage)[0] == "latent"
    return own and of_latent and word == whose and is_multiplied(trace, band, selection, *product)


def is_of_query_latent(trace, band, selection, word, query, position, *product):
    own = ("w_uq" if query else "w_qr") == split_layer(band.cells.stage)[0]
    whose = trace.axes(band.left.stage)[0].label(selection.query)
    of_latent = split_layer(band.left.stage)[0] == "q_latent"
    return own and of_latent and word == whose and is_multiplied(trace, band, selection, *product)


def has_latent(trace, band, selection, unit, key, number, place):
    group = trace.axes(band.cells.stage)[0].place(selection)
    own = split_layer(band.cells.stage)[0] == "latent" and key == trace.axes(band.cells.stage)[1].label(selection.key)
    there = trace[band.cells.stage].value[group, selection.key, int(place) - 1]
    return own and unit == trace.origin.unit and number == short(there)


def is_absorbed(trace, band, selection, word):
    """The rows that the query's numbers are multiplied by are columns of the matrix."""
    absorbed = trace[trace.layer_of(band.cells.stage).names["q_absorbed"]]
    at = [axis.place(selection) for axis in trace.axes(absorbed.name)][:2]
    products = read(trace, band.left, selection) * read(trace, band.cells, selection)
    return word == trace.axes(absorbed.name)[1].label(selection.query) and np.allclose(
        products.sum(axis=0), absorbed.value[tuple(at)]
    )


def is_compared(trace, band, selection, word, answer, *product):
    labels = trace.axes(band.cells.stage)[-1].labels
    is_own = word == trace.axes(band.left.stage)[0].label(selection.query) and answer == labels[selection.answer]
    return is_own and is_multiplied(trace, band, selection, answer, *product)


def is_sum(trace, band, selection, what, word, number, place):
    own, whose = split_layer(band.cells.stage)[0], selection.key if what in ("key", "value") else selection.query
    row = read(trace, band.cells, selection)[0]
    part = {"value": "v"}.get(what, PARTS[what])
    return (
        own == part and word == trace.axes(band.cells.stage)[-2].label(whose) and number == short(row[int(place) - 1])
    )


def is_added(trace, band, selection, word, came, place, added):
    at = selection.query, int(place) - 1
    both, now = (trace[name].value[at] for name in trace[band.cells.stage].inputs), trace[band.cells.stage].value[at]
    before, more = both
    is_own = word == trace.axes(band.cells.stage)[0].label(selection.query) and np.isclose(before + more, now)
    return is_own and [short(more), short(before)] == [added, came]


def looks_and_finds(trace, band, selection, head, key, share, found, place, word):
    nth, (queries, keys) = int(head) - 1, (trace.axes(band.cells.stage)[at].labels for at in (1, 2))
    at = (nth, queries.index(word), keys.index(key))
    value = values_of(trace.layer_of(band.cells.stage))[nth]
    mixed = trace[band.cells.stage].value[at[:2]] @ value
    return share == percent(trace[band.cells.stage].value[at]) and found == short(mixed[int(place) - 1])


def is_contributed(trace, band, selection, head, added, place):
    names, nth = trace.layer_of(band.cells.stage).names, int(head) - 1
    found = trace[names["heads"]].value[nth, selection.query]
    rows = trace[names["w_o"]].value[nth * len(found) : (nth + 1) * len(found)]
    return added == short((found @ rows)[int(place) - 1])


def seen(trace, name, selection):
    """Which keys the mask leaves to the selected query."""
    masked = trace.layer_of(name).names["masked"]
    return ~np.isneginf(read(trace, Matrix(masked, None, 2), selection)[0])


def quoted(trace, stage, places):
    """The labels of some places, as a sentence lists them."""
    words = [f"“{trace.axes(stage)[-1].labels[place]}”" for place in places[:3]]
    rest = len(places) - 3
    words += [f"{rest} other{'s' * (rest > 1)}"] if rest > 0 else []
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def largest(row):
    return np.flatnonzero(np.isclose(row, row.max(), rtol=1e-9, atol=0))


def is_best(trace, band, selection, limit, unit, words, number, each):
    """Of the visible keys; that others are hidden is said wherever the mask hides one from anybody."""
    row, visible = read(trace, band.cells, selection)[0], seen(trace, band.cells.stage, selection)
    most = largest(np.where(visible, row, -np.inf))
    hides = np.isneginf(trace[trace.layer_of(band.cells.stage).names["masked"]].value).any()
    return (
        words == quoted(trace, band.cells.stage, most)
        and number == short(row[most[0]])
        and bool(each) == (len(most) > 1)
        and bool(limit) == hides
        and unit in (None, trace.origin.unit)
    )


def is_scaled(trace, band, selection, how, by, word, number):
    at = trace.axes(band.cells.stage)[-1].labels.index(word)
    before = read(trace, Matrix(trace[band.cells.stage].inputs[0], None, 2), selection)[0, at]
    now = read(trace, band.cells, selection)[0, at]
    made = {
        "divided by √": lambda: before / float(by) ** 0.5,
        "multiplied by ": lambda: before * float(by.replace("−", "-")),
    }[how]()
    return at == selection.key and number == short(now) and np.isclose(made, now)


def is_power(trace, band, selection, base, power, word, number):
    """Scores are whole; the exponential of a scaled one is a power of the base."""
    at = trace.axes(band.cells.stage)[-1].labels.index(word)
    score, now = (
        read(trace, Matrix(stage, None, 2), selection)[0, at]
        for stage in (trace[band.cells.stage].inputs[0], band.cells.stage)
    )
    return (
        base == power
        and at == selection.key
        and number == short(now)
        and score == round(score)
        and np.isclose(np.exp(now), float(base) ** score, rtol=1e-12, atol=0)
    )


def is_subtracted(trace, band, selection, largest):
    """The exponentials of what is left of the scores are those that stand there."""
    scores = trace[trace[band.cells.stage].inputs[0]].value[selection.head, selection.query]
    row = trace.rule(band.cells.stage).arrays[band.array][tuple(trace.cell_at(band.cells.stage, selection).index[:-1])]
    return short(scores.max()) == largest and np.allclose(np.exp(scores - scores.max()), row)


def is_subtracted_with_sink(trace, band, selection, score, each, sink):
    scores, sinks = (each.value[selection.head] for each in trace.inputs(band.cells.stage))
    scores = scores[selection.query]
    row = trace.rule(band.cells.stage).arrays[band.array][tuple(trace.cell_at(band.cells.stage, selection).index[:-1])]
    return (
        [score, sink] == [short(scores.max()), short(float(sinks))]
        and bool(each) == (len(largest(scores)) > 1)
        and np.allclose(np.exp(scores - max(scores.max(), sinks)), row)
    )


def is_taken(trace, band, selection, said):
    """What a sentence says that the sink takes is what the shares leave."""
    row = read(trace, band.cells, selection)[0]
    return not said or said == percent(1 - math.fsum(row))


def gets_most(trace, band, selection, words, share, each, sunk=""):
    row = read(trace, band.cells, selection)[0]
    most = largest(row)
    index = (*trace.cell_at(band.cells.stage, selection).index[:-1], int(most[0]))
    return (
        words == quoted(trace, band.cells.stage, most)
        and share == share_said(trace, trace[band.cells.stage].value[index])
        and bool(each) == (len(most) > 1)
        and is_taken(trace, band, selection, sunk)
    )


def is_passed_on(trace, band, selection, what, share, key, given, value, place, head, word):
    at = trace.axes(band.cells.stage)[0].place(selection), selection.key, int(place) - 1
    shares = read(trace, Matrix(trace.layer_of(band.cells.stage).names["attention"], None, 2), selection)[0]
    if [given, value] != [short(shares[selection.key]), short(trace[band.cells.stage].value[at])]:
        return False
    if key != trace.axes(band.cells.stage)[1].label(selection.key):
        return False
    layer = trace.layer_of(band.cells.stage)
    found = {split_layer(band.cells.stage)[0], split_layer(band.right.stage)[0]}
    return (
        found in ({PARTS[what], "heads"}, {"latent", "latent_heads"})
        and what == ("latent" if "latent" in found else "value")
        and share == "share"
        and head == f"head {selection.head + 1}"
        and word == trace.axes(layer.names["attention"])[1].label(selection.query)
    )


LARGEST = r"(?:dimension|neuron) (\S+) counts most: (\S+) × (\S+) = (\S+)\.$"
PRODUCT = r"for (?:dimension|neuron) (\S+), " + LARGEST
CLAIMS = {
    r"^(?:Content: )?“(.+)” asks with its (?:normed |absorbed )?(\w+), every (\w+) answers with its (?:normed )?(\w+)"
    r"(?:, each turned by its position)?: for “(.+)”, dimension (\d+) counts most: "
    r"(\S+) × (\S+) = (\S+)\.$": is_asked_by,
    r"^Positions: “(.+)” asks with that part of its (\w+), every (\w+) answers with that of its (\w+)"
    r"(?:, each turned by its position)?: for “(.+)”, dimension (\d+) counts most: "
    r"(\S+) × (\S+) = (\S+)\.$": is_asked_by,
    r"^What “(.+)” enters with, times the ((?:position )?\w+|query latent) parameters: " + PRODUCT: is_multiplied_by,
    r"^The query latent of “(.+)”, times the (?:head’s (query)|(position query)) parameters: "
    + PRODUCT: is_of_query_latent,
    r"^The latent of each (\w+): “(.+)” has (\S+) in dimension (\d+)\.$": has_latent,
    r"^The latent of “(.+)”, times the head’s (\w+) parameters: " + PRODUCT: is_made_of_latent,
    r"^What the head collected, times its value parameters: " + PRODUCT: is_multiplied,
    r"^The query of “(.+)”, times the head’s key parameters, transposed$": is_absorbed,
    r"^What the heads? found,(?: side by side,)? times the output parameters: " + PRODUCT: is_multiplied,
    r"^What each neuron passes on, times its row: " + PRODUCT: is_multiplied,
    r"^What the MLP reads of “.+”, times a (?:column|row) for each neuron: " + PRODUCT: is_multiplied,
    r": row by row\.$": is_row_by_row,
    r"what “(.+)” has now is compared with it: for “(.+)”, " + LARGEST: is_compared,
    r"^Added up: the (\w+) of “(.+)”, (\S+) in dimension (\d+)\.$": is_sum,
    r"^Added: “(.+)” came with (\S+) in dimension (\d+) and gets (\S+)\.$": is_added,
    r"on its own: head (\d+) gives “(.+)” (.+) and finds (\S+) in dimension (\d+)\. "
    r"Side by side, .* one row for “(.+)”\.$": looks_and_finds,
    r"own rows of the output parameters: head (\d+) adds (\S+) in dimension (\d+)\.$": is_contributed,
    r"add up\. Best match(?:es)?( of the (\w+)s it may see)?: (“.+”), ([^ ]+)( each)?\.$": is_best,
    r"^Scale: (divided by √|multiplied by )(\S+), “(.+)” has (\S+)\.$": is_scaled,
    r"^Scale: times ln (\d), so that exp makes a power of (\d), “(.+)” has (\S+)\.$": is_power,
    r"^Subtract the largest, (\S+), and exponentiate\.$": is_subtracted,
    r"^Subtract the largest score, (\S+?)( each)?, or the sink, (\S+), whichever is larger, and exponentiate\.$": (
        is_subtracted_with_sink
    ),
    r"^Share: divide by the sum(?:, in which the sink counts)?\. Largest shares?: (“.+”), ([^“]+?)( each)?"
    r"(?:; the sink takes (.+ %))?\.$": gets_most,
    r"^Softmax\. Most probable: (“.+”), ([^“]+?)( each)?\.$": gets_most,
    r"passes on its (\w+), in that (\w+): “(.+)” (\S+) × (\S+) in dimension (\d+)\. "
    r"Added up, that is what (head \d+) (?:found|collected) for “(.+)”\.$": is_passed_on,
}


def told(trace, selection):
    """Every band, and those that it unfolds to, with the selection of its row: a key's number is its word's."""
    for _, band, _ in shown(trace):
        yield band, selection
    own = replace(selection, query=selection.key).within(trace)
    for source in unfolded(trace):
        for band in source.bands:
            yield band, own if source.word == "key" else selection


def test_what_is_said_beside_a_band_is_true_of_its_numbers(node):
    """Each claim is made somewhere, and holds wherever it is made."""
    made = set()
    for name, band, own, text in said(node, ALL, SELECTIONS[1:]):
        for claim, holds in CLAIMS.items():
            for found in re.finditer(claim, text):
                assert holds(ALL[name], band, own, *found.groups()), (name, text)
                made.add(claim)
    assert made == set(CLAIMS)


def test_what_a_sheet_unfolds_to_is_headed_by_its_word(node):
    selection = Selection(0, 1, 1, 0, 0)
    of_each = {name: [(source, selection.within(trace)) for source in unfolded(trace)] for name, trace in ALL.items()}
    headings = filled(
        node, ALL, {name: [(source.heading, at) for source, at in each] for name, each in of_each.items()}
    )
    for name, each in of_each.items():
        for (source, at), heading in zip(each, headings[name], strict=True):
            word = ALL[name].label(source.word, getattr(at, source.word))
            assert heading.count(f"“{word}”") == 1, (name, heading)
