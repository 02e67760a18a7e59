"""A class in a real browser: a speaker and three phones, in contexts of their own, through a lesson with questions."""

import functools
import re

import pytest
from axe import violations, violations_but_contrast, violations_of_page
from playwright.sync_api import expect
from tab import becomes, forget, from_menu, move_mouse

PHONE = {"viewport": {"width": 390, "height": 640}, "has_touch": True}
DEVICES = {"desk": {"viewport": {"width": 1366, "height": 768}}, "first": PHONE, "second": PHONE, "proxied": PHONE}


@pytest.fixture(scope="module")
def device(browser):
    """The page of a device, which has loaded what pages share when the next test takes it."""
    context = functools.cache(lambda name: browser.new_context(**DEVICES[name]))
    return functools.cache(lambda name: context({"late": "second"}.get(name, name)).new_page())


@pytest.fixture
def comes(device, server):
    """Open a page of somebody's own, who is new: `comes("first", path)`; it must make no errors."""
    pages, errors = {}, []

    def hear(error):
        errors.append(str(error))

    def come(name, path):
        page = pages[name] = device(name)
        page.on("pageerror", hear)
        page.goto(f"{server}/healthz")
        forget(page)
        page.goto(f"{server}/{path}")
        return page

    yield come
    for page in pages.values():
        page.goto("about:blank")
        page.remove_listener("pageerror", hear)
    assert errors == []


def stands_over(dots, word):
    """Whether the dots end above the word, in its middle; answers have them drawn anew."""
    above, below = dots.bounding_box(), word.bounding_box()
    if not above or not below:
        return False
    middles = (each["x"] + each["width"] / 2 for each in (above, below))
    return above["y"] + above["height"] <= below["y"] + 1 and abs(next(middles) - next(middles)) <= 1


def opens_class(speaker):
    menu = "Teach" if "lesson=" in speaker.url else "Share"
    from_menu(speaker, "Open a class", menu).click()
    code = speaker.locator(".typed-code strong").inner_text()
    speaker.keyboard.press("Escape")
    expect(speaker.locator(".class-code")).to_be_hidden()
    return code


def device_code(speaker):
    """A code for another device: it isn't on a page that is presented."""
    menu = speaker.locator(".class-bar").get_by_role("button", name="Class", exact=True)
    menu.click()
    expect(speaker.get_by_role("button", name="Forget devices")).to_be_visible()
    expect(speaker.get_by_role("button", name="Another device of mine")).to_be_hidden()
    for key in ("Escape", "Escape"):  # closes the menu, and leaves the talk
        speaker.keyboard.press(key)
    menu.click()
    speaker.get_by_role("button", name="Another device of mine").click()
    code = speaker.locator(".class-hand strong").inner_text()
    speaker.keyboard.press("Escape")
    speaker.keyboard.press("p")
    expect(speaker.locator(".viewer.presenting")).to_be_attached()
    return code


def answers(page):
    return page.locator(".class-page .choices button")


@pytest.fixture
def lesson_class(comes):
    """A class at the second moment of a lesson: its code, the speaker's page and those of two phones."""
    speaker = comes("desk", "?lesson=who-is-it&moment=2")
    code = opens_class(speaker)
    phones = [comes(each, code.lower()) for each in ("first", "second")]
    for phone in phones:
        expect(answers(phone)).to_have_count(12)
    expect(speaker.locator(".class-count")).to_have_text("2 here · 0 answered")
    return code, speaker, *phones


SLOW = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 93_750}
"""A phone's link, in bytes a second: 1.6 Mbps down, 750 kbps up. benchmarks/room.py says how long it takes there."""


@pytest.fixture
def slow_phone(browser):
    """A phone with a slow link and a slow processor that has loaded nothing yet; what it asks for, and its sockets."""
    context = browser.new_context(**PHONE)
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", SLOW)
    session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    yield page, asked
    context.close()


def test_class_is_asked_shown_left_and_ended(lesson_class, slow_phone, comes, server):
    """A class from the first answer to its end; phones with a slow link, or a proxy that refuses streams, come by."""
    code, speaker, first, second = lesson_class
    count = speaker.locator(".class-count")
    slow, asked = slow_phone
    answers_without_streamlit(slow, asked, server, code)
    expect(count).to_have_text("3 here · 1 answered")
    proxied = comes("proxied", "healthz")
    proxied.route("**/room/events?*", lambda route: route.abort())
    proxied.goto(f"{server}/{code}")
    answers(proxied).filter(has_text="street").click()
    expect(count).to_have_text("4 here · 2 answered")

    answers(first).filter(has_text=re.compile("^tired$")).click()
    expect(first.locator(".class-own")).to_contain_text("tired is your answer")
    with first.expect_response(lambda each: '"value":6' in (each.request.post_data or "")):
        answers(first).filter(has_text="street").click()  # changed: one answer a second, and the last counts
    answers(second).filter(has_text="animal").click()
    expect(count).to_have_text("4 here · 4 answered")
    speaker.get_by_role("button", name="Show answers").click()
    dots_stand_over_words(speaker)
    assert violations_of_page(first, "dark") == []
    speaker.get_by_role("button", name="Reveal").click()
    verdicts_come(speaker, first, second)
    expect(proxied.locator(".class-own.right")).to_be_visible()

    late = late_and_offline_phones_rejoin(speaker, first, second, lambda: comes("late", code))
    slow.bring_to_front()
    loads_the_viewer_once_touched(slow, asked)
    speaker.reload()
    expect(count).to_contain_text("5 here")
    speaker.locator(".class-bar").get_by_role("button", name="Class", exact=True).click()
    speaker.get_by_role("button", name="End the class").click()
    speaker.get_by_role("button", name="End it").click()
    for phone in (first, second, late):
        expect(phone.locator(".class-end")).to_be_visible()
    expect(comes("late", code).locator(".class-form")).to_contain_text("no room with this code")
    expect(first.locator(".class-end")).to_be_visible()  # and stays, long after the stream has ended


def answers_without_streamlit(phone, asked, server, code):
    phone.goto(f"{server}/{code}")
    answers(phone).filter(has_text="street").click()
    expect(phone.locator(".class-own")).to_contain_text("street is your answer")
    names = [re.sub(r"-\w{16}|\?.*", "", each.removeprefix(f"{server}/")) for each in asked]
    assert sorted({*names}) == ["", code, "room", "room/events", "room/moment", "viewer/follower.js"]


def loads_the_viewer_once_touched(phone, asked):
    phone.get_by_role("button", name="Open the picture").click()
    expect(phone.locator(".lesson-picture .sheet")).to_be_visible()
    assert sum("classPictures" in each for each in asked) == 1


def dots_stand_over_words(speaker):
    dots = speaker.locator(".placed-dots li:has(.stack i)")
    expect(dots).to_have_text([re.compile("^animal"), re.compile("^street")])
    for word in ("animal", "street"):
        name = speaker.locator(".sheet .names").get_by_text(word, exact=True)
        becomes(speaker, functools.partial(stands_over, dots.filter(has_text=word), name), True, word)


def verdicts_come(speaker, first, second):
    """And are there again after a question on the run."""
    expect(first.locator(".class-own.right")).to_contain_text("Right: street")
    expect(second.locator(".class-own.wrong")).to_contain_text("You said animal. It is street.")
    assert violations_of_page(second, "light") == []
    expect(speaker.locator(".placed-dots li.right")).to_contain_text("street")
    assert violations(speaker, "dark", ".attnviz") == []
    speaker.get_by_role("button", name="Ask the class").click()
    speaker.get_by_role("button", name="Which number is it?").click()
    expect(first.locator(".number-box")).to_be_visible()
    speaker.locator(".class-stage").get_by_role("button", name="Back to the pass").click()
    expect(first.locator(".class-own.right")).to_contain_text("Right: street")


def late_and_offline_phones_rejoin(speaker, first, second, come_late):
    """One looks around, one has no network, and one comes late: each is at the next moment in the end."""
    second.locator(".class-own .number").or_(second.get_by_role("button", name="“street” scores")).first.click()
    expect(second.locator(".class-state")).to_have_text("you look around")
    expect(speaker.locator(".class-count")).to_contain_text("1 look around")
    first.context.set_offline(True)
    speaker.get_by_role("button", name="Next", exact=True).click()
    late = come_late()
    expect(late.locator(".slider")).to_be_visible()
    first.context.set_offline(False)
    expect(first.locator(".slider")).to_be_visible()
    second.bring_to_front()  # it has a tab beside that of the late one
    expect(second.locator(".class-state")).to_have_text("you look around")
    expect(answers(second)).to_have_count(12)
    second.get_by_role("button", name="Back to the class").click()
    expect(second.locator(".slider")).to_be_visible()
    return late


def test_wrong_code_opens_the_form(comes):
    phone = comes("first", "qwerty.")
    expect(phone.locator(".class-form input")).to_have_value("QWERTY")
    expect(phone.locator(".class-form")).to_contain_text("There is no room with this code.")
    expect(phone.get_by_text("Page not found")).to_have_count(0)


def test_second_device_leads_everywhere(comes):
    speaker = comes("desk", "walkthrough?model=who-is-it&present=1&step=softmax")
    move_mouse(speaker)
    phone = comes("first", opens_class(speaker))
    assert "present=1" in speaker.url, "Escape closes the code, and leaves the talk as it is"
    remote = comes("second", device_code(speaker))
    held = []
    remote.route("**/viewer/classes-*", lambda route: held.append(route))  # the script of the class bar comes late
    remote.get_by_role("button", name="Lead from this screen").click()
    expect(remote.locator(".way .place")).to_have_text("step 6 of 11")

    step = phone.locator(".class-glance h2")
    remote.get_by_role("button", name="Next").first.click()
    expect(remote.locator(".way .place")).to_have_text("step 7 of 11")
    assert held
    for each in held:
        each.continue_()
    remote.unroute("**/viewer/classes-*")
    expect(step).to_have_text("Weighted sum")
    expect(speaker.locator(".step-text h2")).to_have_text(re.compile("^Collect the values"))
    assert "present=1" in speaker.url, "each screen in its own layout"
    speaker.keyboard.press("PageUp")
    expect(remote.locator(".way .place")).to_have_text("step 6 of 11")
    expect(step).to_have_text("Softmax")

    speaker.keyboard.press("Escape")  # and now out of the talk
    speaker.locator(".way button", has_text="Scores").click()
    expect(remote.locator(".way .place")).to_have_text("step 4 of 11")
    expect(step).to_have_text("Scores")
    phone.get_by_role("button", name="Open the picture").click()
    expect(phone.locator(".way .place")).to_have_text("step 4 of 11")
    speaker.locator(".way button", has_text="Softmax").click()
    expect(phone.locator(".way .place")).to_have_text("step 6 of 11")  # an opened picture follows

    speaker.get_by_role("button", name="Ask the class").click()
    speaker.get_by_role("button", name="Which word has the largest in this row?").click()
    expect(answers(phone)).to_have_count(12)
    answers(phone).filter(has_text="animal").click()
    expect(speaker.locator(".class-stage .class-count")).to_have_text("1 here · 1 answered")
    speaker.get_by_role("button", name="Reveal").click()
    expect(phone.locator(".class-own.right")).to_contain_text("animal")
    speaker.locator(".class-stage").get_by_role("button", name="Back to the pass").click()
    expect(step).to_have_text("Softmax")
    expect(phone.locator(".class-state")).to_have_text("● following")

    speaker.goto(f"{speaker.url.partition('/walk')[0]}/?lesson=who-is-it&moment=2")
    expect(remote.locator(".lesson-page .count")).to_have_text("2 of 9")
    expect(answers(phone)).to_have_count(12)
    remote.get_by_role("button", name="Show answers").click()
    expect(speaker.get_by_role("button", name="Reveal")).to_be_visible()
    remote.get_by_role("button", name="Reveal").click()
    expect(phone.locator(".class-own")).to_contain_text("It is street.")
    expect(speaker.locator(".lesson-said.answered")).to_be_visible()
    remote.get_by_role("button", name="Back", exact=True).click()
    expect(speaker.locator(".lesson-said.answered")).to_have_count(0)


def test_own_talk_is_led_by_a_second_device(comes):
    speaker = comes("desk", "walkthrough?view=sheet")
    expect(speaker.locator(".way .place")).to_be_visible()
    drawer = speaker.get_by_role("dialog", name="Your talk")
    for text in ("Look at <b>tired</b>.", "And at animal."):
        speaker.keyboard.press("m")
        drawer.get_by_label("Text (on the screen").fill(text)
        if "tired" in text:
            computed = drawer.get_by_role("combobox").locator("option[value='0']")
            expect(computed).to_be_attached()
            drawer.get_by_role("combobox").select_option("0")
            expect(drawer.locator(".answer")).to_contain_text("The answer:")
        speaker.keyboard.press("Escape")
    speaker.keyboard.press("m")
    drawer.get_by_role("button", name="Delete").click()
    drawer.get_by_role("button", name="Give the talk").click()
    expect(speaker.locator(".lesson-said .text")).to_be_visible()
    move_mouse(speaker)
    phone = comes("first", opens_class(speaker))
    expect(phone.locator(".lesson-said .text")).to_have_text("Look at <b>tired</b>.")
    expect(phone.locator(".class-state")).to_have_text("● following")

    speaker.locator(".class-bar").get_by_role("button", name="Class", exact=True).click()
    with speaker.context.expect_page() as opened:
        speaker.get_by_role("button", name="Speaker’s window").click()
    window = opened.value
    window.get_by_role("button", name="Another device of mine").click()
    remote = comes("second", window.locator(".class-hand strong").inner_text())
    expect(speaker.locator(".class-hand")).to_have_text("")
    window.close()
    expect(remote.locator(".lesson-said .text")).to_have_text("Look at <b>tired</b>.")
    answers(phone).first.click()
    expect(remote.locator(".class-state")).to_have_text("1 here · 1 answered")
    expect(answers(remote).first).to_be_disabled()
    onward = remote.locator(".class-foot .check")
    before = onward.bounding_box()
    for name in ("Show answers", "Reveal"):
        expect(onward).to_have_text(name)
        onward.click()
    for each in (phone, remote):
        expect(each.locator(".lesson-said.answered")).to_be_visible()
    expect(onward).to_have_text("Next")
    after = onward.bounding_box()
    middle = before["x"] + before["width"] / 2, before["y"] + before["height"] / 2
    spans = zip(("x", "y"), ("width", "height"), middle, strict=True)
    assert all(after[side] <= at <= after[side] + after[size] for side, size, at in spans), "the thumb stays on it"
    onward.click()
    for each in (speaker, phone, remote):
        expect(each.locator(".lesson-said .text")).to_have_text("And at animal.")
    assert violations_but_contrast(remote) == []
    remote.get_by_role("button", name="Back").click()
    expect(speaker.locator(".lesson-said .text")).to_have_text("Look at <b>tired</b>.")
    speaker.mouse.move(320, 320)
    speaker.get_by_role("link", name="Explore this in the walkthrough").click()  # what is no talk has its own page
    expect(remote.get_by_role("button", name="Lead from this screen")).to_be_visible(timeout=20_000)
    speaker.keyboard.press("PageDown")
    expect(remote.locator(".lesson-said .text")).to_have_text("And at animal.")
