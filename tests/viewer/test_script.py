"""The scripts of the app's pages: which modules each has, what late ones are asked for, and how much comes first."""

import json
import re

import pytest

from attnviz.viewer.bundle import BROWSER, STYLES, module, modules_of
from attnviz.viewer.script import FIRST, LATE, PARTS, SCRIPTS, modules_by_part, needed, whole

FIRST_BYTES = {"lessons": 78_000, "pass": 242_000}
"""Gzipped, what a page needs before its first answer or picture."""
ASKED = re.compile(r"\bloadScript\(\"(\w+)\"\)")
TAKEN = (
    r"const \{ (?P<names>[\w, ]+) \} = await (?:host\.)?loadScript\(\"(?P<of>\w+)\"\)",
    r"await (?:host\.)?loadScript\(\"(?P<of>\w+)\"\)\)\.(?P<names>\w+)",
    r"loadScript\(\"(?P<of>\w+)\"\)\.then\(async \(\{ (?P<names>[\w, ]+) \}",
)
# what a module keeps while the page is there, of which a second copy would keep something else
STATE = re.compile(
    r"^let |^const \w+ = (?:/\*\*.*?\*/ \()?new (?:Weak)?(?:Map|Set)\(\)|^const \w+ = .*\[\]\)?;", re.MULTILINE
)


def exported(name):
    """The names that a part has for others, as its modules export them."""
    texts = [module(each).read_text("utf-8") for each in PARTS[name].exports]
    return {found for text in texts for found in re.findall(r"^export (?:async )?(?:function|const) (\w+)", text, re.M)}


def test_late_scripts_are_served_and_export_what_is_taken_of_them():
    texts = {path: path.read_text("utf-8") for path in BROWSER.glob("*/*.js")}
    asked = {name for text in texts.values() for name in ASKED.findall(text)}
    assert asked == {"lessonPictures", "talk", "teaching", "classes"}
    taken = [found for text in texts.values() for form in TAKEN for found in re.finditer(form, text)]
    assert len(taken) >= 5
    for found in taken:
        assert {*found["names"].split(", ")} <= exported(found["of"])
    together = texts[module("together")]
    for name in asked - {"classes"}:  # of lessons on a page that has all in one
        (names,) = re.findall(rf"^  {name}: \{{ (.*) \}},$", together, re.MULTILINE)
        assert {*names.split(", ")} <= exported(name)
    served = json.loads(_constant("scripts"))
    assert served == {
        name: {"path": SCRIPTS[name].path.lstrip("/"), "after": [each for each in part.after if each != FIRST]}
        for name, part in PARTS.items()
        if name != FIRST
    }


def _constant(name):
    return re.search(rf"^export const {name} = (.*);$", SCRIPTS[FIRST].text.decode(), re.MULTILINE)[1]


def test_no_module_is_in_two_scripts_of_a_page():
    homes = {}
    for name in PARTS:
        for path in re.findall(r"^const (\w+)_js = \(\(\) => \{$", SCRIPTS[name].text.decode(), re.MULTILINE):
            homes.setdefault(path, []).append(name)
    reached = modules_of(*(module(each) for part in PARTS.values() for each in part.exports))
    stateful = {path.stem for path in reached if STATE.search(path.read_text("utf-8"))}
    assert {"talkController", "navigation", "passPage", "lessonsPage", "classBar", "shortcuts", "looks"} <= stateful
    assert {path: names for path, names in homes.items() if len(names) > 1} == {}
    styles = [each for part in PARTS.values() for each in part.styles]
    assert sorted(styles) == sorted({*STYLES} - {"allLayers", "article", "phone"})


def test_each_module_comes_after_those_that_it_imports():
    for name, modules in modules_by_part().items():
        there = {path for each in needed(name) for path in modules_by_part()[each]}
        for each in PARTS[name].exports:
            assert modules_of(module(each)).keys() <= there
        assert modules.keys() <= there


@pytest.mark.parametrize("page", FIRST_BYTES)
def test_what_comes_first_stays_small(page):
    size = sum(len(SCRIPTS[each].compressed) for each in needed(page))
    assert 0.9 * FIRST_BYTES[page] < size <= FIRST_BYTES[page], "or lower the limit"


@pytest.mark.parametrize("name", LATE)
def test_a_script_for_an_older_page_needs_no_other(name, node, tmp_path):
    """That page has other modules, under names that may be gone."""
    path = tmp_path / "whole.mjs"
    path.write_bytes(whole(name).text)
    source = f"""
        import make, {{ name }} from "{path.as_uri()}";
        const {{ added, exports }} = make({{}});
        console.log(JSON.stringify([name, Object.keys(exports), Object.keys(added)]));
    """
    found, exports, added = json.loads(node("--input-type=module", "--eval", source))
    assert (found, {*exports}) == (name, exported(name))
    assert added == [], "the page's later scripts must not run on these modules"
