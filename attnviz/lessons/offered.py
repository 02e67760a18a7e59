"""Offered: the questions that a scene has an answer to, of the word, the number and the pass that it is at."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from attnviz.contract.lesson import Fill, OfferedQuestion, Question
from attnviz.core.selection import Selection
from attnviz.core.stage import split_layer
from attnviz.core.trace import Layer
from attnviz.explain.steps import full_title, steps_of
from attnviz.lessons.expression import EXPRESSION_ERRORS
from attnviz.lessons.naming import is_of_words, noun, place_name, quoted_name
from attnviz.lessons.questions import AnyAsk
from attnviz.lessons.questions.answer import Answer
from attnviz.lessons.questions.code import LINES, Code
from attnviz.lessons.questions.compare import Compare
from attnviz.lessons.questions.count import Count
from attnviz.lessons.questions.number import Number
from attnviz.lessons.questions.share import Share
from attnviz.lessons.questions.word import Word
from attnviz.lessons.reference import Passes, Reference
from attnviz.lessons.talk import TalkError
from attnviz.lessons.talk_moment import check_answer
from attnviz.scene.scene import choice_of
from attnviz.scene.start import picked, selected

_OF_CODE = {
    "scores": "Which line computes the scores?",
    "scaled": "Which line computes the scaled scores?",
    "masked": "Which line hides what the mask is to hide?",
    "attention": "Which line computes the shares?",
    "heads": "Which line computes what the head finds?",
}
_SPECIAL = frozenset("{}*$`:")
"""Of markup: a word with one of these stands in no prompt of ours."""


def offered(passes: Passes) -> list[OfferedQuestion]:
    """The questions that the pass has an answer to."""
    questions = []
    for ask in _asks(passes):
        try:
            with np.errstate(all="ignore"):
                question = ask.question(passes)
                ask.covers(passes)
                check_answer(question)
        except (TalkError, *EXPRESSION_ERRORS):
            continue  # this pass has no answer to it
        if not isinstance(question, Fill) and len(question.right) == len(question.candidates):
            continue  # nobody could be wrong
        questions.append(OfferedQuestion(ask=msgspec.to_builtins(ask), answer=answer_text(question)))
    return questions


def answer_text(question: Question) -> str:
    """The right answer in words."""
    if not isinstance(question, Fill):
        return " or ".join(question.candidates[place].label for place in question.right)
    return f"{question.text} {question.unit}".strip()


def _asks(passes: Passes) -> Iterator[AnyAsk]:
    at, layer = _selection(passes), _layer(passes)
    model = choice_of(passes.b.scene)
    unit = model.task.unit if model else "word"
    attention = _at(passes, layer.names["attention"], at)
    query, key = (place_name(attention, axis, attention.index[axis]) for axis in (1, 2))
    inside = _inside(attention)
    if _SPECIAL.isdisjoint(query + key):
        row, cell = _written(attention, 2), _written(attention)
        yield Word(of=row, prompt=f"Which {unit} will “{query}” look at most{inside}?")
        yield Share(of=cell, prompt=f"What share of its attention does “{query}” give to “{key}”{inside}?")
        if passes.b.other:
            yield Compare(of=cell, prompt=f"Does “{query}” give “{key}” more{inside} than in A, less or the same?")
        yield from _of_the_number(passes, at)
    if "probabilities" in passes.trace():
        is_next = model is not None and model.task.is_open
        yield Answer(
            prompt=f"Which {unit} does the model find most probable next?" if is_next else "What does the model answer?"
        )
    if not np.isfinite(layer.trace["masked"].value).all():
        yield Count(of="hidden", unit="pairs", prompt=f"How many pairs of {unit}s does the mask hide?")
    if passes.b.other:
        yield Count(of="differing", unit="shares", prompt="How many shares are others than in A?")
    stage = split_layer(_stage(passes))[0]
    if stage in LINES:
        yield Code(of=_written(_at(passes, _stage(passes), at)), prompt=_OF_CODE[stage])


def _of_the_number(passes: Passes, at: Selection) -> Iterator[AnyAsk]:
    """The question for the number that the scene is at; none for a share of attention, which another asks for."""
    name = _stage(passes)
    of = _at(passes, name, at)
    if split_layer(name)[0] == "attention":
        return
    places = [quoted_name(of, axis, place) for axis, place in enumerate(of.index)]
    if noun(name) == "number":
        prompt = f"Which number stands in {full_title(name)} at {', '.join(places)}?"
    else:
        words = (each for axis, each in enumerate(places) if is_of_words(of, axis))
        prompt = f"What is the {noun(name)} of {' and '.join(words)}{_inside(of)}?"
    if noun(name) == "probability":
        yield Share(of=_written(of), prompt=prompt)
    else:
        yield Number(of=_written(of), prompt=prompt)


def _inside(of: Reference) -> str:
    """The head and the layer of a cell, where there are several."""
    is_headed = of.stage.axes[0] == "head" and of.stage.shape[0] > 1
    head = f" in {place_name(of, 0, of.index[0])}" if is_headed else ""
    layer = split_layer(of.stage.name)[1]
    return head + (f" {'of' if head else 'in'} layer {layer}" if layer else "")


def _selection(passes: Passes) -> Selection:
    other = passes.b.other
    return selected(passes.b.scene, passes.trace(), other.trace if other else None)


def _stage(passes: Passes) -> str:
    """The stage whose number the scene looks at."""
    scene, trace, other = passes.b.scene, passes.trace(), passes.b.other
    step = next(each for each in steps_of(trace) if each.id == scene.step)
    stage = picked(scene, trace, other.trace if other else None)
    return stage or (step.stages[-1] if step.stages else _layer(passes).names["attention"])


def _layer(passes: Passes) -> Layer:
    """The layer that the scene's step is in; the last one outside of the layers."""
    trace = passes.trace()
    step = next(each for each in steps_of(trace) if each.id == passes.b.scene.step)
    return trace.layers[step.layer - 1]


def _at(passes: Passes, name: str, at: Selection) -> Reference:
    """The cell of a stage that a selection is at."""
    trace = passes.trace()
    index = tuple(axis.place(at) for axis in trace.axes(name))
    return Reference("B", trace, trace[name], index)


def _written(of: Reference, whole: int | None = None) -> str:
    """A cell as a talk's file names it; with `whole`, all places along that axis."""
    names = []
    for axis, place in enumerate(of.index):
        label = of.label(axis, place)
        is_plain = label.replace(" ", "").isalnum() and not label.isdecimal()
        names.append("*" if axis == whole else label if is_plain else str(place + 1) if '"' in label else f'"{label}"')
    if of.stage.axes[0] == "head" and of.stage.shape[0] == 1:
        del names[0]
    return f"{of.stage.name}[{', '.join(names)}]"
