"""The words a person types, the worked examples, and the README's picture, in a real browser."""

import struct

import pytest
from page import ROOT
from tab import at, becomes, expect, heading, lesson, resized, step_is

from attnviz.examples import EXAMPLES
from attnviz.explain.steps import steps_of

pytestmark = pytest.mark.browser


@pytest.mark.slow
@pytest.mark.parametrize("source", ["002 sum", "004 code"])
def test_a_worked_example_is_stepped_through_to_its_end(opened, source):
    example, variant = source.split()
    steps = steps_of(EXAMPLES[example].variant(variant).trace)
    page = opened(source=source)
    for number in range(1, len(steps) + 1):
        step_is(page, number)
        expect(page.locator(".panel h3")).to_contain_text("=")
        page.keyboard.press("PageDown")
    expect(heading(page, "The whole pass, from words to output")).to_be_visible()


PICTURE = ROOT / "docs" / "lesson.png"
CONTENT = PICTURE.with_suffix(".txt")
"""What the page of the picture said when it was taken, as a screen reader is given it."""
SIZE = (1366, 768)


def test_the_readme_s_picture_is_the_app(visit, server, request):
    page = lesson(visit(), at(lesson="who-is-it", moment=3))
    resized(page, *SIZE)
    page.get_by_role("button", name="Check").click()
    expect(page.locator(".lesson-said .verdict")).to_contain_text("You said 50 %")
    main = page.get_by_test_id("stMain")

    def said():
        return main.aria_snapshot().replace(server, "")  # which links lead back to

    if request.config.getoption("--remake-picture"):
        page.screenshot(path=PICTURE)
        CONTENT.write_text(said(), "utf-8")
    assert struct.unpack(">II", PICTURE.read_bytes()[16:24]) == SIZE  # where a PNG holds its size
    remake = (
        "the page is not what docs/lesson.png shows: pytest tests/browser/test_browser.py -k readme --remake-picture"
    )
    becomes(page, said, CONTENT.read_text("utf-8"), remake)
