"""Story: one or two sentences about the very number that is selected, with slots for what they name.

The browser fills the slots in, as a pass has many more numbers than could be
sent sentences for: `{query}`, `{key}`, `{head}`, `{row}` and `{column}` are
labels; `{value}` is the number itself, and the name of any stage is that stage's
number at the same selection. A format may follow:

    :percent    the number in hundredths, as in 36 %
    :rank       its place among the visible numbers of its row: highest, second, ..., tied for lowest
    :count      how many these are, in words
    :part       the largest of the terms of its sum, by size
    :part.place where that term comes from: dimension 2, neuron 5, or a word
    :part.rest  the sum of all other terms, if there are any
    :part.sum   that term, as it is multiplied: 1.80 × 0.92
    :sum        the sum of its row, without the scores of hidden keys
    :length     how long a row of its stage is; :root is the square root of that
    :rows       how many rows it has in a head; :first, how long its first axis is
    :before     what the number was before anything was set by hand
    :positive   how many numbers of its row are above 0, and of how many: 24 of 64
    :best       the words with the largest number of its row, or the first three and how many others: “sat” and “mat”
    :alike      the words of its row where their numbers are all the same: “cat” alone, all four keys alike
    :most       the largest number of its row, in hundredths if it is a share: 36 %; of several words, 36 % each
    :s, :es     an ending where :best are several words: “match” is one, “matches” are several; :is is then “are”
    :longest    of all heads those with the longest row at its place: head 2; :longest.s where these are several

A slot can't be filled where its number isn't there, where a number is set by
hand and so has no terms, and where it is the only visible one of its row and so
has no rank; one of `:best` and `:alike` can't where the other can, nor either
where a query sees no key, nor `:longest` where all rows are as long, nor `:before` where nobody knows. A story
holds where its case does and all its slots can be filled.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from attnviz.core.trace import Trace
from attnviz.explain.condition import Condition, always

When = Literal["set", "unseeing", "hidden", "given", ""]


@dataclass(frozen=True)
class Story:
    """A sentence or two on a number, in one case.

    Attributes
    ----------
    text : str
        With slots.
    when : {"set", "unseeing", "hidden", "given", ""}
        The case: it is set by hand; its query sees no key in its head, so that all its shares are 0; its key is
        hidden from its query; nothing in the pass computes it; or any.
    of : callable
        The traces it is said of.
    """

    text: str
    when: When = ""
    of: Condition = always

    def renamed(self, names: Mapping[str, str]) -> Story:
        """The story with other names for the stages in its slots."""
        return replace(self, text=renamed(self.text, names))


def selection_story(*stories: Story, of: str = "attention") -> list:
    """A run that follows the selection: the first of the stories that holds of a stage's selected number."""
    return ["story", {"of": of, "stories": [[story.when, story.text] for story in stories]}]


def renamed(text: str, names: Mapping[str, str]) -> str:
    """A story's text with other names for the stages in its slots.

    >>> renamed("{query} scores {scores:rank}, {value}", {"scores": "scores_2"})
    '{query} scores {scores_2:rank}, {value}'
    """
    return _SLOT.sub(lambda name: names.get(name[0], name[0]), text)


_SLOT = re.compile(r"(?<=\{)\w+")


PARTS = "{value:part.place} adds {value:part} ({value:part.sum}), the rest {value:part.rest}"
"""The sentence on a sum: which of its terms is the largest, and what the others add up to."""

SET = (
    Story("You set this number, which was {value:before}, to {value} by hand; what follows is recomputed.", "set"),
    Story("This number is set to {value} by hand; what follows is recomputed.", "set"),
)
"""The stories of any number set by hand, where a stage has none of its own."""

_CASES = ("set", "unseeing", "hidden", "given", "")


def applicable(trace: Trace, stories: Sequence[Story]) -> tuple[Story, ...]:
    """The stories that a stage of the trace may have; of those that hold for a number the first is told."""
    holding = [story for story in (*stories, *SET) if story.of(trace)]
    return tuple(sorted(holding, key=lambda story: _CASES.index(story.when)))
