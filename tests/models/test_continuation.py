"""The next letter: how it is chosen equals loops and published rules, and a link writes the same name."""

import math
import re
import subprocess
import sys
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from documents import answer_bytes, document, read
from hypothesis import given
from hypothesis import strategies as st

from attnviz.analysis.stream import multiplications
from attnviz.contract.document import Document
from attnviz.core.changes import parse_change
from attnviz.models import MODELS
from attnviz.models.continuation import SAMPLING_CHOICES, Sampling, filtered_probabilities, sample_texts, sample_token
from attnviz.scene.actions.session import Session
from attnviz.scene.address import parse, query
from attnviz.scene.document.continuing_text import next_token
from attnviz.scene.scene import of_model
from attnviz.scene.with_pass import resolve

DRAWINGS = st.builds(Sampling, **{name: st.sampled_from(list(values)) for name, values in SAMPLING_CHOICES.items()})
ROWS = st.lists(st.integers(0, 1000), min_size=2, max_size=30).filter(any)


def looped(probabilities, drawing):
    """The same by its definitions: divide logits, keep k, keep the fewest that have p together, divide by the sum."""
    logits = [math.log(p) / drawing.temperature if p else -math.inf for p in probabilities]
    scores = [math.exp(logit - max(logits)) for logit in logits]
    ranked = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    kept = ranked[: drawing.top_k] if drawing.top_k else ranked
    total, together, fewest = sum(scores[place] for place in kept), 0.0, []
    for place in kept:
        if together >= drawing.top_p * total * (1 - 1e-12):
            break
        fewest.append(place)
        together += scores[place]
    return [scores[place] / together if place in fewest else 0.0 for place in range(len(scores))]


@given(ROWS, DRAWINGS)
def test_filtered_probabilities_equal_a_loop(row, drawing):
    probabilities = np.array(row) / sum(row)
    assert filtered_probabilities(probabilities, drawing) == pytest.approx(looped(probabilities, drawing), abs=1e-9)


@given(ROWS, DRAWINGS, st.integers(0, 15))
def test_sample_depends_on_place_and_seed(row, drawing, place):
    probabilities = np.array(row) / sum(row)
    found = sample_token(probabilities, drawing, place)
    assert filtered_probabilities(probabilities, drawing)[found] > 0
    assert found == sample_token(probabilities, replace(drawing), place)
    assert sample_token(probabilities, None, place) == row.index(max(row))
    assert sample_token(probabilities, replace(drawing, top_k=1), place) == row.index(max(row))


def written(scene):
    place, passes = Session(scene), []
    for _ in range(20):
        passes.append(place.resolved())
        before = place.scene.sentence
        place.do("next", True)
        if place.scene.sentence == before:
            return place, passes
    raise AssertionError(place.scene)


def written_by_a_loop(text, drawing):
    model = MODELS["microgpt"].at(0)
    while len(text) < 15:
        row = model.trace(text)["probabilities"].value[-1]
        answer = model.task.answers[sample_token(row, drawing, len(text))]
        if answer == "end":
            break
        text += answer
    return text


def test_writing_equals_a_loop():
    for drawing in (None, Sampling(seed=3), Sampling(0.5, 5, 0.9, 7)):
        place, passes = written(replace(of_model("microgpt"), sentence="", drawing=drawing))
        text = written_by_a_loop("", drawing)
        assert place.scene.sentence == text
        data = document(passes[-1])["next"]
        assert data["ends"] or data["isFull"]
        assert next_token(passes[-1]) is None
        place.do("shorter", True)
        assert place.scene.sentence == text[:-1]


def test_link_writes_the_same_name_elsewhere():
    place, _ = written(replace(of_model("microgpt"), sentence="", drawing=Sampling(1.5, 0, 0.95, 11)))
    source = (
        "import sys; from attnviz.scene.address import parse; from attnviz.scene.actions.session import Session; "
        "place = Session(parse({'model': 'microgpt', 'sentence': '', 'draw': sys.argv[1]}).scene); "
        "[place.do('next', True) for _ in range(16)]; print(place.scene.sentence)"
    )
    draw = query(place.scene)["draw"]
    assert draw == "1.5,0,0.95,11"
    ran = subprocess.run([sys.executable, "-c", source, draw], capture_output=True, encoding="utf-8", check=True)
    assert ran.stdout.strip() == place.scene.sentence


@pytest.mark.parametrize("text", ["", "1", "1,0,1", "1,0,1,1000", "3,0,1,1", "nan,0,1,1", "1,0,1,0.5", "a,b,c,d"])
def test_sampling_is_parsed_strictly(text):
    found = parse({"model": "microgpt", "draw": text})
    assert found.scene.drawing is None
    assert [notice.startswith("draw is a temperature") for notice in found.notices] == [True]
    place = Session(of_model("microgpt"))
    for message in (text, [1, 0, 1, 3], {"temperature": True, "top_k": 0, "top_p": 1, "seed": 0}, {"seed": 1}):
        place.do("draw", message)
        assert place.scene.drawing is None


def test_hundred_names_equal_their_seeds():
    model, drawing = MODELS["microgpt"].at(0), Sampling(0.75, 10, 0.95, 40)
    found = sample_texts(model, drawing, 100)
    for number in (0, 7, 31, 99):
        scene = replace(of_model("microgpt"), sentence="", drawing=replace(drawing, seed=40 + number))
        place, _ = written(scene)
        assert place.scene.sentence == found[number]
    place = Session(replace(of_model("microgpt"), drawing=drawing))
    notes = place.do("names", True)
    whole = read(answer_bytes(place, notes=notes))["pass"]
    msgspec.convert(whole, Document, str_keys=True)
    told = whole["next"]["names"]
    assert [each["text"] for each in told["listed"]] == list(found)
    task = model.task
    held_out, trained_on = set(task.names[: task.n_held_out]), set(task.names[task.n_held_out :])
    n_texts, *ends = map(int, re.match(r"(\d+) texts from seeds (\d+) to (\d+):", told["text"]).groups())
    assert n_texts == len(found) == ends[1] - ends[0] + 1
    assert [sample_texts(model, replace(drawing, seed=seed), 1)[0] for seed in ends] == [found[0], found[-1]]
    kinds = {"held out": held_out, "trained on": trained_on}  # of 1.4 million draws no name is left out
    for each in told["listed"]:
        assert each["is"] == next((kind for kind, some in kinds.items() if each["text"] in some), "new")
    for kind in ("held out", "trained on", "in the list", "new"):
        n = sum(each["is"] == kind for each in told["listed"])
        assert n == 0 or f"{n} {kind}" in told["text"]
    assert read(answer_bytes(place))["pass"]["next"]["names"] is None


def multiplied_by_a_loop(n, rows):
    """In microgpt, counted product by product: of so many tokens the last `rows` are computed."""
    count = 0
    for _ in range(rows):
        count += 4 * 16 * 16  # q, k, v and what the heads pass on, each 16 numbers of 16 products
        count += 4 * (n * 4 + n * 4)  # in 4 heads scores of all keys, and the values in those shares
        count += 2 * 64 * 16 + 27 * 16
    return count


@pytest.mark.parametrize("text", ["", "a", "abcdefghijklmno"])
def test_kv_cache_saves_the_stated_multiplications(text):
    fitted = resolve(replace(of_model("microgpt"), sentence=text))
    first, *others = document(fitted)["next"]["kept"]
    assert set(first.values()) == {""}
    for n, kept in enumerate(others, start=2):
        whole, new = multiplied_by_a_loop(n, n), multiplied_by_a_loop(n, 1)
        assert [multiplications(fitted.trace, n, is_cached=each) for each in (False, True)] == [whole, new]
        assert f"Only the row for “{text[n - 2]}” is new" in kept["text"]
        assert f"keys and values takes {new:,} multiplications instead of {whole:,}." in kept["text"]
        assert kept["saved"] == f"{new:,} multiplications instead of {whole:,}"
    assert len(others) == len(text)


def test_no_cache_where_tokens_look_ahead():
    seeing = replace(of_model("microgpt"), sentence="eli", changes=(parse_change("mask[1,3]=1"),))
    assert document(resolve(seeing))["next"]["kept"] == []
    unseeing = replace(of_model("microgpt"), sentence="eli", changes=(parse_change("mask[3,1]=0"),))
    assert len(document(resolve(unseeing))["next"]["kept"]) == 4
