"""Bundle: JavaScript modules as one text, as Streamlit takes an inline component.

A module imports with lines such as `import { parts } from "../pass/cells.js";`
and exports functions, constants and, the one that is asked for, a default. Each
keeps a scope of its own, under its file's name: no two files share one.
"""

import re
from os.path import normpath
from pathlib import Path

BROWSER = Path(__file__).parent / "browser"
"""The modules, in rooms."""

_IMPORT = re.compile(
    r'^import \{(?P<names>[\w\s,]+)\} from "(?P<path>\.{1,2}/(?:\.\./)?(?:\w+/)?(?P<module>\w+)\.js)";\n', re.MULTILINE
)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const) (?P<name>\w+))", re.MULTILINE)
_COMMENT = re.compile(r"^ *(?:/\*\* .*\*/|//.*)\n", re.MULTILINE)  # a fifth of what a first visit would fetch
_VENDOR = "vendor"  # the room of others' modules, whose comments are their licences
_LEFT_OVER = re.compile(r"^(?:import\b|export (?!default function\b)).*", re.MULTILINE)


def module(name: str) -> Path:
    """The module of that name, in whichever room it is."""
    (path,) = BROWSER.glob(f"*/{name}.js")
    return path


def bundle(entry: Path) -> str:
    """The text of a module after those it imports, each once.

    Raises
    ------
    ValueError
        If modules import each other in a circle, a name is imported that is not
        exported, or an import or export is of another form.
    """
    texts: dict[Path, str] = {}
    _add(entry, (), texts)
    for path, text in texts.items():
        _check(path, text, texts)
    *imported, (_, last) = texts.items()
    return "\n".join([*(_scoped(path, text) for path, text in imported), _joinable(last)])


def _add(path: Path, importers: tuple[Path, ...], texts: dict[Path, str]) -> None:
    """Add the text of a module after those of all that it imports, unless it is there."""
    if path in importers:
        circle = " -> ".join(each.name for each in (*importers[importers.index(path) :], path))
        raise ValueError(f"Modules import without circles; got {circle}. Move what both need into a third.")
    if path in texts:
        return
    text = path.read_text("utf-8")
    for imported in _IMPORT.finditer(text):
        _add(_source(path, imported), (*importers, path), texts)
    texts[path] = text if path.parent.name == _VENDOR else _COMMENT.sub("", text)


def _source(path: Path, imported: re.Match[str]) -> Path:
    """The module that another imports."""
    return Path(normpath(path.parent / imported["path"]))


def _check(path: Path, text: str, texts: dict[Path, str]) -> None:
    for imported in _IMPORT.finditer(text):
        source = _source(path, imported)
        if missing := set(re.findall(r"\w+", imported["names"])) - set(_exported(texts[source])):
            raise ValueError(
                f"A module imports what another exports; {path.name} imports {', '.join(sorted(missing))}, which "
                f"{source.name} does not export. Export or rename it."
            )
    if other := _LEFT_OVER.search(_joinable(text)):
        raise ValueError(
            'Imports are of the form `import { name } from "../room/module.js";`, exports of functions and constants; '
            f"{path.name} has {other[0]!r}. Write it so."
        )


def _exported(text: str) -> list[str]:
    return [each["name"] for each in _EXPORT.finditer(text)]


def _scoped(path: Path, text: str) -> str:
    """A module as a constant that holds what it exports."""
    return f"const {path.stem}_js = (() => {{\n{_joinable(text)}return {{ {', '.join(_exported(text))} }};\n}})();\n"


def _joinable(text: str) -> str:
    """A module's text that takes what it imports from such constants."""
    return _EXPORT.sub("", _IMPORT.sub(r"const {\g<names>} = \g<module>_js;\n", text))
