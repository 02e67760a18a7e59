"""Worked example 003: multi-head attention in seven steps."""

import math

import numpy as np

from attnviz.core.attention import attend
from attnviz.core.parameters import Parameters
from attnviz.core.selection import Selection
from attnviz.core.trace import Trace
from attnviz.examples.example import Example, Mistake, Side, Variant
from attnviz.examples.printout import print_outs

WORDS = ("I", "love", "Transformers")
D_MODEL, N_HEADS, D_K = 4, 2, 2


def seven_steps() -> Trace:
    """The input, the matrices and the pass, drawn in the notebook's order: W_O last."""
    random = np.random.RandomState(0)
    x = random.randint(10, size=(len(WORDS), D_MODEL))
    w_q, w_k, w_v = (np.array([_xavier(random, D_MODEL, D_K) for _ in range(N_HEADS)]) for _ in range(3))
    drawn = "Xavier uniform on ±sqrt(6 / (4 + 2)) = ±1 for each head, from np.random.seed(0)"
    return (
        attend(x, parameters=Parameters(w_q, w_k, w_v, _xavier(random, N_HEADS * D_K, D_MODEL)))
        .with_sources(
            {
                "x": "np.random.randint(10) after np.random.seed(0): not made from the words",
                **dict.fromkeys(("w_q", "w_k", "w_v"), drawn),
                "w_o": "Xavier uniform on ±sqrt(6 / (4 + 4)), from the same stream after all the others",
            }
        )
        .labelled(token=WORDS, query=WORDS, key=WORDS)
    )


def _xavier(random: np.random.RandomState, rows: int, columns: int) -> np.ndarray:
    limit = math.sqrt(6 / (rows + columns))
    return random.uniform(-limit, limit, (rows, columns))


SEVEN_STEPS = Variant(
    "steps", "Seven steps", "Two heads of 2 features, from the input to the projected output.", seven_steps
)

EXAMPLE = Example(
    id="003",
    title="Two heads, from the words to the output",
    summary="Each head projects the same words by matrices of its own, and W_O mixes what the heads found.",
    description=(
        "Three words of 4 whole numbers, two heads, concatenation and output. The whole numbers are large, so the "
        "scores lie far apart: in head 2 the softmax gives “I” over 99.9999 % of the attention of every word."
    ),
    step="softmax",
    selection=Selection(head=1, key=0),
    source="Figures of the notebook “A step to step guide to understand attention mechanisms”, author not named.",
    variants=(SEVEN_STEPS,),
    print_outs=print_outs(
        "003",
        {
            "x": SEVEN_STEPS.cells("x"),
            "w_q": SEVEN_STEPS.cells("w_q"),
            "shape of W_Q in a head": lambda: SEVEN_STEPS.trace["w_q"].shape[1:],
            "q": SEVEN_STEPS.cells("q"),
            "shape of Q in a head": lambda: SEVEN_STEPS.trace["q"].shape[1:],
            "k of head 1": SEVEN_STEPS.cells("k", 0),
            "v of head 1": SEVEN_STEPS.cells("v", 0),
            "k of head 2": SEVEN_STEPS.cells("k", 1),
            "v of head 2": SEVEN_STEPS.cells("v", 1),
            "attention": SEVEN_STEPS.cells("attention"),
            "sums of the attention in head 1": lambda: SEVEN_STEPS.trace["attention"].value[0].sum(axis=-1),
            "heads": SEVEN_STEPS.cells("heads"),
            "concat": SEVEN_STEPS.cells("concat"),
            "shape of concat": lambda: SEVEN_STEPS.trace["concat"].shape,
            "output": SEVEN_STEPS.cells("output"),
        },
    ),
    mistakes=(
        Mistake(
            "A head does not get a piece of the embedding",
            "The text says that the word's vector is split among the heads. Nothing is split: each head multiplies "
            "the whole vector, all 4 numbers, by a matrix of its own. The query of “I” in head 1:",
            SEVEN_STEPS,
            "q",
            Side("the first half of the embedding", SEVEN_STEPS.cells("x", 0, slice(D_K))),
            Side("the whole embedding times W_Q of head 1", SEVEN_STEPS.cells("q", 0, 0)),
        ),
        Mistake(
            "“Scaled attention scores” that are neither",
            "The array of that name holds the attention: softmax is already applied and rows add up to 1. The scaled "
            "scores are the step before and are never printed. (Its “weighted scores”, likewise, are the heads' "
            "outputs.) “I” in head 1:",
            SEVEN_STEPS,
            "attention",
            Side("what the name holds", SEVEN_STEPS.cells("attention", 0, 0)),
            Side("the scaled scores", SEVEN_STEPS.cells("scaled", 0, 0)),
        ),
        Mistake(
            "The axis of heads comes first",
            "The text stacks the heads' matrices along the last axis. The arrays of its own code have the heads first, "
            "which is what lets one matrix product serve them all.",
            SEVEN_STEPS,
            "w_q",
            Side("shape of W_Q in the text", lambda: (D_MODEL, D_K, N_HEADS)),
            Side("shape of W_Q", lambda: SEVEN_STEPS.trace["w_q"].shape),
        ),
    ),
)
