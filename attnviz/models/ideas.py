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
    lesson : str
        Why some strings break, or why none does.
    purposes : mapping of str to str
        What each changed parameter is for now.
    changes : tuple of Change
    """

    title: str
    lesson: str
    purposes: Mapping[str, str]
    changes: tuple[Change, ...]


def setting(name: str, at: tuple[int | slice, ...], numbers: np.ndarray | float) -> tuple[Change, ...]:
    """The changes that put `numbers` at `at` in the parameter of that name: one for each number that differs."""
    own = MODEL.arrays[name]
    other = own.copy()
    other[at] = numbers
    differ = map(tuple, np.argwhere(other != own).tolist())
    return tuple(Change(name, index, float(other[index]) + 0.0) for index in differ)  # + 0.0: no number is -0


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
        "A sharpness of 5 in place of 2000, everywhere",
        "Now every share of attention leaks a little into the others, as in a trained model. The right letter still "
        "has the largest probability, but no output is exact: sharpness alone makes it so.",
        {
            "w_k_1": "Reads the place, times a sharpness of **5**: this is my place.",
            "w_k_2": "Reads the previous word, times a sharpness of **5**: I come after that word.",
            "w_u": "Reads the word, times a sharpness of **5**: its softmax leaks a little into the other answers.",
        },
        setting("w_k_1", (0, PLACE), 5 * np.eye(6))
        + setting("w_k_2", (0, PREVIOUS), 5 * np.eye(5))
        + setting("w_u", (WORD,), 5 * np.eye(5)),
    ),
    Idea(
        "A sharpness of 2 in layer 2",
        "The right place still gets the largest share, but the other places share the rest. In a long string they can "
        "hold the same letter so often that together they outvote it.",
        {"w_k_2": "Reads the previous word, times a sharpness of **2**: I come after that word."},
        setting("w_k_2", (0, PREVIOUS), 2 * np.eye(5)),
    ),
    Idea(
        "No rotation in layer 1",
        "Each place asks for itself and not for the one before. So the “previous word” is the word itself, layer 2 "
        "finds the letter again, and the model repeats it: right only where the letter came twice in a row.",
        {"w_q_1": "Reads the place, **and turns nothing**: I ask for my own place."},
        setting("w_q_1", (0, PLACE), rotation(0)),
    ),
    Idea(
        "One wave in place of three",
        "Nothing breaks: one slow wave tells 16 places apart, if barely. Its shares in layer 1 leak, but layer 2 only "
        "asks which place leads. The other two waves are a reserve.",
        {"w_q_1": "Reads **one wave** of the place alone, turned back by one step: I ask for the place before mine."},
        setting("w_q_1", (0, slice(PLACE.start + 2, PLACE.stop)), 0.0),
    ),
    Idea(
        "Layer 1 says b for a",
        "A place after an a now says that it comes after a b. Who asks for a finds nobody and looks everywhere alike; "
        "who asks for b may find several.",
        {"w_v_1": "Reads the word, but **a as b**: this is what I pass on."},
        setting("w_v_1", (0, A), np.eye(5)[B]),
    ),
    Idea(
        "Layer 1 does not pass on c",
        "A place after a c has an empty block “previous word”. Who asks for c finds nobody and looks everywhere alike: "
        "what is most frequent wins, which is right only by chance.",
        {"w_v_1": "Reads the word, **but not c**: this is what I pass on."},
        setting("w_v_1", (0, C), 0.0),
    ),
)
