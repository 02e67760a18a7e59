"""Code: which of three lines of NumPy computes a stage; each is run, and what it gives is said."""

from __future__ import annotations

import numpy as np

from attnviz.contract.lesson import Candidate, Choose, LessonRuns
from attnviz.core.stage import split_layer
from attnviz.lessons.expression import softmax
from attnviz.lessons.naming import place_slot
from attnviz.lessons.questions.ask import Ask, computed_from
from attnviz.lessons.reference import LessonError, Passes, Reference, find
from attnviz.lessons.slots import filled, form_of, format_number, sentence

SAME = 1e-9

_PLACES = {1: "row", 2: "column"}
"""The axes of a stage that are named, after that of the heads."""

Arrays = dict[str, np.ndarray]


LINES = {
    "scores": {
        "q @ k.swapaxes(-1, -2)": lambda of: of["q"] @ of["k"].swapaxes(-1, -2),
        "k @ q.swapaxes(-1, -2)": lambda of: of["k"] @ of["q"].swapaxes(-1, -2),
        "q.swapaxes(-1, -2) @ k": lambda of: of["q"].swapaxes(-1, -2) @ of["k"],
    },
    "scaled": {
        "scores / np.sqrt(d_k)": lambda of: of["scores"] / np.sqrt(of["q"].shape[-1]),
        "scores / d_k": lambda of: of["scores"] / of["q"].shape[-1],
        "scores * np.sqrt(d_k)": lambda of: of["scores"] * np.sqrt(of["q"].shape[-1]),
    },
    "masked": {
        "np.where(mask, scaled, -np.inf)": lambda of: np.where(of["mask"], of["scaled"], -np.inf),
        "scaled * mask": lambda of: of["scaled"] * of["mask"],
        "np.where(mask, -np.inf, scaled)": lambda of: np.where(of["mask"], -np.inf, of["scaled"]),
    },
    "attention": {
        "softmax(masked, axis=-1)": lambda of: softmax(of["masked"], -1),
        "softmax(masked, axis=-2)": lambda of: softmax(of["masked"], -2),
        "masked / masked.sum(axis=-1, keepdims=True)": lambda of: of["masked"] / of["masked"].sum(-1, keepdims=True),
    },
    "heads": {
        "attention @ v": lambda of: of["attention"] @ of["v"],
        "attention.swapaxes(-1, -2) @ v": lambda of: of["attention"].swapaxes(-1, -2) @ of["v"],
        "attention @ k": lambda of: of["attention"] @ of["k"],
    },
}
"""For each stage the line that computes it and two that don't, and what they compute."""


class Code(Ask, tag="code", frozen=True):
    """Which of three lines computes a stage.

    Attributes
    ----------
    of
        A cell of that stage, whose number is told for each line.
    """

    of: str

    def question(self, passes: Passes) -> Choose:
        of = find(self.of, passes)
        name, _ = split_layer(of.stage.name)
        if name not in LINES:
            raise LessonError(f"Lines are known for {', '.join(LINES)}; got {self.of}.")
        made = {line: _made(line, of) for line in sorted(LINES[name])}
        right = [at for at, array in enumerate(made.values()) if _is_stage(array, of)]
        return Choose(
            prompt=filled(self.prompt, passes),
            candidates=[Candidate(label=line, feedback=_feedback(array, of)) for line, array in made.items()],
            right=right,
            is_code=True,
        )

    def covers(self, passes: Passes) -> set[str]:
        of = find(self.of, passes)
        return computed_from(of.trace, [of.stage.name])


def _made(line: str, of: Reference) -> np.ndarray:
    """The array that a line gives."""
    name, layer = split_layer(of.stage.name)
    layer_trace = next(each for each in of.trace.layers if each.number == max(layer, 1)).trace
    arrays = {stage.name: stage.value for stage in layer_trace}
    with np.errstate(invalid="ignore", divide="ignore"):
        return LINES[name][line](arrays)


def _is_stage(array: np.ndarray, of: Reference) -> bool:
    if array.shape != of.stage.shape:
        return False
    return np.allclose(array, of.stage.value, rtol=SAME, atol=SAME)


def _feedback(array: np.ndarray, of: Reference) -> LessonRuns:
    if array.shape != of.stage.shape:
        shapes = (" × ".join(map(str, shape)) for shape in (array.shape, of.stage.shape))
        return sentence("It gives {} numbers, not {}.".format(*shapes))
    where = " and ".join(place_slot(of, axis, slot) for axis, slot in _PLACES.items())
    names = {slot: ["", of.label(axis, of.index[axis])] for axis, slot in _PLACES.items()}
    if _is_stage(array, of):
        return sentence(f"For {where} it gives {{number}}, as in the pass.", number=of, **names)
    value = float(array[of.index])
    if np.isnan(value):
        return sentence(f"For {where} it gives no number: −∞ is divided by −∞.", **names)
    wrong = format_number(value, form_of(of))
    return sentence(f"For {where} it gives {wrong}, where the pass has {{number}}.", number=of, **names)
