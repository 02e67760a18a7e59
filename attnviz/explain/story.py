"""Stories: one or two sentences about the selected number, with slots, and the conditions under which texts apply.

The browser fills in the slots, because a pass has too many numbers to send a sentence for each: `{query}`, `{key}`,
`{head}`, `{row}` and `{column}` are labels; `{value}` is the number itself, and the name of any stage is that stage's
number at the selected index. A format may follow:

    :percent    the number in per cent, as in 36 %
    :rank       its rank in its row's visible numbers: the highest (of two the higher), the second highest, ...
    :count      how many visible numbers its row has, in words
    :part       the term of its sum with the largest absolute value
    :part.place the source of that term: dimension 2, neuron 5, or a word
    :part.rest  the sum of the other terms, if there are any
    :part.sum   that term as a product: 1.80 × 0.92
    :sum        the sum of its row, without the scores of hidden keys
    :length     the length of a row of its stage; :root is the square root of that
    :rows       the number of its rows in a head; :first, the length of its first axis
    :before     the number before anything was set by hand
    :positive   how many numbers of its row are above 0: 24 of 64
    :best       the words with the largest number of its row, or three of them and how many others: “sat” and “mat”
    :alike      the words of its row if their numbers are all equal: “cat” alone, all four keys alike
    :most       the largest number of its row, in per cent if it is a share: 36 %; of several words, 36 % each
    :s, :es     a plural ending if :best is several words: “match” or “matches”; :is becomes “are”
    :longest    the heads with the longest row at its index: head 2; :longest.s is a plural ending

A slot can't be filled if its stage is missing, if its number is set by hand and so has no terms, or if it is the only
visible one of its row and so has no rank. Exactly one of `:best` and `:alike` can be filled, neither if a query sees no
key; `:longest` can't if all rows are equally long, nor `:before` if it is unknown. A story applies if its case holds
and all its slots can be filled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from attnviz.core.parameters import Kind
from attnviz.core.trace import Trace
from attnviz.explain.texts import worded

Condition = Callable[[Trace], bool]


def always(trace: Trace) -> bool:
    """True for every trace."""
    return True


def has(*names: str) -> Condition:
    """Build the condition that a trace has all of these stages."""
    return lambda trace: all(name in trace for name in names)


def lacks(*names: str) -> Condition:
    """Build the condition that a trace has none of these stages."""
    return lambda trace: not any(name in trace for name in names)


def both(*conditions: Condition) -> Condition:
    """Build the condition that all of these hold."""
    return lambda trace: all(condition(trace) for condition in conditions)


def unless(condition: Condition) -> Condition:
    """Build the condition that this one doesn't hold."""
    return lambda trace: not condition(trace)


def computed_from(name: str, source: str) -> Condition:
    """Build the condition that a stage is computed from another."""
    return lambda trace: source in trace[name].inputs


def several_heads(trace: Trace) -> bool:
    """Whether a trace has several heads."""
    return trace["heads"].shape[0] > 1


def origin(*kinds: Kind) -> Condition:
    """Build the condition that a trace's parameters have one of these origins."""
    return lambda trace: trace.origin.kind in kinds


def of_model(trace: Trace) -> bool:
    """Whether the trace belongs to a model, with its own vocabulary and task."""
    return bool(trace.origin.title)


def hides(trace: Trace) -> bool:
    """Whether the mask hides any key from any query."""
    return bool(np.isneginf(trace["masked"].value).any())


When = Literal["set", "unseeing", "hidden", "given", ""]


@dataclass(frozen=True)
class Story:
    """A sentence or two on a number, for one case."""

    text: str  # with slots
    # the number is set by hand; its query sees no key in its head; its key is hidden from its query; it is given; any
    when: When = ""
    of: Condition = always

    def renamed(self, names: Mapping[str, str]) -> Story:
        """Return the story with other stage names in its slots."""
        return replace(self, text=renamed(self.text, names))


def selection_story(*stories: Story, of: str = "attention") -> list:
    """A run that follows the selection: the first story that applies to the stage's selected number."""
    return ["story", {"of": of, "stories": [[story.when, story.text] for story in stories]}]


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Replace the stage names in the slots of a story's text, as `{scores:rank}` by `{scores_2:rank}`."""
    return _SLOT.sub(lambda name: names.get(name[0], name[0]), text)


_SLOT = re.compile(r"(?<=\{)\w+")


# the sentence on a sum: its largest term, and the sum of the others
PARTS = "{value:part.place} adds {value:part} ({value:part.sum}), the rest {value:part.rest}"

SET = (  # a number set by hand, for stages without their own stories
    Story("You set this number, which was {value:before}, to {value} by hand; what follows is recomputed.", "set"),
    Story("This number is set to {value} by hand; what follows is recomputed.", "set"),
)

_CASES = ("set", "unseeing", "hidden", "given", "")


def applicable(trace: Trace, stories: Sequence[Story]) -> tuple[Story, ...]:
    """The stories that may apply to a stage of the trace, in the order in which they are tried."""
    holding = [replace(story, text=_begun(worded(trace, story.text))) for story in (*stories, *SET) if story.of(trace)]
    return tuple(sorted(holding, key=lambda story: _CASES.index(story.when)))


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]


# Stories that several bands of the One word view share
SET_IN_BAND = Story("{value} in dimension {column}, as it is set by hand.", "set")
SCORE_SET_IN_BAND = Story("“{key}” has {value}, as it is set by hand.", "set")
NORMED = (SET_IN_BAND, Story("{value} in dimension {column}, {left} before."))
LARGEST_PART = "{sum:part.place} counts most: {sum:part.sum} = {sum:part}."
ROW_BY_ROW = Story("row by row.")  # where a bias counts most, or what they add up to is set by hand
PRODUCT = (Story(f"for dimension {{column}}, {LARGEST_PART}"), ROW_BY_ROW)
SUM = (SET_IN_BAND, Story("{value} in dimension {column}."))
