"""Rotations (RoPE) that attnviz can find are named; an unknown one is no mistake, and an ambiguous one a question."""

import numpy as np
import pytest
from correctfiles import File, joined, split
from implementations import softmax

from attnviz import compare
from attnviz.core.attention import attend_projected

N, D = 7, 8


def angles(base, n=D, factor=1):
    return float(base) ** (-np.arange(0, n, 2) / n) / factor


def rotate(rows, angles, is_in_halves):
    """Rotate pairs of dimensions as complex numbers."""
    n = 2 * len(angles)
    some = rows[..., :n]
    real, imaginary = np.split(some, 2, axis=-1) if is_in_halves else (some[..., ::2], some[..., 1::2])
    pairs = (real + 1j * imaginary) * np.exp(1j * np.outer(np.arange(rows.shape[-2]), angles))
    again = [pairs.real, pairs.imag]
    made = np.concatenate(again, -1) if is_in_halves else np.stack(again, -1).reshape(some.shape)
    return np.concatenate([made, rows[..., n:]], axis=-1)


def a_pass(angles, is_in_halves, *kept, seed=1, is_scaled=True, precision="float32"):
    file = File(np.random.default_rng(seed), precision, "causal", n_heads=2, d=D, n=7)
    x, w = file.drawn(file.n, file.width), {each: file.weight(file.width, file.width) for each in "qkvo"}
    *_, hidden = file.hidden()
    q, k, v = (split(file.times(x, w[each].T), file.n_heads) for each in "qkv")
    q, k = (file.rounded(rotate(each, angles, is_in_halves)) for each in (q, k))
    scores = file.rounded(file.times(q, k.transpose(0, 2, 1)) * file.carrier(D**-0.5 if is_scaled else 1))
    attention = file.softmax(np.where(hidden, file.carrier(-np.inf), scores))
    output = file.times(joined(file.times(attention, v)), w["o"].T)
    stages = {"q": q, "k": k, "scaled": scores, "attention": attention, "output": output}
    stages |= {"q_rotated": q, "k_rotated": k}
    return {"x": x, **{f"{each}_proj.weight": w[each] for each in "qkvo"}, **{each: stages[each] for each in kept}}


@pytest.mark.parametrize(
    ("angles", "says", "is_in_halves"),
    [
        (angles(25_000), "base 25,000", True),
        (angles(100), "base 100", False),
        (angles(10_000, D // 2), "the first 4 of 8 dimensions, base 10,000", True),
        (angles(20_000, D // 2), "the first 4 of 8 dimensions, base 20,000", False),
        (angles(10_000, D, 4), "base 10,000, angles divided by 4", False),
        (angles(10_000, D, 3), "base 10,000, angles divided by 3", True),
    ],
)
def test_a_rotation_is_found_and_described(angles, says, is_in_halves):
    for kept in (["q", "k", "attention"] if is_in_halves else ["q_rotated", "k_rotated", "attention"], ["output"]):
        found = compare(None, a_pass(angles, is_in_halves, *kept))
        assert found.first is None, str(found)
        assert ("w_q" in found.trace) == ("divided" not in says)
        assert np.allclose(found.trace["output"].value, a_pass(angles, is_in_halves, "output")["output"], atol=1e-5)
        (note,) = (each for each in found.notes if "RoPE" in each)
        pairs = "in halves" if is_in_halves else "in pairs of neighbours"
        assert f"(RoPE, {pairs}, {says})" in note or kept == ["output"]


@pytest.mark.slow
@pytest.mark.parametrize("kept", [["q", "k"], ["scaled", "attention"], ["output"]])
def test_an_unknown_rotation_is_reported_and_no_mistake_is_named(kept):
    found = compare(None, a_pass(np.array([1.3, 0.77, 0.2, 0.01]), True, *kept))
    assert found.causes == ()
    says_rope = "lengths agree, directions don't. Attnviz doesn't know this rotation." in str(found)
    assert says_rope == (kept[0] in ("q", "scaled"))
    assert "attnviz doesn't know normalised" in str(found) or says_rope
    found = compare(None, a_pass(angles(10_000), True, *kept, is_scaled=False))
    assert [each.id for each in found.causes] == (["unscaled"] if kept[0] != "q" else [])


def test_a_float32_output_never_agrees_to_bfloat16():
    """Parameters of bfloat16 leave so much open that a pass without a rotation would agree."""
    file = File(np.random.default_rng(1), "bfloat16", "causal", n_heads=2, d=4, n=6)
    x, w = file.drawn(6, 8), {each: file.weight(8, 8) for each in "qkvo"}
    file.precision = "float32"
    q, k, v = (split(file.times(x, w[each].T), 2) for each in "qkv")
    later = rotate(np.pad(q, ((0, 0), (1, 0), (0, 0))), angles(10_000, 4), True)[:, 1:]
    scores = later @ rotate(k, angles(10_000, 4), True).transpose(0, 2, 1) / 2
    heads = file.softmax(np.where(np.tri(6, dtype=bool), scores, -np.inf)) @ v
    output = file.rounded(joined(heads) @ w["o"].T)
    found = compare(None, {"x": x, **{f"{each}_proj.weight": w[each] for each in "qkvo"}, "output": output})
    assert found.first is not None
    assert "bfloat16" not in str(found)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_the_scaling_of_llama_3_is_named(precision):
    def slowed(angle):
        wavelength = 2 * np.pi / angle
        smooth = (8192 / wavelength - 1) / 3
        between = (1 - smooth) * angle / 8 + smooth * angle
        return angle if wavelength < 8192 / 4 else angle / 8 if wavelength > 8192 else between

    slow = np.array([slowed(each) for each in angles(500_000)])
    assert "scaled as in Llama 3.1, factor 8" in str(compare(None, a_pass(slow, True, "q", "k", precision=precision)))


def test_a_name_that_means_other_pairs_raises_a_question():
    for is_in_halves in (True, False):
        said = str(compare(None, a_pass(angles(10_000), is_in_halves, "attention")))
        assert ("Weights called q_proj.weight are for pairs in halves" in said) == (not is_in_halves)
        meta = {name.replace("q_proj", "wq"): each for name, each in a_pass(angles(10_000), is_in_halves, "q").items()}
        assert ("for pairs of neighbours in Meta's own Llama" in str(compare(None, meta))) == is_in_halves


@pytest.mark.slow
def test_an_unread_norm_and_a_likely_rotation_raise_questions():
    of = np.random.default_rng(3).standard_normal
    arrays = a_pass(np.array([1.3, 0.77, 0.2, 0.01]), True, "output") | {"h.0.ln_1.weight": of(16)}
    said = str(compare(None, arrays))
    assert "Your h.0.ln_1.weight was not read: is your x what this norm makes?" in said
    assert "Weights called q_proj.weight are often of models that rotate" in said
    assert "Only an output was compared" in said
    assert "?" not in str(compare(None, a_pass(angles(10_000), True, "attention")))


def test_an_unknown_matrix_raises_a_question():
    of = np.random.default_rng(4).standard_normal
    weights = np.abs(of((2, N, N)))
    arrays = {"x": of((N, D)), "kv_b_proj.weight": of((D, D)), "attention": weights / weights.sum(-1, keepdims=True)}
    assert "what is your kv_b_proj.weight?" in str(compare(None, arrays, n_heads=2))


def test_rounding_to_float16_on_the_way_is_called_harmless_and_a_larger_difference_is_not():
    of = np.random.default_rng(5).standard_normal
    q, k, v = of((3, 2, 12, D))
    trace = attend_projected(q, k, v)
    bits = trace["scaled"].value.astype(np.float16).astype(float)
    found = compare(trace, {"attention": softmax(bits)})
    assert found.first.stage == "attention"
    assert found.causes == ()
    assert "If your code computes in float16 on the way, its rounding may leave as much" in str(found)
    assert "harmless" not in str(compare(trace, {"attention": softmax(bits + 0.2 * of(bits.shape))}))
