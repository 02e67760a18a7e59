"""Uploads: each option does what its label says, and files of several layers are compared layer by layer."""

import io
import json
import re

import numpy as np
import pytest
from implementations import softmax

from attnviz import Settings, trace_of
from attnviz.articles.upload_reply import reply
from attnviz.checks.uploads import QUESTIONS, SHOWN, UploadRequest, compared
from attnviz.core.errors import OwnArraysError
from attnviz.explain import export
from attnviz.models import MODELS
from attnviz.scene.document.encoding import to_json

FIRST = {name: next(iter(answers)) for name, (_, answers) in QUESTIONS.items()}
DRAWN = np.random.default_rng(4)
X, W_Q, W_K, W_V = DRAWN.standard_normal((4, 5, 5))
SEEN = np.tri(5, dtype=bool)


def request(**answers):
    return UploadRequest(**{"tab": "", "filename": "own.npz", "example": ""} | FIRST | answers)


def npz(arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def of_file(arrays, shown=None, **answers):
    return compared(request(**answers), npz(arrays), shown)


def agrees(found):
    return found.comparison.first is None and len(found.comparison.stages) > 0


@pytest.mark.parametrize("answer", [answer for answer in QUESTIONS["orientation"][1] if answer])
def test_the_option_for_weights_sets_their_orientation(answer):
    (as_in,) = re.search(r", as in (.+)$", QUESTIONS["orientation"][1][answer]).groups()
    given = {"x": X, "w_q": W_Q, "w_k": W_K, "w_v": W_V}
    for use in ("x @ W", "PyTorch's Linear"):
        made = {name[2]: X @ (w if use == "x @ W" else w.T) for name, w in given.items() if name != "x"}
        assert agrees(of_file(given | made, orientation=answer, n_heads="1")) == (use == as_in)


@pytest.mark.parametrize("answer", [answer for answer in QUESTIONS["true_is"][1] if answer])
def test_the_option_for_masks_sets_what_true_means(answer):
    (which,) = re.fullmatch(r"a key that is (seen|hidden)", QUESTIONS["true_is"][1][answer]).groups()
    for true in ("seen", "hidden"):
        scaled = X @ W_Q / 5**0.5
        masked = np.where(SEEN, scaled, -np.inf)
        arrays = {"scaled": scaled[None], "mask": SEEN if true == "seen" else ~SEEN, "attention": softmax(masked)[None]}
        assert agrees(of_file(arrays, true_is=answer)) == (true == which)


@pytest.mark.parametrize("answer", QUESTIONS["against"][1])
def test_the_option_for_passes_sets_what_a_file_is_compared_with(answer):
    said, shown = QUESTIONS["against"][1][answer], MODELS["who-is-it"].at(0).trace("the animal")
    x = shown["x"].value
    own = {"x": x, "w_q": 2 * np.eye(x.shape[1]), "q": 2 * x}
    found = of_file(own | {"w_k": own["w_q"], "k": 2 * x}, shown, against=answer, n_heads="")
    assert said.startswith("the pass that the walkthrough shows") == (found.shown != "")
    assert said.startswith("attnviz's pass from the same inputs and weights") == agrees(found)


GEMMA = {"layers": 3, "norm": "rmsnorm", "mask": "causal window", "mask_size": 2}


def in_layers(names, **settings):
    """Some stages of each layer of a pass, by a library's names."""
    layers = trace_of(Settings("the cat sat on the mat", **GEMMA | settings)).layers
    return {f"model.layers.{n}.{theirs}": layer.trace[own] for n, layer in enumerate(layers) for theirs, own in names}


def test_several_layers_are_compared_up_to_the_first_that_differs():
    """Whoever leaves out that Gemma 2's every second layer has no window finds it in the second layer."""
    names = [("query", "q"), ("key", "k"), ("scores", "scores"), ("attention", "attention"), ("output", "output")]
    shown = trace_of(Settings("the cat sat on the mat", **GEMMA, window_in="every second layer"))
    found = of_file(in_layers(names), shown, against=SHOWN)
    assert found.shown == "layer 2 of the pass that the walkthrough shows, the first that differs"
    assert (found.comparison.first.stage, found.comparison.at) == ("attention", "attention_2")
    assert "The mask was that of layer 1: computed so, all of your numbers agree." in str(found.comparison)
    assert "masked_fill(~masks[1], -torch.inf)" in str(found.comparison)
    assert found.code.at == "attention_2"
    right = of_file(in_layers(names, window_in="every second layer"), shown, against=SHOWN)
    assert agrees(right)
    assert right.shown == "each of the 3 layers of the pass that the walkthrough shows; this is the last"
    own = compared(request(against=SHOWN), export.arrays(shown), shown)
    assert agrees(own)
    assert own.shown == right.shown
    with pytest.raises(OwnArraysError, match="arrays of 3 layers, and the pass that the walkthrough shows has 2"):
        of_file(in_layers(names), trace_of(Settings("the cat", layers=2)), against=SHOWN)
    with pytest.raises(OwnArraysError, match=r"Give the arrays of one layer, or say which one is meant \(`layer=1`"):
        of_file(in_layers(names))


@pytest.mark.parametrize("n", [1, 5])
def test_the_option_for_heads_sets_their_number(n):
    answer = next(answer for answer, said in QUESTIONS["n_heads"][1].items() if said == str(n))
    q, k = ((X @ w).reshape(5, n, -1).transpose(1, 0, 2) for w in (W_Q, W_K))
    arrays = {"x": X, "w_q": W_Q, "w_k": W_K, "scaled": q @ k.transpose(0, 2, 1) / (5 / n) ** 0.5}
    found = of_file(arrays | {"w_v": W_V}, orientation="(in, out)", n_heads=answer)
    assert agrees(found)
    assert found.comparison.trace["q"].shape == (n, 5, 5 // n)


@pytest.mark.parametrize("number", [1, 2])
def test_the_layer_of_a_file_is_named(number):
    shown = MODELS["recall"].at(0).trace("g 5 d 6 g")
    found = of_file({"attention": shown[f"attention_{number}"].value}, shown, against="shown")
    assert agrees(found)
    assert found.shown.startswith(f"layer {number} of ")
    near = of_file({"attention": 0.999 * shown[f"attention_{number}"].value}, shown, against="shown")
    assert not agrees(near)
    assert near.shown.startswith(f"layer {number} of ")


def test_matrices_and_the_worst_cell_are_labelled_with_the_files_words():
    words = ["the", "blue", "cat", "the", "down"]
    masked = np.where(SEEN, X @ W_Q @ (X @ W_K).T / 5**0.5, -np.inf)
    attention = softmax(masked)
    attention[3, 1] += 0.25
    arrays = {"x": X, "w_q": W_Q, "w_k": W_K, "w_v": W_V, "mask": SEEN, "attention": attention[None]}
    called = {"tokens": np.array(words)}
    for texts, row, column, first in (({}, "", "", "1"), (called, " (“the (2)”)", " (“blue”)", "the")):
        answer = reply(request(orientation="(in, out)", true_is="visible"), npz(arrays | texts), None)
        written = json.loads(to_json(answer.data))["pieces"]
        said = "".join(re.findall(r'"([^"]*)"', json.dumps(written, ensure_ascii=False)))
        assert f"Row 4{row}, column 2{column} is the furthest off (in head 1): " in said
        sides = re.findall(r'"rows": \{"title": "", "labels": \["(.*?)"', json.dumps(written, ensure_ascii=False))
        assert sides == [first, first]  # theirs and ours


def test_a_server_refuses_files_of_passes_that_the_library_compares():
    with pytest.raises(OwnArraysError, match="at most 524,288 numbers"):
        of_file({"x": np.ones((2000, 3)), "attention": np.eye(2000, dtype=bool)})
