"""Questions on the whole pass: what the model answers, and which line of code computes a stage."""

from __future__ import annotations

import numpy as np

from attnviz.contract.lesson import Candidate, Choose, LessonRuns
from attnviz.core.changes import Change
from attnviz.core.stage import split_layer
from attnviz.core.trace import Trace, cached_on_trace
from attnviz.lessons.questions.spec import QuestionSpec, computed_from
from attnviz.lessons.reference import LessonError, Passes, Reference, find, ordinal, place_slot
from attnviz.lessons.slots import fill_slots, form_of, format_number, sentence, softmax
from attnviz.models.task import most_probable

SAME = 1e-9

_PLACES = {1: "row", 2: "column"}
"""How feedback names the axes after that of the heads."""

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
"""For each stage the line that computes it and two wrong ones, with what they compute."""


class Code(QuestionSpec, tag="code", frozen=True):
    """Which of three lines computes a stage.

    Attributes
    ----------
    of
        A cell of that stage; feedback gives its number for each line.
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
            prompt=fill_slots(self.prompt, passes),
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


MOST = 6
"""The most answers that are offered."""


class Answer(QuestionSpec, tag="answer", frozen=True):
    """Which answer is the most probable, at the last token."""

    def question(self, passes: Passes) -> Choose:
        places = self._offered(passes)
        right = [at for at, place in enumerate(places) if most_probable(_row(passes)[None])[0][place]]
        return Choose(
            prompt=fill_slots(self.prompt, passes),
            candidates=[self._candidate(place, passes) for place in places],
            right=right,
        )

    def covers(self, passes: Passes) -> set[str]:
        trace = passes.trace()
        looking = trace.layers[-1].names["attention"]  # the word that it looks at may be the answer
        return {looking, *computed_from(trace, ["logits"])}

    def _offered(self, passes: Passes) -> list[int]:
        """The offered answers: the most probable, also before a change and in the compared pass, and words of the text.

        Which come next in an open text may be any; there those of the text are no likelier guess.
        """
        trace = passes.trace()
        rows = [_row(passes), *(row for _, row in _before(passes))]
        firsts = [int(row.argmax()) for row in rows]
        in_text = [place for place, label in enumerate(trace.labels["answer"]) if label in trace.labels["key"]]
        others = [int(place) for place in np.argsort(-rows[0])]
        offered = [*firsts, *([] if trace.origin.is_open else in_text), *others]
        return sorted(list(dict.fromkeys(offered))[:MOST])

    def _candidate(self, place: int, passes: Passes) -> Candidate:
        trace = passes.trace()
        return Candidate(label=trace.labels["answer"][place], feedback=self._feedback(place, passes))

    def _feedback(self, place: int, passes: Passes) -> LessonRuns:
        trace, row = passes.trace(), _row(passes)
        index = (len(trace["probabilities"].value) - 1, place)
        reference = Reference("B", trace, trace["probabilities"], index)
        rank = int((row > row[place]).sum()) + 1
        name = ["", trace.labels["answer"][place]]
        which = f"the {ordinal(rank)} most probable".replace("the first ", "the ")
        sentences = sentence(f"“{{name}}” gets {{number}}: {which}.", name=name, number=reference)
        if rank == 1:
            return sentences
        before = [text for text, other in _before(passes) if other.argmax() == place]
        return [*sentences, *(sentence(f" {before[0]}.") if before else _looking_elsewhere(place, trace))]


def _looking_elsewhere(answer: int, trace: Trace) -> LessonRuns:
    """The word that the last one would have to look at alone, in the last layer, for this answer to win."""
    names = trace.labels["key"]
    for key, row in _rows_looking_at_one(trace).items():
        if row.argmax() == answer:
            last, other = (["", names[place]] for place in (-1, key))
            return sentence(" It would be right if “{last}” looked at “{other}” alone.", last=last, other=other)
    return []


@cached_on_trace
def _rows_looking_at_one(trace: Trace) -> dict[int, np.ndarray]:
    """For each visible word, the probabilities if the last word gave it all its attention in the last layer."""
    layer = trace.layers[-1]
    name, last = layer.names["attention"], len(trace.labels["query"]) - 1
    rows = {}
    for key in np.flatnonzero(np.isfinite(layer.trace["masked"].value[0, last])):
        changes = (
            change
            for head in range(trace[name].shape[0])
            for change in (Change(name, (head, last), 0.0), Change(name, (head, last, int(key)), 1.0))
        )
        rows[int(key)] = trace.with_changes(*changes)["probabilities"].value[-1]
    return rows


def _row(passes: Passes, of: str = "B") -> np.ndarray:
    trace = passes.trace(of)
    if "probabilities" not in trace:
        raise LessonError("An answer is asked of a model; this pass has none.")
    return trace["probabilities"].value[-1]


def _before(passes: Passes) -> list[tuple[str, np.ndarray]]:
    """Passes that a learner may confuse with this one: the sentence on their answer, and their probabilities."""
    others = []
    if passes.b.scene.changes:
        others.append(("It was the answer before the change", passes.b.original["probabilities"].value[-1]))
    other = passes.b.other
    if other and other.trace.labels["answer"] == passes.trace().labels["answer"]:
        others.append(("It is the answer in A", _row(passes, "A")))
    return others
