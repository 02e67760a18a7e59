"""Lessons: the steps of a walkthrough and what each says. Which steps a trace has follows from its stages."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from attnviz.core.operations.sumnormalise import SumNormalise
from attnviz.core.trace import Trace


@dataclass(frozen=True)
class Step:
    """One step of a walkthrough.

    Attributes
    ----------
    title : str
        Its name in the row of steps and in the address.
    heading : str
    stages : tuple of str
        The stages whose making it shows; those that a trace lacks are left out.
    text : str
        Two or three sentences of what and why, in Markdown.
    """

    title: str
    heading: str
    stages: tuple[str, ...]
    text: str

    @property
    def id(self) -> str:
        """What stands for it in an address."""
        return self.title.lower()


STEPS = (
    Step(
        "Tokens",
        "Words become vectors",
        ("embeddings", "context_embeddings"),
        "Attention cannot read: each token - a word or a punctuation mark - enters as a row of `d_model` numbers, "
        "its **embedding** $E$. A real model has learnt these rows; here each is drawn from the word and the seed, "
        "so the same word always gets the same row, and changing the seed is like picking another untrained model.",
    ),
    Step(
        "Positions",
        "Places become vectors too",
        ("x", "context"),
        "Nothing in attention knows the order of the words, so a vector for the **place** is added to each row. "
        "It is made of sines and cosines, the later ones of longer waves, so that each place gets a vector of its own. "
        "What goes on is the sum, $X = E + P$.",
    ),
    Step(
        "Q, K, V",
        "Each token asks, answers and hands over",
        ("q", "k", "v"),
        "Three matrices of parameters turn each row of $X$ into a :blue[**query**] (what this token looks for), a "
        ":orange[**key**] (what it can be found by) and a :green[**value**] (what it hands over when found). "
        "Each head has matrices of its own, and they are **bands of columns of one big matrix**: the band of the "
        "head you look at is lit. A head doesn't take a slice of the embedding; it projects all of it.",
    ),
    Step(
        "Scores",
        "How well does each key answer each query?",
        ("scores",),
        "Every :blue[query] meets every :orange[key] in a **dot product**: multiply place by place and add. "
        "The larger the score, the better they match. Queries are rows and keys are columns, from here to the softmax.",
    ),
    Step(
        "Scaling",
        "Keep the scores from growing with d_k",
        ("scaled",),
        "The spread of dot products grows like $\\sqrt{d_k}$ with the `d_k` numbers that each adds up, and the softmax "
        "of widely spread scores is nearly one-hot: almost all attention on one key, and almost no gradient to learn "
        "from. Dividing by $\\sqrt{d_k}$ keeps the spread from growing with `d_k`.",
    ),
    Step(
        "Mask",
        "Hide what may not be seen",
        ("masked",),
        "A hidden key's score becomes $-\\infty$, so that its share of the attention will be exactly 0; in the picture "
        "of the mask 0 is hidden and 1 is visible. A **causal** mask hides the future, as a model that writes the next "
        "word must not read it; a **padding** mask hides fillers at the end; a **window** hides what is far away.",
    ),
    Step(
        "Softmax",
        "Scores become shares",
        ("attention",),
        "Each row goes through the **softmax**: subtract the row's largest score (which changes no share, and keeps "
        "$\\exp$ from overflowing), exponentiate, and divide by the row's sum. In the **attention** that this makes no "
        "share is negative, and the row of a query that sees any key sums to 1: so a query shares itself out.",
    ),
    Step(
        "Weighted sum",
        "Collect the values, in those shares",
        ("heads",),
        "Each query's result is a mixture of the :green[values] of all keys, each by its share of the attention. "
        "This is the only step in which tokens mix: a row of $H_i$ holds something of all that its query looked at.",
    ),
    Step(
        "Concatenation",
        "Put the heads side by side",
        ("concat",),
        "Each head has worked on its own, with its own queries, keys and values. Their results are written **side by "
        "side**, head 1 first, so that a row is as long as those of all heads together. Nothing is added or mixed yet.",
    ),
    Step(
        "Output",
        "W_O mixes the heads",
        ("output",),
        "One last matrix of parameters, :violet[$W^O$], brings the heads together into the :violet[**output**]: one "
        "new row for each query. As the heads stand side by side, this is the same as sending each head through "
        "its own band of rows of $W^O$ and **adding up** what comes out: below, what each head contributes.",
    ),
    Step(
        "Whole pass",
        "Everything at once",
        (),
        "From what enters to what leaves, for the selected head: every stage in order, but for the mask, the biases "
        "and what each head contributes. A table below lists all of them with their shapes. "
        "Pick any cell to see how it was made.",
    ),
)

_BY_TITLE = {step.title: step for step in STEPS}

WITHOUT_POSITIONS = replace(
    _BY_TITLE["Tokens"],
    stages=("embeddings", "context_embeddings", "x", "context"),
    text=f"{_BY_TITLE['Tokens'].text} Without positions this is also the input $X$ that goes on.",
)
GIVEN_INPUT = Step(
    "Tokens",
    "What enters",
    ("x", "context"),
    "Each token enters as a row of numbers. Here they are **given**, as someone chose them for an example; in a model "
    "they would be the words' embeddings.",
)
TWO_SENTENCES = replace(
    _BY_TITLE["Q, K, V"],
    text="Matrices of parameters turn each row of $X$ into a :blue[**query**] (what this token looks for), and each "
    "row of the other sentence, $C$, into an :orange[**key**] (what it can be found by) and a :green[**value**] (what "
    "it hands over when found). Each head has matrices of its own, and they are **bands of columns of one big "
    "matrix**: the band of the head you look at is lit.",
)
NO_PROJECTION = Step(
    "Q, K, V",
    "Queries, keys and values, as they are given",
    ("q", "k", "v"),
    "This example has **no matrices of parameters**. What enters is used as it is, as :blue[**query**] (what a token "
    "looks for), :orange[**key**] (what it can be found by) and :green[**value**] (what it hands over when found).",
)
UNSCALED = Step(
    "Scaling",
    "Scores as they are: scaling is switched off",
    ("scaled",),
    "Here the scores go on as they are. The spread of dot products grows like $\\sqrt{d_k}$ with the `d_k` numbers "
    "that each adds up, and the softmax of widely spread scores is nearly one-hot: almost all attention on one key. "
    "Dividing by $\\sqrt{d_k}$ would keep the spread from growing with `d_k`.",
)
ADDED_MASK = Step(
    "Mask",
    _BY_TITLE["Mask"].heading,
    ("masked",),
    "This mask is **added** to the scores: 0 leaves a score as it is, and $-\\infty$ hides the key, so that its share "
    "of the attention will be exactly 0. A **causal** mask hides the future, as a model that writes the next word must "
    "not read it.",
)
SUM_NORMALISED = Step(
    "Softmax",
    "Scores over their sum, which is not softmax",
    ("attention",),
    "This example divides each row by its **sum**. The rows do add up to 1, as those of a softmax do; but a share "
    "can be negative, and adding the same number to all scores changes the shares.",
)


def steps_of(trace: Trace) -> tuple[Step, ...]:
    """The steps that the stages of the trace call for."""
    left_out = {
        "Tokens": "x" not in trace,
        "Positions": "positions" not in trace,
        "Mask": not masks(trace),
        "Output": "output" not in trace,
    }
    return tuple({**_BY_TITLE, **_others(trace)}[step.title] for step in STEPS if not left_out.get(step.title, False))


def _others(trace: Trace) -> dict[str, Step]:
    """The steps that say something else of this trace than they usually do, by their titles."""
    others = (
        (WITHOUT_POSITIONS, "embeddings" in trace and "positions" not in trace),
        (GIVEN_INPUT, "embeddings" not in trace),
        (TWO_SENTENCES, "w_q" in trace and "context" in trace),
        (NO_PROJECTION, "w_q" not in trace),
        (UNSCALED, trace["scaled"].operation.factor == 1),
        (ADDED_MASK, trace["mask"].value.dtype != bool),
        (SUM_NORMALISED, isinstance(trace["attention"].operation, SumNormalise)),
    )
    return {step.title: step for step, holds in others if holds}


def masks(trace: Trace) -> bool:
    """Whether the trace's mask does anything."""
    mask = trace["mask"].value
    return bool(not mask.all() if mask.dtype == bool else np.any(mask != 0))


def find(text: str) -> str | None:
    """The id of the step that is called so, by its id or its title, in any case."""
    return next((step.id for step in STEPS if text.strip().casefold() in (step.id, step.title.casefold())), None)
