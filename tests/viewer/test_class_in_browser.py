"""A class in a browser without a server: what a phone knows and when, and what its speaker's screen shows of it."""

import copy
import json
import tomllib

import msgspec
import pytest
from alone import MODULES, Alone, exporting, tab_with
from needs import in_page
from tab import expect, frames

from attnviz.classroom.light import light_moment_at
from attnviz.classroom.questions import moment_at, place_in
from attnviz.contract.classroom import CellQuestion
from attnviz.lessons.lesson import LESSONS, Lesson
from attnviz.lessons.lesson import moment as taught_moment
from attnviz.viewer.bundle import bundle, module


@pytest.fixture(scope="module")
def tab(browser):
    phone = exporting("classPage", "mountClass") + exporting("classViewer", "makeClassViewer")
    yield from tab_with(browser, "class.html", MODULES + phone)


@pytest.fixture
def page(tab):
    yield tab.page
    assert tab.errors == []


def now(**parts):
    """A class at the first place where it was led, as a phone is told."""
    return {
        **{"number": 1, "at": "lesson=who-is-it&moment=1", "shows": 1, "kind": "lesson", "question": None},
        **{"isOwn": False, "isShown": False, "round": {"question": 0, "number": 1, "isOpen": True}},
        **{"hasEnded": False, "waits": False, "isApart": False},
        **{"talkSeconds": 0, "wonders": None},
    } | parts


def follows(page, **parts):
    page.evaluate("now => { told.now(now); return drawn(); }", now(**parts))


def phone_shows(page, nth, is_opened=False, **parts):
    """A phone that has come in and shows a moment of the first lesson, with its picture opened or not; that moment."""
    at = f"?lesson=who-is-it&moment={nth}"
    sent = moment(at)
    page.evaluate("phone()")
    follows(page, **parts)
    page.evaluate("sent => coming[1](sent)", sent)
    expect(page.locator(".lesson-said")).to_be_visible()
    if is_opened:
        page.evaluate("whole => opens(whole)", whole_moment(at))
    return sent


def place(at, kind=None, cell=""):
    return place_in(at, CellQuestion(kind=kind, cell=cell) if kind else None)


def moment(*where):
    """A moment as a phone has it at first."""
    return json.loads(light_moment_at(place(*where)))


def whole_moment(*where):
    return json.loads(moment_at(place(*where)))


def with_another_answer(sent):
    """All of a moment that tells what is right, as it would be if something else were."""
    elsewhere = [["", "Something else."]]
    question, ending, glance = copy.deepcopy([sent["question"], sent["ending"], sent["glance"]])
    if glance and glance["stage"] in sent["covers"]:
        glance["arcs"] = [[query, key, weight / 2] for query, key, weight in glance["arcs"]]
    if ending:
        ending["answer"] = elsewhere
    if question and question["kind"] == "fill":
        question |= {"right": 1 - question["right"], "text": "7", "nears": [], "tolerance": 1e-9}
    elif question:
        question["right"] = [(place + 1) % len(question["candidates"]) for place in question["right"]]
        for each in question["candidates"]:
            each["feedback"] = elsewhere
    return {"question": question, "ending": ending, "glance": glance, "after": elsewhere, "answerCell": None}


MOMENTS = {
    "words alone": ("?lesson=who-is-it&moment=1",),
    "a word": ("?lesson=who-is-it&moment=2",),
    "a share": ("?lesson=who-is-it&moment=3",),
    "in your own words": ("?lesson=who-is-it&moment=9",),
    "a number": ("?lesson=masks&moment=5",),
    "a mistake": ("?lesson=masks&moment=7",),
    "a share of the pass": ("?sentence=the+cat+sat&step=softmax", "share", "attention[0,1,2]"),
}

UNCOVERED = {"a word": {"scores"}, "a share": {"attention"}, "a number": {"attention"}}
"""The numbers that come with the answer; other moments have none, or a picture without their cells."""


HAS_SHARES = {"words alone", "a share", "a number"}  # their glance shows attention weights, as their step has arcs
OPENED = ("a word", "a share", "in your own words", "a number")


@pytest.mark.parametrize(
    ("name", "is_opened"), [*((each, False) for each in MOMENTS), *((each, True) for each in OPENED)]
)
def test_phone_hides_the_answer_until_shown(page, name, is_opened):
    """What it draws is the same whatever is right, also for who has answered, and no covered number is in it."""
    sent = moment(*MOMENTS[name])
    question = sent["question"]
    right = question and (question["right"] if question["kind"] == "fill" else question["right"][0])
    state = now(kind="question" if sent["workedSolution"] else "lesson", round=None)
    rounds = [question and {"question": 0, "number": 1, "isOpen": is_open} for is_open in (True, True, False)]
    states = [
        state | {"round": each, "answer": answer, "isShown": is_shown}
        for each, answer, is_shown in zip(rounds * 2, [None, right, right] * 2, [False] * 3 + [True] * 3, strict=True)
    ]
    whole = whole_moment(*MOMENTS[name]) if is_opened else None
    found = page.evaluate("of => compared(...of)", [sent, with_another_answer(sent), whole, states])
    assert [each["isSame"] for each in found] == [True] * 3 + [False] * 3, "it is there once it is shown"
    uncovered = [set(each["stages"]) & set(sent["covers"]) for each in found]
    assert uncovered == [set()] * 3 + [UNCOVERED.get(name, set()) if is_opened else set()] * 3
    if not is_opened and question:
        assert [each["hasShares"] for each in found] == [False] * 3 + [name in HAS_SHARES] * 3
    has_picture = [not sent["saysWordsAlone"]] * 3 + [True] * 3
    assert [each["isPictured"] for each in found] == ([False] * 6 if sent["workedSolution"] else has_picture)


def test_phone_shows_all_lines_and_fills_gaps_once_shown(page, monkeypatch):
    lesson = msgspec.convert(tomllib.loads(in_page("made_up_lesson.toml")), Lesson)
    monkeypatch.setitem(LESSONS, "made-up", lesson)
    for number, lines, gaps in ((1, 3, []), (2, 0, ["2", "1", "4/7"])):
        sent = json.loads(taught_moment("made-up", number))
        page.evaluate("phone()")
        follows(page, round=None)
        page.evaluate("sent => coming[1](sent)", sent)
        expect(page.locator(".worked > li:visible")).to_have_count(lines)
        expect(page.locator("td.gap")).to_have_text(["?"] * len(gaps))
        expect(page.locator(".lesson-said input, .lesson-said .after, .verdict p")).to_have_count(0)
        follows(page, round=None, isShown=True)
        expect(page.locator("td.gap")).to_have_text(gaps)
        expect(page.locator(".lesson-said .after, .verdict p")).to_have_count(1)


def foot(page, name):
    return page.locator(".class-foot").get_by_role("button", name=name)


def test_confusion_button_toggles(page):
    sent = phone_shows(page, 3)
    asked, picked = sent["askedCell"], {"do": "point", "cell": "", "seat": "mine"}
    point = foot(page, "I don’t understand this")
    for is_pointed in (True, False, True, False):
        point.click()
        expect(point).to_have_attribute("aria-pressed", str(is_pointed).lower())
    posted = page.evaluate("posted")
    assert posted == [picked | {"cell": asked}, picked] * 2


def test_answer_cell_is_pointable_once_shown(page):
    sent = phone_shows(page, 2)
    assert (sent["askedCell"], sent["answerCell"]) == (None, "scores[0,11,6]")
    expect(foot(page, "I don’t understand this")).to_be_hidden()
    follows(page, isShown=True)
    foot(page, "I don’t understand this").click()
    assert page.evaluate("posted") == [{"do": "point", "cell": "scores[0,11,6]", "seat": "mine"}]


def test_late_moment_is_dropped(page):
    first, second = (moment(f"?lesson=who-is-it&moment={nth}") for nth in (2, 3))
    page.evaluate("phone()")
    follows(page)
    follows(page, number=2, shows=2)
    for sent, shows in ((second, 2), (first, 1)):
        page.evaluate("([sent, shows]) => { coming[shows](sent); return drawn(); }", [sent, shows])
        page.evaluate("drawn()")
        expect(page.locator(".lesson-said h2")).to_have_text(second["title"])


def test_touch_leaves_the_class_until_back(page):
    first, second = phone_shows(page, 2, is_opened=True, isShown=True), moment("?lesson=who-is-it&moment=3")
    score = page.locator("main [data-cell='scores[0,11,6]']")
    score.click()
    expect(page.locator(".class-state")).to_have_text("you look around")
    for number in (1, 2):
        follows(page, number=number, shows=number)
        expect(score.first).to_be_visible()  # nothing pulls them back, nor covers what they look at
        expect(page.locator(".lesson-said h2")).to_have_text(first["title"])
    foot(page, "Back to the class").click()
    page.evaluate("sent => coming[2](sent)", second)
    expect(page.locator(".lesson-said h2")).to_have_text(second["title"])
    expect(page.locator(".class-state")).to_have_text("● following")
    assert [each["isAround"] for each in page.evaluate("posted")] == [True, False]


def test_word_click_answers_while_open(page):
    phone_shows(page, 2, is_opened=True)
    word = page.locator(".lesson-picture .names").get_by_role("button", name="street")
    word.click()
    expect(page.locator(".class-own")).to_contain_text("street is your answer.")
    follows(page, round={"question": 0, "number": 1, "isOpen": False})
    page.locator(".lesson-picture .names").get_by_role("button", name="animal").click()
    expect(page.locator(".class-own")).to_have_text("street is your answer. It can’t be changed any more.")
    posted = page.evaluate("posted")
    assert posted[0] == {"do": "answer", "question": 0, "round": 1, "seat": "mine", "value": 6, "sure": 0}
    assert [each["do"] for each in posted] == ["answer", "around"]


def test_glance_words_answer_and_open_nothing(page):
    phone_shows(page, 2)
    words = page.locator(".class-glance .choices button")
    expect(words).to_have_count(12)
    expect(page.locator(".lesson-said .choices")).to_have_count(0)  # they stand for the sentence, which is there once
    words.nth(6).press("Enter")
    expect(page.locator(".class-own")).to_contain_text("street is your answer.")
    expect(words.nth(6)).to_be_focused()
    assert page.evaluate("[posted.map(({ value }) => value), Object.keys(coming)]") == [[6], ["1"]]


def test_words_are_there_however_often_the_answer_is_shown(page):
    phone_shows(page, 1)
    for is_shown in (True, False, True):
        follows(page, isShown=is_shown)
        expect(page.locator(".choices button")).to_have_count(12)


def test_touching_a_glance_opens_the_picture_and_still_follows(page):
    phone_shows(page, 3)
    page.locator(".class-glance .words > span").first.click()
    expect(page.get_by_role("button", name="Open the picture")).to_be_visible()
    expect(page.locator(".opening .note")).to_have_text("The picture is loading.")
    page.evaluate("whole => coming['1 whole'](whole)", whole_moment("?lesson=who-is-it&moment=3"))
    expect(page.locator(".lesson-picture .sheet")).to_be_visible()
    expect(page.locator(".class-state")).to_have_text("● following")
    assert page.evaluate("posted") == []
    follows(page, number=2, shows=2)
    page.evaluate("sent => coming[2](sent)", moment("?lesson=who-is-it&moment=5"))
    expect(page.locator(".lesson-picture .sheet")).to_have_count(0)  # each moment is light again
    expect(page.locator(".class-glance")).to_be_visible()


def test_glance_follows_the_steps_of_a_pass(page):
    page.evaluate("phone()")
    for number, step in enumerate(("scores", "softmax"), start=1):
        at = f"?model=who-is-it&step={step}"
        follows(page, number=number, at=at, kind="pass", round=None)
        page.evaluate("sent => coming[1](sent)", moment(at))
        expect(page.locator(".class-glance h2")).to_have_text(step.capitalize())
        expect(page.locator(".class-glance [data-share]")).to_have_count(number - 1)


ARCS = "() => [...document.querySelectorAll('.class-glance .arc')].filter(each => each.checkVisibility()).length"


@pytest.mark.parametrize(("width", "n_arcs"), [(390, 0), (800, 2)])
def test_arcs_stand_over_words_in_one_line(page, width, n_arcs):
    page.set_viewport_size({"width": width, "height": 844})
    phone_shows(page, 3, isShown=True)
    page.evaluate("drawn()")
    assert page.evaluate(ARCS) == n_arcs
    shares = page.locator(".class-glance [data-share]").evaluate_all("all => all.map(each => each.dataset.share)")
    assert shares == ["91\N{NO-BREAK SPACE}%", "8\N{NO-BREAK SPACE}%"], "of a line or of several"
    expect(page.locator(".class-glance .caption")).to_have_text("“tired” looks at “animal” 91 %, “was” 8 %.")


def test_ended_class_stops_listening(page):
    phone_shows(page, 2)
    assert page.evaluate("isListening")
    follows(page, hasEnded=True)
    expect(page.locator(".class-end")).to_be_visible()
    expect(page.locator(".lesson-said, .class-foot button:visible")).to_have_count(0)
    assert not page.evaluate("isListening")


NO_WORDS = {each: [] for each in ("sure", "moves", "texts", "wondered")}


def audience(**parts):
    return (
        {"here": 5, "around": 2, "answered": 4, "counts": [[[0, 1], [1, 3]]], "pointed": [], "pressed": 0}
        | NO_WORDS
        | parts
    )


def in_round(number, is_open, **parts):
    """What the speaker is told in a round of the question."""
    return now(**{"audience": audience(), "round": {"question": 0, "number": number, "isOpen": is_open}} | parts)


def test_speaker_buttons_close_open_and_repeat(page):
    bar = page.locator(".class-bar")
    closing, opening = (bar.get_by_role("button", name=f"{act} answers") for act in ("Close", "Open"))
    again, talking = bar.get_by_role("button", name="Ask again"), bar.get_by_label("Talk to your neighbour")
    page.evaluate("now => desk(now)", now(audience=audience()))
    expect(bar.locator(".class-count")).to_have_text("5 here · 2 look around · 4 answered")
    closing.click()
    page.evaluate("now => tell(now)", in_round(1, False))
    opening.click()
    talking.select_option("90")
    page.evaluate("now => tell(now)", in_round(1, False, talkSeconds=90))
    bar.get_by_role("button", name="End the talking").click()
    again.click()
    page.evaluate("now => tell(now)", in_round(2, True))
    expect(bar.locator(".class-count")).to_have_text("Second vote · 5 here · 2 look around · 4 answered")
    expect(again.or_(talking)).to_have_count(0)
    closing.click()
    waits = [{"do": "wait", "seconds": seconds} for seconds in (90, 0)]
    assert page.evaluate("done") == ["close", "open", *waits, "again", "close"]
    page.evaluate("now => tell(now)", in_round(2, False, isShown=True))
    expect(closing.or_(opening)).to_have_count(0)


def test_wall_shows_answers_then_truth(page):
    """The way on shows the answers of the class, then the right one; only after that a button hides and shows them."""
    dots, hiding = page.locator(".placed-dots li"), page.get_by_role("button", name="Hide answers")
    page.evaluate("now => desk(now)", now(audience=audience()))
    expect(page.locator(".placed-dots")).to_be_hidden()
    page.evaluate("at({ showsClass: true })")
    expect(dots.locator(".count")).to_have_text(["1", "3", ""])
    expect(page.locator(".right")).to_have_count(0)
    expect(page.get_by_role("button", name="answers")).to_have_count(0)  # what is shown can't be changed
    page.evaluate("at({ isShown: true })")
    expect(dots.locator(".count")).to_have_text(["1", "3 ✓", ""])
    assert dots.evaluate_all("all => all.map(each => each.classList.contains('right'))") == [False, True, False]
    hiding.click()
    expect(page.locator(".placed-dots")).to_be_hidden()
    page.get_by_role("button", name="Show answers").click()
    expect(dots.locator(".count")).to_have_text(["1", "3 ✓", ""])
    page.evaluate("at({ isShown: false, showsClass: false, nth: 2 })")
    expect(page.locator(".placed-dots")).to_be_hidden()
    expect(hiding.or_(page.get_by_role("button", name="Show answers"))).to_have_count(0)


def test_wall_hides_first_answers_in_a_second_vote(page):
    page.evaluate("now => desk(now)", in_round(1, False))
    page.evaluate("at({ showsClass: true })")
    expect(page.locator(".placed-dots")).to_be_visible()
    page.get_by_role("button", name="Ask again").click()
    page.evaluate("now => tell(now)", in_round(2, True))
    expect(page.locator(".placed-dots, .class-board").filter(visible=True)).to_have_count(0)
    expect(page.get_by_role("button", name="Close answers")).to_be_visible()


def test_speaker_sees_confusing_numbers(page):
    pointed = [{"at": "step=scores", "cell": "scores[0,1,2]", "count": 3}, {"at": "", "cell": "q[0,1,2]", "count": 2}]
    page.evaluate("now => desk(now)", now(audience=audience(pointed=pointed)))
    page.get_by_role("button", name="Class · 5 ?").click()
    expect(page.locator(".class-pointed li")).to_have_text(["3 × scores[0,1,2] at step=scores", "2 × q[0,1,2] at "])
    page.evaluate("now => tell(now)", now(audience=audience()))
    expect(page.locator(".class-bar").get_by_role("button", name="Class", exact=True)).to_be_visible()


@pytest.fixture(scope="module")
def of_a_pass(browser):
    tab = Alone(browser.new_context())
    yield tab
    tab.page.context.close()


@pytest.fixture
def pass_page(of_a_pass):
    yield of_a_pass.show(in_page("class_question.html") % bundle(module("classBar")), "main button")
    assert of_a_pass.errors == []


def test_missing_question_is_retried_and_refusal_is_shown(pass_page):
    stage, count = pass_page.locator("dialog"), pass_page.locator(".class-count")
    pass_page.evaluate("join('word')")
    expect(count).to_have_text("The question is put …")
    pass_page.evaluate("asked[0]({ isDone: false, status: 0, message: 'The server does not answer.', data: null })")
    expect(count).to_have_text("The question has not come. It is asked for again in a moment.")
    pass_page.wait_for_function("asked.length === 2")
    pass_page.evaluate("come(1, 'Which word?')")
    expect(stage.locator("h2")).to_have_text("Which word?")
    expect(count).to_have_text("2 here · 0 answered")
    pass_page.evaluate("join('number')")
    pass_page.evaluate("asked[2]({ isDone: false, status: 400, message: 'No such cell.', data: null })")
    expect(count).to_have_text("No such cell.")


def test_late_question_is_dropped(pass_page):
    stage = pass_page.locator("dialog")
    pass_page.evaluate("join('word')")
    pass_page.keyboard.press("Escape")
    expect(stage).to_have_count(0)
    pass_page.evaluate("join('number')")
    pass_page.evaluate("come(0, 'Which word?')")
    frames(pass_page)
    expect(stage.locator("h2")).to_have_text("")
    pass_page.evaluate("come(1, 'Which number?')")
    expect(stage.locator("h2")).to_have_text("Which number?")


def test_old_refusal_closes_nothing(pass_page):
    pass_page.get_by_role("button", name="Ask the class").click()
    pass_page.get_by_role("button", name="Which number is it?").click()
    pass_page.keyboard.press("Escape")
    expect(pass_page.locator("dialog")).to_have_count(0)
    pass_page.evaluate("join('word')")
    pass_page.evaluate("speaker.message = 'The server refuses it.'; tell()")
    frames(pass_page)
    expect(pass_page.locator("dialog[open]")).to_have_count(1)


def test_repeated_question_leads_back_once(pass_page):
    pass_page.evaluate("join('word'); document.querySelector('dialog').close(); join('number')")
    frames(pass_page)
    assert pass_page.evaluate("led") == ["word", "number"]
    pass_page.evaluate("asking.leave(); join('word')")
    frames(pass_page)
    pass_page.keyboard.press("Escape")
    pass_page.wait_for_function("led.length > 3")
    assert pass_page.evaluate("led") == ["word", "number", "word", "back"], (
        "the class is led back once somebody closes it here"
    )


def test_answer_is_revealed_where_asked(pass_page):
    pass_page.evaluate("asking.setPlace({ at: 'lesson=masks&moment=2', scene: 'step=softmax', selected: () => null })")
    pass_page.evaluate("speaker.now.audience.counts = [[[0, 2]]]; join('word')")
    pass_page.keyboard.press("PageDown")
    expect(pass_page.get_by_role("button", name="Reveal")).to_have_count(0)
    pass_page.evaluate("come(0, 'Which word?')")
    expect(pass_page.get_by_role("button", name="Reveal")).to_be_visible()
    assert pass_page.evaluate("places.length") == 1, "until it has come nothing of it is shown"
    texts = (counts, verdict) = pass_page.locator(".stacks .count"), pass_page.locator(".verdict")
    stages = {"asked": ["", ""], "answered": ["2", ""], "revealed": ["2 ✓", "It is a."]}
    for key, stage in (("Down", "answered"), ("Down", "revealed"), ("Up", "answered"), ("Up", "asked")):
        pass_page.keyboard.press(f"Page{key}")
        for each, text in zip(texts, stages[stage], strict=True):
            expect(each).to_have_text(text)
    pass_page.get_by_role("button", name="Reveal").click()
    expect(counts).to_have_text("✓")  # nothing of the class, whose answers weren't asked for
    expect(verdict).to_have_text("It is a.")
    asked = {"at": "step=softmax", "question": {"kind": "word", "cell": "q[0]"}}
    shown = [(False, False), (False, True), (True, True), (False, True), (False, False), (True, False)]
    assert pass_page.evaluate("places") == [
        asked | {"isShown": is_shown, "showsClass": shows_class} for is_shown, shows_class in shown
    ]
    pass_page.get_by_role("button", name="Back to the pass").click()
    pass_page.evaluate("join('number')")
    expect(pass_page.locator("dialog footer button")).to_have_count(0)  # that of the question before
