"""Own requests: what a browser says of a file of someone's own that it sends, and what it may say."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, structs

from attnviz.checks.layouts import IN_OUT, OUT_IN
from attnviz.checks.stages import stages
from attnviz.checks.uploads.examples import EXAMPLES
from attnviz.contract.base import received
from attnviz.core.tokens import cleaned
from attnviz.explain.steps import full_title

MAX_NAME_CHARACTERS = 255
"""Of a file's name, of which no more is read."""

OWN, SHOWN = "own", "shown"
_HEADS = (*range(1, 17), 20, 24, 25, 32, 40, 48, 64, 96, 128)

QUESTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "n_heads": ("Heads", {"": "as many as fit"} | {str(n): str(n) for n in _HEADS}),
    "stage": (
        "This array is",
        {"": "what its name says, or what is nearest"} | {each: full_title(each) for each in stages()},
    ),
    "against": (
        "Compare with",
        {OWN: "attnviz's pass from the same inputs and weights", SHOWN: "the pass that the walkthrough shows"},
    ),
    "orientation": (
        "Weights are",
        {"": "what fits", IN_OUT: f"{IN_OUT}, as in x @ W", OUT_IN: f"{OUT_IN}, as in PyTorch's Linear"},
    ),
    "true_is": (
        "True in a mask is",
        {"": "what fits", "visible": "a key that is seen", "hidden": "a key that is hidden"},
    ),
}
"""The questions about a file, with their answers; the first holds until another is picked."""


class OwnRequest(Struct, frozen=True):
    """A request about a file: its name, and the answers to `QUESTIONS`.

    Attributes
    ----------
    tab : str
        The tab's token.
    filename : str
        Its last characters, without what can't be seen.
    example : str
        One of `EXAMPLES` whose file it is, or "".
    n_heads, stage, against, orientation, true_is : str
        The answers to `QUESTIONS`.
    """

    tab: str
    filename: str
    example: Literal[("", *EXAMPLES)]
    n_heads: Literal[tuple(QUESTIONS["n_heads"][1])]
    stage: Literal[tuple(QUESTIONS["stage"][1])]
    against: Literal[tuple(QUESTIONS["against"][1])]
    orientation: Literal[tuple(QUESTIONS["orientation"][1])]
    true_is: Literal[tuple(QUESTIONS["true_is"][1])]


def read(line: bytes) -> OwnRequest:
    """The request in a line of JSON; RequestError if no page of ours would send it."""
    request = received(line, OwnRequest)
    return structs.replace(request, filename=cleaned(request.filename[-MAX_NAME_CHARACTERS:]))
