"""Strings: all that the model built by hand is tried on, and what it answers when some of its parameters are others."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product

import numpy as np

from attnviz.core.changes import Change
from attnviz.core.graph import forward
from attnviz.models.byhand import MODEL, WORD

LETTERS = "abc"
LENGTHS = range(2, 8)


@dataclass(frozen=True)
class Tried:
    """What came of one string.

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
def asked(length: int) -> tuple[str, ...]:
    """The strings of that length whose last letter came before exactly once."""
    strings = map("".join, product(LETTERS, repeat=length))
    return tuple(string for string in strings if string[:-1].count(string[-1]) == 1)


@lru_cache(maxsize=64)
def tried(changes: tuple[Change, ...] = ()) -> tuple[Tried, ...]:
    """All strings, the shortest first, put to the model with some numbers of its parameters set to others.

    Parameters
    ----------
    changes : tuple of Change
        Of parameters alone, which all strings share.

    Raises
    ------
    ArrayError
        If a number is too large for float64.
    """
    return tuple(each for length in LENGTHS for each in _tried(asked(length), changes))


def _tried(strings: tuple[str, ...], changes: tuple[Change, ...]) -> Iterator[Tried]:
    """Strings of one length, as one batch through the stages of the pass of the first."""
    words, answers = MODEL.task.words, np.array(MODEL.task.answers)
    stages = MODEL.trace(strings[0]).with_changes(*changes).stages
    tokens = [MODEL.tokens(string) for string in strings]
    arrays = forward(stages, {"embeddings": MODEL.embedding[[list(map(words.index, each)) for each in tokens]]})
    right = [words.index(MODEL.task.right(each)[-1]) for each in tokens]
    one = MODEL.embedding[right]
    outputs, probabilities = arrays["output_2"][:, -1], arrays["probabilities"][:, -1]
    exact = (outputs == one).all(axis=-1) & (probabilities == one[:, WORD]).all(axis=-1)
    largest = probabilities == probabilities.max(axis=-1, keepdims=True)
    for n, string in enumerate(strings):
        answered = tuple(answers[largest[n]].tolist())
        yield Tried(string, words[right[n]], answered, float(probabilities[n, right[n]]), bool(exact[n]))
