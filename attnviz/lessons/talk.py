"""Talks: lists of moments that people write, as TOML files or JSON, and these moments as the browser receives them."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode

import msgspec
import numpy as np
from msgspec import Meta, field

from attnviz.checks.uploads import MISSING_UPLOAD, Upload, packed, unpacked
from attnviz.contract.lesson import Fill, Gap, Gaps, Moment, Question
from attnviz.core import limits
from attnviz.core.errors import OwnArraysError, TalkError
from attnviz.lessons.cell_reference import LessonError, Passes, find
from attnviz.lessons.lesson import Lesson, MomentSource, Text, moment_data, passes_at, without_pass
from attnviz.lessons.questions.own import OwnQuestion
from attnviz.lessons.questions.picks import Extreme
from attnviz.lessons.questions.spec import FileStruct
from attnviz.lessons.slide import Images, SlideSource, check_images
from attnviz.lessons.slots import EXPRESSION_ERRORS, fill_known_slots, without_slots
from attnviz.scene.address import parse, query
from attnviz.scene.scene import Scene, source_of_upload

MAX_IN_MOMENT = 3  # the most uploads in one moment: those of two passes, and the user's own stages
UploadName = Annotated[str, Meta(pattern="^[a-z0-9-]{1,40}$")]
# each file as base64, by its name
Uploads = Annotated[dict[UploadName, str], Meta(max_length=MAX_IN_MOMENT * limits.MAX_TALK_MOMENTS)]


def uploads_of_scene(scene: Scene) -> dict[str, str]:
    """The uploads that a scene and its compared scene show; equal files have equal names."""
    scenes = [each for each in (scene, scene.other) if each is not None]
    files = (file for each in scenes for file in (each.upload, each.code))
    contents = [packed(file) for file in files if file is not None and file is not MISSING_UPLOAD]
    return {f"own-{hashlib.sha256(each).hexdigest()[:16]}": base64.b64encode(each).decode() for each in contents}


def uploads_by_source(names: Iterable[str], uploads: Mapping[str, str]) -> dict[str, Upload]:
    """The named files, each under its key in a scene; an OwnArraysError if one is missing or broken."""
    files = (_upload(name, uploads) for name in names)
    return {source_of_upload(each): each for each in files}


def _upload(name: str, uploads: Mapping[str, str]) -> Upload:
    if name not in uploads:
        raise OwnArraysError("The numbers of this moment are not in the talk. Open the file that has them.")
    try:
        content = base64.b64decode(uploads[name], validate=True)
    except ValueError:
        raise OwnArraysError("The numbers of a talk are base64 of an .npz; these are not.") from None
    return unpacked(content)


_QUOTED = re.compile(
    r'"""[\s\S]*?(?:"""|\Z)|\'\'\'[\s\S]*?(?:\'\'\'|\Z)|"(?:[^"\\\n]|\\.)*"?|\'[^\'\n]*\'?'
)  # no backtracking, as a text may have no closing quote
_DEEP_KEY = re.compile(r"(?<![\w-])(?:[\w-]+[ \t]*\.[ \t]*){9}")
_TABLES = ("images", "uploads")  # at the end of a file
_FIRST_TABLE = re.compile(r"\n\[(?:images|uploads)\]\n")
_UPLOAD = re.compile(r"^([a-z0-9-]{1,40}) = '([A-Za-z0-9+/]+={0,2})'$", re.MULTILINE)
_OWN_LIMITS = ("at", "arrays")  # parts of a moment that are longer than a text


class TalkMoment(MomentSource, frozen=True):
    """A moment of a talk."""

    slide: SlideSource | None = None  # what it shows instead of a pass
    asked_as: Text = ""  # the question in the user's own words, as plain text; empty for the computed ones
    confidence: bool = False  # whether a class is also asked how sure it is
    minutes: Annotated[float, Meta(ge=0, le=limits.MAX_TALK_MINUTES)] = 0  # the planned duration; 0 if not set
    uploads: Annotated[tuple[UploadName, ...], Meta(max_length=MAX_IN_MOMENT)] = ()  # the names of those it shows

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.slide and (self.picture or self.worked or not isinstance(self.ask, OwnQuestion | None)):
            raise ValueError("A slide has no pass: it has a question of your own, or none, and no other picture.")


class Talk(FileStruct, frozen=True):
    """A talk written by a user."""

    title: Text = ""
    moment: Annotated[tuple[TalkMoment, ...], Meta(max_length=limits.MAX_TALK_MOMENTS)] = ()  # its moments, in order
    images: Images = field(default_factory=dict)  # the images of its slides
    uploads: Uploads = field(default_factory=dict)  # those of its moments; together at most one file of arrays

    def __post_init__(self) -> None:
        check_images(self.images)
        if sum(map(len, self.uploads.values())) > limits.MAX_TALK_UPLOAD_CHARACTERS:
            raise OwnArraysError(
                f"A talk holds at most {limits.MAX_FILE_SIZE} of somebody's own numbers; this one has more."
            )


def lesson_as_talk(lesson: Lesson) -> Talk:
    """A lesson as the start of a talk: its moments without its claims and its ending."""
    fields = MomentSource.__struct_fields__
    moments = (TalkMoment(**{name: getattr(each, name) for name in fields}) for each in lesson.moment)
    return Talk(title=lesson.title, moment=tuple(moments))


def read(content: bytes) -> Talk:
    """The talk of a file."""
    most = limits.MAX_TALK_BYTES + limits.MAX_TALK_IMAGE_CHARACTERS + limits.MAX_TALK_UPLOAD_CHARACTERS
    _check_size(len(content), most)
    try:
        text, packed = _without_uploads(content.decode("utf-8"))
        _check_size(len(text.encode()))
        if _DEEP_KEY.search(_QUOTED.sub("q", text)):  # tomllib would take minutes
            raise TalkError("A key of a talk's file is one name, as in text; this one has many, with points between.")
        return _converted(_with_uploads(tomllib.loads(text), packed))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TalkError(f"A talk is a file in TOML, in UTF-8; this is not: {error}") from None
    except RecursionError:
        raise TalkError("A talk's file is a list of moments; this one is nested too deep.") from None
    except TalkError:
        raise
    except ValueError as error:
        raise TalkError(f"A talk is a file in TOML; this is not: {str(error)[:200]}") from None


def read_json(content: bytes) -> Talk:
    """The talk in a link's JSON, which has no uploads and no images."""
    _check_size(len(content))
    try:
        return _converted(msgspec.json.decode(content))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise TalkError(f"A talk is sent as JSON; this is not: {str(error)[:200]}") from None


def write(talk: Talk) -> str:
    """A talk as a file in TOML: `read` gives it back."""
    parts = msgspec.to_builtins(talk)
    lines = [f"title = {_value(parts.get('title', ''))}"]
    for moment in parts.get("moment", ()):
        lines += ["", "[[moment]]", *(f"{name} = {_value(part)}" for name, part in moment.items())]
    for table in _TABLES:
        if files := parts.get(table):
            lines += ["", f"[{table}]", *(f"{name} = '{packed}'" for name, packed in files.items())]
    return "\n".join([*lines, ""])


TALK_SIZES = (
    f"A talk has at most {limits.MAX_TALK_BYTES:,} bytes, {limits.MAX_TALK_IMAGE_CHARACTERS:,} of images, "
    f"and {limits.MAX_FILE_SIZE} of your own files"
)


def _check_size(n_bytes: int, most: int = limits.MAX_TALK_BYTES) -> None:
    if n_bytes > most:
        raise TalkError(f"{TALK_SIZES}; this one has {n_bytes:,} bytes.")


def _without_uploads(text: str) -> tuple[str, list[str]]:
    """A talk's file with placeholders for its embedded files, and the files: `tomllib` would take seconds on them."""
    packed: list[str] = []

    def marked(line: re.Match) -> str:
        packed.append(line[2])
        return f"{line[1]} = '#{len(packed) - 1}'"

    first = _FIRST_TABLE.search(text)
    end = first.start() if first else len(text)
    return text[:end] + _UPLOAD.sub(marked, text[end:]), packed


def _with_uploads(content: dict[str, Any], packed: list[str]) -> dict[str, Any]:
    marks = {f"#{place}": each for place, each in enumerate(packed)}
    tables = {name: table for name in _TABLES if isinstance(table := content.get(name, {}), dict)}
    if len(tables) < len(_TABLES) or not marks.keys() <= {
        each for table in tables.values() for each in table.values() if isinstance(each, str)
    }:
        raise TalkError("A talk's file ends with tables [images] and [uploads], if it has images or your own numbers.")
    return content | {
        kind: {name: marks.get(each, each) if isinstance(each, str) else each for name, each in table.items()}
        for kind, table in tables.items()
        if table
    }


def _converted(parsed: Any) -> Talk:
    try:
        talk = msgspec.convert(parsed, Talk)
    except msgspec.ValidationError as error:
        raise TalkError(f"This is no talk: {str(error)[:200]}") from None
    for moment in talk.moment:
        check_moment(moment)
    return talk


def check_moment(moment: TalkMoment) -> None:
    """Raise if a text is too long or a number isn't finite."""
    for name, part in msgspec.to_builtins(moment).items():
        if name not in _OWN_LIMITS:
            _check_part(part)


def _check_part(part: Any) -> None:
    if isinstance(part, str) and len(part) > limits.MAX_TEXT_CHARACTERS:
        raise TalkError(
            f"A text of a talk has at most {limits.MAX_TEXT_CHARACTERS:,} characters; one has {len(part):,}."
        )
    if isinstance(part, float) and not math.isfinite(part):
        raise TalkError(f"A number of a talk is finite; got {part}.")
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list | tuple) else ():
        _check_part(each)


def _value(part: Any) -> str:
    if isinstance(part, dict):
        return f"{{ {', '.join(f'{name} = {_value(each)}' for name, each in part.items())} }}"
    if isinstance(part, list | tuple):
        return f"[{', '.join(map(_value, part))}]"
    if isinstance(part, str):
        return json.dumps(part, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(part)


_NONE: Mapping[str, str] = MappingProxyType({})


def talk_moment(source: TalkMoment, uploads: Mapping[str, str] = _NONE, images: Mapping[str, str] = _NONE) -> Moment:
    """A moment of a talk, as `contract.lesson` declares it; `uploads` and `images` are the talk's files."""
    check_moment(source)
    sent = _moment_of_slide(source, images) if source.slide else _moment_of_pass(source, uploads)
    if sent.question and source.asked_as.strip():
        sent.question.prompt = [("", source.asked_as)]
    sent.asks_confidence = source.confidence and sent.question is not None
    return sent


def _moment_of_slide(source: TalkMoment, images: Mapping[str, str]) -> Moment:
    scene = parse(dict(parse_qsl(source.at, keep_blank_values=True))).scene
    question = source.ask.question(None) if isinstance(source.ask, OwnQuestion) else None
    sent = without_pass(source, question, urlencode(query(scene)), without_slots)  # a class needs its place even so
    sent.picture = source.slide.to_contract(images) if source.slide else None
    return sent


def _moment_of_pass(source: TalkMoment, uploads: Mapping[str, str]) -> Moment:
    passes = talk_passes(source.at, source.uploads, uploads)
    try:
        with np.errstate(all="ignore"):
            sent = moment_data(source, passes, fill_known_slots)
        check_answer(sent.question)
        if isinstance(source.ask, Extreme):
            sent.asked_cell = _neutral_cell(source.ask, passes)
        return sent
    except TalkError:
        raise
    except LessonError as error:
        raise TalkError(f"This doesn’t fit the pass: {str(error)[:400]}") from None
    except EXPRESSION_ERRORS:
        raise TalkError("This pass has no answer to the question: choose another one.") from None


def _neutral_cell(ask: Extreme, passes: Passes) -> str | None:
    """A neutral cell to select until the answer is shown: the moment's own selection may give it away."""
    row = find(ask.of, passes)
    axis = row.index.index(None)
    index = (row.index[axis - 1] or 0) if axis else 0  # a word itself in its row
    return str(row.cells[min(index, len(row.cells) - 1)]) if row.side == "B" else None


def talk_passes(at: str, names: Iterable[str] = (), uploads: Mapping[str, str] = MappingProxyType({})) -> Passes:
    """The passes of an address that may have been edited, with the talk's named files."""
    try:
        return passes_at(at, uploads_by_source(names, uploads))
    except (LessonError, OwnArraysError) as error:
        raise TalkError(str(error)[:400]) from None
    except ValueError:
        raise TalkError("The address of a moment has parameters, as in model=who-is-it&view=sheet.") from None


def check_answer(question: Question | None) -> None:
    """Raise unless the answers of a number question are numbers."""
    if isinstance(question, Fill) and question.right is not None:
        _check_number(question.right, question)
    for gap in question.gaps if isinstance(question, Gaps) else ():
        _check_number(gap.value, gap)


def _check_number(right: float, asked: Fill | Gap) -> None:
    numbers = [right, asked.tolerance, *(each.value for each in asked.nears)]
    if isinstance(right, bool) or not all(map(math.isfinite, numbers)) or asked.tolerance < 0:
        raise TalkError("The answer to this question is no number that somebody could give: choose another one.")
