"""Batches: an operation of several sentences at once makes of each what it makes of it alone."""

import numpy as np
import pytest
from kinds import OPERATIONS

from attnviz.core.operations.activations import GELU, ReLU
from attnviz.core.operations.linear import (
    Addition,
    Concatenation,
    Contributions,
    DotProducts,
    HeadProjection,
    Identity,
    Projection,
    WeightedSum,
)
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.operations.online_softmax import LastQuotient, RunningMaximum, RunningOutput, RunningSum
from attnviz.core.operations.rotation import Rotation
from attnviz.core.operations.scores import ALiBi, Hide, Scale, Softcap
from attnviz.core.operations.softmax import SinkShare, Softmax, SumNormalise

SENTENCES, HEADS, QUERIES, KEYS, WIDTH, COLUMNS = 7, 2, 3, 5, 11, 13
draw = np.random.default_rng(2).standard_normal
VISIBLE = np.tri(QUERIES, KEYS, k=1, dtype=bool)
VISIBLE_TO_HEADS = np.array([VISIBLE, np.zeros_like(VISIBLE)])  # no query of the second head sees a key
ADDED = np.where(VISIBLE, draw(VISIBLE.shape), -np.inf)


def of_each(*shape):
    """Numbers for a batch of sentences."""
    return draw((SENTENCES, *shape))


SCORES = of_each(HEADS, QUERIES, KEYS)
HIDDEN = np.where(VISIBLE_TO_HEADS, SCORES, -np.inf)

# an operation, its inputs, and how many of them belong to each sentence; the others are the same for all
SUNK = draw(HEADS)
CASES = {
    "x is q": (Identity("query"), [of_each(QUERIES, WIDTH)], 1),
    "x is q of each head": (Identity("query", HEADS), [of_each(QUERIES, WIDTH)], 1),
    "positions": (Addition(), [of_each(QUERIES, WIDTH), draw((QUERIES, WIDTH))], 1),
    "residual": (Addition(), [of_each(QUERIES, WIDTH), of_each(QUERIES, WIDTH)], 2),
    "added mask": (Addition(hides=True), [SCORES, ADDED], 1),
    "added mask of each head": (Addition(hides=True), [SCORES, np.array([ADDED, ADDED + 1])], 1),
    "projection of each head": (Projection("query"), [of_each(QUERIES, WIDTH), draw((HEADS, WIDTH, COLUMNS))], 1),
    "projection and bias of each head": (
        Projection("query"),
        [of_each(QUERIES, WIDTH), draw((HEADS, WIDTH, COLUMNS)), draw((HEADS, COLUMNS))],
        1,
    ),
    "output": (Projection("query"), [of_each(QUERIES, WIDTH), draw((WIDTH, COLUMNS))], 1),
    "output and bias": (Projection("query"), [of_each(QUERIES, WIDTH), draw((WIDTH, COLUMNS)), draw(COLUMNS)], 1),
    "scores": (DotProducts(), [of_each(HEADS, QUERIES, WIDTH), of_each(HEADS, KEYS, WIDTH)], 2),
    "scaled": (Scale(WIDTH), [SCORES], 1),
    "masked": (Hide(), [SCORES, VISIBLE], 1),
    "masked by a mask of each head": (Hide(), [SCORES, VISIBLE_TO_HEADS], 1),
    "attention": (Softmax(), [HIDDEN], 1),
    "probabilities": (Softmax(), [of_each(QUERIES, COLUMNS)], 1),
    "sum normalisation": (SumNormalise(), [np.where(VISIBLE_TO_HEADS, np.abs(SCORES) + 1, -np.inf)], 1),
    "norm": (RMSNorm(), [of_each(QUERIES, WIDTH)], 1),
    "layer norm": (LayerNorm(), [of_each(QUERIES, WIDTH), draw(WIDTH), draw(WIDTH)], 1),
    "firing": (ReLU(), [of_each(QUERIES, WIDTH)], 1),
    "firing, squared": (ReLU(squared=True), [of_each(QUERIES, WIDTH)], 1),
    "nearly firing": (GELU(), [of_each(QUERIES, WIDTH)], 1),
    "heads": (WeightedSum(), [SCORES, of_each(HEADS, KEYS, WIDTH)], 2),
    "scores of groups": (DotProducts(2), [of_each(4, QUERIES, WIDTH), of_each(2, KEYS, WIDTH)], 2),
    "heads of groups": (WeightedSum(2), [of_each(4, QUERIES, KEYS), of_each(2, KEYS, WIDTH)], 2),
    "keys of latents": (HeadProjection(4), [of_each(1, KEYS, WIDTH), draw((4, WIDTH, COLUMNS))], 1),
    "absorbed queries": (
        HeadProjection(transposed=True),
        [of_each(HEADS, QUERIES, WIDTH), draw((HEADS, COLUMNS, WIDTH))],
        1,
    ),
    "attention beside sinks": (Softmax(), [HIDDEN, draw(HEADS)], 1),
    "share of the sinks": (SinkShare(), [HIDDEN, draw(HEADS)], 1),
    "maximum so far": (RunningMaximum(2), [HIDDEN], 1),
    "maximum so far and sinks": (RunningMaximum(2), [HIDDEN, SUNK], 1),
    "sum so far": (RunningSum(2), [HIDDEN, RunningMaximum(2).compute(HIDDEN)], 2),
    "sum so far and sinks": (RunningSum(2), [HIDDEN, RunningMaximum(2).compute(HIDDEN, SUNK), SUNK], 2),
    "output so far": (RunningOutput(2), [HIDDEN, RunningMaximum(2).compute(HIDDEN), of_each(HEADS, KEYS, WIDTH)], 3),
    "over the last": (LastQuotient(), [of_each(HEADS, QUERIES, KEYS, WIDTH), np.exp(SCORES)], 2),
    "capped": (Softcap(0.5), [SCORES], 1),
    "biased": (ALiBi(HEADS), [SCORES], 1),
    "rotated": (Rotation(dims=WIDTH - 1), [of_each(HEADS, QUERIES, WIDTH - 1)], 1),
    "rotated halves of a part": (Rotation(9.0, "halves", 4, 2), [of_each(HEADS, QUERIES, 8)], 1),
    "norm of queries": (RMSNorm(), [of_each(HEADS, QUERIES, WIDTH), draw(WIDTH)], 1),
    "concatenation": (Concatenation(), [of_each(HEADS, QUERIES, WIDTH)], 1),
    "contributions": (Contributions(), [of_each(HEADS, QUERIES, WIDTH), draw((HEADS * WIDTH, COLUMNS))], 1),
}


def alone(inputs, own, sentence):
    return [array[sentence] if place < own else array for place, array in enumerate(inputs)]


def test_every_operation_is_here():
    assert {type(operation) for operation, _, _ in CASES.values()} == OPERATIONS


@pytest.mark.parametrize(("operation", "inputs", "own"), CASES.values(), ids=CASES)
def test_each_sentence_of_a_batch_is_computed_as_if_alone(operation, inputs, own):
    together = operation.compute(*inputs)
    expected = [operation.compute(*alone(inputs, own, n)) for n in range(SENTENCES)]
    assert together.shape == np.shape(expected)
    np.testing.assert_allclose(together, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("operation", "inputs", "own"), CASES.values(), ids=CASES)
def test_what_is_shared_gets_the_sum_of_the_sentences_derivatives(operation, inputs, own):
    upstream = draw(operation.compute(*inputs).shape)
    together = operation.vjp(upstream, *inputs)
    expected = [operation.vjp(upstream[n], *alone(inputs, own, n)) for n in range(SENTENCES)]
    for place, (found, each) in enumerate(zip(together, zip(*expected, strict=True), strict=True)):
        if found is None:
            assert each == (None,) * SENTENCES
        else:
            assert found.shape == inputs[place].shape
            wanted = np.array(each) if place < own else np.sum(each, axis=0)
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
