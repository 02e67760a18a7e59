"""Claims: a law that a text states in words is read back, subject and object, and holds for the numbers of passes.

Each text has to make its claim, so another wording needs another pattern here, and a wrong one is found.
"""

import re

import numpy as np
import pytest
from page import settings_of
from passes import TRACES as PASSES

from attnviz import Settings, trace_of
from attnviz.core.attention import attend_projected
from attnviz.core.masks import MASKS
from attnviz.explain.steps import ENTRIES, steps_of
from attnviz.models import MODELS
from attnviz.scene.document.controls import allowed_values
from attnviz.scene.scene import Scene

BY_HAND = MODELS["by-hand"]
TRACES = PASSES | {"by hand": BY_HAND.at(BY_HAND.seeds[0], None).trace("a b c a")}


def plain(said):
    return "".join(text for style, text in said if style != "story")


def line(matrix, which, place):
    return {"row": matrix, "column": matrix.T}[which][place]


def times(one, other):
    return one @ other if one.shape == other.shape else np.nan


def matches_of_scores():
    """How keys match a query, as long as it and ever farther from it, and their scores."""
    turns = np.linspace(0, np.pi, 9)
    circle = np.stack([np.cos(turns), np.sin(turns)], axis=-1)[None]
    return -np.linalg.norm(circle[0] - circle[0, 0], axis=-1), attend_projected(*[circle] * 3)["scores"].value[0, 0]


def scores(trace, larger, better):
    match, found = matches_of_scores()
    rise = {"larger": 1, "smaller": -1}[larger] * {"better": 1, "worse": -1}[better]
    q, k = (each.value for each in trace.inputs("scores"))
    products = q[:, :, None] * np.repeat(k, len(q) // len(k), axis=0)[:, None]
    return (np.diff(found) * np.diff(match) * rise > 0).all() and np.allclose(
        products.sum(axis=-1), trace["scores"].value
    )


def parts_of_a_token():
    """What a query, a key and a value do, by whose shares move with one that is set by hand."""
    trace, parts = trace_of(Settings("the cat sat on the mat")), {}
    for name, word in (("q", "query"), ("k", "key"), ("v", "value")):
        moved = trace.with_change(name, (0, 1), 0.9)
        rows, collected = (
            {*np.argwhere(moved[each].value[0] != trace[each].value[0])[:, 0].tolist()}
            for each in ("attention", "heads")
        )
        parts[word] = "looks for" if rows == {1} else "offers" if len(rows) == 6 else "passes on"
        assert len(collected) == len(rows or collected)
    return parts


def phrases(said):
    """What a text says of a query, a key and a value, in brackets behind each."""
    found = re.findall(r"(\w+) \(what (?:a token|the token|it) ([^)]+)\)", said)
    return dict(found)


def bias_of(trace, made):
    return trace[f"b_{made}"].value[:, None] if f"b_{made}" in trace else 0


def projected(trace, of_query, query, of_others, *others):
    sources, names = {"X": "x", "C": "context"}, {"query": "q", "key": "k", "value": "v"}
    entered = {query: sources[of_query]} | dict.fromkeys(others, sources[of_others])
    return all(
        trace[names[made]].shape[1] == trace[source].shape[0]
        and np.allclose(
            trace[source].value @ trace[f"w_{names[made]}"].value + bias_of(trace, names[made]),
            trace[names[made]].value,
        )
        for made, source in entered.items()
    )


def projection(trace, row, column):
    x, w, q = trace.inputs("q")[0].value, trace["w_q"].value[0], trace["q"].value[0]
    return np.isclose(times(line(x, row, -1), line(w, column, -1)), q[-1, -1])


def hidden_by_flags(trace, hidden, *named):
    """Keys that are visible have all of the attention, and those that are hidden none."""
    mask, share = np.broadcast_to(trace["mask"].value, trace["masked"].shape), trace["attention"].value
    flags = dict(zip(named[1::2], map(int, named[::2]), strict=True))
    without = np.isneginf(trace["masked"].value)
    return (
        share[mask == flags["visible"]].sum() == pytest.approx(share.sum())
        and not share[mask == flags["hidden"]].any()
        and np.array_equal(mask == flags[hidden], without)
    )


def hidden_by_what_is_added(trace, leaves, hides):
    mask = np.broadcast_to(trace["mask"].value, trace["masked"].shape)
    kept, gone = (mask == {"0": 0, "-\\infty": -np.inf}[each] for each in (leaves, hides))
    stays = np.array_equal(trace["masked"].value[kept], trace["scaled"].value[kept])
    return stays and not trace["attention"].value[gone].any()


def shares(trace, giver, taker):
    axes = trace["attention"].axes
    total = trace["attention"].value.sum(axis=axes.index(taker))
    return axes.index(giver) < len(axes) and np.allclose(total, np.isfinite(trace["masked"].value).any(axis=-1))


def at_most(trace, most):
    """Each row, and the share of the sink, which goes nowhere, add up to it."""
    masked, sinks = trace["masked"].value, trace["sinks"].value[:, None]
    joined = np.concatenate([masked, np.broadcast_to(sinks[..., None], (*masked.shape[:2], 1))], axis=-1)
    shares = np.exp(joined - joined.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    return np.allclose(trace["attention"].value.sum(axis=-1) + shares[..., -1], int(most))


def summed(trace, which):
    seen = trace["masked"].value[0]
    return all(
        np.allclose(line(trace["attention"].value[0], which, n), line(seen, which, n) / line(seen, which, n).sum())
        for n in (0, -1)
    )


def through_heads(trace, which):
    heads, w_o = trace["heads"].value, trace["w_o"].value
    parts = np.split(w_o, len(heads), axis=["rows", "columns"].index(which))
    bias = trace["b_o"].value if "b_o" in trace else 0
    return all(len(part) == heads.shape[-1] for part in parts) and np.allclose(
        sum(head @ part for head, part in zip(heads, parts, strict=True)) + bias, trace["output"].value
    )


def through_one_head(trace, one, other):
    made = times(line(trace["concat"].value, one, -1), line(trace["w_o"].value, other, -1))
    return np.isclose(made, trace["output"].value[-1, -1])


def got(trace, one, other, n_neurons):
    read, w, *bias = (stage.value for stage in trace.inputs("hidden"))
    made = times(line(read, one, -1), line(w, other, -1)) + sum(each[-1] for each in bias)
    hidden = trace["hidden"].value
    return np.isclose(made, hidden[-1, -1]) and int(n_neurons) == hidden.shape[-1]


def one_hot(trace, at, elsewhere):
    words = [word for kind in BY_HAND.words_by_kind.values() for word in kind]
    rows = trace["embeddings"].value
    expected = np.full_like(rows, float(elsewhere))
    for row, label in enumerate(trace.labels["token"]):
        expected[row, words.index(label.split()[0])] = float(at)
    return np.array_equal(rows, expected)


def residual(trace, keeps):
    kept = np.isclose(trace["residual"].value - trace["output"].value, trace["x"].value)
    return {"each": kept.all(), "no": not kept.any()}[keeps]


def answers(trace, column, row, again):
    read, w_u = trace.inputs("logits")
    is_for_each = len({"row": w_u.value, "column": w_u.value.T}[column]) == len(trace.labels["answer"])
    made = times(line(read.value, row, -1), line(w_u.value, again, -1))
    return is_for_each and np.isclose(made, trace["logits"].value[-1, -1])


def without_order(trace, does):
    """Whether a score of two words is another where they stand elsewhere, of vectors without positions."""
    there, elsewhere = (trace_of(Settings(text))["scores"].value[:, :3, :3] for text in ("a b c d", "c b a d"))
    return np.allclose(there, elsewhere[:, ::-1, :][:, :, ::-1]) == {"does not depend": True, "depends": False}[does]


def exchanged(trace, only):
    """Whether of all numbers of a row only its values move other rows, which they do in this step."""
    plain, moves = TRACES["plain"], {}
    for name, place, made in (("x", (0,), ("q", "k", "v")), ("v", (0, 0), ("heads",)), ("heads", (0, 0), ("output",))):
        by = plain.with_change(name, place, 0.7)
        moves[name] = any(_rows(by[each].value - plain[each].value) - {0} for each in made)
    return {"only": moves == {"x": False, "v": True, "heads": False}}.get(only, False)


def _rows(differences):
    return {*np.argwhere(differences)[:, -2].tolist()}


def beside(trace, longer):
    n_heads, _, width = trace["heads"].shape
    return trace["concat"].shape[1] == {"all heads together": n_heads * width, "one head": width}[longer]


def read_rows(trace, whole):
    return (trace["w_q"].shape[1] == trace["x"].shape[1]) == (whole == "whole")


def spread(trace, how_many):
    """Of scores that are spread a hundred times as widely."""
    one = trace_of(Settings("the cat sat on the mat"))["scores"].value
    wide = np.exp(100 * (one - one.max(axis=-1, keepdims=True)))
    most = (wide / wide.sum(axis=-1, keepdims=True)).max(axis=-1)
    return {"one": np.median(most) > 0.95, "each": np.median(most) < 0.5}[how_many]


def normed_again(trace, changes):
    """How far a norm moves what a norm made, in parts of it; of rows that are close to 0, by half and more."""
    moved = np.abs(trace["attn_norm"].value / trace["x"].value - 1).max()
    small = trace.with_change("embedded", (None,), 1e-3)
    far = np.abs(small["attn_norm"].value / small["x"].value - 1).max()
    return {"next to nothing": moved < 2e-3 and far > 0.2, "much": moved > 0.1}[changes]


CLAIMS = {
    ("attn-norm", "again"): (r"normed already, so this changes (next to nothing|much), unless", normed_again),
    ("positions", "positions"): (r"By itself a score (\w+(?: not depend)?) on where the \w+s stand", without_order),
    ("scaling", "spread"): (r"widely spread scores gives almost all attention to (\w+) key", spread),
    ("weighted-sum", "mixture"): (r"This is the (\w+) step in the layer where \w+s exchange", exchanged),
    ("concatenation", "side by side"): (r"a row is as long as the rows? of (.+?)\.", beside),
    ("qkv", "several heads"): (r"which read (\w+) rows", read_rows),
    ("scores", "dot products"): (r"The (\w+) the score, the (\w+) query and key match", scores),
    ("qkv", "two sentences"): (
        r"each row of (\w) into a (\w+) .+ each row of the other sentence, (\w), into a (\w+) \(.+ and a (\w+) \(",
        projected,
    ),
    ("qkv", "one head"): (r"a whole (\w+) times a (\w+) of the matrix", projection),
    ("mask", "selects"): (
        r"A (\w+) key's score becomes -\\infty.+ In the mask, (\d) means (\w+), (\d) (\w+)\.",
        hidden_by_flags,
    ),
    ("mask", "added"): (r": (\S+) leaves a score as it is, and (\S+) hides the key", hidden_by_what_is_added),
    ("softmax", "softmax"): (r"the share that each (\w+) gives each (\w+)", shares),
    ("softmax", "sinks"): (r"each row sums to at most (\d)", at_most),
    ("softmax", "sum"): (r"divides each (\w+) by its sum", summed),
    ("output", "mixed"): (r"each head through its own (\w+) of \S+ and adding up what comes out", through_heads),
    ("output", "mixed one"): (r"Each number is a (\w+) of the concatenation times a (\w+) of", through_one_head),
    ("tokens", "built"): (r"a (\d) in the dimension of the (?:word|letter), and (\d) elsewhere", one_hot),
    ("neurons", "got"): (r": a (\w+) of \S+ times a (\w+) of .+ is what one of (\d+) neurons gets", got),
    ("residual", "added"): (r"So (\w+) token keeps what it held", residual),
    ("answer", "logits"): (
        r"has a (\w+) for each answer: a (\w+) of \S+ times that (\w+) is the answer's score",
        answers,
    ),
}
"""By step and section what it says, and whether that holds for a pass: a function of what the words are."""


def said_in(trace):
    """Each section that a trace has, with the pass of its layer."""
    for step in steps_of(trace):
        for section in step.sections:
            id, name = step.id.removesuffix(f"-{step.layer}"), section.name
            of = trace.layers[step.layer - 1].trace if step.layer else trace
            one = " one" if (id, name) == ("output", "mixed") and len(of["heads"].value) == 1 else ""
            yield (id, name + one), of, plain(section.text)


@pytest.mark.parametrize("claim", CLAIMS, ids=": ".join)
def test_what_a_step_claims_holds_for_the_numbers_of_its_pass(claim):
    pattern, holds = CLAIMS[claim]
    said = [(name, of, text) for name, trace in TRACES.items() for key, of, text in said_in(trace) if key == claim]
    said = [each for each in said if claim != ("tokens", "built") or each[0] == "by hand"]
    assert said
    for name, of, text in said:
        assert holds(of, *re.search(pattern, text).groups()), (name, text)


def test_a_query_looks_a_key_offers_and_a_value_is_passed_on_wherever_that_is_said():
    parts = parts_of_a_token()
    said = {text for trace in TRACES.values() for (id, _), _, text in said_in(trace) if id == "qkv" and "(what" in text}
    assert len(said) >= 4
    for text in said:
        found = phrases(text)
        assert found == ({"query": parts["query"]} if "no key and no value" in text else parts)
    for name, word in (("q", "query"), ("k", "key"), ("v", "value")):
        assert ENTRIES[name].meaning == f"what each token {parts[word]}"


def helped(event):
    return next(box["help"] for part in settings_of(Scene()).values() for box in part if box.get("event") == event)


def test_the_help_of_the_mask_says_which_keys_each_hides():
    said = (
        r"no token sees an? (\w+) token\. causal window: only the (\w+) few keys are seen, its own counted\. "
        r"padding: the (\w+) keys are hidden\. window: only (\w+) keys are seen"
    )
    n, size = 5, 2
    rules = {
        "latest": lambda query, key: key not in (query - 1, query),
        "later": lambda query, key: key > query,
        "earlier": lambda query, key: key < query,
        "last": lambda query, key: key >= n - size,
        "first": lambda query, key: key < size,
        "near": lambda query, key: abs(query - key) > size,
        "far": lambda query, key: abs(query - key) <= size,
    }
    for mask, word in zip(
        ("causal", "causal window", "padding", "window"), re.search(said, helped("mask")).groups(), strict=True
    ):
        for query, key in np.ndindex(n, n):
            assert MASKS[mask](n, n, size)[query, key] == (not rules[word](query, key)), mask


def test_the_help_of_other_settings_holds():
    scene = Scene()
    (one, other) = re.search(r"share the (\w+) numbers, so their number divides (\w+)", helped("n_heads")).groups()
    assert [vars(scene.options)[each] % n for each in (one, other) for n in allowed_values(scene, "n_heads")].count(
        0
    ) == 8
    drawn = {
        name: trace_of(Settings("the cat", d_model=64, n_heads=4, initialiser=name))["w_q"].value
        for name in ("normal", "uniform", "standard normal")
    }
    spreads = {"N(0, 1/d_model)": 1 / 8, "N(0, 1)": 1, "[0, 1)": 12**-0.5}
    for name, array in drawn.items():
        (said,) = re.findall(rf"(?:^|\. ){name}: (.+?)(?=\.(?: |$))", helped("initialiser"))
        assert array.std() == pytest.approx(spreads[said], rel=0.05)
        assert array.mean() == pytest.approx(0.5 if said == "[0, 1)" else 0, abs=0.05)


def looks(trace, number):
    """For each query the key that it looks at most in a layer."""
    return trace[f"attention_{number}"].value.mean(axis=0).argmax(axis=-1).tolist()


def kinds(model, trace):
    """Of each token its kind in singular, and its word."""
    words = [label.split()[0] for label in trace.labels["query"]]
    return [next(kind[:-1] for kind, of in model.words_by_kind.items() if word in of) for word in words], words


def neighbours(model, trace, one, other, way, number):
    """Whether each of one kind looks at the one of another kind before or after it, if there is one."""
    kind, _ = kinds(model, trace)
    by = {"before": -1, "after": 1}[way]
    pairs = [(n, n + by) for n in range(len(kind)) if kind[n] == one and 0 <= n + by < len(kind)]
    asked = [(query, key) for query, key in pairs if kind[key] == other]
    return bool(asked) and all(looks(trace, number)[query] == key for query, key in asked)


def next_to_the_last(model, trace, asking, answer, way):
    """Whether the last token looks at what stood before or after the same one."""
    kind, words = kinds(model, trace)
    key = words.index(words[-1]) + {"followed": 1, "preceded": -1}[way]
    return (asking, answer) == (kind[-1], kind[key]) and looks(trace, 2)[-1] == key


def noted(model, trace, asking, noted_kind):
    """Whether the last token looks at the one that looked at the same word in layer 1."""
    kind, words = kinds(model, trace)
    where = looks(trace, 2)[-1]
    return asking == noted_kind == kind[-1] and words[looks(trace, 1)[where]] == words[-1]


BEFORE = r"each (\w+) looks (?:in this layer )?at the (\w+) (before|after) it"
NOTED = r"the last (\w+) (?:looks at|finds) the \w+ that noted the same (\w+) in layer 1"


@pytest.mark.parametrize("id", ["recall", "by-hand"])
def test_each_layer_looks_where_the_texts_of_its_task_say(id):
    choice = MODELS[id]
    first, second = choice.at(choice.seeds[0], None).trace(choice.examples[0][1]).origin.layers
    for _, text in choice.examples[: 2 if id == "by-hand" else None]:
        for seed in choice.seeds:
            trace = choice.at(seed, None).trace(text)
            assert neighbours(choice, trace, *re.search(BEFORE, first).groups(), 1), text
            assert noted(choice, trace, *re.search(NOTED, second).groups()), text
            if id == "recall":
                assert neighbours(choice, trace, *re.search(rf"In layer 1 {BEFORE}", choice.summary).groups(), 1)
                last = r"in layer 2 the last (\w+) looks at the (\w+) that (\w+) it before"
                assert next_to_the_last(choice, trace, *re.search(last, choice.summary).groups())
            else:
                said = r"Layer 1 notes the (\w+) (\w+) each (\w+); layer 2 finds what (\w+) the last (\w+)"
                other, way, one, found, asking = re.search(said, choice.summary).groups()
                assert neighbours(choice, trace, one, other, way, 1)
                assert next_to_the_last(choice, trace, asking, "letter", found)


def test_a_mirror_looks_where_its_summary_says():
    choice, n = MODELS["mirror"], 8
    across, beside = list(range(n))[::-1], [*range(1, n), n - 1]
    said = re.search(r"each position looks at the position (across the middle|\w+ it),", choice.summary)[1]
    expected = across if said == "across the middle" else beside
    for seed in choice.seeds:
        for _, text in choice.examples:
            trace = choice.at(seed, None).trace(text)
            assert trace["attention"].value.mean(axis=0).argmax(axis=-1).tolist() == expected, text
            digits = [trace.label("answer", place) for place in trace["probabilities"].value.argmax(axis=-1)]
            assert digits == text.split()[::-1]
