"""microgpt as its author wrote it, in floats: what it calls each stage, what is said of its code, its activations."""

import json
import math
import re
import sys
from statistics import NormalDist

import numpy as np
from cases import of_each
from test_microgpt import own

from attnviz.core.order import ACTIVATIONS
from attnviz.explain import microgpt_script
from attnviz.models import statefile


def linear(x, w):
    return [sum(wi * xi for wi, xi in zip(wo, x, strict=True)) for wo in w]


def softmax(logits):
    exps = [math.exp(each - max(logits)) for each in logits]
    return [each / sum(exps) for each in exps]


def rmsnorm(x):
    scale = (sum(xi * xi for xi in x) / len(x) + 1e-5) ** -0.5
    return [xi * scale for xi in x]


def gpt(token_id, pos_id, keys, values, state_dict, n_head, fires):
    """As in microgpt, but for `fires` in place of its ReLU."""
    wte, wpe, lm_head = state_dict["wte"], state_dict["wpe"], state_dict["lm_head"]
    x = [t + p for t, p in zip(wte[token_id], wpe[pos_id], strict=True)]
    x = rmsnorm(x)
    for li in range(len(keys)):
        attn_wq, attn_wk, attn_wv, attn_wo, mlp_fc1, mlp_fc2 = (
            state_dict[f"layer{li}.{name}"] for name in statefile.IN_LAYER
        )
        x_residual = x
        x = rmsnorm(x)
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
        x = rmsnorm(x)
        x = linear(x, mlp_fc1)
        x = [fires(xi) for xi in x]
        x = linear(x, mlp_fc2)
        x = [a + b for a, b in zip(x, x_residual, strict=True)]
    logits = linear(x, lm_head)
    probs = softmax(logits)
    return logits, probs


FIRES = {
    "relu": lambda x: max(0.0, x),
    "relu2": lambda x: max(0.0, x) ** 2,
    "gelu": lambda x: x * NormalDist().cdf(x),
}


def looped(parts, text, fires=FIRES["relu"]):
    """The logits after each token."""
    n_layers = sum(name.endswith("attn_wq") for name in parts["state_dict"])
    tokens = [len(parts["uchars"]), *map(parts["uchars"].index, text)]
    keys, values = ([[] for _ in range(n_layers)] for _ in range(2))
    return [
        gpt(token, at, keys, values, parts["state_dict"], parts["n_head"], fires)[0] for at, token in enumerate(tokens)
    ]


@of_each("name", [*ACTIVATIONS])
def test_the_logits_of_a_state_file_are_a_loop_s_with_each_activation(name):
    trace = statefile.read(json.dumps(own(activation=name)).encode()).trace("zyxxé")
    np.testing.assert_allclose(trace["logits"].value, looped(own(), "zyxxé", FIRES[name]), rtol=0, atol=1e-12)


TRACE = statefile.read(json.dumps(own()).encode()).trace("zyxxé")
SCRIPT = microgpt_script.script(TRACE)


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


def test_each_stage_is_what_microgpt_has_under_the_name_that_is_said():
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


def test_what_the_script_says_of_its_code_is_what_it_does():
    def said(pattern):
        return re.search(pattern, SCRIPT).groups()

    made = {}
    exec(SCRIPT[SCRIPT.index("def linear") : SCRIPT.index("def rmsnorm")], made)
    (way,) = said(r"each number is x times a (\w+) of w")
    w = np.array([[1.0, 2.0], [3.0, 5.0]])
    assert made["linear"]([7.0, 11.0], w.tolist()) == (w if way == "row" else w.T).dot([7.0, 11.0]).tolist()

    itself, others = said(r"this token looks at (itself)? and at all (\w+) it")
    shares = TRACE["attention_1"].value[0] > 0
    assert np.array_equal(shares, {"before": np.tri, "after": lambda n: np.tri(n).T}[others](len(shares)) > 0)
    assert itself

    (sign,) = said(r"each neuron that gets something (\w+) fires")
    hidden, active = (TRACE[name].value for name in ("hidden_1", "active_1"))
    assert np.array_equal(active != 0, {"positive": hidden > 0, "negative": hidden < 0}[sign])

    (kept,) = said(r"keys and values of the tokens (\w+) it are kept")
    more = statefile.read(json.dumps(own()).encode()).trace("zyxx")  # the same without its last token
    assert kept == "before"
    np.testing.assert_allclose(more["k_2"].value, TRACE["k_2"].value[:, :-1], rtol=0, atol=1e-12)
