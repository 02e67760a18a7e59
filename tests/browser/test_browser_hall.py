"""A talk with slides, an image and every kind of question, given to a class by a remote alone, read at four sizes."""

import base64
import re
import struct
import zlib

import pytest
from axe import violations, violations_but_contrast
from playwright.sync_api import expect
from sight import INK
from tab import becomes, frames, move_mouse, resized
from test_browser_class import DEVICES, answers, opens_class
from test_browser_talk import drawer

LEAST_WINDOW, WIDE = (1024, 768), ((1920, 1080), (3840, 2160), (1366, 768))
"""Each state is read in the least window, which has the least room, and in one of the wide ones, which are alike."""
LEAST = 1.5
"""Per cent of a window's height that the ink of a digit has."""
WHO = "model=who-is-it&checkpoint=9&view=sheet"
HIDDEN = "what nobody is shown"


def png(width=320, height=200):
    """A picture of bars, as a file."""
    rows = (
        bytes([0, *(60 if 200 - y < (x // 40 + 1) * 22 and x % 40 < 30 else 235 for x in range(width))])
        for y in range(height)
    )
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(b"".join(rows))),
        (b"IEND", b""),
    ]
    chunks = (
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


TALK = f"""
title = "Attention in an hour"
[[moment]]
at = ""
title = "What attention is for"
notes = "Begin slowly."
[moment.slide]
text = "A word alone is ambiguous. The words around it say what is meant, and attention finds them."
items = ["Each word asks: its query", "Each word describes itself: its key", "Each word hands over: its value"]
image = "bars"
alt = "Bars that rise from left to right"
[[moment]]
at = "{WHO}&cell=1.12.12.1.1"
title = "Whom does “tired” mean?"
text = "The animal did not cross the street because it was too tired."
after = "It looks at the animal."
ask = {{ kind = "word", of = "attention[tired, *]", prompt = "Which word will “tired” look at most?" }}
[[moment]]
at = "{WHO}&step=softmax&cell=1.12.10.1.1"
text = "A lead in score becomes a lead in weight."
[moment.ask]
kind = "share"
of = "attention[tired, was]"
needs = ["scaled[tired, animal]", "scaled[tired, was]"]
prompt = "What weight does “was” get?"
[[moment]]
at = "{WHO}&step=scores&cell=1.12.2.1.1"
text = "Query times key, added up."
[moment.ask]
kind = "number"
of = "scores[tired, animal]"
needs = ["q[tired, *]", "k[animal, *]"]
tolerance = 0.5
prompt = "What score does “animal” get?"
[[moment]]
at = ""
title = "What did you read?"
confidence = true
slide = {{ text = "Think of the paper." }}
[moment.ask]
kind = "own-choice"
prompt = "Which paper called it attention first?"
options = [{{ text = "Bahdanau, Cho and Bengio, 2014", right = true }}, {{ text = "Vaswani <b>and others</b>" }}]
[[moment]]
at = ""
title = "How do you feel about it?"
slide = {{}}
[moment.ask]
kind = "own-choice"
prompt = "Is the pace right?"
options = [{{ text = "Too slow" }}, {{ text = "Right" }}, {{ text = "Too fast" }}]
[[moment]]
at = ""
title = "A guess"
slide = {{}}
ask = {{ kind = "own-number", prompt = "How many heads had the first transformer?", right = 8.0, unit = "heads" }}
[[moment]]
at = ""
title = "In your words"
slide = {{}}
ask = {{ kind = "own-words", prompt = "What does a query do?" }}
[[moment]]
at = "{WHO}&step=weighted-sum&cell=1.12.2.1.1"
text = "What is handed over is the value."
[images]
bars = '{base64.b64encode(png()).decode()}'
"""

QUESTIONS = [  # of each moment that asks, from the second on: both phones' answers, and whether one is right
    (("animal", "street"), True),
    (("30", "70"), True),
    (("7", "3"), True),
    (("Bahdanau", "Vaswani"), True),
    (("Too slow", "Right"), False),
    (("8", "12"), True),
    (("It asks, I think", HIDDEN), False),
]


def answer(phone, text, page):
    """Answer what the page asks, by what the phone has: buttons, a slider or a box."""
    expect(phone.locator(".class-page .prompt").first).to_have_text(page.locator(".lesson-said .prompt").inner_text())
    choices, slider = answers(phone), phone.locator(".slider input")
    box = phone.locator(".class-page .lesson-said").locator("input.typed, textarea")
    expect(choices.or_(slider).or_(box).first).to_be_visible()
    if choices.count():
        choices.filter(has_text=re.compile(rf"^{text}\b")).first.click()
    else:
        (slider if slider.count() else box).fill(text)
        phone.get_by_role("button", name="Send").first.click()
    expect(phone.locator(".class-own")).to_contain_text("is your answer")


def place(page, number):
    expect(page.locator(".lesson-page footer > .count")).to_have_text(f"{number} of 9")


BOARD = ":is(.class-board, .placed-dots):not([hidden])"


def shown_answers(page):
    """What of the class the room sees."""
    return " ".join(page.locator(BOARD).all_inner_texts())


OVER = """(root) => {
  const seen = [], letters = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), range = document.createRange();
  for (let text = letters.nextNode(); text; text = letters.nextNode()) {
    const own = text.parentElement;
    if (!text.data.trim() || own.closest(".sr-only, option, math, svg")) continue;
    if (!own.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    range.selectNodeContents(text);
    for (const box of range.getClientRects()) seen.push([box, text.data.trim(), text]);
  }
  const deep = (one, other, from, to) => Math.min(one[to], other[to]) - Math.max(one[from], other[from]) > 5;
  return seen.flatMap(([one, said, own], nth) => seen.slice(nth + 1).filter(([other, , text]) => text !== own &&
    deep(one, other, "left", "right") && deep(one, other, "top", "bottom")).map(([, other]) => `${said} / ${other}`));
}"""
"""The texts that stand one on another."""


def read_at_two_sizes(page, state, nth):
    """Nothing that is presented is too small, out of the window or on something else."""
    for size in (LEAST_WINDOW, WIDE[(nth + nth // 3) % 3]):  # each kind of state in all of them
        resized(page, *size)
        frames(page)
        shown = page.locator(".talk-end:visible, .lesson-page").first
        wrong = [found for found in shown.evaluate(INK) if found[0] < LEAST and found[1] != "…"]
        assert (wrong, shown.evaluate(OVER)) == ([], []), (state, size)


def opened_from_file(page, address, file):
    """Open a file in the drawer, of somebody who has no talk yet."""
    page.goto(f"{address}/?lesson=masks")
    page.get_by_role("button", name="All lessons").click()
    page.get_by_role("button", name="Your own talk").click()
    drawer(page).locator("> input[type=file]").set_input_files(file)
    expect(drawer(page).locator(".moment .said")).to_have_count(9)


def given(page, phones, look):
    """Give the talk from its first moment by a remote, asked and shown and revealed: look(state) at each press."""

    def press(state, moment, key="PageDown"):
        page.keyboard.press(key)
        place(page, moment)
        look(state)

    place(page, 1)
    look("slide")
    for nth, (said, has_right) in enumerate(QUESTIONS, start=2):
        press(f"{nth} asked", nth)
        for phone, text in zip(phones, said, strict=True):
            answer(phone, text, page)
            if nth == 5:
                # it follows its answer by a second, and answers are closed once they are shown
                with phone.expect_response(lambda reply: '"sure":2' in (reply.request.post_data or "")):
                    phone.get_by_role("button", name="Fairly sure").click()
        expect(page.locator(".class-bar .class-count")).to_contain_text("2 answered")
        assert shown_answers(page) == "", "nobody has shown them"
        press(f"{nth} shown", nth)
        expect(page.locator(BOARD)).to_be_visible()
        expect(page.locator(".class-sure")).to_have_count(1 if nth == 5 else 0)
        expect(page.locator(".lesson-said.answered")).to_have_count(0)
        if not has_right:
            continue  # the next press goes on
        assert not any("It is" in each.locator(".class-own").inner_text() for each in phones)
        press(f"{nth} revealed", nth)
        expect(page.locator(".lesson-said.answered")).to_be_attached()
        for phone in phones:
            expect(phone.locator(".class-own")).to_contain_text(re.compile("Right|It is"))
        page.keyboard.press("PageUp")
        expect(page.locator(".lesson-said.answered")).to_have_count(0)
        page.keyboard.press("PageDown")
        expect(page.locator(".lesson-said.answered")).to_be_attached()
    expect(page.locator(".class-texts li")).to_have_text([said[0], HIDDEN])
    page.keyboard.press("h")
    expect(page.locator(".class-texts")).to_have_count(0)
    press("pass", 9)
    page.keyboard.press("PageDown")
    expect(page.locator(".talk-end")).to_be_visible()
    look("end")


@pytest.fixture
def hall(browser, server, tmp_path):
    """The speaker's page at the talk's first moment, and two phones that follow; none may make an error."""
    file, errors = tmp_path / "talk.toml", []
    file.write_text(TALK, "utf-8")
    pages = [browser.new_context(**DEVICES[name]).new_page() for name in ("desk", "first", "second")]
    for each in pages:
        each.on("pageerror", lambda error: errors.append(str(error)))
    page, *phones = pages
    opened_from_file(page, server, file)
    yield page, phones
    for each in pages:
        each.context.close()
    assert errors == []


def begun(page, phones, server):
    """Give the talk to a class."""
    drawer(page).get_by_role("button", name="Give the talk").click()
    place(page, 1)
    move_mouse(page)
    code = opens_class(page)
    for phone in phones:
        phone.goto(f"{server}/{code}")
        expect(phone.locator(".slide h2")).to_have_text("What attention is for")
    becomes(page, lambda: page.locator(".slide img").evaluate("image => image.naturalWidth"), 320)


def test_talk_is_given_by_a_remote_and_read_at_four_sizes(hall, server):
    page, phones = hall
    begun(page, phones, server)
    states = []

    def look(state):
        page.mouse.move(0, 0)
        states.append(state)
        read_at_two_sizes(page, state, len(states))
        others = [each.locator("html").inner_text() for each in (page, phones[0])]
        assert state == "8 shown" or not any(HIDDEN in each for each in others), "the speaker hasn't shown it"
        if state.endswith("shown") and QUESTIONS[int(state[0]) - 2][1]:
            return  # all of it is there when it is revealed, too
        assert violations(page, "light", ".attnviz") == [], state
        assert violations_but_contrast(phones[0]) == [], state

    given(page, phones, look)


def test_private_pages_of_a_talk_pass_axe(hall, server):
    page, phones = hall
    for nth in (0, 1, 4, 6, 7):
        drawer(page).locator(".moment .said").nth(nth).click()
        expect(drawer(page).get_by_label("Headline")).to_be_visible()
        assert violations_but_contrast(page) == [], nth
    drawer(page).locator(".moment .said").first.click()
    begun(page, phones, server)
    page.locator(".class-bar").get_by_role("button", name="Class", exact=True).click()
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Speaker’s window").click()
    window = opened.value
    expect(window.locator(".speaker .own-notes")).to_have_text("Begin slowly.")
    for _ in range(4):
        window.keyboard.press("PageDown")
    place(window, 3)
    answer(phones[0], "30", page)
    expect(window.locator(".class-panel .class-count")).to_contain_text("1 answered")
    assert shown_answers(page) == ""
    assert violations(window, "light", ".attnviz") == []
    window.get_by_role("button", name="Reveal").click()
    expect(phones[0].locator(".class-own")).to_contain_text("You said 30 %. It is 8 %.")
    window.get_by_role("button", name="Take questions from the class").click()
    phones[0].get_by_text("Ask the speaker").click()
    phones[0].get_by_role("textbox", name="Your question").fill(HIDDEN)
    assert violations_but_contrast(phones[0]) == []
    phones[0].get_by_role("textbox", name="Your question").press("Enter")
    expect(window.locator(".class-written")).to_contain_text(HIDDEN)
    assert HIDDEN not in page.locator("html").inner_text() + phones[1].locator("html").inner_text()
    window.get_by_role("button", name=f"Show “{HIDDEN}”").click()
    for each in (page, phones[1]):
        expect(each.get_by_text(HIDDEN)).to_be_visible()
    for each in (page, window):
        assert violations(each, "dark", ".attnviz") == []
