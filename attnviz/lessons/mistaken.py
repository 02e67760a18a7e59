"""Mistaken: shares as a mistake with the mask makes them, beside the right ones, and the laws that they break."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from attnviz.checks.causes.masking import of_the_mask
from attnviz.checks.nodes import attention_with, exact_nodes
from attnviz.checks.unseeing import UNSEEING, filled
from attnviz.core.trace import Trace
from attnviz.lessons.reference import LessonError

OF_THE_MASK = {
    "multiplied": ("mask multiplied", "The scores are multiplied by the mask: a hidden one becomes 0, not −∞."),
    "after": ("mask after the softmax", "The softmax comes first; hidden shares are set to 0 after it."),
    "further": ("mask off by one", "The mask is off by one: each word also sees the next."),
    "inverted": ("mask inverted", "The mask is inverted: what should be hidden is visible, and nothing else is."),
}
"""By how a lesson names it: the mistake, and what is said of it."""

OF_AN_EMPTY_ROW = {
    "uniform": (UNSEEING[1], "Where a word sees nothing, every key gets an even share.", "JAX"),
    "nan": (UNSEEING[2], "Where a word sees nothing, 0 is divided by 0: NaN, “not a number”.", "PyTorch’s softmax"),
}
"""The shares that others give a word that sees no key."""

MISTAKES = (*OF_THE_MASK, *OF_AN_EMPTY_ROW)

_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Mistaken:
    """A row of shares, right and wrong.

    Attributes
    ----------
    sentence : str
        What went wrong.
    query : int
    hidden : ndarray of bool (keys,)
    right, wrong : ndarray (keys,)
        Of the first head.
    library : str
        Whose choice the wrong shares are; empty for a mistake.
    """

    sentence: str
    query: int
    hidden: np.ndarray
    right: np.ndarray
    wrong: np.ndarray
    library: str = ""

    @property
    def laws(self) -> list[str]:
        """Those that the wrong shares break, in sentences."""
        if np.isnan(self.wrong).any():
            return ["Every share is a number."]
        broken = []
        if not self.hidden.all() and abs(self.wrong.sum() - 1) > _SAME:
            broken.append("Every row adds up to 1.")
        if (abs(self.wrong[self.hidden]) > _SAME).any():
            broken.append("A hidden key’s value changes nothing: its share is 0.")
        if (abs(self.wrong[~self.hidden & (self.right > 0)]) < _SAME).any():
            broken.append("A visible key has a share of more than 0.")
        return broken


def mistaken(trace: Trace, mistake: str, word: str) -> Mistaken:
    """The shares of a word as a mistake makes them.

    Raises
    ------
    LessonError
        If the pass has no such word, or nothing of its mask can be got wrong so.
    """
    if word not in trace.labels["query"]:
        raise LessonError(f"A mistake is shown for a word of the sentence; got {word!r}.")
    query = trace.labels["query"].index(word)
    attention = trace["attention"].value
    hidden, library = np.isneginf(trace["masked"].value[0, query]), ""
    if mistake in OF_AN_EMPTY_ROW:
        nature, sentence, library = OF_AN_EMPTY_ROW[mistake]
        if not hidden.all():
            raise LessonError(f"{mistake} is of a word that sees no key; “{word}” sees some.")
        nodes = {"attention": filled(exact_nodes(trace)["attention"], nature, "scaled")}
    else:
        id, sentence = OF_THE_MASK[mistake]
        mistakes = of_the_mask(trace)
        if id not in mistakes:
            raise LessonError("A mistake with the mask needs one that hides something; this hides nothing.")
        nodes = mistakes[id].nodes
    return Mistaken(sentence, query, hidden, attention[0, query], attention_with(trace, nodes)[0, query], library)


def mistaken_figure(name: str, trace: Trace) -> float:
    """A figure of it by its name: `after.cat.sum`, or `multiplied.cat.sat` for the share of “sat”.

    Raises
    ------
    LessonError
        If there is none.
    """
    mistake, _, rest = name.partition(".")
    word, _, of = rest.partition(".")
    if mistake not in MISTAKES:
        raise LessonError(f"A mistake is one of {', '.join(MISTAKES)}; got {mistake!r}.")
    row = mistaken(trace, mistake, word)
    if of == "sum":
        return math.fsum(row.wrong)
    if of not in trace.labels["key"]:
        raise LessonError(f"A figure of a mistake is of a word, or the sum; got {of!r}.")
    return float(row.wrong[trace.labels["key"].index(of)])
