"""Worked example 004: one query with biases, as in Algorithm 3 of "Formal Algorithms for Transformers"."""

import numpy as np

from attnviz.core.attention import attend
from attnviz.core.operations.softmax import Softmax, SumNormalise
from attnviz.core.parameters import Parameters
from attnviz.core.trace import Trace
from attnviz.examples.example import Example, Mistake, Side, Variant, unshifted_softmax
from attnviz.examples.printout import print_outs

D = 10
CURRENT = np.ones((1, D))
CONTEXT = np.repeat([[2.0], [3.0], [4.0]], D, axis=1)
NO_BIAS = np.zeros((1, D))
PRINTED_BIAS = np.arange(float(D))[None]
"""The b_v that the printed values need; the code shown makes zeros."""


def algorithm3(normalise: type[Softmax | SumNormalise], *, printed_bias: bool = True) -> Trace:
    """The pass, by softmax or by the notebook's division by the sum; with b_v = 0 to 9 or 0."""
    # entry (i, j) is i + 1 and multiplies a column vector: for rows it is transposed
    matrix = np.repeat(np.arange(1.0, D + 1)[:, None], D, axis=1).T[None]
    parameters = Parameters(
        matrix, matrix, matrix, b_q=NO_BIAS, b_k=NO_BIAS, b_v=PRINTED_BIAS if printed_bias else NO_BIAS
    )
    keys = tuple(f"context {place}" for place in range(1, len(CONTEXT) + 1))
    zeros = "zeros, as the code shown makes them"
    return (
        attend(CURRENT, CONTEXT, parameters=parameters, normalise=normalise)
        .with_sources(
            {
                "x": "typed in the notebook: ten ones",
                "context": "typed in the notebook: ten 2s, ten 3s, ten 4s",
                **dict.fromkeys(("w_q", "w_k", "w_v"), "W[i, j] = i + 1, transposed to multiply rows"),
                **dict.fromkeys(("b_q", "b_k"), zeros),
                "b_v": "0 to 9, what the printed values need; the code shown makes zeros" if printed_bias else zeros,
            }
        )
        .labelled(token=("current",), query=("current",), context_token=keys, key=keys)
    )


SUMMED = Variant(
    "sum",
    "Sum-normalised, as in the notebook",
    "The scaled scores divided by their sum, which the notebook calls softmax.",
    lambda: algorithm3(SumNormalise),
)
SOFTMAX = Variant(
    "softmax",
    "True softmax",
    "The formula of the algorithm: the last context token takes all of the attention.",
    lambda: algorithm3(Softmax),
)
CODE = Variant(
    "code",
    "Values of the code shown",
    "Sum-normalised, with the bias of zeros that the code shown makes: not what was printed.",
    lambda: algorithm3(SumNormalise, printed_bias=False),
)

EXAMPLE = Example(
    id="004",
    title="Dividing by the sum is not softmax",
    summary="Scores over their sum add up to 1 as well, and still are another thing than softmax.",
    description=(
        "One current token asks three context tokens, with biases. The scores run up to 48,699: softmax gives all of "
        "the attention to the largest; dividing by the sum, as the notebook does, gives each token its part."
    ),
    step="softmax",
    source=(
        "Figures of the notebook 004_88d9080a895c65c1, author not named, on Algorithm 3 of Phuong and Hutter 2022, "
        "“Formal Algorithms for Transformers”. Its printed values do not follow from the code it shows."
    ),
    variants=(SUMMED, SOFTMAX, CODE),
    print_outs=print_outs(
        "004",
        {
            "q": SUMMED.cells("q"),
            "k": SUMMED.cells("k"),
            "v, as the code shown makes it": CODE.cells("v"),
            "v, with the bias 0 to 9": SUMMED.cells("v"),
            "first scaled score": SUMMED.cells("scaled", 0, 0, 0),
            "scaled": SUMMED.cells("scaled"),
            "sum of the attention": lambda: SUMMED.trace["attention"].value.sum(),
            "lengths of the output and of d_out": lambda: [SUMMED.trace[each].shape[-1] for each in ("concat", "v")],
        },
    ),
    mistakes=(
        Mistake(
            "Dividing by the sum is not softmax",
            "The rows add up to 1, the only check that the notebook makes. But a negative score gets a negative share, "
            "and adding a constant to all scores changes the shares. For the scores 3 and −1:",
            SUMMED,
            "attention",
            Side("scores over their sum", lambda: SumNormalise().compute(np.array([3.0, -1.0]))),
            Side("softmax", lambda: Softmax().compute(np.array([3.0, -1.0]))),
        ),
        Mistake(
            "The textbook form of softmax would overflow on these scores",
            "exp of 24,349 and more is beyond float64, and inf over inf is NaN. Subtracting the largest score first "
            "gives the answer.",
            SOFTMAX,
            "attention",
            Side("exp over sum of exp", lambda: unshifted_softmax(SOFTMAX.trace["masked"].value[0, 0])),
            Side("shifted by the maximum", SOFTMAX.cells("attention", 0, 0)),
        ),
        Mistake(
            "“Alphas” and “scores” are exchanged",
            "The alpha of the algorithm is the attention. In the notebook's code alphas holds the scaled scores, and "
            "scores holds their shares.",
            SOFTMAX,
            "attention",
            Side("what the notebook calls alphas", SOFTMAX.cells("scaled", 0, 0)),
            Side("alpha of the algorithm", SOFTMAX.cells("attention", 0, 0)),
        ),
        Mistake(
            "Keys and values have biases of their own",
            "The notebook's formulas add b_q to keys and values too; they need b_k and b_v. b_q is 0 here, while the "
            "printed values were made with 0 to 9. The first value:",
            SUMMED,
            "v",
            Side("with b_q", CODE.cells("v", 0, 0)),
            Side("with b_v", SUMMED.cells("v", 0, 0)),
        ),
    ),
)
