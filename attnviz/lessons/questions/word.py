"""Word: which word a row is largest at; one clicks it in the sentence."""

from __future__ import annotations

from attnviz.contract.lesson import Candidate
from attnviz.lessons.naming import is_of_words
from attnviz.lessons.questions.extreme import Extreme
from attnviz.lessons.reference import LessonError, Reference


class Word(Extreme, tag="word", frozen=True):
    """A question that is answered by a click on a word."""

    def candidate(self, of: Reference, place: int) -> Candidate:
        axis = of.index.index(None)
        if not is_of_words(of, axis):
            raise LessonError(f"Words are asked for; {self.of} has none along its *.")
        return Candidate(label=of.label(axis, place), feedback=self.feedback(of, place), word=place)
