"""English as people type it: capitals, punctuation marks and contractions, read by a model of plain words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from attnviz.core.tokens import tokenize
from attnviz.models.task import Task

LEFT_OUT = (".", "!", ",", ";", ":", "…", '"', "“", "”")
MOST_QUOTED = 14  # words of a note
_ENDINGS = {"n't": "not", "'s": "is", "'re": "are"}


class TypedEnglish(Task, Protocol):
    """A task that reads English as it is typed."""

    def split(self, text: str) -> tuple[str, ...]:
        """The words of a text, in small letters: "Doesn't it sleep." is "does", "not", "it", "sleep"."""
        return tuple(part for _, parts in self._read(text) for part in parts)

    def notes(self, text: str) -> tuple[str, ...]:
        """A note on text that is read otherwise than it was typed."""
        read = list(self._read(text))
        ways = {
            "in small letters": any(token != token.lower() for token, _ in read),
            "short forms in full": any(len(parts) > 1 for _, parts in read),
            "without punctuation marks": any(not parts for _, parts in read),
        }
        how, words = [way for way, is_so in ways.items() if is_so], self.split(text)
        shown = " ".join(words[:MOST_QUOTED]) + "…" * (len(words) > MOST_QUOTED)
        return (f"This is read as “{shown}”: {', '.join(how)}.",) if how and words else ()

    def _read(self, text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each token as it was typed, with the words that it is read as."""
        for token in tokenize(text):
            word = token.lower()
            yield token, () if word in LEFT_OUT else (word,) if word in self.words else self._parts_of(word)

    def _parts_of(self, word: str) -> tuple[str, ...]:
        """A short form in full, if both of its words are known."""
        plain = word.replace("’", "'")
        for ending, whole in _ENDINGS.items():
            stem = plain.removesuffix(ending)
            if stem != plain and stem in self.words and whole in self.words:
                return stem, whole
        return (word,)
