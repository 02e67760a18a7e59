"""Requests about a talk and their replies, among them the questions that can be asked of a scene."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta, Struct, field, to_builtins

from attnviz.contract.lesson import Fill, OfferedQuestion, OfferedQuestions, OpenedTalk, OwnTalk, Question, WrittenFile
from attnviz.core.limits import MAX_ADDRESS_CHARACTERS
from attnviz.core.selection import Selection
from attnviz.core.stage import split_layer
from attnviz.core.trace import Layer
from attnviz.explain.steps import full_title, steps_of
from attnviz.lessons.export import Form, of_lesson, of_talk
from attnviz.lessons.lesson import LESSONS
from attnviz.lessons.questions import AnyQuestion
from attnviz.lessons.questions.answers import LINES, Answer, Code
from attnviz.lessons.questions.numbers import Count, Number, Share
from attnviz.lessons.questions.picks import Compare, Word
from attnviz.lessons.reference import Passes, Reference, is_of_words, noun, place_name, quoted_name
from attnviz.lessons.slots import EXPRESSION_ERRORS
from attnviz.lessons.talk import (
    Talk,
    TalkError,
    TalkMoment,
    Uploads,
    check_answer,
    lesson_as_talk,
    read,
    read_json,
    talk_moment,
    talk_passes,
    write,
)
from attnviz.scene.document.encoding import to_json
from attnviz.scene.scene import model_choice
from attnviz.scene.with_pass import picked, selected

_OF_CODE = {
    "scores": "Which line computes the scores?",
    "scaled": "Which line computes the scaled scores?",
    "masked": "Which line hides what the mask is to hide?",
    "attention": "Which line computes the shares?",
    "heads": "Which line computes what the head finds?",
}
_SPECIAL = frozenset("{}*$`:")
"""Markup characters: a word that contains one is not used in suggested prompts."""


def suggested_questions(passes: Passes) -> list[OfferedQuestion]:
    """The questions that this pass can answer."""
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


def _asks(passes: Passes) -> Iterator[AnyQuestion]:
    at, layer = _selection(passes), _layer(passes)
    model = model_choice(passes.b.scene)
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


def _of_the_number(passes: Passes, at: Selection) -> Iterator[AnyQuestion]:
    """The question on the selected number; none for an attention weight, which has its own."""
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
    """The head and layer of a cell, if there are several."""
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


class Asked(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """A browser's request about its talk."""


class MomentAsked(Asked, tag="moment", frozen=True):
    """A moment with its pass, its question and its answer."""

    moment: TalkMoment
    uploads: Uploads = field(default_factory=dict)


class QuestionsAsked(Asked, tag="questions", frozen=True):
    """The questions that a scene can answer."""

    at: Annotated[str, Meta(max_length=MAX_ADDRESS_CHARACTERS)]
    uploads: Uploads = field(default_factory=dict)


class FileAsked(Asked, tag="file", frozen=True):
    """A talk's file."""

    talk: Talk


class TalkAsked(Asked, tag="talk", frozen=True):
    """A talk from a TOML file, a link's JSON or a lesson's id."""

    file: str = ""
    json: str = ""
    lesson: str = ""


class ExportAsked(Asked, tag="export", frozen=True):
    """The questions of a lesson or a talk, as a file."""

    form: Form
    lesson: str = ""
    talk: Talk | None = None


TalkRequest = MomentAsked | QuestionsAsked | FileAsked | TalkAsked | ExportAsked


@singledispatch
def reply(request: TalkRequest) -> bytes:
    """The reply as JSON.

    Raises
    ------
    TalkError
        If the request contains no valid talk, or a moment doesn't fit its pass.
    """
    raise NotImplementedError


@reply.register
def _(request: MomentAsked) -> bytes:
    return to_json(talk_moment(request.moment, request.uploads))


@reply.register
def _(request: QuestionsAsked) -> bytes:
    return to_json(
        OfferedQuestions(questions=suggested_questions(talk_passes(request.at, request.uploads, request.uploads)))
    )


@reply.register
def _(request: FileAsked) -> bytes:
    return to_json(WrittenFile(file=write(request.talk)))


@reply.register
def _(request: TalkAsked) -> bytes:
    return to_json(OpenedTalk(talk=_sent(_talk(request))))


def _sent(talk: Talk) -> OwnTalk:
    return OwnTalk(title=talk.title, moment=to_builtins(talk.moment), uploads=talk.uploads)


def _talk(request: TalkAsked) -> Talk:
    if request.lesson in LESSONS:
        return lesson_as_talk(LESSONS[request.lesson])
    return read_json(request.json.encode()) if request.json else read(request.file.encode())


@reply.register
def _(request: ExportAsked) -> bytes:
    made = of_lesson(request.form, request.lesson) if request.talk is None else of_talk(request.form, request.talk)
    return to_json(WrittenFile(file=made))
