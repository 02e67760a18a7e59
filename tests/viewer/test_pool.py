"""The pool: data is what it was, in Python and in the browser, and what occurs again is written once."""

import json
from random import Random

from page import ROOT
from pools import read

from attnviz.viewer.site.page import pooled

POOL = ROOT / "attnviz" / "viewer" / "browser" / "shell" / "templates.js"
ROWS = (["0.25 " * 30], {"values": ["a" * 90, 1, 1.0, True, None, 0.0, -0.0]}, "b" * 200)
SCALARS = (None, True, False, 0, 1, 1.0, 0.0, -0.0, 0.1, "", "a", "é")


def drawn(random, depth=4):
    """Data of any shape, in which rows occur again."""
    kind = random.randrange(4 if depth else 2)
    if kind < 2:
        return random.choice(ROWS if kind else SCALARS)
    parts = [drawn(random, depth - 1) for _ in range(random.randrange(5))]
    return parts if kind == 2 else {f"{random.choice('abc')}{place}": part for place, part in enumerate(parts)}


def test_data_is_what_it_was():
    random = Random(0)
    for _ in range(300):
        data = drawn(random)
        twice = [data, {"again": data}]
        assert json.dumps(read(pooled(twice))) == json.dumps(twice), "1 is not 1.0, and the order is kept"


def test_what_occurs_again_is_written_once():
    for row in ROWS:
        made = pooled([[row, place] for place in range(4)])
        assert json.dumps(made).count(json.dumps(row)) == 1
        assert len(made["parts"]) == 1


def test_a_browser_reads_what_python_wrote(node, tmp_path):
    row = {"values": ["é" * 60, 0.1, -0.0, None], "of": {"text": "x" * 120}}
    data = [row, {"own": row["of"], "rows": [row, row]}, [], {}, 1, True]
    (tmp_path / "pool.json").write_text(json.dumps(pooled(data)), "utf-8")
    code = f"""
import {{ readFileSync }} from "node:fs";
const {{ unpool }} = await import("{POOL.as_uri()}");
console.log(JSON.stringify(unpool(JSON.parse(readFileSync("{tmp_path / "pool.json"}", "utf-8")))));
"""
    assert json.loads(node("--input-type=module", "--eval", code)) == data
