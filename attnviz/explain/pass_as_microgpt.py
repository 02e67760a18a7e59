"""A pass as a script in microgpt's style, in plain Python, for readers who know microgpt better than NumPy."""

import json

import numpy as np

from attnviz.core.operations.activations import ReLU
from attnviz.core.operations.norms import RMSNorm
from attnviz.core.operations.softmax import Softmax
from attnviz.core.stage import split_layer
from attnviz.core.tokens import without_number
from attnviz.core.trace import Layer, Trace
from attnviz.models.statefile import IN_LAYER, state_dict

NAME = "attnviz_microgpt.json"  # the name of the file that the script reads
NAMES = {  # our stages' names in microgpt; its `x` holds one stage after another
    "embeddings": "wte[token_id]",
    "positions": "wpe[pos_id]",
    "x": "x",
    "attn_norm": "x",
    "w_q": "attn_wq",
    "w_k": "attn_wk",
    "w_v": "attn_wv",
    "w_o": "attn_wo",
    "w_hidden": "mlp_fc1",
    "w_mlp": "mlp_fc2",
    "w_u": "lm_head",
    "q": "q",
    "k": "keys[li]",
    "v": "values[li]",
    "scaled": "attn_logits",
    "attention": "attn_weights",
    "heads": "head_out",
    "concat": "x_attn",
    "output": "x",
    "residual": "x",
    "mlp_norm": "x",
    "hidden": "x",
    "active": "x",
    "mlp": "x",
    "mlp_residual": "x",
    "logits": "logits",
    "probabilities": "probs",
}

_SCRIPT = '''\
import json
import math

# A stage of attnviz, and what it is called in microgpt:
{named}

# What attnviz wrote: the parameters by microgpt's names, the tokens of the pass and the logits at each of them
with open("{file}") as file:
    given = json.load(file)
state_dict, n_head = given["state_dict"], given["n_head"]
n_layer, n_embd = {n_layers}, len(state_dict["wpe"][0])
head_dim = n_embd // n_head


def linear(x, w):
    """A vector times a matrix: each number is x times a row of w."""
    return [sum(a * b for a, b in zip(x, row)) for row in w]


def rmsnorm(x):
    scale = (sum(a * a for a in x) / len(x) + 1e-5) ** -0.5
    return [a * scale for a in x]


def softmax(logits):
    largest = max(logits)
    exps = [math.exp(logit - largest) for logit in logits]
    total = sum(exps)
    return [each / total for each in exps]


def add(x, y):
    return [a + b for a, b in zip(x, y)]


def gpt(token_id, pos_id, keys, values):
    """The logits after one more token; keys and values of the tokens before it are kept."""
    embedded = add(state_dict["wte"][str(token_id)], state_dict["wpe"][pos_id])
    x = rmsnorm(embedded)
    for li in range(n_layer):
        own = {{name: state_dict[f"layer{{li}}.{{name}}"] for name in {names}}}

        # attention: this token looks at itself and at all before it
        attn_norm = rmsnorm(x)
        q = linear(attn_norm, own["attn_wq"])
        keys[li].append(linear(attn_norm, own["attn_wk"]))
        values[li].append(linear(attn_norm, own["attn_wv"]))
        x_attn = []
        for h in range(n_head):
            band = slice(h * head_dim, (h + 1) * head_dim)
            scores = [sum(a * b for a, b in zip(q[band], k[band])) for k in keys[li]]
            attn_logits = [score / math.sqrt(head_dim) for score in scores]
            attn_weights = softmax(attn_logits)
            columns = zip(*(v[band] for v in values[li]))
            head_out = [sum(a * b for a, b in zip(attn_weights, column)) for column in columns]
            x_attn += head_out
        residual = add(x, linear(x_attn, own["attn_wo"]))

        # MLP: each neuron that gets something positive fires
        hidden = linear(rmsnorm(residual), own["mlp_fc1"])
        active = [max(0.0, each){square} for each in hidden]
        x = add(residual, linear(active, own["mlp_fc2"]))
    return linear(x, state_dict["lm_head"])


keys, values = ([[] for _ in range(n_layer)] for _ in range(2))
made, expected = [], given["logits"]
for pos_id, token_id in enumerate(given["tokens"]):
    logits = gpt(token_id, pos_id, keys, values)
    made.append(logits)
    best = max(range(len(logits)), key=logits.__getitem__)
    print(f"after {{given['words'][pos_id]}}: {{given['answers'][best]}}, {{softmax(logits)[best]:.1%}}")

# Every logit at every token, and how far one may be off: by rounding, relative to the largest
lengths = [len(row) for row in made], [len(row) for row in expected]
differences = [abs(a - b) for row, other in zip(made, expected) for a, b in zip(row, other)]
limit = 1e-12 * max(1.0, *(abs(logit) for row in expected for logit in row))
wrong = [difference for difference in differences if not difference <= limit]  # NaN is no agreement
if lengths[0] != lengths[1]:
    print(f"Logits DIFFER: {{lengths[0]}} at the tokens, where attnviz has {{lengths[1]}}.")
elif wrong:
    print(f"{{len(wrong)}} logits DIFFER, the first by {{wrong[0]:.0e}}.")
else:
    print(f"All logits are attnviz's, to {{max(differences):.0e}}.")
'''


def script(trace: Trace) -> str | None:
    """The pass as a script in microgpt's style; it reads the file of `numbers` and prints how far its logits are off.

    None if microgpt can't compute the pass: with other norms, residuals or masks than its own, or with computed numbers
    set by hand.
    """
    if not is_microgpt(trace):
        return None
    squared = trace.layers[0].trace["active"].operation.squared
    named = "\n".join(f"#   {stage:14}{name}" for stage, name in NAMES.items())
    slots = {"file": NAME, "named": named, "names": list(IN_LAYER), "square": " ** 2" * squared}
    return _SCRIPT.format(n_layers=trace.n_layers, **slots)


def numbers(trace: Trace) -> bytes:
    """The script's file as JSON: parameters, tokens and logits, with only the pass's rows of `wte`."""
    tokens = list(trace.origin.rows)
    state = state_dict({stage.name: stage.value for stage in trace.stages}, trace.n_layers)
    rows = dict(zip(map(str, tokens), state["wte"], strict=True))
    data = {
        "n_head": trace.layers[0].trace["w_q"].shape[0],
        "tokens": tokens,
        "words": [without_number(word) for word in trace.labels["token"]],
        "answers": trace.labels["answer"],
        "logits": trace["logits"].value.tolist(),
        "state_dict": state | {"wte": rows},
    }
    return json.dumps(data).encode()


def names_in_microgpt(trace: Trace) -> dict[str, str]:
    """The names in microgpt of a pass's stages; none if the pass doesn't have its architecture."""
    if not has_its_shape(trace):
        return {}
    bases = {stage.name: split_layer(stage.name)[0] for stage in trace.stages}
    return {stage: NAMES[name] for stage, name in bases.items() if name in NAMES}


def is_microgpt(trace: Trace) -> bool:
    """Whether microgpt can compute a pass."""
    return (
        has_its_shape(trace)
        and np.array_equal(trace["mask"].value, np.tri(trace["x"].shape[0], dtype=bool))
        and all(stage.is_given for stage in trace.stages if stage.overridden)
        and not any(change.stage == "embeddings" for change in trace.changes)
    )


def has_its_shape(trace: Trace) -> bool:
    """Whether a pass has the stages and operations of microgpt's architecture."""
    return (
        all(name in trace for name in ("embedded", "positions", "logits"))
        and trace["x"].operation == RMSNorm()
        and {"token", "answer"} <= trace.labels.keys()
        and len(trace.origin.rows) == len(trace.labels["token"])
        and all(map(_is_its_layer, trace.layers))
    )


def _is_its_layer(layer: Layer) -> bool:
    trace = layer.trace
    if not all(name in trace for name in ("attn_norm", "w_q", "w_k", "w_v", "mlp_norm", "mlp_residual")):
        return False
    if "context" in trace:  # it reads another text
        return False
    return (
        trace["attn_norm"].operation == trace["mlp_norm"].operation == RMSNorm()
        and isinstance(trace["active"].operation, ReLU)
        and isinstance(trace["attention"].operation, Softmax)
        and trace["scaled"].operation.factor is None
        and not any(name.startswith("b_") for name in layer.names)
    )
