"""docs/own-code.md: its blocks of Python, run in turn, and what they print, which the page shows below them.

`PYTHONPATH=. python tests/tutorial.py` runs it with torch and transformers and writes what comes out into the page.
"""

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "own-code.md"
_BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<printed>.*?)```\n)?", re.DOTALL)


def blocks():
    """Each block of code, and what the page says that it prints."""
    return [(match["code"], match["printed"] or "") for match in _BLOCK.finditer(PAGE.read_text("utf-8"))]


def run():
    """What each block prints."""
    import torch

    torch.manual_seed(0)
    names = {"__name__": "tutorial"}
    for code, _ in blocks():
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, "docs/own-code.md", "exec"), names)
        yield printed.getvalue()


if __name__ == "__main__":
    printed = run()

    def renewed(match):
        text = next(printed)
        return f"```python\n{match['code']}```\n" + (f"\n```text\n{text}```\n" if text else "")

    PAGE.write_text(_BLOCK.sub(renewed, PAGE.read_text("utf-8")), "utf-8")
