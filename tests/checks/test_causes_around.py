"""Causes around attention, between layers and in the size of a number; what is said, carried out, makes the numbers."""

import math
import re

import numpy as np
import pytest
from correctfiles import joined
from implementations import Implementation, softmax
from test_causes_today import named

from attnviz import Parameters, RMSNorm, attend, compare
from attnviz.checks.causes.table import CAUSES
from attnviz.checks.explain import passes
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


def spread(cases, step):
    """Every third or fourth case by default, and the others among the slow tests."""
    return [each if at % step == 0 else pytest.param(each, marks=pytest.mark.slow) for at, each in enumerate(cases)]


def given():
    of = np.random.default_rng(21).standard_normal
    matrices = {f"w_{each}": of((HEADS, WIDTH, D)) / 2 for each in "qkv"} | {"w_o": of((WIDTH, WIDTH)) / 2}
    gains = {f"g_{each}_norm": 1.5 + of(WIDTH) / 4 for each in ("attn", "mlp")}
    return matrices | gains | {"w_hidden": of((WIDTH, 12)), "w_mlp": of((12, WIDTH)), "x": of((N, WIDTH)) / 4}


def right():
    own = given()
    return attend(own.pop("x"), parameters=Parameters(**own), norm=RMSNorm(1e-2), residual=True, activation=GELU())


def normed(x, gain, said):
    """Of the norm before attention alone where two would be the same mistake."""
    if "was a LayerNorm" in said:
        x = x - x.mean(-1, keepdims=True)
    gain = {"gain was left out": 1, "1 was added": gain + 1, "without the 1": gain - 1}.get(
        next(filter(said.__contains__, ("gain was left out", "1 was added", "without the 1")), ""), gain
    )
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + (1e-5 if "epsilon" in said else 1e-2)) * gain


def active(x, said):
    """Each number on its own."""
    made = {
        "ReLU": lambda a: max(a, 0),
        "ReLU²": lambda a: max(a, 0) ** 2,
        "GELU by tanh": lambda a: a / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3))),
    }.get(said.removeprefix("the activation was "), lambda a: a / 2 * (1 + math.erf(a / math.sqrt(2))))
    return np.vectorize(made)(x)


def carried_out(said):
    own, x = given(), given()["x"]
    read = x if "norm before attention" in said else normed(x, own["g_attn_norm"], said)
    q, k, v = (np.einsum("td,hde->hte", read, own[f"w_{each}"]) for each in "qkv")
    attention = softmax(q @ k.transpose(0, 2, 1) / D**0.5)
    output = joined(attention @ v) @ own["w_o"]
    residual = output if "not added" in said else x + output
    read = residual if "norm before the MLP" in said else normed(residual, own["g_mlp_norm"], "")
    hidden = active(read @ own["w_hidden"], said)
    return {"attention": attention, "output": output, "residual": residual, "active": hidden}


def test_the_reference_is_the_pass():
    for name, expected in carried_out("").items():
        np.testing.assert_allclose(right()[name].value, expected, atol=1e-12)


@pytest.mark.parametrize("said", spread(BLOCK, 3))
def test_what_is_got_wrong_around_attention_is_named(said):
    stated = {name: each.astype(np.float32) for name, each in carried_out(said).items()}
    found = compare(right(), stated)
    assert said in named(found), str(found)
    assert found.explained
    assert len(found.causes) == 1


def projected(n=7, n_keys=None, groups=3):
    of = np.random.default_rng(22).standard_normal
    return of((3, n, 8)), of((groups, n_keys or n, 8)), of((groups, n_keys or n, 8))


@pytest.mark.parametrize("limit", spread([1.75, 2.0, 50.0, math.sqrt(3)], 4))
def test_a_cap_of_any_size_is_found_from_the_numbers(limit):
    """Of a Gemma 2 of one's own, say; in shares and in scores, beside the scale that it should have and another one."""
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


def test_another_cap_than_the_pass_s_own_is_found_from_the_numbers():
    q, k, v = projected()
    capped = 3 * np.tanh(q @ k.transpose(0, 2, 1) / 8**0.5 / 3)
    found = compare(attend_projected(q, k, v, softcap=5.0), {"attention": softmax(capped)})
    assert "The scores were capped at ±3 (softcap), and not at the pass's own" in str(found)


@pytest.mark.parametrize("own", [None, 0.25])
@pytest.mark.parametrize("stage", spread(["attention", "scores", "masked"], 3))
def test_a_scale_of_any_size_is_said_as_a_number(stage, own):
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
@pytest.mark.parametrize("other", spread([3, 1], 2))
def test_keys_and_values_of_another_layer_are_named(letters, rows, other):
    """Of an earlier layer, or of a later one."""
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


def test_positions_that_count_the_padding_on_the_left_are_named():
    own = given()
    x = own.pop("x")
    parameters = Parameters(**{name: own[name] for name in ("w_q", "w_k", "w_v", "w_o")})
    mask = np.tri(N, dtype=bool) & (np.arange(N) >= 2)
    for ours, theirs, said in ((-2, 0, "from the left, with the padding"), (0, -2, "first token that is no padding")):
        passes = [
            attend(x, parameters=parameters, mask=mask, rotation=Rotation(100.0, "halves", first=first))
            for first in (ours, theirs)
        ]
        stages = ("q_rotated", "k_rotated", "attention")
        found = compare(passes[0], {name: passes[1][name].value.astype(np.float32) for name in stages})
        assert (f"Positions were counted {said}" in str(found)) or f"the {said}" in str(found), str(found)
        assert found.explained


@pytest.mark.parametrize("has_v", [True, False])
def test_values_that_are_rotated_as_well_are_named(has_v):
    own = given()
    x = own.pop("x")
    parameters = Parameters(**{name: own[name] for name in ("w_q", "w_k", "w_v", "w_o")})
    rotation = Rotation(100.0, "neighbours")
    trace = attend(x, parameters=parameters, rotation=rotation)
    v = rotation.for_length(D).compute(trace["v"].value)
    stated = {"output": joined(trace["attention"].value @ v) @ own["w_o"]} | ({"v": trace["v"].value} if has_v else {})
    found = compare(trace, {name: each.astype(np.float32) for name, each in stated.items()})
    assert "The values were rotated by their positions, too: computed so, all of your numbers agree." in str(found)


def fused_blocks(n_heads, n_groups):
    shared = n_heads // n_groups
    queries, pairs = (
        [f"q{head}" for head in range(n_heads)],
        [f"{each}{group}" for group in range(n_groups) for each in "kv"],
    )
    return {
        "all of Q, then all of K and V": [*queries, *(f"{each}{group}" for each in "kv" for group in range(n_groups))],
        "the queries of each group and then its K and V": [
            name
            for group in range(n_groups)
            for name in (*queries[group * shared : (group + 1) * shared], f"k{group}", f"v{group}")
        ],
        "all of Q, then K and V of each head in turn": [*queries, *pairs],
    }


@pytest.mark.parametrize("is_biased", [False, True])
def test_a_fused_matrix_of_groups_that_is_cut_otherwise_is_named(is_biased):
    n_heads, n_groups, d = 4, 2, 3
    of = np.random.default_rng(23).standard_normal
    x, orders = of((N, 12)), fused_blocks(n_heads, n_groups)
    columns = {name: (of((12, d)), is_biased * of(d)) for name in next(iter(orders.values()))}
    for lies, order in orders.items():
        for read, other in orders.items():
            if lies == read:
                continue
            taken = dict(zip(other, (columns[each] for each in order), strict=True))
            rows = {name: x @ w + b for name, (w, b) in taken.items()}
            q, k, v = (np.array([rows[name] for name in rows if name[0] == each]) for each in "qkv")
            attention = softmax(q[[0, 1, 2, 3]] @ np.repeat(k, 2, 0).transpose(0, 2, 1) / d**0.5)
            right = {
                f"{kind}_{each}": np.array([columns[name][at] for name in sorted(columns) if name[0] == each])
                for each in "qkv"
                for at, kind in enumerate("wb" if is_biased else "w")
            }
            trace = attend(x, parameters=Parameters(**right))
            found = compare(trace, {"attention": attention, "concat": joined(attention @ np.repeat(v, 2, 0))})
            said = f"the fused matrix, which holds {lies}, was cut as if it held {read}"
            assert said in named(found), str(found)
            assert found.explained


def test_the_causal_mask_of_the_other_corner_is_named():
    q, k, v = projected(4, 7)
    scores = q @ k.transpose(0, 2, 1) / 8**0.5
    right = attend_projected(q, k, v, mask=np.tri(4, 7, 3, dtype=bool))
    found = compare(right, {"attention": softmax(np.where(np.tri(4, 7, dtype=bool), scores, -np.inf))})
    assert "The causal mask began in the other corner" in str(found)


def test_permuted_dimensions_and_a_rotation_of_all_of_them_are_named():
    own = given()
    x = own.pop("x")
    parameters = Parameters(**{name: own[name] for name in ("w_q", "w_k", "w_v")})
    trace = attend(x, parameters=parameters, rotation=Rotation(100.0, "halves"))
    permuted = {
        name: own[name][..., [0, 2, 1, 3]] if name in ("w_q", "w_k") else own[name] for name in parameters.stages
    }
    theirs = attend(x, parameters=Parameters(**permuted), rotation=Rotation(100.0, "halves"))
    found = compare(trace, {"attention": theirs["attention"].value})
    assert "he dimensions of Q and K were permuted, as weights for pairs of" in str(found), str(found)
    some = attend(x, parameters=parameters, rotation=Rotation(100.0, "halves", dims=2))
    found = compare(some, {"attention": trace["attention"].value})
    assert "All dimensions were rotated, not the first ones alone" in str(found), str(found)


def large(**changed):
    """The output of a pass of more rows and columns than are looked at first; None leaves a step out."""
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


@pytest.mark.parametrize("ids", spread(PAIRS, 4))
def test_two_mistakes_in_neighbouring_stages_are_found_from_the_output(ids):
    found = compare(None, large(**PAIRS[ids]), n_heads=4, orientation="(in, out)", true_is="visible")
    assert ", ".join(each.id for each in found.causes) == ids, str(found)
    assert found.explained
    assert found.skipped_checks == []
    assert "Not tried" not in str(found)


def test_what_was_not_tried_is_said_in_one_sentence_and_only_where_something_was_left_out():
    own = {name: each for name, each in given().items() if name in ("x", "w_q", "w_k", "w_v", "w_o")}
    found = compare(None, own | {"output": np.random.default_rng(25).standard_normal((N, WIDTH))})
    said = "Not tried: scales, caps, dropout and orders of heads of any size, which only scores or attention show."
    assert found.skipped_checks == [said] == found.verdict[-1:]
    assert said in found._repr_html_()
    attention = softmax(np.random.default_rng(26).standard_normal((HEADS, N, N)))
    assert compare(None, own | {"attention": attention}).skipped_checks == []


@pytest.mark.slow
def test_what_was_not_tried_is_said_of_coarse_numbers_and_of_many():
    nonsense = large() | {"output": np.random.default_rng(25).standard_normal((20, 48)).astype(np.float32)}
    stated = {"n_heads": 4, "orientation": "(in, out)", "true_is": "visible"}
    attention = softmax(np.random.default_rng(26).standard_normal((4, 20, 20)))
    assert compare(None, nonsense | {"attention": attention.astype(np.float32)}, **stated).skipped_checks == []
    rounded = {name: each if each.dtype == bool else each.astype(np.float16) for name, each in nonsense.items()}
    assert "two mistakes at once, of which numbers as coarse as yours show too little" in str(
        compare(None, rounded | {"attention": attention.astype(np.float16)}, **stated)
    )
    q, k = np.random.default_rng(27).standard_normal((2, 5, 60, 4)).astype(np.float32)
    many = str(
        compare(None, {"q": q, "k": k, "attention": softmax(q @ k.swapaxes(1, 2) + (q @ q.swapaxes(1, 2)) ** 2)})
    )
    assert "RoPE with another base than those of known models, as there are so many scores" in many
    assert many.count("Not tried") == 1


def test_each_cause_has_two_lines_of_code_that_differ():
    capped = CAUSES["softcap added"].code({"limit": "√3"})
    assert capped[0] == "scores = 3 ** 0.5 * torch.tanh(scores / 3 ** 0.5)"
    for id, cause in CAUSES.items():
        slots = {name: name.upper() for name in re.findall(r"{(\w+)}", cause.wrong + cause.right)}
        wrong, right = cause.code(slots)
        assert (wrong != right) == (id != "axes in another order")
        assert not re.search(r"[{}]", wrong + right)


def of_shared_keys(wrong=""):
    """Attention of four heads, two of which share keys and values, in plain NumPy: what is heard, and what is made."""
    own = np.random.default_rng(31).standard_normal
    x, w = own((6, 16)), {"q": own((16, 16)) / 4, "k": own((8, 16)) / 4, "v": own((8, 16)) / 4}
    rows = {each: x @ w[each].T for each in "qkv"}

    def cut(array, is_viewed=False):
        return array.reshape(-1, 6, 4) if is_viewed else array.reshape(6, -1, 4).swapaxes(0, 1)

    def turned(array):
        n = array.shape[-1]
        angles = np.arange(6)[:, None] / 10_000 ** (np.arange(0, n, 2) / n)
        a, b = np.split(array, 2, axis=-1)
        return np.concatenate([a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles)], -1)

    heads = {each: cut(rows[each], wrong == "heads by view") for each in "qkv"}
    before = wrong == "rotated before the heads"
    q, k = (cut(turned(rows[each])) if before else turned(heads[each]) for each in "qk")
    k, v = (np.concatenate([each] * 2) if wrong == "tiled" else np.repeat(each, 2, axis=0) for each in (k, heads["v"]))
    scores = np.where(np.tri(6, dtype=bool), q @ k.swapaxes(1, 2) / 2, -np.inf)
    begins = {"x": x, "mask": np.tri(6, dtype=bool), **{f"{each}_proj.weight": w[each] for each in "qkv"}}
    heard = {each: cut(rows[each]) for each in "qkv"}
    return begins, heard | {"concat": joined(softmax(scores) @ v)}, softmax(scores)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("heads by view", "Q, K and V were cut into heads without transposing"),
        ("rotated before the heads", "Queries and keys were rotated before they were cut into heads"),
        ("tiled", "K and V were tiled"),
    ],
)
def test_what_went_wrong_before_shared_keys_come_once_for_each_head_is_named(wrong, said):
    begins, made, shares = of_shared_keys()
    right = compare(None, begins | made | {"attention": shares}, n_heads=4)
    assert right.first is None, str(right)
    _, made, _ = of_shared_keys(wrong)
    found = compare(right.trace, made)
    assert said in str(found), str(found)
    assert found.explained


@pytest.mark.parametrize("given", ["of each head", "averaged", "averaged, for each head"])
def test_attention_that_is_averaged_before_it_is_used_is_named_beside_an_attention(given):
    """PyTorch's `average_attn_weights` is of what is returned alone."""
    own = Implementation(np.random.default_rng(3), n=6)
    shares, v = own.stages["attention"], own.stages["v"]
    mean = shares.mean(axis=0)
    attention = {"of each head": shares, "averaged": mean, "averaged, for each head": np.stack([mean] * len(shares))}
    output = (mean @ v).transpose(1, 0, 2).reshape(6, -1) @ own.parameters["w_o"] + own.parameters["b_o"]
    found = compare(None, own.written("BERT") | {"attention": attention[given], "output": output})
    assert [each.id for each in (*found.causes, *found.alternatives)] == ["attention averaged over heads"]
    assert found.explained


def test_tiled_keys_and_values_are_found_from_an_output_alone_in_few_operations(monkeypatch):
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

    monkeypatch.setattr(passes, "applied", counted)
    found = compare(None, arrays)
    assert 0 < len(operations) < 5_000  # to try each way by itself took 10,000
    assert [each.id for each in found.causes] == ["groups tiled"]
