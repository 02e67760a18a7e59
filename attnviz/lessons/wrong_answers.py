"""Wrong answers: numbers that learners may mistake for a cell's, each with an explanation, computed from the pass."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attnviz.contract.lesson import LessonRuns
from attnviz.core.operations.linear import DotProducts, repeat_groups
from attnviz.core.operations.scores import Scale
from attnviz.core.operations.softmax import Softmax
from attnviz.core.stage import name_in_layer, split_layer
from attnviz.lessons.cell_reference import Reference, noun
from attnviz.lessons.slots import softmax

WrongAnswer = tuple[float, str | LessonRuns]  # a number, and a sentence on it, with a slot {number}


def wrong_answers(ref: Reference) -> list[tuple[float, str]]:
    """Likely wrong numbers for a cell, the likeliest first, with a sentence on each, whose slot {number} is it."""
    name, layer = split_layer(ref.stage.name)
    answers = [*(_OF_STAGE[name](ref, layer) if name in _OF_STAGE else ()), *_of_any(ref)]
    return [(float(value), text) for value, text in answers if np.isfinite(value)]


def _of_scores(ref: Reference, layer: int) -> Iterator[WrongAnswer]:
    head, query, key = ref.index
    yield ref.trace[name_in_layer("scaled", layer)].value[ref.index], "{number} is the score after scaling."
    words = (ref.trace.words(ref.stage.name, axis) for axis in ("query", "key"))
    if ref.stage.shape[1] == ref.stage.shape[2] and len({*words}) == 1:  # words of one text
        one, other = ref.label(1, key), ref.label(2, query)
        yield (
            ref.stage.value[head, key, query],
            f"{{number}} is the score of “{one}” with “{other}”: the query of the one, the key of the other.",
        )
    if isinstance(ref.stage.operation, DotProducts):  # rather than the sum of two scores
        q, k = (each.value for each in ref.trace.inputs(ref.stage.name))
        q, k = q[head, query], repeat_groups(k, ref.stage.operation.shared_by)[head, key]
        yield q[0] * k[0], "{number} is the product in dimension 1 alone: add up those of all dimensions."
        yield q.sum() * k.sum(), "{number} is the product of two sums: multiply dimension by dimension first."


def _of_scaled(ref: Reference, layer: int) -> Iterator[WrongAnswer]:
    score = ref.trace[name_in_layer("scores", layer)].value[ref.index]
    yield score, "{number} is the score before scaling."
    scale = ref.stage.operation
    if isinstance(scale, Scale) and scale.factor is None:
        yield score / scale.d_k, "{number} is the score divided by $d_k$, not by its root."


def _of_attention(ref: Reference, layer: int) -> Iterator[WrongAnswer]:
    head, query, key = ref.index
    masked = ref.trace[ref.stage.inputs[0]].value[head]
    row, visible = masked[query], np.isfinite(masked[query])
    if not visible.any():
        return  # all weights are 0
    yield 1 / visible.sum(), "{number} is an even weight: each visible word would get as much."
    if row[key] > 0:
        part = row[key] / row[visible & (row > 0)].sum()
        yield part, "{number} is the part of the sum of positive scores: the softmax divides powers of e."
    if isinstance(ref.stage.operation, Softmax) and len(ref.stage.inputs) == 1:  # without a sink
        if visible[key]:
            text = "{number} is the part of the column. The weights of a word are a row, which adds up to 1."
            yield softmax(masked[:, key])[query], text
        if _is_divided_alone(ref, layer):
            raw = ref.trace[name_in_layer("scores", layer)].value[head, query]
            unscaled = np.where(visible, raw, -np.inf)
            yield softmax(unscaled)[key], "{number} is the weight from scores that are not divided by √$d_k$."
    weights = ref.stage.value[head, query]
    for which, other in zip(("largest", "second largest"), np.argsort(-weights), strict=False):
        yield weights[other], f"{{number}} is what “{ref.label(2, int(other))}” has, the {which} weight."


def _is_divided_alone(ref: Reference, layer: int) -> bool:
    """Whether nothing but the division by √d_k and the mask lies between scores and masked scores."""
    before, mask = ref.trace.inputs(ref.stage.inputs[0])
    is_divided = isinstance(before.operation, Scale) and before.operation.factor is None
    return is_divided and before.name == name_in_layer("scaled", layer) and mask.value.dtype == bool


def _of_heads(ref: Reference, layer: int) -> Iterator[WrongAnswer]:
    head, query, feature = ref.index
    if name_in_layer("v", layer) not in ref.trace:
        return  # absorbed: no value is made
    weights, values = (ref.trace[name_in_layer(each, layer)].value for each in ("attention", "v"))
    weights, v = weights[head], repeat_groups(values, len(weights) // len(values))[head]
    most = int(weights[query].argmax())
    word = ref.trace.axes(name_in_layer("v", layer))[1].label(most)
    yield v[most, feature], f"{{number}} is the value of “{word}” itself, before it is multiplied by its weight."
    yield v[:, feature].sum(), "{number} is the sum of all values, as if each weight were 1."
    yield v[:, feature].mean(), "{number} is the mean of all values, as if all weights were alike."
    if weights.shape[0] == weights.shape[1]:
        yield (
            weights[:, query] @ v[:, feature],
            "{number} comes from a column of weights: the weights of a word are its row.",
        )


def _of_sum(ref: Reference, layer: int) -> Iterator[WrongAnswer]:
    if len(ref.stage.inputs) != 2:
        return
    before, added = (ref.trace[name].value[ref.index] for name in ref.stage.inputs)
    yield added, "{number} is what is added alone, without what was there before."
    yield before, "{number} is what was there before, with nothing added."
    yield before * added, "{number} is the product: the two are added."
    yield before - added, "{number} is the difference: the two are added."


def _of_probabilities(ref: Reference, layer: int) -> Iterator[WrongAnswer]:
    row = ref.stage.value[ref.index[0]]
    yield 1 / len(row), "{number} is an even share: each answer would be as probable."
    first, second = np.argsort(-row)[:2]
    for which, place in (("most", first), ("second most", second)):
        yield row[place], f"{{number}} is how probable “{ref.label(1, int(place))}” is, the {which} probable answer."


def _of_any(ref: Reference) -> Iterator[WrongAnswer]:
    if noun(ref.stage.name) not in ("attention weight", "probability"):
        yield -ref.cell.value, "The size is right; the sign is not."
    if ref.stage.axes[0] == "head":
        for head in range(ref.stage.shape[0]):
            if head != ref.index[0]:
                yield ref.stage.value[(head, *ref.index[1:])], f"{{number}} is the number of head {head + 1}."


_OF_STAGE = {  # the wrong answers for a cell of each stage
    "scores": _of_scores,
    "scaled": _of_scaled,
    "attention": _of_attention,
    "heads": _of_heads,
    **dict.fromkeys(("x", "embedded", "residual", "mlp_residual"), _of_sum),
    "probabilities": _of_probabilities,
}
