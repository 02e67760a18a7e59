"""Questions on the whole pass: what the model answers, and which line of code computes a stage."""

from __future__ import annotations

import numpy as np

from attnviz.contract.base import ORDINALS
from attnviz.contract.lesson import Candidate, Choose, LessonRuns
from attnviz.core.changes import Change
from attnviz.core.stage import split_layer
from attnviz.core.trace import Trace, cached_on_trace
from attnviz.lessons.cell_reference import LessonError, Passes, Reference, find, place_slot
from attnviz.lessons.questions.spec import QuestionSpec, computed_from
from attnviz.lessons.slots import fill_slots, form_of, format_number, sentence, softmax
from attnviz.models.task import most_probable

SAME = 1e-9
_PLACES = {1: "row", 2: "column"}  # how feedback names the axes after that of the heads
Arrays = dict[str, np.ndarray]


LINES = {  # for each stage the line that computes it and two wrong ones, with what they compute
    "scores": {
        "q @ k.swapaxes(-1, -2)": lambda ref: ref["q"] @ ref["k"].swapaxes(-1, -2),
        "k @ q.swapaxes(-1, -2)": lambda ref: ref["k"] @ ref["q"].swapaxes(-1, -2),
        "q.swapaxes(-1, -2) @ k": lambda ref: ref["q"].swapaxes(-1, -2) @ ref["k"],
    },
    "scaled": {
        "scores / np.sqrt(d_k)": lambda ref: ref["scores"] / np.sqrt(ref["q"].shape[-1]),
        "scores / d_k": lambda ref: ref["scores"] / ref["q"].shape[-1],
        "scores * np.sqrt(d_k)": lambda ref: ref["scores"] * np.sqrt(ref["q"].shape[-1]),
    },
    "masked": {
        "np.where(mask, scaled, -np.inf)": lambda ref: np.where(ref["mask"], ref["scaled"], -np.inf),
        "scaled * mask": lambda ref: ref["scaled"] * ref["mask"],
        "np.where(mask, -np.inf, scaled)": lambda ref: np.where(ref["mask"], -np.inf, ref["scaled"]),
    },
    "attention": {
        "softmax(masked, axis=-1)": lambda ref: softmax(ref["masked"], -1),
        "softmax(masked, axis=-2)": lambda ref: softmax(ref["masked"], -2),
        "masked / masked.sum(axis=-1, keepdims=True)": lambda ref: ref["masked"] / ref["masked"].sum(-1, keepdims=True),
    },
    "heads": {
        "attention @ v": lambda ref: ref["attention"] @ ref["v"],
        "attention.swapaxes(-1, -2) @ v": lambda ref: ref["attention"].swapaxes(-1, -2) @ ref["v"],
        "attention @ k": lambda ref: ref["attention"] @ ref["k"],
    },
}


class Code(QuestionSpec, tag="code", frozen=True):
    """Which of three lines computes a stage."""

    of: str  # a cell of that stage; feedback gives its number for each line

    def question(self, passes: Passes) -> Choose:
        ref = find(self.of, passes)
        name, layer = split_layer(ref.stage.name)
        if name not in LINES:
            raise LessonError(f"Lines are known for {', '.join(LINES)}; got {self.of}.")
        arrays = {stage.name: stage.value for stage in ref.trace.layers[max(layer, 1) - 1].trace.stages}
        with np.errstate(invalid="ignore", divide="ignore"):
            computed = {line: LINES[name][line](arrays) for line in sorted(LINES[name])}
        return Choose(
            prompt=fill_slots(self.prompt, passes),
            candidates=[Candidate(label=line, feedback=_feedback(array, ref)) for line, array in computed.items()],
            right=[index for index, array in enumerate(computed.values()) if _is_stage(array, ref)],
            is_code=True,
        )

    def covers(self, passes: Passes) -> set[str]:
        ref = find(self.of, passes)
        return computed_from(ref.trace, [ref.stage.name])


def _is_stage(array: np.ndarray, ref: Reference) -> bool:
    return array.shape == ref.stage.shape and np.allclose(array, ref.stage.value, rtol=SAME, atol=SAME)


def _feedback(array: np.ndarray, ref: Reference) -> LessonRuns:
    if array.shape != ref.stage.shape:
        shapes = (" × ".join(map(str, shape)) for shape in (array.shape, ref.stage.shape))
        return sentence("The line gives {} numbers, not {}.".format(*shapes))
    where = " and ".join(place_slot(ref, axis, slot) for axis, slot in _PLACES.items())
    names = {slot: ["", ref.label(axis, ref.index[axis])] for axis, slot in _PLACES.items()}
    if _is_stage(array, ref):
        return sentence(f"For {where} the line gives {{number}}, which is right.", number=ref, **names)
    value = float(array[ref.index])
    if np.isnan(value):
        return sentence(f"For {where} the line gives no number: −∞ is divided by −∞.", **names)
    wrong = format_number(value, form_of(ref))
    return sentence(f"For {where} the line gives {wrong}, where {{number}} is right.", number=ref, **names)


MOST = 6  # the most answers that are offered


class Answer(QuestionSpec, tag="answer", frozen=True):
    """Which answer is the most probable, at the last token."""

    def question(self, passes: Passes) -> Choose:
        answers, labels = self._offered(passes), passes.trace().labels["answer"]
        is_right = most_probable(_row(passes)[None])[0]
        return Choose(
            prompt=fill_slots(self.prompt, passes),
            candidates=[Candidate(label=labels[each], feedback=self._feedback(each, passes)) for each in answers],
            right=[index for index, each in enumerate(answers) if is_right[each]],
        )

    def covers(self, passes: Passes) -> set[str]:
        trace = passes.trace()
        # the word that it looks at may be the answer, but where any letter may come next
        looking = [] if trace.origin.is_open else [trace.layers[-1].names["attention"]]
        return {*looking, *computed_from(trace, ["logits"])}

    def _offered(self, passes: Passes) -> list[int]:
        """The offered answers: the most probable, also before a change and in the compared pass, and words of the text.
        In an open text any answer may come next; there the words of the text are no likelier guess.
        """
        trace = passes.trace()
        rows = [_row(passes), *(row for _, row in _before(passes))]
        firsts = [int(row.argmax()) for row in rows]
        in_text = [index for index, label in enumerate(trace.labels["answer"]) if label in trace.labels["key"]]
        others = [int(index) for index in np.argsort(-rows[0])]
        return sorted(list(dict.fromkeys([*firsts, *([] if trace.origin.is_open else in_text), *others]))[:MOST])

    def _feedback(self, answer: int, passes: Passes) -> LessonRuns:
        trace, row = passes.trace(), _row(passes)
        number = Reference("B", trace, trace["probabilities"], (len(trace["probabilities"].value) - 1, answer))
        rank = int((row > row[answer]).sum()) + 1
        which = "the most probable" if rank == 1 else f"the {_ordinal(rank)} most probable"
        name = ["", trace.labels["answer"][answer]]
        sentences = sentence(f"“{{name}}” gets {{number}}: {which}.", name=name, number=number)
        if rank == 1:
            return sentences
        before = [text for text, other in _before(passes) if other.argmax() == answer]
        return [*sentences, *(sentence(f" {before[0]}.") if before else _looking_elsewhere(answer, trace))]


def _looking_elsewhere(answer: int, trace: Trace) -> LessonRuns:
    labels = trace.layers[-1].trace.labels
    for key, row in _rows_looking_at_one(trace).items():
        if row.argmax() == answer:
            text = " It would be right if “{last}” looked at “{other}” alone."
            return sentence(text, last=["", labels["query"][-1]], other=["", labels["key"][key]])
    return []


@cached_on_trace
def _rows_looking_at_one(trace: Trace) -> dict[int, np.ndarray]:
    """For each visible word, the probabilities if the last word gave it all its attention in the last layer."""
    layer = trace.layers[-1]
    name, last = layer.names["attention"], len(layer.trace.labels["query"]) - 1
    rows = {}
    for key in np.flatnonzero(np.isfinite(layer.trace["masked"].value[0, last])):
        changes = (
            change
            for head in range(trace[name].shape[0])
            for change in (Change(name, (head, last), 0.0), Change(name, (head, last, int(key)), 1.0))
        )
        rows[int(key)] = trace.with_changes(*changes)["probabilities"].value[-1]
    return rows


def _row(passes: Passes, ref: str = "B") -> np.ndarray:
    trace = passes.trace(ref)
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


def _ordinal(n: int) -> str:
    """The ordinal of n, in words if small."""
    if n <= len(ORDINALS):
        return ORDINALS[n - 1]
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"
