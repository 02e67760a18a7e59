"""Models: what a browser is given of the model that answers, its training, and what it says comes next."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from attnviz.contract.sent import Cell, Name, Place, Runs, Sent, Share, Size, Values


class Drawing(Sent, rename=None):
    """The way in which a token is drawn."""

    temperature: Size
    top_k: Size
    top_p: Size
    seed: Place


class WrittenText(Sent):
    """A text that a model wrote.

    Attributes
    ----------
    is_
        In the list, held out or new; empty where nobody knows.
    """

    text: str
    is_: str = field(name="is")


class Pattern(Sent):
    """A pattern in the attention to held-out sentences, as a share of it."""

    label: str
    value: Share


class Yardstick(Sent):
    """A loss that the model's is compared with.

    Attributes
    ----------
    passed
        The step from which on the model's loss is below it.
    is_line
        Whether it is a line of the chart.
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
        How the first is drawn; the others are from the seeds after its own.
    """

    how: Drawing
    texts: list[WrittenText]


class Kinds(Sent):
    """The mean scores of words of one kind for those of another; colours reach to `limit` at every checkpoint."""

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
        Some steps, each checkpoint's among them, with the loss and the share of right answers on what was held
        out.
    checkpoints
        After how many steps parameters were kept, the first before training and the last after all of it.
    at
        Which of the checkpoints is shown.
    held_out
        How many texts were held out.
    met
        How many of them came up in training after all.
    patterns
        What is seen in the attention to held-out sentences, as shares of it.
    yardsticks
        What the loss may be compared with: guessing, say, or the model without a part of it.
    over
        What patterns are means over, but for how many there are.
    heads
        What each head does, in a sentence; empty where that was not measured.
    writes
        Texts that the checkpoint writes, each from a seed, the same ones at all checkpoints; null of a model
        that writes none.
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
    """The model that answers, where the parameters are those of one.

    Attributes
    ----------
    read
        At which words the model was made to answer.
    answers
        The stage that has a probability for each answer.
    right
        The right answer at each word; null where nothing is asked, or nobody knows.
    is_open
        Whether it says what may come next, so that no answer is the right one.
    guesses
        Whether it has learnt nothing yet, so that a right answer is a lucky guess.
    """

    read: Literal["last", "each"]
    answers: Name
    right: list[str | None]
    is_open: bool
    guesses: bool
    training: Training | None
    verdict: Runs


class ResidualPart(Sent):
    """A writer to the residual stream."""

    label: str
    cell: Cell
    is_head: bool


class ByKey(Sent):
    """From which key each head adds most."""

    places: list[list[Place]]
    values: Values


class Writers(Sent):
    """The writers to the residual stream at the last token, and what each adds to each logit.

    Attributes
    ----------
    values
        Writers by answers.
    by_key
        From which key each head adds most to each logit, and how much; null where a head is set by hand.
    """

    writers: list[ResidualPart]
    values: Values
    by_key: ByKey | None


class Names(Sent):
    """Texts that the model writes.

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
        In short.
    """

    text: str
    saved: str


class Next(Sent):
    """The tokens that may come next.

    Attributes
    ----------
    drawing
        How it is drawn; null where the most probable comes next.
    offered
        What each part of a drawing but its seed may be.
    weights
        With which probability each answer is chosen.
    answer
        The answer that comes next.
    ends
        Whether it is the end.
    is_full
        Whether the text has no place left.
    can_shorten
        Whether there is a letter to take away.
    parts
        What wrote to the residual stream at the last token, and what each adds to each logit; null where that
        does not add up.
    names
        Texts that the model writes, where they were asked for.
    kept
        Of each token what was there before it came, and what need not be computed again; empty where a token
        sees a later one.
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
