"""The model behind a pass: its training, and what it may write next."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from attnviz.contract.base import Cell, Name, Place, Runs, Sent, Share, Size, Values


class Drawing(Sent, rename=None):
    """The parameters of sampling a token."""

    temperature: Size
    top_k: Size
    top_p: Size
    seed: Place


class WrittenText(Sent):
    """A text that a model wrote.

    Attributes
    ----------
    is_
        In the list, held out or new; empty if unknown.
    """

    text: str
    is_: str = field(name="is")


class Pattern(Sent):
    """A pattern of attention to held-out sentences, with its share of all attention."""

    label: str
    value: Share


class Yardstick(Sent):
    """A loss that the model's is compared with.

    Attributes
    ----------
    passed
        The step from which the model's loss stays below it.
    is_line
        Whether the chart has a line for it.
    """

    label: str
    loss: float
    passed: int | None
    is_line: bool


class Writes(Sent):
    """Texts that a checkpoint writes.

    Attributes
    ----------
    how
        How the first is sampled; the others use the seeds that follow.
    """

    how: Drawing
    texts: list[WrittenText]


class Kinds(Sent):
    """Mean scores between kinds of words, in the same colours, up to `limit`, at every checkpoint."""

    title: str
    rows: list[str]
    columns: list[str]
    values: list[list[float]]
    limit: Annotated[float, Meta(gt=0)]


class Training(Sent):
    """The training of a model, and the checkpoint that is shown.

    Attributes
    ----------
    curve
        Steps, those of checkpoints included, each with the loss and the accuracy on held-out texts.
    checkpoints
        The steps at which parameters were saved, from before training to its end.
    at
        The index of the checkpoint that is shown.
    held_out
        How many texts were held out.
    met
        How many of them also came up in training.
    patterns
        Patterns of attention to held-out sentences.
    yardsticks
        Losses to compare with: of guessing, say, or of the model without a part.
    over
        What the means of patterns are over, without their number.
    heads
        A sentence on what each head does; empty if that was not measured.
    writes
        Texts that the checkpoint writes, from the same seeds at all checkpoints; null if the model writes none.
    """

    curve: Annotated[list[tuple[Place, Size, Share]], Meta(min_length=2)]
    checkpoints: Annotated[list[Place], Meta(min_length=2)]
    at: Place
    held_out: Place
    met: Place
    patterns: list[Pattern]
    kinds: Kinds | None
    yardsticks: list[Yardstick]
    over: str
    heads: list[str]
    writes: Writes | None


class Model(Sent):
    """The model whose parameters the pass has.

    Attributes
    ----------
    read
        The words at which the model answers.
    answers
        The stage with the probabilities of answers.
    right
        The right answer at each word; null if nothing is asked there, or it is unknown.
    is_open
        Whether it predicts what may come next, so that no answer is the right one.
    guesses
        Whether it is untrained, so that a right answer is luck.
    """

    read: Literal["last", "each"]
    answers: Name
    right: list[str | None]
    is_open: bool
    guesses: bool
    training: Training | None
    verdict: Runs


class ResidualPart(Sent):
    """What writes to the residual stream: a head, an MLP, the embedding."""

    label: str
    cell: Cell
    is_head: bool


class ByKey(Sent):
    """The key from which each head adds most to each logit, and how much."""

    places: list[list[Place]]
    values: Values


class Writers(Sent):
    """What each writer to the residual stream at the last token adds to each logit.

    Attributes
    ----------
    values
        Writers by answers.
    by_key
        The key from which each head adds most; null if a head is set by hand.
    """

    writers: list[ResidualPart]
    values: Values
    by_key: ByKey | None


class Names(Sent):
    """Texts that the model writes, such as names.

    Attributes
    ----------
    about
        What the model knows.
    """

    listed: list[WrittenText]
    text: str
    about: str


class Kept(Sent):
    """The cost of a token with and without a KV cache.

    Attributes
    ----------
    saved
        The saving in short.
    """

    text: str
    saved: str


class Next(Sent):
    """The tokens that may come next.

    Attributes
    ----------
    drawing
        How it is sampled; null if the most probable token comes next.
    offered
        The values to choose from for each sampling parameter but the seed.
    weights
        The probability with which each answer is sampled.
    answer
        The answer that comes next.
    ends
        Whether the text ends there.
    is_full
        Whether the model has no position left.
    can_shorten
        Whether a letter can be removed.
    parts
        What adds up to each logit at the last token; null if numbers set by hand keep it from adding up.
    names
        Texts that the model writes, if requested.
    kept
        For each token, what a KV cache saves; empty if a token sees a later one.
    """

    drawing: Drawing | None
    offered: dict[str, list[Size]]
    weights: list[Size]
    answer: Place
    ends: bool
    is_full: bool
    can_shorten: bool
    parts: Writers | None
    names: Names | None
    kept: list[Kept]
