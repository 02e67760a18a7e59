"""Conventions of libraries in files of somebody's own: what a name means where another library means something else."""

import numpy as np
import pytest

from attnviz import compare

N, H, D = 5, 2, 4
RANDOM = np.random.default_rng(8)
X = RANDOM.normal(size=(N, H * D))
W = {each: RANDOM.normal(size=(H * D, H * D)) for each in ("q", "k", "v", "o")}
SEEN = np.tri(N, dtype=bool) & (np.arange(N) > 1)


def split(array):
    return array.reshape(N, H, -1).transpose(1, 0, 2)


def shares(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def passed(limit=None, divisor=D**0.5, seen=None, unseeing=0.0, context=X):
    q, k, v = (split(x @ W[each].T) for each, x in (("q", X), ("k", context), ("v", context)))
    scores = q @ k.swapaxes(1, 2) / divisor
    scores = limit * np.tanh(scores / limit) if limit else scores
    if seen is not None:
        with np.errstate(invalid="ignore"):
            attention = shares(np.where(seen, scores, -np.inf))
        attention[:, ~seen.any(axis=-1)] = unseeing
    else:
        attention = shares(scores)
    heads = (attention @ v).transpose(1, 0, 2).reshape(N, H * D)
    return {"attention": attention, "output": heads @ W["o"].T}


HUGGING_FACE = {f"self_attn.{each}_proj.weight": w for each, w in W.items()}
FUSED = {"in_proj_weight": np.concatenate([W["q"], W["k"], W["v"]]), "out_proj.weight": W["o"]}


@pytest.mark.parametrize(
    "name", ["attn_logit_softcapping", "softcap", "model.layers.1.self_attn.attn_logit_softcapping"]
)
def test_the_softcap_of_a_configuration_is_that_of_the_pass(name):
    arrays = {"hidden_states": X, **HUGGING_FACE, name: np.array(3.0)}
    found = compare(None, arrays | passed(limit=3.0))
    assert found.first is None
    assert not found.unread
    assert found.trace["capped"].operation.limit == 3
    (cause,) = compare(None, arrays | passed()).causes
    assert cause.id == "softcap left out"


def test_query_key_and_value_beside_in_proj_weight_are_what_is_projected():
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


def test_keras_attention_scores_are_shares_where_a_query_sees_no_key_too():
    found = passed(seen=SEEN)
    arrays = {"x": X, **HUGGING_FACE, "mask": SEEN, "attention_scores": found["attention"], "output": found["output"]}
    assert compare(None, arrays, true_is="visible").first is None


def test_scores_that_a_port_calls_scaled_may_be_masked_already():
    q, k = (split(X @ W[each].T) for each in "qk")
    scaled = np.where(np.tri(N, dtype=bool), q @ k.swapaxes(1, 2) / D**0.5, -np.inf)
    arrays = {"hidden_states": X, **HUGGING_FACE, **passed(seen=np.tri(N, dtype=bool))}
    found = compare(None, arrays | {"scaled": scaled})
    assert found.first is None
    assert "Your scaled are attnviz’s masked scores." in str(found).replace("'", "’")


def test_a_sum_below_zero_is_written_with_a_minus():
    found = compare(None, {"x": X, **HUGGING_FACE, "attention": np.full((H, N, N), -1.0)})
    assert "adds up to −5, not to 1." in str(found)
