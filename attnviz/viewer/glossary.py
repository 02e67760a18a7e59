"""The glossary for the browser: `python -m attnviz.viewer.glossary` writes it as a module."""

import json

from attnviz.explain.glossary import TERMS
from attnviz.viewer.bundle import BROWSER

FILE = BROWSER.parent / "generated" / "glossaryTerms.js"
_PARTS = ("id", "pattern", "says", "here")


def javascript() -> str:
    """The module's text."""
    terms = "".join(f"  {{\n{_parts(vars(term))}  }},\n" for term in TERMS)
    return (
        "// Made from attnviz/explain by `python -m attnviz.viewer.glossary`. Change it there.\n\n"
        f"export const TERMS = [\n{terms}];\n"
    )


def _parts(term: dict[str, str | tuple[str, ...]]) -> str:
    return "".join(f"    {part}: {_value(term[part])},\n" for part in _PARTS)


def _value(value: str | tuple[str, ...]) -> str:
    """A value in Biome's format."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return "[\n" + "".join(f"      {_value(each)},\n" for each in value) + "    ]"


if __name__ == "__main__":
    FILE.write_text(javascript(), "utf-8")
