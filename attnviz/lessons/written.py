"""Written: a moment as people write it, in a lesson's file or in a talk of their own."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from attnviz.core.limits import MAX_ADDRESS_CHARACTERS, MAX_TEXT_CHARACTERS
from attnviz.lessons.pictures import AnyPicture
from attnviz.lessons.questions import AnyAsk

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
