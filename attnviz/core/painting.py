"""Painting: which keys somebody hid by hand, cell by cell, for all heads or for each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from attnviz.core.errors import SettingsError
from attnviz.core.limits import MAX_CHARACTERS

MAX_PAINTED = MAX_CHARACTERS
"""Characters of a painting as text."""

PAINTED = "painted: 1 is visible, 0 hidden"
"""Where a painted mask is from, as its stage says."""

_NOTHING = "0"
_TEXT = re.compile(r"[01.|]+")
_RULE = (
    "hidden is rows of 0 and 1, 1 where a key is hidden, “.” between rows and “|” between heads, "
    f"in at most {MAX_PAINTED:,} characters"
)


@dataclass(frozen=True)
class Painting:
    """A mask that was painted: it stands in place of that of the settings, or of the model.

    Attributes
    ----------
    heads : tuple of tuple of str
        One that is for all heads, or one for each: a text of 0 and 1 for each query, 1 where a key is hidden. What is
        left out at an end is visible.
    """

    heads: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, hidden: np.ndarray) -> Painting:
        """That of booleans (queries, keys), or (heads, queries, keys) that are one for all heads if alike."""
        each = hidden if hidden.ndim == 3 else hidden[None]
        if (each == each[:1]).all():
            each = each[:1]
        return cls(tuple(_trimmed("".join(map(str, row.astype(int))) for row in head) for head in each))

    @classmethod
    def parse(cls, text: str) -> Painting:
        """That which an address holds.

        Raises
        ------
        SettingsError
            If it is none.
        """
        if len(text) > MAX_PAINTED:
            raise SettingsError(f"{_RULE}; got {len(text):,}. Paint fewer cells, or a shorter sentence.")
        if not _TEXT.fullmatch(text):
            raise SettingsError(f"{_RULE}; got {text[:40]!r}.")
        return cls(tuple(_trimmed(head.split(".")) for head in text.split("|")))

    def __str__(self) -> str:
        return "|".join(".".join(rows) or _NOTHING for rows in self.heads)

    def fits(self, n_heads: int, n_queries: int, n_keys: int) -> bool:
        """Whether all that is hidden is in a pass of these sizes."""
        rows = [row for head in self.heads for row in head]
        return (
            len(self.heads) <= n_heads
            and all(len(head) <= n_queries for head in self.heads)
            and all(len(row) <= n_keys for row in rows)
        )

    def hidden(self, n_heads: int, n_queries: int, n_keys: int) -> np.ndarray:
        """Where keys are hidden in a pass: (queries, keys), or (heads, queries, keys) where heads have their own.

        Cells beyond the pass are left out; what isn't painted of it is visible.
        """
        painted = np.zeros((len(self.heads), n_queries, n_keys), dtype=bool)
        for head, rows in enumerate(self.heads):
            for query, row in enumerate(rows[:n_queries]):
                bits = row[:n_keys]
                painted[head, query, : len(bits)] = [bit == "1" for bit in bits]
        if len(painted) == 1:
            return painted[0]
        more = np.zeros((max(n_heads - len(painted), 0), n_queries, n_keys), dtype=bool)
        return np.concatenate([painted, more])[:n_heads]


def _trimmed(rows: Iterable[str]) -> tuple[str, ...]:
    """Rows without what is visible at their ends, and without rows of that at the end."""
    cut = [row.rstrip("0") for row in rows]
    while cut and not cut[-1]:
        cut.pop()
    return tuple(cut)
