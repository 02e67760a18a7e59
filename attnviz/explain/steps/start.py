"""Question: what the pass is about to answer, asked about the user's sentence."""

import re
from collections.abc import Sequence

from attnviz.core.tokens import without_number
from attnviz.core.trace import Trace
from attnviz.explain.step import Entries, Section, Step, either
from attnviz.explain.story import Story, always, both, of_model, origin, selection_story, unless
from attnviz.explain.styled_text import Runs, runs
from attnviz.explain.texts import of_two_texts, query_noun, sides

MAX_QUOTED_WORDS = 16  # the most words of a sentence that a heading quotes
_CLOSING = ".,;:!?…)"
_WORD = selection_story(Story("{query}"))


def sentence(labels: Sequence[str]) -> str:
    """The words along an axis as a sentence, cut short if it is long."""
    quoted = ""
    for word in map(without_number, labels[:MAX_QUOTED_WORDS]):
        apart = quoted and word not in _CLOSING
        quoted += f" {word}" if apart else word
    return quoted + " …" * (len(labels) > MAX_QUOTED_WORDS)


def _question(trace: Trace, entries: Entries) -> Runs:
    queries, keys = (trace.labels.get(axis) for axis in ("query", "key"))
    if not queries or not keys:
        return runs("What does each query take from the keys?")
    if of_two_texts(trace) and of_model(trace):
        return runs(trace.origin.question, sentence=trace.origin.text or sentence(_unmarked(keys)))
    if trace.origin.is_open and not trace.origin.text:
        return runs("What comes first?")
    if of_model(trace) and not any(trace.origin.right) and not trace.origin.is_open:
        return runs("What does the model answer to “{sentence}”?", sentence=sentence(queries))
    if of_model(trace):
        return runs(trace.origin.question, sentence=trace.origin.text or sentence(queries))
    if queries != keys:
        return runs("What does “{word}” take from “{context}”?", word=_WORD, context=sentence(keys))
    if len(queries) == 1:
        return runs("What does “{word}” take from itself?", word=_WORD)
    return runs("In “{sentence}”, what does “{word}” take from the others?", sentence=sentence(queries), word=_WORD)


def _unmarked(labels: Sequence[str]) -> list[str]:
    """The words of a text, without the tokens that mark where it begins and ends."""
    return [label for label in labels if not re.fullmatch(r"<\w+>", label)]


def _comes_next(trace: Trace, entries: Entries) -> str:
    written, read = sides(trace)
    return (
        f"Which {query_noun(trace)} comes next depends on the {read} {{unit}}s and on the {written} ones before it; "
        "attention lets it take in something of both."
    )


def _lines(trace: Trace, entries: Entries) -> str:
    if of_model(trace):
        return (
            f"The model writes one {query_noun(trace)} after the other. Click one to see which "
            f"{sides(trace)[1]} {{unit}}s were read for it: the thicker a line, the more attention."
        )
    return (
        f"Click any {query_noun(trace)} to see which {sides(trace)[1]} {{unit}}s it reads: the thicker a line, "
        "the more attention."
    )


def _is_no_text_of_its_task(trace: Trace) -> bool:
    origin = trace.origin
    return origin.kind in ("learnt", "built") and not any(origin.right) and not origin.is_open


QUESTION = Step(
    id="question",
    title="Start",
    heading=_question,
    why=either(
        of_two_texts,
        _comes_next,
        "What a {unit} means depends on the others, so attention lets it take in something of them.",
    ),
    text=(
        Section("task", lambda trace, _: trace.origin.task, origin("learnt", "built")),
        Section(
            "no task", "The model was not made for such a text, so its answer means nothing.", _is_no_text_of_its_task
        ),
        Section(
            "not learnt yet",
            "The parameters of this model are still **random**, as training has not begun: where a {unit} looks "
            "means nothing yet.",
            both(origin("drawn"), of_model),
        ),
        Section(
            "arcs",
            "Click a {unit} to see where it looks: the thicker an arc, the more attention; click an arc or a "
            "percentage to see how it was computed.",
            unless(of_two_texts),
        ),
        Section("lines", _lines, of_two_texts),
        Section(
            "random",
            "The parameters here are **random**, so where a {unit} looks means nothing yet; it is computed as in a "
            "trained model.",
            both(origin("drawn"), unless(of_model)),
        ),
        Section(
            "given",
            "The arrays here were given, not drawn or trained: every other number is computed from them.",
            origin("given"),
        ),
    ),
    arcs=True,
    subject="attention",
    when=always,
)
