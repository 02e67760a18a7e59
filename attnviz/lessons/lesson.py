"""Lessons as written in TOML, and their moments as the browser receives them, each with its pass."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal
from urllib.parse import parse_qsl, urlencode

import msgspec
from msgspec import Meta, field

from attnviz.analysis.sweep import N_PAIRS, REACHES, sweep
from attnviz.checks.uploads import Upload
from attnviz.contract import lesson as contract
from attnviz.contract.base import Slug
from attnviz.core.limits import MAX_ADDRESS_CHARACTERS, MAX_TEXT_CHARACTERS
from attnviz.explain.styled_text import runs
from attnviz.lessons.cell_reference import LessonError, Passes
from attnviz.lessons.figures import MISTAKES, with_mistake
from attnviz.lessons.given import given_rows
from attnviz.lessons.questions import AnyQuestion
from attnviz.lessons.questions.spec import FileStruct
from attnviz.lessons.slots import SLOT, fill_slots
from attnviz.scene.address import parse, query
from attnviz.scene.document.document import document_json
from attnviz.scene.document.encoding import Json, to_json
from attnviz.scene.document.pass_cache import PASS_CACHE
from attnviz.scene.scene import Scene

LABELS = {"none": "not divided", "root": "divided by √d_k", "d_k": "divided by d_k"}
Mistake = Literal[MISTAKES]
Divisor = Literal[tuple(LABELS)]


class PictureSource(FileStruct, frozen=True, tag_field="kind"):
    """A picture as written in a lesson's file."""


class MistakePicture(PictureSource, tag="mistake", frozen=True):
    """A word's attention weights next to those under a mistake."""

    of: Mistake  # the mistake, as in `with_mistake`
    word: str  # the query

    def to_contract(self, passes: Passes) -> contract.WrongMask:
        """As the browser reads it."""
        trace = passes.trace()
        row = with_mistake(trace, self.of, self.word)
        total = math.fsum(row.wrong)
        return contract.WrongMask(
            name=row.sentence,
            query=self.word,
            sides=("in attnviz", f"In {row.library}") if row.library else ("as they should be", "With the mistake"),
            words=list(trace.labels["key"]),
            hidden=row.hidden.tolist(),
            right=row.right.tolist(),
            wrong=[None if math.isnan(weight) else weight for weight in row.wrong.tolist()],
            right_sum=math.fsum(row.right),
            wrong_sum=None if math.isnan(total) else total,
            laws=row.laws,
        )


class SweepPicture(PictureSource, tag="sweep", frozen=True):
    """Random scores for increasing d_k."""

    d_k: int = 1  # what is asked about
    divisor: Divisor = "none"
    offered: tuple[Divisor, ...] = tuple(LABELS)  # to choose from, without those that a later moment asks about

    def to_contract(self, passes: Passes) -> contract.Sweep:
        """As the browser reads it."""
        swept, divisors = sweep(), []
        for id, label in LABELS.items():
            histograms = ({"counts": each.counts.tolist(), "shares": each.shares.tolist()} for each in swept[id])
            lengths = [contract.SweptLength(**vars(each) | h) for each, h in zip(swept[id], histograms, strict=True)]
            divisors.append(contract.SweptDivisor(id=id, label=label, reach=REACHES[id], lengths=lengths))
        question = {"divisor": self.divisor, "offered": list(self.offered), "d_k": self.d_k}
        return contract.Sweep(n_pairs=N_PAIRS, divisors=divisors, **question)


AnyPicture = MistakePicture | SweepPicture  # a picture of either kind, by its tag
Text = Annotated[str, Meta(max_length=MAX_TEXT_CHARACTERS)]
MAX_WORKED_LINES = 6


class MomentSource(FileStruct, frozen=True):
    """A moment as written in a file."""

    at: Annotated[str, Meta(max_length=MAX_ADDRESS_CHARACTERS)]  # the address of its scene
    text: Text = ""  # the texts before and with the answer, with slots
    after: Text = ""
    title: Text = ""  # its title, or empty
    worked: Annotated[tuple[Text, ...], Meta(max_length=MAX_WORKED_LINES)] = ()  # the lines of a worked example
    ask: AnyQuestion | None = None  # its question
    says_words_alone: bool = False  # whether the picture shows only the sentence until the answer is shown
    picture: AnyPicture | None = None  # a picture instead of the pass: a mistake with the mask, or the sweep of d_k
    notes: Text = ""  # for the speaker

    def __post_init__(self) -> None:
        if self.worked and self.ask:
            raise ValueError("A moment has a worked example or a question, not both.")


FOLDER = Path(__file__).parent
# Calibrated on readers who knew nothing of attention: 80 minutes for the first eight lessons
_WORDS_A_MINUTE = 150
_SECONDS_A_QUESTION = 50
_SECONDS_A_LINE = 5


class LessonMoment(MomentSource, kw_only=True, frozen=True):
    """A moment of a lesson."""

    id: Slug  # unique in its lesson
    recall: Annotated[str, Meta(pattern=r"^([a-z0-9-]+\.[a-z0-9-]+)?$")] = ""  # the `lesson.id` it asks about again
    optional: bool = False  # a card for engineers
    claims: tuple[str, ...] = ()  # expressions for what its texts claim; tests check them against its passes


class EndingSource(FileStruct, frozen=True):
    """The final question, to be explained in your own words, and an answer to compare."""

    explain: str
    answer: str
    tell: str  # the lesson in a sentence, to tell a friend


class Lesson(FileStruct, frozen=True):
    """A lesson."""

    title: str
    says: str  # what it teaches, in a sentence
    why: str  # why that matters, in a sentence
    moment: tuple[LessonMoment, ...]  # its moments, in order
    ending: EndingSource  # the final question and answer
    # the terms that one can explain after it, and the ids of the moments that explain them
    terms: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ids = [each.id for each in self.moment]
        if len({*ids}) < len(ids):
            raise ValueError(f"The moments of a lesson have different ids; got {', '.join(ids)}.")

    @property
    def minutes(self) -> int:
        """The approximate time to read it and answer its questions, without its optional moments."""
        read = [each for each in self.moment if not each.optional]
        texts = [" ".join((each.text, *each.worked, each.after, each.ask.prompt if each.ask else "")) for each in read]
        n_questions, n_lines = sum(each.ask is not None for each in read), sum(len(each.worked) for each in read)
        minutes = len(SLOT.sub("0", " ".join(texts)).split()) / _WORDS_A_MINUTE
        minutes += (n_questions * _SECONDS_A_QUESTION + n_lines * _SECONDS_A_LINE) / 60
        return max(round(minutes), 1)

    def number_of(self, id: str) -> int | None:
        """The number of the moment with this id; None if there is none."""
        return next((number for number, each in enumerate(self.moment, start=1) if each.id == id), None)


LESSONS: dict[str, Lesson] = {  # all lessons by their ids, in order
    re.sub("^[0-9]+-", "", file.stem): msgspec.convert(tomllib.loads(file.read_text("utf-8")), Lesson)
    for file in sorted(FOLDER.glob("[0-9]*-*.toml"))
}


def passes_at(at: str, uploads: Mapping[str, Upload] = MappingProxyType({})) -> Passes:
    """The passes of a moment's address; `uploads` are the files it shows, by source."""
    scene, notices = parse(dict(parse_qsl(at, keep_blank_values=True, strict_parsing=True)), uploads)
    resolved = PASS_CACHE.resolved(scene)
    complaints = (*notices, *resolved.notices, *resolved.refused)
    if complaints or resolved.trace is None:
        raise LessonError(f"The address of a moment opens without a notice; {at} says: {' '.join(complaints)}")
    return Passes(resolved)


def moment(lesson: str, number: int) -> bytes:
    """A moment of a lesson as JSON, as `contract.lesson` declares it."""
    n_moments = len(LESSONS[lesson].moment)
    if number not in range(1, n_moments + 1):
        raise KeyError(f"{lesson} has {n_moments} moments; got {number}")
    return to_json(_moment(LESSONS[lesson], number))


def moments_of(lesson: str) -> list[contract.Moment]:
    """All moments of the lesson with this id."""
    return [_moment(LESSONS[lesson], number) for number in range(1, len(LESSONS[lesson].moment) + 1)]


def _moment(lesson: Lesson, number: int) -> contract.Moment:
    source = lesson.moment[number - 1]
    passes = passes_at(source.at)
    sent = moment_data(source, passes, fill_slots)
    sent.id, sent.recall, sent.is_optional = source.id, _recall(source.recall), source.optional
    if number == 1:
        sent.why = fill_slots(lesson.why, passes)
    if number == len(lesson.moment):
        texts = (lesson.ending.explain, lesson.ending.answer, lesson.ending.tell)
        explain, answer, tell = (fill_slots(each, passes) for each in texts)
        sent.ending = contract.Ending(explain=explain, answer=answer, tell=tell)
    return sent


def _recall(address: str) -> contract.Recall | None:
    """The moment at an address, `lesson.id`; None for an empty one."""
    if not address:
        return None
    lesson, _, id = address.partition(".")
    number = LESSONS[lesson].number_of(id) if lesson in LESSONS else None
    if number is None:
        raise LessonError(f"A recall names a moment, as in masks.padding; there is no {address}.")
    return contract.Recall(lesson=lesson, id=id, name=LESSONS[lesson].title)


def moment_data(
    source: MomentSource,
    passes: Passes,
    fill: Callable[[str, Passes], contract.LessonRuns],
) -> contract.Moment:
    """A moment as the browser receives it; `fill` fills the slots of its texts."""
    ask, at = source.ask, urlencode(query(passes.b.scene))
    question = ask.question(passes) if ask else None
    sent = without_pass(source, question, at, lambda text: fill(text, passes))
    if ask and question:
        sent.given, sent.covers = given_rows(ask, question, [sent.text], passes), sorted(ask.covers(passes))
        sent.asked_cell, sent.answer_cell = ask.asked_cell(passes), ask.answer_cell(passes)
    sent.says_words_alone = source.says_words_alone
    sent.picture = source.picture.to_contract(passes) if source.picture else None
    sent.document = Json(document_json(passes.b, cache=PASS_CACHE))
    return sent


def without_pass(
    source: MomentSource, question: contract.Question | None, at: str, fill: Callable[[str], contract.LessonRuns]
) -> contract.Moment:
    """The parts of a moment that don't show its pass."""
    return contract.Moment(
        id="",
        title=source.title,
        recall=None,
        why=[],
        is_optional=False,
        worked=[fill(each) for each in source.worked],
        text=fill(source.text),
        after=fill(source.after),
        question=question,
        asks_confidence=False,
        given=[],
        covers=[],
        asked_cell=None,
        answer_cell=None,
        says_words_alone=False,
        at=at,
        notes=source.notes,
        ending=None,
        worked_solution=None,
        picture=None,
        glance=None,
        document=None,
    )


@cache
def contents() -> bytes:
    """The list of lessons as JSON."""
    entries = [_entry(name, each) for name, each in LESSONS.items()]
    return to_json(contract.LessonsPage(lessons=entries, own_sentence=urlencode(query(Scene()) | {"view": "sheet"})))


def _entry(id: str, lesson: Lesson) -> contract.LessonEntry:
    moments = [
        contract.MomentEntry(id=each.id, title=each.title, recall=each.recall, is_optional=each.optional)
        for each in lesson.moment
    ]
    return contract.LessonEntry(
        id=id,
        name=lesson.title,
        says=lesson.says,
        why=lesson.why,
        minutes=lesson.minutes,
        n_moments=len(moments),
        moments=moments,
        terms=[contract.ExplainedTerm(name=runs(term), moment=id) for term, id in lesson.terms.items()],
        tell=runs(lesson.ending.tell),
    )
