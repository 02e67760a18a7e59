"""The viewer's JavaScript: the tests that node runs, and what it shares with Python.

Without node a person's run skips them and says so; where CI is set they fail.
"""

import json
import re
from collections import Counter
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from page import ROOT
from passes import TRACES
from pools import read
from rules import said

from attnviz.core.numerals import digits, short, tex
from attnviz.explain.steps import ENTRIES
from attnviz.explain.wording import percent
from attnviz.viewer.site.page import pooled

_LAST = '(await import("node:test")).test("all files were read", () => {});'


def test_node_tests_pass(node, subtests):
    """One run of node, as a process for each file takes longer than its tests; each test of its own is reported."""
    files = sorted((ROOT / "tests" / "js").glob("*.test.mjs"))
    source = "".join(f'await import("{each.as_uri()}");' for each in files) + _LAST
    reporter = (ROOT / "tests" / "js" / "reporter.mjs").as_uri()
    output = node(f"--test-reporter={reporter}", "--input-type=module", "--eval", source, may_fail=True)
    reports = [json.loads(line) for line in output.splitlines()]
    assert reports[-1]["name"] == "all files were read", output[-2_000:]
    for report in reports:
        with subtests.test(report["name"]):
            assert not report["error"], report["error"]


def test_percent_matches_exact_fractions(called):
    """Of all fractions with small denominators, 9 of 360 among them: their hundredths are whole numbers' quotients."""
    fractions = sorted({Fraction(n, m) for m in (*range(1, 60), 200, 360, 400) for n in range(m + 1)})
    one = Fraction(1, 100)
    expected = [
        ("under 1" if 0 < each < one else "over 99" if 1 - one < each < 1 else str((200 * each + 1) // 2)) + "\u00a0%"
        for each in fractions
    ]
    shares = [float(each) for each in fractions]
    assert [percent(share) for share in shares] == expected
    assert called("numeral", "percent", [[share] for share in shares]) == expected


@pytest.mark.parametrize("way", [short, digits, tex, percent])
def test_numerals_match_the_browser(called, way):
    ties = [place / 8 for place in range(-41, 42)] + [1234.5, 1235.5, 100.25, 100.75, 12_500.0, 13_500.0, 99_500.0]
    finer = [place / 32 for place in range(-41, 42)] + [
        1_125_000.0,
        1_135_000.0,
        9_995_000.0,
        999_999.99995,
        999_999.99996,
    ]
    edges = [0.0, -0.0, -0.004, -0.005, 0.005, 1.005, 99.995, 99.996, 999.95, 999.96, 9999.5, 9999.6, 1e4, 1e-7, 5e-324]
    rng = np.random.default_rng(1)
    spread = (rng.standard_normal(2_000) * 10.0 ** rng.integers(-9, 9, 2_000)).tolist()
    large = [1e15, 1e16, 1e21, 1e22, 1e100, 1e308, 1.7976931348623157e308, -1e308]
    small = [1e-3, 9.995e-4, 9.994e-4, -1e-3, -9.999e-4, 1e-300, 1.125e-4, 2.0**-13, 3 * 2.0**-14]
    numbers = [*ties, *finer, *edges, *spread, *large, *small]
    assert called("numeral", way.__name__, [[number] for number in numbers]) == list(map(way, numbers))


def formulas():
    """The formulas of the first and the last cell of every computed stage, of passes of all kinds."""
    for trace in TRACES.values():
        for stage in trace.stages:
            for index in () if stage.is_given else {(0,) * len(stage.shape), tuple(n - 1 for n in stage.shape)}:
                yield said(trace, stage.name, index).formula


def test_formulas_are_typeset_whole(called):
    texts = [*formulas(), *(entry.symbol for entry in ENTRIES.values())]
    for latex, tree in zip(texts, called("latex", "parse", [[text] for text in texts]), strict=True):
        nodes = list(_nodes(tree))
        counts = Counter(node["tag"] for node in nodes)
        written = [node["children"][0] for node in nodes if node["tag"] in ("mi", "mn", "mo", "mtext")]
        assert not set("".join(written)) & set("\\{}_^"), latex
        numbers = [node["children"][0] for node in nodes if node["tag"] == "mn"]
        assert numbers == [n.replace("\\infty", "∞") for n in re.findall(r"[\d.]+|\\infty", latex)]
        assert written.count("−") == latex.count("-")
        assert counts["mfrac"] == latex.count("\\frac")
        assert counts["msub"] + counts["msubsup"] == latex.count("_")
        assert counts["msup"] + counts["msubsup"] == latex.count("^")


def _nodes(tree):
    yield tree
    for child in tree["children"]:
        if not isinstance(child, str):
            yield from _nodes(child)


POOL = ROOT / "attnviz" / "viewer" / "browser" / "shell" / "templates.js"
ROWS = (["0.25 " * 30], {"values": ["a" * 90, 1, 1.0, True, None, 0.0, -0.0]}, "b" * 200)
SCALARS = (None, True, False, 0, 1, 1.0, 0.0, -0.0, 0.1, "", "a", "é")


def random_data(random, depth=4):
    """Data of any shape, in which rows occur again."""
    kind = random.randrange(4 if depth else 2)
    if kind < 2:
        return random.choice(ROWS if kind else SCALARS)
    parts = [random_data(random, depth - 1) for _ in range(random.randrange(5))]
    return parts if kind == 2 else {f"{random.choice('abc')}{place}": part for place, part in enumerate(parts)}


def test_pool_round_trips():
    random = Random(0)
    for _ in range(300):
        data = random_data(random)
        twice = [data, {"again": data}]
        assert json.dumps(read(pooled(twice))) == json.dumps(twice), "1 is not 1.0, and the order is kept"


def test_pool_stores_repeats_once():
    for row in ROWS:
        made = pooled([[row, place] for place in range(4)])
        assert json.dumps(made).count(json.dumps(row)) == 1
        assert len(made["parts"]) == 1


def test_browser_unpools_python_data(node, tmp_path):
    row = {"values": ["é" * 60, 0.1, -0.0, None], "of": {"text": "x" * 120}}
    data = [row, {"own": row["of"], "rows": [row, row]}, [], {}, 1, True]
    (tmp_path / "pool.json").write_text(json.dumps(pooled(data)), "utf-8")
    code = f"""
import {{ readFileSync }} from "node:fs";
const {{ unpool }} = await import("{POOL.as_uri()}");
console.log(JSON.stringify(unpool(JSON.parse(readFileSync("{tmp_path / "pool.json"}", "utf-8")))));
"""
    assert json.loads(node("--input-type=module", "--eval", code)) == data
