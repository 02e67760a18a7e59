"""The heads of a recording: weights that were heard or computed, or why there are none; statistics by a slow loop."""

import math

import numpy as np
import pytest
from cases import of_each
from fakemodules import Attention, LatentAttention, Model, tensor
from implementations import softmax

from attnviz import OwnArraysError, Recorded, record
from attnviz.checks.recording.heads import heads_of, statistics_of

RNG = np.random.default_rng(5)
WORDS = ["[CLS]", "cat", "[SEP]", "sat", "[SEP]"]


def weights(n_heads=3, n_queries=5, n_keys=5, causal=False, padding=0):
    scores = RNG.normal(size=(n_heads, n_queries, n_keys)) * 2
    if causal:
        scores = np.where(np.tri(n_queries, n_keys, n_keys - n_queries) > 0, scores, -np.inf)
    scores[..., n_keys - padding :] = -np.inf
    return softmax(scores)


def slowly(attention, name, is_shared, keys):
    """One statistic of each head, by a loop over queries and keys."""
    n_heads, n_queries, n_keys = attention.shape
    visible = [[any(attention[h][q][k] > 0 for h in range(n_heads)) for k in range(n_keys)] for q in range(n_queries)]
    shift = n_keys - n_queries if is_shared else 0
    last = max(k for k in range(n_keys) if any(row[k] for row in visible))
    found = []
    for head in attention:
        values = []
        for q, row in enumerate(head):
            seen = [k for k in range(n_keys) if visible[q][k]]
            if not seen or (is_shared and not any(each[q + shift] for each in visible)):
                continue
            entropy = -sum(row[k] * math.log2(row[k]) for k in seen if row[k] > 0)
            separators = [k for k in range(1, n_keys) if keys and keys[k] == "[SEP]"]
            if name == "entropy":
                values.append(entropy)
            elif name == "spread" and len(seen) > 1:
                values.append(entropy / math.log2(len(seen)))
            elif name == "first":
                values.append(row[0])
            elif name in ("last", "separator"):
                wanted = [last] if name == "last" else separators
                values += [sum(row[k] for k in wanted)] if set(wanted) & set(seen) else []
            elif name == "itself" and is_shared:
                values.append(row[q + shift])
            elif name == "previous" and is_shared and q + shift > 0:
                values.append(row[q + shift - 1])
            elif name == "distance" and is_shared:
                values.append(sum(row[k] * abs(q + shift - k) for k in seen))
        too_few = 1 if name in ("last", "separator") else 0
        found.append(np.mean(values) if len(values) > too_few else np.nan)
    return np.array(found)


@of_each(
    "case",
    {
        "all visible": (weights(), True, WORDS),
        "causal": (weights(causal=True), True, WORDS),
        "padding": (weights(padding=2), True, ()),
        "after a cache": (weights(n_queries=2, causal=True), True, WORDS),
        "another text": (weights(n_queries=4, n_keys=7), False, ()),
        "one token": (weights(n_queries=1, n_keys=1), True, ("a",)),
    },
)
def test_statistics_equal_a_slow_loop(case):
    attention, is_shared, keys = case
    found = statistics_of(attention, is_shared=is_shared, keys=keys)
    for name, values in found.items():
        np.testing.assert_allclose(values, slowly(attention, name, is_shared, keys), rtol=1e-12, err_msg=name)


def test_known_patterns_have_known_statistics():
    previous, even = np.eye(4, k=-1), np.full((4, 4), 0.25)
    previous[0, 0] = 1
    found = statistics_of(np.stack([previous, even]), is_shared=True)
    np.testing.assert_allclose(found["previous"], [1, 0.25])
    np.testing.assert_allclose(found["entropy"], [0, 2])
    np.testing.assert_allclose(found["spread"], [0, 1])
    np.testing.assert_allclose(found["distance"], [0.75, 1.25])


def recorded_of(arrays, tokens=None):
    recorded = Recorded(list(arrays), {"b": "it was nested"}, tokens)
    for at, each in enumerate(arrays.values()):
        if each:
            recorded.keep(at, each)
    return recorded


def test_each_layer_has_its_weights_or_the_reason():
    x = tensor(RNG.normal(size=(1, 5, 6)))
    model = Model(Attention(), Attention(scale=1.0, seed=1), LatentAttention())
    with record(model, tokens=WORDS) as recorded:
        model(x)
    for at in (0, 1):
        heard = recorded._layers[at].pop("attention")
        if at:
            recorded._layers[at]["attention"] = heard
    computed, heard = heads_of(recorded)
    assert "computed by attnviz" in computed.note
    np.testing.assert_allclose(computed.attention, model.layers[0](x)[1][0], rtol=1e-6)
    assert heard.note == "", "the scale isn't attnviz's, but the weights were heard"
    assert heard.keys == computed.queries == tuple(WORDS)
    assert heard.is_shared

    attention, bad = weights(2), weights(2)
    bad[0, 0, 0] = np.nan
    layers = heads_of(
        recorded_of(
            {
                "a": {"attention": attention},
                "b": {},
                "c": {},
                "d": {"attention": bad},
                "e": {"attention": weights(4, 3, 5), "x": np.ones((3, 2)), "context": np.ones((5, 2))},
                "f": {"attention": attention.mean(axis=0)},
                "g": {"x": np.ones((5, 6))},
            },
            ["un", "deux", "trois"],
        )
    )
    notes = ("", "it was nested", "not called", "NaN or infinite", "", "the mean of all heads", "No attention weights")
    for layer, note in zip(layers, notes, strict=True):
        assert note in layer.note
        assert (layer.attention is None) == (layer.path in "bcdg")
    assert layers[4].queries == ("un", "deux", "trois")
    assert layers[4].keys == ("1", "2", "3", "4", "5")
    assert not layers[4].is_shared
    assert len(layers[5].attention) == 1


def test_words_that_fit_no_layer_are_refused():
    with pytest.raises(OwnArraysError, match="tokens must be the 5 words"):
        heads_of(recorded_of({"a": {"attention": weights()}}, ["a", "b"]))
