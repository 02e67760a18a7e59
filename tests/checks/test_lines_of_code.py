"""Lines of code: in the words of the library whose names the arrays have, and the right ones compute the pass."""

import re
import string

import kinds
import numpy as np
import pytest
from implementations import softmax

from attnviz import compare
from attnviz.checks.causes import CAUSES
from attnviz.checks.causes.libraries import LIBRARIES, NUMPY, lines_of

T, HEADS, D = 5, 3, 4
WORDS = {  # what the lines of a wrong scale have, by layout
    "torch": "q @ k.transpose(-2, -1) / d_k ** 0.5",
    "llama": "torch.matmul(query, key_states.transpose(2, 3)) * scaling",
    "flax": 'jnp.einsum("...qhd,...khd->...hqk", query, key) / d_k ** 0.5',
    "lens": "q @ k.transpose(-2, -1) / d_k ** 0.5",
}


@pytest.mark.parametrize("layout", WORDS)
def test_the_arrays_names_decide_in_whose_words_the_lines_are(layout):
    found = compare(None, kinds.mistaken("divided by √d_model", layout, "all"))
    wrong, right = found.code
    assert right.endswith(f" = {WORDS[layout]}"), right
    assert "d_model ** 0.5" in wrong


def test_plain_names_are_of_numpy_where_matrices_are_in_out():
    names = ["x", "w_q", "w_k", "w_v", "attention"]
    assert (lines_of(names, is_in_out=True), lines_of(names, is_in_out=False)) == (NUMPY, {})
    assert "attn_mask=~mask" in lines_of([*names, "in_proj_weight"], is_in_out=True)["mask inverted"][1]


def slots(line):
    return {name for _, name, _, _ in string.Formatter().parse(line) if name}


@pytest.mark.parametrize("lines", [NUMPY, *(each for _, each in LIBRARIES)])
def test_a_librarys_lines_are_of_causes_and_have_their_slots(lines):
    for id, (wrong, right) in lines.items():
        cause = CAUSES[id]
        assert slots(wrong + right) <= slots(cause.clause + cause.wrong + cause.right) | {"other"}, id
        filled = {each: each.upper() for each in slots(wrong + right)}
        assert wrong.format(**filled) != right.format(**filled), id
        assert all(each.count("(") == each.count(")") for each in (wrong, right)), id


def run(line, **arrays):
    """What a line of NumPy makes of arrays."""
    names = {"np": np, "softmax": softmax, "t": T, "n_heads": HEADS, "d_k": D, "d_model": HEADS * D, **arrays}
    exec(line, names)
    return names[re.match(r"\w+", line)[0]]


def test_right_lines_of_numpy_compute_the_pass_and_wrong_ones_do_not():
    of = np.random.default_rng(3).standard_normal
    x, w = of((T, HEADS * D)), {f"w_{each}": of((HEADS * D, HEADS * D)) for each in "qk"}
    q, k = (np.stack([x @ part for part in np.split(each, HEADS, axis=1)]) for each in w.values())
    scores = np.array([[[a @ b for b in k[h]] for a in q[h]] for h in range(HEADS)]) / D**0.5
    seen = np.tri(T, dtype=bool)
    powers = np.exp(scores)
    attention = powers / powers.sum(axis=2)[..., None]
    expected = {
        "wrong scale": (scores, {"q": q, "k": k}, {"divisor": "n_heads ** 0.5", "right": "d_k ** 0.5"}),
        "unscaled": (scores, {"q": q, "k": k}, {"right": "d_k ** 0.5"}),
        "softmax along the wrong axis": (attention, {"scores": scores}, {"dim": "-3"}),
        "mask inverted": (np.where(seen, scores, -np.inf), {"scores": scores, "mask": seen}, {}),
        "transposed": (x @ w["w_q"], {"x": x, **w}, {"product": "q", "factor": "x", "part": "q"}),
        "heads split without transposing": (q, {"q": x @ w["w_q"]}, {"letter": "q"}),
        "heads joined without transposing": (np.concatenate([*q], axis=1), {"heads": q}, {}),
        "matrix of another projection": (x @ w["w_k"], {"x": x, **w}, {"letter": "k", "other": "q"}),
    }
    for id, (array, given, filling) in expected.items():
        wrong, right = (run(line.format(**filling), **given) for line in NUMPY[id])
        np.testing.assert_allclose(right, array, err_msg=id)
        assert wrong.shape != array.shape or not np.allclose(wrong, array), id
