"""Worked example 000: cross-attention between two sentences of one-hot vectors."""

import random
from dataclasses import replace

import numpy as np

from attnviz.core.attention import attend
from attnviz.core.parameters import Parameters
from attnviz.core.tokens import labels
from attnviz.core.trace import Trace
from attnviz.examples.example import Example, Mistake, Side, Variant
from attnviz.examples.printout import print_outs

VOCABULARY = 10
_floats = np.random.RandomState(57)
PARAMETERS = Parameters(*(_floats.random_sample((1, VOCABULARY, VOCABULARY)) for _ in range(3)))
_whole = random.Random(57)
WORD, *_ids = (_whole.randint(0, VOCABULARY - 1) for _ in range(1 + 8 + 13))
KEYS, QUERIES = _ids[:8], _ids[8:]


def one_hot(ids: list[int]) -> np.ndarray:
    """A row for each id: 1 at its place, 0 elsewhere."""
    return np.eye(VOCABULARY)[ids]


def _pass(queries: list[int], parameters: Parameters = PARAMETERS, scale: float | None = None) -> Trace:
    words, context = (labels([f"word {each}" for each in ids]) for ids in (queries, KEYS))
    drawn = "np.random.rand(10, 10) after np.random.seed(57), drawn"
    return (
        attend(one_hot(queries), one_hot(KEYS), parameters=parameters, scale=scale)
        .with_sources(
            {
                "x": "one-hot: 1 at the word's id, which random.randint draws after random.seed(57)",
                "context": "one-hot, of the other sentence; its ids are drawn before those of the queries",
                "w_q": f"{drawn} first",
                "w_k": f"{drawn} second",
                "w_v": f"{drawn} third",
            }
        )
        .labelled(token=words, query=words, context_token=context, key=context)
    )


def _word() -> Trace:
    """The one word that the notebook projects before there are sentences."""
    return attend(one_hot([WORD]), parameters=PARAMETERS)


def _narrowed(*names: str) -> Parameters:
    """The parameters, some of them with their first 4 columns only."""
    return replace(PARAMETERS, **{name: getattr(PARAMETERS, name)[..., :4] for name in names})


def _shapes(*stages: str) -> list[int]:
    """The rows and columns of stages of the sentence's pass, one after the other."""
    return [length for stage in stages for length in SENTENCE.trace[stage].shape[-2:]]


def _scaled(scale: float | None) -> np.ndarray:
    """The scaled scores of the first query where queries and keys have 4 features."""
    return _pass(QUERIES, _narrowed("w_q", "w_k"), scale)["scaled"].value[0, 0]


SENTENCE = Variant(
    "sentence", "All 13 words", "13 queries look at the 8 keys of another sentence.", lambda: _pass(QUERIES)
)
ONE_WORD = Variant("word", "One word", "The first query alone: one row of every stage.", lambda: _pass(QUERIES[:1]))

EXAMPLE = Example(
    id="000",
    title="A projection looks up a row",
    summary="Where words are one-hot vectors, to multiply by a matrix is to look up one of its rows.",
    description=(
        "13 words of one sentence ask, 8 words of another answer. Each word is a 1 among nine zeros, so its query, key "
        "and value are rows of W_Q, W_K and W_V as they stand: find them in the step “Q, K, V”."
    ),
    step="qkv",
    trained="translator",
    source=(
        "Figures of the notebook “Writing attention from scratch using Numpy and Scipy” (Language Model, "
        "Sophie Katz, 2023; GPL-3.0-or-later). None of its code or text is used."
    ),
    variants=(ONE_WORD, SENTENCE),
    print_outs=print_outs(
        "000",
        {
            "one-hot vectors of two words": lambda: [*np.eye(1)[0], *one_hot([3])[0]],
            "word index": lambda: WORD,
            "one-hot vector of the word": lambda: _word()["x"].value,
            "shapes of the word, of W_Q and of the query": lambda: [
                *_word()["x"].shape[1:],
                *_word()["w_q"].shape[1:],
                *_word()["q"].shape[2:],
            ],
            "query of the word": lambda: _word()["q"].value,
            "key of the word": lambda: _word()["k"].value,
            "value of the word": lambda: _word()["v"].value,
            "queries of the sentence": SENTENCE.cells("q"),
            "score of query 1 and key 1": ONE_WORD.cells("scores", 0, 0, 0),
            "scores of query 1": ONE_WORD.cells("scores"),
            "attention of query 1": ONE_WORD.cells("attention"),
            "output of query 1": ONE_WORD.cells("concat"),
            "number of the keys' words, and shapes": lambda: [len(KEYS), VOCABULARY, *_shapes("context")],
            "one-hot vectors of the keys' sentence": SENTENCE.cells("context"),
            "shapes of the queries' sentence, of W_Q and of Q": lambda: _shapes("x", "w_q", "q"),
            "shapes of Q, K and the scores": lambda: _shapes("q", "k", "scores"),
            "shape of the attention": lambda: _shapes("attention"),
            "shape of the output": lambda: _shapes("concat"),
            "output": SENTENCE.cells("concat"),
            "output, from the function": SENTENCE.cells("concat"),
        },
    ),
    mistakes=(
        Mistake(
            "Raw scores are not the attention matrix",
            "The notebook calls Q K^T the attention matrix. Those are scores: not scaled, not normalised, and their "
            "rows add up to anything. Attention is what softmax makes of them, and its rows add up to 1.",
            SENTENCE,
            "attention",
            Side("row sums of the scores", lambda: SENTENCE.trace["scores"].value[0].sum(axis=-1)),
            Side("row sums of the attention", lambda: SENTENCE.trace["attention"].value[0].sum(axis=-1)),
        ),
        Mistake(
            "The scale is sqrt(d_k), not the root of the vocabulary's size",
            "The two are equal here only because the matrices are 10 × 10. With queries and keys of 4 features the "
            "vocabulary's root would shrink every score too much.",
            SENTENCE,
            "scaled",
            Side("first row over sqrt(10), d_k = 4", lambda: _scaled(1 / np.sqrt(VOCABULARY))),
            Side("first row over sqrt(4), d_k = 4", lambda: _scaled(None)),
        ),
        Mistake(
            "The output is as wide as a value, not as the vocabulary",
            "The notebook's function insists that values are as long as queries. Only queries and keys must match; "
            "values may have any length d_v, and the output has it too. With values of 4 features:",
            SENTENCE,
            "heads",
            Side("shape that the notebook insists on", lambda: (len(QUERIES), VOCABULARY)),
            Side("shape of the output", lambda: _pass(QUERIES, _narrowed("w_v"))["concat"].shape),
        ),
        Mistake(
            "K and V share their source, not their numbers",
            "The notebook takes K and V for one thing, as a rule. They come from the same words, but through different "
            "matrices, in this notebook too: K in place of V gives another output of the first query.",
            SENTENCE,
            "v",
            Side(
                "output of the first query, K in place of V",
                lambda: _pass(QUERIES, replace(PARAMETERS, w_v=PARAMETERS.w_k))["concat"].value[0],
            ),
            Side("output of the first query", SENTENCE.cells("concat", 0)),
        ),
    ),
)
