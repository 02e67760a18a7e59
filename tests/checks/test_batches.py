"""Batches: several sentences compared one by one, and attention along the axis that counts them."""

import numpy as np
import pytest
from cases import covering
from comparisons import assert_as_reported
from implementations import softmax

from attnviz import compare

B, T, H, D = 4, 5, 2, 3
M = H * D
RANDOM = np.random.default_rng(0)
W = {each: RANDOM.normal(size=(M, M)) for each in "qkvo"}
X = RANDOM.normal(size=(B, T, M))
N_SEEN = np.array([5, 3, 4, 5])
PADDING = np.arange(T) < N_SEEN[:, None]
CAUSAL = np.tri(T, dtype=bool)
MASKS = {  # by their names and shapes, and the keys that they leave visible
    "none": ({}, np.ones((1, 1, T, T), bool)),
    "causal (t, t)": ({"mask": CAUSAL}, CAUSAL[None, None]),
    "padding (B, t)": ({"attention_mask": PADDING.astype(int)}, PADDING[:, None, None]),
    "padding of torch": ({"key_padding_mask": ~PADDING}, PADDING[:, None, None]),
    "padding (B, 1, 1, t)": ({"mask": PADDING[:, None, None]}, PADDING[:, None, None]),
    "both (B, 1, t, t)": ({"mask": PADDING[:, None, None] & CAUSAL}, PADDING[:, None, None] & CAUSAL),
    "both, added (B, h, t, t)": (
        {"mask": np.where(np.broadcast_to(PADDING[:, None, None] & CAUSAL, (B, H, T, T)), 0, -1e9)},
        PADDING[:, None, None] & CAUSAL,
    ),
    "both (B*h, t, t)": (
        {"attn_mask": np.repeat(PADDING[:, None] & CAUSAL, H, axis=0)},
        PADDING[:, None, None] & CAUSAL,
    ),
    "causal and padding": ({"mask": CAUSAL, "key_padding_mask": ~PADDING}, PADDING[:, None, None] & CAUSAL),
}


def heads_of(rows):
    return rows.reshape(*rows.shape[:-1], H, D).swapaxes(-3, -2)


def attended(x, seen, scale=D**-0.5):
    """Every stage of a batch of sentences, one after the other."""
    stages = {}
    for at, rows in enumerate(x):
        q, k, v = (heads_of(rows @ W[each]) for each in "qkv")
        scores = q @ k.swapaxes(-1, -2) * scale
        attention = softmax(np.where(np.broadcast_to(seen, (len(x), 1, *seen.shape[-2:]))[at], scores, -np.inf))
        output = (attention @ v).swapaxes(0, 1).reshape(len(rows), M) @ W["o"]
        for name, each in {"q": q, "k": k, "v": v, "attention": attention, "output": output}.items():
            stages.setdefault(name, []).append(each)
    return {name: np.stack(each) for name, each in stages.items()}


def arrays(mask="none", wrong=(), names=("q", "k", "v", "attention", "output"), dtype=np.float64, **mistake):
    """The arrays of a batch, in some sentences with a mistake."""
    given, seen = MASKS[mask]
    right, mistaken = attended(X, seen), attended(X, mistake.pop("seen", seen), **mistake)
    for name, each in right.items():
        for at in wrong:
            each[at] = mistaken[name][at]
    made = {name: right[name].astype(dtype) for name in names}
    return {"x": X.astype(dtype), **{f"w_{e}": w.astype(dtype) for e, w in W.items()}, **given, **made}


SETS = (("q", "k", "v", "attention", "output"), ("attention",), ("output",))


@pytest.mark.slow
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(("names", "dtype"), [*zip(SETS, (np.float32, np.float64, np.float32), strict=True)])
def test_a_right_batch_agrees(mask, names, dtype):
    given = arrays(mask, names=names, dtype=dtype)
    found = compare(None, given, n_heads=H)
    assert found.first is None, str(found)
    assert found.verdict[0].startswith(f"All {B} sentences agree: ")
    assert (found.n_sentences, found.differing) == (B, ())
    assert found.trace["attention"].shape == (H, T, T)


@pytest.mark.slow
@pytest.mark.parametrize(("at", "mask"), [*enumerate(["none", "causal (t, t)", "padding (B, t)", "both (B*h, t, t)"])])
def test_the_wrong_sentence_is_named_with_its_mistake(at, mask):
    found = compare(None, arrays(mask, wrong=[at], scale=1.0))
    assert (found.sentence, found.differing, found.first.stage) == (at, (at,), "attention")
    assert [each.id for each in found.causes] == ["unscaled"]
    assert f"Sentence {at + 1} of {B} differs; 3 agree." in found.verdict[0]
    np.testing.assert_allclose(found.trace["x"].value, X[at])
    np.testing.assert_allclose(found.theirs["attention"].value, arrays(mask, [at], scale=1.0)["attention"][at])


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [(0, 1, 2, 3), (1, 3)])
def test_the_cause_is_confirmed_on_the_others(wrong):
    found = compare(None, arrays(wrong=wrong, scale=1.0))
    assert (found.differing, found.alike) == (wrong, wrong[1:])
    assert [each.id for each in found.causes] == ["unscaled"]
    given = arrays(wrong=wrong, scale=1.0)
    given["output"][wrong[-1]] += 1
    other = compare(None, given)
    assert (other.differing, other.alike) == (wrong, wrong[1:-1])


def test_a_batch_whose_mask_is_ignored_or_inverted_is_wrong():
    ignored = compare(None, arrays("padding (B, 1, 1, t)", wrong=(1, 2), seen=MASKS["none"][1]))
    assert [each.id for each in ignored.causes] == ["mask not applied"]
    assert ignored.differing == (1, 2)
    one = compare(None, arrays("causal (t, t)", wrong=(3,), seen=MASKS["none"][1]))
    assert ([each.id for each in one.causes], one.differing) == (["mask not applied"], (3,))
    unmasked = arrays("causal (t, t)", wrong=(3,), seen=MASKS["none"][1])
    del unmasked["mask"]
    assert compare(None, unmasked).differing  # causal in three, in one not


LAYOUTS = {
    "(B, t, h, d)": lambda q: q.swapaxes(1, 2),
    "(B, t, h * d)": lambda q: q.swapaxes(1, 2).reshape(B, T, M),
    "(B * h, t, d)": lambda q: q.reshape(B * H, T, D),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_heads_may_lie_anywhere(layout):
    given = arrays("causal (t, t)")
    given |= {each: LAYOUTS[layout](given[each]) for each in "qkv"}
    given["attention"] = given["attention"].mean(axis=1) if "t, h * d" in layout else given["attention"]
    assert compare(None, given, n_heads=H).verdict[0].startswith(f"All {B} sentences agree")


def sequence_first(given):
    return given | {name: given[name].swapaxes(0, 1) for name in ("x", "output") if name in given}


@pytest.mark.slow
@pytest.mark.parametrize("mask", ["none", "padding of torch", "causal (t, t)"])
def test_sequence_first_agrees_and_is_asked_about_where_nothing_tells(mask):
    given = sequence_first(arrays(mask, names=("attention", "output")))
    found = compare(None, given)
    assert found.verdict[0].startswith(f"All {B} sentences agree")
    assert bool(found.questions) == (mask == "none")
    assert not compare(None, given | {"tokens": np.array(list("abcde"))}).questions
    wrong = compare(None, sequence_first(arrays(mask, names=("attention", "output"), wrong=(2,), scale=1.0)))
    assert (wrong.differing, wrong.first.stage) == ((2,), "attention")


def along_the_batch(names, **rows):
    """A batch whose code takes x as (tokens, sentences, d_model) although it isn't."""
    x = rows.get("x", X)
    made = attended(x.swapaxes(0, 1), np.ones((1, 1, len(x), len(x)), bool))
    made["output"] = made["output"].swapaxes(0, 1)
    return {"x": x, **{f"w_{each}": w for each, w in W.items()}, **{name: made[name] for name in names}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "n"), [(("attention",), 3), (("attention",), T), (("output",), T), (("attention", "output"), 3)]
)
def test_attention_along_the_batch_is_named_or_asked_about(names, n):
    given = along_the_batch(names, x=RANDOM.normal(size=(n, T, M)))
    library = {"hidden_states": given["x"]} | {name: each for name, each in given.items() if name != "x"}
    found = compare(None, library)
    assert [each.id for each in found.causes] == ["attention along the batch axis"], str(found)
    assert found.explained
    assert "ran along the batch axis" in str(found)
    neutral = compare(None, given)
    assert neutral.first is None
    assert any("along the batch" in each for each in neutral.questions)
    if names == ("attention",):
        with pytest.raises(AssertionError, match="along the batch"):
            assert_as_reported(neutral, given)
    if n != T:
        masked = compare(None, given | {"key_padding_mask": np.zeros((n, T), bool)})
        assert bool(masked.causes) == ("attention" in names)


def test_one_sentence_is_no_batch():
    given = arrays("padding (B, 1, 1, t)")
    one = {name: each[:1] if len(each) == B else each for name, each in given.items()}
    found = compare(None, one)
    assert (found.sentence, found.n_sentences) == (None, 1)
    assert found.first is None


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [(1,), (0, 1, 2, 3)])
def test_the_mask_of_another_sentence_is_named(wrong):
    bias = RANDOM.normal(size=(B, H, T, T))
    mask = bias[[1, 2, 3, 0]]
    given = {"x": X, **{f"w_{each}": w for each, w in W.items()}, "position_bias": bias}
    made = [[heads_of(rows @ W[each]) for each in "qkv"] for rows in X]
    scores = np.stack([q @ k.swapaxes(1, 2) * D**-0.5 + bias[i] for i, (q, k, _) in enumerate(made)])
    for i in wrong:
        scores[i] += mask[i] - bias[i]
    found = compare(None, given | {"attention": softmax(scores)})
    assert [each.id for each in found.causes] == ["mask of another sentence"], str(found)
    assert (found.differing, found.alike) == (wrong, wrong[1:])
    assert f"sentence {wrong[0] + 2}" in str(found)
    assert found.explained


@pytest.mark.slow
@pytest.mark.parametrize("n", [H, 3, T])
def test_heads_by_sentence_go_with_an_x_that_is_sequence_first(n):
    x = RANDOM.normal(size=(n, T, M))
    right = attended(x, CAUSAL[None, None])
    given = {"x": x, **{f"w_{each}": w for each, w in W.items()}, "mask": CAUSAL, **right}
    found = compare(None, sequence_first(given))
    assert found.first is None
    assert not found.questions or n == T


@pytest.mark.parametrize("mask", ["causal (t, t)", "padding (B, t)", "both (B*h, t, t)"])
def test_a_mistake_by_chance_along_one_axis_is_no_reason_against_the_other(monkeypatch, mask):
    """Of sequence first, the tokens that see themselves alone look like attention along the batch."""
    monkeypatch.setattr("attnviz.checks.explain.batch.explain", None)  # no mistake is searched for, which takes seconds
    given = sequence_first(arrays(mask, names=("output",)))
    found = compare(None, {name: each for name, each in given.items() if "causal" not in mask or name != "mask"})
    assert found.first is None, str(found)


@covering(mask=["causal (t, t)", "both (B, 1, t, t)"], dtype=[np.float32, np.float64])
def test_alibi_may_be_a_number_for_each_key(mask, dtype):
    """As BLOOM adds it: slope * key is slope * (key - query) but for a number in each row."""
    given, seen = MASKS[mask]
    made = [[heads_of(rows @ W[each]) for each in "qkv"] for rows in X]
    scaled = np.stack([q @ k.swapaxes(1, 2) * D**-0.5 for q, k, _ in made])
    masked = np.where(seen, scaled + np.array([1 / 16, 1 / 256])[:, None, None] * np.arange(T), -np.inf)
    stages = {"scaled": scaled, "masked": masked, "attention": softmax(masked)}
    own = {"x": X, **{f"w_{each}": w for each, w in W.items()}} | stages
    right = compare(None, {name: each.astype(dtype) for name, each in own.items()} | given)
    assert right.first is None, str(right)
    masked[2] += np.random.default_rng(1).normal(size=T)
    wrong = compare(None, {name: each.astype(dtype) for name, each in own.items()} | given)
    assert (wrong.differing, wrong.first.stage) == ((2,), "masked")


def biased(n, bias, names):
    """A batch of n sentences, whose bias has heads on its third last axis, perhaps after sentences."""
    x = RANDOM.normal(size=(n, T, M))
    h = bias.shape[-3]
    made: dict[str, list] = {"attention": [], "output": []}
    for at, rows in enumerate(x):
        q, k, v = ((rows @ W[each]).reshape(T, h, M // h).swapaxes(0, 1) for each in "qkv")
        scores = q @ k.swapaxes(1, 2) * (M // h) ** -0.5
        made["attention"].append(softmax(scores + (bias[at] if bias.ndim == 4 else bias)))
        made["output"].append((made["attention"][-1] @ v).swapaxes(0, 1).reshape(T, M) @ W["o"])
    return {"x": x, **{f"w_{each}": w for each, w in W.items()}} | {name: np.stack(made[name]) for name in names}


def _asks(found):
    return any("first axis" in each for each in found.questions)


BIASES = ("alibi", "position_bias", "attn.attn_bias", "attn_mask")


@covering(
    lengths=[*[(3, 3)] * len(BIASES), (2, 6), (3, 6), (4, 3), (2, 6)],  # the first are those that don't tell
    name=BIASES,
    names=[("attention",), ("output",), ("output",)],
)
def test_a_bias_of_heads_or_sentences_or_both_agrees(lengths, name, names):
    n, h = lengths
    is_bias = name != "attn_mask"
    of_heads = RANDOM.normal(size=(h, T, T))
    found = compare(None, {**biased(n, of_heads, names), name: of_heads}, n_heads=h)
    assert found.first is None, str(found)
    assert _asks(found) == (n == h and not is_bias), str(found)
    by_key = RANDOM.normal(size=(h, 1, T))
    assert compare(None, {**biased(n, by_key, names), name: by_key}, n_heads=h).first is None
    of_both = RANDOM.normal(size=(n, h, T, T))
    given = {**biased(n, of_both, names), name: of_both.reshape(n * h, T, T)}
    found = compare(None, given, n_heads=h)
    assert (found.first, _asks(found)) == (None, False)
    of_sentences = RANDOM.normal(size=(n, T, T))
    given = biased(n, np.repeat(of_sentences[:, None], h, axis=1), names)
    found = compare(None, {**given, name: of_sentences}, n_heads=h)
    assert found.first is None
    assert _asks(found) == (n == h and is_bias), str(found)


@pytest.mark.parametrize("name", ["position_bias", "attn_mask"])
def test_a_bias_of_other_heads_is_wrong(unexplained, name):
    bias = RANDOM.normal(size=(3, T, T))
    for n in (2, 3):
        assert compare(None, {**biased(n, bias[[1, 2, 0]], ("attention",)), name: bias}).first is not None
    of_sentences = {**biased(2, bias[:2, None].repeat(2, axis=1), ("attention",)), name: bias[1::-1]}
    assert compare(None, of_sentences).first is not None


T_PADDING = np.arange(T) < np.array([5, 3, 4, 5, 2])[:, None]
"""Of as many sentences as tokens."""


@covering(
    mask=[T_PADDING, np.tri(T, dtype=bool) & ~np.tri(T, k=-2, dtype=bool), CAUSAL] * 2,
    name=["mask", "attention_mask"],
    names=[("attention",), ("output",), ("output",), ("attention",)],
)
def test_a_mask_with_as_many_sentences_as_tokens(mask, name, names):
    x, is_of_sentences = RANDOM.normal(size=(T, T, M)), mask is T_PADDING
    right = attended(x, mask[:, None, None] if is_of_sentences else mask[None, None])
    inputs = {"x": x, **{f"w_{each}": w for each, w in W.items()}}
    found = compare(None, {**inputs, name: mask, **{each: right[each] for each in names}}, n_heads=H)
    assert found.first is None, str(found)
    assert _asks(found) == (is_of_sentences == (name == "mask")), str(found)


def test_a_mask_along_another_axis_is_wrong(unexplained):
    inputs = {"x": RANDOM.normal(size=(T, T, M)), **{f"w_{each}": w for each, w in W.items()}}
    by_query = attended(inputs["x"], T_PADDING[None, None])["attention"]
    assert compare(None, {**inputs, "attention_mask": T_PADDING, "attention": by_query}).first is not None
    by_sentence = attended(inputs["x"], CAUSAL[:, None, None])["attention"]
    assert compare(None, {**inputs, "mask": CAUSAL, "attention": by_sentence}).first is not None


def test_a_mask_of_sentences_that_was_applied_to_heads_is_wrong(unexplained):
    seen = np.stack([CAUSAL, CAUSAL & PADDING[1]])
    wrong = biased(2, np.where(seen, 0, -np.inf), ("attention",))
    assert compare(None, wrong | {"mask": seen}).first is not None


@pytest.mark.parametrize("mask", ["none", "causal (t, t)"])
def test_one_sentence_that_is_sequence_first_agrees(unexplained, mask):
    given = {name: each[:1] if len(each) == B else each for name, each in arrays(mask).items()}
    joined = {each: given[each].swapaxes(1, 2).reshape(T, 1, M) for each in "qkv"}
    assert compare(None, sequence_first(given) | joined).first is None
    joined["q"] = joined["q"][::-1]
    assert compare(None, sequence_first(given) | joined).first.stage == "q"
