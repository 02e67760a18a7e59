"""Answer: what a model answers, perhaps after a change."""

from __future__ import annotations

import numpy as np

from attnviz.contract.lesson import Candidate, Choose, LessonRuns
from attnviz.core.changes import Change
from attnviz.core.trace import Trace, cached_on_trace
from attnviz.lessons.naming import ordinal
from attnviz.lessons.questions.ask import Ask, computed_from
from attnviz.lessons.reference import LessonError, Passes, Reference
from attnviz.lessons.slots import filled, sentence
from attnviz.models.task import most_probable

MOST = 6
"""Answers that are offered, where a model has more."""


class Answer(Ask, tag="answer", frozen=True):
    """Which answer is the most probable, at the last token."""

    def question(self, passes: Passes) -> Choose:
        places = self._offered(passes)
        right = [at for at, place in enumerate(places) if _most(_row(passes))[place]]
        return Choose(
            prompt=filled(self.prompt, passes),
            candidates=[self._candidate(place, passes) for place in places],
            right=right,
        )

    def covers(self, passes: Passes) -> set[str]:
        trace = passes.trace()
        looking = trace.layers[-1].names["attention"]  # the word that it looks at may be the answer
        return {looking, *computed_from(trace, ["logits"])}

    def _offered(self, passes: Passes) -> list[int]:
        """The most probable answers, before a change and in the pass beside too, and those that the text has.

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
    """At which word the last one would have to look, in the last layer, for an answer to be the most probable."""
    names = trace.labels["key"]
    for key, row in _rows_looking_at_one(trace).items():
        if row.argmax() == answer:
            last, other = (["", names[place]] for place in (-1, key))
            return sentence(" It would be right if “{last}” looked at “{other}” alone.", last=last, other=other)
    return []


@cached_on_trace
def _rows_looking_at_one(trace: Trace) -> dict[int, np.ndarray]:
    """The probabilities if the last word gave all its attention in the last layer to each word that it sees."""
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


def _most(row: np.ndarray) -> np.ndarray:
    return most_probable(row[None])[0]


def _before(passes: Passes) -> list[tuple[str, np.ndarray]]:
    """Other passes that one may answer for: what is said of their answer, and the probabilities."""
    others = []
    if passes.b.scene.changes:
        others.append(("It was the answer before the change", passes.b.original["probabilities"].value[-1]))
    other = passes.b.other
    if other and other.trace.labels["answer"] == passes.trace().labels["answer"]:
        others.append(("It is the answer in A", _row(passes, "A")))
    return others
