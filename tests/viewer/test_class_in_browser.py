"""A class in a browser without a server: what a phone knows and when, and what its speaker's screen shows of it."""

import copy
import json

import pytest
from alone import MODULES, SHEET, Alone
from tab import expect

from attnviz.classroom.questions import moment_at, place_in
from attnviz.contract.classroom import CellQuestion

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><meta charset="utf-8"><style>%s</style><main></main><script type="module">
    %s
    const main = document.querySelector("main"), kept = templates_js.makeTemplates();
    const replyOf = (moment) => ({ isDone: true, status: 200, data: kept.completeMoment(moment) });
    let shown = null;
    window.drawn = () => new Promise(timing_js.afterFrame);
    // The page of a class on a phone, which has come in: a moment comes when a test sends it, by its number.
    window.phone = async (hash = "") => {
        shown?.end();
        Object.assign(window, { posted: [], coming: {}, told: null, isListening: false });
        const line = {
            post: (code, message) => {
                posted.push(message);
                return Promise.resolve({ isDone: true, status: 200, message: "", data: { code, seat: "mine" } });
            },
            moment: (code, seat, shows) => new Promise((come) => { coming[shows] = (sent) => come(replyOf(sent)); }),
            listen: (seat, isAround, heard) => {
                [told, isListening] = [heard, true];
                return () => { isListening = false; };
            },
        };
        const host = { line, hash, speaker: null, hrefOf: (at) => `/${at}` };
        Object.assign(host, { stores: [() => sessionStorage] });
        shown = classPage_js.mountClass(main, "KTQWRM", host);
        while (!told) await drawn();
        window.joined = posted.splice(0);
    };
    // What a phone draws of a moment in one state of the class after the other, without what is hidden; the stages
    // whose numbers it draws, and whether it has a picture.
    const drawnIn = async (moment, states) => {
        const found = [];
        await phone();
        for (const { answer, ...now } of states) {
            told.own(answer === null ? null : { number: now.number, round: 1, value: answer });
            told.now(now);
            coming[now.shows](moment);
            do await drawn(); while (!main.querySelector(".lesson-said"));
            const seen = main.cloneNode(true);
            for (const each of seen.querySelectorAll("[hidden]")) each.remove();
            for (const each of seen.querySelectorAll(".slider")) each.style.removeProperty("--right"); // hidden, too
            found.push({
                text: seen.innerHTML.replace(/ (?:id|for|name|aria-\\w+)="[^"]*-\\d+"/g, ""),
                isPictured: seen.querySelector(".lesson-picture:not(.of-working) > *") !== null,
                stages: [...seen.querySelectorAll("[data-cell]")].map(({ dataset }) => dataset.cell.split("[")[0]),
            });
        }
        return found;
    };
    // Of each state whether a phone draws the same if something else is right, and the rest of it.
    window.compared = async (moment, other, states) => {
        const [ones, others] = [await drawnIn(moment, states), await drawnIn({ ...moment, ...other }, states)];
        return ones.map(({ text, ...rest }, nth) => ({ isSame: text === others[nth].text, ...rest }));
    };
    // The bar of the speaker of a class at a question of three words, which stand in the picture.
    window.desk = (now) => {
        shown?.end();
        const done = [], listeners = new Set();
        const speaker = {
            room: { code: "KTQWRM" }, message: "", isUpToDate: true, led: null, presses: () => 0, now,
            openAnswers: (isOpen) => done.push(isOpen ? "open" : "close"), again: () => done.push("again"),
            shows: () => {},
            onChange: (listener) => { listeners.add(listener); return () => listeners.delete(listener); },
        };
        shown = classBar_js.makeClassBar(speaker, location.href, {}, () => {});
        const body = element_js.element("div"), picture = element_js.element("div", "sheet");
        const name = (word) => `<th><button>${word}</button></th>`;
        picture.innerHTML = `<table class=names>${["a", "b", "c"].map(name)}</table>`;
        body.style.paddingTop = "200px";
        body.append(picture);
        main.replaceChildren(shown.element, shown.dialogs, body);
        shown.standIn(body);
        const question = {
            kind: "pick", prompt: [["", "Which?"]], right: [1],
            candidates: ["a", "b", "c"].map((label, word) => ({ label, word, feedback: [] })),
        };
        window.done = done;
        window.at = (isShown, nth = 1) => shown.shows({ at: `lesson=a&moment=${nth}`, isShown, question, picture });
        window.tell = (next) => { speaker.now = next; for (const each of [...listeners]) each(); };
        at(now.isShown);
    };
    document.body.dataset.ready = "";
</script>"""


@pytest.fixture(scope="module")
def tab(browser):
    tab = Alone(browser.new_context())
    tab.show(PAGE % (SHEET, MODULES), "[data-ready]")
    yield tab
    tab.page.context.close()


@pytest.fixture
def page(tab):
    yield tab.page
    assert tab.errors == []


def now(**parts):
    """A class at the first place where it was led, as a phone is told."""
    return {
        "number": 1,
        "at": "lesson=who-is-it&moment=1",
        "shows": 1,
        "kind": "lesson",
        "question": None,
        "isOwn": False,
        "isShown": False,
        "round": {"number": 1, "isOpen": True},
        "hasEnded": False,
        "waits": False,
        "isApart": False,
    } | parts


def moment(at, kind=None, cell=""):
    return json.loads(moment_at(place_in(at, CellQuestion(kind=kind, cell=cell) if kind else None)))


def with_another_answer(sent):
    """All of a moment that tells what is right, as it would be if something else were."""
    elsewhere = [["", "Something else."]]
    question, ending = copy.deepcopy([sent["question"], sent["ending"]])
    if ending:
        ending["answer"] = elsewhere
    if question and question["kind"] == "fill":
        question |= {"right": 1 - question["right"], "text": "7", "nears": [], "tolerance": 1e-9}
    elif question:
        question["right"] = [(place + 1) % len(question["candidates"]) for place in question["right"]]
        for each in question["candidates"]:
            each["feedback"] = elsewhere
    return {"question": question, "ending": ending, "after": elsewhere, "answerCell": None}


MOMENTS = {
    "words alone": ("?lesson=who-is-it&moment=1",),
    "a word": ("?lesson=who-is-it&moment=2",),
    "a share": ("?lesson=who-is-it&moment=3",),
    "in your own words": ("?lesson=who-is-it&moment=8",),
    "a number": ("?lesson=one-number&moment=5",),
    "a mistake": ("?lesson=masks&moment=4",),
    "a share of the pass": ("?sentence=the+cat+sat&step=softmax", "share", "attention[0,1,2]"),
}


UNCOVERED = {"a word": {"scores"}, "a share": {"attention"}, "a number": {"attention"}}
"""The numbers that come with the answer; other moments have none, or a picture without their cells."""


@pytest.mark.parametrize("name", MOMENTS)
def test_a_phone_shows_nothing_of_the_answer_before_the_speaker_does(page, name):
    """What it draws is the same whatever is right, also for who has answered, and no covered number is in it."""
    sent = moment(*MOMENTS[name])
    question = sent["question"]
    right = question and (question["right"] if question["kind"] == "fill" else question["right"][0])
    state = now(kind="question" if sent["workedSolution"] else "lesson", round=None)
    rounds = [question and {"number": 1, "isOpen": is_open} for is_open in (True, True, False)]
    states = [
        state | {"round": each, "answer": answer, "isShown": is_shown}
        for each, answer, is_shown in zip(rounds * 2, [None, right, right] * 2, [False] * 3 + [True] * 3, strict=True)
    ]
    found = page.evaluate("of => compared(...of)", [sent, with_another_answer(sent), states])
    assert [each["isSame"] for each in found] == [True] * 3 + [False] * 3, "it is there once it is shown"
    uncovered = [set(each["stages"]) & set(sent["covers"]) for each in found]
    assert uncovered == [set()] * 3 + [UNCOVERED.get(name, set())] * 3
    has_picture = [not sent["saysWordsAlone"]] * 3 + [True] * 3
    assert [each["isPictured"] for each in found] == ([False] * 6 if sent["workedSolution"] else has_picture)


def foot(page, name):
    return page.locator(".class-foot").get_by_role("button", name=name)


def test_a_number_is_pointed_at_and_that_is_taken_back_by_one_button(page):
    sent = moment("?lesson=who-is-it&moment=3")
    asked, picked = sent["askedCell"], {"do": "point", "cell": "", "seat": "mine"}
    page.evaluate("phone()")
    page.evaluate("now => told.now(now)", now())
    page.evaluate("sent => coming[1](sent)", sent)
    point = foot(page, "I don’t understand this")
    for is_pointed in (True, False, True, False):
        point.click()
        expect(point).to_have_attribute("aria-pressed", str(is_pointed).lower())
    posted = page.evaluate("posted")
    assert posted == [picked | {"cell": asked}, picked] * 2


def test_what_an_answer_is_read_off_is_pointed_at_once_it_is_shown_and_not_before(page):
    sent = moment("?lesson=who-is-it&moment=2")
    assert (sent["askedCell"], sent["answerCell"]) == (None, "scores[0,11,6]")
    page.evaluate("phone()")
    page.evaluate("now => told.now(now)", now())
    page.evaluate("sent => coming[1](sent)", sent)
    expect(page.locator(".lesson-said")).to_be_visible()
    expect(foot(page, "I don’t understand this")).to_be_hidden()
    page.evaluate("now => told.now(now)", now(isShown=True))
    foot(page, "I don’t understand this").click()
    assert page.evaluate("posted") == [{"do": "point", "cell": "scores[0,11,6]", "seat": "mine"}]


def test_a_moment_that_comes_late_is_not_shown_in_place_of_where_the_class_is(page):
    first, second = (moment(f"?lesson=who-is-it&moment={nth}") for nth in (2, 3))
    page.evaluate("phone()")
    page.evaluate("now => told.now(now)", now())
    page.evaluate("now => told.now(now)", now(number=2, shows=2))
    for sent, shows in ((second, 2), (first, 1)):
        page.evaluate("([sent, shows]) => { coming[shows](sent); return drawn(); }", [sent, shows])
        page.evaluate("drawn()")
        expect(page.locator(".lesson-said h2")).to_have_text(second["title"])


def test_who_touches_something_looks_around_until_they_go_back_to_the_class(page):
    first, second = (moment(f"?lesson=who-is-it&moment={nth}") for nth in (2, 3))
    page.evaluate("phone()")
    page.evaluate("now => told.now(now)", now(isShown=True))
    page.evaluate("sent => coming[1](sent)", first)
    score = page.locator("main [data-cell='scores[0,11,6]']")
    score.click()
    expect(page.locator(".class-state")).to_have_text("you look around")
    for elsewhere in (now(), now(number=2, shows=2)):
        page.evaluate("now => { told.now(now); return drawn(); }", elsewhere)
        expect(score.first).to_be_visible()  # nothing pulls them back, nor covers what they look at
        expect(page.locator(".lesson-said h2")).to_have_text(first["title"])
    foot(page, "Back to the class").click()
    page.evaluate("sent => coming[2](sent)", second)
    expect(page.locator(".lesson-said h2")).to_have_text(second["title"])
    expect(page.locator(".class-state")).to_have_text("● following")
    assert [each["isAround"] for each in page.evaluate("posted")] == [True, False]


def test_a_word_that_is_clicked_in_the_picture_is_an_answer_until_answers_are_closed(page):
    sent = moment("?lesson=who-is-it&moment=2")
    page.evaluate("phone()")
    page.evaluate("now => told.now(now)", now())
    page.evaluate("sent => coming[1](sent)", sent)
    word = page.locator(".lesson-picture .names").get_by_role("button", name="street")
    word.click()
    expect(page.locator(".class-own")).to_contain_text("street is your answer.")
    page.evaluate("now => told.now(now)", now(round={"number": 1, "isOpen": False}))
    page.locator(".lesson-picture .names").get_by_role("button", name="animal").click()
    expect(page.locator(".class-own")).to_have_text("street is your answer.")
    posted = page.evaluate("posted")
    assert posted[0] == {"do": "answer", "number": 1, "round": 1, "seat": "mine", "value": 6}
    assert [each["do"] for each in posted] == ["answer", "around"]


def test_who_was_in_a_class_that_has_ended_is_told_so_and_asks_no_server_any_more(page):
    sent = moment("?lesson=who-is-it&moment=2")
    page.evaluate("phone()")
    page.evaluate("now => told.now(now)", now())
    page.evaluate("sent => coming[1](sent)", sent)
    expect(page.locator(".lesson-said")).to_be_visible()
    assert page.evaluate("isListening")
    page.evaluate("now => told.now(now)", now(hasEnded=True))
    expect(page.locator(".class-end")).to_be_visible()
    expect(page.locator(".lesson-said, .class-foot button:visible")).to_have_count(0)
    assert not page.evaluate("isListening")


def audience(**parts):
    return {"here": 5, "around": 2, "answered": 4, "counts": [[[0, 1], [1, 3]]], "pointed": [], "pressed": 0} | parts


def test_a_speaker_closes_opens_and_asks_again_as_the_buttons_say(page):
    bar = page.locator(".class-bar")
    page.evaluate("now => desk(now)", now(audience=audience()))
    expect(bar.locator(".class-count")).to_have_text("5 here · 2 look around · 4 answered")
    bar.get_by_role("button", name="Close answers").click()
    page.evaluate("now => tell(now)", now(audience=audience(), round={"number": 1, "isOpen": False}))
    bar.get_by_role("button", name="Open answers").click()
    bar.get_by_role("button", name="Ask again").click()
    page.evaluate("now => tell(now)", now(audience=audience(), round={"number": 2, "isOpen": True}))
    expect(bar.get_by_role("button", name="Ask again")).to_have_count(0)
    bar.get_by_role("button", name="Close answers").click()
    assert page.evaluate("done") == ["close", "open", "again", "close"]
    page.evaluate("now => tell(now)", now(audience=audience(), round={"number": 2, "isOpen": False}, isShown=True))
    expect(bar.get_by_role("button", name="Close answers").or_(bar.get_by_role("button", name="Open"))).to_have_count(0)


def test_the_room_sees_everybody_s_answers_and_the_truth_once_it_is_shown(page):
    page.evaluate("now => desk(now)", now(audience=audience()))
    expect(page.locator(".placed-dots")).to_be_hidden()
    page.get_by_role("button", name="Show answers").click()
    dots = page.locator(".placed-dots li")
    expect(dots.locator(".count")).to_have_text(["1", "3", ""])
    expect(page.locator(".right")).to_have_count(0)
    page.evaluate("at(true)")
    expect(dots.locator(".count")).to_have_text(["1", "3 ✓", ""])
    assert dots.evaluate_all("all => all.map(each => each.classList.contains('right'))") == [False, True, False]
    page.evaluate("at(false, 2)")
    expect(page.locator(".placed-dots")).to_be_hidden()  # the next question's answers are asked for anew


def test_a_speaker_sees_how_many_people_do_not_understand_which_number(page):
    pointed = [{"at": "step=scores", "cell": "scores[0,1,2]", "count": 3}, {"at": "", "cell": "q[0,1,2]", "count": 2}]
    page.evaluate("now => desk(now)", now(audience=audience(pointed=pointed)))
    page.get_by_role("button", name="Class · 5 ?").click()
    expect(page.locator(".class-pointed li")).to_have_text(["3 × scores[0,1,2] at step=scores", "2 × q[0,1,2] at "])
    page.evaluate("now => tell(now)", now(audience=audience()))
    expect(page.locator(".class-bar").get_by_role("button", name="Class", exact=True)).to_be_visible()
