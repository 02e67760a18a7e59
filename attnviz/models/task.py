"""Task: what a model is asked, and in which words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol

import numpy as np

from attnviz.core.tokens import tokenize

Answers = tuple[str | None, ...]
"""The right answer for each token; None where nothing is asked or it is unknown."""

Looks = tuple[tuple[int, int], ...]
"""For each of several layers the place of a query, and that of the key which it looks at for the layer's purpose."""


def most_probable(shares: np.ndarray) -> np.ndarray:
    """The most probable answers of each row; several if they differ only by rounding."""
    largest = shares.max(axis=-1, keepdims=True)
    return shares >= largest - 1e-9 * np.abs(largest)


class Task(Protocol):
    """The question that a model is asked, and its words.

    Attributes
    ----------
    title : str
        The name of the task.
    summary : str
        What its attention shows, in one sentence.
    question : str
        What a model answers, with `{sentence}` for the words.
    about : str
        What a model was trained or built for, in one or two sentences.
    layers : tuple of str
        What each of several layers does for it, in one sentence each.
    words_by_kind : mapping of str to tuple of str
        All words that there are, in small letters.
    answers : tuple of str
    examples : tuple of (label, sentence)
    read : {"last", "each"}
        At which tokens the answer is read.
    begin : str
        The word that every text begins with, whether typed or not; empty if there is none.
    unit : str
        The noun for a token.
    is_open : bool
        Whether it asks for the next token, so that no answer is right or wrong.
    """

    title: str
    summary: str
    question: str
    about: str
    layers: tuple[str, ...] = ()
    words_by_kind: Mapping[str, tuple[str, ...]]
    answers: tuple[str, ...]
    examples: tuple[tuple[str, str], ...]
    read: Literal["last", "each"]
    begin: str = ""
    unit: str = "word"
    is_open: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """All words that there are."""
        return tuple(chain.from_iterable(self.words_by_kind.values()))

    def split(self, text: str) -> tuple[str, ...]:
        """The words of a text, in small letters; "abc" are three where each letter is a word."""
        return tuple(part for token in tokenize(text) for part in self._parts(token.lower()))

    def _parts(self, token: str) -> Sequence[str]:
        known = self.words
        return token if token not in known and all(letter in known for letter in token) else (token,)

    def spoken(self, tokens: Sequence[str]) -> str:
        """The tokens as one reads them, where that is not with spaces between them; else nothing."""
        return ""

    def notes(self, text: str) -> tuple[str, ...]:
        """Notices on text that is read differently than typed and affects the answer."""
        return ()

    def right(self, tokens: Sequence[str]) -> Answers:
        """The right answers, one for each token; all None where the tokens are no text of the task."""

    def looks(self, tokens: Sequence[str]) -> Looks:
        """The query and key that each layer's purpose is about; empty if unknown."""
        return ()


class Batch(NamedTuple):
    """Texts of the same length, shorter ones with anything after their end, and what is asked of them.

    Attributes
    ----------
    tokens : ndarray (texts, tokens) of int
        Places among the words.
    answers : ndarray (texts, tokens) of int
        Places among the answers; 0 where nothing is asked.
    is_target : ndarray (texts, tokens) of bool
        Whether an answer is asked for there.
    """

    tokens: np.ndarray
    answers: np.ndarray
    is_target: np.ndarray

    def picked(self, texts: np.ndarray | slice) -> Batch:
        """Some of the texts."""
        return Batch(*(array[texts] for array in self))


class Learnable(Task, Protocol):
    """A task that a model is trained for.

    Attributes
    ----------
    kinds : pair of (kinds of queries, kinds of keys), or None
        Kinds of words whose mean scores are compared, if these are the same in every text.
    yardsticks : mapping of str to float
        Baseline losses on held-out texts, by name.
    measured : str
        What patterns are averaged over.
    """

    kinds: tuple[tuple[str, ...], tuple[str, ...]] | None
    yardsticks: Mapping[str, float] = MappingProxyType({})
    measured: str = "held-out texts"

    def batch(self, random: np.random.RandomState, size: int) -> Batch:
        """Texts to train with."""

    def held_out(self) -> Batch:
        """Texts to measure with, always the same; random training texts may repeat some by chance."""

    def patterns(self, arrays: Mapping[str, np.ndarray], batch: Batch) -> dict[str, float]:
        """Means over the attention to a batch: their names and values.

        `arrays` are those of the stages, each with the axis of the texts before all others.
        """
