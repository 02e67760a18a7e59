"""Strings: all that the model built by hand is tried on, and what it answers when some of its parameters are others."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product

import numpy as np

from attnviz.core.changes import Change
from attnviz.core.graph import Arrays
from attnviz.models.byhand import MODEL, WORD
from attnviz.models.ideas import parameters_with
from attnviz.models.task import Batch, most_probable
from attnviz.models.training import passed

LETTERS = "abc"
LENGTHS = range(2, 8)


@dataclass(frozen=True)
class Tried:
    """The outcome for one string.

    Attributes
    ----------
    string : str
    right : str
        What came after its last letter, the one time that this came before.
    answered : tuple of str
        The words of the largest probability: several, if they share it.
    probability : float
        Of the right answer.
    is_exact : bool
        Whether output and probabilities are exactly one 1, at the right answer, and otherwise 0.
    """

    string: str
    right: str
    answered: tuple[str, ...]
    probability: float
    is_exact: bool

    @property
    def is_right(self) -> bool:
        """Whether the right answer alone has the largest probability."""
        return self.answered == (self.right,)


@cache
def of_length(length: int) -> tuple[str, ...]:
    """The strings of that length whose last letter came before exactly once."""
    strings = map("".join, product(LETTERS, repeat=length))
    return tuple(string for string in strings if string[:-1].count(string[-1]) == 1)


@lru_cache(maxsize=64)
def tried(changes: tuple[Change, ...]) -> tuple[Tried, ...]:
    """All strings, the shortest first, put to the model with some numbers of its parameters set to others.

    Parameters
    ----------
    changes : tuple of Change
        Of the parameters that all strings share.
    """
    parameters = parameters_with(changes)
    return tuple(each for length in LENGTHS for each in _tried(length, parameters))


def _tried(length: int, parameters: Arrays) -> Iterator[Tried]:
    """The strings of that length, as one batch through the operations of a pass."""
    strings, batch, answers = of_length(length), _batch(length), MODEL.task.answers
    with np.errstate(over="ignore", invalid="ignore"):  # a number beyond float64 is no answer
        arrays = passed(MODEL.trace(strings[0]).stages, parameters, batch)
    right = batch.answers[:, -1]
    one = MODEL.embedding[right]
    outputs, probabilities = arrays["output_2"][:, -1], arrays["probabilities"][:, -1]
    exact = (outputs == one).all(axis=-1) & (probabilities == one[:, WORD]).all(axis=-1)
    largest = most_probable(probabilities)
    for n, string in enumerate(strings):
        answered = tuple(answers[place] for place in np.flatnonzero(largest[n]))
        yield Tried(string, answers[right[n]], answered, float(probabilities[n, right[n]]), bool(exact[n]))


@cache
def _batch(length: int) -> Batch:
    """The strings of that length, with what is asked at their last letters."""
    texts = [MODEL.tokens(string) for string in of_length(length)]
    tokens = np.array([[MODEL.task.words.index(token) for token in tokens] for tokens in texts])
    answers, is_target = np.zeros_like(tokens), np.zeros(tokens.shape, dtype=bool)
    answers[:, -1] = [MODEL.task.answers.index(MODEL.task.right(tokens)[-1]) for tokens in texts]
    is_target[:, -1] = True
    return Batch(tokens, answers, is_target)
