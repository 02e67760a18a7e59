"""The scripts that the server serves: modules and their styles as one text, which browsers cache.

The app's pages have several: the first, `component`, which all of these pages share, and others that take its modules
and add their own. Some come with a page, the rest once it is there (`browser/shell/scriptLoader.js`).
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from attnviz.viewer.bundle import (
    STYLES,
    bundle,
    imports,
    inlined,
    joined,
    module,
    modules_of,
    scope,
    scoped,
    style,
    viewer_page,
)


@dataclass(frozen=True)
class Script:
    """A module: its default export is a component or, of a late script, adds modules; `styles` are its styles, by name
    in those of the app's pages. Or `shell` is the page to download.
    """

    text: bytes
    path: str  # contains a hash of the text

    @classmethod
    def of(cls, name: str, styles: Iterable[str], **values: object) -> Script:
        """The script of a module, with these styles and constants."""
        return cls.exporting(name, bundle(module(name)), styles=joined(styles), **values)

    @classmethod
    def exporting(cls, name: str, code: str, /, **values: object) -> Script:
        """A script of some code and constants."""
        constants = "".join(f"export const {each} = {json.dumps(value)};\n" for each, value in values.items())
        text = (code + constants).encode()
        return cls(text, f"/viewer/{name}-{hashlib.sha256(text).hexdigest()[:16]}.js")

    @functools.cached_property
    def compressed(self) -> bytes:
        """The gzipped text, compressed once."""
        return gzip.compress(self.text, mtime=0)


@dataclass(frozen=True)
class Part:
    """One of the scripts of the app's pages. A shared module lives in the latest part that all its users load."""

    exports: tuple[str, ...]  # the modules whose exports it has for others
    after: tuple[str, ...] = ()  # the parts whose modules it uses
    styles: tuple[str, ...] = ()


FIRST = "component"
PARTS = {
    FIRST: Part(("component",), (), ("answer", "charts", "frame", "qrCode", "system", "talk", "tokens")),
    "lessons": Part(("lessonsPage",), (FIRST,), ("lesson", "lessonPages", "slide")),
    "passes": Part((), (FIRST,)),
    "views": Part(
        (),
        ("passes",),
        ("hand", "learns", "map", "nextLetter", "panel", "picture", "sheet", "thread", "tiles", "twoRows"),
    ),
    "lessonPictures": Part(
        ("momentPicture", "handout", "glossary", "pass"), ("lessons", "views"), ("lessonOwnPictures",)
    ),
    "pass": Part(("passPage",), ("views",), ("settings", "views")),
    "teaching": Part(("qrCode",), ("passes",), ("classVoices", "lessonTalk")),
    "talk": Part(("talkDock", "speakerWindow"), ("teaching",)),
    "classes": Part(("classBar",), ("teaching",), ("classroom",)),
}


def needed(name: str) -> list[str]:
    """A part and all parts that it depends on, dependencies first."""
    return list(dict.fromkeys([*(each for earlier in PARTS[name].after for each in needed(earlier)), name]))


@functools.cache
def modules_by_part() -> dict[str, dict[Path, str]]:
    """The modules of each part. Raises ValueError if one would come before a module that it imports."""
    used = {name: modules_of(*map(module, part.exports)) for name, part in PARTS.items()}
    texts = {path: text for modules in used.values() for path, text in modules.items()}
    home = {}
    for path in texts:
        users = [needed(name) for name, modules in used.items() if path in modules]
        home[path] = next(name for name in reversed(PARTS) if all(name in each for each in users))
    for path, text in texts.items():
        for each in imports(path, text):
            if home[each] not in needed(home[path]):
                raise ValueError(
                    f"{path.name} is in the part {home[path]} and imports {each.name}, which is in {home[each]}. "
                    "Let the one come after the other, or give both a part to come after."
                )
    return {name: {path: texts[path] for path in texts if home[path] == name} for name in PARTS}


def _late_code(name: str, modules: Mapping[Path, str], added: Iterable[Path]) -> str:
    """The code of a late script: given the loaded modules, it returns those that it adds, and what it exports."""
    taken = sorted({scope(each) for path, text in modules.items() for each in imports(path, text) - modules.keys()})
    exported = [scope(module(each)) for each in PARTS[name].exports]
    exports = ", ".join(f"...{each}" for each in exported)
    adds = ", ".join(map(scope, added))
    names = ", ".join(sorted({*taken, *exported} - {*map(scope, modules)}))
    return (
        f"export default ({{ {names} }}) => {{\n{scoped(modules)}\n"
        f"return {{ added: {{ {adds} }}, exports: {{ {exports} }} }};\n}};\n"
    )


def _styles(name: str) -> dict[str, str]:
    return {each: style(each) for each in PARTS[name].styles}


def _late(name: str, modules: Mapping[Path, str], added: Iterable[Path]) -> Script:
    return Script.exporting(name, _late_code(name, modules, added), name=name, styles=_styles(name))


@functools.cache
def whole(name: str) -> Script:
    """A late script with all modules that it uses, for a page of another version. It adds none of them to that page."""
    return _late(name, modules_of(*map(module, PARTS[name].exports)), ())


def _first(late: Mapping[str, Script], **values: object) -> Script:
    modules = dict(modules_by_part()[FIRST])
    entry = modules.pop(module(FIRST))
    names = ", ".join(map(scope, modules))
    code = f"{scoped(modules)}\n{inlined(entry)}export const modules = {{ {names} }};\n"
    scripts = {
        name: {"path": script.path.lstrip("/"), "after": [each for each in PARTS[name].after if each != FIRST]}
        for name, script in late.items()
    }
    return Script.exporting(FIRST, code, styles=_styles(FIRST), scripts=scripts, **values)


_SHELL = viewer_page(b"null", "attnviz")
_PAGE = Script.exporting("page", "", shell=_SHELL)
LATE = {name: _late(name, modules, modules) for name, modules in modules_by_part().items() if name != FIRST}
_NOT_IN_A_CLASS = {"allLayers", "article", "lessonPages", "lessonTalk", "settings", "talk", "views"}  # styles

# the app's pages, articles, the upload, the page to download, the connection watcher, what keeps the address, and of a
# phone in a class its page and the viewer for its pictures
SCRIPTS = {
    FIRST: _first(LATE, page={"path": _PAGE.path.lstrip("/"), "bytes": len(_SHELL)}),
    **LATE,
    "articles": Script.of("articles", ("tokens", "article")),
    "numbers": Script.of("numbers", ("tokens", "article", "settings")),
    "page": _PAGE,
    "connection": Script.exporting("connection", bundle(module("connection"))),
    "arrival": Script.of("arrival", ()),
    "follower": Script.exporting("follower", bundle(module("follower"))),
    "classPictures": Script.of("classPictures", (name for name in STYLES if name not in _NOT_IN_A_CLASS)),
}
