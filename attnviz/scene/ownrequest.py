"""Own requests: what a browser says of a file of someone's own that it sends, and what it may say."""

from __future__ import annotations

import json
from dataclasses import dataclass

from attnviz.analysis.check.layouts import IN_OUT, OUT_IN
from attnviz.analysis.check.stages import stages
from attnviz.core.tokens import cleaned
from attnviz.scene.ownexamples import EXAMPLES
from attnviz.text.steps import full_title

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
"""What is asked of a file, with the answers that there are; the first holds until another is picked."""


@dataclass(frozen=True)
class OwnRequest:
    """What a browser says of a file.

    Attributes
    ----------
    tab : str
        What stands for the person's tab.
    filename : str
        Its last characters, without what can't be seen.
    example : str
        One of `EXAMPLES` whose file it is, or "".
    n_heads, stage, against, orientation, true_is : str
        The answers to `QUESTIONS`.
    """

    tab: str
    filename: str
    example: str
    n_heads: str
    stage: str
    against: str
    orientation: str
    true_is: str


def read(line: bytes) -> OwnRequest | None:
    """What a line of JSON says, or None if no page of ours would say so."""
    try:
        said = json.loads(line)
        parts = {name: said[name] for name in OwnRequest.__annotations__}
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    is_read = (
        all(isinstance(part, str) for part in parts.values())
        and parts["example"] in ("", *EXAMPLES)
        and all(parts[name] in answers for name, (_, answers) in QUESTIONS.items())
    )
    if not is_read:
        return None
    return OwnRequest(**parts | {"filename": cleaned(parts["filename"][-MAX_NAME_CHARACTERS:])})
