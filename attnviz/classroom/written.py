"""What a class writes: answers in words, and listeners' questions with votes. Each text has an id in its room. Nobody
but the speaker gets one that the speaker doesn't show.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from attnviz.core.tokens import clean

MAX_CHARACTERS = 140
_INVISIBLE = " \u200c\u200d"


def one_line(text: str) -> str:
    r"""A text in NFC on one line, without control or direction characters; joiners stay inside it alone.

    >>> one_line("  It looks \n back\u202e. ")
    'It looks back.'
    """
    return " ".join(clean(text).split()).strip(_INVISIBLE)


def is_text(text: object) -> bool:
    """Whether this is what `one_line` makes of a text of 1 to `MAX_CHARACTERS` characters."""
    return isinstance(text, str) and 0 < len(text) <= MAX_CHARACTERS and text == one_line(text)


def length_refusal(text: str) -> str:
    """Why a text is refused for its length; empty if it isn't."""
    return f"At most {MAX_CHARACTERS} characters; this has {len(text)}." if len(text) > MAX_CHARACTERS else ""


@dataclass
class ListenersQuestion:
    """What a listener asks the speaker; an empty text if it was withdrawn."""

    id: int
    text: str
    time: float  # when it was asked, in seconds
    votes: set[str] = field(default_factory=set)  # the seats that want it answered
