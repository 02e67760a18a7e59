"""Strings: all that the model built by hand is tried on, and what it answers when some of its parameters are others."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product

import numpy as np

from attnviz.core.changes import Change
from attnviz.core.graph import forward
from attnviz.models import byhand
from attnviz.models.byhand import WORDS

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
def asked(length: int) -> tuple[tuple[str, ...], ...]:
    """The strings of that length whose last letter came before exactly once."""
    return tuple(letters for letters in product(LETTERS, repeat=length) if byhand.answer(letters))


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


def _tried(strings: tuple[tuple[str, ...], ...], changes: tuple[Change, ...]) -> Iterator[Tried]:
    """Strings of one length, as one batch through the stages of the pass of the first."""
    stages = byhand.trace_of(strings[0]).with_changes(*changes).stages
    ids = np.array([[WORDS.index(word) for word in (byhand.BEGIN, *letters)] for letters in strings])
    arrays = forward(stages, {"embeddings": byhand.embedding()[ids]})
    right = [byhand.answer(letters) for letters in strings]
    one = byhand.embedding()[[WORDS.index(word) for word in right]]
    outputs, probabilities = arrays["output_2"][:, -1], arrays["probabilities"][:, -1]
    exact = (outputs == one).all(axis=-1) & (probabilities == one[:, byhand.WORD]).all(axis=-1)
    largest = probabilities == probabilities.max(axis=-1, keepdims=True)
    for n, letters in enumerate(strings):
        answered = tuple(np.array(WORDS)[largest[n]].tolist())
        probability = float(probabilities[n, WORDS.index(right[n])])
        yield Tried("".join(letters), right[n], answered, probability, bool(exact[n]))
