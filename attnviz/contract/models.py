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
    """A text that a model wrote."""

    text: str
    is_: str = field(name="is")  # in the list, held out or new; empty if unknown


class Pattern(Sent):
    """A pattern of attention to held-out sentences, with its share of all attention."""

    label: str
    value: Share


class Yardstick(Sent):
    """A loss that the model's is compared with."""

    label: str
    loss: float
    passed: int | None  # the step from which the model's loss stays below it
    is_line: bool  # whether the chart has a line for it


class Writes(Sent):
    """Texts that a checkpoint writes."""

    how: Drawing  # how the first is sampled; the others use the seeds that follow
    texts: list[WrittenText]


class Kinds(Sent):
    """Mean scores between kinds of words, in the same colours, up to `limit`, at every checkpoint."""

    title: str
    rows: list[str]
    columns: list[str]
    values: list[list[float]]
    limit: Annotated[float, Meta(gt=0)]


class Learning(Sent):
    """Where one word looks, and the answer that is read at it, at every checkpoint."""

    asking: Place  # that word
    rows: list[list[list[Share]]]  # checkpoints by heads by keys: its attention weights in the last layer
    answers: list[str]  # the most probable answer at each checkpoint
    shares: list[Share]  # its probability
    right: str | None  # the right answer; null if there is none, or it is unknown
    right_shares: list[Share]  # the probability of the right answer; empty without one


class Translation(Sent):
    """What a checkpoint writes in another language, and what each of its words reads."""

    words: list[str]  # with the one that ends it
    rows: list[list[Share]]  # for each of them the attention weights of the words it reads
    right: list[str]  # the right translation; empty if it is unknown


class Training(Sent):
    """The training of a model, and the checkpoint that is shown."""

    # Steps, those of checkpoints included, each with the loss and the accuracy on held-out texts
    curve: Annotated[list[tuple[Place, Size, Share]], Meta(min_length=2)]
    # The steps at which parameters were saved, from before training to its end
    checkpoints: Annotated[list[Place], Meta(min_length=2)]
    at: Place  # the index of the checkpoint that is shown
    held_out: Place
    met: Place  # how many of them also came up in training
    patterns: list[Pattern]
    kinds: Kinds | None
    yardsticks: list[Yardstick]  # losses to compare with: of guessing, say, or of the model without a part
    over: str  # what the means of patterns are over, without their number
    heads: list[str]  # a sentence on what each head does; empty if that was not measured
    # Texts that the checkpoint writes, from the same seeds at all checkpoints; null if the model writes none
    writes: Writes | None
    learning: Learning | None  # null for many words, a pass that is changed by hand, or one that translates
    translations: list[Translation]  # of the sentence at each checkpoint, by a model that translates; else empty


class Model(Sent):
    """The model whose parameters the pass has."""

    read: Literal["last", "each"]  # the words at which the model answers
    answers: Name  # the stage with the probabilities of answers
    right: list[str | None]  # the right answer at each word; null if nothing is asked there, or it is unknown
    is_open: bool  # whether it predicts what may come next, so that no answer is the right one
    guesses: bool  # whether it is untrained, so that a right answer is luck
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
    """What each writer to the residual stream at the last token adds to each logit."""

    writers: list[ResidualPart]
    values: Values  # writers by answers
    by_key: ByKey | None  # the key from which each head adds most; null if a head is set by hand


class Names(Sent):
    """Texts that the model writes, such as names."""

    listed: list[WrittenText]
    text: str
    about: str  # what the model knows


class Kept(Sent):
    """The cost of a token with and without a KV cache."""

    text: str
    saved: str  # the saving in short


class Next(Sent):
    """The tokens that may come next."""

    drawing: Drawing | None  # how it is sampled; null if the most probable token comes next
    offered: dict[str, list[Size]]  # the values to choose from for each sampling parameter but the seed
    weights: list[Size]  # the probability with which each answer is sampled
    answer: Place  # the answer that comes next
    ends: bool
    is_full: bool  # whether the model has no position left
    can_shorten: bool  # whether a letter can be removed
    # What adds up to each logit at the last token; null if numbers set by hand keep it from adding up
    parts: Writers | None
    names: Names | None  # texts that the model writes, if requested
    kept: list[Kept]  # for each token, what a KV cache saves; empty if a token sees a later one
    right: list[str]  # of a translation the right one that comes nearest to what is written; empty if it is unknown
