"""Worked example 002: self-attention without parameters, with random ones, as nn.Linear; and two more of ours."""

import math
from functools import partial

import numpy as np

from attnviz.core.attention import attend
from attnviz.core.masks import causal
from attnviz.core.operations.softmax import SumNormalise
from attnviz.core.parameters import Parameters
from attnviz.core.rng import torch_linear, torch_rand, torch_seeded
from attnviz.core.trace import Trace
from attnviz.examples.example import Example, Mistake, Side, Variant
from attnviz.examples.printout import print_outs

WORDS = ("Your", "journey", "starts", "with", "one", "step")
X = np.array(
    [
        [0.43, 0.15, 0.89],
        [0.55, 0.87, 0.66],
        [0.57, 0.85, 0.64],
        [0.22, 0.58, 0.33],
        [0.77, 0.25, 0.10],
        [0.05, 0.80, 0.55],
    ]
)
D_OUT = 2
CAUSAL_MASK = causal(len(WORDS), len(WORDS), 0)
RAND = "torch.rand(3, 2) after torch.manual_seed(123)"
LINEAR = "the weight of nn.Linear(3, 2), transposed, after torch.manual_seed(%d)"


def uniform(seed: int) -> Parameters:
    """W_Q, W_K and W_V by `torch.rand`, in this order."""
    random = torch_seeded(seed)
    return Parameters(*(torch_rand(random, (1, X.shape[1], D_OUT)) for _ in range(3)))


def linear(seed: int, n_heads: int = 1) -> Parameters:
    """W_Q, W_K and W_V of each head as the weights of new `nn.Linear`, in this order."""
    random = torch_seeded(seed)
    drawn = [[torch_linear(random, X.shape[1], D_OUT).T for _ in range(3)] for _ in range(n_heads)]
    return Parameters(*np.swapaxes(drawn, 0, 1))


def _pass(parameters: Parameters, recipe: str = "", mask: np.ndarray | None = None, **options) -> Trace:
    return (
        attend(X, parameters=parameters, mask=mask, **options)
        .with_sources(
            {
                "x": "typed in the notebook",
                **dict.fromkeys(("w_q", "w_k", "w_v"), recipe),
                **({} if mask is None else {"mask": "causal: a word sees no later word"}),
            }
        )
        .labelled(token=WORDS, query=WORDS, key=WORDS)
    )


def _products(trace: Trace, stage: str, *index: int) -> list[float]:
    """The terms of a cell that are added up."""
    return [math.prod(cell.value for cell in product) for product in trace.terms(stage, index).lines]


def _word_products() -> list[tuple[float, ...]]:
    products = np.round(_products(SOFTMAX.trace, "scores", 0, 0, 1), 2)
    return [(i, a, i, b, product) for i, (a, b, product) in enumerate(zip(X[0], X[1], products, strict=True), 1)]


def _projection_products() -> list[tuple[float, ...]]:
    products = np.transpose([_products(V1.trace, "q", 0, 1, column) for column in range(D_OUT)])
    rows = zip(X[1], V1.trace["w_q"].value[0], products, strict=True)
    return [(i, entry, i, *row, i, *product) for i, (entry, row, product) in enumerate(rows, 1)]


def _part(key: int) -> list[float]:
    return [_products(SOFTMAX.trace, "heads", 0, 1, feature)[key] for feature in range(X.shape[1])]


SOFTMAX = Variant(
    "softmax",
    "No parameters, softmax",
    "Each word's vector is its own query, key and value; the scores are not scaled.",
    lambda: _pass(Parameters(), scale=1.0),
)
SUMMED = Variant(
    "sum",
    "No parameters, sum-normalised",
    "The same scores, divided by the sum of their row instead of softmax.",
    lambda: _pass(Parameters(), scale=1.0, normalise=SumNormalise),
)
V1 = Variant(
    "v1",
    "Parameters of torch.rand",
    "Three matrices of numbers from 0 to 1; the notebook's SelfAttention_v1.",
    lambda: _pass(uniform(123), RAND),
)
V2 = Variant(
    "v2",
    "Parameters of nn.Linear",
    "Three layers without bias; the notebook's SelfAttention_v2.",
    lambda: _pass(linear(789), LINEAR % 789),
)
CAUSAL = Variant(
    "causal",
    "With a causal mask",
    "Parameters of nn.Linear, no word seeing the words after it.",
    lambda: _pass(linear(789), LINEAR % 789, CAUSAL_MASK),
    ours=True,
)
MULTIHEAD = Variant(
    "multihead",
    "With two heads",
    "Two causal heads side by side, each with parameters of its own.",
    lambda: _pass(linear(123, n_heads=2), LINEAR % 123 + ", head after head", CAUSAL_MASK),
    ours=True,
)

EXAMPLE = Example(
    id="002",
    title="Attention needs no parameters, but gains from them",
    summary="Word vectors alone make attention; parameters let a word look for something else than what resembles it.",
    description=(
        "Six words of 3 numbers each. Without parameters a score is the dot product of two words' own vectors; with "
        "W_Q, W_K and W_V it is the dot product of a query and a key. A causal mask and a second head "
        "follow on the same words."
    ),
    step="scores",
    source=(
        "Figures of the notebook 002_a7dddf12ab08f2cd, author not named; its six words and their vectors are those of "
        "Raschka 2024, “Build a Large Language Model (From Scratch)”, chapter 3. It promises four variants that build "
        "on each other; the two it leaves out, causal and multi-head, are added here."
    ),
    variants=(SUMMED, SOFTMAX, V1, V2, CAUSAL, MULTIHEAD),
    print_outs=print_outs(
        "002",
        {
            "scores of query 2": SOFTMAX.cells("scores", 0, 1),
            "products of words 1 and 2": _word_products,
            "sum of the products": lambda: sum(_products(SOFTMAX.trace, "scores", 0, 0, 1)),
            "score of words 1 and 2": SOFTMAX.cells("scores", 0, 0, 1),
            "attention of query 2, sum-normalised": SUMMED.cells("attention", 0, 1),
            "sum of the attention, sum-normalised": lambda: SUMMED.trace["attention"].value[0, 1].sum(),
            "attention of query 2, softmax": SOFTMAX.cells("attention", 0, 1),
            "sum of the attention, softmax": lambda: SOFTMAX.trace["attention"].value[0, 1].sum(),
            "output of query 2": SOFTMAX.cells("concat", 1),
            "vector of word 1": SOFTMAX.cells("x", 0),
            "attention of query 2 to word 1": SOFTMAX.cells("attention", 0, 1, 0),
            **{f"word {i + 1}'s part of the output of query 2": partial(_part, i) for i in range(len(WORDS))},
            "scores, by loops": SOFTMAX.cells("scores"),
            "scores, by matrix product": SOFTMAX.cells("scores"),
            "attention, softmax": SOFTMAX.cells("attention"),
            "output": SOFTMAX.cells("concat"),
            "w_q of SelfAttention_v1": V1.cells("w_q"),
            "query 2 of SelfAttention_v1": V1.cells("q", 0, 1),
            "projection of query 2, row by row": _projection_products,
            "projection of query 2, summed": V1.cells("q", 0, 1),
            "shapes of K and V of SelfAttention_v1": lambda: [V1.trace[each].shape[1:] for each in "kv"],
            "score of words 2 and 2 of SelfAttention_v1": V1.cells("scores", 0, 1, 1),
            "scores of query 2 of SelfAttention_v1": V1.cells("scores", 0, 1),
            "attention of query 2 of SelfAttention_v1": V1.cells("attention", 0, 1),
            "output of query 2 of SelfAttention_v1": V1.cells("concat", 1),
            "output of SelfAttention_v1": V1.cells("concat"),
            "output of SelfAttention_v2": V2.cells("concat"),
        },
    ),
    mistakes=(
        Mistake(
            "Rounded products do not add up to the sum beside them",
            "The products of the first dot product are rounded to 2 decimals and printed with 3: 0.240, 0.130, 0.590. "
            "A reader who adds them up does not get the 0.9544 below. Round what is drawn, never what is added.",
            SOFTMAX,
            "scores",
            Side("sum of the printed products", lambda: sum(row[-1] for row in _word_products())),
            Side("sum of the products", SOFTMAX.cells("scores", 0, 0, 1)),
        ),
        Mistake(
            "Dividing by the sum needs positive scores",
            "Dividing works in this notebook only because every number of the input is positive. The scores of "
            "SelfAttention_v2 are not: the first word's shares would be negative for “with” and “step”.",
            V2,
            "attention",
            Side(
                "“Your”, scores over their sum",
                lambda: _pass(linear(789), normalise=SumNormalise)["attention"].value[0, 0],
            ),
            Side("“Your”, softmax", V2.cells("attention", 0, 0)),
        ),
        Mistake(
            "The scale is the root of d_k, not of the embedding's length",
            "The text divides by the square root of the embedding dimension, which is 3. The keys have 2 features, and "
            "the code divides by sqrt(2). The second word:",
            V1,
            "scaled",
            Side("scores over sqrt(3)", lambda: _pass(uniform(123), scale=3**-0.5)["scaled"].value[0, 1]),
            Side("scores over sqrt(2)", V1.cells("scaled", 0, 1)),
        ),
        Mistake(
            "nn.Linear is another distribution, not only another seed",
            "The two classes are said to differ by their initial numbers. torch.rand draws from 0 to 1, nn.Linear from "
            "−0.577 to 0.577: even from the same seed, 789, the outputs have nothing in common. The first word:",
            V2,
            "w_q",
            Side("torch.rand from 789", lambda: _pass(uniform(789))["concat"].value[0]),
            Side("nn.Linear from 789", V2.cells("concat", 0)),
        ),
    ),
)
