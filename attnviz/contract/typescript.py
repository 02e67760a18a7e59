"""The browser's code that is made from Python: `python -m attnviz.contract.typescript` writes it. The types of all
messages, the parameters of an address, and numbers as words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path

from msgspec import NODEFAULT, inspect

from attnviz.contract import lesson
from attnviz.contract.article import Article
from attnviz.contract.base import ORDINALS
from attnviz.contract.classroom import ClassNow, Led, LogPart, Offer, OwnNow, Seat
from attnviz.contract.document import SentDocument
from attnviz.contract.request_reply import ActionsRequest, SceneReply
from attnviz.contract.view_params import ALL, CHOICES, FORMER, LABELS, REVEAL, USUAL, USUAL_IN_TALK, VIEWERS
from attnviz.core.selection import PLACE, Selection
from attnviz.core.terms import CELL

FOLDER = Path(__file__).parents[1] / "viewer" / "generated"
OF_CLASSES = (ClassNow, OwnNow, LogPart, Seat, Led, Offer)
OF_TALKS = (lesson.SuggestedQuestions, lesson.OpenedTalk, lesson.ShownUploads, lesson.WrittenFile, lesson.WrittenPage)
# the messages to and from the browser
MESSAGES = (
    SceneReply,
    lesson.Moment,
    lesson.LessonsPage,
    Article,
    ActionsRequest,
    *OF_CLASSES,
    *OF_TALKS,
    SentDocument,
)
_HEAD = "// Made from attnviz/contract by `python -m attnviz.contract.typescript`. Change it there.\n"


def typescript() -> str:
    """The types of all messages and their parts."""
    return "\n".join([_HEAD, *(_declared(each) for each in structs_of(*MESSAGES))])


def generated() -> dict[Path, str]:
    """The generated files of the browser's code, with their text."""
    made = {"contract.d.ts": typescript(), "where.js": where(), "numerals.js": numerals()}
    return {FOLDER / name: text for name, text in made.items()}


def structs_of(*messages: type) -> Iterator[inspect.StructType]:
    """The structs of messages and all their parts, each once."""
    structs, waiting = {}, list(inspect.multi_type_info(messages))
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, inspect.StructType):
            if each.cls in structs:
                continue
            structs[each.cls] = each
            waiting += [field.type for field in each.fields]
        waiting += _within(each)
    yield from structs.values()


def _within(of: inspect.Type) -> list[inspect.Type]:
    """The types that a type is made of; none for a struct."""
    parts = [getattr(of, name, None) for name in ("type", "item_type", "key_type", "value_type")]
    several = [*getattr(of, "types", ()), *getattr(of, "item_types", ())]
    return [each for each in (*parts, *several) if isinstance(each, inspect.Type)]


def _declared(struct: inspect.StructType) -> str:
    fields = [f"  {each.encode_name}{'?' * _may_lack(each)}: {_written(each.type)};" for each in struct.fields]
    kind = [f"  {struct.tag_field}: {json.dumps(struct.tag)};"] if struct.tag_field else []
    comment = f"/** {struct.cls.__doc__.partition(chr(10))[0]} */"
    return "\n".join([comment, f"export interface {struct.cls.__name__} {{", *kind, *fields, "}", ""])


def _may_lack(field: inspect.Field) -> bool:
    """Whether a field may be missing: one with another default than `UNSET` is always sent."""
    return not field.required and field.default is NODEFAULT and field.default_factory is NODEFAULT


def _written(of: inspect.Type) -> str:
    """A type as TypeScript."""
    if type(of) in _PLAIN:
        return _PLAIN[type(of)]
    match of:
        case inspect.Metadata():
            return _written(of.type)
        case inspect.StructType():
            return of.cls.__name__
        case inspect.LiteralType():
            return " | ".join(map(json.dumps, of.values))
        case inspect.UnionType():
            return " | ".join(map(_written, of.types))
        case inspect.ListType() | inspect.VarTupleType():
            return f"Array<{_written(of.item_type)}>"
        case inspect.TupleType():
            return f"[{', '.join(map(_written, of.item_types))}]"
        case inspect.DictType():
            return f"Record<string, {_written(of.value_type)}>"
    raise TypeError(f"No TypeScript is known for {type(of).__name__}, a type of the contract. Add it to `_written`.")


_PLAIN = {
    inspect.StrType: "string",
    inspect.IntType: "number",
    inspect.FloatType: "number",
    inspect.BoolType: "boolean",
    inspect.NoneType: "null",
    inspect.AnyType: "unknown",
}


def where() -> str:
    """The JavaScript module of the view parameters."""
    values = {
        "PARAMETERS": VIEWERS,
        "CHOICES": CHOICES,
        "LABELS": LABELS,
        "FORMER": FORMER,
        "COORDINATES": [field.name for field in fields(Selection)],
        "USUAL": USUAL,
        "USUAL_IN_TALK": USUAL_IN_TALK,
        "ALL": ALL,
    }
    patterns = {"CELL": CELL.replace("?P<", "?<"), "PLACE": PLACE, "REVEAL": REVEAL}
    regular = (f"export const {name} = /^(?:{pattern})$/;" for name, pattern in patterns.items())
    return _module([*_constants(values), *regular])


def numerals() -> str:
    """The JavaScript module of numbers as words."""
    return _module(_constants({"ORDINALS": ORDINALS}))


def _constants(values: Mapping[str, object]) -> list[str]:
    return [f"export const {name} = /** @type {{const}} */ ({json.dumps(value)});" for name, value in values.items()]


def _module(lines: list[str]) -> str:
    return "\n".join(["// Made by `python -m attnviz.contract.typescript`. Change it in Python.", *lines, ""])


if __name__ == "__main__":
    for file, text in generated().items():
        file.write_text(text, "utf-8")
