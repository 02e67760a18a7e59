"""Mistakes with heads and projections, in each number format and with few stages; each is said once."""

from dataclasses import replace

import numpy as np
import pytest
import test_causes
from implementations import softmax
from test_causes import BATCH, D_K, HEADS, SEEN, N, named

from attnviz import compare
from attnviz.checks.causes import cause, code
from attnviz.core.errors import OwnArraysError

STAGES = {
    "all": ("q", "k", "v", "attention", "heads", "concat", "output"),
    "attention, output": ("attention", "output"),
    "output": ("output",),
}
MISTAKES = (
    "Q, K and V were cut into heads without transposing",
    "Q, K and V were cut into heads without transposing, and joined so, too",
    "the heads were joined without transposing",
    "the values were made with W_K and b_K, not with W_V and b_V",
    "the queries were made with W_V, not with W_Q",
    "W_Q and W_K were exchanged",
    "W_Q was used transposed",
    "W_O was used transposed",
    "the scores were divided by √d_model, not by √d_k",
    "the scores were divided by √heads, not by √d_k",
    "the scores were divided by d_k, not by √d_k",
    "the softmax was taken along the heads, not along the keys",
    "the softmax was taken along the queries, not along the keys",
    f"{BATCH}, so that each token attended only to itself",
)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_in_float16_and_from_few_stages(monkeypatch, mistake):
    """In float64 and float32: `test_causes`, `test_kinds`."""
    own = {name: each.astype(np.float16) for name, each in test_causes.given().items()}
    monkeypatch.setattr(test_causes, "given", lambda: {name: each.astype(float) for name, each in own.items()})
    made = test_causes.pass_with(mistake)
    for names in STAGES.values():
        arrays = own | {name: made[name].astype(np.float16) for name in names} | {"mask": SEEN}
        found = compare(None, arrays, n_heads=HEADS, orientation="(in, out)", true_is="visible")
        assert mistake in named(found), str(found)
        assert found.explained
        alternatives = [*map(code, (*found.causes, *(each for (each,) in found.alternatives)))]
        assert len({*alternatives}) == len(alternatives), "each wrong line is said once"


@pytest.mark.parametrize("more", [(), ("attention",), ("attention", "concat"), ("concat",)])
def test_heads_cut_by_view_are_named_as_recorded(more):
    """Hooks record queries, keys and values before they are cut into heads."""
    made = test_causes.pass_with("Q, K and V were cut into heads without transposing, and joined so, too")
    own, right = test_causes.given(), test_causes.pass_with("")
    arrays = {f"{name[2]}_proj.{'bias' if name[0] == 'b' else 'weight'}": own[name].T for name in own if name != "x"}
    arrays |= {"x": own["x"], "mask": SEEN, **{each: right[each] for each in "qkv"}}
    found = compare(None, arrays | {each: made[each] for each in (*more, "output")}, n_heads=HEADS, true_is="visible")
    assert [each.id for each in found.causes] == ["heads split without transposing"], str(found)
    assert found.explained
    assert "and joined so, too" in str(found)


@pytest.mark.parametrize(("n_heads", "seed"), [(2, 2), (4, 1), (8, 0)])
def test_heads_cut_by_view_are_named_from_an_output_whatever_matrices_fit(n_heads, seed):
    rng = np.random.default_rng(seed)
    x, *w = rng.normal(size=(6, 32)), *rng.normal(size=(4, 32, 32)) / 6
    q, k, v = ((x @ each).reshape(n_heads, 6, -1) for each in w[:3])
    output = (softmax(q @ k.swapaxes(1, 2) / np.sqrt(32 / n_heads)) @ v).reshape(6, 32) @ w[3]
    found = compare(None, {"X": x, **dict(zip(("Wq", "Wk", "Wv", "Wo"), w, strict=True)), "output": output})
    assert [each.id for each in found.causes] == ["heads split without transposing"]
    assert found.explained


def test_attention_of_each_token_to_itself_is_no_mask():
    made = test_causes.pass_with("")
    own = {"q": made["q"], "k": made["k"], "v": made["v"], "attention": np.array([np.eye(N)] * HEADS)}
    assert named(compare(None, own)) == [f"{BATCH}, so that each token attended only to itself"]
    hidden = ~np.eye(N, k=-1, dtype=bool) | (np.arange(N)[:, None] == 0)
    weights = softmax(np.where(hidden, made["scaled"], -np.inf))
    assert compare(None, own | {"attention": weights}).first is None, "another key that is hidden"


def test_one_wrong_line_is_said_once_and_at_most_four_alternatives_are():
    made = test_causes.pass_with("the keys were made with W_Q and b_Q, not with W_K and b_K")
    arrays = test_causes.given() | {"attention": made["attention"], "mask": SEEN}
    found = compare(None, arrays, n_heads=HEADS, orientation="(in, out)", true_is="visible")
    assert [cause(each) for each in found.causes] == ["the keys were made with W_Q and b_Q, not with W_K and b_K"]
    assert found.alternatives == (), "b_K changes nothing of the attention"
    (sentence,) = (each for each in replace(found, alternatives=(found.causes,) * 6).verdict if "same if" in each)
    assert sentence.count("the keys were made") == 4
    assert sentence.endswith("(and in 2 more ways).")


def of_olmo(scale):
    """The stages of attention whose norm is over all heads, with RoPE in halves, of (out, in) matrices."""
    rng = np.random.default_rng(1)
    tokens, heads, d, width = 5, 2, 4, 8
    x, w = rng.normal(size=(tokens, width)), {each: rng.normal(size=(width, width)) / 3 for each in "qkvo"}
    gains = {each: 1 + rng.normal(size=width) / 4 for each in "qk"}
    made = {each: x @ w[each].T for each in "qkv"}
    normed = {e: made[e] / np.sqrt((made[e] ** 2).mean(axis=-1, keepdims=True) + 1e-6) * gains[e] for e in "qk"}
    before, after, v = (
        {e: a.reshape(tokens, heads, d).swapaxes(0, 1) for e, a in each.items()}
        for each in ({e: made[e] for e in "qk"}, normed, {"v": made["v"]})
    )
    angles = np.arange(tokens)[:, None] * 10_000.0 ** (-np.arange(0, d, 2) / d)
    cos, sin = (np.tile(each(angles), 2) for each in (np.cos, np.sin))
    turned = {
        e: a * cos + np.roll(a, d // 2, -1) * np.where(np.arange(d) < d // 2, -sin, sin) for e, a in after.items()
    }
    masked = np.where(np.tri(tokens) > 0, turned["q"] @ turned["k"].swapaxes(1, 2) * scale, -np.inf)
    attention = np.exp(masked) / np.exp(masked).sum(axis=-1, keepdims=True)
    output = (attention @ v["v"]).swapaxes(0, 1).reshape(tokens, width) @ w["o"].T
    given = {f"{e}_proj.weight": w[e] for e in "qkvo"} | {f"{e}_norm.weight": gains[e] for e in "qk"}
    given |= {"x": x, "mask": np.tri(tokens, dtype=bool), "attention": attention, "output": output}
    return given, {
        "before": before,
        "after": after,
        "normed": {f"{e}_normed": a for e, a in after.items()},
        "turned": {f"{e}_rotated": a for e, a in turned.items()},
        "tables": {"cos": cos, "sin": sin},
        "v": v,
    }


@pytest.mark.parametrize("scale", [0.5, 1.0])
@pytest.mark.parametrize("names", ["after v", "normed v", "before turned v", "before normed turned tables v", "turned"])
def test_a_pass_begins_after_a_norm_of_all_heads(names, scale):
    given, stages = of_olmo(scale)
    for each in names.split():
        given |= stages[each]
    found = compare(None, given)
    assert "what was before was not recomputed" in str(found)
    if scale == 0.5:
        assert found.first is None, str(found)
        assert "attention" in {each.stage for each in found.stages}
    else:
        assert found.first.stage == "attention"
        assert "√d_k" in str(found)


@pytest.mark.parametrize("bias", [False, True])
def test_a_matrix_that_all_heads_share_is_that_of_each(bias):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(5, 6))
    w, b = ({e: rng.normal(size=shape) for e in "qkv"} for shape in ((3, 3), (3,)))
    q, k, v = ((x.reshape(5, 2, 3) @ w[e].T + b[e] * bias).swapaxes(0, 1) for e in "qkv")
    attention = np.exp(q @ k.swapaxes(1, 2) / 3**0.5)
    attention /= attention.sum(axis=-1, keepdims=True)
    arrays = {"x": x, "q": q, "attention": attention, "heads": attention @ v}
    arrays |= {f"{e}_proj.weight": w[e] for e in "qkv"} | ({f"{e}_proj.bias": b[e] for e in "qkv"} if bias else {})
    found = compare(None, arrays)
    assert found.first is None, str(found)
    assert [each.stage for each in found.stages] == ["q", "attention", "heads"]
    assert "one matrix for all heads" in str(found)
    assert compare(None, arrays | {"q": q[::-1]}).first.stage == "q"


def test_a_norm_of_all_heads_is_refused_by_name():
    gains = {"q_norm.weight": np.ones(HEADS * D_K), "k_norm.weight": np.ones(HEADS * D_K)}
    with pytest.raises(OwnArraysError, match=r"'q_norm.weight' has those of all heads, as in OLMo 2\. Give q and k"):
        compare(None, test_causes.given() | gains | {"output": test_causes.pass_with("")["output"]}, n_heads=HEADS)
