"""Lessons by a second way: each number that a question asks for, one product after the other, in Python's floats."""

import functools
import json
import math
import re
from itertools import product

import numpy as np
from translator_alone import forward, parameters

from attnviz.analysis.sweep import LENGTHS, sweep
from attnviz.core.changes import Change
from attnviz.core.rng import stream
from attnviz.core.stage import name_in_layer, split_layer
from attnviz.lessons.cell_reference import PATTERN, find
from attnviz.models import MODELS
from attnviz.models.recipes import RECIPES
from attnviz.models.trained import recording_path, turned_pronouns
from attnviz.models.training import FILE

PARTS = json.loads(FILE.read_text("utf-8"))


@functools.cache
def slow(trace, stage, index):
    """A number of a pass: its stage's definition over again, from queries, keys and values on."""
    name, layer = split_layer(stage)
    if trace[stage].is_overridden(index):
        return float(trace[stage].value[index])
    found = {
        "scores": _score,
        "scaled": _scaled,
        "masked": _masked,
        "attention": _share,
        "heads": _found,
        "contributions": _contribution,
        "probabilities": _probability,
    }.get(name)
    if found is None and len(trace[stage].inputs) == 2 and name in ("x", "residual"):
        return sum(float(trace[each].value[index]) for each in trace[stage].inputs)
    return found(trace, layer, *index) if found else float(trace[stage].value[index])


COMPARED = {"q": ("q_absorbed", "q_rotated", "q_normed", "q"), "k": ("latent", "k_rotated", "k_normed", "k")}
"""What a query and a key are compared as; where keys are made of latents, these are none."""


def compared(trace, layer, role, head, place):
    """The row of a query or of a key that a score is made of, of those of its group."""
    is_made = name_in_layer("k", layer) in trace
    names = [name_in_layer(name, layer) for name in COMPARED[role] if name != "latent" or not is_made]
    groups = trace[next(name for name in names if name in trace)].value
    n_heads = len(trace[name_in_layer("attention", layer)].value)
    return [float(number) for number in groups[head * len(groups) // n_heads, place]]


def _score(trace, layer, head, query, key):
    if name_in_layer("content_scores", layer) in trace:
        both = (trace[name_in_layer(of, layer)].value for of in ("content_scores", "position_scores"))
        return sum(float(each[head, query, key]) for each in both)
    q, k = compared(trace, layer, "q", head, query), compared(trace, layer, "k", head, key)
    return sum(one * other for one, other in zip(q, k, strict=True))


def _scaled(trace, layer, head, query, key):
    score = slow(trace, name_in_layer("scores", layer), (head, query, key))
    factor = trace[name_in_layer("scaled", layer)].operation.factor
    return score / math.sqrt(d_k_of(trace, layer)) if factor is None else score * factor


def d_k_of(trace, layer):
    return sum(trace[name_in_layer(q, layer)].shape[-1] for q in ("q", "q_r") if name_in_layer(q, layer) in trace)


def keys_of(trace, layer):
    """The words that a layer looks at."""
    return trace.labels.get(name_in_layer("key", layer), trace.labels["key"])


def _masked(trace, layer, head, query, key):
    mask = name_in_layer("mask", layer)
    if not trace[mask if mask in trace else "mask"].value[query, key]:
        return -math.inf
    score = slow(trace, name_in_layer("scaled", layer), (head, query, key))
    if name_in_layer("capped", layer) in trace:
        limit = trace[name_in_layer("capped", layer)].operation.limit
        score = limit * math.tanh(score / limit)
    if name_in_layer("biased", layer) in trace:
        score -= 2 ** (-8 * (head + 1) / len(trace[name_in_layer("attention", layer)].value)) * abs(query - key)
    return score


def _share(trace, layer, head, query, key):
    return _shares(trace, layer, head, query)[key]


@functools.cache
def _shares(trace, layer, head, query):
    row = [_masked(trace, layer, head, query, other) for other in range(len(keys_of(trace, layer)))]
    sinks = [float(trace[name_in_layer("sinks", layer)].value[head])] if name_in_layer("sinks", layer) in trace else []
    return softmax([*row, *sinks])


def _value(trace, layer, head, key, feature):
    if name_in_layer("v", layer) not in trace:
        latent, w_uv = (trace[name_in_layer(name, layer)].value for name in ("latent", "w_uv"))
        return math.fsum(float(a) * float(b) for a, b in zip(latent[0, key], w_uv[head, :, feature], strict=True))
    groups = trace[name_in_layer("v", layer)].value
    return float(groups[head * len(groups) // len(trace[name_in_layer("attention", layer)].value), key, feature])


def _found(trace, layer, head, query, feature):
    keys = range(len(keys_of(trace, layer)))
    return sum(_share(trace, layer, head, query, key) * _value(trace, layer, head, key, feature) for key in keys)


def _contribution(trace, layer, head, query, dimension):
    width = trace[name_in_layer("v", layer)].shape[-1]
    w_o = trace[name_in_layer("w_o", layer)].value[head * width : (head + 1) * width]
    found = [slow(trace, name_in_layer("heads", layer), (head, query, place)) for place in range(width)]
    return sum(each * float(row[dimension]) for each, row in zip(found, w_o, strict=True))


def _probability(trace, layer, token, answer):
    return _probabilities(trace, token)[answer]


@functools.cache
def _probabilities(trace, token):
    enters, w_u = (trace[each].value for each in trace["logits"].inputs)
    logits = [sum(float(a) * float(b) for a, b in zip(enters[token], column, strict=True)) for column in w_u.T]
    return softmax(logits)


def softmax(row):
    largest = max(row)
    if largest == -math.inf:  # attnviz gives nothing to any
        return [0.0] * len(row)
    powers = [math.exp(each - largest) for each in row]
    return [power / sum(powers) for power in powers]


FIGURE = re.compile(
    r"(?<![\w'.])(?:A\.)?(?:(?:count|mistake|loss|perplexity|looks|accuracy|turned)(?:\.\w+)+|answer(?:\.before)?|translation|e)\b(?!['(])"
)


def evaluated(expression, passes):
    """An expression of a lesson, of cells by `slow` and figures by `slow_figure`."""
    if "==" in expression:
        one, other = (evaluated(each, passes) for each in expression.split("=="))
        return one == other if isinstance(one, str) else math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    names = {}

    def named(made):
        names[f"_{len(names)}"] = made
        return f"_{len(names) - 1}"

    def of_cells(match):
        of = find(match[0], passes)
        cells = [slow(of.trace, cell.stage, cell.index) for cell in of.cells]
        return named(np.array(cells) if None in of.index else cells[0])

    text = PATTERN.sub(of_cells, expression)
    text = FIGURE.sub(lambda match: named(slow_figure(match[0], passes)), text)
    return eval(text.strip(), {"__builtins__": {}} | FUNCTIONS | names)


def _spread(shares):
    seen = [share for share in shares if share > 0]
    return sum(share * math.log(1 / share) for share in seen) / math.log(len(seen)) if len(seen) > 1 else 0.0


def mistaken_row(mistake, scaled, seen):
    """A row of shares as it is made with a mistake, from its scaled scores and which keys are seen."""
    n = len(scaled)

    def of_those(visible):
        return softmax([score if is_seen else -math.inf for score, is_seen in zip(scaled, visible, strict=True)])

    return {
        "multiplied": lambda: softmax([score * is_seen for score, is_seen in zip(scaled, seen, strict=True)]),
        "after": lambda: [share * is_seen for share, is_seen in zip(softmax(scaled), seen, strict=True)],
        "further": lambda: of_those([seen[k] or (k > 0 and seen[k - 1]) for k in range(n)]),
        "inverted": lambda: of_those([not each for each in seen]),
        "uniform": lambda: [1 / n] * n,
        "nan": lambda: [math.nan] * n,
    }[mistake]()


def _mistake(name, trace):
    """A figure of a mistake, as `after.cat.sum`."""
    mistake, word, of = name.split(".")
    query, keys = trace.labels["query"].index(word), trace.labels["key"]
    scaled = [_scaled(trace, 0, 0, query, key) for key in range(len(keys))]
    row = mistaken_row(mistake, scaled, trace["mask"].value[query].tolist())
    return math.fsum(row) if of == "sum" else row[keys.index(of)]


@functools.cache
def _random_vectors():
    """The sweep's queries, and six keys of each."""
    random = stream("sweep", 0)
    return [random.standard_normal((2000, 512)) for _ in range(7)]


@functools.cache
def _random_scores(d_k):
    """Of each of the sweep's queries its scores with six keys, for this length alone."""
    queries, *keys = (each[:, :d_k] for each in _random_vectors())
    return np.array([np.einsum("ij,ij->i", queries, each) for each in keys]).T


@functools.cache
def swept(divisor, d_k, what):
    """A number of the sweep of d_k, computed a second time."""
    by = {"root": d_k**0.5, "none": 1.0, "d_k": d_k}[divisor]
    if what == "expected":
        return d_k**0.5 / by
    if what == "spread":
        rows = [row[0] / by for row in _random_scores(d_k).tolist()]
        return math.sqrt(math.fsum(score**2 for score in rows) / len(rows))
    return getattr(sweep()[divisor][LENGTHS.index(d_k)], what)


FUNCTIONS = {
    "abs": abs,
    "back": lambda row: sum(share * (len(row) - 1 - place) for place, share in enumerate(row)),
    "exp": math.exp,
    "log": math.log,
    "max": max,
    "mean": lambda of: sum(of) / len(of),
    "min": min,
    "overlap": lambda one, other: sum(map(min, one, other)),
    "percent": lambda share: round(100 * share),
    "rank": lambda of, among: 1 + sum(each > of + 1e-12 for each in among),
    "softmax": lambda row: np.array(softmax(row)),
    "round": round,
    "spread": _spread,
    "sqrt": math.sqrt,
    "sweep": swept,
    "sum": math.fsum,
}


def _column(of):
    head, query, key = of.index
    assert "sinks" not in of.trace, "which takes its part of every row"
    rows = range(len(of.trace.labels["query"]))
    scores = [slow(of.trace, name_in_layer("masked", split_layer(of.stage.name)[1]), (head, row, key)) for row in rows]
    return softmax(scores)[query]


def _row(of, stage, at=None):
    name = name_in_layer(stage, split_layer(of.stage.name)[1])
    index = of.index if at is None else at
    return [slow(of.trace, name, (*index[:-1], place)) for place in range(of.trace[name].shape[-1])]


def _unscaled(of):
    assert not {"capped", "biased", "sinks"} & set(of.trace.keys()), "which change a score, too"
    scaled = name_in_layer("scaled", split_layer(of.stage.name)[1])
    assert of.trace[scaled].operation.factor is None, "and are divided otherwise"
    raw, seen = _row(of, "scores"), _row(of, "masked")
    return softmax([score if math.isfinite(shown) else -math.inf for score, shown in zip(raw, seen, strict=True)])[
        of.index[-1]
    ]


def _of_row(of, which, word):
    row, labels = _row(of, of_name(of)), of.trace.axes(of.stage.name)[-1].labels
    place = 0 if which in ("largest", "most") else 1
    assert row[labels.index(word)] == sorted(row, reverse=True)[place], (which, word)
    return row[labels.index(word)]


def of_name(of):
    return split_layer(of.stage.name)[0]


def _values(of):
    layer, (head, _, feature) = split_layer(of.stage.name)[1], of.index
    return [_value(of.trace, layer, head, key, feature) for key in range(len(keys_of(of.trace, layer)))]


def _own_value(of, word):
    shares = _row(of, "attention", (of.index[0], of.index[1], 0))
    place = keys_of(of.trace, split_layer(of.stage.name)[1]).index(word)
    assert shares[place] == max(shares)
    return _values(of)[place]


def _by_column(of):
    head, query, _ = of.index
    name = name_in_layer("attention", split_layer(of.stage.name)[1])
    return sum(slow(of.trace, name, (head, row, query)) * each for row, each in enumerate(_values(of)))


def _added(of, place):
    return float(of.trace[of.stage.inputs[place]].value[of.index])


def _even(of):
    row = _row(of, "masked") if of_name(of) == "attention" else _row(of, "probabilities")
    return 1 / sum(math.isfinite(each) for each in row)


def _vector(of, role, place):
    return compared(of.trace, split_layer(of.stage.name)[1], role, of.index[0], place)


def _unscaled_by_d_k(of):
    return slow(of.trace, "scores", of.index) / d_k_of(of.trace, 0)


def _other_way_round(of, one, other):
    labels = of.trace.labels
    return slow(of.trace, "scores", (of.index[0], labels["query"].index(one), labels["key"].index(other)))


def _product_in_dimension_1(of):
    return _vector(of, "q", of.index[1])[0] * _vector(of, "k", of.index[2])[0]


def _product_of_sums(of):
    return math.fsum(_vector(of, "q", of.index[1])) * math.fsum(_vector(of, "k", of.index[2]))


def _part_of_positive(of):
    return _row(of, "masked")[of.index[-1]] / sum(each for each in _row(of, "masked") if each > 0)


def _of_head(of, head):
    return slow(of.trace, of.stage.name, (int(head) - 1, *of.index[1:]))


READINGS = {
    r"\{number\} is an even weight: each visible word would get as much\.": _even,
    r"\{number\} is an even share: each answer would be as probable\.": _even,
    r"\{number\} is the part of the sum of positive scores: the softmax divides powers of e\.": _part_of_positive,
    r"\{number\} is the part of the column\. The weights of a word are a row, which adds up to 1\.": _column,
    r"\{number\} is the weight from scores that are not divided by √d_k\.": _unscaled,
    r"\{number\} is what “(.+)” has, the (largest|second largest) weight\.": lambda of, word, which: _of_row(
        of, which, word
    ),
    r"\{number\} is how probable “(.+)” is, the ((?:second )?most) probable answer\.": lambda of, word, which: _of_row(
        of, which, word
    ),
    r"\{number\} is the value of “(.+)” itself, before it is multiplied by its weight\.": _own_value,
    r"\{number\} is the sum of all values, as if each weight were 1\.": lambda of: sum(_values(of)),
    r"\{number\} is the mean of all values, as if all weights were alike\.": lambda of: (
        sum(_values(of)) / len(_values(of))
    ),
    r"\{number\} comes from a column of weights: the weights of a word are its row\.": _by_column,
    r"\{number\} is what is added alone, without what was there before\.": lambda of: _added(of, 1),
    r"\{number\} is what was there before, with nothing added\.": lambda of: _added(of, 0),
    r"\{number\} is the product: the two are added\.": lambda of: _added(of, 0) * _added(of, 1),
    r"\{number\} is the difference: the two are added\.": lambda of: _added(of, 0) - _added(of, 1),
    r"\{number\} is the score before scaling\.": lambda of: slow(of.trace, "scores", of.index),
    r"\{number\} is the score divided by d_k, not by its root\.": _unscaled_by_d_k,
    r"\{number\} is the score after scaling\.": lambda of: slow(of.trace, "scaled", of.index),
    r"\{number\} is the score of “(.+)” with “(.+)”: the query of the one, the key of the other\.": _other_way_round,
    r"\{number\} is the product in dimension 1 alone: add up those of all dimensions\.": _product_in_dimension_1,
    r"\{number\} is the product of two sums: multiply dimension by dimension first\.": _product_of_sums,
    r"The size is right; the sign is not\.": lambda of: -slow(of.trace, of.stage.name, of.index),
    r"\{number\} is the number of head (\d+)\.": _of_head,
}
"""What a sentence on a wrong number says that it is, computed again; the sentence has a slot for the number."""


def unnumbered(told):
    """A sentence on a wrong number with a slot in its place."""
    return re.sub(r"^(?:(?:under|over) )?[−\d.,e]+(?:\xa0%)? (?!%)", "{number} ", told)


def slow_figure(name, passes):
    """A figure by its name, or by the sentence that is told of a wrong one, counted one by one."""
    of = "A" if name.startswith("A.") else "B"
    name = name.removeprefix("A.")
    fitted = passes.scene(of)
    if name.startswith("mistake."):
        return _mistake(name.removeprefix("mistake."), fitted.trace)
    return COUNTED[name](fitted, passes) if name in COUNTED else _measured(name, fitted)


def _hides(scene, n):
    """Which pairs the mask of a scene hides, by its rule."""
    options, pairs = scene.options, list(product(range(n), range(n)))
    rule = {
        "none": lambda i, j: False,
        "causal": lambda i, j: j > i,
        "padding": lambda i, j: j >= n - options.mask_size,
        "window": lambda i, j: abs(i - j) > options.mask_size,
    }[options.mask]
    return [pair for pair in pairs if rule(*pair)], pairs


def _n(fitted):
    return len(fitted.trace.labels["query"])


def _hidden(fitted, passes):
    return len(_hides(fitted.scene, _n(fitted))[0])


def _both_ways(fitted, passes):
    hidden, _ = _hides(fitted.scene, _n(fitted))
    return len({*hidden, *((j, i) for i, j in hidden)})


def _and_itself(fitted, passes):
    hidden, _ = _hides(fitted.scene, _n(fitted))
    return len({*hidden, *((i, i) for i in range(_n(fitted)))})


def _matrices(fitted, *names):
    return [fitted.trace[name].value for name in names or ("w_q", "w_k", "w_v", "w_o")]


def _parameters(fitted, passes):
    if fitted.scene.source in MODELS:
        arrays = MODELS[fitted.scene.source].at(fitted.scene.model_seed, fitted.scene.checkpoint).arrays.values()
        return sum(len(array.ravel()) for array in arrays)
    return sum(len(matrix.ravel()) for matrix in _matrices(fitted))


def _full_width(fitted, passes):
    heads, d_model, width = fitted.trace["w_q"].shape
    return 3 * heads * d_model * (heads * width) + fitted.trace["w_o"].size


def _multiplications(fitted, rows):
    """Those of the matrix products of so many rows, each number counted that is multiplied."""
    trace, n, total = fitted.trace, _n(fitted), 0
    for _ in range(rows):
        for name in ("w_q", "w_k", "w_v", "w_o", "w_hidden", "w_mlp", "w_u"):
            total += trace[name].size
        for head in range(trace["k"].shape[0]):
            total += sum(trace["k"].value[head, key].size + trace["v"].value[head, key].size for key in range(n))
    return total


def _differing(fitted, passes, *, by_name=True):
    a, b = passes.trace("A"), passes.trace()
    words = b.labels["query"]
    places = [a.labels["query"].index(word) if by_name else place for place, word in enumerate(words)]
    return sum(
        abs(slow(b, "attention", (0, i, j)) - slow(a, "attention", (0, places[i], places[j]))) > 1e-12
        for i, j in product(range(len(words)), repeat=2)
    )


def _answer(trace):
    row = [
        slow(trace, "probabilities", (len(trace.labels["query"]) - 1, i)) for i in range(len(trace.labels["answer"]))
    ]
    return trace.labels["answer"][row.index(max(row))]


def _translation(fitted, _):
    """What a translator writes: again and again the most probable word, to each text with all numbers set by hand."""
    scene, written = fitted.scene, []
    model = MODELS[scene.source].at(scene.model_seed, scene.checkpoint)
    while len(written) < len(model.arrays["positions"]) - 1:
        trace = model.trace(scene.sentence, model.task.french_text(written))
        for change in scene.changes:
            if all(
                place is None or place < n for place, n in zip(change.index, trace[change.stage].shape, strict=False)
            ):
                trace = trace.with_changes(change)
        word = _answer(trace)
        if word == "<end>":
            break
        written.append(word)
    return model.task.french_text(written)


COUNTED = {
    "translation": _translation,
    "e": lambda one, _: sum(1 / math.factorial(n) for n in range(20)),
    "answer": lambda one, _: _answer(one.trace),
    "answer.before": lambda one, _: _answer(one.original),
    "count.answer_among_words": lambda one, _: sum(word == _answer(one.trace) for word in one.scene.sentence.split()),
    "count.words": lambda one, _: _n(one),
    "count.pairs": lambda one, _: len(_hides(one.scene, _n(one))[1]),
    "count.hidden": _hidden,
    "count.visible": lambda one, _: _n(one) ** 2 - _hidden(one, _),
    "count.padding": lambda one, _: len({j for _, j in _hides(one.scene, _n(one))[0]}),
    "count.d_model": lambda one, _: len(one.trace["embeddings"].value[0]),
    "count.held_out": lambda one, _: len({*MODELS[one.scene.source].task.names}) // 10,
    "count.names": lambda one, _: len(distinct := {*MODELS[one.scene.source].task.names}) - len(distinct) // 10,
    "count.layers": lambda one, _: sum(stage.name.startswith("attention") for stage in one.trace.values()),
    "count.neurons": lambda one, _: len(one.trace["hidden"].value[0]),
    "count.pronouns": lambda one, _: len(_turned(one.scene.model_seed)["referent"]),
    "count.steps": lambda one, _: max(MODELS[one.scene.source].checkpoints(one.scene.model_seed)),
    "count.steps_done": lambda one, _: _steps(one),
    "count.texts": lambda one, _: len(MODELS[one.scene.source].task.held_out().answers),
    "count.heads": lambda one, _: len(one.trace.layers[0].trace["w_q"].value),
    "count.d_k": lambda one, _: one.trace.layers[0].trace["w_k"].shape[-1],
    "count.answers": lambda one, _: len(one.trace["w_u"].value[0]),
    "count.parameters": _parameters,
    "count.multiplications": lambda one, _: _multiplications(one, _n(one)),
    "count.multiplications_cached": lambda one, _: _multiplications(one, 1),
    "count.differing": _differing,
    "{number} are visible.": lambda one, _: _n(one) ** 2 - _hidden(one, _),
    "{number} would hide each word from itself, too.": _and_itself,
    "{number} would hide each of these pairs the other way round, too.": _both_ways,
    "{number} are hidden from the first word.": lambda one, _: sum(i == 0 for i, _ in _hides(one.scene, _n(one))[0]),
    "{number} are half of all pairs.": lambda one, _: _n(one) ** 2 / 2,
    "{number} are all pairs.": lambda one, _: _n(one) ** 2,
    "{number} would give each head matrices of the full width.": _full_width,
    "{number} would be as many for each head.": lambda one, _: _parameters(one, _) * len(one.trace["w_q"].value),
    "{number} are one head’s part.": lambda one, _: _parameters(one, _) / len(one.trace["w_q"].value),
    "{number} leaves W^O out.": lambda one, _: sum(each.size for each in _matrices(one, "w_q", "w_k", "w_v")),
    "{number} are needed if every letter is computed anew.": lambda one, _: _multiplications(one, _n(one)),
    "{number} are saved.": lambda one, _: _multiplications(one, _n(one)) - _multiplications(one, 1),
    "{number} differ place by place: compare each word with the same word.": lambda one, _: _differing(
        one, _, by_name=False
    ),
    "{number} are all of them.": lambda one, _: _n(one) ** 2,
}


@functools.cache
def _turned(seed):
    return turned_pronouns(MODELS["translator"].at(seed))


def _steps(fitted):
    done = MODELS[fitted.scene.source].checkpoints(fitted.scene.model_seed)
    return done[-1] if fitted.scene.checkpoint is None else done[fitted.scene.checkpoint]


def _measured(name, fitted):
    """What was recorded of a model, as the file has it (`test_microgpt` measures it again)."""
    kind, _, what = name.partition(".")
    seed = fitted.scene.model_seed
    if kind == "perplexity":
        return math.exp(_measured(f"loss.{what}", fitted))
    if kind == "looks":
        head, where = re.fullmatch(r"head_(\d)\.(\w+)", what).groups()
        return PARTS[seed]["heads"][int(head) - 1]["looks"][{"before": "the letter before"}[where]]
    if kind == "turned":
        turned = _turned(seed)[what.replace("_", " ")]
        return round(sum(turned) / len(turned), 4)
    if kind == "accuracy":
        return _accuracy(what, fitted.scene.source, seed)
    choice = MODELS[fitted.scene.source]
    measured = {step: loss for step, loss, _ in choice.curve(seed)}
    return {
        "model": lambda: PARTS[seed]["loss"],
        "guessing": lambda: math.log(len(choice.task.answers)),
        "without_attention": lambda: PARTS[seed]["muted"]["attention"],
        "without_mlp": lambda: PARTS[seed]["muted"]["the MLP"],
        **{f"without_head_{n}": lambda n=n: PARTS[seed]["heads"][n - 1]["loss"] for n in range(1, 5)},
        "pairs": lambda: _table_of_pairs(choice.task),
        "untrained": lambda: measured[0],
        "here": lambda: measured[_steps(fitted)],
    }[what]()


@functools.cache
def _table_of_pairs(task):
    """The loss of a table of pairs of letters on held-out names, name by name."""
    n, counts = task.n_held_out, {}
    for name in task.names[n:]:
        for pair in zip(f"^{name}", f"{name}$", strict=True):
            counts[pair] = counts.get(pair, 0) + 1
    letters = sorted({after for _, after in counts})
    sums = {a: sum(counts.get((a, b), 0) + 0.1 for b in letters) for a in {a for a, _ in counts}}
    losses = [
        -math.log((counts.get(pair, 0) + 0.1) / sums[pair[0]])
        for name in task.names[:n]
        for pair in zip(f"^{name}", f"{name}$", strict=True)
    ]
    return sum(losses) / len(losses)


@functools.cache
def _accuracy(what, source, seed):
    """The part of held-out texts that is answered right, in passes of their own."""
    model = MODELS[source].at(seed)
    if source == "translator":
        return _translated(what, seed, model.task.held_out())
    batch, right = model.task.held_out(), 0
    for tokens, answers in zip(batch.tokens, batch.answers, strict=True):
        trace = model.trace(" ".join(model.task.words[token] for token in tokens))
        if what != "model":
            trace = trace.with_changes(Change("output_1", (None,), 0.0))
        right += int(trace["probabilities"].value[-1].argmax()) == answers[-1]
    return right / len(batch.tokens)


def _translated(what, seed, batch):
    """The part of held-out texts of which each next word, after the right ones, is right, in NumPy alone."""
    arrays, right = parameters(recording_path(RECIPES["translator"]), seed), 0
    if what != "model":
        arrays[what.replace("without_layer", "w_o")] *= 0
    for source, is_source, tokens, answers, is_target, _ in zip(*batch, strict=True):
        n = 1 + int(np.flatnonzero(is_target)[-1])
        logits, _ = forward(arrays, source[is_source], tokens[:n])
        right += all((logits.argmax(axis=-1) == answers[:n]) | ~is_target[:n])
    return right / len(batch.tokens)
