"""Ideas: what if some parameters of the model built by hand were others? Each as the numbers that are set."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from attnviz.core.changes import Change
from attnviz.core.graph import Arrays
from attnviz.models.byhand import MODEL, PLACE, PREVIOUS, WORD, rotation


@dataclass(frozen=True)
class Idea:
    """Some parameters set to others, and what that shows.

    Attributes
    ----------
    title : str
    summary : str
        Why some strings break, or why none does.
    purposes : mapping of str to str
        What each changed parameter is for now.
    changes : tuple of Change
    """

    title: str
    summary: str
    purposes: Mapping[str, str]
    changes: tuple[Change, ...]


def setting(name: str, at: tuple[int | slice, ...], numbers: np.ndarray | float) -> tuple[Change, ...]:
    """The changes that put `numbers` at `at` in the parameter of that name: one for each number that differs."""
    built = MODEL.arrays[name]
    changed = built.copy()
    changed[at] = numbers
    differ = map(tuple, np.argwhere(changed != built).tolist())
    return tuple(Change(name, index, float(changed[index]) + 0.0) for index in differ)  # + 0.0: no number is -0


def parameters_with(changes: tuple[Change, ...]) -> Arrays:
    """The parameters of the model with some numbers set to others."""
    parameters = dict(MODEL.arrays)
    for change in changes:
        parameters[change.stage] = parameters[change.stage].copy()
        parameters[change.stage][change.index] = change.value
    return parameters


A, B, C = (MODEL.task.words.index(letter) for letter in "abc")

IDEAS = (
    Idea(
        "A sharpness of 5 instead of 2000, everywhere",
        "The right position still gets the most attention, but not all of it: in layer 2 as little as 55 %. The right "
        "letter still has the largest probability, but no output is exact, as only sharp attention makes it.",
        {
            "w_k_1": "Reads the position, times a sharpness of **5**: this is my position.",
            "w_k_2": "Reads the previous word, times a sharpness of **5**: I come after that word.",
            "w_u": "Reads the word, times a sharpness of **5**: its softmax leaks a little into the other answers.",
        },
        setting("w_k_1", (0, PLACE), 5 * np.eye(6))
        + setting("w_k_2", (0, PREVIOUS), 5 * np.eye(5))
        + setting("w_u", (WORD,), 5 * np.eye(5)),
    ),
    Idea(
        "A sharpness of 2 in layer 2",
        "The right position still gets the largest share, but the other positions get the rest. In a long string one "
        "wrong letter can stand at so many of them that together they outvote the right position.",
        {"w_k_2": "Reads the previous word, times a sharpness of **2**: I come after that word."},
        setting("w_k_2", (0, PREVIOUS), 2 * np.eye(5)),
    ),
    Idea(
        "No rotation in layer 1",
        "Each position asks for itself, not for the position before. So the block “previous word” holds the word "
        "itself, and the model repeats the last letter: right only where that letter came twice in a row.",
        {"w_q_1": "Reads the position, **and turns nothing**: I ask for my own position."},
        setting("w_q_1", (0, PLACE), rotation(0)),
    ),
    Idea(
        "One wave instead of three",
        "Nothing breaks: one slow wave tells the positions apart. In layer 1 the right position gets all of the "
        "attention; the largest other share is 1e-27, where three waves leave exactly 0.",
        {"w_q_1": "Reads **one wave** of the position alone, turned back by one step: I ask for the one before mine."},
        setting("w_q_1", (0, slice(PLACE.start + 2, PLACE.stop)), 0.0),
    ),
    Idea(
        "Layer 1 says b for a",
        "A position after an a now says that it comes after a b. A last letter a finds no such position and looks at "
        "all positions alike; a last letter b may find several.",
        {"w_v_1": "Reads the word, but **a as b**: this is what I pass on."},
        setting("w_v_1", (0, A), np.eye(5)[B]),
    ),
    Idea(
        "Layer 1 does not pass on c",
        "A position after a c has an empty block “previous word”. A last letter c finds no such position and looks at "
        "all positions alike. The most frequent letter wins, which is right only by chance.",
        {"w_v_1": "Reads the word, **but not c**: this is what I pass on."},
        setting("w_v_1", (0, C), 0.0),
    ),
)
