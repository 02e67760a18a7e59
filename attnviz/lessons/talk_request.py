"""Requests about a talk and their replies, among them the questions that can be asked of a scene."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import singledispatch
from itertools import islice
from typing import Annotated
from urllib.parse import parse_qsl

import numpy as np
from msgspec import Meta, Struct, field, to_builtins

from attnviz.contract.lesson import (
    Fill,
    OpenedTalk,
    OwnTalk,
    SuggestedQuestion,
    SuggestedQuestions,
    Versions,
    WrittenFile,
)
from attnviz.core.limits import MAX_ADDRESS_CHARACTERS
from attnviz.core.selection import Selection
from attnviz.core.stage import split_layer
from attnviz.core.trace import Trace
from attnviz.explain.steps import steps_of
from attnviz.lessons import talk as talks
from attnviz.lessons.cell_reference import Passes, Reference, noun, place_name
from attnviz.lessons.export import Form, Site, of_lesson, of_talk
from attnviz.lessons.lesson import LESSONS
from attnviz.lessons.needs import describe, head_and_layer
from attnviz.lessons.questions import AnyQuestion
from attnviz.lessons.questions.answers import LINES, Answer, Code
from attnviz.lessons.questions.numbers import Count, Number, Percentage
from attnviz.lessons.questions.picks import Compare, PickWord
from attnviz.lessons.slots import EXPRESSION_ERRORS
from attnviz.scene.address import parse
from attnviz.scene.document.document import document_json
from attnviz.scene.document.encoding import Json, to_json
from attnviz.scene.document.pass_cache import PASS_CACHE
from attnviz.scene.reading import has_options, normalized
from attnviz.scene.scene import Scene, model_choice, next_seed
from attnviz.scene.with_pass import picked, selected

_OF_CODE = {
    "scores": "Which line computes the scores?",
    "scaled": "Which line computes the scaled scores?",
    "masked": "Which line hides what the mask should hide?",
    "attention": "Which line computes the attention weights?",
    "heads": "Which line computes the head’s output?",
}
_SPECIAL = frozenset("{}*$`:")  # markup characters: a word that contains one is not used in suggested prompts


def suggested_questions(passes: Passes) -> list[SuggestedQuestion]:
    """The questions that this pass can answer."""
    questions = []
    for ask in _candidates(passes):
        try:
            with np.errstate(all="ignore"):
                question = ask.question(passes)
                ask.covers(passes)
                talks.check_answer(question)
        except (talks.TalkError, *EXPRESSION_ERRORS):
            continue  # this pass has no answer to it
        if isinstance(question, Fill):
            answer = f"{question.text} {question.unit}".strip()
        elif len(question.right) == len(question.candidates):
            continue  # nobody could be wrong
        else:
            answer = " or ".join(question.candidates[index].label for index in question.right)
        questions.append(SuggestedQuestion(ask=to_builtins(ask), answer=answer))
    return questions


def _candidates(passes: Passes) -> Iterator[AnyQuestion]:
    scene, trace, other = passes.b.scene, passes.trace(), passes.b.other
    step = next(each for each in steps_of(trace) if each.id == scene.step)
    layer = trace.layers[step.layer - 1]  # outside of the layers the last one
    selection = selected(scene, trace, other.trace if other else None)
    stage = picked(scene, trace, other.trace if other else None)
    stage = stage or (step.stages[-1] if step.stages else layer.names["attention"])
    ref = _cell(trace, stage, selection)
    attention = _cell(trace, layer.names["attention"], selection)
    model = model_choice(scene)
    unit = model.task.unit if model else "word"
    query, key = (place_name(attention, axis, attention.index[axis]) for axis in (1, 2))
    if _SPECIAL.isdisjoint(query + key):
        row, cell, where = _cell_text(attention, 2), _cell_text(attention), head_and_layer(attention)
        yield PickWord(of=row, prompt=f"Which {unit} will “{query}” look at most{where}?")
        yield Percentage(of=cell, prompt=f"What share of its attention does “{query}” give to “{key}”{where}?")
        if other:
            yield Compare(of=cell, prompt=f"Does “{query}” give “{key}” more{where} than in A, less or the same?")
        if split_layer(stage)[0] != "attention":
            yield _on_number(ref)
    if "probabilities" in trace:
        is_next = model is not None and model.task.is_open
        next_prompt = f"Which {unit} does the model find most probable next?"
        yield Answer(prompt=next_prompt if is_next else "What does the model answer?")
    if not np.isfinite(layer.trace["masked"].value).all():
        yield Count(of="hidden", unit="pairs", prompt=f"How many pairs of {unit}s does the mask hide?")
    if other:
        yield Count(of="differing", unit="weights", prompt="How many attention weights differ from those in A?")
    if split_layer(stage)[0] in LINES:
        yield Code(of=_cell_text(ref), prompt=_OF_CODE[split_layer(stage)[0]])


def _on_number(ref: Reference) -> AnyQuestion:
    name = ref.stage.name
    asked = "Which number stands in" if noun(name) == "number" else "What is the"
    prompt = f"{asked} {describe(ref)}?"
    return (Percentage if noun(name) == "probability" else Number)(of=_cell_text(ref), prompt=prompt)


def _cell(trace: Trace, name: str, selection: Selection) -> Reference:
    return Reference("B", trace, trace[name], tuple(axis.place(selection) for axis in trace.axes(name)))


def _cell_text(ref: Reference, whole: int | None = None) -> str:
    """A cell as a talk's file names it; with `whole`, all cells along that axis."""
    names = []
    for axis, index in enumerate(ref.index):
        label = ref.label(axis, index)
        is_plain = label.replace(" ", "").isalnum() and not label.isdecimal()
        names.append("*" if axis == whole else label if is_plain else str(index + 1) if '"' in label else f'"{label}"')
    if ref.stage.axes[0] == "head" and ref.stage.shape[0] == 1:
        del names[0]
    return f"{ref.stage.name}[{', '.join(names)}]"


class BrowserRequest(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """A browser's request about its talk."""


class MomentRequest(BrowserRequest, tag="moment", frozen=True):
    """A moment with its pass, its question and its answer."""

    moment: talks.TalkMoment
    uploads: talks.Uploads = field(default_factory=dict)
    images: talks.Images = field(default_factory=dict)


class QuestionsRequest(BrowserRequest, tag="questions", frozen=True):
    """The questions that a scene can answer."""

    at: Annotated[str, Meta(max_length=MAX_ADDRESS_CHARACTERS)]
    uploads: talks.Uploads = field(default_factory=dict)


class FileRequest(BrowserRequest, tag="file", frozen=True):
    """A talk's file."""

    talk: talks.Talk


class OpenRequest(BrowserRequest, tag="talk", frozen=True):
    """A talk from a TOML file, a link's JSON or a lesson's id."""

    file: str = ""
    json: str = ""
    lesson: str = ""


class ExportRequest(BrowserRequest, tag="export", frozen=True):
    """The questions of a lesson or a talk, as a file."""

    form: Form
    lesson: str = ""
    talk: talks.Talk | None = None
    site: Site = ""


MAX_VERSIONS = 30
_MAX_VERSION_BYTES = 8_000_000  # of all together


class VersionsRequest(BrowserRequest, tag="versions", frozen=True):
    """The passes of a scene with this seed and others, for versions of a worksheet."""

    at: Annotated[str, Meta(max_length=MAX_ADDRESS_CHARACTERS)]
    n: Annotated[int, Meta(ge=1, le=MAX_VERSIONS)]


TalkRequest = MomentRequest | QuestionsRequest | VersionsRequest | FileRequest | OpenRequest | ExportRequest


@singledispatch
def reply(request: TalkRequest) -> bytes:
    """The reply as JSON; a TalkError if the request has no valid talk, or a moment doesn't fit its pass."""
    raise NotImplementedError


@reply.register
def _(request: MomentRequest) -> bytes:
    return to_json(talks.talk_moment(request.moment, request.uploads, request.images))


@reply.register
def _(request: QuestionsRequest) -> bytes:
    passes = talks.talk_passes(request.at, request.uploads, request.uploads)
    return to_json(SuggestedQuestions(questions=suggested_questions(passes)))


@reply.register
def _(request: VersionsRequest) -> bytes:
    documents: list[bytes] = []
    for scene in islice(_versions(request.at), request.n):
        resolved = PASS_CACHE.resolved(scene)
        if resolved.trace is None:
            raise talks.TalkError("There is no pass of these words, so there is nothing to print.")
        documents.append(document_json(resolved))
        if sum(map(len, documents)) > _MAX_VERSION_BYTES:
            raise talks.TalkError(f"{len(documents)} of these versions have room; choose fewer, or fewer words.")
    return to_json(Versions(documents=[Json(each) for each in documents]))


def _versions(at: str) -> Iterator[Scene]:
    """Scenes that differ in their seeds alone, without numbers set by hand and without a compared one."""
    scene = parse(dict(parse_qsl(at, keep_blank_values=True))).scene
    if not has_options(scene):
        raise talks.TalkError("Versions differ in the seed of their random parameters; this pass has none.")
    seed, seen = scene.options.seed, set()
    for _ in range(1000):
        options = replace(scene.options, seed=seed)
        made = normalized(replace(scene, options=options, changes=(), other=None))[0]
        if made.options.seed not in seen:  # whole numbers may need another seed
            seen.add(made.options.seed)
            yield made
        seed = next_seed(seed)


@reply.register
def _(request: FileRequest) -> bytes:
    return to_json(WrittenFile(file=talks.write(request.talk)))


@reply.register
def _(request: OpenRequest) -> bytes:
    if request.lesson in LESSONS:
        talk = talks.lesson_as_talk(LESSONS[request.lesson])
    else:
        talk = talks.read_json(request.json.encode()) if request.json else talks.read(request.file.encode())
    files = {"images": talk.images, "uploads": talk.uploads}
    return to_json(OpenedTalk(talk=OwnTalk(title=talk.title, moment=to_builtins(talk.moment), **files)))


@reply.register
def _(request: ExportRequest) -> bytes:
    form, talk, site = request.form, request.talk, request.site
    made = of_lesson(form, request.lesson, site) if talk is None else of_talk(form, talk, site)
    return to_json(WrittenFile(file=made))
