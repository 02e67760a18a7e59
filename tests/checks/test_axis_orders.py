"""Axes in another order: it is named for every stage, or agrees where a library has that order."""

from itertools import permutations

import numpy as np
import pytest
from implementations import Implementation, softmax

from attnviz import Parameters, attend, compare

AXES = {
    "x": "tm",
    "q": "htd",
    "k": "hsd",
    "v": "hsd",
    "scores": "hts",
    "scaled": "hts",
    "masked": "hts",
    "attention": "hts",
    "heads": "htd",
    "concat": "tm",
    "output": "tm",
}
CALLED = {"h": "head", "t": "query", "s": "key", "m": "d_model"}
ORDERS_OF_LIBRARIES = {"q": ["thd"], "k": ["shd"], "v": ["shd"], "heads": ["thd"]}  # no mistakes
SIZES = {"all different": {"n_heads": 2, "n": 6, "d": 4, "n_keys": 5}, "all alike": {"n_heads": 4, "n": 4, "d": 4}}


def orders(stage):
    return ["".join(each) for each in permutations(AXES[stage])][1:]


def in_order(array, axes, order):
    return array.transpose([axes.index(each) for each in order])


def an_implementation(sizes, **changed):
    n, n_keys = SIZES[sizes]["n"], SIZES[sizes].get("n_keys", SIZES[sizes]["n"])
    mask = np.tri(n, n_keys, dtype=bool)
    return Implementation(np.random.default_rng(3), np.float32, mask=mask, **SIZES[sizes], **changed)


def called(stage, axes):
    names = CALLED | {"d": "d_v" if stage in ("v", "heads") else "d_k"}
    if stage == "x":
        names["t"] = "token"
    if stage == "concat":
        names["m"] = "heads * d_v"
    return f"({', '.join(names[each] for each in axes)})"


@pytest.mark.slow
@pytest.mark.parametrize(("nth", "stage"), [*enumerate(AXES)])
@pytest.mark.parametrize("sizes", SIZES)
def test_every_order_of_axes_is_named(sizes, nth, stage):
    """Of both kinds of lengths a stage has some of its orders; all have each."""
    own = an_implementation(sizes)
    arrays = own.written("attnviz", *{"attention", "output", stage} - {"x"})
    some = orders(stage)[(nth + (sizes == "all alike")) % 3 :: 3]
    for order in some or orders(stage):
        array = in_order(np.asarray(arrays[stage]), AXES[stage], order)
        found = compare(None, arrays | {stage: array})
        if order in ORDERS_OF_LIBRARIES.get(stage, ()):
            assert found.first is None, (order, str(found))
            continue
        assert found.first.stage == stage, (order, str(found))
        assert found.explained, (order, str(found))
        told = f"are {called(stage, order)}; expected {called(stage, AXES[stage])}"
        others = ("q and k swapped", "heads interleaved", "transposed")  # computed so, or saved so: the same numbers
        assert told in str(found) or found.causes[0].id in others, (order, str(found))
        assert "agree" not in found.headline


def test_the_order_is_named_with_other_mistakes_and_in_a_given_pass():
    for wrong in ("unscaled", "mask not applied"):
        own = an_implementation("all different", wrong=wrong)
        arrays = own.written("attnviz", "attention", "output")
        found = compare(None, arrays | {"attention": arrays["attention"].transpose(1, 0, 2)})
        assert [each.id for each in found.causes] == ["axes in another order", wrong], str(found)
    trace = attend(np.random.default_rng(1).normal(size=(5, 8)), parameters=Parameters(), mask=np.tri(5, dtype=bool))
    for order in (trace["attention"].value.transpose(2, 0, 1), trace["attention"].value.ravel()):
        found = compare(trace, {"attention": order})
        assert [each.id for each in found.causes] == ["axes in another order"], str(found)


@pytest.mark.parametrize("order", ["hdt", "tdh", "dht", "dth"])
def test_the_order_of_q_k_and_v_that_start_the_pass_is_named(order):
    own = an_implementation("all different")
    written = own.written("attnviz", "q", "k", "v", "attention", "heads")
    arrays = {each: in_order(written[each], "htd", order) for each in "qkv"}
    found = compare(None, arrays | {each: written[each] for each in ("mask", "attention", "heads")})
    assert [each.id for each in found.causes] == ["axes in another order"] * 3, str(found)
    assert found.explained
    assert called("q", order) in str(found)


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["scores", "attention", "heads", "q", "output"])
def test_flattened_arrays_are_named(stage):
    arrays = an_implementation("all different").written("attnviz", "attention", "output", stage)
    for order in ["", *orders(stage)[-1:]]:
        array = in_order(arrays[stage], AXES[stage], order or AXES[stage])
        for flat in (array.reshape(-1), array.reshape(-1, array.shape[-1])):
            if flat.ndim >= arrays[stage].ndim:
                continue
            found = compare(None, arrays | {stage: flat})
            assert f"flattened from {called(stage, order or AXES[stage])}" in str(found), (flat.shape, str(found))


@pytest.mark.slow
def test_the_axes_of_an_unexplained_array_are_questioned():
    own = an_implementation("all different")
    arrays = own.written("attnviz", "attention")
    noise = np.random.default_rng(0).random((6, 2, 5))
    found = compare(None, arrays | {"attention": noise})
    assert "The axes of attention seem to be (query, head, key); expected (head, query, key)." in str(found)
    alike = Implementation(np.random.default_rng(3), n_heads=2, n=6).written("attnviz", "attention")
    found = compare(None, alike | {"attention": np.random.default_rng(0).random((6, 2, 6))})
    assert "Are the axes of attention (query, head, key) or (key, head, query)?" in str(found)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["", "unscaled"])
def test_the_zero_key_of_torch_is_read_as_a_sink(wrong):
    own = Implementation(np.random.default_rng(2), np.float64, n=6, wrong=wrong)
    scores = np.concatenate([own.stages["scaled"], np.zeros((2, 6, 1))], axis=-1)
    shares = softmax(scores)
    heads = shares[..., :-1] @ own.stages["v"]
    output = heads.transpose(1, 0, 2).reshape(6, -1) @ own.parameters["w_o"] + own.parameters["b_o"]
    arrays = own.written("Llama") | {"attention": shares, "output": output}
    found = compare(None, arrays)
    assert [each.id for each in found.causes] == [wrong] * bool(wrong), str(found)
    assert "as add_zero_attn makes it" in str(found)
    other = compare(None, arrays | {"attention": np.random.default_rng(0).random((2, 6, 9))})
    assert "There are more keys than tokens, by 3." in str(other)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "stage", "start"),
    [
        ("all different", "attention", 0),
        ("all different", "masked", 1),
        ("all alike", "attention", 2),
        ("all alike", "scores", 0),
    ],
)
def test_the_order_is_named_without_a_mask(sizes, stage, start):
    own = Implementation(np.random.default_rng(4), np.float32, **SIZES[sizes])
    arrays = own.written("attnviz", stage)
    for order in orders(stage)[start::3]:
        found = compare(None, arrays | {stage: in_order(arrays[stage], AXES[stage], order)})
        named = f"are {called(stage, order)}; expected (head, query, key)" in str(found)
        assert named or found.causes[0].id in ("q and k swapped", "matrices swapped"), (order, str(found))
