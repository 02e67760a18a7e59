"""Questions: what names suggest and numbers don't tell is asked, and 16 bits on the way are called harmless."""

import numpy as np
import pytest
from test_rotations import a_pass, angles

from attnviz import compare
from attnviz.core.attention import attend_projected

N, D = 7, 8


def test_which_pairs_a_name_is_for_is_asked_where_others_are_turned():
    for is_in_halves in (True, False):
        said = str(compare(None, a_pass(angles(10_000), is_in_halves, "attention")))
        assert ("Weights called q_proj.weight are for pairs in halves" in said) == (not is_in_halves)
        meta = {name.replace("q_proj", "wq"): each for name, each in a_pass(angles(10_000), is_in_halves, "q").items()}
        assert ("for pairs of neighbours in Meta's own Llama" in str(compare(None, meta))) == is_in_halves


@pytest.mark.slow
def test_a_norm_that_was_not_read_and_a_rotation_are_asked_for():
    of = np.random.default_rng(3).standard_normal
    arrays = a_pass(np.array([1.3, 0.77, 0.2, 0.01]), True, "output") | {"h.0.ln_1.weight": of(16)}
    said = str(compare(None, arrays))
    assert "Your h.0.ln_1.weight was not read: is your x what this norm makes?" in said
    assert "Weights called q_proj.weight are often of models that rotate" in said
    assert "Only an output was compared" in said
    assert "?" not in str(compare(None, a_pass(angles(10_000), True, "attention")))


def test_weights_of_no_known_name_are_asked_for():
    of = np.random.default_rng(4).standard_normal
    shares = np.abs(of((2, N, N)))
    arrays = {"x": of((N, D)), "kv_b_proj.weight": of((D, D)), "attention": shares / shares.sum(-1, keepdims=True)}
    assert "what is your kv_b_proj.weight?" in str(compare(None, arrays, n_heads=2))


def test_sixteen_bits_on_the_way_are_called_harmless_and_a_larger_difference_is_not():
    of = np.random.default_rng(5).standard_normal
    q, k, v = of((3, 2, 12, D))
    trace = attend_projected(q, k, v)
    bits = trace["scaled"].value.astype(np.float16).astype(float)
    powers = np.exp(bits)
    found = compare(trace, {"attention": powers / powers.sum(-1, keepdims=True)})
    assert found.first.stage == "attention"
    assert found.causes == ()
    assert "If your code computes in float16 on the way, its rounding may leave as much, which is harmless." in str(
        found
    )
    powers = np.exp(bits + 0.2 * of(bits.shape))
    assert "harmless" not in str(compare(trace, {"attention": powers / powers.sum(-1, keepdims=True)}))
