"""microgpt: its logits, its losses, what it reads, a model of one's own, and the same in its own Python."""

import io
import json
import math
import re
import subprocess
import sys
from contextlib import redirect_stdout, suppress
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest
from cases import of_each
from page import ROOT

from attnviz.core.changes import Change
from attnviz.core.errors import OwnArraysError, SettingsError
from attnviz.explain import pass_as_microgpt
from attnviz.models import MODELS, microgpt, statefile
from attnviz.models.continuation import Sampling, sample_texts
from attnviz.models.model import Built
from attnviz.models.recipes import MICROGPT, OWN_MICROGPT
from attnviz.models.statefile import MAX_NUMBERS, SAVING, read, state_dict
from attnviz.models.trained import measure_parts, measures
from attnviz.models.training import batches, forward_batch, recorded_parts, stages_for, without_head, without_part
from attnviz.scene.actions.session import Session
from attnviz.scene.address import parse, query
from attnviz.scene.document.continuing_text import next_token
from attnviz.scene.scene import OWN_MODEL, Scene

MODEL, TASK = MODELS["microgpt"].at(0), MICROGPT.task
LOGITS = json.loads((ROOT / "tests/data/microgpt_logits.json").read_text("utf-8"))["logits"]
"""After 40 held-out names, by a copy of microgpt that was given the recorded numbers of seed 0; `made` says which."""


def test_logits_equal_microgpts():
    assert len(LOGITS) == 40
    for name, logits in LOGITS.items():
        np.testing.assert_allclose(MODEL.trace(name)["logits"].value[-1], logits, rtol=0, atol=1e-12)


def test_held_out_names_are_disjoint():
    names, n = TASK.names, TASK.n_held_out
    assert (len(names), len(set(names)), n) == (29_494, 29_494, 2_949)
    letters = np.array([*TASK.letters, ""])

    def texts(batch):
        return {
            "".join(letters[row[1:][is_target[1:]]])
            for row, is_target in zip(batch.tokens, batch.is_target, strict=True)
        }

    assert texts(TASK.held_out()) == set(names[:n])
    assert texts(TASK.batch(np.random.RandomState(0), 3_000)) <= set(names[n:])


def pairs_loss(names, held_out):
    """Of a table of how often a letter follows the one before, in nats a letter; a tenth is added to every count."""

    def pairs(some):
        return np.array(
            [[ord(letter) - ord("a") for letter in pair] for name in some for pair in pairwise(f"{{{name}{{")]
        )

    counts = np.full((27, 27), 0.1)  # "{" follows "z"
    np.add.at(counts, tuple(pairs(names).T), 1)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return -np.log(shares[tuple(pairs(held_out).T)]).mean()


def test_yardsticks_are_measured():
    choice, names, n = MODELS["microgpt"], TASK.names, TASK.n_held_out
    expected = {"guessing": math.log(27), "pairs of letters": pairs_loss(names[n:], names[:n])}
    assert TASK.yardsticks == pytest.approx(expected)
    found = {each["label"]: each for each in choice.training_data(0)["yardsticks"]}
    curve = {step: loss for step, loss, _ in choice.curve(0)}
    for name in TASK.yardsticks:
        step, loss = found[name]["passed"], found[name]["loss"]
        assert all((own < loss) == (at >= step) for at, own in curve.items())
    assert len(choice.training_data(0, 1)["yardsticks"]) == 2


N_SOME = 24


def loss_with(model, change):
    """The loss on some held-out names with a number set by hand, name by name."""
    losses = []
    for name in TASK.names[:N_SOME]:
        trace = model.trace(name).with_changes(change)
        answers = [*(TASK.letters.index(letter) for letter in name), 26]
        losses += [-math.log(trace["probabilities"].value[at, answer]) for at, answer in enumerate(answers)]
    return pytest.approx(np.mean(losses), abs=1e-4)


def test_ablations_are_measured():
    model, some = MODELS["microgpt"].at(2), TASK.held_out().picked(slice(0, N_SOME))
    for part, stage in (("attention", "output"), ("the MLP", "mlp")):
        assert measures(without_part(model, part), some)["loss"] == loss_with(model, Change(stage, (None,), 0.0))
    assert measures(without_head(model, 3), some)["loss"] == loss_with(model, Change("heads", (3,), 0.0))
    rows = [
        (trace["attention"].value[2, at], at)
        for trace in map(model.trace, TASK.names[:N_SOME])
        for at in range(3, len(trace.labels["token"]))
    ]
    shares = {
        "the letter itself": np.mean([row[at] for row, at in rows]),
        "the letter before": np.mean([row[at - 1] for row, at in rows]),
        "the one before that": np.mean([row[at - 2] for row, at in rows]),
        "letters further back": np.mean([row[1 : at - 2].sum() for row, at in rows]),
        "BOS": np.mean([row[0] for row, _ in rows]),
    }
    found = TASK.looks_of(forward_batch(stages_for(model, some), model.arrays, some), some)
    assert {what: each[2] for what, each in found.items()} == pytest.approx(shares, abs=1e-12)


@pytest.mark.slow
def test_recorded_ablations_are_reproduced():
    measured, kept = measure_parts(MODELS["microgpt"].at(2)), recorded_parts()[2]
    assert [measured["loss"], *measured["muted"].values()] == pytest.approx(
        [kept["loss"], *kept["muted"].values()], abs=2e-4
    )
    for one, other in zip(measured["heads"], kept["heads"], strict=True):
        assert [*one["looks"].values(), one["loss"]] == pytest.approx(
            [*other["looks"].values(), other["loss"]], abs=2e-4
        )
        assert one["looks"].keys() == other["looks"].keys()


def test_trained_on_means_drawn():
    choice, listed = MODELS["microgpt"], TASK.names[TASK.n_held_out :]
    own = len(choice.seeds) - 1
    _, *drawn = batches(OWN_MICROGPT, 0)
    texts = ["".join(TASK.words[place] for place in batch.tokens[0, 1:]) for batch in drawn]
    assert len(set(texts)) == 981
    assert len(listed) == 26_545
    asked = {*listed[::9], *texts}
    for place, step in enumerate(choice.checkpoints(own)):
        said = {name for name in asked if choice.met(name, own, place) == "trained on"}
        assert said == set(texts[:step])
    for name in TASK.names[: TASK.n_held_out : 100]:
        assert choice.met(name, own) == "held out"
    assert choice.met("qqq", own) == "new"
    batches_of_64 = batches(MICROGPT, 2)
    next(batches_of_64)
    rows = [row for _ in range(10) for row in zip(*next(batches_of_64), strict=True)]
    drawn = {"".join(TASK.words[place] for place in tokens[is_target][1:]) for tokens, _, is_target in rows}
    assert {name for name in listed if choice.met(name, 2, 1) == "trained on"} == drawn


@pytest.mark.slow
def test_it_beats_pairs_of_letters():
    names, n = TASK.names, TASK.n_held_out
    pairs = pairs_loss(names[n:], names[:n])
    assert pairs == pytest.approx(2.451, abs=5e-4)
    choice, held_out = MODELS["microgpt"], TASK.held_out()
    ends = [choice.curve(seed)[-1][1] for seed in choice.seeds]
    assert max(ends[:3]) <= 2.11 < ends[3] <= 2.38 < pairs < math.log(27)
    for seed, recipe in zip(choice.seeds, [MICROGPT] * 3 + [OWN_MICROGPT], strict=True):
        curve = {step: loss for step, loss, _ in choice.curve(seed)}
        steps = choice.checkpoints(seed)
        assert list(steps) == list(recipe.checkpoints)
        assert len(steps) >= 12
        if seed in (choice.seeds[0], choice.seeds[-1]):
            assert measures(choice.at(seed), held_out)["loss"] == pytest.approx(curve[steps[-1]], abs=2e-4)


@of_each("case", [("Éliza", "eliza"), ("ZOË", "zoe"), ("a n n", "ann"), ("", ""), ("e\u0301va", "eva")])
def test_capitals_and_accents_are_folded(case):
    typed, read_as = case
    assert MODEL.tokens(typed) == ("BOS", *read_as)
    notes = " ".join(TASK.notes(typed))
    assert ("Capitals" in notes) == any(letter.isupper() for letter in typed)
    assert ("accents" in notes) == any(not letter.isascii() for letter in typed)


@of_each("case", [("anna3", "“3”"), ("mary-ann", "“-”"), ("ßa", "“ß”"), ("a" * 16, "at most 15 tokens")])
def test_unreadable_letters_are_named(case):
    typed, named = case
    with pytest.raises(SettingsError, match=named):
        MODEL.trace(typed)


def own(n_embd=12, n_head=3, n_layer=2, block_size=9, letters="xyzé", **parts):
    draw = np.random.default_rng(3).standard_normal
    shapes = {"wte": (len(letters) + 1, n_embd), "wpe": (block_size, n_embd), "lm_head": (len(letters) + 1, n_embd)}
    for n in range(n_layer):
        shapes |= {f"layer{n}.attn_w{each}": (n_embd, n_embd) for each in "qkvo"}
        shapes |= {f"layer{n}.mlp_fc1": (4 * n_embd, n_embd), f"layer{n}.mlp_fc2": (n_embd, 4 * n_embd)}
    numbers = {name: (0.3 * draw(shape)).tolist() for name, shape in shapes.items()}
    return {"uchars": list(letters), "n_head": n_head, "state_dict": numbers} | parts


def model_of(parts):
    return read(json.dumps(parts).encode())


def test_own_microgpt_round_trips(tmp_path):
    (tmp_path / "microgpt.json").write_text(json.dumps(own()), "utf-8")
    model = microgpt(tmp_path / "microgpt.json")
    assert (model.d_model, model.n_heads, len(model.layers), model.max_tokens, model.n_neurons) == (12, 3, 2, 9, 48)
    assert state_dict(model.arrays, 2) == own()["state_dict"]
    assert model.trace("xé").labels["answer"] == ("x", "y", "z", "é", "end")
    largest = own(n_embd=64, n_head=8, n_layer=4, block_size=32, letters="".join(map(chr, range(300, 427))))
    assert model_of(largest).trace(largest["uchars"][-1])["logits"].shape == (2, 128)


def ran(trace, folder):
    """What the pass prints in microgpt's own Python: in a process that imports no package."""
    (folder / pass_as_microgpt.NAME).write_bytes(pass_as_microgpt.numbers(trace))
    done = subprocess.run(
        [sys.executable, "-I", "-X", "utf8", "-c", pass_as_microgpt.script(trace)],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
    )
    assert not done.stderr
    return done.stdout


def test_own_python_agrees(tmp_path):
    tied = own(n_layer=1, activation="relu2")
    del tied["state_dict"]["lm_head"]
    for trace in (
        MODEL.trace("eliza"),
        MODEL.trace("eliza").with_change("w_mlp", (0, 0), 0.5),
        model_of(own()).trace("zyxxé"),
        model_of(tied).trace("xx"),
    ):
        assert "All logits are attnviz's" in ran(trace, tmp_path)
    off = MODEL.trace("eliza")
    assert "162 logits DIFFER, the first by 1e-11" in ran(
        off.with_values({"logits": off["logits"].value + 1e-11}), tmp_path
    )


@of_each(
    "letters", {"Hebrew": "אבגד", "Arabic": "ابتث", "spaces": " \tab", "look-alikes": "Å\u212bab", "marks": "e\u0301é␣"}
)
def test_any_script_agrees(letters, tmp_path):
    text = letters[::-1] + letters[1]
    trace = model_of(own(letters=letters, n_layer=1)).trace(text)
    assert len(trace.labels["token"]) == len(text) + 1
    assert "All logits are attnviz's" in ran(trace, tmp_path)


MISTAKES = json.loads((ROOT / "tests/data/microgpt_mistakes.json").read_text("utf-8"))


@of_each("mistakes", MISTAKES)
def test_mistakes_are_found(mistakes, tmp_path, monkeypatch):
    """In this process: `ran` has shown that the script needs no package."""
    monkeypatch.chdir(tmp_path)
    trace = model_of(own()).trace("zyxxé")
    (tmp_path / pass_as_microgpt.NAME).write_bytes(pass_as_microgpt.numbers(trace))
    for right, wrong in mistakes:
        planted = pass_as_microgpt.script(trace)
        assert right in planted, right
        with redirect_stdout(io.StringIO()) as printed, suppress(Exception):
            exec(planted.replace(right, wrong, 1), {"__name__": "__main__"})
        assert "All logits are" not in printed.getvalue(), wrong


def linear(x, w):
    return [sum(wi * xi for wi, xi in zip(wo, x, strict=True)) for wo in w]


def softmax(logits):
    exps = [math.exp(each - max(logits)) for each in logits]
    return [each / sum(exps) for each in exps]


def rmsnorm(x):
    scale = (sum(xi * xi for xi in x) / len(x) + 1e-5) ** -0.5
    return [xi * scale for xi in x]


def layernorm(x):
    mean = sum(x) / len(x)
    return rmsnorm([xi - mean for xi in x])


def gpt(token_id, pos_id, keys, values, state_dict, n_head, fires, norm):
    """As in microgpt, but for `fires` in place of its ReLU, and `norm` of its RMSNorm."""
    wte, wpe, lm_head = state_dict["wte"], state_dict["wpe"], state_dict["lm_head"]
    x = [t + p for t, p in zip(wte[token_id], wpe[pos_id], strict=True)]
    x = norm(x)
    for li in range(len(keys)):
        attn_wq, attn_wk, attn_wv, attn_wo, mlp_fc1, mlp_fc2 = (
            state_dict[f"layer{li}.{name}"] for name in statefile.IN_LAYER
        )
        x_residual = x
        x = norm(x)
        q = linear(x, attn_wq)
        keys[li].append(linear(x, attn_wk))
        values[li].append(linear(x, attn_wv))
        x_attn, head_dim = [], len(x) // n_head
        for h in range(n_head):
            hs = slice(h * head_dim, (h + 1) * head_dim)
            attn_logits = [sum(a * b for a, b in zip(q[hs], k[hs], strict=True)) / head_dim**0.5 for k in keys[li]]
            attn_weights = softmax(attn_logits)
            head_out = [
                sum(a * v[hs][j] for a, v in zip(attn_weights, values[li], strict=True)) for j in range(head_dim)
            ]
            x_attn.extend(head_out)
        x = linear(x_attn, attn_wo)
        x = [a + b for a, b in zip(x, x_residual, strict=True)]
        x_residual = x
        x = norm(x)
        x = linear(x, mlp_fc1)
        x = [fires(xi) for xi in x]
        x = linear(x, mlp_fc2)
        x = [a + b for a, b in zip(x, x_residual, strict=True)]
    logits = linear(x, lm_head)
    probs = softmax(logits)
    return logits, probs


FIRES = {"relu": lambda x: max(0.0, x), "relu2": lambda x: max(0.0, x) ** 2, "gelu": lambda x: x * NormalDist().cdf(x)}

NORMS = {"rmsnorm": rmsnorm, "layernorm": layernorm}


def looped(parts, text, activation="relu", norm="rmsnorm"):
    n_layers = sum(name.endswith("attn_wq") for name in parts["state_dict"])
    tokens = [len(parts["uchars"]), *map(parts["uchars"].index, text)]
    keys, values = ([[] for _ in range(n_layers)] for _ in range(2))
    return [
        gpt(token, at, keys, values, parts["state_dict"], parts["n_head"], FIRES[activation], NORMS[norm])[0]
        for at, token in enumerate(tokens)
    ]


WAYS = [(activation, norm) for activation in ("relu", "relu2", "gelu") for norm in ("rmsnorm", "layernorm")]


@of_each("way", WAYS)
def test_state_file_check_is_compared(way):
    activation, norm = way
    logits = looped(own(), "zyé", activation, norm)[-1]
    model = model_of(own(activation=activation, norm=norm, check=[list("zyé"), logits]))
    np.testing.assert_allclose(model.trace("zyé")["logits"].value[-1], logits, rtol=1e-11, atol=1e-12)
    assert re.fullmatch(r"After “zyé” it gives the logits of the file's check, to \d?e-\d\d\.", model.task.checked) or (
        "to 0e+00." in model.task.checked
    )
    assert model.task.checked in model.task.about


@of_each("way", WAYS[1:])
def test_wrong_activation_or_norm_is_named(way):
    activation, norm = way
    check = [list("zyé"), looped(own(), "zyé", activation, norm)[-1]]
    with pytest.raises(OwnArraysError, match=f"They agree with activation {activation} and norm {norm}: write that"):
        model_of(own(check=check))
    other = [check[0], [logit + 1 for logit in check[1]]]
    with pytest.raises(OwnArraysError, match=r"differ by up to \d\.\d+ times the largest of them\. .* no biases"):
        model_of(own(activation=activation, norm=norm, check=other))


def test_saving_snippet_round_trips(tmp_path):
    """They run after a microgpt of lists, whose numbers have `data` as its values do."""

    class Value(float):
        data = property(float)

    def gpt(token, place, keys, values):
        tokens.append(token)
        return [Value(each) for each in looped(own(), [letters[each] for each in tokens[1:]])[-1]]

    letters, tokens = own()["uchars"], []
    state = {name: [[Value(number) for number in row] for row in rows] for name, rows in own()["state_dict"].items()}
    known = {"docs": ["yxé"], "uchars": letters, "BOS": len(letters), "n_layer": 2, "n_head": 3, "block_size": 9}
    snippet = SAVING.replace("microgpt.json", str(tmp_path / "microgpt.json"))
    exec(snippet, known | {"gpt": gpt, "state_dict": state})
    assert "After “yxé” it gives" in microgpt(tmp_path / "microgpt.json").task.checked


SPACED = "a b\u00c5\u212b\tc"


@of_each("text", ["a ", " ", "  ab ", "\u212ba\u00c5", "a\tb\t", SPACED])
def test_every_letter_is_a_token(text):
    """Typed, in an address, written on, taken away, swapped and cut: nothing is dropped."""
    model = model_of(own(letters="".join(dict.fromkeys(SPACED))))
    tab = Session(Scene(source=OWN_MODEL, upload=Built(model), sentence=text), uploads={OWN_MODEL: Built(model)})
    assert model.tokens(text) == ("BOS", *text)
    assert len({*tab.resolved().trace.labels["answer"]}) == len(model.task.answers)
    assert not TASK.notes(text) or not model.task.notes(text)
    assert parse(query(tab.scene), tab.uploads).scene.sentence == text
    token = next_token(tab.resolved())
    if token is not None:
        tab.do("next", True)
        assert tab.scene.sentence == text + token
        tab.do("shorter", True)
    assert tab.scene.sentence == text
    tab.do("swap", [1, len(text)])
    assert tab.scene.sentence == (text[-1] + text[1:-1] + text[0] if len(text) > 1 else text)
    tab.do("word", " ")
    assert tab.scene.sentence.endswith(" ")
    tab.do("sentence", text * 9)
    assert tab.resolved().trace.origin.text == (text * 9)[: model.max_tokens - 1]
    for name in sample_texts(model, Sampling(), 9):
        assert model.tokens(name) == ("BOS", *name)


@of_each(
    "wrong",
    json.loads((ROOT / "tests/data/wrong_state_files.json").read_text("utf-8")),
)
def test_wrong_state_file_is_explained(wrong):
    """Each is the parts of a file, of which matrices are changed by name; null is left out."""
    parts, message = wrong
    if "changed" in parts:
        matrices = own()["state_dict"] | parts["changed"]
        parts = {"state_dict": {name: rows for name, rows in matrices.items() if rows is not None}}
    with pytest.raises(OwnArraysError, match=message):
        model_of(own(**parts) if isinstance(parts, dict) else parts)


@of_each("written", [b"", b"{", b"[" * 100_000, b"\xff\xfe", b"nonsense"])
def test_non_json_is_refused(written):
    with pytest.raises(OwnArraysError, match="no JSON"):
        read(written)


def test_huge_integer_is_refused():
    written = json.dumps(own()).encode()
    first = re.search(rb"-?\d+\.\d+(e-?\d+)?", written)
    with pytest.raises(OwnArraysError, match=r"wte must hold finite numbers; got inf\."):
        read(written[: first.start()] + b"9" * 5000 + written[first.end() :])


def test_too_many_values_are_refused():
    largest = own(n_embd=64, n_head=8, n_layer=4, block_size=32, letters="".join(map(chr, range(300, 427))))
    assert sum(each.size for each in model_of(largest).arrays.values()) == MAX_NUMBERS
    with pytest.raises(OwnArraysError, match=r"at most 215,040 numbers; this one has 1,000,001 values"):
        read(b"[" + b"0," * 1_000_000 + b"0]")


def test_too_large_file_is_refused(tmp_path):
    (tmp_path / "large.json").write_bytes(b" " * (8 * 2**20 + 1))
    with pytest.raises(OwnArraysError, match="at most 8,388,608 bytes"):
        microgpt(tmp_path / "large.json")


TRACE = statefile.read(json.dumps(own()).encode()).trace("zyxxé")
SCRIPT = pass_as_microgpt.script(TRACE)


def watched(names):
    """What each name stands for while microgpt computes the pass: after each token its values, one after the other."""
    seen, codes = [], {name: compile(name, name, "eval") for name in names}

    def note(frame, event, _):
        for name, code in codes.items():
            try:
                value = eval(code, dict(frame.f_locals))
            except (NameError, IndexError):
                continue
            if value and value not in seen[-1][name][-1:]:
                seen[-1][name].append(value if name in statefile.IN_LAYER else list(value))
        return note

    def called(frame, event, _):
        if frame.f_code is gpt.__code__:
            seen.append({name: [] for name in names})
            return note
        return None

    before = sys.gettrace()
    sys.settrace(called)
    try:
        looped(own(), "zyxxé")
    finally:
        sys.settrace(before)
    return seen


def of_token(stage, at):
    """The numbers of a stage that are computed for one token, as microgpt has them: a list, or one for each head."""
    value = stage.value
    if stage.axes[-1] == "key":
        return [head[at, : at + 1] for head in value]
    if stage.name.startswith("heads"):
        return [head[at] for head in value]
    return [value[:, at].ravel() if stage.is_headed else value[at]]


def test_stages_match_microgpt_variables():
    said = dict(re.findall(r"^#   (\w+) +(\S+)$", SCRIPT, re.MULTILINE))
    assert len(said) == 27
    seen = watched(set(said.values()))
    for stage, name in said.items():
        for own_name in {layer.names.get(stage, stage) for layer in TRACE.layers}:
            found = TRACE[own_name]
            for at, values in enumerate(seen):
                if stage.startswith("w_"):
                    matrix = np.concatenate(found.value, axis=-1) if found.value.ndim == 3 else found.value
                    assert any(np.array_equal(matrix.T, each) for each in values[name]), stage
                    continue
                rows = [row for each in values[name] for row in (each if isinstance(each[0], list) else [each])]
                for expected in of_token(found, at):
                    assert any(len(row) == len(expected) and np.allclose(row, expected) for row in rows), (stage, name)
