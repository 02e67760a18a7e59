"""Written: a moment as people write it, in a lesson's file or in a talk of their own."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from msgspec import Meta, Struct

from attnviz.analysis.sweep import N_PAIRS, REACHES, Swept, sweep
from attnviz.contract.lesson import Sweep, SweptDivisor, SweptLength, WrongMask
from attnviz.core.limits import MAX_ADDRESS_CHARACTERS, MAX_TEXT_CHARACTERS
from attnviz.lessons.mistaken import MISTAKES, mistaken
from attnviz.lessons.questions import AnyAsk
from attnviz.lessons.reference import Passes

LABELS = {"none": "not divided", "root": "divided by √d_k", "d_k": "divided by d_k"}

Mistake = Literal[MISTAKES]
Divisor = Literal[tuple(LABELS)]


class OfAFile(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="kind"):
    """A picture as a lesson's file has it."""


class MistakePicture(OfAFile, tag="mistake", frozen=True):
    """The shares of a word beside those that a mistake gives it.

    Attributes
    ----------
    of
        The mistake, as in `mistaken`.
    word
        Whose shares.
    """

    of: Mistake
    word: str

    def drawn(self, passes: Passes) -> WrongMask:
        """As the browser reads it."""
        trace = passes.trace()
        row = mistaken(trace, self.of, self.word)
        total = math.fsum(row.wrong)
        return WrongMask(
            name=row.sentence,
            query=self.word,
            sides=("in attnviz", f"In {row.library}") if row.library else ("as they should be", "With the mistake"),
            words=list(trace.labels["key"]),
            hidden=row.hidden.tolist(),
            right=row.right.tolist(),
            wrong=[None if math.isnan(share) else share for share in row.wrong.tolist()],
            right_sum=math.fsum(row.right),
            wrong_sum=None if math.isnan(total) else total,
            laws=row.laws,
        )


class SweepPicture(OfAFile, tag="sweep", frozen=True):
    """Random scores at one d_k after the other.

    Attributes
    ----------
    d_k, divisor
        What is asked about.
    offered
        The divisors that one may choose from: one that a later moment asks about would give that away.
    """

    d_k: int = 1
    divisor: Divisor = "none"
    offered: tuple[Divisor, ...] = tuple(LABELS)

    def drawn(self, passes: Passes) -> Sweep:
        """As the browser reads it."""
        swept = sweep()
        divisors = [
            SweptDivisor(id=id, label=label, reach=REACHES[id], lengths=[_length(each) for each in swept[id]])
            for id, label in LABELS.items()
        ]
        return Sweep(n_pairs=N_PAIRS, divisors=divisors, divisor=self.divisor, offered=list(self.offered), d_k=self.d_k)


def _length(swept: Swept) -> SweptLength:
    return SweptLength(
        d_k=swept.d_k,
        spread=swept.spread,
        expected=swept.expected,
        counts=swept.counts.tolist(),
        shares=swept.shares.tolist(),
        largest=swept.largest,
        slope=swept.slope,
    )


AnyPicture = MistakePicture | SweepPicture
"""A picture of either kind, by its tag."""


Text = Annotated[str, Meta(max_length=MAX_TEXT_CHARACTERS)]


class Written(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of such a file, with these fields and no other."""


class WrittenMoment(Written, frozen=True):
    """A moment, as it is written.

    Attributes
    ----------
    at
        The address of its scene.
    text, after
        What is said before the answer and with it, with slots.
    title
        Its own, if it has one.
    ask
        Its question.
    says_words_alone
        Whether the sentence is all that stands in the picture until the answer is shown.
    picture
        What it shows in place of the picture of its pass: a mistake with the mask, or the sweep of d_k.
    notes
        For the speaker.
    """

    at: Annotated[str, Meta(max_length=MAX_ADDRESS_CHARACTERS)]
    text: Text = ""
    after: Text = ""
    title: Text = ""
    ask: AnyAsk | None = None
    says_words_alone: bool = False
    picture: AnyPicture | None = None
    notes: Text = ""
