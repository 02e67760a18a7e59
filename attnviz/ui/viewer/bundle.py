"""Bundle: JavaScript modules as one text, as Streamlit takes an inline component.

A module imports with lines such as `import { parts } from "./cells.js";` and
exports functions, constants and, the one that is asked for, a default.
"""

import re
from pathlib import Path

_IMPORT = re.compile(r'^import \{(?P<names>[\w\s,]+)\} from "\./(?P<module>[\w.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const) (?P<name>\w+))", re.MULTILINE)
_TOP_LEVEL = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)
_LEFT_OVER = re.compile(r"^(?:import\b|export (?!default function\b)).*", re.MULTILINE)


def bundle(entry: Path) -> str:
    """The text of a module after those it imports, each once, without their imports and exports.

    Raises
    ------
    ValueError
        If modules import each other in a circle, a name is imported that is not
        exported or is declared twice, or an import or export is of another form.
    """
    texts = {path: path.read_text("utf-8") for path in _ordered(entry, ())}
    _check_names(texts)
    return "\n".join(_joinable(path, text) for path, text in texts.items())


def _ordered(path: Path, importers: tuple[Path, ...]) -> dict[Path, None]:
    """The modules that a module needs, and itself, each after those it imports."""
    if path in importers:
        circle = " -> ".join(each.name for each in (*importers[importers.index(path) :], path))
        raise ValueError(f"Modules import without circles; got {circle}. Move what both need into a third.")
    ordered: dict[Path, None] = {}
    for imported in _IMPORT.finditer(path.read_text("utf-8")):
        ordered |= _ordered(path.parent / imported["module"], (*importers, path))
    return ordered | {path: None}


def _check_names(texts: dict[Path, str]) -> None:
    declared: dict[str, Path] = {}
    for path, text in texts.items():
        for name in _TOP_LEVEL.findall(text):
            if name in declared:
                raise ValueError(
                    f"A name stands for one thing in all modules; {declared[name].name} and {path.name} both declare "
                    f"{name}. Rename one."
                )
            declared[name] = path
        for imported in _IMPORT.finditer(text):
            wanted = set(re.findall(r"\w+", imported["names"]))
            exported = {each["name"] for each in _EXPORT.finditer(texts[path.parent / imported["module"]])}
            if missing := wanted - exported:
                raise ValueError(
                    f"A module imports what another exports; {path.name} imports {', '.join(sorted(missing))}, which "
                    f"{imported['module']} does not export. Export or rename it."
                )


def _joinable(path: Path, text: str) -> str:
    joinable = _EXPORT.sub("", _IMPORT.sub("", text))
    if other := _LEFT_OVER.search(joinable):
        raise ValueError(
            f'Imports are of the form `import {{ name }} from "./module.js";`, exports of functions and constants; '
            f"{path.name} has {other[0]!r}. Write it so."
        )
    return joinable
