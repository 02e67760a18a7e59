"""Eight type sizes: which font sizes the style sheets may have besides the tokens, and why."""

import re

from page import ROOT
from test_colours import TOKENS, rules

FITTED = r"cqw|vh|vw|var\(--(digits|label|letter|names|large|chosen|count|said|said-size|slide|room)\b"
"""A size that a fit computes from the room there is, for words and digits that have to stand in columns."""
IN_FITTED = {  # selectors whose text is a part of one that is fitted, so that it keeps its proportion
    *(".answer .share", ".answer.guess .mark", ".answer .before"),
    *(
        ".lesson-page .lesson-said h2",
        ".lesson-page .note",
        ".lesson-page .choices button",
        ".lesson-page .verdict code",
    ),
    *(".lesson-page .track :is(.own, .right)", ".lesson-page .number-box .help", ".gaps-box .help"),
    *(".sheet td s", ".sheet td.range", ".thread .little", ".thread .said", ".thread.large .said", ".learns .share"),
    *(".viewer .own-picture.slide h2", ".viewer .own-picture.headline-alone h2"),
    *(".course text", ".viewer .collecting button", ".collecting .ways", ".collecting .note", ".viewer code"),
    *(".viewer .own-picture.slide h2", ".viewer .own-picture.headline-alone h2"),
    *(".own-picture:not(.presented) .share-bars", ".viewer .thread .two-rows .of-a .words .mark"),
}

DRAWN = r"^(\.viewer \.small-picture|(\.in-hand )?\.score-to-weight)\b"
"""Letters in a drawing, in its own units: it grows and shrinks as a whole."""

PRESENTED = r"(?<!:not\()\.(presenting|class-(stage|board|texts|moves|sure|wondered)|neighbour|talk-end|clock)\b"


def other_sizes():
    """Font sizes that are no token, each with its file and selector."""
    for file, selector, name, value in rules():
        if name == "font-size" and not re.fullmatch(r"var\(--size-[1-8]\)|inherit|0|1px", value):
            yield file, re.sub(r"\s+", " ", selector), value


def test_there_are_eight_sizes():
    sizes = [float(size) for size in re.findall(r"--size-\d: ([\d.]+)rem", TOKENS)]
    assert len(sizes) == 8
    assert sizes == sorted(set(sizes))


def test_every_font_size_is_a_token_or_has_its_reason():
    wrong = []
    for file, selector, value in other_sizes():
        is_fitted = re.search(FITTED, value)
        is_maths = re.search(r"(\bmath|\.formula)$", selector) and re.fullmatch(r"[\d.]+em", value)
        is_of_paper = re.search(r"\.(printed|handout|pages)\b", selector) or value.endswith("pt")
        is_drawn = re.search(DRAWN, selector)
        is_presented = re.search(PRESENTED, selector)
        if not (is_fitted or is_maths or is_of_paper or is_drawn or is_presented or selector in IN_FITTED):
            wrong.append((file, selector, value))
    assert wrong == []


def test_pages_of_streamlit_have_no_size_of_their_own():
    page = (ROOT / "attnviz" / "app" / "page.css").read_text("utf-8")
    in_viewer = (ROOT / "attnviz" / "viewer" / "browser" / "model" / "present.js").read_text("utf-8")
    of_4k = r"\(min-width: 2304px\) and \(min-height: 1251px\) {\s*html { font-size: (.*?) !important; }"
    assert re.findall(r"font-size: ([^;]*?)(?: !important)?;", page) == re.findall(of_4k, in_viewer)
    assert re.findall(of_4k, page) == re.findall(of_4k, in_viewer), "a page of text grows as the viewer's do"
    headings = re.search(r"headingFontSizes = \[(.*)\]", (ROOT / ".streamlit" / "config.toml").read_text("utf-8"))[1]
    assert {*re.findall(r"[\d.]+rem", headings)} <= {*re.findall(r"--size-\d: ([\d.]+rem)", TOKENS)}


def test_the_reasons_are_needed():
    left = {selector for _, selector, _ in other_sizes()}
    assert IN_FITTED - left == set()
