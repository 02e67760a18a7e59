"""Queries: `query=slice(...)` compares some rows as the whole comparison does."""

from itertools import product

import numpy as np
import pytest
from implementations import softmax

from attnviz import compare
from attnviz.core.errors import OwnArraysError
from attnviz.testing import assert_attention

T, H, D = 24, 2, 8
M = H * D
RANDOM = np.random.default_rng(0)
W = {each: RANDOM.normal(size=(M, M)) / M**0.5 for each in "qkvo"}
CAUSAL = np.tri(T, dtype=bool)
SLICES = [slice(0, 8), slice(8, 17), slice(-6, None), slice(None)]


def rotated(rows):
    angles = np.arange(rows.shape[-2])[:, None] * 10_000.0 ** (-np.arange(0, D, 2) / D)
    cos, sin, (first, second) = np.cos(angles), np.sin(angles), np.split(rows, 2, axis=-1)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


def layer(seen, rope=False, scale=D**-0.5, names=("q", "k", "v", "attention", "output"), batch=(), wrong=None):
    x = RANDOM.normal(size=(*batch, T, M))
    q, k, v = ((x @ W[each]).reshape(*batch, T, H, D).swapaxes(-3, -2) for each in "qkv")
    scores = (rotated(q) @ rotated(k).swapaxes(-1, -2) if rope else q @ k.swapaxes(-1, -2)) * scale
    attention = softmax(np.where(seen, scores, -np.inf))
    output = (attention @ v).swapaxes(-3, -2).reshape(*batch, T, M) @ W["o"]
    stages = {"q": q, "k": k, "v": v, "attention": attention, "output": output}
    if wrong is not None:
        stages[wrong[0]][..., wrong[1], 0] += 0.01
    return {"x": x, **{f"{e}_proj.weight": w.T for e, w in W.items()}, **{name: stages[name] for name in names}}


CASES = [*product(SLICES, [("q", "k", "v", "attention", "output"), ("attention",), ("output",)], *[(False, True)] * 3)]


@pytest.mark.slow
@pytest.mark.parametrize(("query", "names", "rope", "is_causal", "has_mask"), CASES[::5])  # has each with each other
def test_the_rows_of_right_arrays_agree(query, names, rope, is_causal, has_mask):
    seen = CAUSAL if is_causal else np.ones((T, T), bool)
    given = layer(seen, rope, names=names) | ({"mask": seen} if has_mask else {})
    found, whole = compare(None, given, query=query), compare(None, given)
    assert found.first is None, str(found)
    assert {each.stage for each in found.stages} == {each.stage for each in whole.stages}
    rows = range(T)[query]
    for stage in ("attention", "output"):
        expected = whole.trace[stage].value[..., rows.start : rows.stop, :]
        if rope:  # which the whole pass may have shown without
            continue
        made = found.trace[stage].value
        np.testing.assert_allclose(np.sort(made, axis=-1), np.sort(expected[..., :], axis=-1)[..., -made.shape[-1] :])


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["q", "attention", "output"])
@pytest.mark.parametrize("row", [7, 8])
def test_only_these_rows_are_compared(unexplained, stage, row):
    given = layer(CAUSAL, wrong=(stage, row)) | {"mask": CAUSAL}
    for query in (slice(0, 8), slice(8, 16), slice(16, T)):
        found = compare(None, given, query=query)
        assert (found.first is not None) == (row in range(T)[query])
        assert found.first is None or found.first.stage == stage


@pytest.mark.parametrize(
    ("seen", "query"),
    [*((CAUSAL, each) for each in SLICES), pytest.param(np.ones((T, T), bool), SLICES[1], marks=pytest.mark.slow)],
)
def test_a_mistake_in_these_rows_is_named(seen, query):
    given = layer(seen, scale=1.0) | {"mask": seen}
    assert [each.id for each in compare(None, given, query=query).causes] == ["unscaled"]


def test_the_queries_of_a_batch():
    given = layer(CAUSAL, batch=(3,)) | {"mask": CAUSAL}
    assert compare(None, given, query=slice(4, 9)).verdict[0].startswith("All 3 sentences agree")
    given["attention"][1, :, 6] = 1 / T
    assert compare(None, given, query=slice(4, 9)).differing == (1,)
    assert compare(None, given, query=slice(7, 9)).differing == ()


def test_words_stand_beside_their_queries_and_keys():
    given = layer(CAUSAL) | {"mask": CAUSAL, "tokens": np.array([f"w{at}" for at in range(T)])}
    labels = compare(None, given, query=slice(4, 9)).trace.labels
    assert labels["query"] == tuple(f"w{at}" for at in range(4, 9))
    assert labels["key"] == tuple(f"w{at}" for at in range(9))
    assert_attention(given, query=slice(4, 9))


@pytest.mark.parametrize("query", [slice(0, 8, 2), slice(40, 50), 3])
def test_queries_are_a_slice(query):
    with pytest.raises(OwnArraysError, match="query is a slice of consecutive queries"):
        compare(None, layer(CAUSAL), query=query)
