"""`check`: the user's module against a library's, on the same parameters and inputs."""

import re
from functools import cache, partial

import numpy as np
import pytest
from comparisons import assert_as_reported
from fakemodules import (
    AddsToResidual,
    Attention,
    Biased,
    ByHeads,
    Capped,
    FusedAttention,
    HasKernels,
    HeadOutputs,
    LatentAttention,
    LatentHeads,
    Linear,
    NormsAllHeads,
    RotatedAttention,
    SharedKeys,
    WithOutputOutside,
    causal,
)
from implementations import softmax
from plantedmodules import D_MODEL, MISTAKES, N_HEADS, RECORDED, RIGHT, like, planted

from attnviz import OwnArraysError, check, compare
from attnviz.testing import assert_attention

PLANTED = np.load(RECORDED)


def recorded(name):
    return {each.removeprefix(f"{name}/"): PLANTED[each] for each in PLANTED.files if each.startswith(f"{name}/")}


def parameters(module):
    return {name: np.array(each) for name, each in module.named_parameters()}


def test_an_equal_module_agrees_and_gets_its_parameters_back():
    mine, library = Attention(seed=10), Attention(seed=20)
    before = parameters(mine)
    found = check(mine, like=library)
    assert found.agrees
    assert set(found.calls) == {"no mask"}
    assert "Q, K, V, attention, concatenation and output agree" in str(found)
    for name, array in parameters(mine).items():
        np.testing.assert_array_equal(array, before[name])


def test_parameters_are_restored_when_a_call_fails():
    class Failing(Attention):
        def forward(self, x):
            raise ZeroDivisionError

    mine = Failing()
    before = parameters(mine)
    with pytest.raises(OwnArraysError, match="Failing must take x; calling it so raised ZeroDivisionError") as refused:
        check(mine, like=Attention(seed=20))
    assert isinstance(refused.value.__cause__, ZeroDivisionError)
    for name, array in parameters(mine).items():
        np.testing.assert_array_equal(array, before[name])


class Dropout(Attention):
    """Attention that drops a tenth of its shares: always, or in training alone, as it should."""

    def __init__(self, *, is_always, **arguments):
        super().__init__(**arguments)
        self.is_always, self.random = is_always, np.random.default_rng(4)

    def shares(self, scores):
        kept = self.random.random(scores.shape) > 0.1
        return super().shares(scores) * (kept / 0.9 if self.training or self.is_always else 1)


BIASES = ["W_query.bias", "W_key.bias", "W_value.bias", "out_proj.bias"]


@pytest.mark.parametrize("left_out", BIASES)
def test_a_bias_left_out_is_found_although_fresh_ones_are_0(left_out):
    class LeavesOut(Attention):
        def forward(self, x):
            layer = getattr(self, left_out.partition(".")[0])
            bias, layer.bias = layer.bias, 0
            output = super().forward(x)
            layer.bias = bias
            return output

    mine, library = LeavesOut(layer=Biased), Attention(seed=20, layer=Biased)
    found = check(mine, like=library)
    assert not found.agrees
    assert f"b_{left_out[2].upper() if left_out in BIASES[:3] else 'O'} was not added" in str(found)
    for module in (mine, library):
        assert not any(parameters(module)[name].any() for name in BIASES)  # as they were
    assert check(Attention(layer=Biased), like=library).agrees


def test_both_are_called_in_eval_mode_which_is_undone():
    mine, library = Dropout(is_always=False), Dropout(is_always=False, seed=20)
    mine.W_key.eval()
    library.eval()
    modes = [[part.training for _, part in module.named_modules()] for module in (mine, library)]
    assert check(mine, like=library).agrees
    assert modes == [[part.training for _, part in module.named_modules()] for module in (mine, library)]
    assert modes[0] == [True, True, False, True, True]


def test_dropout_in_eval_mode_is_named():
    found = check(Dropout(is_always=True), like=Attention(seed=20))
    assert found.is_random
    assert not found.agrees
    first = "Yours gives other numbers each time that it is called, in eval mode too. Is there dropout"
    assert str(found).startswith(first)
    with pytest.raises(OwnArraysError, match=r"like gives other numbers each time .* Turn it off for the check"):
        check(Attention(), like=Dropout(is_always=True, seed=20))


def test_a_required_mask_is_passed_as_none():
    class Demands(Attention):
        def forward(self, x, attention_mask):
            assert attention_mask is None or attention_mask.shape[-1] == x.shape[-2]
            return super().forward(x)

    assert check(Attention(seed=10), like=Demands(seed=20)).agrees


def test_a_causal_module_that_takes_no_mask_is_compared_with_the_causal_call():
    class TakesFlag(Attention):
        def forward(self, x, is_causal=False):
            self.is_causal = is_causal
            return super().forward(x)

        def shares(self, scores):
            return super().shares(scores) if self.is_causal else softmax(scores)

    found = check(Attention(seed=10), like=TakesFlag(seed=20))
    assert found.agrees, str(found)
    assert set(found.calls) == {"causal"}
    assert "called without a mask alone" in str(found)


def test_matrices_in_out_are_checked():
    assert check(FusedAttention(seed=10), like=FusedAttention(seed=20)).agrees
    found = check(FusedAttention(seed=10, scale=1), like=FusedAttention(seed=20))
    assert "The scores were not divided by √d_k: computed so, all of your numbers agree." in str(found)


def test_position_embeddings_come_from_the_modules_library():
    found = check(RotatedAttention(seed=10), like=RotatedAttention(seed=20))
    assert found.agrees, str(found)
    other = check(RotatedAttention(seed=10, pairs_neighbours=True), like=RotatedAttention(seed=20))
    assert other.calls["no mask"].first.stage == "attention"

    class OfNoLibrary(RotatedAttention):
        __module__ = "builtins"

    with pytest.raises(OwnArraysError, match="OfNoLibrary takes position_embeddings, which attnviz can't make for it"):
        check(Attention(d_model=8), like=OfNoLibrary())


PORTS = {
    "fused by heads": (Attention(seed=10, layer=Biased), ByHeads(seed=20)),
    "fused by heads in both": (ByHeads(seed=10), ByHeads(seed=20)),
    "fused by heads in mine": (ByHeads(seed=10), Attention(seed=20, layer=Biased)),
    "fused in blocks, of keys that heads share": (SharedKeys(seed=10, is_fused=False), SharedKeys(seed=20)),
    "(in, out)": (Attention(seed=10), FusedAttention(seed=20)),
    "a limit of scores": (Capped(seed=10), Capped(seed=20)),
    "all heads normed at once": (NormsAllHeads(seed=10), NormsAllHeads(seed=20)),
    "an output matrix outside": (Attention(seed=10), WithOutputOutside(seed=20)),
    "an output matrix in mine alone": (Attention(seed=10), HeadOutputs(seed=20)),
    "no output matrix": (HeadOutputs(seed=10), HeadOutputs(seed=20)),
    "a fused kernel": (HasKernels(seed=10), HasKernels(seed=20)),
}
"""Mine and a library's module that compute the same by other parameters or calls."""


@pytest.mark.parametrize("port", PORTS)
def test_ports_agree(port):
    mine, like = PORTS[port]
    before = [parameters(module) for module in (mine, like)]
    found = check(mine, like=like)
    assert found.agrees, str(found)
    assert {each.stage for each in next(iter(found.calls.values())).stages} & {"output", "heads"}
    for module, numbers in zip((mine, like), before, strict=True):
        for name, array in parameters(module).items():
            np.testing.assert_array_equal(array, numbers[name])


class CausalUnlessMasked(HasKernels):
    """Attention that is causal where it gets no mask, such as by `is_causal=mask is None`."""

    def shares(self, scores):
        return causal(scores) if self.mask is None else softmax(scores + self.mask)


def test_a_module_may_be_causal_without_a_mask_beside_one_that_is_causal():
    like = HasKernels(seed=20)
    found = check(CausalUnlessMasked(seed=10), like=like)
    assert found.agrees, str(found)
    assert set(found.calls) == {"causal"}
    assert "Yours hides later keys without a mask, too" in str(found)
    assert like.config._attn_implementation == "sdpa"  # as it was
    like.is_causal = False
    assert not check(CausalUnlessMasked(seed=10), like=like).agrees


class Bare(ByHeads):
    """ByHeads without biases."""

    def __init__(self, seed=0):
        super().__init__(seed)
        self.query_key_value, self.dense = Linear(6, 18, seed), Linear(6, 6, seed + 1)


BY_HEADS, IN_BLOCKS = "Q, K and V of each head in turn", "all of Q, then all of K and V"
ORDERS = {
    "mine by heads alone": (ByHeads(), FusedAttention(seed=20), [BY_HEADS, IN_BLOCKS]),
    "the library's by heads alone": (FusedAttention(), Bare(seed=20), [IN_BLOCKS, BY_HEADS]),
    "mine by heads, the library's apart": (ByHeads(), Attention(seed=20, layer=Biased), [BY_HEADS]),
    "mine in blocks, the library's apart": (SharedKeys(), SharedKeys(seed=20, is_fused=False), []),
    "both by heads": (ByHeads(), ByHeads(seed=20), []),
}


@pytest.mark.parametrize("case", ORDERS)
def test_a_fused_matrix_in_another_order_is_noted_although_it_agrees(case):
    mine, like, orders = ORDERS[case]
    found = check(mine, like=like)
    assert found.agrees, str(found)
    assert [each for note in found.notes for each in re.findall(f"{BY_HEADS}|{IN_BLOCKS}", note)] == orders
    assert ("don't load in yours as they are" in str(found)) == bool(orders)


class TakesBoolean(Attention):
    """Attention that hides no key without a mask, whose True is a hidden key or a visible one."""

    def __init__(self, *, hides, **arguments):
        super().__init__(**arguments)
        self.hides = hides

    def forward(self, x, mask=None):
        if mask is not None and mask.dtype != bool:
            raise TypeError
        self.visible = True if mask is None else np.asarray(mask) != self.hides
        return super().forward(x)

    def shares(self, scores):
        return softmax(np.where(self.visible, scores, -np.inf))


class Adds(HasKernels):
    """Attention that adds its mask."""

    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.config._attn_implementation = "eager"
        self.is_causal = False


@pytest.mark.parametrize("hides", [False, True])
def test_what_true_in_my_mask_was_taken_for_is_noted_where_the_library_means_otherwise(hides):
    mine, meaning = TakesBoolean(hides=hides), f"got True for a {'hidden' if hides else 'visible'} key"
    for library in (TakesBoolean(hides=not hides, seed=20), Adds(seed=20)):
        found = check(mine, like=library)
        assert found.agrees, str(found)
        assert meaning in str(found)
    assert not check(mine, like=TakesBoolean(hides=hides, seed=20)).notes
    assert not check(Adds(), like=TakesBoolean(hides=hides, seed=20)).notes


class Unknown(Attention):
    """Attention of queries and keys that attnviz has no operation for."""

    def turned(self, x):
        return np.tanh(x)


class ShiftsValues(Unknown):
    def projected(self, x):
        q, k, v = super().projected(x)
        return q, k, np.roll(v, 1, axis=1)


def test_attention_that_attnviz_cannot_compute_is_compared_as_recorded():
    found = check(Unknown(seed=10), like=Unknown(seed=20))
    assert found.agrees, str(found)
    assert "compared with what was recorded of it" in str(found)
    assert [each.stage for each in found.calls["no mask"].stages] == ["q", "k", "v", "attention", "concat", "output"]
    for wrong, first in ((Attention(seed=10), "attention"), (ShiftsValues(seed=10), "concat")):
        assert check(wrong, like=Unknown(seed=20)).calls["no mask"].first.stage == first


PLANTED_IN_PORTS = {
    "softcap left out": (Capped(cap=0), Capped(seed=20), "attention", "capped"),
    "scale left out": (SharedKeys(is_fused=False), SharedKeys(seed=20), "attention", "√d_k"),
    "cut in blocks": (Attention(layer=Biased), ByHeads(seed=20), "attention", "√d_k"),
}


@pytest.mark.parametrize("planted_in", PLANTED_IN_PORTS)
def test_mistakes_in_ports_are_named(planted_in):
    mine, like, first, sentence = PLANTED_IN_PORTS[planted_in]
    scale = mine.scale
    mine.scale = 1 if sentence == "√d_k" else scale
    found = check(mine, like=like)
    mine.scale = scale
    for comparison in found.calls.values():
        assert comparison.first.stage == first
        assert sentence in str(comparison)


class Renamed(Attention):
    """Attention with unknown names."""

    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.a, self.b, self.c, self.last = self.W_query, self.W_key, self.W_value, self.out_proj
        del self.W_query, self.W_key, self.W_value, self.out_proj

    def forward(self, x):
        self.W_query, self.W_key, self.W_value, self.out_proj = self.a, self.b, self.c, self.last
        output = super().forward(x)
        del self.W_query, self.W_key, self.W_value, self.out_proj
        return output


def test_unknown_names_are_stated_and_a_single_remaining_matrix_is_w_o():
    with pytest.raises(OwnArraysError, match=r"got 0 in Renamed, with a.weight, b.weight, c.weight, last.weight\."):
        check(Renamed(), like=Attention(seed=20))
    names = {"a.weight": "w_q", "b.weight": "w_k", "c.weight": "w_v"}
    assert check(Renamed(), like=Attention(seed=20), names=names).agrees
    assert not check(Renamed(), like=Attention(seed=20), names=names | {"a.weight": "w_k", "b.weight": "w_q"}).agrees


class Doubled(Attention):
    def forward(self, x):
        output, attention = super().forward(x)
        return output * output, attention


def test_modules_that_do_not_match_are_refused():
    for mine, library, said in (
        (
            Attention(d_model=8),
            Attention(),
            r"W_query.weight must have the shape \(6, 6\) of the library's w_q; got \(8, 8\)",
        ),
        (LatentAttention(), Attention(), "my_module must have one layer of attention, .* got 0 in LatentAttention"),
        (
            Attention(),
            LatentHeads(),
            "like keeps otherwise: its keys and values come from a latent.* Record both",
        ),
        (
            Attention(),
            Doubled(),
            "attnviz doesn't compute output as Doubled does. Q, .* agree. Output differs .* Record",
        ),
        (Attention(), AddsToResidual(), "AddsToResidual takes residual, which attnviz can't make for it"),
        (NormsAllHeads(), Attention(), "q_norm.weight is g_q_norm, which the library's module has no parameter for"),
        (Attention(), Linear(2, 2, 0), "like must have one layer of attention, .* got 0 in Linear, with weight"),
        (Attention(), 3, "like must be a PyTorch module; got int"),
        (3, Attention(), "my_module must be a PyTorch module; got int"),
    ):
        with pytest.raises(OwnArraysError, match=said):
            check(mine, like=library)


@cache
def of_library():
    return compare(None, recorded("like"))


@pytest.mark.parametrize("name", MISTAKES)
def test_recorded_mistakes_in_code_are_named(name):
    """As PyTorch computed it (`tests/plantedmodules.py`), beside `nn.MultiheadAttention`."""
    library = of_library()
    assert library.first is None
    found = compare(library.trace, recorded(name), n_heads=N_HEADS)
    if name in RIGHT:
        assert found.first is None
        return
    assert found.first.stage == MISTAKES[name]["first"]
    assert MISTAKES[name]["sentence"] in str(found)
    assert found.explained


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_in_code_are_named_with_torch(name):
    pytest.importorskip("torch")
    found = check(planted(name)(D_MODEL, N_HEADS), like=like())
    assert set(found.calls) == {"no mask", "causal"}
    assert found.agrees == (name in RIGHT)
    if name not in RIGHT:
        assert MISTAKES[name]["sentence"] in str(found)


def test_assert_attention_fails_with_the_report():
    right = recorded("like")
    assert_attention(right)
    with pytest.raises(AssertionError, match="Attention differs by up to"):
        assert_attention({"scaled": right["attention"], "attention": right["attention"]})
    with pytest.raises(AssertionError, match="There is nothing to compare yet"):
        assert_attention({"x": right["x"]})


X = np.random.default_rng(7).normal(size=(5, 4))
SCALED = np.where(np.tri(5, dtype=bool), X @ X.T / 2, -np.inf)
SHARES = softmax(SCALED)
OWN = {"x": X, "mask": np.tri(5, dtype=bool), "attention": SHARES}
BLIND = np.arange(5)[:, None] > 0
"""Of a mask by which the first query sees no key."""


def turned(x):
    """Pairs of neighbours turned by their positions, as Meta's `wq` are."""
    angles = np.arange(5)[:, None] * np.array([1, 0.01])
    a, b = x[:, 0::2], x[:, 1::2]
    cos, sin = np.cos(angles), np.sin(angles)
    return np.stack([a * cos - b * sin, b * cos + a * sin], axis=-1).reshape(x.shape)


def rotated(name):
    """Attention whose queries and keys are rotated, every query seeing every key, with W_Q under that name."""
    matrices = {name: np.eye(4), name.replace("q", "k"): np.eye(4), name.replace("q", "v"): np.eye(4)}
    return {"x": X, **matrices, "attention": softmax(turned(X) @ turned(X).T / 2)}


def biased(path):
    """Attention with a bias of positions, every query seeing every key, with matrices under that path."""
    bias = np.arange(25.0).reshape(1, 5, 5) / 9
    matrices = {f"{path}{name}.weight": np.eye(4) for name in ("query", "key", "value")}
    return {"x": X, **matrices, "position_bias": bias, "attention": softmax(X @ X.T / 2 + bias)}


OPEN = {
    "a bias in an encoder": (biased("encoder.block.0.SelfAttention."), [], ""),
    "a bias": (
        biased("decoder.block.0.SelfAttention."),
        [
            "In your attention every query sees every key under a bias of positions. A model that writes text hides "
            "later keys"
        ],
        "under a bias of positions",
    ),
    "hidden scores": ({"scaled": X @ X.T / 2, "masked": SCALED, "attention": SHARES}, [], ""),
    "an added mask": (OWN | {"mask": np.where(np.tri(5), 0, -np.inf)}, [], ""),
    "cos and sin": (OWN | {"cos": np.ones((5, 6)), "sin": np.zeros((5, 6))}, ["cos", "sin"], "cos was not read"),
    "an output of no W_O": (
        {"q": X, "k": X, "v": X, "heads": (X @ X.T / 2 @ X)[None], "attention": SHARES, "mask": OWN["mask"]},
        None,
        "Head outputs differ",
    ),
    "an unused output": (
        {"scaled": SCALED, "attention": SHARES, "output": X},
        ["output"],
        "output was compared with nothing",
    ),
    "NaN in an unused output": (
        {"scaled": SCALED, "attention": SHARES, "output": X * np.nan},
        None,
        "output holds 20 numbers that are NaN or infinite",
    ),
    "NaN in a row that sees no key": (
        OWN | {"mask": OWN["mask"] & BLIND, "attention": np.where(BLIND, SHARES, np.nan)},
        None,
        "attention holds 5 numbers that are NaN or infinite",
    ),
    "∞ in an output": (
        {"scaled": SCALED, "attention": SHARES, "output": X + np.inf},
        None,
        "output holds 20 numbers that are NaN or infinite",
    ),
    "questions": (
        rotated("q_proj.weight"),
        [
            "In your attention every query sees every key",
            "Weights called q_proj.weight are for pairs in halves in Llama",
        ],
        "for neighbours in GPT-J",
    ),
}
"""Arrays, what has to be allowed that they pass (None: nothing makes them), and what is said otherwise."""


@pytest.mark.parametrize("case", OPEN)
def test_assert_attention_fails_for_open_questions_unless_allowed(case):
    arrays, allow, says = OPEN[case]
    asserted = partial(assert_as_reported, compare(None, arrays), arrays)
    if not says:
        return asserted()
    with pytest.raises(AssertionError, match=says):
        asserted()
    if allow is None:
        with pytest.raises(AssertionError, match=says):
            asserted(allow=[*arrays])
        return None
    with pytest.raises(AssertionError, match=re.escape(f"pass allow={allow!r}")):
        asserted()
    for name in allow:
        with pytest.raises(AssertionError):
            asserted(allow={*allow} - {name})
    return asserted(allow=allow)
