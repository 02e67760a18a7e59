"""Mistakes in a recent layer, with RoPE, norms of queries and keys, softcap, sinks and groups, are named."""

import numpy as np
import pytest
from correctfiles import joined
from implementations import softmax
from test_causes import every_nth, named

from attnviz import Parameters, RMSNorm, attend, compare
from attnviz.core.attention import attend_projected
from attnviz.core.operations.rotation import Rotation

N, HEADS, GROUPS, D = 6, 4, 2, 8
WIDTH = HEADS * D
BASE, CAP, EPSILON = 100.0, 5.0, 1e-2
SEEN = np.tri(N, dtype=bool)
BOTH = "queries and keys were"
NORMED = {
    (BOTH, "all heads together"): (0, -1),
    ("queries were", "all heads together"): (0, -1),
    (BOTH, "the heads"): 0,
    ("keys were", "the tokens"): -2,
}
CAUSES = (
    *(f"{who} not rotated by their positions" for who in ("queries were", "keys were")),
    "the rotation turned other pairs of dimensions: neighbours in the place of halves, or the reverse",
    *(
        f"{who} were rotated as if they were one position {way}"
        for who in ("queries", "keys")
        for way in ("later", "earlier")
    ),
    *(f"{who} rotated twice" for who in ("queries were", "keys were", BOTH)),
    "the kept keys, which are rotated already, were rotated again",
    "the rotation had a base of 10,000, not that of the pass",
    "queries and keys were rotated the other way round, by negative angles",
    "queries and keys were rotated before they were cut into heads",
    *(f"{who} not normed" for who in ("queries were", "keys were", BOTH)),
    "queries and keys were normed after they were rotated, not before",
    *(f"{who} normed over {across}, not each head's alone" for who, across in NORMED),
    "the scores were not capped (softcap)",
    "the sinks were left out of the softmax",
    *(f"{who} tiled, where each group belongs to heads in a row" for who in ("K was", "V was", "K and V were")),
)


def given():
    of = np.random.default_rng(4).standard_normal
    return {
        "x": of((N, WIDTH)),
        "w_q": of((HEADS, WIDTH, D)) / 4,
        **{f"w_{each}": of((GROUPS, WIDTH, D)) / 4 for each in "kv"},
        "w_o": of((WIDTH, WIDTH)) / 4,
        **{f"g_{each}_norm": 1 + of(D) / 3 for each in "qk"},
        "sinks": of(HEADS),
    }


def right():
    own = given()
    x = own.pop("x")
    return attend(
        x,
        parameters=Parameters(**own),
        mask=SEEN,
        qk_norm=RMSNorm(EPSILON),
        rotation=Rotation(BASE, "halves"),
        softcap=CAP,
    )


def rotate(rows, mistake="", first=0):
    """Rotate pairs as complex numbers."""
    length = rows.shape[-1]
    base = 10_000.0 if "base of 10,000" in mistake else BASE
    places = first + np.arange(len(rows[0]))
    angles = np.outer(places, base ** (-np.arange(0, length, 2) / length))
    turns = np.exp((-1j if "negative" in mistake else 1j) * angles)
    if "other pairs" in mistake:
        pairs = (rows[..., ::2] + 1j * rows[..., 1::2]) * turns
        return np.stack([pairs.real, pairs.imag], axis=-1).reshape(rows.shape)
    pairs = (rows[..., : length // 2] + 1j * rows[..., length // 2 :]) * turns
    return np.concatenate([pairs.real, pairs.imag], axis=-1)


def pass_with(mistake):
    """The attention and output of a pass with a mistake, in plain NumPy."""
    own, rows = given(), {}
    for letter, who in (("q", "queries"), ("k", "keys")):
        is_meant = who in mistake.split(" were ")[0]
        row = np.einsum("td,hde->hte", own["x"], own[f"w_{letter}"])

        def normed(row, letter=letter, is_meant=is_meant):
            across = [axes for words, axes in NORMED.items() if is_meant and " normed over ".join(words) in mistake]
            axes = across[0] if across else -1
            norm = row / np.sqrt((row**2).mean(axes, keepdims=True) + EPSILON) * own[f"g_{letter}_norm"]
            return row if "not normed" in mistake and is_meant else norm

        row = row if "normed after" in mistake else normed(row)
        if "before they were cut" in mistake:
            heads = rotate(joined(row)[None])[0].reshape(N, -1, D).transpose(1, 0, 2)
        else:
            first = ("later" in mistake) - ("earlier" in mistake) if is_meant else 0
            heads = row if "not rotated" in mistake and is_meant else rotate(row, mistake, first)
        if "rotated twice" in mistake and is_meant:
            heads = rotate(heads)
        if "kept keys" in mistake and letter == "k":
            heads = np.concatenate([rotate(heads)[:, :-1], heads[:, -1:]], axis=1)
        rows[letter] = normed(heads) if "normed after" in mistake else heads
    rows["v"] = np.einsum("td,hde->hte", own["x"], own["w_v"])
    k, v = (
        np.tile(rows[each], (2, 1, 1))
        if "tiled" in mistake and each.upper() in mistake.split(" w")[0]
        else np.repeat(rows[each], 2, axis=0)
        for each in "kv"
    )
    scores = rows["q"] @ k.transpose(0, 2, 1) / D**0.5
    scores = scores if "not capped" in mistake else CAP * np.tanh(scores / CAP)
    powers = np.exp(np.where(SEEN, scores, -np.inf))
    sinks = 0 if "sinks were left out" in mistake else np.exp(own["sinks"])[:, None, None]
    attention = powers / (powers.sum(-1, keepdims=True) + sinks)
    return {"attention": attention, "output": joined(attention @ v) @ own["w_o"]}


def test_the_reference_is_the_pass():
    trace, expected = right(), pass_with("")
    for name in expected:
        np.testing.assert_allclose(trace[name].value, expected[name], atol=1e-13)


@pytest.mark.parametrize("mistake", every_nth(CAUSES, 3))
def test_a_mistake_is_named_and_makes_the_numbers(mistake):
    stages = {name: each.astype(np.float32) for name, each in pass_with(mistake).items()}
    found = compare(right(), stages)
    assert found.explained, str(found)
    assert mistake in named(found), str(found)
    for each in {*named(found)} & {*CAUSES}:
        np.testing.assert_allclose(pass_with(each)["output"], stages["output"], atol=1e-4)
    assert "Wrong: " in str(found)
    assert "Right: " in str(found)


def test_the_rotation_is_named_where_queries_agree_before_it():
    found = compare(right(), {"q_rotated": right()["q_normed"].value, **pass_with("queries were not rotated")})
    assert (found.first.stage, [each.id for each in found.causes]) == ("q_rotated", ["rotation left out"])


def test_a_scale_that_some_models_use_on_purpose_is_said_to_be_used_so():
    """As in a small Gemma 2, whose query_pre_attn_scalar is the square of its width."""
    of = np.random.default_rng(6).standard_normal
    x, w_q, w_k = of((5, 16)), of((16, 16)), of((16, 16))
    q, k = ((x @ w).reshape(5, 4, 4).swapaxes(0, 1) for w in (w_q, w_k))
    report = str(compare(None, {"x": x, "w_q": w_q, "w_k": w_k, "attention": softmax(q @ k.swapaxes(1, 2) / 16)}))
    assert "The scores were divided by d_model, not by √d_k" in report
    assert "Some models do so on purpose: Gemma 2 and 3 divide by √query_pre_attn_scalar" in report


def test_a_port_in_float32_agrees_with_a_float32_pass_whatever_type_holds_it():
    of = np.random.default_rng(7).standard_normal
    q, k, v = of((3, 2, 6, 8))
    trace = attend_projected(q.astype(np.float32), k, v)
    scaled = q.astype(np.float32) @ k.astype(np.float32).swapaxes(1, 2) / np.float32(8**0.5)
    found = compare(trace, {"attention": softmax(scaled.astype(float))})
    assert (found.first, found.precision) == (None, "float32"), str(found)


def test_keys_repeated_for_each_head_agree_and_tiled_ones_do_not():
    of = np.random.default_rng(8).standard_normal
    q, k, v = of((4, 6, 8)), of((2, 6, 8)), of((2, 6, 8))
    trace = attend_projected(q, k, v)
    for repeated in (k, np.repeat(k, 2, axis=0)):
        assert compare(trace, {"q": q, "k": repeated, "attention": trace["attention"].value}).first is None
    assert compare(trace, {"k": np.tile(k, (2, 1, 1))}).first.stage == "k"
