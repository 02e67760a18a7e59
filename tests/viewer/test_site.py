"""The edition that needs no server: its pages are small, lead to each other, and work from a file in all engines."""

import base64
import functools
import gzip
import json
import re
import subprocess
import sys
import threading
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from axe import violations_but_contrast
from contrast import faint
from engines import Chromium, started, until
from pools import read
from tab import expect, frames, resized

from attnviz.lessons.lesson import LESSONS, moment
from attnviz.lessons.questions.numbers import Number
from attnviz.lessons.talk import Talk, TalkMoment, write
from attnviz.models import MODELS
from attnviz.viewer.site.__main__ import main
from attnviz.viewer.site.static_edition import (
    MOST_NUMBERS,
    NAMES,
    SENTENCES,
    lesson_page_name,
    model_page_name,
    name_page_name,
    sentence_page_name,
    talk_file,
    talk_page_name,
)

pytestmark = pytest.mark.slow

MOST_BYTES = {lesson_page_name("microgpt"): 400_000, lesson_page_name("heads"): 250_000}
MOST_BYTES |= {
    lesson_page_name("translator"): 900_000,
    **dict.fromkeys([*map(sentence_page_name, SENTENCES), "measured-4-1.html"], 200_000),
}
"""Of pages that hold passes of microgpt or of translations, each with its own words, compressed; of others 150 kB."""

TALK = Talk(
    title="Two looks: at <it>",
    moment=(
        TalkMoment(at="model=who-is-it&view=sheet", title="First", ask=Number(of="1 + 1", prompt="Two?"), minutes=2),
        TalkMoment(at="model=recall&sentence=g+5+g", title="Second", text="Another model."),
    ),
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder, as the command writes it, with a talk."""
    folder, file = tmp_path_factory.mktemp("the site"), tmp_path_factory.mktemp("a talk") / "talk.toml"
    file.write_text(write(TALK), "utf-8")
    command = [sys.executable, "-m", "attnviz.viewer.site", str(folder), "--talk", str(file)]
    said = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    assert str(folder / "index.html") in said
    return folder


class Links(HTMLParser):
    """What a page leads to or takes from elsewhere, and the data in it."""

    def __init__(self, text):
        super().__init__()
        self.found, self.given, self.is_given = [], None, False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        own = dict(attributes)
        self.found += [own[name] for name in ("href", "src") if name in own]
        self.is_given = own.get("id") == "given"

    def handle_data(self, data):
        if self.is_given:
            self.given, self.is_given = json.loads(data), False


def test_pages_are_small_and_all_links_resolve(site):
    pages = {file.name: file.read_text("utf-8") for file in site.glob("*.html")}
    expected = {
        *map(lesson_page_name, LESSONS),
        *map(model_page_name, MODELS),
        *map(name_page_name, NAMES),
        *map(sentence_page_name, SENTENCES),
        "index.html",
        "your-own-sentence.html",
        "what-attention-doesnt-say.html",
        talk_page_name(TALK),
    }
    assert expected <= pages.keys()
    assert len(NAMES) == 20
    reached = set()
    for name, text in pages.items():
        assert len(gzip.compress(text.encode())) <= MOST_BYTES.get(name, 150_000), name
        page = Links(text)
        led = [*page.found, *(page.given or {}).get("doors", {}).values()]
        assert {each for each in led if not (site / each).exists()} == set(), name
        reached.update(led)
    assert pages.keys() - reached == set(), "somebody gets there"


def test_lesson_page_omits_only_its_largest_parameters(site):
    given = Links((site / lesson_page_name("root")).read_text("utf-8")).given
    lacking = set()
    for number, held in enumerate(read(given["moments"]), 1):
        sent = json.loads(moment("root", number))
        for stage, array in (sent["document"]["parameters"]["parts"] or {"stages": {}})["stages"].items():
            n_numbers = sum(len(base64.b64decode(chunk)) for chunk in array["values"]) / 8
            if n_numbers > MOST_NUMBERS:
                array["values"] = [None for _ in array["values"]]
                lacking.add(stage)
        paired = sent["document"]["other"]
        for one, other in ((held, sent), *([(held["document"]["other"], paired)] if paired else [])):
            one["document"]["other"] = other["document"]["other"] = None
            assert one == other
    assert lacking == {"w_q", "w_k", "w_v", "w_o"}


CUT_OFF = """[...document.querySelectorAll(".article .scrolled")]
  .filter((each) => each.scrollHeight > each.clientHeight + 1).map((each) => each.textContent)"""
"""The matrices that aren't as high as they need."""

SEEN = """(() => {
  const text = (selector) => document.querySelector(selector)?.textContent ?? "";
  return {
    title: document.title, hash: location.hash, about: text(".about"), count: text(".count"), verdict: text(".verdict"),
    over: text(".talk-end:not([hidden])"), plan: text(".speaker .plan"), answer: text(".speaker .the-answer"),
    room: text(".speaker .room"), place: text(".way .place"), refused: text("#refused"),
    isPresented: document.documentElement.hasAttribute("data-presenting"),
    isBlack: document.querySelector(".blank") !== null,
    matrices: document.querySelectorAll("table.matrix").length,
  };
})()"""


@pytest.fixture(scope="module", params=["chromium", "firefox", "webkit"])
def engine(request, tmp_path_factory):
    if request.param == "chromium":
        context = request.getfixturevalue("browser").new_context(offline=True, viewport={"width": 1366, "height": 768})
        page, errors = context.new_page(), []
        page.on("console", lambda message: errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        yield Chromium(page, errors)
        context.close()
        return
    with started(request.param, tmp_path_factory.mktemp(request.param)) as driven:
        yield driven


@pytest.mark.browser
def test_lesson_and_talk_files_run_in_every_engine(engine, site):
    def sees(**what):
        return until(engine, lambda seen: all(seen[name].startswith(text) for name, text in what.items()), SEEN)

    names = [*LESSONS]
    first, second = (LESSONS[name] for name in names[:2])
    engine.open((site / lesson_page_name(names[0])).as_uri())
    sees(about=f"Lesson 1 of {len(names)} · {first.title}", count="1 of")
    engine.read("document.querySelector('.choices button:nth-child(2)').click()")
    sees(verdict="Right: animal")
    engine.press("PageDown")
    sees(count="2 of", hash="#moment=2")
    engine.read("document.querySelector('.ways-out a.button').click()")
    sees(hash="#look=2&step=scores", place="step 4 of")  # as in the picture of the moment
    engine.read("document.querySelector('.map [data-step]').click()")
    sees(place="step 1 of")
    engine.read("document.querySelector('.panel .what-if button, .panel .acts button').click()")
    sees(refused="That needs the app itself")
    engine.press("p")
    until(engine, lambda seen: seen["isPresented"], SEEN)
    engine.press("Escape")
    engine.read("document.querySelector('.around > a').click()")
    sees(hash="#moment=2", count="2 of")
    engine.press("p")
    for number, left in enumerate(first.moment[1:-1], start=3):
        for _ in range(len(left.worked) + 2):  # each line, what follows it or the answer, and on
            engine.press("PageDown")
        sees(count=f"{number} of", hash=f"#moment={number}&present=1")
    engine.press("PageDown")
    engine.press("PageDown")
    sees(title=second.title, about=f"Lesson 2 of {len(names)}", count="1 of", hash="#moment=1&present=1")
    engine.press("PageUp")
    sees(title=first.title, count=f"{len(first.moment)} of")
    engine.open((site / talk_page_name(TALK)).as_uri())
    sees(title=f"{TALK.title} – attnviz", about=f"{TALK.title} · two minutes", count="1 of 2")
    engine.press("PageDown")
    sees(verdict="It is 2")
    engine.press("PageDown")
    sees(count="2 of 2", hash="#moment=2")
    engine.open((site / "what-attention-doesnt-say.html").as_uri())
    until(engine, lambda seen: seen["matrices"] == 4, SEEN)
    engine.read("document.querySelector('.door button').click()")
    sees(title="Read at the last word", place="step 1 of")
    assert engine.errors == []


BUTTON = "[...document.querySelectorAll('button')].find(({{ textContent }}) => textContent === '{}')"


@pytest.mark.browser
def test_talk_page_has_a_speaker_window(engine, tmp_path):
    file = tmp_path / "a talk.html"
    file.write_text(talk_file(TALK), "utf-8")
    engine.open(file.as_uri())
    until(engine, lambda seen: seen["count"] == "1 of 2" and not seen["isPresented"], SEEN)
    talk, before = engine.window, engine.windows()

    def sees(window, **what):
        engine.window = window
        return until(engine, lambda seen: all(text in seen[name] for name, text in what.items()), SEEN)

    for button in ("Teach", "Speaker’s window"):
        engine.click(BUTTON.format(button))
    until(engine, lambda seen: seen["isPresented"] and len(engine.windows()) > len(before), SEEN)
    [speaker] = (each for each in engine.windows() if each not in before)
    sees(speaker, plan="This moment ends at 2:00 of 2:00 planned", answer="Answer: 2")
    engine.press("PageDown")  # it moves the talk
    sees(talk, verdict="It is 2", count="1 of 2")
    engine.press("PageDown")  # and follows it
    sees(speaker, count="2 of 2")
    sees(talk, count="2 of 2")
    engine.press("b")
    sees(speaker, room="a black screen")
    engine.press("b")
    engine.window = talk
    until(engine, lambda seen: not seen["isBlack"], SEEN)  # as long as it is, a press shows where one was
    engine.press("PageDown")
    sees(speaker, room="the talk is over")
    engine.close()
    sees(talk, over="The end")
    engine.press("Home")
    sees(talk, count="1 of 2")
    assert engine.errors == []


@pytest.fixture
def host(site):
    handler = functools.partial(QuietHandler, directory=site)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_lesson_works_in_a_700_pixel_iframe(site, host, browser):
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "response",
        lambda answer: answer.status < 400 or answer.url.endswith("favicon.ico") or errors.append(answer.url),
    )
    name = lesson_page_name(next(iter(LESSONS)))
    course = f'<!doctype html><title>A course</title><iframe src="{host}/{name}" width="700" height="720"></iframe>'
    (site / "course.htm").write_text(course, "utf-8")
    page.goto(f"{host.replace('127.0.0.1', 'localhost')}/course.htm")  # another site than that of its frame
    lesson = page.frame_locator("iframe")
    lesson.get_by_role("button", name="animal", exact=True).click()
    expect(lesson.locator(".verdict")).to_contain_text("Right: animal")
    expect(lesson.locator(".thread .arc").first).to_be_visible()
    frame = page.frame(url=f"{host}/{name}*")
    assert frame.evaluate("document.documentElement.scrollWidth") <= 700
    lesson.get_by_role("link", name="attnviz: all pages").click()
    expect(lesson.get_by_role("heading", level=1)).to_be_visible()
    assert errors == []
    page.close()


OFFERED = """() => [...document.querySelectorAll("main :is(button, a, input:not([type=range]), textarea)")]
  .filter((each) => !each.closest("[hidden]")).map((each) => each.textContent || each.ariaLabel || each.id)"""
NEEDS_A_SERVER = re.compile(
    r"own (sentence|talk)|Edit|Add this moment|Begin one with|Open a class|Their (worksheets|keys)"
)


def test_site_offers_neither_talks_to_edit_nor_own_sentences(site, browser):
    context = browser.new_context(offline=True)
    page = context.new_page()
    for name, sign in (
        (f"{lesson_page_name('who-is-it')}#moment=1", ".lesson-said h2"),
        (f"{lesson_page_name('who-is-it')}#lesson=end", ".around-moments h2"),
        (model_page_name("who-is-it"), ".step-text h2"),
        (model_page_name("microgpt"), ".step-text h2"),
    ):
        page.goto(f"{site.as_uri()}/{name}")
        page.reload()
        expect(page.locator(f"{sign}:visible").first).to_be_visible()
        offered = page.evaluate(OFFERED)
        assert offered
        assert [text for text in offered if NEEDS_A_SERVER.search(text)] == [], name
    context.close()


WIDEST_GAP = """() => {
  const [read, written] = ["read", "written"].map((name) => document.querySelector(`.two-rows .${name} .words`));
  const words = (row) => [...row.querySelectorAll("button")].map((each) => each.getBoundingClientRect());
  return Math.min(...words(written).map(({ left }) => left)) - Math.max(...words(read).map(({ right }) => right));
}"""


def test_two_texts_stay_together_in_a_small_frame(site, browser):
    context = browser.new_context(offline=True, viewport={"width": 900, "height": 600})
    page = context.new_page()
    page.goto((site / lesson_page_name("translator")).as_uri())
    expect(page.locator(".two-rows.column")).to_be_visible()
    assert 0 < page.evaluate(WIDEST_GAP) <= 160
    context.close()


def test_lesson_names_the_parameters_left_out(site, browser):
    context = browser.new_context(offline=True)
    page = context.new_page()
    lightened = Links((site / lesson_page_name("root")).read_text("utf-8")).given["lightened"]
    assert lightened
    for number, is_said in ((lightened[0], True), (next(n for n in range(1, 99) if n not in lightened), False)):
        page.goto(f"{(site / lesson_page_name('root')).as_uri()}#look={number}")
        page.reload()
        expect(page.locator(":is(.around .step-text h2, .around .thread):visible").first).to_be_visible()
        expect(page.locator(".around > .note")).to_have_count(int(is_said))
    context.close()


def test_site_pages_pass_axe_and_never_scroll_sideways(site, browser):
    context = browser.new_context(offline=True, viewport={"width": 1366, "height": 768})
    page = context.new_page()
    for name, theme, sign in (
        ("index.html", "dark", ".names"),
        ("your-own-sentence.html", "light", "pre"),
        ("what-attention-doesnt-say.html", "dark", ".matrix"),
        (lesson_page_name("masks"), "light", ".choices"),
        (lesson_page_name("root"), "dark", ".lesson-said h2"),
        (lesson_page_name("heads"), "light", ".lesson-said h2"),
        (model_page_name("mirror"), "dark", ".step-text h2"),
    ):
        page.goto((site / name).as_uri())
        expect(page.locator(sign).first).to_be_visible()
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # no colour is on its way to another
        frames(page)
        assert violations_but_contrast(page) == [], name
        assert faint(page) == [[], [], []], name
        for width in (700, 390):
            resized(page, width, 720)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            assert page.evaluate(CUT_OFF) == [], name
        resized(page, 1366, 768)
    context.close()


@pytest.mark.parametrize(("text", "rule"), [("title = [", "A talk is a file in TOML"), (None, "A talk is a file; ")])
def test_broken_talk_is_refused(tmp_path, text, rule):
    file = tmp_path / "talk.toml"
    if text is not None:
        file.write_text(text, "utf-8")
    with pytest.raises(SystemExit, match=rule):
        main([str(tmp_path / "site"), "--talk", str(file)])
