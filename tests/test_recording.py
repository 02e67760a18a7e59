"""Recording: a module's attention is heard by its hooks, layer by layer, and `compare` reads what was heard."""

import numpy as np
import pytest
from fakemodules import Attention, LatentAttention, Linear, Model, tensor
from torchmodules import CASES, RECORDED, record_case

from attnviz import OwnArraysError, compare, record, show

X = tensor(np.random.default_rng(5).normal(size=(2, 5, 6)))
REAL = np.load(RECORDED)


def heard(model, **arguments):
    with record(model, **arguments) as recorded:
        model(X)
    return recorded


def test_each_layer_is_heard_under_names_that_compare_reads():
    recorded = heard(Model(Attention(), Attention(seed=7)))
    assert recorded.paths == ("layers.0", "layers.1")
    assert len(recorded) == 2
    for arrays in recorded:
        assert {"x", "q", "k", "v", "attention", "concat", "output"} < set(arrays)
        found = compare(None, arrays)
        assert found.first is None, str(found)
        assert [each.stage for each in found.stages] == ["q", "k", "v", "attention", "concat", "output"]
    np.testing.assert_array_equal(recorded[0]["x"], X[0])
    np.testing.assert_array_equal(recorded[-1]["layers.1.W_query.weight"], recorded[1]["layers.1.W_query.weight"])


def test_the_mistake_of_a_module_is_named():
    said = str(compare(None, heard(Attention(scale=1.0))[0]))
    assert "The scores were not divided by √d_k: computed so, all of your numbers agree." in said


def test_any_sentence_of_a_batch_is_heard():
    other = heard(Attention(), sentence=1)[0]
    np.testing.assert_array_equal(other["x"], X[1])
    assert compare(None, other).first is None
    with pytest.raises(OwnArraysError, match="sentence must be one of 2, from 0 on; got 2"):
        heard(Attention(), sentence=2)


def test_it_says_what_was_found_and_what_was_not_read():
    recorded = heard(Model(Attention(), LatentAttention()))
    assert recorded.skipped == {"layers.1": "LatentAttention has no projections of known names: kv_b_proj.weight"}
    assert str(recorded) == (
        "Recorded: 1 of 1 modules of attention\n"
        "0: layers.0: x, q, k, v, concat, output, attention\n"
        "not read: layers.1: LatentAttention has no projections of known names: kv_b_proj.weight"
    )
    with pytest.raises(OwnArraysError, match=r"was found in LatentAttention\. the model: Latent"):
        heard(LatentAttention())
    with pytest.raises(OwnArraysError, match="No module of attention was found in Linear"):
        heard(Linear(2, 2, 0))
    with pytest.raises(OwnArraysError, match="record takes a PyTorch module; got int"):
        heard(3)


def test_hooks_are_gone_after_the_block_whatever_happened_in_it():
    model = Attention()
    with pytest.raises(ZeroDivisionError), record(model):
        raise ZeroDivisionError
    assert not any(module.before or module.after for _, module in model.named_modules())


def test_the_first_of_several_calls_is_kept_and_what_was_not_called_is_said():
    model = Attention()
    with record(model) as recorded:
        with pytest.raises(OwnArraysError, match="The model was not called inside the with block"):
            recorded[0]
        model(X)
        model(X[:, :1])
    assert recorded[0]["x"].shape == (5, 6)
    with pytest.raises(IndexError, match="1 modules of attention were found, 0 to 0; got 1"):
        recorded[1]


def test_what_was_heard_is_a_copy():
    model = Attention()
    recorded = heard(model)
    before = recorded[0]["W_query.weight"].copy()
    model.W_query.weight[...] = 0
    np.testing.assert_array_equal(recorded[0]["W_query.weight"], before)


def test_a_recorded_layer_is_shown_with_its_words():
    recorded = heard(Model(Attention(), Attention(scale=1.0)), tokens=["the", "cat", "sat", "on", "it"])
    assert show(recorded).title == "the cat sat on it"
    with pytest.raises(OwnArraysError, match=r"layer 1 of the recorded ones isn't\. Q, K and V agree"):
        show(recorded, layer=1)
    with pytest.raises(OwnArraysError, match="tokens must be the 5 words of the recorded sentence; got 2"):
        show(heard(Attention(), tokens=["a", "b"]))


@pytest.mark.parametrize("name", CASES)
def test_what_was_heard_of_a_real_module_is_read(name):
    """As `tests/torchmodules.py` recorded it, with the versions in `about`."""
    arrays = {each.removeprefix(f"{name}/"): REAL[each] for each in REAL.files if each.startswith(f"{name}/")}
    found = compare(None, arrays)
    assert found.first is None, str(found)
    assert {each.stage for each in found.stages} >= CASES[name].stages
    assert found.unread == ()


@pytest.mark.parametrize("name", ["llama", "mistral", "gpt_neox"])
def test_a_layer_with_rope_has_a_pass_to_show(name):
    arrays = {each.removeprefix(f"{name}/"): REAL[each] for each in REAL.files if each.startswith(f"{name}/")}
    trace = compare(None, arrays).trace
    assert "q_rotated" in trace
    np.testing.assert_allclose(trace["attention"].value, arrays["attention"], rtol=0, atol=1e-5)
    np.testing.assert_allclose(trace["output"].value, arrays["output"], rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_where_torch_is_the_same_is_heard_again(name):
    pytest.importorskip("torch")
    if CASES[name].configuration:
        pytest.importorskip("transformers")
    for each, array in record_case(name).items():
        np.testing.assert_allclose(array, REAL[f"{name}/{each}"], rtol=0, atol=1e-5)
