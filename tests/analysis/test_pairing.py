"""Two passes: matched by word, as far apart as a loop finds them, in the browser too; offered pairs are as named."""

import functools
import json
import math
import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from cases import of_each
from documents import answer_bytes, fitted_at, read
from page import ROOT, changes_of

from attnviz.analysis.pairing import furthest, pairing
from attnviz.core.selection import Axis
from attnviz.core.stage import split_layer
from attnviz.models import MODELS
from attnviz.scene.actions.session import Session
from attnviz.scene.address import parse, query
from attnviz.scene.compare import differences, distance, pairs_of
from attnviz.scene.presets import TRANSLATOR_PARTS
from attnviz.scene.scene import FIRST_VISIT, RANDOM, SOURCES, Options, Scene, of_model, pinned
from attnviz.scene.with_pass import resolve, selected

TAB = "0123456789abcdef" * 2
SIX = Scene(options=Options(mask="causal"))
BASES = {
    "six words": SIX,
    "changed": replace(SIX, changes=changes_of("scores[0,2,1]=4")),
    "a model": FIRST_VISIT,
    "two layers": of_model("recall"),
    "an example": Scene(source=next(iter(SOURCES))),
}
OTHERS = {
    "fewer words": (Scene(sentence="the mat sat"), Scene()),
    "no word in common": (Scene(sentence="der Hund"), Scene()),
    "a context": (Scene(context="der Hund"), Scene()),
    "other sizes": (Scene(options=Options(d_model=12, n_heads=3)), Scene()),
    "another model": (FIRST_VISIT, Scene()),
    "other layers": (FIRST_VISIT, of_model("recall")),
    "another seed and mask": (Scene(options=Options(seed=7)), SIX),
    "another seed of a model": (replace(of_model("recall"), model_seed=2), of_model("recall")),
    "the same": (SIX, SIX),
}
OF_CHANGED = ("change", "mask", "heads", "words")
"""Of six words with a number set by hand: the others of its pairs are those of six words."""
PAIRS = OTHERS | {
    f"{name}: {pair.id}": (pair.a, pair.b)
    for name, scene in BASES.items()
    for pair in pairs_of(scene)
    if name != "changed" or pair.id in OF_CHANGED
}


@functools.cache
def traces(name):
    return tuple(resolve(scene).trace for scene in PAIRS[name])


def beside(one, other, place):
    """The place on an axis of A that is beside one of B: the same word, else the same count; None where none is."""
    if one.coordinates[0][0] in ("query", "key", "answer"):
        return one.labels.index(other.labels[place]) if other.labels[place] in one.labels else None
    return place


def looped(a, b, name):
    """(cell of B, number of A, number of B) for all cells of a stage with one beside them; None where none can have."""
    axes = list(zip(a.axes(name), b.axes(name), strict=False)) if name in a else []
    is_matched = axes and len(a.axes(name)) == len(b.axes(name))
    if not is_matched or not all(one.name == other.name and is_alike(one, other) for one, other in axes):
        return None
    found = []
    for index in product(*map(range, b[name].shape)):
        there = tuple(beside(*pair, place) for pair, place in zip(axes, index, strict=True))
        if None not in there:
            found.append((index, float(a[name].value[there]), float(b[name].value[index])))
    return found


def is_alike(one: Axis, other: Axis):
    return one.coordinates[0][0] in ("query", "key", "answer") or one.coordinates == other.coordinates


def is_apart(one, other, tolerance):
    return one != other and not abs(other - one) <= tolerance


APART = r"(\d+) of (\d+) differ(?:, (\d+) of them hidden in only one)?(?:, by up to (\S+))?"


def is_said_of(stage, n_numbers, n_differing, n_hidden, largest):
    text = distance(stage)
    if not n_differing:
        return text == "same in both"
    if n_hidden == n_differing:
        pairs = " pairs" if split_layer(stage.name)[0] == "mask" else ""
        return text == f"{n_hidden} of {n_numbers}{pairs} are hidden in one pass but not the other"
    said = re.fullmatch(APART, text).groups("0")
    return tuple(map(int, said[:3])) == (n_differing, n_numbers, n_hidden) and float(said[3]) == pytest.approx(
        largest, abs=5e-5
    )


@of_each("name", [*PAIRS])
def test_differences_equal_a_loop(name):
    a, b = traces(name)
    found = pairing(a, b)
    assert list(found.stages) == [s.name for s in b.stages] + [s.name for s in a.stages if s.name not in b]
    for stage in b.stages:
        cells, said = looped(a, b, stage.name), found.stages[stage.name]
        if not cells:
            assert said.mismatch
            continue
        largest = max((abs(n) for _, *pair in cells if all(map(math.isfinite, pair)) for n in pair), default=0)
        tolerance = 0 if stage.value.dtype == bool else 1e-12 * largest
        others = [(index, one, other) for index, one, other in cells if is_apart(one, other, tolerance)]
        finite = [abs(other - one) for _, one, other in others if math.isfinite(other - one)]
        hides = len(others) if stage.value.dtype == bool else len(others) - len(finite)
        assert (said.n_numbers, said.n_differing, said.n_hidden) == (len(cells), len(others), hides)
        if stage.value.dtype != bool:
            assert said.largest == max(finite, default=0)
        assert is_said_of(said, len(cells), len(others), hides, max(finite, default=0)), distance(said)
        if others:
            sizes = {index: abs(other - one) for index, one, other in others}
            assert sizes[said.at] == max(sizes.values())


WHY_NOT = {
    r"([AB]) has no such stage": lambda one, name, which: (
        name not in one[which] and name in one["BA"["AB".index(which)]]
    ),
    r"(\d+) heads? in A, (\d+) heads? in B": lambda one, name, *said: (
        [len(one[each]["attention" if "attention" in one[each] else "attention_1"].value) for each in "AB"]
        == [*map(int, said)]
    ),
    r"([\d ×]+) numbers in A, ([\d ×]+) in B": lambda one, name, *said: (
        [one[each][name].shape for each in "AB"] == [tuple(map(int, each.split(" × "))) for each in said]
    ),
    r"they have no word in (common)": lambda one, name, _: any(
        not {*there.labels} & {*here.labels}
        for there, here in zip(one["A"].axes(name), one["B"].axes(name), strict=True)
    ),
}


def test_missing_counterpart_is_explained():
    made = set()
    for name in PAIRS:
        for a, b in (traces(name), traces(name)[::-1]):
            for stage in pairing(a, b).stages.values():
                claims = [claim for claim in WHY_NOT if re.fullmatch(claim, stage.mismatch)]
                assert len(claims) == bool(stage.mismatch), stage.mismatch
                for claim in claims:
                    said = re.fullmatch(claim, stage.mismatch).groups()
                    assert WHY_NOT[claim]({"A": a, "B": b}, stage.name, *said), (name, stage)
                made.update(claims)
    assert made == set(WHY_NOT)


def apart_in_the_first_head(a, b):
    """How far apart the shares of two words are in A and in B, where both look at more than one."""
    name, found = b.layers[-1].names["attention"], {}
    for asks, asked in product(b.labels["query"], b.labels["key"]):
        if asks in a.labels["query"] and asked in a.labels["key"]:
            rows = [each[name].value[0, each.labels["query"].index(asks)] for each in (a, b)]
            shares = [row[each.labels["key"].index(asked)] for each, row in zip((a, b), rows, strict=True)]
            if min(sum(row > 0) for row in rows) > 1:
                found[asks, asked] = abs(shares[1] - shares[0])
    return found


def test_pair_opens_at_the_largest_difference():
    pairs = [tuple(Scene(options=Options(seed=n, mask=mask)) for mask in ("none", "causal")) for n in range(6)]
    for a, b in (*pairs, *(pair[::-1] for pair in pairs), PAIRS["fewer words"], PAIRS["six words: words"]):
        a, b = resolve(a).trace, resolve(b).trace
        opened, apart = furthest(a, b), apart_in_the_first_head(a, b)
        assert opened.head == 0
        assert apart[b.labels["query"][opened.query], b.labels["key"][opened.key]] == max(apart.values())


def test_layered_pair_opens_in_its_layer():
    by_layer = {"layers": 3, "norm": "rmsnorm", "mask": "causal window", "mask_size": 2}
    now = Scene(options=Options(**by_layer))
    _, _, pair = (each for each in pairs_of(now) if each.id in ("mask", "global", "window_in"))
    for step, layer in (("mask-2", 2), ("softmax-3", 3), ("softmax-1", 3), ("tokens", 3)):
        b = resolve(replace(pair.b, step=step, other=pinned(pair.a)))
        found = selected(b.scene, b.trace, b.other.trace)
        both = [(b.trace[f"attention_{n}"].value[0], b.other.trace[f"attention_{n}"].value[0]) for n in (1, 2, 3)]
        apart = [abs(one - other) for one, other in both]
        assert [bool(each.any()) for each in apart] == [False, True, True], "they part in layer 2"
        assert apart[layer - 1][found.query, found.key] == apart[layer - 1].max()


def test_first_difference_is_the_changed_stage():
    parts = {
        "six words: mask": "mask",
        "six words: scaled": "scaled",
        "six words: seed": "embeddings",
        "six words: heads": "w_q",
        "six words: words": "masked",
        "changed: change": "scores",
        "a model: words": None,
        "two layers: training": "embeddings",
        "the same": None,
    }
    for name, stage in parts.items():
        first = pairing(*traces(name)).first
        if name == "six words: words":  # a causal mask sees the order
            assert first.name == "mask"
        else:
            assert (first and first.name) == stage, name


OF_A_SCENE = {
    "Source": lambda scene: MODELS[scene.source].title if scene.source in MODELS else "random parameters",
    "Sentence": lambda scene: f"“{scene.sentence}”",
    "Context": lambda scene: f"“{scene.context}”" if scene.context else "none",
    "Seed": lambda scene: str(scene.options.seed if scene.source == RANDOM else scene.model_seed),
    "Mask": lambda scene: scene.options.mask,
    "Heads": lambda scene: str(scene.options.n_heads),
    "d_model": lambda scene: str(scene.options.d_model),
    "Positions": lambda scene: scene.options.positions,
    "Divide scores by √d_k": lambda scene: "yes" if scene.options.scaled else "no",
}


def test_differing_settings_are_named():
    made = set()
    for name, (a, b) in PAIRS.items():
        for one, other in ((a, b), (b, a)):
            for part, *said in differences(resolve(one), resolve(other)):
                if part in OF_A_SCENE and not {one.source, other.source} & {*SOURCES}:
                    assert said == [OF_A_SCENE[part](each) for each in (one, other)], (name, part)
                    made.add(part)
    assert made == set(OF_A_SCENE)


@of_each("name", [*PAIRS])
def test_pair_address_round_trips(name):
    a, b = PAIRS[name]
    scene = resolve(replace(b, other=pinned(resolve(a).scene), compare="difference")).scene
    assert parse(query(scene)) == (scene, ())


def test_bad_pair_address_is_mended():
    assert parse({"beside": "same"}).scene.other == pinned(parse({"beside": "same"}).scene)
    found = fitted_at({"sentence": "the cat", "beside": "seed=x&mask=nothing&beside=same&step=scores&nonsense=1"})
    assert found.scene.other == Scene(sentence="the cat")
    assert all(notice.startswith("A: ") for notice in found.notices)
    assert len(found.notices) == 3
    nothing = fitted_at({"sentence": "the cat", "beside": "sentence=%20"})
    assert (nothing.scene.other, nothing.other, len(nothing.notices)) == (None, None, 1)
    refused = fitted_at({"sentence": "the cat", "beside": "changes=scores[9,9,9]=1"})
    assert (refused.scene.other.changes, refused.refused) == ((), ())
    assert [notice.startswith("A: scores[9,9,9]=1 is left out") for notice in refused.notices] == [True]
    assert parse({"beside": "&".join(f"a{n}=1" for n in range(500))}).notices[-1].startswith("beside has at most")


def test_swapping_twice_changes_nothing():
    place = Session(SIX)
    place.do("pair", "mask")
    assert place.scene.other.options.mask == "none"
    before = place.scene
    assert before.selection is not None
    place.do("exchange", True)
    assert (place.scene.options.mask, place.scene.other.options.mask) == ("none", "causal")
    place.do("exchange", True)
    assert place.scene == before
    place.do("unpin", True)
    assert place.scene == replace(before, other=None)
    model = Session(FIRST_VISIT)
    model.do("pair", "training")
    assert (model.scene.other.checkpoint, model.scene.checkpoint, model.scene.selection) == (0, None, None)


@pytest.mark.parametrize(
    ("scene", "shuffled"), [(replace(of_model("microgpt"), sentence="eliza"), "ileaz"), (SIX, "the sat cat the mat on")]
)
def test_shuffled_words_are_joined_as_typed(scene, shuffled):
    (sentence,) = (pair.b.sentence for pair in pairs_of(scene) if pair.id == "words")
    assert sentence == shuffled


@pytest.fixture(scope="module")
def in_browser(node):
    documents = {}
    for name, (a, b) in PAIRS.items():
        place = Session(replace(b, other=a))
        documents[name] = read(answer_bytes(place, tab=TAB))["pass"]
    found = json.loads(node(str(ROOT / "tests/js/answers.mjs"), "pair", text=json.dumps([*documents.values()])))
    return dict(zip(documents, found, strict=True))


@of_each("name", [*PAIRS])
def test_browser_finds_the_same_differences(in_browser, name):
    a, b = traces(name)
    found, told = pairing(a, b), in_browser[name]
    assert told["differences"].keys() == {stage.name for stage in b.stages if not found.stages[stage.name].mismatch}
    for stage, numbers in told["differences"].items():
        shape, expected = b[stage].shape, {}
        for index, one, other in looped(a, b, stage):
            apart = is_apart(one, other, found.stages[stage].tolerance)
            expected[index] = other - one if apart else 0.0
        for index, text in zip(product(*map(range, shape)), numbers, strict=True):
            value = expected.get(index, math.nan)
            shown = float(text.replace("Infinity", "inf"))
            assert shown == value or (math.isnan(shown) and math.isnan(value)), (stage, index)


resolved = functools.lru_cache(64)(resolve)  # each pair has the present pass, and most claims ask for one again

OPTIONS = json.loads((ROOT / "tests/data/pair_options.json").read_text("utf-8"))
SCENES = [
    *(Scene(options=Options(**values)) for values in OPTIONS),
    Scene(changes=changes_of("scores[0,2,1]=4")),
    *map(of_model, MODELS),
    replace(of_model("translator"), sentence="the small cat is too tired"),
    replace(of_model("recall"), model_seed=MODELS["recall"].seeds[-1], checkpoint=1),
]


def hides(visible):
    return lambda now, scene, trace: np.array_equal(trace["mask"].value, visible(*trace["mask"].shape))


def reaches(*layers):
    """The last word sees the first in these layers alone; so does the first the last, unless the mask is causal."""

    def holds(now, scene, trace):
        masks = {n: layer.trace["mask"].value for n, layer in enumerate(resolved(scene).trace.layers, start=1)}
        seen = {n for n in masks if n in layers}
        back, ahead = ({n for n, mask in masks.items() if mask[corner]} for corner in ((-1, 0), (0, -1)))
        return back == seen and ahead == (seen if now.options.mask == "window" else set())

    return holds


def has_heads(n):
    return lambda now, scene, trace: len(trace["attention"].value) == n


def has_layers(n):
    return lambda now, scene, trace: len(resolved(scene).trace.layers) == n


def has_bases(*bases):
    return lambda now, scene, trace: (
        [layer.trace["q_rotated"].operation.base for layer in resolved(scene).trace.layers] == [*bases]
    )


def is_divided_by(divisor):
    def holds(now, scene, trace):
        d_k = sum(trace[name].shape[-1] for name in ("q", "q_r") if name in trace)
        return np.allclose(trace["scores"].value / divisor(d_k), trace["scaled"].value)

    return holds


def is_now(now, scene, trace):
    return scene == pinned(now)


def is_of_the_next_seed(now, scene, trace):
    seeds = MODELS[now.source].seeds if now.source in MODELS else None
    if seeds is None:
        return scene.options.seed == (now.options.seed + 1) % 2**32
    return seeds[seeds.index(now.model_seed) - len(seeds) + 1] == scene.model_seed


def has_stage(name, expected):
    return lambda now, scene, trace: (name in trace) == expected


def with_and_without(name):
    return has_stage(name, False), has_stage(name, True)


def has_groups(n_heads_each):
    """So many heads share a group of keys; 0 for all of them."""
    return lambda now, scene, trace: len(trace["k"]) * (n_heads_each or len(trace["q"])) == len(trace["q"])


def makes_keys(expected):
    """Keys are made of latents, or these matrices absorbed: with the output that the other order has."""

    def holds(now, scene, trace):
        orders = [replace(scene, options=replace(scene.options, sharing=each)) for each in ("latent", "absorbed")]
        naive, absorbed = (resolved(each).trace.output.value for each in orders)
        return "latent" in trace and ("k" in trace) == expected and np.allclose(naive, absorbed, rtol=0, atol=1e-13)

    return holds


def adds_up_to_one(expected):
    """The weights of a row that sees a key add up to 1; with a sink they add up to less."""

    def holds(now, scene, trace):
        sees = np.isfinite(trace["masked"].value).any(axis=-1)
        sums = trace["attention"].value.sum(axis=-1)[sees]
        return np.allclose(sums, 1) if expected else (sums < 1).all()

    return holds


def is_changed(expected):
    return lambda now, scene, trace: trace.changes == (now.changes if expected else ())


def is_trained(expected):
    def holds(now, scene, trace):
        model = MODELS[now.source].at(now.model_seed, None if expected else 0)
        return np.array_equal(trace["w_u"].value, model.trace(now.sentence)["w_u"].value)

    return holds


def writes(**stages):
    return lambda now, scene, trace: all(trace[name].value.any() == some for name, some in stages.items())


def reads(word):
    return lambda now, scene, trace: word in trace.labels["token"]


def is_shuffled(now, scene, trace):
    one, other = (resolved(each).trace.layers[0].trace.labels["token"] for each in (now, scene))
    plain = [sorted(label.split()[0] for label in each) for each in (one, other)]
    return plain[0] == plain[1] and scene.sentence != now.sentence


CLAIMS = {
    "Before vs after what was set by hand": (is_changed(False), is_changed(True)),
    "No mask vs a causal mask": (hides(lambda *n: np.ones(n)), hides(np.tri)),
    "No mask vs this mask": (hides(lambda *n: np.ones(n)), is_now),
    "Global in every layer vs window in every second layer": (reaches(*range(1, 7)), reaches(2, 4, 6)),
    "Global in every layer vs window in all but every sixth layer": (reaches(*range(1, 7)), reaches(6)),
    "Window in every layer vs in every second layer": (reaches(), reaches(2, 4, 6)),
    "Window in every layer vs in all but every sixth layer": (reaches(), reaches(6)),
    "Scaled vs unscaled": (is_divided_by(np.sqrt), is_divided_by(lambda d_k: 1)),
    "Per-head keys vs shared by all": (has_groups(1), has_groups(0)),
    "Per-head keys vs shared by two": (has_groups(1), has_groups(2)),
    "Per-head keys vs MLA": (has_stage("latent", False), makes_keys(True)),
    "Per-head keys vs absorbed MLA": (has_stage("latent", False), makes_keys(False)),
    "MLA, naive vs absorbed: one output": (makes_keys(True), makes_keys(False)),
    "Queries from the input vs from a latent": with_and_without("q_latent"),
    "No norm vs a norm before attention": with_and_without("attn_norm"),
    "No QK-norm vs QK-norm": with_and_without("q_normed"),
    "No RoPE vs RoPE": with_and_without("q_rotated"),
    "One RoPE base vs another in global layers": (has_bases(1e4, 1e4), has_bases(1e4, 1e6)),
    "No softcap vs softcap": with_and_without("capped"),
    "No ALiBi vs ALiBi": with_and_without("biased"),
    "No sinks vs sinks": (adds_up_to_one(True), adds_up_to_one(False)),
    "Softmax at once vs by blocks": with_and_without("running_max"),
    "No positions vs sinusoidal": with_and_without("positions"),
    **{f"One head vs {n}": (has_heads(1), has_heads(n)) for n in (2, 3, 4)},
    **{f"One layer vs {n}": (has_layers(1), has_layers(n)) for n in (2, 3, 6)},
    "This seed vs the next": (is_now, is_of_the_next_seed),
    "Before vs after training": (is_trained(False), is_trained(True)),
    "Without vs with attention": (writes(output=False, mlp=True), writes(output=True, mlp=True)),
    "Without vs with the MLP": (writes(output=True, mlp=False), writes(output=True, mlp=True)),
    "In this order vs shuffled": (is_now, is_shuffled),
    **{f"“{a}” vs “{b}”": (reads(a), reads(b)) for a, b in (("cat", "cow"), ("tired", "wide"), ("small", "black"))},
    **{
        f"Without vs with: {part.label}": (
            writes(**dict.fromkeys(stages, False)),
            writes(**dict.fromkeys(stages, True)),
        )
        for part, stages in zip(
            TRANSLATOR_PARTS, (["heads"], ["heads_2"], ["heads_3"], ["positions", "positions_1"]), strict=True
        )
    },
}
"""What each label says of A and of B."""


def test_pair_labels_are_true():
    made = set()
    for now in SCENES:
        for pair in pairs_of(now):
            assert pair.a != pair.b
            for scene, holds in zip((pair.a, pair.b), CLAIMS[pair.label], strict=True):
                assert holds(now, scene, resolved(scene).trace.layers[0].trace), (pair.label, now)
            made.add(pair.label)
    assert made == set(CLAIMS)
