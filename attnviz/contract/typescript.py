"""TypeScript: the types of the browser's code; `python -m attnviz.contract.typescript` writes them.

The contract as TypeScript, and how an address says where one looks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import singledispatch
from pathlib import Path

from msgspec import NODEFAULT, inspect

from attnviz.contract.answer import Answer
from attnviz.contract.article import Article
from attnviz.contract.classroom import ClassNow, Led, Offer, OwnNow, Seat
from attnviz.contract.constants import numerals, where
from attnviz.contract.document import SentDocument
from attnviz.contract.lesson import LessonsPage, Moment
from attnviz.contract.request import ActsRequest
from attnviz.contract.talk import OfferedQuestions, OpenedTalk, ShownUploads, WrittenFile, WrittenPage

FOLDER = Path(__file__).parents[1] / "viewer" / "generated"
OF_CLASSES = (ClassNow, OwnNow, Seat, Led, Offer)
OF_TALKS = (OfferedQuestions, OpenedTalk, ShownUploads, WrittenFile, WrittenPage)
MESSAGES = (Answer, Moment, LessonsPage, Article, ActsRequest, *OF_CLASSES, *OF_TALKS, SentDocument)
"""The messages to a browser, and from it."""

_HEAD = "// Made from attnviz/contract by `python -m attnviz.contract.typescript`. Change it there.\n"


def typescript() -> str:
    """The types of all messages and of their parts."""
    return "\n".join([_HEAD, *(_declared(each) for each in structs_of(*MESSAGES))])


def generated() -> dict[Path, str]:
    """The files of the browser's code that are made of Python, and what they hold."""
    made = {"contract.d.ts": typescript(), "where.js": where(), "numerals.js": numerals()}
    return {FOLDER / name: text for name, text in made.items()}


def structs_of(*messages: type) -> Iterator[inspect.StructType]:
    """The structs of messages and of all their parts, each once."""
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
    """The types that one is made of, but for a struct."""
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


@singledispatch
def _written(of: inspect.Type) -> str:
    raise TypeError(f"A type of the contract has its TypeScript here; {type(of).__name__} has none: write it.")


_PLAIN = {
    inspect.StrType: "string",
    inspect.IntType: "number",
    inspect.FloatType: "number",
    inspect.BoolType: "boolean",
    inspect.NoneType: "null",
    inspect.AnyType: "unknown",
}
for _type, _text in _PLAIN.items():
    _written.register(_type, lambda of, text=_text: text)


@_written.register
def _(of: inspect.Metadata) -> str:
    return _written(of.type)


@_written.register
def _(of: inspect.StructType) -> str:
    return of.cls.__name__


@_written.register
def _(of: inspect.LiteralType) -> str:
    return " | ".join(map(json.dumps, of.values))


@_written.register
def _(of: inspect.UnionType) -> str:
    return " | ".join(_written(each) for each in of.types)


@_written.register
def _(of: inspect.ListType | inspect.VarTupleType) -> str:
    return f"Array<{_written(of.item_type)}>"


@_written.register
def _(of: inspect.TupleType) -> str:
    return f"[{', '.join(_written(each) for each in of.item_types)}]"


@_written.register
def _(of: inspect.DictType) -> str:
    return f"Record<string, {_written(of.value_type)}>"


if __name__ == "__main__":
    for file, text in generated().items():
        file.write_text(text, "utf-8")
