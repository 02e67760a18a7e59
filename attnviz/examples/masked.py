"""Worked example 001: self-attention with and without a causal mask, and the variance of its scores."""

from functools import cache

import numpy as np

from attnviz.core.attention import attend_projected
from attnviz.core.masks import causal
from attnviz.core.operations.softmax import Softmax
from attnviz.core.selection import Selection
from attnviz.core.trace import Trace
from attnviz.examples.example import Example, Mistake, Side, Variant, unshifted_softmax
from attnviz.examples.printout import print_outs, published

WORDS = ("I", "live", "in", "Montreal")
SHAPE = (len(WORDS), 8)
Q, K = (published("001", name).reshape(SHAPE) for name in "qk")
VISIBLE = causal(len(WORDS), len(WORDS), 0)
V_ERROR = 2.5e-7
"""The largest error of a rebuilt number of V: the most that 4,000 ways to undo the prints' rounding moved one."""


@cache
def rebuilt_v() -> np.ndarray:
    """V: its first 14 numbers as printed, the other 18 from the printed product of attention and V.

    The notebook sets no seed, and its export cuts V off. But attention times V is printed whole, and attention follows
    from Q and K: each column of V is the solution of 4 equations, by least squares as some of its numbers are known.
    """
    attention = attend_projected(Q[None], K[None], np.zeros((1, *SHAPE)))["attention"].value[0]
    printed = published("001", "v")
    v = np.concatenate([printed, np.full(Q.size - printed.size, np.nan)]).reshape(SHAPE)
    for column, mixed in zip(v.T, published("001", "output without the mask").reshape(SHAPE).T, strict=True):
        lost = np.isnan(column)
        column[lost] = np.linalg.lstsq(attention[:, lost], mixed - attention[:, ~lost] @ column[~lost], rcond=None)[0]
    return v


def _pass(mask: np.ndarray | None) -> Trace:
    return (
        attend_projected(Q[None], K[None], rebuilt_v()[None], mask=mask)
        .with_sources(
            {
                "q": "as printed, to 8 decimals; drawn from N(0, 1) without a seed",
                "k": "as printed, to 8 decimals; drawn from N(0, 1) without a seed",
                "v": "the first 14 numbers as printed; the others rebuilt from the printed output, "
                f"to within {V_ERROR:.1e}",
                **({} if mask is None else {"mask": "causal: 0 where visible, −∞ elsewhere"}),
            }
        )
        .labelled(query=WORDS, key=WORDS)
    )


def _variances(stage: str) -> list[float]:
    return [WITHOUT.trace[each].value.var() for each in ("q", "k", stage)]


def _transposed_softmax(scores: np.ndarray) -> np.ndarray:
    """The notebook's softmax: `.T` reverses all axes, so a batch is divided by the wrong sums."""
    exponentials = np.exp(scores)
    return (exponentials.T / exponentials.sum(axis=-1)).T


def _batch() -> np.ndarray:
    """The scaled scores of four copies of the sentence."""
    return np.repeat(WITHOUT.trace["scaled"].value, 4, axis=0)


WITHOUT = Variant("without", "Without the mask", "Every word sees every word.", lambda: _pass(None))
WITH = Variant(
    "with", "With the mask", "A word sees itself and the words before it.", lambda: _pass(np.where(VISIBLE, 0, -np.inf))
)

EXAMPLE = Example(
    id="001",
    title="A causal mask hides the words to come",
    summary="Under a causal mask each word shares its attention among itself and the words before it.",
    description=(
        "Four words whose queries, keys and values are drawn at random. Open both passes at the softmax: without the "
        "mask “I” looks at all four words, and under it at itself alone, with all of its attention."
    ),
    step="softmax",
    selection=Selection(query=0, key=0),
    source=(
        "Figures of the notebook 001_ab56b4d8c2d5028b (self-attention on “I live in Montreal”), author not named. V is "
        f"cut off in its export: 18 of the 32 numbers are rebuilt, to within {V_ERROR:.1e}."
    ),
    variants=(WITHOUT, WITH),
    print_outs=print_outs(
        "001",
        {
            "number of vectors, in words": lambda: len("qkv"),
            **{f"{each}{again}": WITHOUT.cells(each) for again in ("", ", printed again") for each in "qkv"},
            "scores": WITHOUT.cells("scores"),
            "variances of q, k and scores": lambda: _variances("scores"),
            "variances of q, k and scaled": lambda: _variances("scaled"),
            "variance of scaled, from the printed variance of scores": lambda: (
                published("001", "variances of q, k and scores")[2] / 8
            ),
            "scaled": WITHOUT.cells("scaled"),
            "scaled, from the printed scores": lambda: published("001", "scores") / np.sqrt(8),
            "mask as 1 and 0": lambda: VISIBLE,
            "mask as 0 and -inf": WITH.cells("mask"),
            "masked": WITH.cells("masked"),
            "attention without the mask": WITHOUT.cells("attention"),
            "attention with the mask": WITH.cells("attention"),
            "output without the mask": WITHOUT.cells("concat"),
            "last row of the output with the mask": WITH.cells("concat", -1),
        },
    ),
    mistakes=(
        Mistake(
            "The output was made with the unmasked attention",
            "Right after masking, the notebook multiplies V by the attention from before the mask. All rows but the "
            "last then mix in words that come later. The second word:",
            WITH,
            "masked",
            Side("output of “live”, as printed", WITHOUT.cells("concat", 1)),
            Side("output of “live” under the mask", WITH.cells("concat", 1)),
        ),
        Mistake(
            "The first word does not look at the third",
            "From the largest raw score, 5.133, the notebook concludes that “I” looks most at “in”. Under the mask "
            "that the notebook makes later, “I” sees itself alone.",
            WITH,
            "masked",
            Side("attention of “I” without the mask", WITHOUT.cells("attention", 0, 0)),
            Side("attention of “I” with the mask", WITH.cells("attention", 0, 0)),
        ),
        Mistake(
            "Softmax without its shift overflows",
            "exp(1000) is more than a float64 holds. Subtracting the row's largest score first changes no share and "
            "cannot overflow. For the scores 1000 and 999:",
            WITHOUT,
            "attention",
            Side("exp over sum of exp", lambda: unshifted_softmax([1000, 999])),
            Side("shifted by the maximum", lambda: Softmax().compute(np.array([1000.0, 999.0]))),
        ),
        Mistake(
            ".T turns all axes round",
            "On one matrix .T swaps rows and columns. On a batch it reverses every axis, so that each row is divided "
            "by the sum of another row, without an error. Row sums of four copies of this sentence, the first copy:",
            WITHOUT,
            "attention",
            Side("row sums, transposed by .T", lambda: _transposed_softmax(_batch())[0].sum(axis=-1)),
            Side("row sums along the last axis", lambda: Softmax().compute(_batch())[0].sum(axis=-1)),
        ),
    ),
)
