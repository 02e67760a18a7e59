"""Mistakes around attention, between layers and in the size of a number are named; an independent pass makes each."""

import math
import re
from itertools import permutations

import numpy as np
import pytest
from correctfiles import joined
from implementations import Implementation, softmax
from test_causes import every_nth, named

from attnviz import Parameters, RMSNorm, attend, compare
from attnviz.checks.causes import CAUSES
from attnviz.checks.passes import nodes
from attnviz.checks.read.rounding import applied
from attnviz.core.attention import attend_projected
from attnviz.core.operations.activations import GELU
from attnviz.core.operations.rotation import Rotation

N, WIDTH, HEADS = 6, 8, 2
D = WIDTH // HEADS
BLOCK = (
    "the norm before attention was left out",
    "the norm before the MLP was left out",
    "the norm was a LayerNorm",
    "the norm's gain was left out",
    "1 was added to the norm's gain",
    "the norm's gain was used without the 1 that is added to it",
    "the norm's epsilon was 1e-05",
    "what entered was not added (residual)",
    *(f"the activation was {each}" for each in ("ReLU", "ReLU²", "GELU by tanh")),
)


def given():
    of = np.random.default_rng(21).standard_normal
    matrices = {f"w_{each}": of((HEADS, WIDTH, D)) / 2 for each in "qkv"} | {"w_o": of((WIDTH, WIDTH)) / 2}
    gains = {f"g_{each}_norm": 1.5 + of(WIDTH) / 4 for each in ("attn", "mlp")}
    return matrices | gains | {"w_hidden": of((WIDTH, 12)), "w_mlp": of((12, WIDTH)), "x": of((N, WIDTH)) / 4}


def right():
    own = given()
    return attend(own.pop("x"), parameters=Parameters(**own), norm=RMSNorm(1e-2), residual=True, activation=GELU())


def normed(x, gain, mistake):
    if "was a LayerNorm" in mistake:
        x = x - x.mean(-1, keepdims=True)
    changed = {"gain was left out": 1, "1 was added": gain + 1, "without the 1": gain - 1}
    gain = next((each for words, each in changed.items() if words in mistake), gain)
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + (1e-5 if "epsilon" in mistake else 1e-2)) * gain


def active(x, mistake):
    """Each number on its own."""
    functions = {
        "the activation was ReLU": lambda a: max(a, 0),
        "the activation was ReLU²": lambda a: max(a, 0) ** 2,
        "the activation was GELU by tanh": lambda a: (
            a / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3)))
        ),
    }
    return np.vectorize(functions.get(mistake, lambda a: a / 2 * (1 + math.erf(a / math.sqrt(2)))))(x)


def pass_with(mistake):
    """The stages of a pass with a mistake, in plain NumPy; only the norm before attention has mistakes of its own."""
    own, x = given(), given()["x"]
    read = x if "norm before attention" in mistake else normed(x, own["g_attn_norm"], mistake)
    q, k, v = (np.einsum("td,hde->hte", read, own[f"w_{each}"]) for each in "qkv")
    attention = softmax(q @ k.transpose(0, 2, 1) / D**0.5)
    output = joined(attention @ v) @ own["w_o"]
    residual = output if "not added" in mistake else x + output
    read = residual if "norm before the MLP" in mistake else normed(residual, own["g_mlp_norm"], "")
    hidden = active(read @ own["w_hidden"], mistake)
    return {"attention": attention, "output": output, "residual": residual, "active": hidden}


def test_the_reference_is_the_pass():
    for name, expected in pass_with("").items():
        np.testing.assert_allclose(right()[name].value, expected, atol=1e-12)


@pytest.mark.parametrize("mistake", every_nth(BLOCK, 3))
def test_a_mistake_in_a_block_is_named(mistake):
    found = compare(right(), {name: each.astype(np.float32) for name, each in pass_with(mistake).items()})
    assert mistake in named(found), str(found)
    assert found.explained
    assert len(found.causes) == 1


def projected(n=7, n_keys=None, groups=3):
    of = np.random.default_rng(22).standard_normal
    return of((3, n, 8)), of((groups, n_keys or n, 8)), of((groups, n_keys or n, 8))


@pytest.mark.parametrize("limit", every_nth([1.75, 2.0, 50.0, math.sqrt(3)], 4))
def test_a_softcap_of_any_size_is_found_in_scores_and_weights_with_any_scale(limit):
    q, k, v = projected()
    seen, capped = np.tri(7, dtype=bool), lambda scores: limit * np.tanh(scores / limit)
    says = f"capped at ±{'√3' if limit**2 < 3.1 and limit != 1.75 else f'{limit:g}'} (softcap)"
    for scale in (8**-0.5, 1.0):
        size = 3 if limit == 50 else 1
        masked = np.where(seen, capped(size * q @ k.transpose(0, 2, 1) * scale), -np.inf)
        begins = {"q": (size * q).astype(np.float32), "k": k.astype(np.float32), "v": v, "mask": seen}
        for stages in ({"attention": softmax(masked)}, {"masked": masked}):
            stated = {name: each.astype(np.float32) for name, each in stages.items()}
            found = compare(None, begins | stated, true_is="visible")
            assert says in str(found), str(found)
            assert [each.id for each in found.causes] == ["unscaled"] * (scale == 1) + ["softcap added"]
            assert found.explained
            assert found.skipped_checks == []


def test_a_softcap_that_differs_from_the_passs_is_found():
    q, k, v = projected()
    capped = 3 * np.tanh(q @ k.transpose(0, 2, 1) / 8**0.5 / 3)
    found = compare(attend_projected(q, k, v, softcap=5.0), {"attention": softmax(capped)})
    assert "The scores were capped at ±3 (softcap), and not at the pass's own" in str(found)


@pytest.mark.parametrize("own", [None, 0.25])
@pytest.mark.parametrize("stage", every_nth(["attention", "scores", "masked"], 3))
def test_a_scale_of_any_size_is_found(stage, own):
    q, k, v = projected()
    scaled = q @ k.transpose(0, 2, 1) / 5.3
    found = compare(
        attend_projected(q, k, v, scale=own), {stage: (softmax(scaled) if stage == "attention" else scaled)}
    )
    assert f"The scores were divided by 5.3, not by {'4' if own else '√d_k'}: computed so" in str(found), str(found)
    assert ("Wrong: scores = q @ k.transpose(-2, -1) / 5.3", found.explained) == (found.code[0], True)


def layers():
    own = given()
    x = own.pop("x")
    more = {name: each[::-1] if each.ndim == 1 else each[..., ::-1] for name, each in own.items()}
    parameters = [Parameters(**each) for each in (own, more, own)]
    return attend(x, parameters=parameters, norm=RMSNorm(1e-2), residual=True, rotation=Rotation(100.0, "halves"))


@pytest.mark.parametrize(("letters", "rows"), [("k", "keys"), ("v", "values"), ("kv", "keys and values")])
@pytest.mark.parametrize("other", every_nth([3, 1], 2))
def test_keys_and_values_of_another_layer_are_named(letters, rows, other):
    trace = layers()
    read = {"q": "q_rotated_2", "k": "k_rotated_2", "v": "v_2"}
    read |= {each: read[each].replace("2", str(other)) for each in letters}
    q, k, v = (trace[name].value for name in read.values())
    attention = softmax(q @ k.transpose(0, 2, 1) / D**0.5)
    stated = {"attention": attention, "output": joined(attention @ v) @ trace["w_o_2"].value}
    found = compare(trace, {name: each.astype(np.float32) for name, each in stated.items()}, layer=2)
    assert f"{rows.capitalize()} were those of layer {other}: computed so, all of your numbers agree." in str(found)
    made = ", ".join(letters)
    kept = f"{made} = " + ", ".join(f"kept_{each}[{{}}]" for each in rows.split(" and "))
    assert found.code == tuple(
        f"{word}: {kept.replace('{}', layer)}" for word, layer in (("Wrong", str(other)), ("Right", "layer"))
    )


def rotated(permuted=None, mask=None, **rotation):
    own = given()
    parameters = {name: own[name] for name in ("w_q", "w_k", "w_v", "w_o")}
    if permuted:
        parameters |= {name: own[name][..., permuted] for name in ("w_q", "w_k")}
    return attend(own["x"], parameters=Parameters(**parameters), mask=mask, rotation=Rotation(100.0, **rotation))


HALVES, PADDED = {"pairs": "halves"}, {"pairs": "halves", "mask": np.tri(N, dtype=bool) & (np.arange(N) >= 2)}


@pytest.mark.parametrize(
    ("right", "wrong", "sentence"),
    [
        (PADDED | {"first": -2}, PADDED, "Positions were counted from the left, with the padding"),
        (PADDED, PADDED | {"first": -2}, "Positions were counted from the first token that is no padding"),
        (
            HALVES,
            HALVES | {"permuted": [0, 2, 1, 3]},
            "The dimensions of Q and K were permuted",
        ),
        (HALVES | {"dims": 2}, HALVES, "All dimensions were rotated, not the first ones alone"),
    ],
)
def test_a_mistake_with_a_rotation_is_named(right, wrong, sentence):
    stages = ["attention"] if "permuted" in wrong else ["q_rotated", "k_rotated", "attention"]
    found = compare(rotated(**right), {name: rotated(**wrong)[name].value.astype(np.float32) for name in stages})
    assert sentence.lower() in str(found).lower(), str(found)
    assert found.explained


@pytest.mark.parametrize("has_v", [True, False])
def test_values_that_are_rotated_as_well_are_named(has_v):
    trace = rotated(pairs="neighbours")
    v = Rotation(100.0, "neighbours").for_length(D).compute(trace["v"].value)
    output = joined(trace["attention"].value @ v) @ given()["w_o"]
    stages = {"output": output} | ({"v": trace["v"].value} if has_v else {})
    found = compare(trace, {name: each.astype(np.float32) for name, each in stages.items()})
    assert "The values were rotated by their positions, too: computed so, all of your numbers agree." in str(found)


FUSED_ORDERS = {  # of 4 heads in 2 groups
    "all of Q, then all of K and V": "q0 q1 q2 q3 k0 k1 v0 v1",
    "the queries of each group and then its K and V": "q0 q1 k0 v0 q2 q3 k1 v1",
    "all of Q, then K and V of each head in turn": "q0 q1 q2 q3 k0 v0 k1 v1",
}


@pytest.mark.parametrize("is_biased", [False, True])
def test_a_fused_matrix_of_groups_that_is_split_wrongly_is_named(is_biased):
    d, of = 3, np.random.default_rng(23).standard_normal
    x, orders = of((N, 12)), {words: order.split() for words, order in FUSED_ORDERS.items()}
    columns = {name: (of((12, d)), is_biased * of(d)) for name in next(iter(orders.values()))}
    parameters = {
        f"{kind}_{each}": np.array([columns[name][at] for name in sorted(columns) if name[0] == each])
        for each in "qkv"
        for at, kind in enumerate("wb" if is_biased else "w")
    }
    trace = attend(x, parameters=Parameters(**parameters))
    for (holds, order), (held, taken) in permutations(orders.items(), 2):
        read = {name: x @ columns[each][0] + columns[each][1] for name, each in zip(taken, order, strict=True)}
        q, k, v = (np.array([read[name] for name in read if name[0] == each]) for each in "qkv")
        attention = softmax(q @ np.repeat(k, 2, 0).transpose(0, 2, 1) / d**0.5)
        found = compare(trace, {"attention": attention, "concat": joined(attention @ np.repeat(v, 2, 0))})
        assert f"the fused matrix, which holds {holds}, was cut as if it held {held}" in named(found), str(found)
        assert found.explained


def test_a_causal_mask_from_the_wrong_corner_is_named():
    q, k, v = projected(4, 7)
    scores = q @ k.transpose(0, 2, 1) / 8**0.5
    right = attend_projected(q, k, v, mask=np.tri(4, 7, 3, dtype=bool))
    found = compare(right, {"attention": softmax(np.where(np.tri(4, 7, dtype=bool), scores, -np.inf))})
    assert "The causal mask began in the other corner" in str(found)


def large(**changed):
    """The arrays of a pass with more rows and columns than the search looks at first."""
    of = np.random.default_rng(24).standard_normal
    n, n_heads, d = 20, 4, 12
    own = {"x": of((n, 48)), **{f"w_{each}": of((48, 48)) / 7 for each in "qkvo"}}
    own |= {f"b_{each}": of(48) for each in "qkv"} | {"mask": np.tri(n, dtype=bool)}
    made = own | changed
    q, k, v = (
        (made["x"] @ made[f"w_{each}"] + made[f"b_{each}"]).reshape(n, n_heads, d).swapaxes(0, 1) for each in "qkv"
    )
    scores = np.where(made["mask"], q @ k.swapaxes(1, 2) / made.get("divisor", d**0.5), -np.inf)
    attention = made.get("softmax", softmax)(scores)
    output = made.get("join", joined)(attention @ v) @ made["w_o"]
    return {name: each if each.dtype == bool else each.astype(np.float32) for name, each in own.items()} | {
        "output": output.astype(np.float32)
    }


OWN = large()
PAIRS = {
    "transposed, unscaled": {"w_q": OWN["w_q"].T, "divisor": 1.0},
    "bias forgotten, unscaled": {"b_q": 0 * OWN["b_q"], "divisor": 1.0},
    "transposed, mask off by one": {"w_k": OWN["w_k"].T, "mask": np.tri(20, k=1, dtype=bool)},
    "softmax twice, transposed": {"softmax": lambda scores: softmax(softmax(scores)), "w_o": OWN["w_o"].T},
    "softmax twice, heads joined without transposing": {
        "softmax": lambda scores: softmax(softmax(scores)),
        "join": lambda heads: heads.reshape(20, 48),
    },
}


@pytest.mark.parametrize("ids", every_nth(PAIRS, 4))
def test_two_mistakes_in_adjacent_stages_are_found_from_the_output(ids):
    found = compare(None, large(**PAIRS[ids]), n_heads=4, orientation="(in, out)", true_is="visible")
    assert ", ".join(each.id for each in found.causes) == ids, str(found)
    assert found.explained
    assert found.skipped_checks == []
    assert "Not tried" not in str(found)


def test_skipped_checks_are_reported_only_where_some_were_skipped():
    own = {name: each for name, each in given().items() if name in ("x", "w_q", "w_k", "w_v", "w_o")}
    found = compare(None, own | {"output": np.random.default_rng(25).standard_normal((N, WIDTH))})
    (skipped,) = found.skipped_checks
    assert "which only scores or attention show" in skipped
    assert found.verdict[-1] == skipped
    assert skipped in found._repr_html_()
    attention = softmax(np.random.default_rng(26).standard_normal((HEADS, N, N)))
    assert compare(None, own | {"attention": attention}).skipped_checks == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "skipped"),
    [(np.float32, []), (np.float16, ["two mistakes at once"])],
)
def test_pairs_of_mistakes_are_skipped_for_coarse_numbers(dtype, skipped):
    nonsense = large() | {"output": np.random.default_rng(25).standard_normal((20, 48))}
    nonsense["attention"] = softmax(np.random.default_rng(26).standard_normal((4, 20, 20)))
    arrays = {name: each if each.dtype == bool else each.astype(dtype) for name, each in nonsense.items()}
    found = compare(None, arrays, n_heads=4, orientation="(in, out)", true_is="visible").skipped_checks
    assert [words in each for words, each in zip(skipped, found, strict=True)] == [True] * len(skipped)


@pytest.mark.slow
def test_other_rotation_bases_are_skipped_for_many_scores():
    q, k = np.random.default_rng(27).standard_normal((2, 5, 60, 4)).astype(np.float32)
    found = compare(None, {"q": q, "k": k, "attention": softmax(q @ k.swapaxes(1, 2) + (q @ q.swapaxes(1, 2)) ** 2)})
    assert "RoPE with another base than those of known models, as there are so many scores" in str(found)
    assert len(found.skipped_checks) == 1


def test_each_cause_has_two_lines_of_code_that_differ():
    capped = CAUSES["softcap added"].code({"limit": "√3"})
    assert capped[0] == "scores = 3 ** 0.5 * torch.tanh(scores / 3 ** 0.5)"
    for id, cause in CAUSES.items():
        slots = {name: name.upper() for name in re.findall(r"{(\w+)}", cause.wrong + cause.right)}
        wrong, right = cause.code(slots)
        assert (wrong != right) == (id != "axes in another order")
        assert not re.search(r"[{}]", wrong + right)


def shared_keys(wrong=""):
    """The parameters of four heads in two groups, the stages that hooks record, and the attention, in plain NumPy."""
    own = np.random.default_rng(31).standard_normal
    x, w = own((6, 16)), {"q": own((16, 16)) / 4, "k": own((8, 16)) / 4, "v": own((8, 16)) / 4}
    rows = {each: x @ w[each].T for each in "qkv"}

    def heads_of(array, is_viewed=False):
        return array.reshape(-1, 6, 4) if is_viewed else array.reshape(6, -1, 4).swapaxes(0, 1)

    def rotate(array):
        n = array.shape[-1]
        angles = np.arange(6)[:, None] / 10_000 ** (np.arange(0, n, 2) / n)
        a, b = np.split(array, 2, axis=-1)
        return np.concatenate([a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles)], -1)

    heads = {each: heads_of(rows[each], wrong == "heads by view") for each in "qkv"}
    is_before = wrong == "rotated before the heads"
    q, k = (heads_of(rotate(rows[each])) if is_before else rotate(heads[each]) for each in "qk")
    k, v = (np.concatenate([each] * 2) if wrong == "tiled" else np.repeat(each, 2, axis=0) for each in (k, heads["v"]))
    scores = np.where(np.tri(6, dtype=bool), q @ k.swapaxes(1, 2) / 2, -np.inf)
    parameters = {"x": x, "mask": np.tri(6, dtype=bool), **{f"{each}_proj.weight": w[each] for each in "qkv"}}
    recorded = {each: heads_of(rows[each]) for each in "qkv"} | {"concat": joined(softmax(scores) @ v)}
    return parameters, recorded, softmax(scores)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("heads by view", "Q, K and V were cut into heads without transposing"),
        ("rotated before the heads", "Queries and keys were rotated before they were cut into heads"),
        ("tiled", "K and V were tiled"),
    ],
)
def test_a_mistake_is_named_where_keys_are_repeated_for_each_head(wrong, sentence):
    parameters, recorded, attention = shared_keys()
    right = compare(None, parameters | recorded | {"attention": attention}, n_heads=4)
    assert right.first is None, str(right)
    found = compare(right.trace, shared_keys(wrong)[1])
    assert sentence in str(found), str(found)
    assert found.explained


@pytest.mark.parametrize("given", ["of each head", "averaged", "averaged, for each head"])
def test_attention_that_is_averaged_before_use_is_named_whichever_attention_is_given(given):
    """PyTorch's `average_attn_weights` averages only the returned attention."""
    own = Implementation(np.random.default_rng(3), n=6)
    shares, v = own.stages["attention"], own.stages["v"]
    mean = shares.mean(axis=0)
    attention = {"of each head": shares, "averaged": mean, "averaged, for each head": np.stack([mean] * len(shares))}
    output = (mean @ v).transpose(1, 0, 2).reshape(6, -1) @ own.parameters["w_o"] + own.parameters["b_o"]
    found = compare(None, own.written("BERT") | {"attention": attention[given], "output": output})
    assert [each.id for each in (*found.causes, *found.alternatives)] == ["attention averaged over heads"]
    assert found.explained


def test_tiled_groups_are_found_from_an_output_in_few_operations(monkeypatch):
    n, n_heads, d = 32, 8, 16
    random = np.random.default_rng(2)
    x = random.normal(size=(n, n_heads * d)).astype(np.float32)
    lengths = {"q": n_heads * d, "k": 4 * d, "v": 4 * d, "o": n_heads * d}
    w = {each: (random.normal(size=(length, n_heads * d)) / 11).astype(np.float32) for each, length in lengths.items()}
    q, k, v = ((x @ w[each].T).reshape(n, -1, d).transpose(1, 0, 2) for each in "qkv")
    k, v = (np.concatenate([each, each]) for each in (k, v))
    scores = np.where(np.tri(n, dtype=bool), q @ k.transpose(0, 2, 1) / 4, -np.inf)
    output = joined(softmax(scores) @ v) @ w["o"].T
    arrays = {"x": x, **{f"{each}_proj.weight": w[each] for each in w}, "output": output.astype(np.float32)}
    operations = []

    def counted(operation, *rest):
        operations.append(operation)
        return applied(operation, *rest)

    monkeypatch.setattr(nodes, "applied", counted)
    found = compare(None, arrays)
    assert 0 < len(operations) < 5_000  # to try each way by itself took 10,000
    assert [each.id for each in found.causes] == ["groups tiled"]
