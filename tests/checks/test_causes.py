"""Causes: what is said to have gone wrong in somebody's arrays, carried out as it is said, makes their numbers."""

import re
from itertools import permutations

import numpy as np
import pytest
from implementations import softmax

from attnviz import Parameters, attend, compare
from attnviz.checks.causes.projections import of_parameters
from attnviz.checks.causes.table import CAUSES as TABLE
from attnviz.core.operations.rotation import Rotation

N, HEADS, D_K = 5, 3, 2
SIZES = {"√d_k twice": D_K, "d_k": D_K, "d_model": HEADS * D_K, "√d_model": (HEADS * D_K) ** 0.5, "√heads": HEADS**0.5}
SEEN = np.tri(N, dtype=bool)
LATER = ("q", "k", "v", "scores", "scaled", "masked", "attention", "heads", "concat", "output")
BATCH = "attention ran along the batch axis (in nn.MultiheadAttention: a wrong batch_first)"
CAUSES = (
    "the scores were not divided by √d_k",
    *(f"the scores were divided by {each}, not by √d_k" for each in SIZES if "twice" not in each),
    "the mask was applied the other way round",
    f"{BATCH}, so that each token attended only to itself",
    "the mask was applied after the softmax, so that rows no longer add up to 1",
    "the scores were multiplied by the mask, so that a hidden key kept a score of 0",
    "the mask reached one key too far, so that a query saw the key after those it may see",
    "the softmax was taken along the queries, not along the keys",
    "the softmax was taken along the heads, not along the keys",
    *(f"W_{letter} was used transposed" for letter in "QKVO"),
    "W_Q, W_K and W_V were used transposed",
    "W_Q, W_K, W_V and W_O were used transposed",
    *(f"{letter} was cut into heads without transposing" for letter in "QKV"),
    "Q, K and V were cut into heads without transposing",
    "the heads were joined without transposing",
    *(f"b_{letter} was not added" for letter in "QKVO"),
    "the scores were multiplied by √d_k, not divided",
    "the scores were divided by 3, not by √d_k",
    "the mask ended one key too early, so that a query didn't see the last key that it may see",
    "the mask was used transposed, with queries and keys exchanged",
    "the mask was added to the scores as 0 and 1",
    "hidden scores were set to −10, not to −∞, so that hidden keys kept a share",
    "−10 was added to hidden scores, not −∞, so that hidden keys kept a share",
    "the softmax was taken twice",
    "the softmax took powers of 2, not of e",
    "the attention was averaged over heads before it was used",
    "dropout was left on, with p = 0.25: each share is 0 or divided by 1 − p",
    "queries and keys were exchanged in the scores, which are transposed",
    "the attention was transposed before it was multiplied by V",
    "the attention was multiplied by K, not by V",
    "W_Q and W_K were exchanged",
    "W_K and W_V were exchanged",
    *(f"b_{letter} was added twice" for letter in "QKVO"),
    *(f"{letter} was cut into heads that take turns, one dimension each" for letter in "QKV"),
    "Q, K and V were cut into heads that take turns, one dimension each",
    "the heads were joined so that they take turns, one dimension each",
    "the heads were in another order: 2, 3 and 1",
    "W_O was left out",
    "x was added to the output already",
    *(
        f"the fused matrix, which holds {lies}, was cut as if it held {read}"
        for lies, read in permutations(
            (
                "all of Q, then all of K and V",
                "Q, K and V of each head in turn",
                "all of Q, then K and V of each head in turn",
            ),
            2,
        )
    ),
)
ORDERS = {
    "all of Q, then all of K and V": [each + str(head) for each in "qkv" for head in range(HEADS)],
    "Q, K and V of each head in turn": [each + str(head) for head in range(HEADS) for each in "qkv"],
    "all of Q, then K and V of each head in turn": [
        *(f"q{head}" for head in range(HEADS)),
        *(each + str(head) for head in range(HEADS) for each in "kv"),
    ],
}
"""The blocks of columns of a fused matrix, by what is said of it."""


def given(size=1.0):
    """The inputs and parameters of somebody's pass, as plain matrices (in, out)."""
    random = np.random.default_rng(7)
    d_model = SIZES["d_model"]
    return {
        "x": random.standard_normal((N, d_model)),
        **{f"w_{each}": size * random.standard_normal((d_model, d_model)) / 2 for each in "qkvo"},
        **{f"b_{each}": random.standard_normal(d_model) for each in "qkvo"},
    }


def exchanged_as_is(said, own):
    """The parameters, two matrices and their biases in the place of each other, if that is said."""
    pair = re.search(r"W_(.) and W_(.) were exchanged", said)
    if not pair:
        return own
    one, other = (each.lower() for each in pair.groups())
    swapped = {f"{kind}_{a}": own[f"{kind}_{b}"] for kind in "wb" for a, b in ((one, other), (other, one))}
    return own | swapped


def taken_apart_as_is(said, own):
    """The parameters as they come out of a fused matrix that holds and is read in what orders are said."""
    fused = re.search(r"which holds (.+), was cut as if it held (.+)", said)
    if not fused:
        return own
    lies, read = (ORDERS[each] for each in fused.groups())
    parts = {}
    for kind in "wb":
        cut = {
            f"{each}{head}": own[f"{kind}_{each}"].reshape(-1, HEADS, D_K)[:, head]
            for each in "qkv"
            for head in range(HEADS)
        }
        taken = dict(zip(read, (cut[each] for each in lies), strict=True))
        for each in "qkv":
            joined = np.concatenate([taken[f"{each}{head}"] for head in range(HEADS)], axis=1)
            parts[f"{kind}_{each}"] = joined.reshape(own[f"{kind}_{each}"].shape)
    return own | parts


def carried_out(said):
    """The stages of a pass in which happened what is said, in plain NumPy."""
    own = taken_apart_as_is(said, exchanged_as_is(said, given()))
    about = re.findall(r"\b[WbQKV](?:_[QKVO])?\b", re.split(r" (?:was|were) ", said)[0])

    def used(name):
        called = f"{name[0].upper() if name[0] == 'w' else 'b'}_{name[2].upper()}"
        if called not in about or "exchanged" in said:
            return own[name]
        return own[name].T if "transposed" in said else 2 * own[name] if "twice" in said else 0

    made = {}
    for each in "qkv":
        row = own["x"] @ used(f"w_{each}") + used(f"b_{each}")
        cut = "into heads" in said and each.upper() in about
        made[each] = row.reshape(HEADS, N, D_K) if cut else row.reshape(N, HEADS, D_K).transpose(1, 0, 2)
        if cut and "take turns" in said:
            made[each] = row.reshape(N, D_K, HEADS).transpose(2, 0, 1)
    scores = made["q"] @ made["k"].transpose(0, 2, 1)
    if "exchanged in the scores" in said:
        scores = scores.transpose(0, 2, 1)
    divided = re.search(r"were (not )?divided by (\S+?(?: twice)?)(?:,|$)", said)
    by = D_K**0.5 if not divided else 1.0 if divided[1] else SIZES.get(divided[2]) or float(divided[2].strip("√"))
    by = D_K**-0.5 if "multiplied by √d_k" in said else by
    seen = ~SEEN if "the other way round" in said else SEEN
    seen = SEEN.T if "mask was used transposed" in said else seen
    seen = np.tri(N, k=-1, dtype=bool) if "one key too early" in said else seen
    is_after = "the mask was applied after the softmax" in said
    if "one key too far" in said:
        seen = np.tri(N, k=1, dtype=bool)
    masked = (
        scores / by
        if is_after
        else scores / by * SEEN
        if "multiplied by the mask" in said
        else scores / by + SEEN
        if "added to the scores as 0 and 1" in said
        else np.where(seen, scores / by, -10 + (0 if "set to" in said else scores / by))
        if "−10" in said
        else np.where(seen, scores / by, -np.inf)
    )
    along = re.search(r"softmax was taken along the (\w+)", said)
    with np.errstate(invalid="ignore"):  # where no head sees a key there is nothing along them
        powers = masked * np.log(2) if "powers of 2" in said else masked
        attention = np.nan_to_num(softmax(powers, {"queries": -2, "heads": -3}[along[1]] if along else -1))
    attention = attention * SEEN if is_after else softmax(attention) if "taken twice" in said else attention
    if "averaged" in said:
        attention = np.array([attention.mean(axis=0)] * HEADS)
    if "dropout" in said:
        attention = attention * (np.random.default_rng(9).random(attention.shape) > 0.25) / 0.75
    if BATCH in said:  # of each token alone, as a sentence of its own
        attention = np.array(
            [np.diag([softmax(masked[head, at, [at]])[0] for at in range(N)]) for head in range(HEADS)]
        )
    read = made["k" if "multiplied by K" in said else "v"]
    heads = (attention.transpose(0, 2, 1) if "attention was transposed" in said else attention) @ read
    heads = heads[[1, 2, 0]] if "another order" in said else heads
    concat = heads.transpose(1, 0, 2).reshape(N, -1)
    if "joined so that they take turns" in said:
        concat = heads.transpose(1, 2, 0).reshape(N, -1)
    if "joined without transposing" in said:
        concat = heads.reshape(N, -1)
    output = concat if "W_O was left out" in said else concat @ used("w_o") + used("b_o")
    output = output + own["x"] if said.startswith("x was added") else output
    values = (scores, scores / by, masked, attention, heads, concat, output)
    return made | dict(zip(LATER[3:], values, strict=True))


def compared(said, stages=LATER):
    """What comes of arrays in which happened what is said."""
    stated = {name: value for name, value in carried_out(said).items() if name in stages}
    arrays = given() | {"mask": SEEN} | stated
    return compare(None, arrays, n_heads=HEADS, orientation="(in, out)", true_is="visible"), stated


def capital(text):
    return text if text[1:2] == "_" else text[0].upper() + text[1:]


SPREAD = [each if number % 4 == 0 else pytest.param(each, marks=pytest.mark.slow) for number, each in enumerate(CAUSES)]


@pytest.mark.parametrize("said", SPREAD)
def test_the_cause_that_is_told_is_what_was_done(said):
    for stages in (LATER, ("scores", "scaled", "masked", "attention", "output")):
        found, stated = compared(said, stages)
        if said.startswith(("dropout", "the heads were in")) and stages != LATER:
            continue
        (told,) = re.findall(r"^(.+): computed so, (?:all|more) of your numbers agree\.", str(found), re.MULTILINE)
        others = re.findall(r"^These numbers would be the same if (.+)\.$", str(found), re.MULTILINE)
        alternatives = [each for text in others for each in text.split(" or if ")]
        assert told == capital(said) or said in alternatives, str(found)
        assert found.explained, str(found)
        theirs = {name: found.theirs[name].value for name in stated}
        assert all(np.allclose(theirs[name], value, equal_nan=True) for name, value in stated.items()), "pass A"
        for each in alternatives:
            again = carried_out(each)
            assert all(np.allclose(again[name], value, equal_nan=True) for name, value in stated.items()), each


def as_a_batch(own, heads):
    """Attention of nn.MultiheadAttention, and its output, in which the tokens are a batch of sentences of one token."""
    w_b = zip(np.split(own["in_proj_weight"], 3), np.split(own["in_proj_bias"], 3), strict=True)
    w_b, shares, outputs = list(w_b), [], []
    for token in own["x"].reshape(-1, 1, own["x"].shape[-1]):
        q, k, v = ((token @ w.T + b).reshape(1, heads, -1).swapaxes(0, 1) for w, b in w_b)
        shares.append(softmax(q @ k.swapaxes(1, 2) / q.shape[-1] ** 0.5))
        outputs.append((shares[-1] @ v).swapaxes(0, 1).reshape(1, -1) @ own["out_proj.weight"].T + own["out_proj.bias"])
    return np.array(shares), np.array(outputs)


@pytest.mark.parametrize("order", [(1, N, 8), (N, 1, 8)])
@pytest.mark.parametrize("kept", ["all", "averaged", "attention", "output"])
def test_a_wrong_batch_first_is_told_from_what_multihead_attention_returns(order, kept):
    """It returns weights of (tokens, heads, 1, 1), which are all 1, or (tokens, 1, 1)."""
    of = np.random.default_rng(5).standard_normal
    own = {"x": of(order), "in_proj_weight": of((24, 8)), "in_proj_bias": of(24)}
    own |= {"out_proj.weight": of((8, 8)), "out_proj.bias": of(8)}
    attention, output = as_a_batch(own, 2)
    assert attention.shape == (N, 2, 1, 1)
    returned = {
        "attention": attention.mean(axis=1) if kept == "averaged" else attention,
        "output": output.reshape(order),
    }
    stated = {name: each for name, each in returned.items() if kept in ("all", "averaged", name)}
    found = compare(None, own | stated, n_heads=2)
    said = f"{capital(BATCH)}, so that each token attended only to itself: computed so, all of your numbers agree."
    assert said in str(found)
    assert not found.alternatives
    if kept == "all":
        other = softmax(of((2, N, N)))
        assert capital(BATCH) not in str(compare(None, own | {"attention": other}, n_heads=2))


def test_a_fused_matrix_of_pytorch_s_name_is_read_both_ways_and_it_is_said_which():
    """One of (3 d_model, d_model) that was transposed to be kept, and a square one whose shape doesn't tell."""
    of = np.random.default_rng(6).standard_normal
    for w_qkv in (of((8, 24)), of((12, 12))):
        x, length = of((N, len(w_qkv))), w_qkv.shape[1] // 3
        q, k, v = ((x @ w).reshape(N, 2, -1).swapaxes(0, 1) for w in np.split(w_qkv, 3, axis=1))
        attention = softmax(q @ k.swapaxes(1, 2) / q.shape[-1] ** 0.5)
        stages = {"attention": attention, "concat": (attention @ v).swapaxes(0, 1).reshape(N, length)}
        for turned, said in ((w_qkv, "(in, out): read as they stand"), (w_qkv.T, "(out, in): read transposed")):
            found = compare(None, {"x": x, "in_proj_weight": turned, "w_o": of((length, 5)), **stages})
            assert found.first is None, str(found)
            assert f"Your W_Q, W_K and W_V are {said}." in str(found)


def spoilt_stages():
    """Arrays that no known mistake makes, the letters of what they may be in `UNKNOWN`, and what is said besides."""
    right, off = carried_out(""), np.random.default_rng(8).standard_normal
    q, scaled, masked, attention, heads = (right[name] for name in ("q", "scaled", "masked", "attention", "heads"))
    summed = attention.copy()
    summed[1, 2, 0] += 0.3
    biased = softmax(masked + off(masked.shape))
    scores = right["scores"] + off(scaled.shape)
    normalised = 2 * q / np.linalg.norm(q, axis=-1, keepdims=True)
    row = "Row 3 of head 2 of your attention adds up to 1.3, not to 1."
    before = {"q": q, "k": right["k"], "scaled": scaled}
    return {
        "a cell of attention": (before | {"attention": summed}, "", row),
        "a cell of attention alone": ({"attention": summed}, "", row),
        "attention": ({"attention": biased}, "QRB", ""),
        "attention of scores that agree": (before | {"attention": biased}, "B", ""),
        "attention of masked scores that agree": (before | {"masked": masked, "attention": biased}, "", ""),
        "attention before heads that agree": ({"attention": biased, "heads": heads}, "", ""),
        "scores": ({"q": q, "scores": scores}, "QRB", ""),
        "scores before attention that agrees": ({"scores": scores, "attention": attention}, "", ""),
        "queries": ({"q": normalised}, "QR", ""),
        "queries before scores that agree": ({"q": normalised, "scores": right["scores"]}, "", ""),
        "values": ({"v": right["v"] + off(right["v"].shape)}, "", ""),
        "heads of attention that agrees": ({"attention": attention, "heads": heads + off(heads.shape)}, "", ""),
    }


UNKNOWN = {
    "Q": "normalised queries and keys",
    "R": "every RoPE",
    "B": "biases of scores that no mask in the file holds",
}


@pytest.mark.parametrize("spoilt", spoilt_stages())
def test_only_what_the_stages_before_and_after_leave_open_may_be_right_all_the_same(spoilt):
    stages, may_be, besides = spoilt_stages()[spoilt]
    own = given() | {"mask": SEEN} | stages
    said = str(compare(None, own, n_heads=HEADS, orientation="(in, out)", true_is="visible"))
    assert "No mistake that attnviz knows of makes these numbers." in said
    assert "".join(letter for letter, name in UNKNOWN.items() if name in said) == may_be, said
    assert ("They may be right all the same" in said) == bool(may_be)
    assert ("adds up to" in said) == bool(besides)
    assert besides in said


@pytest.mark.parametrize("name", ["w_q", "w_k", "w_v", "w_o", "w_hidden", "w_mlp"])
def test_lines_of_code_name_the_matrix_and_what_it_makes(name):
    made = {"w_o": "out", "w_hidden": "hidden", "w_mlp": "out"}.get(name, name[-1])
    read = {"w_o": "concat", "w_mlp": "hidden"}.get(name, "x")
    right = f"{made} = {read} @ {name}.T"
    assert TABLE["transposed"].code(of_parameters([name])) == (right.removesuffix(".T"), right)
    bias = name.replace("w_", "b_")
    assert TABLE["bias forgotten"].code(of_parameters([bias])) == (right, f"{right} + {bias}")
    assert TABLE["bias added twice"].code(of_parameters([bias])) == (f"{right} + {bias} + {bias}", f"{right} + {bias}")


def test_weights_for_halves_and_neighbours_are_permuted_as_the_line_of_code_says():
    x = np.arange(8)
    assert x.reshape(2, 4).T.ravel().tolist() == [0, 4, 1, 5, 2, 6, 3, 7], "halves become neighbours"
    own = np.random.default_rng(12).standard_normal
    parameters = {f"w_{each}": own((1, 8, 8)) for each in "qk"}
    trace = attend(own((5, 8)), parameters=Parameters(**parameters), rotation=Rotation(100.0, "neighbours"))
    permuted = {name: w[..., [0, 4, 1, 5, 2, 6, 3, 7]] for name, w in parameters.items()}
    theirs = attend(trace["x"].value, parameters=Parameters(**permuted), rotation=Rotation(100.0, "neighbours"))
    found = compare(trace, {"attention": theirs["attention"].value})
    assert "as weights for pairs of halves are for pairs of neighbours" in str(found)
    assert found.code[0].startswith("Wrong: w_q = w_q.view(n_heads, 2, d_k // 2, d_model)")
