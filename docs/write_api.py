"""Write docs/api.md from the docstrings of the public names: `python docs/write_api.py`.

docs/api.template is the page without them: a line "@Trace terms lines" stands for the docstring of `Trace` and its
public members `terms` and `lines`.
"""

import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))

import attnviz  # noqa: E402
import attnviz.testing  # noqa: E402
from attnviz.core.onnxattention import OnnxAttention  # noqa: E402
from attnviz.core.terms import Cell, Terms  # noqa: E402
from attnviz.viewer.page import Page  # noqa: E402

RETURNED = {each.__name__: each for each in (OnnxAttention, Cell, Terms, Page)}
"""Classes that functions return, and that are not imported from `attnviz`."""

LISTS = ("Parameters", "Attributes", "Returns", "Yields", "Raises")
TEXTS = ("Notes", "References")
_SECTION = re.compile(rf"^({'|'.join(LISTS + TEXTS)}|Examples)\n-+\n", re.MULTILINE)
_ENTRY = re.compile(r"^@(?!contents)(\w+)(.*)\n", re.MULTILINE)


def public(name: str) -> Any:
    """The function or class of a name."""
    return getattr(attnviz, name, None) or RETURNED.get(name) or getattr(attnviz.testing, name)


def sections(documented: object) -> dict[str, str]:
    """The sections of a numpydoc docstring by their titles; "" is the description before them."""
    first, *rest = _SECTION.split(inspect.getdoc(documented) or "")
    if len(set(rest[::2])) < len(rest[::2]):
        raise ValueError(f"A docstring has each section once; {documented} has {rest[::2]}. Join them.")
    return {"": first.strip()} | {title: text.strip() for title, text in zip(rest[::2], rest[1::2], strict=True)}


def items(section: str) -> Iterator[tuple[list[str], str, str]]:
    """The names, the type and the description of each item of a section; results and errors have no type."""
    for item in re.split(r"\n(?=\S)", section) if section else ():
        head, _, description = item.partition("\n")
        names, _, kind = head.partition(" : ")
        yield names.split(", ") if kind else [names], kind, " ".join(description.split())


def listed(section: str) -> str:
    """The items of a section as a list in Markdown."""
    lines = []
    for names, kind, description in items(section):
        described = ". ".join(filter(None, (kind and f"`{kind}`", description)))
        lines.append(f"- {', '.join(f'**`{name}`**' for name in names)}: {described}")
    return "\n".join(lines)


def signature(name: str, function: Any) -> str:
    """The call as one writes it, in lines of 88 characters; types are in the list of parameters."""
    taken = inspect.signature(function)
    parameters = [each.replace(annotation=each.empty) for each in taken.parameters.values() if each.name != "self"]
    call = name + str(taken.replace(parameters=parameters, return_annotation=taken.empty))
    call = re.sub(r"<class '[\w.]*?(\w+)'>", r"\1", call)
    unbroken = re.sub(r"'[^']*'", lambda text: text[0].replace(" ", "\0"), call)
    indent = " " * (len(name) + 1)
    return textwrap.fill(unbroken, 88, subsequent_indent=indent, break_long_words=False).replace("\0", " ")


def line_on(owner: str, name: str, member: Any) -> str:
    """A property or method with its first sentence, linked to its entry if it has one."""
    called = name if isinstance(member, property | cached_property) else " ".join(signature(name, member).split())
    shown = f"[`{called}`](#{slug(f'{owner}.{name}')})" if "Examples" in sections(member) else f"`{called}`"
    return f"- **{shown}**: {' '.join(sections(member)[''].split(chr(10) * 2)[0].split())}"


def example(section: str) -> Iterator[str]:
    """The code of an example in blocks, and the sentences between them."""
    if "import torch" in section:
        yield "*With PyTorch:*"
    for is_code, texts in groupby(section.split("\n\n"), lambda text: text.startswith(">>>")):
        text = "\n\n".join(texts)
        yield f"```pycon\n{text}\n```" if is_code else text


def entry(name: str, documented: Any, members: list[str]) -> Iterator[str]:
    """The paragraphs on a name; methods that have examples get entries of their own."""
    is_class, parts = inspect.isclass(documented), sections(documented)
    yield f"### class `{name}`" if is_class else f"{'####' if '.' in name else '###'} `{name}`"
    if not is_class or "Parameters" in parts:
        yield f"```text\n{signature(name.rpartition('.')[2], documented)}\n```"
    yield parts[""]
    yield from example(parts["Examples"]) if "Examples" in parts else ()
    yield from (f"**{title}**\n\n{listed(parts[title])}" for title in LISTS if title in parts)
    inside = {each: getattr(documented, each) for each in members}
    if inside:
        lines = (line_on(name, each, member) for each, member in inside.items())
        yield "**Properties and methods**\n\n" + "\n".join(lines)
    yield from (f"**{title}**\n\n{parts[title]}" for title in TEXTS if title in parts)
    for each, member in inside.items():
        if "Examples" in sections(member):
            yield from entry(f"{name}.{each}", member, [])


def slug(heading: str) -> str:
    """A heading's anchor as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def contents(page: str) -> str:
    """A list of the topics, with the names of each."""
    lines = []
    for level, heading in re.findall(r"^(##+) (.*)$", page, re.MULTILINE):
        if level == "##" and heading != "Contents":
            lines.append(f"- [{heading}](#{slug(heading)})")
        elif level == "###":
            lines[-1] += f"{',' if '`' in lines[-1] else ':'} [{heading.removeprefix('class ')}](#{slug(heading)})"
    return "\n".join(lines)


def page() -> str:
    """The whole page."""
    template = (DOCS / "api.template").read_text("utf-8")
    filled = _ENTRY.sub(lambda at: "\n\n".join(entry(at[1], public(at[1]), at[2].split())) + "\n\n", template)
    filled = re.sub(r"\n{3,}", "\n\n", filled).rstrip() + "\n"
    return filled.replace("@contents", contents(filled))


if __name__ == "__main__":
    (DOCS / "api.md").write_text(page(), "utf-8")
