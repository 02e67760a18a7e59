"""`check`: a module beside the library's, with its parameters and inputs, and the mistake in its code."""

import numpy as np
import pytest
from fakemodules import Attention, LatentAttention, Linear, NormsAllHeads, RotatedAttention
from plantedmodules import D_MODEL, FIRST, MISTAKES, N_HEADS, NAMED, RECORDED, RIGHT, like, planted

from attnviz import OwnArraysError, check, compare
from attnviz.testing import assert_attention

PLANTED = np.load(RECORDED)


def recorded(name):
    return {each.removeprefix(f"{name}/"): PLANTED[each] for each in PLANTED.files if each.startswith(f"{name}/")}


def parameters(module):
    return {name: np.array(each) for name, each in module.named_parameters()}


def test_a_module_that_computes_the_same_agrees_and_keeps_its_own_parameters():
    mine, library = Attention(seed=10), Attention(seed=20)
    before = parameters(mine)
    found = check(mine, like=library)
    assert found.agrees
    assert set(found.calls) == {"no mask"}
    assert "Q, K, V, attention, concatenation and output agree" in str(found)
    for name, array in parameters(mine).items():
        np.testing.assert_array_equal(array, before[name])


def test_it_keeps_its_own_parameters_when_a_call_fails():
    class Failing(Attention):
        def forward(self, x):
            raise ZeroDivisionError

    mine = Failing()
    before = parameters(mine)
    with pytest.raises(ZeroDivisionError):
        check(mine, like=Attention(seed=20))
    for name, array in parameters(mine).items():
        np.testing.assert_array_equal(array, before[name])


def test_the_mistake_is_named():
    found = check(Attention(scale=6**-0.5), like=Attention(seed=20))
    assert not found.agrees
    assert "The scores were divided by √d_model, not by √d_k: computed so, all of your numbers agree." in str(found)


def test_cosines_and_sines_that_a_layer_is_called_with_are_those_of_its_library():
    found = check(RotatedAttention(seed=10), like=RotatedAttention(seed=20))
    assert found.agrees, str(found)
    other = check(RotatedAttention(seed=10, pairs_neighbours=True), like=RotatedAttention(seed=20))
    assert other.calls["no mask"].first.stage == "attention"

    class OfNoLibrary(RotatedAttention):
        __module__ = "builtins"

    with pytest.raises(OwnArraysError, match="OfNoLibrary takes position_embeddings, which attnviz can't make for it"):
        check(Attention(d_model=8), like=OfNoLibrary())


class Renamed(Attention):
    """Layers whose names say nothing."""

    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.a, self.b, self.c, self.last = self.W_query, self.W_key, self.W_value, self.out_proj
        del self.W_query, self.W_key, self.W_value, self.out_proj

    def forward(self, x):
        self.W_query, self.W_key, self.W_value, self.out_proj = self.a, self.b, self.c, self.last
        output = super().forward(x)
        del self.W_query, self.W_key, self.W_value, self.out_proj
        return output


def test_names_that_say_nothing_are_given_and_a_single_matrix_that_is_left_is_the_last():
    with pytest.raises(OwnArraysError, match=r"got 0 in Renamed, with a.weight, b.weight, c.weight, last.weight\."):
        check(Renamed(), like=Attention(seed=20))
    names = {"a.weight": "w_q", "b.weight": "w_k", "c.weight": "w_v"}
    assert check(Renamed(), like=Attention(seed=20), names=names).agrees
    assert not check(Renamed(), like=Attention(seed=20), names=names | {"a.weight": "w_k", "b.weight": "w_q"}).agrees


def test_what_does_not_match_is_said():
    for mine, library, said in (
        (
            Attention(d_model=8),
            Attention(),
            r"W_query.weight must have the shape \(6, 6\) of the library's w_q; got \(8, 8\)",
        ),
        (LatentAttention(), Attention(), "my_module must have one layer of attention, .* got 0 in LatentAttention"),
        (NormsAllHeads(), NormsAllHeads(), "which like keeps otherwise: it norms all heads .* Record both"),
        (Attention(), Linear(2, 2, 0), "like must have one layer of attention, .* got 0 in Linear, with weight"),
        (Attention(), 3, "like must be a PyTorch module; got int"),
        (3, Attention(), "my_module must be a PyTorch module; got int"),
    ):
        with pytest.raises(OwnArraysError, match=said):
            check(mine, like=library)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_code_is_found_where_it_is(name):
    """As PyTorch computed it (`tests/plantedmodules.py`), beside `nn.MultiheadAttention`."""
    library = compare(None, recorded("like"))
    assert library.first is None
    found = compare(library.trace, recorded(name), n_heads=N_HEADS)
    if name in RIGHT:
        assert found.first is None
        return
    assert found.first.stage == FIRST[name]
    assert NAMED[name] in str(found)
    assert found.explained


@pytest.mark.parametrize("name", MISTAKES)
def test_where_torch_is_it_is_found_in_the_code(name):
    pytest.importorskip("torch")
    found = check(planted(name)(D_MODEL, N_HEADS), like=like())
    assert set(found.calls) == {"no mask", "causal"}
    assert found.agrees == (name in RIGHT)
    if name not in RIGHT:
        assert NAMED[name] in str(found)


def test_a_test_of_ones_own_fails_with_the_sentence():
    right = recorded("like")
    assert_attention(right)
    with pytest.raises(AssertionError, match="Attention differs by up to"):
        assert_attention({"scaled": right["attention"], "attention": right["attention"]})
    with pytest.raises(AssertionError, match="There is nothing to compare yet"):
        assert_attention({"x": right["x"]})
