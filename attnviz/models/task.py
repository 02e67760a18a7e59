"""Task: a model's question and vocabulary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from attnviz.core.tokens import tokenize

Answers = tuple[str | None, ...]
"""The right answer for each token; None where there is no question or the answer is unknown."""

Looks = tuple[tuple[int, int], ...]
"""For each of several layers a query and the key it attends to, as examples of the layer's purpose."""


def most_probable(shares: np.ndarray) -> np.ndarray:
    """The most probable answers of each row; several if they differ only by rounding."""
    largest = shares.max(axis=-1, keepdims=True)
    return shares >= largest - 1e-9 * np.abs(largest)


class Task(Protocol):
    """The question that a model is asked, and its words."""

    title: str  # the name of the task
    summary: str  # what its attention shows, in one sentence
    question: str  # what a model answers, with `{sentence}` for the words
    about: str  # what a model was trained or built for, in one or two sentences
    layers: tuple[str, ...] = ()  # what each of several layers does for it, in one sentence each
    words_by_kind: Mapping[str, tuple[str, ...]]  # all words that there are, in small letters
    answers: tuple[str, ...]
    examples: tuple[tuple[str, str], ...]
    read: Literal["last", "each"]  # at which tokens the answer is read
    begin: str = ""  # the word that every text begins with, whether typed or not; empty if there is none
    unit: str = "word"  # the noun for a token
    is_open: bool = False  # whether it asks for the next token, so that no answer is right or wrong
    # kinds of words whose mean scores are compared, if these are the same in every text
    kinds: tuple[tuple[str, ...], tuple[str, ...]] | None = None

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

    def joined(self, tokens: Sequence[str]) -> str:
        """The tokens joined to a text, if that needs no spaces between them; else empty."""
        return ""

    def notes(self, text: str) -> tuple[str, ...]:
        """Notices on text that is read differently than typed and affects the answer."""
        return ()

    def right(self, tokens: Sequence[str]) -> Answers:
        """The right answers, one for each token; all None where the tokens are no text of the task."""

    def looks(self, tokens: Sequence[str]) -> Looks:
        """The query and key that each layer's purpose is about; empty if unknown."""
        return ()

    def met(self, text: str) -> str:
        """What is known of a sampled text; empty if nothing is."""
        return ""

    def patterns(self, arrays: Mapping[str, np.ndarray], batch: Any) -> dict[str, float]:
        """Means over the attention to a batch, by name; each of the stages' `arrays` begins with the axis of texts."""
        return {}


class Batch(NamedTuple):
    """Texts of one length (what follows the end of a shorter one is ignored), their answers and targets."""

    tokens: np.ndarray  # (texts, tokens): places among the words
    answers: np.ndarray  # (texts, tokens): places among the answers; 0 where there is no target
    is_target: np.ndarray  # (texts, tokens): where an answer is expected

    @property
    def rows(self) -> dict[str, np.ndarray]:
        """The rows of each embedding matrix that the texts use."""
        return {"embeddings": self.tokens}

    @property
    def masks(self) -> dict[str, np.ndarray]:
        """Masks of their own; none."""
        return {}

    def picked(self, texts: np.ndarray | slice) -> Batch:
        """Some of the texts."""
        return Batch(*(array[texts] for array in self))


class PairBatch(NamedTuple):
    """Texts with their translations; what follows the end of a shorter one is ignored."""

    source: np.ndarray  # (texts, source tokens): places among the words of the texts
    is_source: np.ndarray  # (texts, source tokens): whether there is a word
    tokens: np.ndarray  # (texts, tokens): places among the words of the translations
    answers: np.ndarray  # as in `Batch`
    is_target: np.ndarray
    translates: np.ndarray  # (texts, tokens, source tokens): the words that each answer translates

    @property
    def rows(self) -> dict[str, np.ndarray]:
        """The rows of each embedding matrix that the texts use."""
        return {"context_embeddings": self.source, "embeddings": self.tokens}

    @property
    def masks(self) -> dict[str, np.ndarray]:
        """The masks that hide what follows the end of a shorter text."""
        return dict.fromkeys(("mask_1", "mask_3"), self.is_source[:, None, None])

    def picked(self, texts: np.ndarray | slice) -> PairBatch:
        """Some of the texts, as long as the longest of them."""
        is_source, is_target = self.is_source[texts], self.is_target[texts]
        n_source, n = (int(np.flatnonzero(is_there.any(axis=0))[-1]) + 1 for is_there in (is_source, is_target))
        return PairBatch(
            self.source[texts, :n_source],
            is_source[:, :n_source],
            self.tokens[texts, :n],
            self.answers[texts, :n],
            is_target[:, :n],
            self.translates[texts, :n, :n_source],
        )


class Learnable(Task, Protocol):
    """A task that a model is trained for."""

    measured: str = "held-out texts"  # what patterns are averaged over

    @property
    def yardsticks(self) -> Mapping[str, float]:
        """Baseline losses on held-out texts, by name."""
        return {}

    def batch(self, random: np.random.RandomState, size: int) -> Batch | PairBatch:
        """Texts to train with."""

    def held_out(self) -> Batch | PairBatch:
        """Texts to measure with, always the same; random training texts may repeat some by chance."""
