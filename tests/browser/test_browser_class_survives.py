"""A class whose server is killed goes on: in real browsers, with a server of its own, restarted on the same port."""

import contextlib
import json
import os
import re
import urllib.request

import pytest
from playwright.sync_api import expect
from server import KILL, free_port, served
from test_browser_class import DEVICES, answers, opens_class

RESTART_MS = 60_000  # until a page has noticed that the server is back


@pytest.fixture
def app():
    """A server that can be killed and started again: its address, and what does that."""
    port = free_port()

    class App:
        def __init__(self, stack):
            self.stack = stack
            self.address, self.pid = stack.enter_context(served(port=port))

        def kill(self):
            os.kill(self.pid, KILL)
            self.stack.close()

        def start(self):
            _, self.pid = self.stack.enter_context(served(port=port))

    with contextlib.ExitStack() as stack:
        yield App(stack)


@pytest.fixture
def lecture(app, browser):
    """A class at a question: its code, the speaker's page and those of three phones, each in a context of its own."""
    pages, errors = [], []
    for name in ("desk", "first", "first", "first"):
        page = browser.new_context(**DEVICES[name]).new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        pages.append(page)
    speaker, *phones = pages
    speaker.goto(f"{app.address}/?lesson=who-is-it&moment=2")
    code = opens_class(speaker)
    for phone in phones:
        phone.goto(f"{app.address}/{code}")
        expect(answers(phone)).to_have_count(12)
    expect(speaker.locator(".class-count")).to_have_text("3 here · 0 answered")
    yield code, speaker, phones
    for page in pages:
        page.context.close()
    assert errors == []


def says(phone, word):
    answers(phone).filter(has_text=re.compile(f"^{word}$")).click()
    expect(phone.locator(".class-own")).to_contain_text(f"{word} is your answer")


def stored(page):
    """What the browser has stored of the class."""
    names = "Object.keys(sessionStorage).filter(name => name.startsWith('attnviz class'))"
    return page.evaluate(f"{names}.filter(name => sessionStorage[name] !== 'null')")


def test_class_goes_on_after_its_server_was_killed_and_is_nobody_elses(app, lecture):
    code, speaker, (first, second, closed) = lecture
    count = speaker.locator(".class-count")
    says(closed, "street")
    expect(count).to_have_text("3 here · 1 answered")
    closed.close()
    expect(count).to_have_text("2 here · 1 answered")
    says(first, "animal")
    app.kill()
    expect(speaker.locator(".class-bar .class-said")).to_contain_text("once the server is back")
    says(second, "tired")
    expect(second.locator(".class-state")).to_have_text("lost")
    app.start()
    expect(count).to_have_text("2 here · 3 answered", timeout=RESTART_MS)
    expect(speaker.locator(".class-bar .class-said")).to_have_text("")
    for phone, word in ((first, "animal"), (second, "tired")):
        expect(phone.locator(".class-state")).to_have_text("● following")
        expect(phone.locator(".class-own")).to_contain_text(f"{word} is your answer")
    says(second, "it")
    speaker.reload()
    expect(count).to_have_text("2 here · 3 answered", timeout=RESTART_MS)
    speaker.get_by_role("button", name="Show answers").click()
    dots = speaker.locator(".placed-dots li:has(.stack i)")
    expect(dots).to_have_text([re.compile(f"^{word}") for word in ("animal", "street", "it")])
    speaker.get_by_role("button", name="Reveal").click()
    expect(first.locator(".class-own.wrong")).to_contain_text("You said animal. It is street.")

    assert stored(speaker)
    speaker.context.set_offline(True)
    app.kill()
    app.start()
    thief = json.dumps({"link": "x", "seat": "x", "commands": []}).encode()
    request = urllib.request.Request(f"{app.address}/room/reopen?room={code}", thief, {"X-Room-Key": "thief"})
    assert json.load(urllib.request.urlopen(request))["code"] == code
    expect(first.locator(".class-said").first).to_contain_text("waits for the speaker", timeout=RESTART_MS)
    second.reload()
    expect(second.locator(".class-form")).to_contain_text("These letters are of another class now.")
    speaker.context.set_offline(False)
    speaker.reload()
    door = speaker.locator(".class-door strong")
    expect(door).not_to_have_text(code, timeout=RESTART_MS)
    expect(count).to_contain_text("0 here")
    second.locator(".class-form input").fill(door.inner_text())
    second.get_by_role("button", name="Join").click()
    expect(answers(second)).to_have_count(12)
    expect(count).to_have_text("1 here · 3 answered")
    speaker.locator(".class-bar").get_by_role("button", name="Class", exact=True).click()
    speaker.get_by_role("button", name="End the class").click()
    speaker.get_by_role("button", name="End it").click()
    expect(second.locator(".class-end")).to_be_visible()
    assert stored(speaker) == []
