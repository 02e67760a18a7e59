"""Bands: what stands in the One word view, computed again from the arrays alone."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from cases import of_each
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
    return list(_shown(trace))


@cache
def unfolded(trace):
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
def test_products_add_up(name, selection):
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
def test_every_score_stage_is_a_row(name):
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
    is_shown = any(name in step.stages for step in steps_of(trace))
    return not is_shown or getattr(trace[name].operation, "factor", None) == 1


@of_each("name", [*ALL])
def test_exponentials_over_their_sum_are_weights(name):
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
def test_sources_unfold_at_the_first_comparison(name):
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
def test_sources_are_inputs_times_parameters(name):
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
def test_each_layer_shows_its_sources(name):
    trace = ALL[name]
    found = {band.cells.stage for step in steps_of(trace) for source in sources(trace, step) for band in source.bands}
    for layer in trace.layers:
        made = [layer.names[each] for each in "qkv" if each in layer.names]
        assert {each for each in made if is_product(trace[each])} <= found


def rows(trace, selection):
    """Every band, and those that it unfolds to, with the selection of its row: a key's number is its word's."""
    for _, band, _ in shown(trace):
        yield band, selection
    own = replace(selection, query=selection.key).within(trace)
    for source in unfolded(trace):
        for band in source.bands:
            yield band, own if source.word == "key" else selection


@pytest.mark.parametrize("name", ["bias", "plain", "two blocks with biases"])
def test_contributions_and_bias_sum_to_the_output(name):
    trace, selection = TRACES[name], Selection(1, 2, 1, 1, 2, 1, 3)
    totals, seen = {}, 0
    for _, band, _ in shown(trace):
        layer, own = trace.layer_of(band.cells.stage), split_layer(band.cells.stage)[0]
        if own in ("contributions", "b_o"):
            totals[layer.number] = totals.get(layer.number, 0) + read(trace, band.cells, selection).sum(axis=0)
        if own == "output" and layer.number in totals:
            seen += 1
            assert np.allclose(totals[layer.number], read(trace, band.cells, selection)[0]), name
    assert seen == trace.n_layers


@pytest.mark.parametrize("selection", SELECTIONS, ids=str)
@of_each("name", [*ALL])
def test_tokens_add_up_to_the_words_input(name, selection):
    trace = ALL[name]
    texts = {}
    for step, band, _ in shown(trace):
        if step.title == "Tokens" and not band.array:
            texts.setdefault(step.layer, []).append(band.cells)
    if not texts:  # queries, keys and values were given
        assert "x" not in trace
    assert len(texts) == 2 or not trace.has_encoder
    for layer, rows in texts.items():
        full = trace.layers[max(layer, 1) - 1].names["x"]
        assert rows[-1].stage == full
        by_name = {row.stage: read(trace, row, selection)[0] for row in rows}
        word = trace.axes(full)[0].place(selection)
        assert np.array_equal(by_name[full], trace[full].value[word])
        made = by_name.get("embedded", by_name[full])
        given = [by_name[row.stage] for row in rows if trace[row.stage].is_given and row.stage != full]
        if given and not any(trace[each].overridden for each in by_name):
            assert np.allclose(sum(given), made)
