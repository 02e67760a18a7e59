"""The glossary for the browser: `python -m attnviz.viewer.glossary` writes it as a module."""

import json

from attnviz.text.glossary import TERMS
from attnviz.viewer.bundle import BROWSER

FILE = BROWSER / "words" / "glossaryTerms.js"
_PARTS = ("id", "pattern", "says", "here")


def javascript() -> str:
    """The module."""
    terms = "".join(f"  {{\n{_parts(vars(term))}  }},\n" for term in TERMS)
    return (
        "// Made from attnviz/text/glossary.py by `python -m attnviz.viewer.glossary`. Change it there.\n\n"
        f"export const TERMS = [\n{terms}];\n"
    )


def _parts(term: dict[str, str]) -> str:
    return "".join(f"    {part}: {json.dumps(term[part], ensure_ascii=False)},\n" for part in _PARTS)


if __name__ == "__main__":
    FILE.write_text(javascript(), "utf-8")
