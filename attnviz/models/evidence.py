"""Evidence: how much attention the right noun gets, over many sentences, and how many are answered right."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from attnviz.models.model import Model
from attnviz.models.task import Batch
from attnviz.models.tasks.reference import AT_FIRST_NOUN, AT_SECOND_NOUN
from attnviz.models.training import accuracy, passed, stages_for

Hidden = Literal["nothing", "right noun", "other noun"]


@dataclass(frozen=True, eq=False)
class Evidence:
    """A model's rows of attention and answers for the sentences of a batch, each read at the word at which it answers.

    Attributes
    ----------
    accuracy : float
        The part of the sentences that is answered right.
    right, other : ndarray (sentences,)
        How much attention that word pays to the right noun, and to the other.
    """

    accuracy: float
    right: np.ndarray
    other: np.ndarray

    @property
    def rather_right(self) -> float:
        """The part of the sentences in which the right noun gets more attention than the other."""
        return float((self.right > self.other).mean())

    @property
    def most_telling(self) -> int:
        """The sentence in which the right noun gets the largest share: its place in the batch."""
        return int(self.right.argmax())


MIN_SHARE = 0.2
"""Of the attention: a noun that gets less of it where it is right is overlooked."""


def overlooked(model: Model, batch: Batch) -> tuple[str, ...]:
    """The nouns that get little attention on average in the sentences in which they are right."""
    right, nouns = evidence(model, batch).right, batch.answers[batch.is_target]
    return tuple(noun for place, noun in enumerate(model.task.answers) if right[nouns == place].mean() < MIN_SHARE)


def evidence(model: Model, batch: Batch, hidden: Hidden = "nothing") -> Evidence:
    """Put sentences with two nouns to a model of one layer and one head; a noun that is hidden is so from all words."""
    right, other = _nouns(model, batch)
    is_hidden = {"nothing": np.zeros_like(right), "right noun": right, "other noun": other}[hidden]
    n_tokens = batch.tokens.shape[1]
    visible = np.broadcast_to(~is_hidden[:, None, None, :], (len(right), 1, n_tokens, n_tokens))
    arrays = passed(stages_for(model, batch), model.arrays | {"mask": visible}, batch)
    rows = arrays["attention"][:, 0][batch.is_target]
    return Evidence(accuracy(arrays["probabilities"], batch), rows[right], rows[other])


def _nouns(model: Model, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    """Where each sentence has the right noun, and where the other, (sentences, tokens)."""
    word_of = np.array([model.task.words.index(answer) for answer in model.task.answers])
    right = batch.tokens == word_of[batch.answers[batch.is_target]][:, None]
    is_noun = np.isin(np.arange(batch.tokens.shape[1]), (AT_FIRST_NOUN, AT_SECOND_NOUN))
    return right, is_noun & ~right


def text(model: Model, batch: Batch, place: int) -> str:
    """The sentence at a place of a batch."""
    return " ".join(model.task.words[token] for token in batch.tokens[place])
