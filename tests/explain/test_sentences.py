"""Sentences are checked by their slots and by what they claim, never by their words: a true paraphrase passes.

Each slot is filled in by a second way (`sentences.py`) and compared with the browser's text; a slot leads to a number
that the sentence's stage is computed from; and the law of each section holds wherever the section is shown.
"""

import json
import math
import re
from itertools import chain, product

import numpy as np
import pytest
from cases import of_each
from documents import given
from msgspec import to_builtins
from page import ROOT
from passes import MODERN as OF_TODAY
from passes import TRACES as OF_EVERY_KIND
from sentences import chosen, read, slots_of, steps_with_layers, without_note
from test_bands import ALL, rows, unfolded

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core.changes import Change
from attnviz.core.operations.linear import Addition
from attnviz.core.selection import Selection
from attnviz.core.stage import ancestors, split_layer
from attnviz.explain import styled_text
from attnviz.explain.step import sections_of
from attnviz.explain.steps import BAND_TEXTS, ENTRIES, entry, steps_of, stories_of


def base_of(name):
    return split_layer(name)[0]


BY_HAND = {
    f"{name} set by hand": OF_EVERY_KIND["causal"].with_change(name, (1, 2, 1), 0.5)
    for name in ("scores", "scaled", "masked", "attention")
}
PASSES = ALL | BY_HAND
SELECTIONS = [Selection(0, 0, 0, 0, 0), Selection(1, 2, 1, 1, 2, 1, 3), Selection(0, 1, 3, 2, 1, 2, 2)]


def asked_of(trace, selections=SELECTIONS):
    """All runs beside bands and over what they unfold to: [runs, selection, band if any] each."""
    for selection in (each.within(trace) for each in selections):
        yield from ([band.sentence, own, band] for band, own in rows(trace, selection))
        yield from ([source.heading, selection] for source in unfolded(trace))


def filled_by_browser(node, passes, selections=SELECTIONS):
    """(name, runs, selection, band, text) for all sentences of the One word view; of common passes at one place."""
    asked = {
        name: list(asked_of(trace, selections if name in OF_TODAY | BY_HAND else [selections[nth % len(selections)]]))
        for nth, (name, trace) in enumerate(passes.items())
    }
    sent = [
        (passes[name], {"asked": [[runs, vars(at), *map(to_builtins, band)] for runs, at, *band in each]})
        for name, each in asked.items()
    ]
    found = json.loads(node(str(ROOT / "tests/js/answers.mjs"), "runs", text=given(sent)))
    for (name, each), texts in zip(asked.items(), found, strict=True):
        for (runs, at, *band), text in zip(each, texts, strict=True):
            yield name, runs, at, band[0] if band else None, text


@pytest.mark.slow
def test_one_word_sentences_match_the_arrays_and_every_story_occurs(node):
    seen = set()
    for name, runs, at, _, text in filled_by_browser(node, PASSES):
        trace = PASSES[name]
        assert without_note(trace, text) == read(trace, runs, at), (name, text)
        for of, stories in ((run["of"], run["stories"]) for style, run in runs if style == "story"):
            found = chosen(trace, stories, of, trace.cell_at(of, at).index, at)
            seen |= {re.sub(r"(?<=\{)\w+", lambda slot: base_of(slot[0]), found)} if found else set()
    for story in (each for _, stories in BAND_TEXTS.values() for each in stories if each.when != "set"):
        text = re.sub(r"\{(?:unit|scaling)\}|(?<=\{)(?:left|right|sum)", "\0", story.text)
        assert any(re.fullmatch(re.escape(text).replace("\0", ".+"), each) for each in seen), story.text


STEP_PASSES = OF_EVERY_KIND | {
    "two answers that tie": attend(np.eye(3), parameters=Parameters(), w_u=np.outer(np.ones(3), [2.0, 1.0, 2.0])),
    "three answers alike": attend(np.eye(3), parameters=Parameters(), w_u=np.ones((3, 3))),
    "two heads of three that add alike": attend(
        np.eye(3), parameters=Parameters(*np.ones((3, 3, 3, 1)), w_o=np.array([[2.0], [2.0], [1.0]]))
    ),
    "positions": trace_of(Settings("the cat sat", positions="sinusoidal")),
    "half scale": attend(np.eye(3), parameters=Parameters(), scale=0.5),
    "masked by hand": trace_of(Settings("the cat sat")).with_change("masked", (0, 0, 1), -math.inf),
    "attention by hand": trace_of(Settings("the cat sat")).with_change("attention", (0, 0, 1), 5.0),
    "a hidden weight by hand": trace_of(Settings("the cat sat", mask="causal")).with_change("attention", (0, 0, 2), 2),
    "nothing seen but by hand": OF_EVERY_KIND["all hidden"].with_change("attention", (0, 1, 2), 0.5),
    "the only weight by hand": OF_EVERY_KIND["all hidden"].with_change("attention", (0, 1, 2), 1.0),
    "sums by hand": OF_EVERY_KIND["negative"].with_change("attention", (0, 0, 1), 5.0),
    "nine at the top": OF_EVERY_KIND["many ties"].with_change("attention", (0, 0, 9), 0.0),
    "four at the top": trace_of(Settings("a a a a b")).with_change("attention", (0, 0, 4), 0.0),
    "output by hand": trace_of(Settings("the cat sat")).with_change("output", (0, 0), 1.0),
    "ten heads": trace_of(Settings("the cat", d_model=10, n_heads=10)),
    "tied but for rounding": trace_of(Settings("the cat sat")).with_changes(
        Change("attention", (0, 0, 0), 0.1 + 0.2), Change("attention", (0, 0, 1), 0.3)
    ),
    "parts longer than float64": attend(
        np.eye(4), parameters=Parameters(*np.ones((3, 2, 4, 1)), w_o=np.array([[1.2e308] * 4, [-1e308] * 4]))
    ),
}


@pytest.fixture(scope="module")
def step_texts(node):
    """For each pass, pairs of a selection and the texts of its steps as the browser fills them in."""
    asked = {}
    for name, trace in STEP_PASSES.items():
        heads = sorted({0, min(1, trace.lengths["head"] - 1), trace.lengths["head"] - 1})
        asked[name] = [Selection(head, n, 0, 0, 0) for head in heads for n in range(min(trace.lengths["query"], 3))]
    sent = [(STEP_PASSES[name], {"selections": [vars(each) for each in at]}) for name, at in asked.items()]
    found = json.loads(node(str(ROOT / "tests/js/answers.mjs"), "steps", text=given(sent)))
    return {name: list(zip(asked[name], each, strict=True)) for name, each in zip(asked, found, strict=True)}


@of_each("name", [*STEP_PASSES])
def test_step_texts_match_the_arrays(step_texts, name):
    trace = STEP_PASSES[name]
    for step in steps_of(trace):
        for at, texts in step_texts[name]:
            shown = texts[step.id]
            for part, runs in (("heading", step.heading), ("why", step.why), ("text", step.text)):
                if part != "why" or shown["why"]:
                    text = "".join(text for _, text in shown[part])
                    assert without_note(trace, text) == read(trace, runs, at), (name, step.id)
            assert ["".join(t for _, t in note) for note in shown["notes"]] == [read(trace, n, at) for n in step.notes]


def test_story_slots_are_inputs_of_their_stage():
    """Or to one of the few others below; and the numbers that are added up come in the order of the sum."""
    others = {("attention", each) for each in ("scaled", "capped", "biased", "scores", "sink_share")}
    others |= {("output", "contributions"), ("x", "embeddings"), ("x", "positions")}
    for trace in OF_EVERY_KIND.values():
        for stage in trace.stages:
            for story in stories_of(trace, stage.name):
                names = [name for name, _ in slots_of(story.text) if name in trace and name != stage.name]
                apart = [name for name in names if name not in stage.inputs]
                assert {(base_of(stage.name), base_of(name)) for name in apart} <= others, story
                if isinstance(stage.operation, Addition):
                    assert names == [each for each in stage.inputs if each in names], story


@of_each("name", [*PASSES])
def test_band_slots_are_inputs_or_products(name):
    trace = PASSES[name]
    for band, _ in rows(trace, SELECTIONS[0].within(trace)):
        for of, stories in ((run["of"], run["stories"]) for style, run in band.sentence if style == "story"):
            slots = [[slot for slot, _ in slots_of(text) if slot in trace] for _, text in stories]
            assert of not in chain(*slots), stories
            for slot in chain(*slots):
                is_input = slot in trace[of].inputs or base_of(slot) in ("attention", "sink_share")
                is_product = band.left and {band.left.stage, band.cells.stage} <= {*trace[slot].inputs}
                assert is_product if band.left else is_input, (band.cells.stage, slot)
            if isinstance(trace[of].operation, Addition) and band.cells.stage == of and not band.left:
                assert all(each == [name for name in trace[of].inputs if name in each] for each in slots), stories


KINDS = ("masked score", "biased score", "capped score", "scaled score")


@of_each("name", [*OF_EVERY_KIND, *BY_HAND])
def test_score_of_a_weight_is_its_softmax_input(name):
    whole = PASSES[name]
    for layer in whole.layers:
        trace, masked = layer.trace, layer.trace["masked"]
        before = masked.inputs[0]
        is_new = np.isfinite(masked.value) & (masked.value != trace[before].value)
        added = not np.array_equal(masked.value, trace[before].value) and (
            trace["mask"].value.dtype != bool or is_new.any()
        )
        is_plain = before == "scaled" and trace["scaled"].operation.factor == 1
        kind = "masked score" if added else "" if is_plain else f"{before} score"
        for story in stories_of(whole, layer.names["attention"]):
            read_by = [slot for slot, way in slots_of(story.text) if way == "rank"]
            assert all(np.array_equal(whole[slot].value, masked.value) for slot in read_by), story
            if read_by:
                assert [each for each in KINDS if f"its {each}" in story.text] == [kind] * bool(kind), story


def sections_in(trace):
    """(step, section, trace of the layer, whether it is shown there) for all sections of the steps that a trace has."""
    for step, layer in steps_with_layers(trace):
        for section in (*(step.text if isinstance(step.text, tuple) else ()), *step.notes):
            yield (step.id, section.name), layer.trace, section.when(layer.trace)


def sums_to_one(trace):
    return np.allclose(trace["attention"].value.sum(axis=-1), np.isfinite(trace["masked"].value).any(axis=-1))


def adds_up(trace):
    bias = trace["b_o"].value if "b_o" in trace else 0
    return np.allclose(trace["contributions"].value.sum(axis=0) + bias, trace["output"].value)


def is_normalised_by_sum(trace):
    masked, weights = trace["masked"].value, trace["attention"].value
    visible = np.where(np.isfinite(masked), masked, 0)
    sums = visible.sum(axis=-1, keepdims=True)
    return np.allclose((weights * sums)[~np.isclose(weights, 0)], visible[~np.isclose(weights, 0)])


def leaves_the_sink(trace):
    return np.allclose(trace["attention"].value.sum(axis=-1) + trace["sink_share"].value, 1)


def is_product_of_rows(trace, made, rows, columns):
    bias = trace[f"b_{made}"].value[:, None] if f"b_{made}" in trace else 0
    return np.allclose(trace[rows].value @ trace[columns].value + bias, trace[made].value)


def scores_are_dot_products(trace):
    q, k = (each.value for each in trace.inputs("scores"))
    k = np.repeat(k, len(q) // len(k), axis=0)
    return np.allclose((q[:, :, None] * k[:, None]).sum(axis=-1), trace["scores"].value) or bool(
        trace["scores"].overridden
    )


def hides_exactly(trace):
    hidden = np.broadcast_to(~trace["mask"].value, trace["masked"].shape)
    set_by_hand = trace["masked"].overridden or trace["attention"].overridden
    return bool(set_by_hand) or (
        np.array_equal(hidden, np.isneginf(trace["masked"].value)) and not trace["attention"].value[hidden].any()
    )


LAWS = {
    ("tokens", "no positions"): lambda t: np.array_equal(t["x"].value, t["embeddings"].value),
    ("tokens", "no positions, normed"): lambda t: np.array_equal(t["embedded"].value, t["embeddings"].value),
    ("positions", "positions"): lambda t: np.allclose(
        t["embeddings"].value + t["positions"].value, t["embedded" if "embedded" in t else "x"].value
    ),
    ("positions", "waves"): lambda t: len(np.unique(t["positions"].value, axis=0)) == len(t["positions"].value),
    ("qkv", "one sentence"): lambda t: all(
        is_product_of_rows(t, each, t["q"].inputs[0], f"w_{each}") for each in "qkv"
    ),
    ("qkv", "two sentences"): lambda t: (
        is_product_of_rows(t, "q", t["q"].inputs[0], "w_q")
        and all(is_product_of_rows(t, e, "context", f"w_{e}") for e in "kv")
    ),
    ("qkv", "no matrices"): lambda t: not {"w_q", "w_k", "w_v", "w_uq"} & set(t.keys()),
    ("scores", "dot products"): scores_are_dot_products,
    ("scores", "made"): lambda t: "content_scores" in t or scores_are_dot_products(t),
    ("scores", "latents"): lambda t: "k" not in t,
    ("mask", "selects"): hides_exactly,
    ("mask", "added"): lambda t: np.allclose(
        np.where(np.isfinite(t["mask"].value), t.inputs("masked")[0].value + t["mask"].value, -np.inf),
        t["masked"].value,
    ),
    ("softmax", "shares"): lambda t: sums_to_one(t) and (t["attention"].value >= 0).all(),
    ("softmax", "sum"): lambda t: bool(t["attention"].overridden) or is_normalised_by_sum(t),
    ("softmax", "sum to 1"): sums_to_one,
    ("softmax", "sinks"): lambda t: bool(t["attention"].overridden) or leaves_the_sink(t),
    ("absorbed-queries", "positions"): lambda t: "q_rotated" in t and "position_scores" in t,
    ("neurons", "relu"): lambda t: (
        (t["active"].value >= 0).all() and not t["active"].value[t["hidden"].value <= 0].any()
    ),
    ("answer", "logits"): lambda t: is_product_of_rows(t, "logits", t["logits"].inputs[0], "w_u"),
    ("whole-pass", "no output"): lambda t: "w_o" not in t,
}
"""The law of a section: it holds for every pass in which the section is shown."""

EXACTLY = {
    ("qkv", "biases"): lambda t: bool({"b_q", "b_k", "b_v"} & set(t.keys())),
    ("qkv", "groups"): lambda t: "k" in t and len(t["k"].value) < len(t["q"].value),
    ("qkv", "of positions"): lambda t: "position_scores" in t,
    ("scores", "both parts"): lambda t: "position_scores" in t,
    ("rotation", "partial"): lambda t: any_unturned(t),
    ("softmax", "by hand"): lambda t: bool(t["attention"].overridden),
    ("softmax", "no mask"): lambda t: (
        np.array_equal(t["masked"].value, t.inputs("masked")[0].value)
        and (t["mask"].value.all() if t["mask"].value.dtype == bool else not t["mask"].value.any())
    ),
    ("output", "bias"): lambda t: "b_o" in t,
    ("output", "set by hand"): lambda t: not adds_up(t),
    ("neurons", "gelu"): lambda t: bool((t["active"].value < 0).any()),
    ("whole-pass", "by hand"): lambda t: "probabilities" not in t and "contributions" in t and not adds_up(t),
}
"""What is so of a pass if, and only if, the section is shown."""


def any_unturned(trace):
    read, turned = trace[trace["q_rotated"].inputs[0]].value, trace["q_rotated"].value
    return bool((read == turned)[:, 1:].all(axis=(0, 1)).any())


def test_section_laws_hold_wherever_shown():
    seen = {key: set() for key in LAWS | EXACTLY}
    for name, trace in STEP_PASSES.items():
        for key, layer, is_shown in sections_in(trace):
            if key in LAWS and is_shown:
                assert LAWS[key](layer), (key, name)
            if key in EXACTLY:
                assert bool(EXACTLY[key](layer)) == is_shown, (key, name)
            if key in seen:
                seen[key].add(is_shown)
    assert all(True in each for each in seen.values()), [key for key, each in seen.items() if True not in each]
    assert all(seen[key] == {True, False} for key in EXACTLY), seen


def partner(trace, dimension):
    """The dimension, counted from 1, that a rotation turns together with another."""
    row = np.zeros((1, 2, trace["q_rotated"].shape[-1]))
    row[..., dimension - 1] = 1
    turned = np.flatnonzero(trace["q_rotated"].operation.compute(row)[0, 1])
    return next(int(place) + 1 for place in turned if place != dimension - 1)


def pairs_of(trace):
    """The numbers of the sentence on pairs: two pairs, how fast the first and the last turn, and the base."""
    rotation = trace["q_rotated"].operation
    half = rotation.dims // 2
    if half < 2:
        return [1, 2, 1] if half else []
    firsts = (1, 3) if rotation.pairs == "neighbours" else (1, 2)
    first_pairs = [place for one in firsts for place in (one, partner(trace, one))]
    return [*first_pairs, 1, 1, half, rotation.base ** (2 / rotation.dims - 1), rotation.base]


def counted_in(trace):
    rows, width = trace.output.shape
    queries, keys = (trace.labels.get(axis) for axis in ("query", "key"))
    entered = [len(queries)] if queries and queries == keys else [*trace["scores"].shape[1:]]
    sizes = {stage.name: stage.value.size for stage in trace.stages}
    n_parameters = sum(size for name, size in sizes.items() if ENTRIES[base_of(name)].kind == "parameter")
    return [*entered, rows, width, sum(sizes.values()), *[n_parameters] * (n_parameters > 0)]


def slopes_of(trace):
    """By how much a score loses for each key further away, head by head; of more than four the first three."""
    before, after = (trace[name].value for name in (trace["biased"].inputs[0], "biased"))
    lost = [(one - other)[-1, 0] / (len(one) - 1) for one, other in zip(before, after, strict=True)]
    return lost if len(lost) <= 4 else lost[:3]


def made_and_kept(trace):
    """How many numbers are kept of a token with made keys and values, and with latents; those that are kept first."""
    shared = trace["k_r"].value[:, 0].size if "k_r" in trace else 0
    n_heads, latent = len(trace["attention"].value), trace["latent"].value[:, 0].size + shared
    lengths = [trace[name].shape[-1] for name in ("w_uk", "w_uv")]
    made = n_heads * sum(lengths) + shared
    return [made, latent] if "k" in trace else [latent, made]


def parameters_of_queries(trace):
    """How many parameters make all queries by way of latents, and straight from what enters."""
    names = [name for name in ("w_uq", "w_qr") if name in trace]
    straight = sum(len(trace[each].value) * trace[each].shape[-1] for each in names) * trace["w_dq"].shape[0]
    return [trace["w_dq"].value.size + sum(trace[each].value.size for each in names), straight]


def groups_of(trace):
    n_heads, n_groups = (len(trace[name].value) for name in "qk")
    return [n_heads] if n_groups == 1 else [n_heads, n_heads // n_groups, n_groups]


NUMBERS = {
    ("alibi", ""): slopes_of,
    ("blocks", "read"): lambda t: [t["running_max"].operation.block_size],
    ("latent", "kept"): made_and_kept,
    ("neurons", "got"): lambda t: [t["hidden"].shape[-1]],
    ("query-latent", "parameters"): parameters_of_queries,
    ("qkv", "groups"): groups_of,
    ("qkv", "of positions"): lambda t: [t["q_r"].shape[-1]] if t["q_r"].shape[-1] > 1 else [],
    ("rotation", "partial"): lambda t: [t["q_rotated"].operation.dims, t["q_rotated"].shape[-1]],
    ("rotation", "which"): pairs_of,
    ("scaling", "spread"): lambda t: [t[name].shape[-1] for name in ("q", "q_r")] if "q_r" in t else [],
    ("softcap", ""): lambda t: [t["capped"].operation.limit] * 2 + [0] + [t["capped"].operation.limit],
    ("whole-pass", "counted"): counted_in,
}
"""The numbers that a function writes into a text, in their order; those in formulas aside."""


def numbers_in(text):
    return [
        float(each.replace(",", "").replace("−", "-"))
        for each in re.findall(r"(?<!\w)\d[\d,]*(?:\.\d+)?(?:e−?\d+)?", text)
    ]


def test_numbers_in_texts_match_the_pass():
    seen = set()
    more = {
        "eight heads": trace_of(Settings("a b c", d_model=8, n_heads=8, alibi=True)),
        "a quarter of a head": trace_of(Settings("a b c", d_model=24, n_heads=2, rope="halves", rope_part="quarter")),
        "four pairs of heads": trace_of(Settings("a b c", d_model=8, n_heads=8, sharing="pairs")),
        "neighbours": trace_of(Settings("a b c", d_model=8, n_heads=1, rope="neighbours")),
    }
    for name, trace in (STEP_PASSES | more).items():
        for step, layer in steps_with_layers(trace):
            for section in sections_of(step.text, layer.trace):
                key, text = (step.id, section.name), plain_text(section, layer)
                if key in NUMBERS and "layer" not in text:
                    expected = NUMBERS[key](layer.trace)
                    assert numbers_in(text) == pytest.approx(expected, rel=1e-2), (name, key)
                    seen.add(key)
    assert seen == NUMBERS.keys()


def plain_text(section, layer):
    """A section without its formulas and stories."""
    entries = ENTRIES | {name: entry(full) for name, full in layer.names.items()}
    written = section.text(layer.trace, entries) if callable(section.text) else section.text
    found = styled_text.runs(written.replace("{unit}", "word")) if isinstance(written, str) else written
    return "".join(text for style, text in found if style not in ("math", "story", "code"))


MODERN = {"mask": "causal", "positions": "sinusoidal", "norm": "rmsnorm", "alibi": True, "sinks": "drawn"}
TO_SET = {
    "modern": trace_of(Settings("the cat sat", d_model=4, softcap="5", qk_norm=True, rope="halves", **MODERN)),
    "plain": trace_of(Settings("the cat sat", d_model=4, mask="causal")),
    "latents": trace_of(Settings("the cat sat", d_model=4, sharing="latent", rope="halves", mask="causal")),
    "absorbed": trace_of(Settings("the cat sat", d_model=4, sharing="absorbed", query_latent_width=3)),
    "blocks": trace_of(Settings("the cat sat", d_model=4, blocks="2", **MODERN)),
    "a model's layer": OF_EVERY_KIND["a block"],
}
SELECTED = Selection(1, 2, 1, 1, 1, 1, 1)


def with_each_number_set(trace, seen):
    """For each new kind of stage the pass in which its selected number is set, those above, and how that is written."""
    for stage in trace.stages:
        kind = stage.name, type(stage.operation), stage.inputs
        if kind in seen:
            continue
        seen.add(kind)
        index = trace.cell_at(stage.name, SELECTED.within(trace)).index
        is_weight = base_of(stage.name) in ("attention", "probabilities")
        number = 1 - stage.value[index] if stage.value.dtype == bool else 0.731 if is_weight else 7.31
        above = {each.name for each in ancestors(trace.stages, stage.name)} - {stage.name}
        written = r"(?<!−)\b0\.73\b|\b73 %" if is_weight else r"\b7\.31\b"
        yield stage.name, index, trace.with_change(stage.name, index, float(number)), above, written


@pytest.mark.slow
def test_hand_set_numbers_are_mentioned(node):
    """Every row of One word and the panel, whichever stage the number is of; and none that comes before it does."""
    seen = set()
    changed = {
        f"{kind}: {each[0]}": each
        for kind, unchanged in TO_SET.items()
        for each in with_each_number_set(unchanged, seen)
    }
    passes, n_said = {name: trace for name, (_, _, trace, *_) in changed.items()}, 0
    for name, _, own, band, text in filled_by_browser(node, passes, [SELECTED]):
        if not band:
            continue
        stage, index, trace, _, written = changed[name]
        slots = [slot for slot in (band.cells, band.left, band.right, band.leftover) if slot]
        shown_at = [
            indices_of(trace, slot, own) for slot in (slots[1:] if band.array else slots) if slot.stage == stage
        ]
        if any(index in each for each in shown_at) or re.search(written, text):
            assert "by hand" in text, (name, band.cells.stage, text)
            n_said += 1
    cells = {
        name: [[s.name, t.cell_at(s.name, SELECTED.within(t)).index] for s in t.stages] for name, t in passes.items()
    }
    asked = [(t, {"selection": vars(SELECTED.within(t)), "cells": cells[name]}) for name, t in passes.items()]
    found = json.loads(node(str(ROOT / "tests/js/answers.mjs"), "cells", text=given(asked)))
    for name, answers in zip(passes, found, strict=True):
        stage, _, _, above, written = changed[name]
        for (other, _), answer in zip(cells[name], answers, strict=True):
            story = answer["story"]
            if other in above:
                assert "by hand" not in story, (name, other, story)
            elif other == stage or re.search(written, story):
                assert "by hand" in story, (name, other, story)
                n_said += 1
    assert n_said > 300


def indices_of(trace, slot, selection):
    index = [[axis.place(selection)] for axis in trace.axes(slot.stage)]
    for axis in (slot.rows, slot.columns):
        if axis is not None:
            index[axis] = range(trace[slot.stage].shape[axis])
    return set(product(*index))


def leaves(tree):
    for child in tree["children"]:
        yield from [child] if isinstance(child, str) else leaves(child)


def test_formulas_name_the_selected_head(step_texts, called):
    found = set()
    for name, each in step_texts.items():
        for at, texts in each:
            for step, shown in texts.items():
                runs = chain(shown["heading"], shown["text"], *shown["notes"])
                found |= {*shown["formulas"], *(text for style, text in runs if style == "math")}
                if step.startswith("scores"):
                    number = step.removeprefix("scores-")
                    layer = f"^{{({number})}}" if number.isdigit() else ""
                    head = f"{at.head + 1}" if at.head < 9 else f"{{{at.head + 1}}}"
                    assert shown["formulas"][-1].split(" ")[0] == f"S{layer}_{head}", name
    assert not [latex for latex in found if re.search(r"_i(?![a-z])", latex)]
    for latex, tree in zip(sorted(found), called("latex", "parse", [[each] for each in sorted(found)]), strict=True):
        shown = list(leaves(tree))
        assert not set("".join(shown)) & set("\\{}_^"), latex
        assert not {*re.findall(r"\\([a-z]+)", latex)} - {"exp", "ln", "max", "cos", "sin", "tanh"} & {*shown}, latex
