"""Two passes beside each other: matched by word, as far apart as a loop finds them, in Python and in the browser."""

import functools
import json
import math
import re
from dataclasses import replace
from itertools import product

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
from attnviz.scene.scene import FIRST_VISIT, OWN, SOURCES, Options, Scene, of_model, pinned
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


def is_said_of(stage, n_numbers, n_other, n_hidden, largest):
    """Whether what is said of a stage is what a loop has counted."""
    text = distance(stage)
    if not n_other:
        return text == "same in both"
    if n_hidden == n_other:
        pairs = " pairs" if split_layer(stage.name)[0] == "mask" else ""
        return text == f"{n_hidden} of {n_numbers}{pairs} are hidden in one pass but not the other"
    said = re.fullmatch(APART, text).groups("0")
    return tuple(map(int, said[:3])) == (n_other, n_numbers, n_hidden) and float(said[3]) == pytest.approx(
        largest, abs=5e-5
    )


@of_each("name", [*PAIRS])
def test_each_stage_is_as_far_apart_as_a_loop_finds_it(name):
    a, b = traces(name)
    found = pairing(a, b)
    assert list(found.stages) == [s.name for s in b.stages] + [s.name for s in a.stages if s.name not in b]
    for stage in b.stages:
        cells, said = looped(a, b, stage.name), found.stages[stage.name]
        if not cells:
            assert said.other
            continue
        largest = max((abs(n) for _, *pair in cells if all(map(math.isfinite, pair)) for n in pair), default=0)
        tolerance = 0 if stage.value.dtype == bool else 1e-12 * largest
        others = [(index, one, other) for index, one, other in cells if is_apart(one, other, tolerance)]
        finite = [abs(other - one) for _, one, other in others if math.isfinite(other - one)]
        hides = len(others) if stage.value.dtype == bool else len(others) - len(finite)
        assert (said.n_numbers, said.n_other, said.n_hidden) == (len(cells), len(others), hides)
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


def test_why_a_stage_has_no_number_beside_it_is_so_of_the_pass_that_is_named():
    made = set()
    for name in PAIRS:
        for a, b in (traces(name), traces(name)[::-1]):
            for stage in pairing(a, b).stages.values():
                claims = [claim for claim in WHY_NOT if re.fullmatch(claim, stage.other)]
                assert len(claims) == bool(stage.other), stage.other
                for claim in claims:
                    said = re.fullmatch(claim, stage.other).groups()
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


def test_a_pair_opens_at_the_share_that_a_loop_finds_furthest_apart():
    pairs = [tuple(Scene(options=Options(seed=n, mask=mask)) for mask in ("none", "causal")) for n in range(6)]
    for a, b in (*pairs, *(pair[::-1] for pair in pairs), PAIRS["fewer words"], PAIRS["six words: words"]):
        a, b = resolve(a).trace, resolve(b).trace
        opened, apart = furthest(a, b), apart_in_the_first_head(a, b)
        assert opened.head == 0
        assert apart[b.labels["query"][opened.query], b.labels["key"][opened.key]] == max(apart.values())


def test_a_pair_of_layers_opens_at_a_share_of_the_layer_that_one_is_in():
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


def test_the_first_stage_at_which_they_part_is_the_one_that_was_changed():
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
    "Seed": lambda scene: str(scene.options.seed if scene.source == OWN else scene.model_seed),
    "Mask": lambda scene: scene.options.mask,
    "Heads": lambda scene: str(scene.options.n_heads),
    "d_model": lambda scene: str(scene.options.d_model),
    "Positions": lambda scene: scene.options.positions,
    "Divide scores by √d_k": lambda scene: "yes" if scene.options.scaled else "no",
}


def test_what_differs_is_said_of_a_and_of_b():
    made = set()
    for name, (a, b) in PAIRS.items():
        for one, other in ((a, b), (b, a)):
            for part, *said in differences(resolve(one), resolve(other)):
                if part in OF_A_SCENE and not {one.source, other.source} & {*SOURCES}:
                    assert said == [OF_A_SCENE[part](each) for each in (one, other)], (name, part)
                    made.add(part)
    assert made == set(OF_A_SCENE)


@of_each("name", [*PAIRS])
def test_an_address_gives_the_pair_that_it_was_written_of(name):
    a, b = PAIRS[name]
    scene = resolve(replace(b, other=pinned(resolve(a).scene), compare="difference")).scene
    assert parse(query(scene)) == (scene, ())


def test_what_an_address_says_of_a_pass_beside_it_is_mended_or_left_out():
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


def test_swapping_twice_changes_nothing_and_a_pair_of_a_model_keeps_its_question():
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


def apart(a, b, place):
    """Whether what one looks at there is another in two passes: the number that was picked, or the row of shares."""
    found = pairing(a, b)
    if place.picked:
        return found.stages[place.picked].n_other > 0
    cell = place.cell
    for layer in b.layers:
        name = layer.names["attention"]
        if found.stages[name].other:
            return True
        keys = [(one, two) for two, one in enumerate(found.places["key"]) if one is not None]
        query = found.places["query"][cell.query]
        first, second = a[name].value[cell.head, query], b[name].value[cell.head, cell.query]
        if any(abs(first[one] - second[two]) > 1e-9 for one, two in keys):
            return True
    return False


@pytest.mark.parametrize(("scene", "shuffled"), [(of_model("microgpt"), "ileaz"), (SIX, "the sat cat the mat on")])
def test_shuffled_words_are_joined_as_they_are_typed(scene, shuffled):
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
def test_the_browser_finds_the_same_differences(in_browser, name):
    a, b = traces(name)
    found, told = pairing(a, b), in_browser[name]
    assert told["differences"].keys() == {stage.name for stage in b.stages if not found.stages[stage.name].other}
    for stage, numbers in told["differences"].items():
        shape, expected = b[stage].shape, {}
        for index, one, other in looped(a, b, stage):
            apart = is_apart(one, other, found.stages[stage].tolerance)
            expected[index] = other - one if apart else 0.0
        for index, text in zip(product(*map(range, shape)), numbers, strict=True):
            value = expected.get(index, math.nan)
            shown = float(text.replace("Infinity", "inf"))
            assert shown == value or (math.isnan(shown) and math.isnan(value)), (stage, index)
