"""Wrong answers: numbers that learners may mistake for a cell's, each with an explanation, computed from the pass."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attnviz.core.operations.linear import DotProducts, repeat_groups
from attnviz.core.operations.scores import Scale
from attnviz.core.operations.softmax import Softmax
from attnviz.core.stage import layered, split_layer
from attnviz.lessons.reference import Reference, noun
from attnviz.lessons.slots import softmax

WrongAnswer = tuple[float, str]


def wrong_answers(of: Reference) -> list[WrongAnswer]:
    """Likely wrong numbers for a cell, the likeliest first, with a sentence on each."""
    name, layer = split_layer(of.stage.name)
    of_stage = {
        "scores": _of_scores,
        "scaled": _of_scaled,
        "attention": _of_attention,
        "heads": _of_heads,
        **dict.fromkeys(("x", "embedded", "residual", "mlp_residual"), _of_sum),
        "probabilities": _of_probabilities,
    }.get(name)
    readings = [*(of_stage(of, layer) if of_stage else ()), *_of_any(of)]
    return [(float(value), text) for value, text in readings if np.isfinite(value)]


def _of_scores(of: Reference, layer: int) -> Iterator[WrongAnswer]:
    head, query, key = of.index
    yield of.trace[layered("scaled", layer)].value[of.index], "That is the score after scaling."
    if query < of.stage.shape[2] and key < of.stage.shape[1]:
        one, other = of.label(1, key), of.label(2, query)
        yield (
            of.stage.value[head, key, query],
            f"That is the score of “{one}” with “{other}”: the query of the one, the key of the other.",
        )
    if isinstance(of.stage.operation, DotProducts):  # of what is compared, turned or normed; not two scores added up
        q, k = (each.value for each in of.trace.inputs(of.stage.name))
        q, k = q[head, query], repeat_groups(k, of.stage.operation.shared_by)[head, key]
        yield q[0] * k[0], "That is the product in dimension 1 alone: add up those of all dimensions."
        yield q.sum() * k.sum(), "That is the product of two sums: multiply dimension by dimension first."


def _of_scaled(of: Reference, layer: int) -> Iterator[WrongAnswer]:
    score = of.trace[layered("scores", layer)].value[of.index]
    yield score, "That is the score before scaling."
    scale = of.stage.operation
    if isinstance(scale, Scale) and scale.factor is None:
        yield score / scale.d_k, "That is the score divided by $d_k$, not by its root."


def _of_attention(of: Reference, layer: int) -> Iterator[WrongAnswer]:
    head, query, key = of.index
    masked = of.trace[of.stage.inputs[0]].value[head]
    row, visible = masked[query], np.isfinite(masked[query])
    if not visible.any():
        return  # there is nothing to share out
    yield 1 / visible.sum(), "That is an even share: each visible word would get as much."
    if row[key] > 0:
        positive = row[visible & (row > 0)].sum()
        yield (
            row[key] / positive,
            "That is its part of the sum of positive scores: the softmax divides powers of e.",
        )
    if isinstance(of.stage.operation, Softmax) and len(of.stage.inputs) == 1:  # without a sink
        if visible[key]:
            yield (
                softmax(masked[:, key])[query],
                "That would be its part of the column. The shares of a word are a row, which adds up to 1.",
            )
        if _is_divided_alone(of, layer):
            raw = of.trace[layered("scores", layer)].value[head, query]
            unscaled = np.where(visible, raw, -np.inf)
            yield softmax(unscaled)[key], "That is the share from scores that are not divided by √$d_k$."
    others = np.argsort(-of.stage.value[head, query])
    for rank, other in enumerate(others[:2]):
        name = of.label(2, int(other))
        which = ("largest", "second largest")[rank]
        yield of.stage.value[head, query, other], f"That is what “{name}” has, the {which} share."


def _is_divided_alone(of: Reference, layer: int) -> bool:
    """Whether nothing but the division by √d_k and the mask lies between scores and masked scores."""
    before, mask = of.trace.inputs(of.stage.inputs[0])
    is_divided = isinstance(before.operation, Scale) and before.operation.factor is None
    return is_divided and before.name == layered("scaled", layer) and mask.value.dtype == bool


def _of_heads(of: Reference, layer: int) -> Iterator[WrongAnswer]:
    head, query, feature = of.index
    if layered("v", layer) not in of.trace:
        return  # absorbed: no value is made
    shares, values = (of.trace[layered(each, layer)].value for each in ("attention", "v"))
    shares, v = shares[head], repeat_groups(values, len(shares) // len(values))[head]
    most = int(shares[query].argmax())
    most_named = of.trace.axes(layered("v", layer))[1].label(most)
    yield v[most, feature], f"That is the value of “{most_named}” itself, before it is multiplied by its share."
    yield v[:, feature].sum(), "That is the sum of all values, as if each share were 1."
    yield v[:, feature].mean(), "That is the mean of all values, as if all shares were alike."
    if shares.shape[0] == shares.shape[1]:
        yield shares[:, query] @ v[:, feature], "That takes a column of shares: the shares of a word are its row."


def _of_sum(of: Reference, layer: int) -> Iterator[WrongAnswer]:
    if len(of.stage.inputs) != 2:
        return
    before, added = (of.trace[name].value[of.index] for name in of.stage.inputs)
    yield added, "That is what is added alone, without what was there before."
    yield before, "That is what was there before, with nothing added."
    yield before * added, "That is the product: the two are added."
    yield before - added, "That is the difference: the two are added."


def _of_probabilities(of: Reference, layer: int) -> Iterator[WrongAnswer]:
    row = of.stage.value[of.index[0]]
    yield 1 / len(row), "That is an even share: each answer would be as probable."
    first, second = np.argsort(-row)[:2]
    for which, place in (("most", first), ("second most", second)):
        yield row[place], f"That is how probable “{of.label(1, int(place))}” is, the {which} probable answer."


def _of_any(of: Reference) -> Iterator[WrongAnswer]:
    if noun(of.stage.name) not in ("share", "probability"):
        yield -of.cell.value, "The size is right; the sign is not."
    if of.stage.axes[0] == "head":
        for head in range(of.stage.shape[0]):
            if head != of.index[0]:
                yield of.stage.value[(head, *of.index[1:])], f"That is the number of head {head + 1}."
