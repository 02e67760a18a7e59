"""Texts of steps: which steps a trace has, that no stage is left unexplained, and that what they say holds."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from cases import of_each
from documents import with_verdict
from passes import TRACES as PASSES

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core.attention import attend_projected
from attnviz.core.changes import Change
from attnviz.core.limits import MAX_LAYERS
from attnviz.core.masks import MASKS, REASONS
from attnviz.core.operations.activations import ReLU
from attnviz.core.operations.scores import ALiBi, Scale, Softcap, slopes
from attnviz.core.operations.softmax import SumNormalise
from attnviz.core.parameters import BLOCK_AXES, LATENT_AXES, PARAMETER_AXES
from attnviz.core.stage import Stage
from attnviz.explain.markup import runs
from attnviz.explain.pictures import pictures
from attnviz.explain.step import Entry
from attnviz.explain.steps import ENTRIES, LAYER, STEPS, entry, find, ids, nearest, steps_of, stories_of
from attnviz.explain.steps.mask import masks

NAMES = PARAMETER_AXES | BLOCK_AXES | LATENT_AXES
BLOCK = ("input-norm", "attn-norm", "mlp-norm", "neurons", "mlp", "mlp-residual")
IDS = [step.id for step in STEPS]
OWN = {
    "positions": trace_of(Settings("the cat sat", positions="sinusoidal")),
    "half scale": attend(np.eye(3), parameters=Parameters(), scale=0.5),
    "masked by hand": trace_of(Settings("the cat sat")).with_change("masked", (0, 0, 1), -math.inf),
    "attention by hand": trace_of(Settings("the cat sat")).with_change("attention", (0, 0, 1), 5.0),
    "a hidden share by hand": trace_of(Settings("the cat sat", mask="causal")).with_change(
        "attention", (0, 0, 2), 0.25
    ),
    "the only share by hand": PASSES["all hidden"].with_change("attention", (0, 1, 2), 1.0),
    "sums by hand": PASSES["negative"].with_change("attention", (0, 0, 1), 5.0),
    "output by hand": trace_of(Settings("the cat sat")).with_change("output", (0, 0), 1.0),
}
TRACES = PASSES | OWN
EVERYWHERE = of_each("trace", TRACES)
OF_ONE_LAYER = {name: trace for name, trace in TRACES.items() if trace.n_layers == 1}
IN_ONE_LAYER = of_each("trace", OF_ONE_LAYER)


def step(trace, id_):
    return next(step for step in steps_of(trace) if step.id == id_)


def plain(said):
    """What runs say without their styles; of what follows the selection the first story."""
    return "".join(text if style != "story" else text["stories"][0][1] for style, text in said)


def text(trace, id_):
    return plain(with_verdict(trace, step(trace, id_).text))


def heading(trace, id_):
    return plain(step(trace, id_).heading)


def explained(trace):
    """The stages that the steps of a trace show, or explain in words, with how often."""
    parts = [part for each in steps_of(trace) for part in (each, *each.sections, *each.notes)]
    return [name for part in parts for name in part.stages]


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("plain", ["positions", "mask", "residual", "answer"]),
        ("positions", ["mask", "residual", "answer"]),
        ("window 0", ["positions", "residual", "answer"]),
        ("context", ["mask", "residual", "answer"]),
        ("masked by hand", ["positions", "residual", "answer"]),
        ("001 without", ["tokens", "positions", "mask", "output", "residual", "answer"]),
        ("001 with", ["tokens", "positions", "output", "residual", "answer"]),
        ("002 softmax", ["positions", "mask", "output", "residual", "answer"]),
        ("003 steps", ["positions", "mask", "residual", "answer"]),
        ("residual", ["positions", "mask", "answer"]),
        ("a model that is wrong", []),
        ("a block", []),
    ],
)
def test_a_trace_has_the_steps_of_its_stages(name, missing):
    before = ["question", "tokens", "positions", "input-norm", "attn-norm", "qkv", "scores", "scaling", "mask"]
    after = ["softmax", "weighted-sum", "concatenation", "output", "residual", *BLOCK[2:], "answer", "whole-pass"]
    missing = {*missing, *(() if name == "a block" else BLOCK)}
    assert [each.id for each in steps_of(TRACES[name])] == [each for each in before + after if each not in missing]


def test_the_steps_of_a_layer_come_once_for_each_with_its_number():
    steps = steps_of(TRACES["two layers built by hand"])
    alone = ["qkv", "scores", "scaling", "mask", "softmax", "weighted-sum", "concatenation", "output"]
    layers = [*(f"{each}-1" for each in (*alone, "residual")), *(f"{each}-2" for each in alone)]
    assert [step.id for step in steps] == ["question", "tokens", "positions", *layers, "answer", "whole-pass"]
    assert all(step.layer == (int(step.id[-1]) if step.id in layers else 0) for step in steps)


@pytest.mark.parametrize("name", [name for name, t in TRACES.items() if t.n_layers > 1 and not t.origin.layers])
def test_a_layer_is_spoken_of_as_a_pass_of_that_layer_alone(name):
    """All that its steps say and show, but for the number of the layer in symbols, and what enters it."""
    trace = TRACES[name]
    for layer in trace.layers:
        given = {stage.name: stage.value for stage in layer.trace.stages if stage.is_given}
        alone = attend(
            layer.trace["x"].value,
            parameters=Parameters(**{name: given[name] for name in NAMES if name in given}),
            mask=given["mask"],
            **options_of(layer.trace),
            absorbed="q_absorbed" in layer.trace,
            residual="residual" in layer.trace,
            norm=layer.trace["attn_norm"].operation if "attn_norm" in layer.trace else None,
            activation=layer.trace["active"].operation if "active" in layer.trace else ReLU(),
        )
        found = [each for each in steps_of(trace) if each.layer == layer.number]
        expected = [each for each in steps_of(alone) if each.id in {step.id for step in LAYER}]
        entered = entry(layer.names["x"]).symbol
        for one, other in zip(found, expected, strict=True):
            said = [plain(each).replace(entered, "X") for each in said_in(one)]
            unnumbered = [
                re.sub(rf"\^{{(\w*)\({layer.number}\)}}", lambda m: m[1] and f"^{m[1]}", each) for each in said
            ]
            assert unnumbered == [plain(each) for each in said_in(other)]
            assert one.stages == tuple(layer.names[name] for name in other.stages)
            assert one.bars == tuple(replace(bars, stage=layer.names[bars.stage]) for bars in other.bars)


def options_of(trace):
    """What `attend` is given to make a layer of today, as the operations of one have it."""
    options = {
        "scale": ("scaled", "factor"),
        "softcap": ("capped", "limit"),
        "block_size": ("running_max", "block_size"),
    }
    found = {option: getattr(trace[name].operation, of) for option, (name, of) in options.items() if name in trace}
    rotation = trace["q_rotated"].operation if "q_rotated" in trace else None
    return found | {"alibi": "biased" in trace, "qk_norm": "q_normed" in trace, "rotation": rotation}


def said_in(step):
    """All but which kinds of masks there are, which isn't said where layers differ in theirs, and what is then said."""
    sections = tuple(each for each in step.sections if each.name not in ("kinds", "by layer"))
    return (step.heading, replace(step, sections=sections).text, *(note.text for note in step.notes))


def test_where_masks_differ_by_layer_each_says_how_many_keys_it_sees():
    said = {}
    for name in ("drawn layers", "all options set, in layers", "two layers before training"):
        for step in steps_of(TRACES[name]):
            if found := [plain(each.text) for each in step.sections if each.name == "by layer"]:
                said[name, step.id] = found[0]
    tail = " (a layer without the window of others is global)."
    assert said == {
        ("drawn layers", "mask-1"): "Masks differ by layer: here the last word sees 2 keys, and 4 in layer 2" + tail,
        ("drawn layers", "mask-3"): "Masks differ by layer: here the last word sees 2 keys, and 4 in layer 2" + tail,
        ("all options set, in layers", "mask-1"): "Masks differ by layer: here the last word sees 2 keys, and 6 in "
        "layer 2" + tail,
        ("all options set, in layers", "mask-2"): "Masks differ by layer: here the last word sees 6 keys, and 2 in "
        "layer 1" + tail,
    }


def test_what_is_told_before_and_after_the_layers_is_told_of_the_last():
    steps = {each.id: each for each in steps_of(TRACES["two layers that learnt"])}
    told = [run for each in ("question", "whole-pass") for run in steps[each].text if run[0] == "story"]
    assert [said["of"] for _, said in told] == ["attention_2", "probabilities"]
    assert told[0][1]["stories"][0][1].startswith(
        "In {head} of the last layer, “{query}” took most from {attention_2:best}"
    )
    assert steps["question"].subject == "attention_2"


@EVERYWHERE
def test_each_step_there_may_be_leads_to_one_that_there_is(trace):
    there = [each.id for each in steps_of(trace)]
    found = nearest(trace)
    assert {each: found[each] for each in there} == {each: each for each in there}
    assert {*found.values()} == {*there}
    assert all(find(each) == each for each in ids(MAX_LAYERS) + ids(1))


@pytest.mark.parametrize(
    ("name", "wanted", "shown"),
    [
        ("plain", "scores-2", "scores"),
        ("plain", "mask-1", "softmax"),
        ("plain", "answer", "whole-pass"),
        ("two layers that learnt", "scores", "scores-1"),
        ("two layers before training", "mask-1", "softmax-1"),
        ("two layers built by hand", "residual-2", "answer"),
    ],
)
def test_a_step_that_a_pass_lacks_leads_to_the_same_of_a_layer_or_to_the_next(name, wanted, shown):
    assert nearest(TRACES[name])[wanted] == shown


@EVERYWHERE
def test_no_stage_that_is_computed_goes_unexplained_or_is_explained_twice(trace):
    names = explained(trace)
    assert len(names) == len(set(names))
    assert {stage.name for stage in trace.stages if stage.inputs} <= set(names)
    assert set(names) <= {stage.name for stage in trace.stages}


def test_a_stage_that_no_step_knows_is_noticed(monkeypatch):
    trace = TRACES["plain"]
    unknown = replace(trace["scaled"], name="halved", inputs=("scaled",))
    monkeypatch.setitem(ENTRIES, "halved", Entry("Z^H_i", "Halved scores", "the scaled scores, halved"))
    trace = replace(trace, stages=(*trace.stages[:-1], unknown, trace.stages[-1]))
    assert {stage.name for stage in trace.stages if stage.inputs} - set(explained(trace)) == {"halved"}


@EVERYWHERE
def test_a_symbol_in_a_note_is_of_a_stage_that_the_trace_has(trace):
    for each in steps_of(trace):
        assert len(each.notes) <= 1
        for note in each.notes:
            assert "Z^M" not in plain(note.text) or np.array_equal(
                trace["masked"].value, trace.inputs("masked")[0].value
            )


def test_the_text_names_the_scores_that_the_mask_is_laid_on_whatever_they_are(monkeypatch):
    """An operation between the scaled and the masked scores, such as a half, makes the scores before the mask."""
    monkeypatch.setitem(ENTRIES, "halved", Entry("Z^H_i", "Halved scores", "the scaled scores, halved"))
    unmasked = TRACES["plain"]
    halved = Stage.computed("halved", Scale(1, 0.5), [unmasked["scaled"]])
    masked = Stage.computed("masked", unmasked["masked"].operation, [halved, unmasked["mask"]])
    stages = {stage.name: [stage] for stage in unmasked.stages} | {"masked": [halved, masked]}
    trace = replace(unmasked, stages=tuple(stage for each in stages.values() for stage in each))
    notes = {trace: step(trace, "softmax").notes[0].text for trace in (unmasked, trace)}
    said = "No mask hides anything here, so the masked scores are the"
    assert notes[unmasked] == runs(f"{said} scaled scores: $Z^M_i = Z_i$.")
    assert notes[trace] == runs(f"{said} halved scores: $Z^M_i = Z^H_i$.")
    assert "mask" not in [each.id for each in steps_of(trace)]
    assert "scaled" not in ENTRIES["masked"].meaning


@EVERYWHERE
def test_a_step_of_a_trace_has_one_heading_and_a_short_text(trace):
    for each in steps_of(trace):
        assert len(each.headings) == 1
        said = plain(with_verdict(trace, each.text))
        assert not re.search(r"\bweights?\b", said, re.IGNORECASE)
        assert 2 <= len(re.findall(r"[.?!](?= [A-Z]|$)", said)) <= 3, said
        assert len(said) < 400, said


def test_each_layer_of_a_model_says_what_it_is_for():
    trace = TRACES["two layers with a purpose each"]
    said = {each.id: plain(each.text) for each in steps_of(trace)}
    assert [said[f"softmax-{n}"].startswith(f"{trace.origin.layers[n - 1]} Each row goes") for n in (1, 2)] == [
        True
    ] * 2


def test_every_section_is_said_of_some_trace_and_names_are_unique():
    said = {
        (each.id.removesuffix(f"-{each.layer}"), part.name)
        for t in TRACES.values()
        for each in steps_of(t)
        for part in (*each.sections, *each.notes)
    }
    assert said == {(each.id, part.name) for each in STEPS for part in (*each.sections, *each.notes)}
    for each in STEPS:
        assert len({part.name for part in each.sections}) == len(each.sections)
        assert not any(part.stages and part in each.sections for part in each.notes)


@pytest.mark.parametrize("each", STEPS, ids=IDS)
def test_a_step_is_found_by_its_id_and_its_title_in_any_case(each):
    assert re.fullmatch("[a-z-]+", each.id)
    for text in (each.id, each.title, each.title.upper(), f" {each.title.lower()} "):
        assert find(text) == each.id
    assert find("") is find("nonsense") is None


def test_ids_and_titles_tell_steps_apart():
    assert len({*IDS}) == len({each.title for each in STEPS}) == len(STEPS)


LN_2, LN_3 = math.log(2), math.log(3)


@IN_ONE_LAYER
def test_what_depends_on_the_trace_is_said_where_it_holds(trace):
    factor = trace["scaled"].operation.factor
    assert ("switched off" in heading(trace, "scaling")) == (factor == 1)
    assert ("would keep" in text(trace, "scaling")) == (factor is not None)
    assert ("multiplied by a number" in text(trace, "scaling")) == (factor not in (None, 1, LN_2, LN_3))
    for base, logarithm in ((2, LN_2), (3, LN_3)):
        assert (f"makes powers of {base}" in text(trace, "scaling")) == (factor == logarithm)
    summed = isinstance(trace["attention"].operation, SumNormalise)
    assert ("not softmax" in heading(trace, "softmax")) == summed
    by_hand = bool(trace["attention"].overridden)
    assert ("No share is negative" in text(trace, "softmax")) == (not summed and not by_hand and "sinks" not in trace)
    assert ("each row sums to at most 1" in text(trace, "softmax")) == ("sinks" in trace)
    assert ("rows do add up to 1" in text(trace, "softmax")) == (summed and not by_hand)
    assert ("need not add up to 1" in text(trace, "softmax")) == by_hand
    matrices = [name for name in ("w_q", "w_uq", "w_k", "w_v") if name in trace]
    assert ("no matrices" in text(trace, "qkv")) == (not matrices)
    assert ("Only some of" in text(trace, "qkv")) == (len(matrices) in (1, 2) and "w_dkv" not in trace)
    assert ("each latent into a key" in text(trace, "qkv")) == ("w_uk" in trace["k"].inputs if "k" in trace else False)
    assert ("no key and no value is made" in text(trace, "qkv")) == ("k" not in trace)
    assert ("other sentence" in text(trace, "qkv")) == ("context" in trace and len(matrices) == 3)
    assert ("Each head has matrices of its own" in text(trace, "qkv")) == (
        len(matrices) == 3 and len(trace["q"].value) > 1 and "group" not in trace["k"].axes
    )
    n_heads = len(trace["q"].value)
    assert (f"Each of the {n_heads} heads has queries of its own" in text(trace, "qkv")) == (
        "k" in trace and "group" in trace["k"].axes
    )
    assert ("bias" in text(trace, "qkv")) == any(f"b_{each}" in trace for each in "qkv")
    if masks(trace):
        assert ("1 means visible, 0 hidden" in text(trace, "mask")) == (trace["mask"].value.dtype == bool)
        assert ("is added" in text(trace, "mask")) == (trace["mask"].value.dtype != bool)
    if "output" in trace:
        assert ("bias" in text(trace, "output")) == ("b_o" in trace)
    for kind, said in (("drawn", "random"), ("given", "were given"), ("learnt", "made for"), ("built", "made for")):
        assert trace.origin.kind != kind or said in text(trace, "question")


MADE = {
    "drawn": (r"\bstill random\b|\b[Bb]efore any training\b|Training changes", r"learnt in|by hand|trained to"),
    "learnt": (r"\blearnt in training\b|\btrained to\b", r"random|by hand|Training changes|sines"),
    "built": (r"\bby hand\b|\bbuilt to\b|cosines and sines", r"random|trained|learnt|Training changes"),
}


@pytest.mark.parametrize("name", [name for name, trace in TRACES.items() if trace.origin.title])
def test_where_the_parameters_of_a_model_are_from_is_said_of_each_and_of_no_other(name):
    trace = TRACES[name]
    so, not_so = MADE[trace.origin.kind]
    for each in ("question", "tokens", "positions", "answer"):
        said = text(trace, each) if each in {step.id for step in steps_of(trace)} else ""
        assert not re.search(not_so, said), said
        if said and each != "question" and (each != "answer" or any(trace.origin.right)):
            assert re.search(so, said), said
    task = trace.origin.task in text(trace, "question")
    assert task == (trace.origin.kind != "drawn")
    asked = "In “who saw the dog the”, who was seen?"
    unknown = "What does the model answer to “who saw the dog the”?"  # to a text that it was not made for
    assert heading(trace, "question") == (asked if any(trace.origin.right) else unknown)
    stories = [story for stage in ("embeddings", "x") for story in stories_of(trace, stage)]
    assert not any(re.search(not_so, story.text) for story in stories if story.when != "set")


@pytest.mark.parametrize(
    ("name", "answer", "right", "said"),
    [
        ("a model", 4, "dog", r"trained to answer at the last token: “dog” with \d+ %, which is right\."),
        ("a model that is wrong", 4, "nobody", r"at the last token: “\w+” with \d+ %, but “nobody” is right\."),
        ("a model asked at a word", 3, "dog", r"trained to answer at “dog”: “dog” with \d+ %, which is right\."),
        ("two layers built by hand", 4, "dog", r"built to answer at “the \(2\)”: “dog” with "),
        (
            "two layers before training",
            4,
            "dog",
            r"Before any training this model answers at “the \(2\)”: “dog” with \d+ %, a lucky guess\.",
        ),
    ],
)
def test_what_a_model_answers_and_whether_it_is_right(name, answer, right, said):
    """Its answer is set by hand: the logit of “dog”, the first of three, is 2 and those of the others 0."""
    trace = TRACES[name].with_changes(Change("logits", (answer,), 0.0), Change("logits", (answer, 0), 2.0))
    assert trace.origin.right[answer] == right
    assert re.search(said.replace(" %", "\u00a0%"), text(trace, "answer"))
    assert "“dog” with 79\u00a0%" in text(trace, "answer")  # e² / (e² + 2)


def test_of_answers_that_tie_none_is_given():
    tied = TRACES["a model"].with_change("logits", (4,), 0.0)
    assert text(tied, "answer").endswith(
        "at the last token: 3 answers are equally probable, 33\u00a0% each, so the model gives none."
    )
    nearly = tied.with_change("logits", (4, 0), 1e-12)  # apart by rounding alone
    assert text(nearly, "answer") == text(tied, "answer")
    apart = tied.with_change("logits", (4, 0), 1e-6)
    assert "“dog” with 33\u00a0%" in text(apart, "answer")
    one_ties = TRACES["two layers that learnt"].with_changes(Change("logits", (3, 0), 1e3), Change("logits", (4,), 0.0))
    assert "at each token; 1 of 2 answers are right." in text(one_ties, "answer")


def test_right_answers_are_counted_and_unknown_ones_are_said_to_be():
    right = TRACES["two layers that learnt"].with_changes(Change("logits", (3, 0), 1e3), Change("logits", (4, 1), 1e3))
    assert "at each token; 2 of 2 answers are right." in text(right, "answer")
    wrong = right.with_change("logits", (4, 2), 1e4)
    assert "at each token; 1 of 2 answers are right." in text(wrong, "answer")
    assert "The model was not made for such a text" in text(TRACES["a model asked nothing it knows"], "answer")
    assert text(TRACES["one answer"], "answer").endswith("of each row of logits.")


@EVERYWHERE
def test_the_input_is_shown_once_before_it_is_projected(trace):
    steps = {each.id: each.stages for each in steps_of(trace)}
    before = [*steps.get("tokens", ()), *steps.get("positions", ())]
    entered = "embedded" if "embedded" in trace else "x"
    for prefix, summed in (("", entered), ("context_", "context")):
        words, places = (f"{prefix}{each}" in trace for each in ("embeddings", "positions"))
        assert before.count(f"{prefix}embeddings") == words
        assert before.count(summed) == (summed in trace and (places or not words))
    bare = "embeddings" in trace and "positions" not in trace
    if bare:
        assert np.array_equal(trace[entered].value, trace["embeddings"].value)
    assert (" = E." in text(trace, "tokens") if "tokens" in steps else False) == bare


@IN_ONE_LAYER
def test_shares_are_as_the_text_says(trace):
    said, attention = text(trace, "softmax"), trace["attention"].value
    if "No share is negative" in said:
        assert (attention >= 0).all()
    if "each row sums to 1" in said or "do add up to 1" in said:
        assert np.allclose(attention.sum(axis=-1), np.isfinite(trace["masked"].value).any(axis=-1))


@IN_ONE_LAYER
def test_formulas_in_the_text_hold(trace):
    if "positions" in trace:
        summed, symbol = ("embedded", "E^P") if "embedded" in trace else ("x", "X")
        assert f"{symbol} = E + P." in text(trace, "positions")
        assert np.allclose(trace[summed].value, trace["embeddings"].value + trace["positions"].value)
    if "output" in trace:
        assert ("adding up what comes out" in text(trace, "output")) == (len(trace["heads"].value) > 1)
        bias = trace["b_o"].value if "b_o" in trace else 0
        adds_up = np.allclose(trace["contributions"].value.sum(axis=0) + bias, trace["output"].value)
        assert bool(step(trace, "output").notes) != adds_up


@EVERYWHERE
def test_the_numbers_of_the_pass_are_counted(trace):
    said = text(trace, "whole-pass")
    counts = [int(each.replace(",", "")) for each in re.findall(r"\d[\d,]*(?= numbers in all)", said)]
    assert counts == [sum(stage.value.size for stage in trace.stages)]


@pytest.mark.parametrize("name", ["plain", "residual", "a model", "two layers built by hand"])
def test_parameters_are_counted_in_matrices_where_embeddings_are_parameters_too(name):
    trace = TRACES[name]
    count = sum(stage.value.size for stage in trace.stages if entry(stage.name).kind == "parameter")
    matrices = "in matrices of " if trace.origin.title else ""
    assert f" {count} of them {matrices}parameters." in text(trace, "whole-pass")


@IN_ONE_LAYER
def test_bars_are_the_rows_of_a_softmax(trace):
    bars = [(each.stage, each.array) for each in step(trace, "softmax").bars]
    summed = isinstance(trace["attention"].operation, SumNormalise)
    assert bars == ([] if summed else [("masked", ""), ("attention", "#exp"), ("attention", "")])
    assert not any(each.bars for each in steps_of(trace) if each.id != "softmax")


@EVERYWHERE
def test_arcs_are_shown_first_and_from_the_attention_on(trace):
    titles = ["Softmax", "Weighted sum", "Concatenation", "Output", "Residual", "Answer", "Whole pass"]
    titles += ["Absorbed values", "MLP norm", "Neurons", "MLP", "MLP residual"]
    assert [each.title for each in steps_of(trace) if each.arcs] == [
        each.title for each in steps_of(trace) if each.title in ("Start", *titles)
    ]


@IN_ONE_LAYER
def test_rows_and_columns_are_as_the_text_says(trace):
    assert "Queries are rows and keys are columns" in text(trace, "scores")
    for name in ("scores", "scaled", "masked", "attention"):
        for picture in pictures(trace, (name,)):
            (result,) = (slot for slot in picture.matrices if slot.result)
            assert [trace[name].axes[axis] for axis in (result.rows, result.columns)] == ["query", "key"]


def test_the_softmax_is_computed_as_the_text_says():
    trace = PASSES["causal"]
    assert (
        "subtract its largest score (so that \\exp cannot overflow), exponentiate, and divide by the row's sum"
        in text(trace, "softmax")
    )
    scores = trace["masked"].value
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    assert np.allclose(trace["attention"].value, exponentials / exponentials.sum(axis=-1, keepdims=True))


@IN_ONE_LAYER
def test_what_is_hidden_has_the_share_that_the_text_says(trace):
    if "mask" in (each.id for each in steps_of(trace)) and not trace["attention"].overridden:
        assert "its share of the attention will be exactly 0" in text(trace, "mask")
        assert not trace["attention"].value[np.isneginf(trace["masked"].value)].any()


@IN_ONE_LAYER
def test_values_are_mixed_by_the_shares_and_heads_stand_side_by_side_as_the_text_says(trace):
    mixed = "values" if "v" in trace else "latents"
    assert f"a mixture of the {mixed} of all keys, each by its share of the attention" in text(trace, "weighted-sum")
    n_heads = len(trace["heads"].value)
    assert ("written side by side, head 1 first" in text(trace, "concatenation")) == (n_heads > 1)
    assert ("There is one head, so its result is passed on as it is" in text(trace, "concatenation")) == (n_heads == 1)
    if not trace["heads"].overridden:
        if "v" in trace:
            values = np.repeat(trace["v"].value, n_heads // len(trace["v"]), axis=0)
        else:
            latents = np.repeat(trace["latent"].value, n_heads // len(trace["latent"]), axis=0)
            values = latents @ trace["w_uv"].value
        assert np.allclose(trace["attention"].value @ values, trace["heads"].value)
    assert np.array_equal(np.hstack(trace["heads"].value), trace["concat"].value)


def test_waves_are_longer_from_place_to_place_as_the_text_says():
    trace = trace_of(Settings("word " * 40, positions="sinusoidal"))
    assert "sines and cosines, the later ones of longer waves" in text(trace, "positions")
    sines = trace["positions"].value[:, ::2]
    speeds = np.abs(np.diff(sines, axis=0)).max(axis=0)
    assert (np.diff(speeds) < 0).all()


def test_the_first_step_says_what_an_arc_is():
    assert "the thicker an arc, the more attention" in text(TRACES["plain"], "question")


@EVERYWHERE
def test_the_rows_and_numbers_that_came_out_are_counted(trace):
    came_out = re.search(r"(\d+) rows? of (\d+) numbers? came out", text(trace, "whole-pass"))
    assert tuple(map(int, came_out.groups())) == trace.output.shape


@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_the_reason_of_a_mask_says_which_keys_it_hides(size):
    """The words of each reason, spelt out as a rule of its own; `size` is the number in the words."""
    rules = {
        "nothing is hidden": lambda query, key, n: False,
        "no query sees a later key": lambda query, key, n: key > query,
        f"the last {size} keys are fillers": lambda query, key, n: key in range(n)[n - size if size < n else 0 :],
        f"a query sees no key more than {size} places away": lambda query, key, n: abs(query - key) > size,
        f"a query sees {size} keys, itself and those right before it": lambda query, key, n: (
            key not in range(query - size + 1, query + 1)
        ),
    }
    assert MASKS.keys() == REASONS.keys()
    for name, make in MASKS.items():
        hides = rules.pop(REASONS[name].format(size=size))
        for query, key in np.ndindex(3, 4):
            assert make(3, 4, size)[query, key] == (not hides(query, key, 4)), name
    assert not rules


def test_what_the_mask_step_says_of_each_mask_is_what_it_hides():
    """The words of each claim, spelt out as a rule of its own, of a query, a key, their number and a size."""
    rules = {
        "hides later words": lambda query, key, n, size: key > query,
        "hides fillers at the end": lambda query, key, n, size: key >= n - size,
        "hides words far away": lambda query, key, n, size: abs(query - key) > size,
        "hides both, later and far ones": lambda query, key, n, size: key > query or query - key >= size,
    }
    claims = dict(
        re.findall(r"(?:an?|A) ([\w ]+?)(?: mask)? (hides (?:both, )?[\w ]+?)(?=[,;.])", text(TRACES["causal"], "mask"))
    )
    assert claims.keys() == MASKS.keys() - {"none"}
    for name, claim in claims.items():
        for query, key in np.ndindex(5, 5):
            assert MASKS[name](5, 5, 2)[query, key] == (not rules[claim](query, key, 5, 2)), name


@pytest.mark.parametrize("scale", [None, 1.0, 0.5])
def test_the_spread_of_scores_grows_with_d_k_where_the_text_says_so(scale):
    draw = np.random.default_rng(3)
    few, many = (attend_projected(*draw.standard_normal((3, 1, 64, d_k)), scale=scale) for d_k in (4, 256))
    said = text(many, "scaling")
    assert "the wider the scores spread, by about \\sqrt{d_k}" in said
    assert many["scores"].value.std() / few["scores"].value.std() == pytest.approx(math.sqrt(256 / 4), rel=0.1)
    kept = many["scaled"].value.std() / few["scaled"].value.std() == pytest.approx(1, rel=0.1)
    assert ("Dividing by \\sqrt{d_k} keeps the spread from growing" in said) == kept
    assert ("ividing by \\sqrt{d_k} would keep the spread from growing" in said) == (not kept)


def test_a_head_with_a_steep_slope_looks_where_the_text_says():
    said = text(trace_of(Settings("a b c d e f", n_heads=4, alibi=True)), "alibi")
    which, where = re.search(r"a head with a (steep|flat) one looks (nearby|far away)", said).groups()
    even = attend_projected(np.zeros((4, 6, 2)), np.zeros((4, 6, 2)), np.zeros((4, 6, 2)))["scaled"].value
    apart = np.abs(np.subtract.outer(range(6), range(6)))
    shares = np.exp(ALiBi(4).compute(even))
    looks = (shares / shares.sum(axis=-1, keepdims=True) * apart).sum(axis=-1).mean(axis=-1)
    steepest, flattest = np.argmax(slopes(4)), np.argmin(slopes(4))
    one, other = (steepest, flattest) if which == "steep" else (flattest, steepest)
    assert (looks[one] < looks[other]) == (where == "nearby")


@pytest.mark.parametrize("limit", ["1", "50"])
def test_a_softcap_leaves_the_scores_that_the_text_says(limit):
    said = text(trace_of(Settings("a b c", softcap=limit)), "softcap")
    near = {"0": 0.0, "the limit": float(limit)}[re.search(r"a score near (.+?) stays nearly what it is", said)[1]]
    score = np.array([near + 0.01 * float(limit)])
    assert Softcap(float(limit)).compute(score) == pytest.approx(score, rel=1e-3)
    beyond = re.search(r"none gets beyond ±(.+?)\.", said)[1]
    assert np.abs(Softcap(float(limit)).compute(np.array([-1e6, 1e6]))) == pytest.approx(float(beyond))


@pytest.mark.parametrize("pairs", ["neighbours", "halves"])
def test_rope_turns_the_pairs_of_dimensions_that_the_text_names(pairs):
    trace = trace_of(Settings("a b c", d_model=8, n_heads=1, rope=pairs))
    said = text(trace, "rotation")
    named = re.findall(
        r"(\d+) (?:and|are a pair, \d+ and) (\d+)", re.sub(r"(\d+) and (\d+) are a pair", r"\1 and \2", said)
    )
    assert len(named) >= 2
    for one, other in named:
        row = np.zeros((1, 3, 8))
        row[0, :, int(one) - 1] = 1.0
        turned = trace["q_rotated"].operation.compute(row)[0, 1]
        assert set(np.flatnonzero(turned)) == {int(one) - 1, int(other) - 1}
