"""Lessons: the steps of a walkthrough and what each says. Which steps a trace has follows from its stages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.operations import SumNormalise
from attnviz.trace import Trace


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
        "These are sines and cosines of many wavelengths: neighbours get similar vectors, and each place its own. "
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
        "A dot product of `d_k` numbers spreads like $\\sqrt{d_k}$, and the softmax of widely spread scores is nearly "
        "one-hot: almost all attention on one key, and almost no gradient to learn from. Dividing by $\\sqrt{d_k}$ "
        "keeps the spread near 1, however large the heads.",
    ),
    Step(
        "Mask",
        "Hide what may not be seen",
        ("masked",),
        "A hidden key's score becomes $-\\infty$, so that its share of the attention will be exactly 0. A **causal** "
        "mask hides the future, as a model that writes the next word must not read it; a **padding** mask hides "
        "fillers at the end; a **window** hides what is far away.",
    ),
    Step(
        "Softmax",
        "Scores become shares",
        ("attention",),
        "Each row goes through the **softmax**: subtract the row's largest score (which changes no share, and keeps "
        "$\\exp$ from overflowing), exponentiate, and divide by the row's sum. Each row of the **attention** is then "
        "positive and sums to 1: how a query shares itself out among the keys.",
    ),
    Step(
        "Weighted sum",
        "Collect the values, in those shares",
        ("heads",),
        "Each query's result is a mixture of the :green[values] of all tokens, each by its share of the attention. "
        "This is the only step in which tokens mix: a row of $H$ holds something of all that its query looked at.",
    ),
    Step(
        "Concatenation",
        "Put the heads side by side",
        ("concat",),
        "Each head has worked on its own, with its own queries, keys and values. Their results are written **side by "
        "side**, head 1 first, so that a row is as long as `d_model` again. Nothing is added or mixed yet.",
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
        "From the words to the output, for the head in focus: every stage that you stepped through, in order, "
        "with its shape. Pick any cell to see how it was made.",
    ),
)

GIVEN_INPUT = Step(
    "Tokens",
    "What enters",
    ("x", "context"),
    "Each token enters as a row of numbers. Here they are **given**, as someone chose them for an example; in a model "
    "they would be the words' embeddings.",
)
NO_PROJECTION = Step(
    "Q, K, V",
    "Queries, keys and values, as they are given",
    ("q", "k", "v"),
    "This example has **no matrices of parameters**: what enters is used as it is, as :blue[**query**] (what a token "
    "looks for), :orange[**key**] (what it can be found by) and :green[**value**] (what it hands over when found).",
)
SUM_NORMALISED = Step(
    "Softmax",
    "Scores over their sum, which is not softmax",
    ("attention",),
    "This example divides each row by its **sum**. The rows do add up to 1, as those of a softmax do; but a negative "
    "score gets a negative share, and adding the same number to all scores changes the shares.",
)


def steps_of(trace: Trace) -> tuple[Step, ...]:
    """The steps that the stages of the trace call for."""
    left_out = {
        "Tokens": "x" not in trace,
        "Positions": "positions" not in trace,
        "Mask": not masks(trace),
        "Output": "output" not in trace,
    }
    others = {
        "Tokens": GIVEN_INPUT if "embeddings" not in trace else None,
        "Q, K, V": NO_PROJECTION if "w_q" not in trace else None,
        "Softmax": SUM_NORMALISED if isinstance(trace["attention"].operation, SumNormalise) else None,
    }
    return tuple(others.get(step.title) or step for step in STEPS if not left_out.get(step.title, False))


def masks(trace: Trace) -> bool:
    """Whether the trace's mask does anything."""
    mask = trace["mask"].value
    return bool(not mask.all() if mask.dtype == bool else np.any(mask != 0))
