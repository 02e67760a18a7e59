"""The browser's code as text: modules bundled into one, styles joined, and the viewer as one HTML page (the shell).

A module imports with lines such as `import { parts } from "../model/pass.js";` and exports functions, constants and at
most one default. Each keeps a scope of its own, named after its file: no two files share a name. The shell is filled
in by Python (`page`) and by the browser (`browser/views/download.js`), which gets it as a script of the server.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import re
from collections.abc import Iterable, Mapping
from os.path import normpath
from pathlib import Path

BROWSER = Path(__file__).parent / "browser"  # the folder of the browser's modules
_IMPORT = re.compile(
    r'^import \{(?P<names>[\w\s,]+)\} from "(?P<path>\.{1,2}/(?:\.\./)?(?:\w+/)?(?P<module>\w+)\.js)";\n', re.MULTILINE
)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const) (?P<name>\w+))", re.MULTILINE)
# Lines of comments, and types within lines: a sixth of what a first visit would fetch
_COMMENT = re.compile(r"^ *(?://.*|/\*\*[^*]*(?:\*(?!/)[^*]*)*\*/)\n|/\*\*[^*]*(?:\*(?!/)[^*]*)*\*/ ?", re.MULTILINE)
_VENDOR = "vendor"  # third-party modules, whose comments are their licences
_UNKNOWN_FORM = re.compile(r"^(?:import\b|export (?!default function\b)).*", re.MULTILINE)


def module(name: str) -> Path:
    """The path of a module, by name."""
    (path,) = BROWSER.glob(f"*/{name}.js")
    return path


def bundle(entry: Path) -> str:
    """The text of a module, preceded by its imports, each once. Raises ValueError if imports form a cycle, an imported
    name is not exported, or a form is unknown.
    """
    texts = modules_of(entry)
    last = texts.pop(entry)
    return "\n".join([scoped(texts), inlined(last)] if texts else [inlined(last)])


def modules_of(*entries: Path) -> dict[Path, str]:
    """The texts of modules and all that they import, each after its own imports. Raises ValueError as `bundle` does."""
    texts: dict[Path, str] = {}
    for entry in entries:
        _add(entry, (), texts)
    for path, text in texts.items():
        _check(path, text, texts)
    return texts


def scoped(texts: Mapping[Path, str]) -> str:
    """Modules as constants that hold their exports, named as in `scope`."""
    return "\n".join(
        f"const {scope(path)} = (() => {{\n{inlined(text)}return {{ {', '.join(_exported(text))} }};\n}})();\n"
        for path, text in texts.items()
    )


def scope(path: Path) -> str:
    """The name of the constant that holds the exports of a module."""
    return f"{path.stem}_js"


def imports(path: Path, text: str) -> set[Path]:
    """The modules that a module imports."""
    return {_source(path, each) for each in _IMPORT.finditer(text)}


def _add(path: Path, importers: tuple[Path, ...], texts: dict[Path, str]) -> None:
    """Add a module after all of its imports, unless it is there already."""
    if path in importers:
        cycle = " -> ".join(each.name for each in (*importers[importers.index(path) :], path))
        raise ValueError(f"These modules import each other: {cycle}. Move what both need into a third.")
    if path in texts:
        return
    text = path.read_text("utf-8")
    for imported in _IMPORT.finditer(text):
        _add(_source(path, imported), (*importers, path), texts)
    texts[path] = text if path.parent.name == _VENDOR else _COMMENT.sub("", text)


def _source(path: Path, imported: re.Match[str]) -> Path:
    return Path(normpath(path.parent / imported["path"]))


def _check(path: Path, text: str, texts: dict[Path, str]) -> None:
    for imported in _IMPORT.finditer(text):
        source = _source(path, imported)
        if missing := set(re.findall(r"\w+", imported["names"])) - set(_exported(texts[source])):
            names = ", ".join(sorted(missing))
            raise ValueError(f"{path.name} imports {names}, which {source.name} does not export. Export or rename it.")
    if other := _UNKNOWN_FORM.search(inlined(text)):
        form = 'import { name } from "../folder/module.js";'
        raise ValueError(f"{path.name} has {other[0]!r}. Write `{form}`, and export functions and constants.")


def _exported(text: str) -> list[str]:
    return [each["name"] for each in _EXPORT.finditer(text)]


def inlined(text: str) -> str:
    """A module's text without `export`, and with imports read from the constants of `scoped`."""
    return _EXPORT.sub("", _IMPORT.sub(r"const {\g<names>} = \g<module>_js;\n", text))


STYLES = {path.stem: path for path in sorted(BROWSER.glob("*/*.css"), key=lambda path: path.name)}  # by name


_STYLE_COMMENT = re.compile(r" */\*.*?\*/\n?", re.DOTALL)


def style(name: str) -> str:
    """A stylesheet without its comments."""
    return _STYLE_COMMENT.sub("\n", STYLES[name].read_text("utf-8"))


def joined(names: Iterable[str]) -> str:
    """The stylesheets with these names as one text."""
    return "\n".join(map(style, names))


_OTHER_STYLES = {
    "allLayers",
    "article",
    "classVoices",
    "classroom",
    "lesson",
    "lessonOwnPictures",
    "lessonPages",
    "lessonTalk",
    "phone",
    "settings",
    "slide",
    "views",
}
_PASS_STYLES = tuple(name for name in STYLES if name not in _OTHER_STYLES)
THEME = Path(__file__).with_name("shell.css")
HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
{styles}
</head>
"""
_SHELL_BODY = """<body>
<header><h1></h1><p id="alone"></p></header>
<main class="viewer"><noscript>Switch JavaScript on: a script in this page draws it.</noscript></main>
<p id="refused" role="status"></p>
<script type="application/json" id="document">{document}</script>
<script type="module">{script}</script>
</body>
</html>
"""

_HEADS_BODY = """<body>
<header><h1></h1><p id="alone"></p></header>
<main class="viewer all-layers"><noscript>Switch JavaScript on: a script in this page draws it.</noscript></main>
<main class="exact-layer" hidden></main>
<p id="refused" role="status"></p>
<script type="application/json" id="heads">{heads}</script>
<script type="application/json" id="document">{document}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def viewer_page(document: bytes, title: str) -> str:
    """The viewer's page for a document as JSON, with a title in plain text."""
    return _shell("standalone", _SHELL_BODY, _PASS_STYLES).format(document=inert(document), title=html.escape(title))


def heads_page(heads: bytes, document: bytes | None, title: str) -> str:
    """A page of all heads of a recording as JSON, and the document of one of its layers, if there is one."""
    if document is None:
        shell = _shell("headsAlone", _HEADS_BODY, ("allLayers", "frame", "tokens"))
    else:
        shell = _shell("headsWithPass", _HEADS_BODY, ("allLayers", *_PASS_STYLES))
    return shell.format(heads=inert(heads), document=inert(document or b"null"), title=html.escape(title))


def inert(document: bytes) -> str:
    """JSON that is safe in a script element: it can't end the element or begin a comment."""
    return document.decode().replace("<", r"\u003c")


def hash_source(script: str) -> str:
    """The hash of an inline script, as a content security policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@functools.cache
def _shell(entry: str, body: str, styles: tuple[str, ...]) -> str:
    """A page, with slots for its data and the title."""
    script = f"\n{bundle(module(entry))}"
    policy = (
        f"default-src 'none'; script-src {hash_source(script)}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    style = joined(styles) + THEME.read_text("utf-8")
    fixed = {"policy": policy, "styles": f"<style>{style}</style>", "script": script}
    named = {name: text.replace("{", "{{").replace("}", "}}") for name, text in fixed.items()}
    return (HEAD + body).format(**named, heads="{heads}", document="{document}", title="{title}")
