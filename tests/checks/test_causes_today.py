"""Causes in a layer of today: rotated, normed, capped, with sinks and groups; what is said, carried out, makes it."""

import re

import numpy as np
import pytest
from correctfiles import joined
from implementations import softmax

from attnviz import Parameters, RMSNorm, attend, compare
from attnviz.core.attention import attend_projected
from attnviz.core.operations.rotation import Rotation

N, HEADS, GROUPS, D = 6, 4, 2, 8
WIDTH = HEADS * D
BASE, CAP, EPSILON = 100.0, 5.0, 1e-2
SEEN = np.tri(N, dtype=bool)
BOTH = "queries and keys were"
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


def turned(rows, said="", first=0):
    """By complex numbers."""
    length = rows.shape[-1]
    base = 10_000.0 if "base of 10,000" in said else BASE
    places = first + np.arange(len(rows[0]))
    angles = np.exp((-1j if "negative" in said else 1j) * np.outer(places, base ** (-np.arange(0, length, 2) / length)))
    if "other pairs" in said:
        pairs = (rows[..., ::2] + 1j * rows[..., 1::2]) * angles
        return np.stack([pairs.real, pairs.imag], axis=-1).reshape(rows.shape)
    pairs = (rows[..., : length // 2] + 1j * rows[..., length // 2 :]) * angles
    return np.concatenate([pairs.real, pairs.imag], axis=-1)


def carried_out(said):
    """The attention and output of a pass in which happened what is said, in plain NumPy."""
    own, rows = given(), {}
    for letter, who in (("q", "queries"), ("k", "keys")):
        is_meant = who in said.split(" were ")[0]
        row = np.einsum("td,hde->hte", own["x"], own[f"w_{letter}"])

        def normed(row, letter=letter, is_meant=is_meant):
            norm = row / np.sqrt((row**2).mean(-1, keepdims=True) + EPSILON) * own[f"g_{letter}_norm"]
            return row if "not normed" in said and is_meant else norm

        row = row if "normed after" in said else normed(row)
        if "before they were cut" in said:
            heads = turned(joined(row)[None])[0].reshape(N, -1, D).transpose(1, 0, 2)
        else:
            first = ("later" in said) - ("earlier" in said) if is_meant else 0
            heads = row if "not rotated" in said and is_meant else turned(row, said, first)
        if "rotated twice" in said and is_meant:
            heads = turned(heads)
        if "kept keys" in said and letter == "k":
            heads = np.concatenate([turned(heads)[:, :-1], heads[:, -1:]], axis=1)
        rows[letter] = normed(heads) if "normed after" in said else heads
    rows["v"] = np.einsum("td,hde->hte", own["x"], own["w_v"])
    k, v = (
        np.tile(rows[each], (2, 1, 1))
        if "tiled" in said and each.upper() in said.split(" w")[0]
        else np.repeat(rows[each], 2, axis=0)
        for each in "kv"
    )
    scores = rows["q"] @ k.transpose(0, 2, 1) / D**0.5
    scores = scores if "not capped" in said else CAP * np.tanh(scores / CAP)
    powers = np.exp(np.where(SEEN, scores, -np.inf))
    sinks = 0 if "sinks were left out" in said else np.exp(own["sinks"])[:, None, None]
    attention = powers / (powers.sum(-1, keepdims=True) + sinks)
    return {"attention": attention, "output": joined(attention @ v) @ own["w_o"]}


def named(found):
    """The cause that is told, and those that the numbers don't tell from it."""
    (told,) = re.findall(r"^(.+): computed so, (?:all|more) of your numbers agree\.", str(found), re.MULTILINE)
    others = re.findall(r"^These numbers would be the same if (.+)\.$", str(found), re.MULTILINE)
    return [
        told[0].lower() + told[1:] if told[1] != " " else told,
        *(each for text in others for each in text.split(" or if ")),
    ]


def test_the_reference_is_the_pass():
    trace, expected = right(), carried_out("")
    for name in expected:
        np.testing.assert_allclose(trace[name].value, expected[name], atol=1e-13)


SPREAD = [each if number % 3 == 0 else pytest.param(each, marks=pytest.mark.slow) for number, each in enumerate(CAUSES)]


@pytest.mark.parametrize("said", SPREAD)
def test_beside_a_beginspass_the_cause_that_is_told_is_what_was_done(said):
    stated = {name: each.astype(np.float32) for name, each in carried_out(said).items()}
    found = compare(right(), stated)
    assert found.explained, str(found)
    names = named(found)
    assert said in names, str(found)
    for each in {*names} & {*CAUSES}:
        np.testing.assert_allclose(carried_out(each)["output"], stated["output"], atol=1e-4)
    assert "Wrong: " in str(found)
    assert "Right: " in str(found)


def test_of_queries_that_are_right_and_rotated_otherwise_afterwards_the_rotation_is_named():
    found = compare(right(), {"q_rotated": right()["q_normed"].value, **carried_out("queries were not rotated")})
    assert (found.first.stage, [each.id for each in found.causes]) == ("q_rotated", ["rotation left out"])


def test_a_scale_of_the_models_own_is_not_called_a_mistake_alone():
    """As in a small Gemma 2, whose query_pre_attn_scalar is the square of its width."""
    of = np.random.default_rng(6).standard_normal
    x, w_q, w_k = of((5, 16)), of((16, 16)), of((16, 16))
    q, k = ((x @ w).reshape(5, 4, 4).swapaxes(0, 1) for w in (w_q, w_k))
    said = str(compare(None, {"x": x, "w_q": w_q, "w_k": w_k, "attention": softmax(q @ k.swapaxes(1, 2) / 16)}))
    assert "The scores were divided by d_model, not by √d_k" in said
    assert "Some models do so on purpose: Gemma 2 and 3 divide by √query_pre_attn_scalar" in said


def test_beside_a_beginspass_of_float32_a_port_in_float32_agrees_whatever_type_holds_it():
    of = np.random.default_rng(7).standard_normal
    q, k, v = of((3, 2, 6, 8))
    trace = attend_projected(q.astype(np.float32), k, v)
    scaled = q.astype(np.float32) @ k.astype(np.float32).swapaxes(1, 2) / np.float32(8**0.5)
    found = compare(trace, {"attention": softmax(scaled.astype(float))})
    assert (found.first, found.precision) == (None, "float32"), str(found)


def test_keys_that_were_repeated_for_each_head_agree():
    of = np.random.default_rng(8).standard_normal
    q, k, v = of((4, 6, 8)), of((2, 6, 8)), of((2, 6, 8))
    trace = attend_projected(q, k, v)
    for repeated in (k, np.repeat(k, 2, axis=0)):
        assert compare(trace, {"q": q, "k": repeated, "attention": trace["attention"].value}).first is None
    assert compare(trace, {"k": np.tile(k, (2, 1, 1))}).first.stage == "k"
