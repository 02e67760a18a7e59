"""Hostile words: what people may type, or put into an address, to break a page or to have it do something.

Each case is text that means something to a language that it may come by: Markdown, HTML, LaTeX, Plotly, JavaScript,
JSON, CSV, Python, a shell, a terminal; or text that is hard on whoever draws it.
"""

import json
from pathlib import Path

CASES = json.loads((Path(__file__).parent / "data" / "hostile_words.json").read_text("utf-8"))
"""Texts by what they are."""
