"""Mistakes: each named cause, carried out in plain NumPy as its sentence says, makes the user's numbers."""

import re
from itertools import permutations

import numpy as np
import pytest
from implementations import softmax

from attnviz import Parameters, attend, compare
from attnviz.checks.causes import CAUSES as TABLE
from attnviz.checks.causes.projections import of_parameters
from attnviz.core.operations.rotation import Rotation

N, HEADS, D_K = 5, 3, 2
SIZES = {"√d_k twice": D_K, "d_k": D_K, "d_model": HEADS * D_K, "√d_model": (HEADS * D_K) ** 0.5, "√heads": HEADS**0.5}
SEEN = np.tri(N, dtype=bool)
LATER = ("q", "k", "v", "scores", "scaled", "masked", "attention", "heads", "concat", "output")
BATCH = "attention ran along the batch axis (in nn.MultiheadAttention: a wrong batch_first)"
ORDERS = {  # the blocks of columns of a fused matrix
    "all of Q, then all of K and V": [each + str(head) for each in "qkv" for head in range(HEADS)],
    "Q, K and V of each head in turn": [each + str(head) for head in range(HEADS) for each in "qkv"],
    "all of Q, then K and V of each head in turn": [
        *(f"q{head}" for head in range(HEADS)),
        *(each + str(head) for head in range(HEADS) for each in "kv"),
    ],
}
OUTPUT = "number of the output"
MADE = {
    "values": "W_K and b_K, not with W_V and b_V",
    "keys": "W_Q and b_Q, not with W_K and b_K",
    "queries": "W_V, not with W_Q",
}
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
    "Q, K and V were cut into heads without transposing, and joined so, too",
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
    *(f"dropout was left on, with p = 0.25: each {each} is 0 or divided by 1 − p" for each in ("share", OUTPUT)),
    "queries and keys were exchanged in the scores, which are transposed",
    "the attention was transposed before it was multiplied by V",
    "the attention was multiplied by K, not by V",
    "W_Q and W_K were exchanged",
    "W_K and W_V were exchanged",
    *(f"the {one} were made with {names}" for one, names in MADE.items()),
    *(f"b_{letter} was added twice" for letter in "QKVO"),
    *(f"{letter} was cut into heads that take turns, one dimension each" for letter in "QKV"),
    "Q, K and V were cut into heads that take turns, one dimension each",
    "the heads were joined so that they take turns, one dimension each",
    "the heads were in another order: 2, 3 and 1",
    "W_O was left out",
    "x was added to the output already",
    *(f"the fused matrix, which holds {a}, was cut as if it held {b}" for a, b in permutations(ORDERS, 2)),
)


def every_nth(cases, n):
    """Every n-th case; the others are among the slow tests."""
    return [each if at % n == 0 else pytest.param(each, marks=pytest.mark.slow) for at, each in enumerate(cases)]


def named(found):
    """The named cause, and those that the numbers don't tell from it."""
    (cause,) = re.findall(r"^(.+): computed so, (?:all|more) of your numbers agree\.", str(found), re.MULTILINE)
    others = re.findall(r"^These numbers would be the same if (.+)\.$", str(found), re.MULTILINE)
    clause = cause if re.match("[QKVWb][_, ]", cause) else cause[0].lower() + cause[1:]
    return [clause, *(each for text in others for each in text.split(" or if "))]


def given():
    """The inputs and parameters of a pass, as plain matrices (in, out)."""
    random = np.random.default_rng(7)
    d_model = SIZES["d_model"]
    return {
        "x": random.standard_normal((N, d_model)),
        **{f"w_{each}": random.standard_normal((d_model, d_model)) / 2 for each in "qkvo"},
        **{f"b_{each}": random.standard_normal(d_model) for each in "qkvo"},
    }


def exchanged(mistake, own):
    """The parameters, with two matrices and their biases exchanged if the mistake says so."""
    pair = re.search(r"W_(.) and W_(.) were exchanged", mistake)
    if not pair:
        return own
    one, other = (each.lower() for each in pair.groups())
    return own | {f"{kind}_{a}": own[f"{kind}_{b}"] for kind in "wb" for a, b in ((one, other), (other, one))}


def split_wrongly(mistake, own):
    """The parameters as they come out of a fused matrix that holds one order and is read in another."""
    fused = re.search(r"which holds (.+), was cut as if it held (.+)", mistake)
    if not fused:
        return own
    holds, held = (ORDERS[each] for each in fused.groups())
    parts = {}
    for kind in "wb":
        blocks = {name: own[f"{kind}_{name[0]}"].reshape(-1, HEADS, D_K)[:, int(name[1])] for name in holds}
        taken = dict(zip(held, (blocks[each] for each in holds), strict=True))
        for each in "qkv":
            whole = np.concatenate([taken[f"{each}{head}"] for head in range(HEADS)], axis=1)
            parts[f"{kind}_{each}"] = whole.reshape(own[f"{kind}_{each}"].shape)
    return own | parts


def pass_with(mistake):
    """The stages of a pass with a mistake, in plain NumPy."""
    own = split_wrongly(mistake, exchanged(mistake, given()))
    about = re.findall(r"\b[WbQKV](?:_[QKVO])?\b", re.split(r" (?:was|were) ", mistake)[0])

    def used(name):
        called = f"{name[0].upper() if name[0] == 'w' else 'b'}_{name[2].upper()}"
        if called not in about or "exchanged" in mistake:
            return own[name]
        return own[name].T if "transposed" in mistake else 2 * own[name] if "twice" in mistake else 0

    made = {}
    of_another = re.search(r"the (.).+ were made with W_(.)( and b)?", mistake)
    for each in "qkv":
        w = b = each
        if of_another and each == of_another[1]:
            w = of_another[2].lower()
            b = w if of_another[3] else each
        row = own["x"] @ used(f"w_{w}") + used(f"b_{b}")
        cut = "into heads" in mistake and each.upper() in about
        made[each] = row.reshape(HEADS, N, D_K) if cut else row.reshape(N, HEADS, D_K).transpose(1, 0, 2)
        if cut and "take turns" in mistake:
            made[each] = row.reshape(N, D_K, HEADS).transpose(2, 0, 1)
    scores = made["q"] @ made["k"].transpose(0, 2, 1)
    if "exchanged in the scores" in mistake:
        scores = scores.transpose(0, 2, 1)
    divided = re.search(r"were (not )?divided by (\S+?(?: twice)?)(?:,|$)", mistake)
    by = D_K**0.5 if not divided else 1.0 if divided[1] else SIZES.get(divided[2]) or float(divided[2].strip("√"))
    by = D_K**-0.5 if "multiplied by √d_k" in mistake else by
    seen = ~SEEN if "the other way round" in mistake else SEEN
    seen = SEEN.T if "mask was used transposed" in mistake else seen
    seen = np.tri(N, k=-1, dtype=bool) if "one key too early" in mistake else seen
    is_after = "the mask was applied after the softmax" in mistake
    if "one key too far" in mistake:
        seen = np.tri(N, k=1, dtype=bool)
    masked = (
        scores / by
        if is_after
        else scores / by * SEEN
        if "multiplied by the mask" in mistake
        else scores / by + SEEN
        if "added to the scores as 0 and 1" in mistake
        else np.where(seen, scores / by, -10 + (0 if "set to" in mistake else scores / by))
        if "−10" in mistake
        else np.where(seen, scores / by, -np.inf)
    )
    along = re.search(r"softmax was taken along the (\w+)", mistake)
    with np.errstate(invalid="ignore"):  # where no head sees a key there is nothing along them
        powers = masked * np.log(2) if "powers of 2" in mistake else masked
        attention = np.nan_to_num(softmax(powers, {"queries": -2, "heads": -3}[along[1]] if along else -1))
    attention = attention * SEEN if is_after else softmax(attention) if "taken twice" in mistake else attention
    if "averaged" in mistake:
        attention = np.array([attention.mean(axis=0)] * HEADS)
    if "each share is 0" in mistake:
        attention = attention * (np.random.default_rng(9).random(attention.shape) > 0.25) / 0.75
    if BATCH in mistake:  # each token is a sentence
        attention = np.array(
            [np.diag([softmax(masked[head, at, [at]])[0] for at in range(N)]) for head in range(HEADS)]
        )
    read = made["k" if "multiplied by K" in mistake else "v"]
    heads = (attention.transpose(0, 2, 1) if "attention was transposed" in mistake else attention) @ read
    heads = heads[[1, 2, 0]] if "another order" in mistake else heads
    concat = heads.transpose(1, 0, 2).reshape(N, -1)
    if "joined so that they take turns" in mistake:
        concat = heads.transpose(1, 2, 0).reshape(N, -1)
    if "joined without transposing" in mistake or "joined so, too" in mistake:
        concat = heads.reshape(N, -1)
    output = concat if "W_O was left out" in mistake else concat @ used("w_o") + used("b_o")
    if OUTPUT in mistake:
        output = output * (np.random.default_rng(9).random(output.shape) > 0.25) / 0.75
    output = output + own["x"] if mistake.startswith("x was added") else output
    values = (scores, scores / by, masked, attention, heads, concat, output)
    return made | dict(zip(LATER[3:], values, strict=True))


@pytest.mark.parametrize("mistake", every_nth(CAUSES, 4))
def test_each_named_cause_makes_the_numbers(mistake):
    for names in (LATER, ("scores", "scaled", "masked", "attention", "output")):
        if mistake.startswith(("dropout", "the heads were in")) and names != LATER:
            continue
        stages = {name: value for name, value in pass_with(mistake).items() if name in names}
        arrays = given() | {"mask": SEEN} | stages
        found = compare(None, arrays, n_heads=HEADS, orientation="(in, out)", true_is="visible")
        assert mistake in named(found), str(found)
        assert found.explained, str(found)
        for made in ({name: found.theirs[name].value for name in stages}, *map(pass_with, named(found))):
            assert all(np.allclose(made[name], value, equal_nan=True) for name, value in stages.items()), str(found)


def tokens_as_batch(own, heads):
    """Attention and output of nn.MultiheadAttention where the tokens are a batch of sentences of one token."""
    w_b = [*zip(np.split(own["in_proj_weight"], 3), np.split(own["in_proj_bias"], 3), strict=True)]
    weights, outputs = [], []
    for token in own["x"].reshape(-1, 1, own["x"].shape[-1]):
        q, k, v = ((token @ w.T + b).reshape(1, heads, -1).swapaxes(0, 1) for w, b in w_b)
        weights.append(softmax(q @ k.swapaxes(1, 2) / q.shape[-1] ** 0.5))
        concat = (weights[-1] @ v).swapaxes(0, 1).reshape(1, -1)
        outputs.append(concat @ own["out_proj.weight"].T + own["out_proj.bias"])
    return np.array(weights), np.array(outputs)


@pytest.mark.parametrize("order", [(1, N, 8), (N, 1, 8)])
@pytest.mark.parametrize("kept", ["all", "averaged", "attention", "output"])
def test_a_wrong_batch_first_is_named_from_what_multihead_attention_returns(order, kept):
    """It returns weights of (tokens, heads, 1, 1), which are all 1, or (tokens, 1, 1)."""
    of = np.random.default_rng(5).standard_normal
    own = {"x": of(order), "in_proj_weight": of((24, 8)), "in_proj_bias": of(24)}
    own |= {"out_proj.weight": of((8, 8)), "out_proj.bias": of(8)}
    attention, output = tokens_as_batch(own, 2)
    assert attention.shape == (N, 2, 1, 1)
    returned = {
        "attention": attention.mean(axis=1) if kept == "averaged" else attention,
        "output": output.reshape(order),
    }
    found = compare(
        None, own | {name: each for name, each in returned.items() if kept in ("all", "averaged", name)}, n_heads=2
    )
    assert named(found) == [f"{BATCH}, so that each token attended only to itself"]
    assert found.explained
    if kept == "all":
        assert BATCH[1:] not in str(compare(None, own | {"attention": softmax(of((2, N, N)))}))


def test_a_fused_matrix_is_read_in_either_orientation():
    """One of (3 d_model, d_model) that was transposed to be kept, and a square one whose shape doesn't tell."""
    of = np.random.default_rng(6).standard_normal
    for w_qkv in (of((8, 24)), of((12, 12))):
        x, length = of((N, len(w_qkv))), w_qkv.shape[1] // 3
        q, k, v = ((x @ w).reshape(N, 2, -1).swapaxes(0, 1) for w in np.split(w_qkv, 3, axis=1))
        attention = softmax(q @ k.swapaxes(1, 2) / q.shape[-1] ** 0.5)
        stages = {"attention": attention, "concat": (attention @ v).swapaxes(0, 1).reshape(N, length)}
        for saved, how in ((w_qkv, "(in, out): read as they stand"), (w_qkv.T, "(out, in): read transposed")):
            found = compare(None, {"x": x, "in_proj_weight": saved, "w_o": of((length, 5)), **stages})
            assert found.first is None, str(found)
            assert f"Your W_Q, W_K and W_V are {how}." in str(found)


def noisy_stages():
    """Stages that no known mistake makes, the letters of `UNKNOWN` that may make them, and the other sentence."""
    right, noise = pass_with(""), np.random.default_rng(8).standard_normal
    q, scaled, masked, attention, heads = (right[name] for name in ("q", "scaled", "masked", "attention", "heads"))
    summed = attention.copy()
    summed[1, 2, 0] += 0.3
    biased = softmax(masked + noise(masked.shape))
    scores = right["scores"] + noise(scaled.shape)
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
        "values": ({"v": right["v"] + noise(right["v"].shape)}, "", ""),
        "heads of attention that agrees": ({"attention": attention, "heads": heads + noise(heads.shape)}, "", ""),
    }


UNKNOWN = {
    "Q": "normalised queries and keys",
    "R": "every RoPE",
    "B": "biases of scores that no mask in the file holds",
}


@pytest.mark.parametrize("name", noisy_stages())
def test_only_operations_that_the_other_stages_leave_open_are_said_to_be_unknown(name):
    stages, letters, sentence = noisy_stages()[name]
    own = given() | {"mask": SEEN} | stages
    report = str(compare(None, own, n_heads=HEADS, orientation="(in, out)", true_is="visible"))
    assert "No mistake that attnviz knows of makes these numbers." in report
    assert "".join(letter for letter, words in UNKNOWN.items() if words in report) == letters, report
    assert ("They may be right all the same" in report) == bool(letters)
    assert ("adds up to" in report) == bool(sentence)
    assert sentence in report


@pytest.mark.parametrize("name", ["w_q", "w_k", "w_v", "w_o", "w_hidden", "w_mlp"])
def test_lines_of_code_name_the_matrix_and_what_it_makes(name):
    made = {"w_o": "out", "w_hidden": "hidden", "w_mlp": "out"}.get(name, name[-1])
    read = {"w_o": "concat", "w_mlp": "hidden"}.get(name, "x")
    right = f"{made} = {read} @ {name}.T"
    assert TABLE["transposed"].code(of_parameters([name])) == (right.removesuffix(".T"), right)
    bias = name.replace("w_", "b_")
    assert TABLE["bias forgotten"].code(of_parameters([bias])) == (right, f"{right} + {bias}")
    assert TABLE["bias added twice"].code(of_parameters([bias])) == (f"{right} + {bias} + {bias}", f"{right} + {bias}")


def test_dimensions_permuted_as_the_line_of_code_says_are_named():
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
