"""Conventions of libraries: names that mean one thing in one library and another thing elsewhere."""

import re

import numpy as np
import pytest
from implementations import softmax

from attnviz import compare

N, H, D = 5, 2, 4
RANDOM = np.random.default_rng(8)
X = RANDOM.normal(size=(N, H * D))
W = {each: RANDOM.normal(size=(H * D, H * D)) for each in ("q", "k", "v", "o")}
SEEN = np.tri(N, dtype=bool) & (np.arange(N) > 1)


def split(array):
    return array.reshape(N, H, -1).transpose(1, 0, 2)


def passed(limit=None, divisor=D**0.5, seen=None, unseeing=0.0, context=X):
    q, k, v = (split(x @ W[each].T) for each, x in (("q", X), ("k", context), ("v", context)))
    scores = q @ k.swapaxes(1, 2) / divisor
    scores = limit * np.tanh(scores / limit) if limit else scores
    if seen is not None:
        with np.errstate(invalid="ignore"):
            attention = softmax(np.where(seen, scores, -np.inf))
        attention[:, ~seen.any(axis=-1)] = unseeing
    else:
        attention = softmax(scores)
    heads = (attention @ v).transpose(1, 0, 2).reshape(N, H * D)
    return {"attention": attention, "output": heads @ W["o"].T}


HUGGING_FACE = {f"self_attn.{each}_proj.weight": w for each, w in W.items()}
FUSED = {"in_proj_weight": np.concatenate([W["q"], W["k"], W["v"]]), "out_proj.weight": W["o"]}


@pytest.mark.parametrize(
    "name", ["attn_logit_softcapping", "softcap", "model.layers.1.self_attn.attn_logit_softcapping"]
)
def test_a_softcap_in_the_file_applies_to_the_pass(name):
    arrays = {"hidden_states": X, **HUGGING_FACE, name: np.array(3.0)}
    found = compare(None, arrays | passed(limit=3.0))
    assert found.first is None
    assert not found.unread
    assert found.trace["capped"].operation.limit == 3
    (cause,) = compare(None, arrays | passed()).causes
    assert cause.id == "softcap left out"


def test_query_key_and_value_with_in_proj_weight_are_inputs():
    other = RANDOM.normal(size=(N, H * D))
    for context, arrays in (
        (X, {"query": X}),
        (X, {"query": X, "key": X, "value": X}),
        (other, {"query": X, "key": other, "value": other}),
    ):
        found = compare(None, {**arrays, **FUSED, **passed(context=context)})
        assert found.first is None
        assert "w_q" in found.trace
        (cause,) = compare(None, {**arrays, **FUSED, **passed(divisor=1, context=context)}).causes
        assert cause.id == "unscaled"


def test_attention_scores_of_keras_are_attention_weights_even_with_fully_masked_queries():
    found = passed(seen=SEEN)
    arrays = {"x": X, **HUGGING_FACE, "mask": SEEN, "attention_scores": found["attention"], "output": found["output"]}
    assert compare(None, arrays, true_is="visible").first is None


def test_scaled_scores_may_be_masked_already():
    q, k = (split(X @ W[each].T) for each in "qk")
    scaled = np.where(np.tri(N, dtype=bool), q @ k.swapaxes(1, 2) / D**0.5, -np.inf)
    arrays = {"hidden_states": X, **HUGGING_FACE, **passed(seen=np.tri(N, dtype=bool))}
    found = compare(None, arrays | {"scaled": scaled})
    assert found.first is None
    assert "Your scaled are attnviz’s masked scores." in str(found).replace("'", "’")


def test_a_negative_row_sum_has_a_true_minus_sign():
    found = compare(None, {"x": X, **HUGGING_FACE, "attention": np.full((H, N, N), -1.0)})
    assert "adds up to −5, not to 1." in str(found)


def test_unread_rotation_tables_qualify_the_agreement():
    angles = {"rotary_emb.cos": np.ones((N, 4 * D)), "rotary_emb.sin": np.zeros((N, 4 * D))}  # of wider heads
    agreeing = compare(None, {"x": X, **HUGGING_FACE, **passed(), **angles})
    assert agreeing.first is None
    assert "without your rotary_emb.cos and rotary_emb.sin" in agreeing.headline
    turned = {"x": X, **HUGGING_FACE, **angles, "attention": softmax(RANDOM.normal(size=(H, N, N)))}
    for found in (agreeing, compare(None, turned)):
        assert any("keys by your rotary_emb.cos and rotary_emb.sin?" in each for each in found.notes)
    assert "these numbers may be right" in str(found)
    assert "No mistake that attnviz knows" not in str(found)


def test_an_unusual_fused_layout_and_an_unread_w_o_raise_questions():
    blocks = np.concatenate([W["q"], W["k"], W["v"]])
    by_heads = blocks.reshape(3, H, D, H * D).swapaxes(0, 1).reshape(blocks.shape)
    for fused, asks in ((blocks, 2), (by_heads, 1)):
        found = compare(None, {"x": X, "query_key_value.weight": fused, "mix.weight": W["o"], **passed()})
        assert found.first is None
        assert len(found.questions) == asks, found.questions
        assert "Is your mix.weight W_O" in str(found.questions)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stage", "number"),
    [("output", np.nan), ("output", np.inf), ("attention", np.nan), ("attention", -np.inf), ("residual", np.nan)],
)
@pytest.mark.parametrize("without", [[], ["self_attn.o_proj.weight"]])
def test_nan_and_infinity_never_agree(unexplained, without, stage, number):
    arrays = {"x": X, **HUGGING_FACE, **passed(), "residual": np.ones((N, H * D))}
    arrays = {name: each.copy() for name, each in arrays.items() if name not in without}
    arrays[stage][..., -1, 0] = number
    found = compare(None, arrays)
    assert found.first is not None or f"{stage} has" in found.headline, str(found)
    assert any(each.startswith(f"{stage} has") for each in found.not_finite)
    seen = compare(
        None, {"x": X, **HUGGING_FACE, "mask": SEEN, **passed(seen=SEEN, unseeing=np.nan)}, true_is="visible"
    )
    assert "attention has NaN in 20 of 50 places" in seen.headline, seen.headline
    hidden = np.where(SEEN, 0, -np.inf)
    assert not compare(None, {"x": X, **HUGGING_FACE, "attn_mask": hidden, **passed(seen=SEEN)}).not_finite


@pytest.mark.parametrize("wrong", ["qkv", "qk", "v", "q"])
def test_heads_split_without_transposing_after_the_recorded_projections_are_named(wrong):
    rows = {each: X @ W[each].T for each in "qkv"}
    cut = {each: rows[each].reshape(H, N, D) if each in wrong else split(rows[each]) for each in "qkv"}
    attention = softmax(cut["q"] @ cut["k"].swapaxes(1, 2) / D**0.5)
    heads = attention @ cut["v"]
    for concat in (heads.swapaxes(0, 1).reshape(N, H * D), heads.reshape(N, H * D)):
        recorded = {"attention": attention, "concat": concat, "output": concat @ W["o"].T}
        found = compare(None, {"x": X, **HUGGING_FACE, **{each: split(rows[each]) for each in "qkv"}, **recorded})
        assert found.first is not None
        if wrong != "qkv":
            continue
        assert found.explained, str(found)
        cutting = [each for each in found.causes if each.id == "heads split without transposing"]
        assert "".join(each.slots["names"] for each in cutting) == "Q, K and V were", str(found)


def cosines(*, gains=None, axis=-1, scale=10.0, n=1):
    """Cosine attention, as in Swin Transformer V2: queries and keys of length 1."""
    made = {name: [] for name in ("x", "q", "k", "q_normed", "k_normed", "scores", "scaled", "attention", "output")}
    for at in range(n):
        x = X[::-1] + at if at else X
        q, k, v = (split(x @ W[each].T) for each in "qkv")
        normed = [each / np.linalg.norm(each, axis=axis, keepdims=True) for each in (q, k)]
        normed = [each * gain for each, gain in zip(normed, gains, strict=True)] if gains else normed
        scores = normed[0] @ normed[1].swapaxes(1, 2)
        attention = softmax(scale * scores)
        output = (attention @ v).swapaxes(0, 1).reshape(N, -1) @ W["o"].T
        for name, each in zip(made, (x, q, k, *normed, scores, scale * scores, attention, output), strict=True):
            made[name].append(each)
    stages = {name: np.stack(each) if n > 1 else each[0] for name, each in made.items()}
    names = {f"{each}_norm.weight": gain for each, gain in zip("qk", gains or (), strict=False)}
    return {**HUGGING_FACE, **names, **stages}


FEW = ("q", "k", "q_normed", "k_normed", "scores", "scaled")


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("gains", [None, (1 + RANDOM.normal(size=D) / 4, 1 + RANDOM.normal(size=D) / 4)])
@pytest.mark.parametrize("without", [(), FEW[:2], FEW])
def test_queries_and_keys_of_length_1_agree(unexplained, n, gains, without):
    if gains and "q_normed" in without:
        return  # the gains are then those of an RMS norm
    arrays = {name: each for name, each in cosines(gains=gains, n=n).items() if name not in without}
    given, fitted = compare(None, arrays | {"scale": np.array(10.0)}), compare(None, arrays)
    assert (given.first, given.questions) == (None, ()), str(given)
    assert (fitted.first, len(fitted.questions)) == (None, 1), str(fitted)  # the scale that fits may be meant or not
    wrong = {name: each for name, each in cosines(gains=gains, n=n, axis=-2).items() if name not in without}
    assert compare(None, wrong | {"scale": np.array(10.0)}).first is not None


def of_keras(kind):
    """What `return_attention_scores` gives, of a layer under Keras' names."""
    q, k = (split(X @ W[each]) for each in "qk")
    scores = q @ k.swapaxes(1, 2)
    attention = softmax(scores / D**0.5)
    if kind == "dropout":
        attention *= (np.random.default_rng(3).random(attention.shape) > 0.25) / 0.75
    if kind == "NaN":
        attention[:, 1] = np.nan
    if kind == "after":
        attention[:, ~np.tri(N, dtype=bool)] = -1e9
    kernels = {"query": W["q"], "key": W["k"], "value": W["v"]}
    arrays = {"x": X} | {f"mha/{name}/kernel": w.reshape(H * D, H, D) for name, w in kernels.items()}
    arrays["mha/attention_output/kernel"] = W["o"].reshape(H, D, H * D)
    arrays |= {"scores": scores} if kind == "beside scores" else {}
    return arrays | {"mha/attention_scores": scores if kind == "raw" else attention}


@pytest.mark.parametrize(
    ("kind", "stages", "cause"),
    [
        ("", ["attention"], None),
        ("beside scores", ["scores", "attention"], None),
        ("raw", ["scores"], None),
        ("NaN", ["attention"], None),
        ("dropout", ["attention"], "dropout left on"),
    ],
)
def test_keras_calls_its_weights_scores(kind, stages, cause):
    found = compare(None, of_keras(kind))
    assert [each.stage for each in found.stages] == stages
    assert [each.id for each in found.causes[:1]] == [cause] * bool(cause), str(found)


def test_keras_weights_with_minus_infinity_are_no_scores():
    assert compare(None, of_keras("after")).first.stage == "attention"


KERNELS = {"query": "q", "key": "k", "value": "v"}
FLAX = {f"{name}/kernel": W[each].T.reshape(H * D, H, D) for name, each in KERNELS.items()}
FLAX |= {"out/kernel": W["o"].T.reshape(H, D, H * D)}
OTHER = RANDOM.normal(size=(N, H * D))


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize(
    ("inputs", "context"),
    [
        ({"inputs_q": X}, X),
        ({"inputs_q": X, "inputs_kv": X}, X),
        ({"inputs_q": X, "inputs_k": X, "inputs_v": X}, X),
        ({"inputs_q": X, "inputs_kv": OTHER}, OTHER),
        ({"inputs_q": X, "inputs_k": OTHER, "inputs_v": OTHER}, OTHER),
        ({"query": X, "value": X}, X),
        ({"query": X, "value": OTHER}, OTHER),
        ({"resid_pre": X}, X),
        ({"ln1.normalized": X}, X),
        ({"hidden_states": X, "encoder_hidden_states": OTHER}, OTHER),
    ],
)
def test_the_inputs_of_libraries_are_x_and_context(inputs, context, batch):
    arrays = inputs | passed(context=context)
    found = compare(None, FLAX | {name: np.stack([each, each]) if batch else each for name, each in arrays.items()})
    assert found.first is None, str(found)
    assert [each.stage for each in found.stages] == ["attention", "output"]
    assert found.unread == ()
    assert ("context" in found.trace) == (context is OTHER)


@pytest.mark.parametrize(
    ("without", "says"),
    [(["x"], ["x"]), (["x", "query/kernel"], ["x", "W_Q"]), ([*FLAX, "x", "output"], ["Q", "K"])],
)
def test_what_is_missing_to_recompute_attention_is_said(without, says):
    arrays = {name: each for name, each in (FLAX | {"x": X} | passed()).items() if name not in without}
    found = compare(None, arrays | {"of_mine": X})
    assert not found.stages
    assert all(re.search(rf"give .*\b{each}\b", found.headline) for each in says), found.headline
    assert "of_mine" in found.unread


LLAMA = {name.replace("out_proj", "o_proj"): w for name, w in HUGGING_FACE.items()}
BIASES = {name.replace("weight", "bias"): np.zeros(len(w)) for name, w in LLAMA.items()}
RENAMED = {name.replace("o_proj", "out_proj"): w for name, w in LLAMA.items()}


@pytest.mark.parametrize(
    ("arrays", "is_asked"),
    [
        ({"hidden_states": X, **LLAMA}, True),
        ({"x": X, **LLAMA}, False),
        ({"hidden_states": X, **LLAMA, **BIASES}, False),  # as in OPT
        ({"hidden_states": X, **RENAMED}, False),  # as in GPT-Neo
    ],
)
def test_a_pass_without_rotation_is_asked_about_under_the_names_of_llama(arrays, is_asked):
    seen = np.tri(N, dtype=bool)
    for names in (["attention"], ["output"]):
        given = {name: each for name, each in passed(seen=seen).items() if name in names}
        found = compare(None, arrays | given | {"mask": seen})
        assert found.first is None
        assert any("RoPE" in each for each in found.questions) == is_asked
