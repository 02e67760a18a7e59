"""Whole numbers: laws of the initialiser `whole`, computed by fractions alone."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from page import settings_of

from attnviz import Settings, trace_of
from attnviz.core import integer_example
from attnviz.core.errors import SettingsError
from attnviz.core.integer_example import N_DRAWS, draw_integer_example
from attnviz.scene.actions.session import apply_action
from attnviz.scene.address import parse
from attnviz.scene.compare import pairs_of
from attnviz.scene.reading import normalized
from attnviz.scene.with_pass import resolve

SENTENCES = ("the cat sat", "the cat sat down", "the the cat", "no no no yes", "a, b")
MASKS = {
    "none": lambda query, key, n: True,
    "causal": lambda query, key, n: key <= query,
    "padding": lambda query, key, n: key < n - 1,
}


def by_hand(trace, mask):
    """The shares, and what the head finds and gives, as fractions: a loop over whole numbers."""
    x, w_q, w_k, w_v, w_o = (
        [[int(number) for number in row] for row in np.squeeze(trace[name].value)]
        for name in ("x", "w_q", "w_k", "w_v", "w_o")
    )
    base = round(math.exp(trace["scaled"].operation.factor))

    def times(a, b):
        return [[sum(p * q for p, q in zip(row, column, strict=True)) for column in zip(*b, strict=True)] for row in a]

    q, k, v = (times(x, w) for w in (w_q, w_k, w_v))
    n = len(x)
    scores = [[sum(a * b for a, b in zip(one, other, strict=True)) for other in k] for one in q]
    powers = [
        [Fraction(base) ** scores[i][j] if MASKS[mask](i, j, n) else Fraction(0) for j in range(n)] for i in range(n)
    ]
    shares = [[each / sum(row) for each in row] for row in powers]
    heads = times(shares, v)
    return {"q": q, "k": k, "v": v, "scores": scores, "attention": shares, "heads": heads, "output": times(heads, w_o)}


@pytest.mark.parametrize("d_model", [2, 3, 4])
def test_numbers_are_small_fractions(d_model):
    drawn = set()
    for sentence, seed, mask in product(SENTENCES, range(6), MASKS):
        trace = trace_of(
            Settings(sentence, d_model=d_model, n_heads=1, initialiser="whole", seed=seed, mask=mask, mask_size=1)
        )
        drawn.add(trace["scaled"].operation.base)
        assert set(np.unique(trace["x"].value)) <= {0, 1, 2}
        assert all(set(np.unique(trace[w].value)) <= {-1, 0, 1} for w in ("w_q", "w_k", "w_v", "w_o"))
        for name, rows in by_hand(trace, mask).items():
            made = trace[name].value[0] if trace[name].is_headed else trace[name].value
            assert np.allclose(made, np.array(rows, dtype=float), rtol=0, atol=1e-12), name
            numbers = [Fraction(number) for row in rows for number in row]
            assert all(abs(each.numerator) <= 99 and each.denominator <= 99 for each in numbers), name
            if name == "attention" and mask == "none":
                assert all(len(set(row)) > 1 for row in rows), "no row is flat"
    assert drawn == {2, 3}


def test_no_causal_row_is_flat():
    for sentence, seed in product(SENTENCES, range(15)):
        trace = trace_of(Settings(sentence, d_model=2, n_heads=1, initialiser="whole", seed=seed, mask="causal"))
        tokens = Settings(sentence).tokens
        for place, row in enumerate(trace["attention"].value[0]):
            assert len(set(tokens[: place + 1])) == 1 or np.ptp(row[: place + 1]) > 0.01


def test_repeated_word_repeats_its_embedding():
    one, again, other = (draw_integer_example(("no", "no", "no", "yes"), 3, seed) for seed in (1, 1, 2))
    assert (one.embeddings[0] == one.embeddings[2]).all()
    assert (one.embeddings[0] != one.embeddings[3]).any()
    assert one.parameters == again.parameters != other.parameters


def test_hopeless_seed_is_replaced(monkeypatch):
    monkeypatch.setattr(integer_example, "_good", lambda tokens, x, matrices, base: np.full(N_DRAWS, next(calls)))
    calls = iter([False, False, True])
    draw_integer_example.cache_clear()
    scene, notices = parse({"sentence": "the cat sat", "initialiser": "whole", "d_model": "2", "heads": "1"})
    draw_integer_example.cache_clear()
    assert scene.options.seed == 44
    assert notices == ("None of 2,000 draws from the seed 42 is easy to compute by hand; using the seed 44.",)


@pytest.mark.parametrize("wrong", [{"d_model": 8}, {"n_heads": 2}, {"positions": "sinusoidal"}, {"scaled": False}])
def test_other_settings_are_refused(wrong):
    with pytest.raises(SettingsError, match="With initialiser=whole"):
        Settings("the cat sat", **{"d_model": 4, "n_heads": 1, "initialiser": "whole"} | wrong)


@pytest.mark.parametrize("sentence", ["the cat", "the the the", "one two three four five"])
def test_other_sentence_length_becomes_normal(sentence):
    with pytest.raises(SettingsError, match="3 or 4 words"):
        Settings(sentence, d_model=4, n_heads=1, initialiser="whole")
    scene, notices = parse({"sentence": sentence, "initialiser": "whole"})
    assert (scene.sentence, scene.options.initialiser) == (sentence, "normal")
    (notice,) = notices
    assert notice.startswith("initialiser=whole needs 3 or 4 words")
    assert len(resolve(scene).trace.labels["query"]) == len(sentence.split())


def test_picking_it_hides_settings_and_typing_leaves_it():
    scene, notes = apply_action(parse({"sentence": "the cat sat"}).scene, "initialiser", "whole")
    assert "d_model: 4, Heads: 1" in notes.notices[0]
    actions = {box.get("event") for part in settings_of(scene).values() for box in part}
    assert "d_model" in actions
    assert not actions & {"positions", "scaled"}
    longer, _ = apply_action(scene, "sentence", "the cat sat on it")
    fitting, (notice,) = normalized(longer)
    assert notice.startswith("initialiser=whole needs")
    assert fitting.options.initialiser == "normal"
    back, _ = apply_action(longer, "sentence", "a dog ran")
    fitting, notices = normalized(back)
    assert (fitting.options.initialiser, notices) == ("whole", [])
    assert {pair.id for pair in pairs_of(resolve(back).scene)} == {"mask", "seed", "words"}
    assert all(resolve(each).trace for pair in pairs_of(resolve(back).scene) for each in (pair.a, pair.b))
