"""What is built of attention today: the law of each operation, and any of them together in one pass.

References and equations stand in the operations. Rounding is that of float64, and said where it is looked for.
"""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kvcache import numbers_kept

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.analysis import audit
from attnviz.analysis.audit import Audit
from attnviz.analysis.provenance import gradients
from attnviz.core.attention import attend_projected
from attnviz.core.errors import ArrayError, SettingsError
from attnviz.core.masks import GLOBAL_LAYERS, MASKS, mask_in_layer
from attnviz.core.operations.online_softmax import RunningMaximum
from attnviz.core.operations.rotation import Rotation
from attnviz.core.operations.scores import ALiBi
from attnviz.core.operations.softmax import SumNormalise
from attnviz.explain import export

DRAW = np.random.default_rng(3)
HEADS, N, D = 4, 12, 8
X = DRAW.standard_normal((N, 6))
W = {f"w_{each}": DRAW.standard_normal((HEADS, 6, D)) for each in "qkv"}
EPSILON = np.finfo(float).eps
CAUSAL = np.tri(N, dtype=bool)


def drawn(*shape):
    return DRAW.standard_normal(shape)


@pytest.mark.parametrize("pairs", ["neighbours", "halves"])
@pytest.mark.parametrize("moved", [9, 100_000])
def test_rope_scores_depend_on_distance(pairs, moved):
    q, k = drawn(2, 1, N, D)
    here, there = (
        Rotation(pairs=pairs, dims=D, first=first).compute(q)
        @ Rotation(pairs=pairs, dims=D, first=first).compute(k).swapaxes(-1, -2)
        for first in (0, moved)
    )
    lengths = np.linalg.norm(q, axis=-1)[0][:, None] * np.linalg.norm(k, axis=-1)[0]
    bound = (moved + N) * EPSILON * lengths  # of the largest angle, that of the pair of speed 1
    assert (np.abs(here - there) <= bound).all()
    assert np.abs(here - q @ k.swapaxes(-1, -2)).max() > 0.1


def test_rope_needs_two_dimensions():
    with pytest.raises(SettingsError, match=r"at least 2.* got rope=halves with d_model=8 and n_heads=8\. Choose"):
        Settings("the cat", n_heads=8, rope="halves")
    assert trace_of(Settings("the cat", n_heads=8, rope="halves", sharing="latent"))["q_rotated"].shape[-1] == 2
    with pytest.raises(ArrayError, match=r"turns pairs, .*; got all of 1"):
        attend(drawn(3, 1), parameters=Parameters(), rotation=Rotation())


def test_alibi_is_linear_in_distance():
    scores = drawn(3, N, N)
    taken = scores - ALiBi(3).compute(scores)
    slopes = [2**-4, 2**-8, 2**-2]  # of three heads: those of two, and the first of those of four
    for head, query, key in np.ndindex(taken.shape):
        assert taken[head, query, key] == pytest.approx(slopes[head] * abs(query - key), abs=1e-14)


def test_softmax_plus_one_is_a_zero_key():
    q, k, v = drawn(3, HEADS, N, D)
    plus_one = attend_projected(q, k, v, sinks=np.zeros(HEADS))
    more = [np.concatenate([each, np.zeros((HEADS, 1, D))], axis=1) for each in (k, v)]
    np.testing.assert_allclose(plus_one["heads"].value, attend_projected(q, *more)["heads"].value, rtol=0, atol=1e-14)


def by_blocks(block_size, mask=CAUSAL, **more):
    return [attend(X, parameters=Parameters(**W, **more), mask=mask, block_size=size) for size in (None, block_size)]


@settings(max_examples=25, deadline=None)
@given(
    block_size=st.integers(1, N + 3), mask=st.sampled_from(sorted(MASKS)), size=st.integers(0, N), sinks=st.booleans()
)
def test_blocks_equal_one_softmax(block_size, mask, size, sinks):
    more = {"sinks": np.array([-2.0, 0.0, 1.0, 40.0])} if sinks else {}
    at_once, blocks = by_blocks(block_size, MASKS[mask](N, N, size), **more)
    np.testing.assert_allclose(blocks["heads"].value, at_once["heads"].value, rtol=0, atol=64 * N * EPSILON)
    largest, sums = blocks["running_max"].value[..., -1], blocks["running_sum"].value[..., -1]
    seeing = np.isfinite(blocks["masked"].value).any(axis=-1)
    with np.errstate(invalid="ignore"):
        shares = np.exp(blocks["masked"].value - largest[..., None]) / sums[..., None]
    np.testing.assert_allclose(shares[seeing], at_once["attention"].value[seeing], rtol=1e-13, atol=1e-300)
    assert not blocks["heads"].value[~seeing].any()
    assert (sums[~seeing] == sinks).all()


def test_blind_block_is_skipped():
    """What is kept after it is, to the last bit, what was kept before; nothing is kept before the first that sees."""
    mask = np.ones((N, N), dtype=bool)
    mask[:, 3:6] = mask[0, :9] = False
    _, blocks = by_blocks(3, mask)
    for name in ("running_max", "running_sum", "running_output"):
        kept = blocks[name].value
        np.testing.assert_array_equal(kept[:, 1:, 5], kept[:, 1:, 2])
        assert (kept[:, 0, :9] == (-np.inf if name == "running_max" else 0)).all()
        assert np.isfinite(kept[:, 0, 9:]).all()


@pytest.mark.parametrize("key", [1, 2])
def test_changed_maximum_keeps_the_result(key):
    _, blocks = by_blocks(2)
    changed = blocks.with_change("running_max", (1, 5, key), 2.5)
    found = Audit(tuple(audit.audit(changed)))
    assert found.n_agree == found.n_recomputed > 0
    assert_script_agrees(changed)
    assert changed["running_sum"].value[1, 5, key] != blocks["running_sum"].value[1, 5, key]
    np.testing.assert_allclose(changed["heads"].value, blocks["heads"].value, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("block_size", [0, -1, 2.0, True])
def test_block_size_is_checked(block_size):
    with pytest.raises(ArrayError, match="block_size must be a whole number of keys"):
        RunningMaximum(block_size)
    with pytest.raises(ArrayError, match="block_size belongs to a softmax"):
        attend(X, parameters=Parameters(**W), normalise=SumNormalise, block_size=2)


def test_sink_leaves_1_only_by_rounding():
    for lead, whole in ((36.0, False), (38.0, True)):
        trace = attend_projected(np.ones((1, 1, 1)), np.full((1, 1, 1), lead), np.ones((1, 1, 1)), sinks=np.zeros(1))
        assert (trace["attention"].value[0, 0, 0] == 1) == whole
    unseeing = attend_projected(*drawn(3, 1, 2, 2), mask=np.zeros((2, 2), dtype=bool), sinks=np.zeros(1))
    assert not unseeing["attention"].value.any()


def test_qk_norm_ignores_query_length():
    by_ten = W | {"w_q": 10 * W["w_q"]}
    once, ten = (attend(X, parameters=Parameters(**each), qk_norm=True) for each in (W, by_ten))
    smallest = np.square(once["q"].value).mean(axis=-1).min()
    np.testing.assert_allclose(once["scores"].value, ten["scores"].value, rtol=1e-5 / smallest, atol=1e-12)


LATENT = {
    "w_q": drawn(HEADS, 6, D),
    "w_dkv": drawn(1, 6, 5),
    "w_uk": drawn(HEADS, 5, D),
    "w_uv": drawn(HEADS, 5, 3),
    "w_qr": drawn(HEADS, 6, 2),
    "w_kr": drawn(1, 6, 2),
    "g_latent": drawn(5),
    "w_o": drawn(HEADS * 3, 6),
}
QUERY_LATENT = {
    "w_q": None,
    "w_dq": drawn(6, 4),
    "g_q_latent": drawn(4),
    "w_uq": drawn(HEADS, 4, D),
    "w_qr": drawn(HEADS, 4, 2),
}
CONTENT = {name: w for name, w in LATENT.items() if name not in ("w_qr", "w_kr")}


@pytest.mark.parametrize(
    ("given", "rotation"),
    [
        (LATENT, Rotation(100.0)),
        (LATENT, None),
        (CONTENT, None),
        (LATENT | QUERY_LATENT, Rotation(100.0)),
        (CONTENT | QUERY_LATENT | {"w_qr": None}, None),
    ],
)
@pytest.mark.parametrize("context", [None, drawn(9, 6)])
def test_absorbed_equals_naive_latents(given, rotation, context):
    options = {"parameters": Parameters(**given), "rotation": rotation, "mask": None if context is not None else CAUSAL}
    naive, absorbed = (attend(X, context, absorbed=absorbed, **options) for absorbed in (False, True))
    # of the largest number; exp makes more of the rounding of large scores (200 seeds: 5e-16, 4e-15, 2e-15 and 1e-15)
    for name, rounding in {"scores": 1e-15, "attention": 1e-14, "heads": 4e-15, "output": 2e-15}.items():
        largest = np.abs(naive[name].value).max()
        np.testing.assert_allclose(absorbed[name].value, naive[name].value, rtol=0, atol=rounding * largest)
    assert not {"k", "v"} & absorbed.keys()
    assert not {"q_absorbed", "latent_heads"} & naive.keys()


def rms(x, gain=1):
    return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-5) * gain


@pytest.mark.parametrize("queries", [{}, QUERY_LATENT])
@pytest.mark.parametrize(("absorbed", "qk_norm"), [(False, False), (True, False), (False, True)])
def test_latents_equal_a_loop_over_heads(absorbed, qk_norm, queries):
    """As DeepSeek writes it: keys with both parts side by side, those for positions the same in each head.

    With QK-norm, which none of DeepSeek's models has there, each part of content is normed.
    """
    given = LATENT | queries
    options = {"rotation": Rotation(100.0), "mask": CAUSAL, "absorbed": absorbed, "qk_norm": qk_norm}
    trace = attend(X, parameters=Parameters(**given), **options)
    latent = rms(X @ given["w_dkv"][0], given["g_latent"])
    asks = rms(X @ given["w_dq"], given["g_q_latent"]) if queries else X
    norm = rms if qk_norm else np.asarray
    w_q = given["w_uq"] if queries else given["w_q"]
    turned = Rotation(100.0, dims=2).compute
    found = []
    for head in range(HEADS):
        q = np.hstack([norm(asks @ w_q[head]), turned(asks @ given["w_qr"][head])])
        k = np.hstack([norm(latent @ given["w_uk"][head]), turned(X @ given["w_kr"][0])])
        scores = np.where(CAUSAL, q @ k.T / np.sqrt(D + 2), -np.inf)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        found.append(shares / shares.sum(axis=1, keepdims=True) @ latent @ given["w_uv"][head])
    np.testing.assert_allclose(trace["heads"].value, found, rtol=1e-12, atol=1e-13)


def test_published_kv_cache_sizes():
    def kept(n_layers, **shapes):
        given = Parameters(**{name: np.ones(shape) for name, shape in shapes.items()})
        return n_layers * numbers_kept(attend(np.ones((2, 1)), parameters=given, absorbed="w_dkv" in shapes))

    assert kept(12, w_q=(12, 1, 64), w_k=(12, 1, 64), w_v=(12, 1, 64)) == 18_432  # GPT-2
    assert kept(32, w_q=(32, 1, 128), w_k=(8, 1, 128), w_v=(8, 1, 128)) == 65_536  # Llama 3 8B
    latents = {"w_dkv": (1, 1, 512), "w_uk": (2, 512, 128), "w_uv": (2, 512, 128), "w_kr": (1, 1, 64)}
    assert kept(61, w_q=(2, 1, 128), w_qr=(2, 1, 64), **latents) == 35_136  # DeepSeek-V3, of any heads


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        ({"w_dkv": LATENT["w_dkv"]}, {}, "need w_q or w_uq, w_dkv, w_uk and w_uv"),
        (LATENT | QUERY_LATENT | {"w_q": LATENT["w_q"]}, {}, "no w_q; got g_q_latent, w_dq, w_q, w_uq"),
        (LATENT | QUERY_LATENT | {"w_dq": None}, {}, "need w_dq and w_uq, and no w_q; got g_q_latent, w_uq"),
        (
            LATENT | QUERY_LATENT | {"w_dq": drawn(5, 4)},
            {},
            "w_dq must have axes .*d_cq.* of lengths .6, 4.; got .5, 4.",
        ),
        (LATENT | QUERY_LATENT | {"g_q_latent": drawn(5)}, {}, "g_q_latent must have axes"),
        (LATENT | {"w_k": LATENT["w_uk"]}, {}, "neither w_k nor w_v"),
        (CONTENT | {"w_kr": LATENT["w_kr"]}, {}, "come together; got w_kr alone"),
        (LATENT | {"w_dkv": drawn(3, 6, 5)}, {}, "numbers of groups that divide it"),
        (LATENT | {"w_uk": drawn(HEADS, 4, D)}, {}, "w_uk doesn't fit latent"),
        (CONTENT, {"absorbed": True, "rotation": Rotation()}, "no w_qr and w_kr"),
        (
            LATENT,
            {"absorbed": True, "qk_norm": True},
            "no keys that a norm could be applied to; got qk_norm. Leave one of the two out",
        ),
        (W, {"absorbed": True}, "got no w_dkv"),
    ],
)
def test_misfit_latents_are_refused(given, options, said):
    with pytest.raises(ArrayError, match=said):
        attend(X, parameters=Parameters(**given), **options)


ANY = st.fixed_dictionaries(
    {
        "groups": st.sampled_from([1, 2, 4]),
        "latents": st.sampled_from(["", "", "naive", "absorbed"]),
        "query_latent": st.booleans(),
        "gains": st.booleans(),
        "sinks": st.booleans(),
        "qk_norm": st.booleans(),
        "rotation": st.sampled_from([None, Rotation(), Rotation(50.0, "halves"), Rotation(9.0, "halves", 2, 3)]),
        "softcap": st.sampled_from([None, 0.5, 30.0]),
        "alibi": st.booleans(),
        "block_size": st.sampled_from([None, 1, 3, 4]),
        "mask": st.sampled_from(sorted(MASKS)),
        "norm": st.sampled_from([None, "rmsnorm", "layernorm"]),
        "n_layers": st.integers(1, 2),
        "window_in": st.sampled_from([*GLOBAL_LAYERS]),
    }
)
STEP = 1e-5


def pass_with(groups, latents, query_latent, gains, sinks, n_layers, mask, window_in, **options):
    random = np.random.default_rng(5)
    draw = random.standard_normal
    given = {"w_q": draw((4, 6, 4)), "w_k": draw((groups, 6, 4)), "w_v": draw((groups, 6, 3)), "w_o": draw((12, 6)) / 3}
    if latents:
        absorbed = latents == "absorbed"
        options |= {"qk_norm": options["qk_norm"] and not absorbed, "absorbed": absorbed}
        given = {"w_q": given["w_q"], "w_o": given["w_o"], "w_dkv": draw((groups, 6, 3)), "w_uk": draw((4, 3, 4))}
        given |= {"w_uv": draw((4, 3, 3)), "g_latent": draw(3)}
        if options["rotation"]:
            given |= {"w_qr": draw((4, 5 if query_latent else 6, 4)), "w_kr": draw((groups, 6, 4))}
        if query_latent:
            given |= {"w_q": None, "w_dq": draw((6, 5)), "w_uq": draw((4, 5, 4)), "g_q_latent": draw(5)}
    if gains and options["qk_norm"]:
        given |= {"g_q_norm": draw(4), "g_k_norm": draw(4)}
    if gains and options["norm"]:
        given["g_attn_norm"] = draw(6)
    if sinks:
        given["sinks"] = draw(4)
    layers = [Parameters(**given)] * n_layers
    masks = tuple(MASKS[mask_in_layer(mask, window_in, layer)](4, 4, 2) for layer in range(1, n_layers + 1))
    return attend(draw((4, 6)), parameters=layers, mask=masks, residual=True, **options)


@settings(max_examples=12, deadline=None)
@given(picked=ANY)
def test_any_combination_passes_audit_script_and_slopes(picked):
    trace = pass_with(**picked)
    found = Audit(tuple(audit.audit(trace)))
    assert found.n_agree == found.n_recomputed > 0
    assert_script_agrees(trace)
    target = (trace.output.name, (2, 3))
    slopes = gradients(trace, *target)
    for name in [stage.name for stage in trace.stages if stage.is_given and stage.value.dtype != bool]:
        index = tuple(n // 2 for n in trace[name].shape)
        at = trace[name].value[index]
        low, high = (trace.with_change(name, index, at + step)[target[0]].value[target[1]] for step in (-STEP, STEP))
        slope = slopes[name][index] if name in slopes else 0.0
        assert slope == pytest.approx((high - low) / (2 * STEP), rel=1e-5, abs=1e-7), name


def assert_script_agrees(trace):
    made = {}
    given = {name: np.array(value) for name, value in np.load(io.BytesIO(export.arrays(trace))).items()}
    lines = export.script(trace).partition("    return expected\n")[2]

    def compared(name, value):
        made[name] = value
        return value

    exec(lines[: lines.rindex("print(")], {"np": np, "given": given, "compared": compared})
    assert list(made) == [stage.name for stage in trace.stages if not stage.is_given]
    for name, value in made.items():
        np.testing.assert_array_equal(value, trace[name].value, err_msg=name)
