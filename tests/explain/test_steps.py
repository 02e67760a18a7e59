"""Steps: which of them a pass has, what they show and what it is called; and what they say of models."""

import json
import re

import numpy as np
import pytest
from cases import of_each
from documents import with_verdict
from page import ROOT
from passes import TRACES
from sentences import steps_with_layers
from tab import resized
from test_sentences import STEP_PASSES

from attnviz import Settings, trace_of
from attnviz.core.changes import Change
from attnviz.core.limits import MAX_LAYERS
from attnviz.core.operations.softmax import SumNormalise
from attnviz.core.parameters import BLOCK_AXES, LATENT_AXES, PARAMETER_AXES
from attnviz.core.stage import split_layer
from attnviz.explain.step import sections_of
from attnviz.explain.steps import (
    AXES,
    BAND_TEXTS,
    ENTRIES,
    STEPS,
    entry,
    find,
    full_title,
    ids,
    nearest,
    steps_of,
    stories_of,
    symbol,
)
from attnviz.explain.texts import _AFTER
from attnviz.explain.wording import percent
from attnviz.models import MODELS
from attnviz.models.tasks.names import LONGEST

EVERYWHERE = of_each("trace", TRACES)
BLOCK = ("input-norm", "attn-norm", "mlp-norm", "neurons", "mlp", "mlp-residual")


def text_of(runs):
    """What runs say without their styles; of what follows the selection nothing."""
    return "".join(text for style, text in runs if style not in ("story", "verdict"))


def words_in(runs):
    return [text for style, text in runs if style == "word"]


BEFORE = ["question", "tokens", "positions", "input-norm", "attn-norm", "qkv", "scores", "scaling", "mask", "softmax"]
AFTER = ["weighted-sum", "concatenation", "output", "residual", *BLOCK[2:], "answer", "whole-pass"]
MISSING = json.loads((ROOT / "tests/data/missing_steps.json").read_text("utf-8"))


@of_each("name", [*MISSING])
def test_steps_match_stages(name):
    missing = {*MISSING[name]} | (set() if name == "a block" else {*BLOCK})
    assert [each.id for each in steps_of(TRACES[name])] == [each for each in BEFORE + AFTER if each not in missing]


def test_each_of_two_texts_enters_before_it_is_read():
    own = ["attn-norm", "qkv", "scores", "scaling", "softmax", "weighted-sum", "concatenation", "output", "residual"]
    first, second, third = ([f"{each}-{layer}" for each in own] for layer in (1, 2, 3))
    second.insert(4, "mask-2")
    entering = ["tokens", "positions", *first, "memory-1", "tokens-2", "positions-2", *second, *third]
    steps = steps_of(TRACES["a translator"])
    assert [step.id for step in steps] == ["question", *entering, "answer", "whole-pass"]
    assert [step.layer for step in steps] == [0, *[1] * 12, *[2] * 12, *[3] * 9, 0, 0]


@EVERYWHERE
def test_steps_follow_the_pass(trace):
    """No step shows what is computed from a stage of a later one."""
    steps = steps_of(trace)
    shown_at = {name: place for place, step in enumerate(steps) for name in (*step.stages, *step.explained)}
    for name, place in shown_at.items():
        assert all(shown_at.get(each, 0) <= place for each in trace[name].inputs), name


def test_hand_set_mask_has_a_step():
    trace = trace_of(Settings("the cat sat"))
    by_hand = trace.with_change("masked", (0, 0, 1), -np.inf)
    assert ["mask" in {step.id for step in steps_of(each)} for each in (trace, by_hand)] == [False, True]


def test_layer_steps_are_numbered():
    steps = steps_of(TRACES["two layers built by hand"])
    alone = ["qkv", "scores", "scaling", "mask", "softmax", "weighted-sum", "concatenation", "output"]
    layers = [*(f"{each}-1" for each in (*alone, "residual")), *(f"{each}-2" for each in alone)]
    assert [step.id for step in steps] == ["question", "tokens", "positions", *layers, "answer", "whole-pass"]
    assert all(step.layer == (int(step.id[-1]) if step.id in layers else 0) for step in steps)


@EVERYWHERE
def test_every_step_id_resolves(trace):
    there = [each.id for each in steps_of(trace)]
    found = nearest(trace)
    assert {each: found[each] for each in there} == {each: each for each in there}
    assert {*found.values()} == {*there}
    assert all(find(each) == each for each in ids(MAX_LAYERS) + ids(1))


def test_missing_step_leads_to_the_nearest():
    found = nearest(TRACES["plain"])
    assert [found[each] for each in ("scores-2", "mask-1", "answer")] == ["scores", "softmax", "whole-pass"]
    assert nearest(TRACES["two layers that learnt"])["scores"] == "scores-1"
    assert nearest(TRACES["two layers before training"])["mask-1"] == "softmax-1"
    assert nearest(TRACES["two layers built by hand"])["residual-2"] == "answer"
    assert [nearest(TRACES[each])["tokens-2"] for each in ("plain", "two layers that learnt")] == ["tokens", "tokens"]
    assert nearest(TRACES["two layers that learnt"])["memory-1"] == "qkv-2"
    found = nearest(TRACES["a translator"])
    assert [found[each] for each in ("tokens-3", "memory-2", "scores", "softmax")] == [
        "tokens",
        "attn-norm-3",
        "scores-1",
        "softmax-1",
    ]


@of_each("each", {step.id: step for step in STEPS})
def test_step_is_found_by_id_or_title(each):
    assert re.fullmatch("[a-z-]+", each.id)
    for text in (each.id, each.title, each.title.upper(), f" {each.title.lower()} "):
        assert find(text) == each.id
    assert find("") is find("nonsense") is None


def test_ids_titles_and_symbols_are_unique():
    for kind in ([step.id for step in STEPS], [step.title for step in STEPS]):
        assert len(set(kind)) == len(STEPS)
    for kind in ([each.symbol for each in ENTRIES.values()], [each.title for each in ENTRIES.values()]):
        assert len(set(kind)) == len(ENTRIES)
    for step in STEPS:
        names = [section.name for section in step.text] if isinstance(step.text, tuple) else []
        assert len(set(names)) == len(names)


@EVERYWHERE
def test_every_stage_is_explained_once(trace):
    """In a picture, or by a section that says in words what it is."""
    names = [name for step in steps_of(trace) for name in step.stages]
    for step, layer in steps_with_layers(trace):
        parts = [*sections_of(step.text, layer.trace), *sections_of(step.notes, layer.trace)]
        names += [layer.names[name] for part in parts for name in part.stages if name in layer.trace]
    computed = {stage.name for stage in trace.stages if stage.inputs}
    assert computed <= set(names) <= {stage.name for stage in trace.stages}
    assert len([name for name in names if name in computed]) == len({*names} & computed)


@EVERYWHERE
def test_step_texts_are_short(trace):
    """“Weights” alone is never said: there are parameters, and attention weights."""
    for step in steps_of(trace):
        text, why = text_of(with_verdict(trace, step.text)), text_of(step.why)
        assert len(step.notes) <= 1
        assert not re.search(r"(?<!attention )(?<!into )\bweights?\b", text + why, re.IGNORECASE), (step.id, text, why)
        assert len(re.findall(r"[.?!](?= [A-Z]|$)", text)) <= (4 if step.id == "question" else 3), text
        assert 0 < len(text) < 420, (len(text), text)
        assert why.endswith(".")
        assert why.count(". ") <= 1
        assert 40 <= len(why) <= 220, (step.id, why)


def test_every_section_occurs():
    said = set()
    for step, layer in (each for trace in STEP_PASSES.values() for each in steps_with_layers(trace)):
        for texts in (step.heading, step.why, step.text, step.notes):
            said |= {id(section) for section in sections_of(texts, layer.trace)}
    for step in STEPS:
        for texts in (step.heading, step.why, step.text, step.notes):
            assert isinstance(texts, str) or callable(texts) or all(id(each) in said for each in texts), step.id


def test_no_mask_note_names_the_scores():
    seen = set()
    for trace in TRACES.values():
        for step in (step for step in steps_of(trace) if step.id.startswith("softmax") and step.notes):
            masked = trace.layer_of(step.subject).names["masked"]
            (formula,) = (text for style, text in step.notes[0] if style == "math")
            assert formula == f"{entry(masked).symbol} = {entry(trace[masked].inputs[0]).symbol}"
            seen.add(split_layer(trace[masked].inputs[0])[0])
    assert seen == {"scaled", "capped", "biased"}


@EVERYWHERE
def test_bars_and_arcs_by_step(trace):
    steps = steps_of(trace)
    after = [any(split_layer(name)[0] == "attention" for name in step.stages) for step in steps]
    for nth, step in enumerate(steps):
        names = trace.layers[step.layer - 1].names
        is_summed = isinstance(trace[names["attention"]].operation, SumNormalise)
        expected = [(names["masked"], ""), (names["attention"], "#exp"), (names["attention"], "")]
        is_softmax = step.id.startswith("softmax") and not is_summed
        assert [(bar.stage, bar.array) for bar in step.bars] == expected * is_softmax
        if step.layer < 2:
            is_later = (
                any(after[: nth + 1]) and not step.id.startswith("blocks") and not step.id.startswith("absorbed-q")
            )
            assert step.arcs == (nth == 0 or is_later), step.id


@pytest.mark.parametrize("size", [(1024, 768), (1920, 1080), (3840, 2160)])
def test_why_is_readable_in_a_talk(opened, size):
    page = opened("?step=scores&view=sheet&present=1")
    resized(page, *size)
    why = page.locator(".step-text .why")
    assert "dot product" in why.inner_text()
    above, there = page.locator(".step-text h2").bounding_box(), why.bounding_box()
    assert above["y"] + above["height"] <= there["y"] + 1
    letters = why.evaluate("(line) => parseFloat(getComputedStyle(line).fontSize)")
    assert letters >= 0.015 * size[1]


OF_ENDS = ("w_u", "g_memory", "b_memory")
SYMBOLS = """embeddings E, positions P, x X, context_embeddings E^C, context_positions P^C, context C, w_q W^Q_i,
    w_k W^K_i, w_v W^V_i, w_o W^O, b_q b^Q_i, b_k b^K_i, b_v b^V_i, b_o b^O, q Q_i, k K_i, v V_i, scores S_i,
    scaled Z_i, mask M, masked Z^M_i, attention A_i, heads H_i, concat H, contributions O_i, output O, residual R,
    w_u W^U, logits L"""
"""As in Vaswani et al. 2017, and in the project's design."""


def test_symbols_are_those_of_the_paper():
    for name, written in (each.split() for each in SYMBOLS.split(",")):
        assert entry(name).symbol == written


def test_every_stage_has_an_entry():
    there = {split_layer(stage.name)[0] for trace in TRACES.values() for stage in trace.stages}
    assert there | {"b_q", "b_k", "b_v"} == set(ENTRIES)
    assert all(each.stories for each in ENTRIES.values())
    for step in STEPS:
        assert step.stories.keys() == step.entries.keys()
        assert all(entry(name).step == step.id for name in step.entries)


@pytest.mark.parametrize(
    ("name", "written"),
    [("scores_2", "S^{(2)}_i"), ("w_q_1", "W^{Q(1)}_i"), ("masked_12", "Z^{M(12)}_i"), ("w_o_2", "W^{O(2)}")],
)
def test_layer_number_is_in_the_symbol(name, written):
    own, layer = split_layer(name)
    assert (entry(name).symbol, entry(name).step) == (written, f"{entry(own).step}-{layer}")
    assert (entry(name).title, full_title(name)) == (entry(own).title, f"{entry(own).title} of layer {layer}")


@EVERYWHERE
def test_entry_fits_its_stage(trace):
    """What is projected to Q wears Q's colour, and so on; mixtures of V wear V's, and what W^O makes the output's."""
    assert {axis for stage in trace.stages for axis in stage.axes} <= set(AXES)
    for stage in trace.stages:
        own, (name, _), of = entry(stage.name), split_layer(stage.name), {split_layer(each)[0] for each in stage.inputs}
        if name != "mask":  # which may have heads or not
            assert symbol(stage).endswith("_i") == stage.is_headed
            assert symbol(stage).endswith("_g") == (stage.axes[0] == "group")
        assert (own.kind == "parameter") == (name in (*PARAMETER_AXES, *BLOCK_AXES, *LATENT_AXES, *OF_ENDS))
        assert own.kind == "computed" or not stage.inputs
        letter = name.partition("_")[2]
        if name in ("q", "k", "v", "q_absorbed") or re.fullmatch("[qk]_(normed|r|rotated)", name):
            assert own.role == name[0]
        elif own.kind == "parameter":
            assert own.role == ({"o": "output"}.get(letter, letter) if letter in (*"qkvo",) else "")
        else:
            is_mixture = name in ("heads", "running_output") or {"v", "heads"} & of
            assert own.role == ("output" if "w_o" in of else "v" if is_mixture else "")
        assert (own.scale == "flag") == (name == "mask")
        assert (own.scale == "share") == (name in ("attention", "sink_share", "probabilities"))
        if own.scale == "share" and name != "sink_share" and not (stage.value < 0).any():
            sums = stage.value.sum(axis=-1)
            assert (sums <= 1 + 1e-12).all() if "sinks" in of else np.allclose(sums, (sums > 0.5))


def test_words_wear_their_roles_colour():
    said = {"query": "q", "queries": "q", "key": "k", "keys": "k", "value": "v", "values": "v", "output": "output"}
    steps = [step for trace in TRACES.values() for step in steps_of(trace)]
    coloured = [run for step in steps for run in (*step.text, *step.why) if run[0] in said.values()]
    assert {"query", "key", "value", "output"} <= {word for _, word in coloured} <= said.keys()
    assert all(role == said[word] for role, word in coloured)


SHOWN = {
    f"{id_}, {label}, {'at the end' if checkpoint is None else 'before training'}": (id_, text, checkpoint)
    for id_, model in MODELS.items()
    for label, text in model.examples
    for checkpoint in ((0, None) if len(model.checkpoints(model.seeds[0])) > 1 else (None,))
}


@of_each("name", [*SHOWN])
def test_model_steps_ask_and_judge(name):
    id_, text, checkpoint = SHOWN[name]
    model = MODELS[id_].at(MODELS[id_].seeds[0], checkpoint)
    trace = model.trace(text)
    steps = {step.id: step for step in steps_of(trace)}
    assert text in text_of(steps["question"].heading)
    assert len(text_of(steps["question"].text)) < 470
    answers = [model.task.answers[place] for place in trace["probabilities"].value.argmax(axis=-1)]
    right = model.task.right(model.tokens(text))
    asked = [answer == expected for answer, expected in zip(answers, right, strict=False) if expected is not None]
    verdict = with_verdict(trace, steps["answer"].text)
    said = text_of(verdict)
    if trace.origin.is_open:
        assert words_in(verdict) == [answers[-1]]
        assert percent(trace["probabilities"].value[-1].max()) in said
    elif len(asked) == 1:
        named = [answers[place] for place, expected in enumerate(right) if expected is not None]
        named += [] if asked[0] else [expected for expected in right if expected is not None]
        assert words_in(verdict)[-len(named) :] == named
    else:
        assert f"{sum(asked)} of {len(asked)}" in said
    made = {
        section.name
        for step, layer in steps_with_layers(trace)
        if step.id in ("tokens", "positions")
        for section in sections_of(step.text, layer.trace)
    }
    made &= {"not learnt yet", "learnt", "built", "random", "drawn", "waves"}
    assert made == {"not learnt yet" if trace.origin.kind == "drawn" else trace.origin.kind}
    if "positions" in steps and trace.origin.kind == "learnt" and not trace.has_encoder:
        longest = LONGEST + 1 if trace.origin.is_open else model.task.batch(np.random.RandomState(0), 3).tokens.shape[1]
        assert longest == len(model.positions)
    assert trace.n_layers <= MAX_LAYERS


@pytest.mark.parametrize(
    ("name", "place", "right"),
    [
        ("a model", 4, "dog"),
        ("a model that is wrong", 4, "nobody"),
        ("a model asked at a word", 3, "dog"),
        ("two layers built by hand", 4, "dog"),
        ("two layers before training", 4, "dog"),
    ],
)
def test_answer_and_right_answer(name, place, right):
    """Its answer is set by hand: the logit of “dog”, the first of three, is 2 and those of the others 0."""
    trace = TRACES[name].with_changes(Change("logits", (place,), 0.0), Change("logits", (place, 0), 2.0))
    verdict = verdict_of(trace)
    token = [trace.axes("logits")[0].label(place)] if trace.origin.read != "last" else []
    assert trace.origin.right[place] == right
    assert words_in(verdict) == [*token, "dog", *([right] if right != "dog" else [])]
    assert "79\u00a0%" in text_of(verdict)  # e² / (e² + 2)


def verdict_of(trace):
    (step,) = (step for step in steps_of(trace) if step.id == "answer")
    return with_verdict(trace, step.text)


def test_tied_answers_give_none():
    tied = TRACES["a model"].with_change("logits", (4,), 0.0)
    assert "33\u00a0%" in text_of(verdict_of(tied))
    assert not words_in(verdict_of(tied))
    nearly, apart = (tied.with_change("logits", (4, 0), logit) for logit in (1e-12, 1e-6))
    assert verdict_of(nearly) == verdict_of(tied), "apart by rounding alone"
    assert words_in(verdict_of(apart)) == ["dog"]


def test_right_answers_are_counted():
    right = TRACES["two layers that learnt"].with_changes(Change("logits", (3, 0), 1e3), Change("logits", (4, 1), 1e3))
    ties = TRACES["two layers that learnt"].with_changes(Change("logits", (3, 0), 1e3), Change("logits", (4,), 0.0))
    for trace, n in ((right, 2), (right.with_change("logits", (4, 2), 1e4), 1), (ties, 1)):
        assert f"{n} of 2" in text_of(verdict_of(trace))
    assert not re.search(r"\d", text_of(verdict_of(TRACES["a model asked nothing it knows"])))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, ["the cat sat, sat!", "{query}"]),
        ({"sentence": "the {query} *`"}, ["the { query } * `", "{query}"]),
        ({"sentence": "a " * 17}, ["a " * 16 + "…", "{query}"]),
        ({"sentence": "alone"}, ["{query}"]),
        ({"context": "der Hund der"}, ["{query}", "der Hund der"]),
    ],
)
def test_heading_quotes_the_sentence(settings, words):
    """And the word that is selected, in a run that follows the selection."""
    heading = steps_of(trace_of(Settings(**{"sentence": "the cat sat, sat!"} | settings)))[0].heading
    found = [
        said if style == "word" else said["stories"][0][1] for style, said in heading if style in ("word", "story")
    ]
    assert found == words
    assert text_of(heading).endswith("?")


def looks(trace, number):
    """For each query the key that it looks at most in a layer."""
    return trace[f"attention_{number}"].value.mean(axis=0).argmax(axis=-1).tolist()


@pytest.mark.parametrize("id_", ["recall", "by-hand"])
def test_induction_heads_look_back_and_find(id_):
    choice = MODELS[id_]
    kind_of = {word: kind for kind, of in choice.words_by_kind.items() for word in of}
    for _, text in choice.examples[: 2 if id_ == "by-hand" else None]:
        for seed in choice.seeds:
            trace = choice.at(seed, None).trace(text)
            words = [label.split()[0] for label in trace.labels["query"]]
            kinds = [kind_of[word] for word in words]
            followers = [n for n in range(1, len(words)) if id_ == "by-hand" or kinds[n] != kinds[n - 1] == kinds[-1]]
            assert all(looks(trace, 1)[n] == n - 1 for n in followers), text
            where = looks(trace, 2)[-1]
            assert words[looks(trace, 1)[where]] == words[-1], text


def test_mirror_looks_across():
    choice = MODELS["mirror"]
    for seed in choice.seeds:
        for _, text in choice.examples:
            trace = choice.at(seed, None).trace(text)
            n = trace["attention"].shape[-1]
            assert trace["attention"].value.mean(axis=0).argmax(axis=-1).tolist() == [*range(n)][::-1], text


def test_a_number_of_the_reading_layer_is_told_of_the_word_that_comes_next():
    """What the row of a word reads makes the word after it: "chat" itself reads nothing."""
    trace = TRACES["a translator"]
    names = ("scores_3", "scaled_3", "masked_3", "attention_3", "heads_3", "scores_2", "attention_1")
    told = {name: [story.text for story in stories_of(trace, name)] for name in names}
    asks = re.compile(r"(?<!of )“\{query\}” (?:gives|scores|sees|collects)|of “\{query\}” with|hidden from “\{query\}”")
    for name, texts in told.items():
        assert texts
        assert bool([text for text in texts if asks.search(text)]) == (not name.endswith("_3")), (name, texts)
    (panel,) = [text for text in told["attention_3"] if "Before scaling" in text]
    assert panel.startswith("After “{query}”, “{key}” gets")


def test_every_phrase_that_is_worded_anew_stands_in_some_text():
    """A text that is written otherwise would keep its words where a decoder reads."""
    told = [story.text for step in STEPS for stories in step.stories.values() for story in stories]
    told += [text for band, stories in BAND_TEXTS.values() for text in (band, *(story.text for story in stories))]
    assert [phrase for phrase in _AFTER if not any(phrase in text for text in told)] == []
