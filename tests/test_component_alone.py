"""What Streamlit calls, called without it: pages come and go and are drawn again, and what is done is answered."""

import pytest
from alone import MODULES, STYLES
from tab import becomes, expect, parameters, step_is

from attnviz.scene.address import parse
from attnviz.scene.answer import answered, drawn, framed
from attnviz.scene.place import Place
from attnviz.scene.written import json_of
from attnviz.server.acts import read

pytestmark = pytest.mark.browser

SITE = "http://component.test/"
PAGE = """
<!doctype html><meta charset="utf-8"><style>%s .viewer { height: 600px }</style>
<div id="one"><div class="attnviz"></div></div><div id="other"><div class="attnviz"></div></div>
<script type="module">
    import show from "/component.js";
    window.asked = 0; // runs
    window.ends = [];
    window.run = (id, answer) => ends.push(show({
        data: new TextEncoder().encode(answer),
        parentElement: document.getElementById(id),
        setTriggerValue: () => { asked += 1; },
    }, new URL(location.origin)));
    window.leave = (id, place) => {
        document.getElementById(id).replaceChildren();
        ends[place]();
    };
    window.ready = true;
</script>
"""


class Site:
    """A tab at a site that answers what is done in it, and runs that answer as Streamlit's would."""

    def __init__(self, context):
        self.page, self.errors, self.kept = context.new_page(), [], None
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.route(f"{SITE}**", lambda route: self._answer(route))

    def open(self, **address):
        self.place = Place("", parse(address).scene)
        self.page.goto(SITE)
        self.page.wait_for_function("window.ready")
        return self.page

    def run(self, box, draws=True):
        """Run the page, which draws into a box the pass or else the settings alone."""
        fitted = self.place.fitted()
        answer = drawn(self.place, fitted, "a tab") if draws else json_of(framed(self.place, fitted, "a tab"))
        self.page.evaluate("([box, answer]) => run(box, answer)", [box, answer.decode()])

    def _answer(self, route):
        if route.request.method == "POST":
            route.fulfill(body=answered(self.place, read(route.request.post_data_buffer)))
        elif route.request.url.endswith(".js"):
            route.fulfill(body=MODULES, content_type="text/javascript")
        else:
            route.fulfill(body=PAGE % STYLES, content_type="text/html")


@pytest.fixture
def site(browser):
    context = browser.new_context()
    site = Site(context)
    yield site
    context.close()
    assert site.errors == []


def another_seed(site):
    """Ask for another seed, and wait until it is in the address."""
    before = parameters(site.page).get("seed")
    site.page.get_by_role("button", name="Another seed").click()
    becomes(site.page, lambda: parameters(site.page).get("seed") in (None, before), False)


def stop_the_clock(page):
    """Have the page's time go on by `page.clock.run_for` alone."""
    page.clock.install(time=0)
    page.clock.pause_at(1_000)


def test_a_call_that_is_ended_late_takes_nothing_away(site):
    page = site.open(sentence="the cat sat")
    site.run("one")
    site.run("one")
    page.evaluate("ends[0]()")
    page.keyboard.press("PageDown")
    becomes(page, lambda: parameters(page).get("step"), "tokens")
    another_seed(site)
    becomes(page, page.get_by_role("textbox", name="Seed").input_value, parameters(page)["seed"])
    assert page.evaluate("asked") == 0


def test_a_call_that_is_ended_before_the_next_comes_takes_no_forward_and_no_focus_away(site):
    page = site.open(sentence="the cat sat")
    site.run("one")
    for _ in range(2):
        page.keyboard.press("PageDown")
    page.go_back()
    becomes(page, lambda: parameters(page).get("step"), "tokens")
    page.get_by_role("textbox", name="Seed").focus()
    page.evaluate("ends[0]()")
    page.go_forward()
    site.run("one")
    becomes(page, lambda: parameters(page).get("step"), "qkv")
    step_is(page, 3)
    expect(page.get_by_role("textbox", name="Seed")).to_be_focused()


def test_a_page_that_comes_back_is_where_it_was_left_and_the_one_that_has_gone_hears_nothing(site):
    page = site.open(sentence="the cat sat")
    site.run("one")
    for _ in range(2):
        page.keyboard.press("PageDown")
    page.evaluate("leave('one', 0)")
    site.run("other")
    becomes(page, lambda: parameters(page).get("step"), "qkv")
    page.keyboard.press("PageDown")
    becomes(page, lambda: parameters(page).get("step"), "scores")
    another_seed(site)


@pytest.mark.parametrize("way", ["Back", "another page"])
def test_where_settings_stand_alone_runs_are_asked_for_until_one_goes_elsewhere(site, way):
    page = site.open(sentence="the cat sat")
    site.run("one", draws=False)
    stop_the_clock(page)
    another_seed(site)
    page.clock.run_for(2_000)
    assert page.evaluate("asked") == 3
    if way == "Back":
        page.go_back()
        becomes(page, lambda: "seed" in parameters(page), False)
    else:
        page.evaluate("leave('one', 0)")
    page.evaluate("asked = 0")
    page.clock.run_for(5_000)
    assert page.evaluate("asked") == 0


def test_a_run_that_has_drawn_what_was_done_is_the_last_that_is_asked_for(site):
    page = site.open(sentence="the cat sat")
    site.run("one", draws=False)
    stop_the_clock(page)
    another_seed(site)
    assert page.evaluate("asked") == 1
    site.run("one", draws=False)
    page.clock.run_for(5_000)
    assert page.evaluate("asked") == 1


def test_a_run_and_what_is_done_to_a_scene_with_a_name_leave_the_address_as_it_is(site):
    page = site.open(sentence="the cat sat")
    before = page.evaluate("[history.length, location.href]")
    site.run("one")
    site.place.name = "other "
    site.run("other")
    box, seed = page.locator("#other"), site.place.scene.options.seed
    box.get_by_role("button", name="Another seed").click()
    becomes(page, lambda: box.get_by_role("textbox", name="Seed").input_value() == str(seed), False)
    assert page.evaluate("[history.length, location.href]") == before


def test_what_is_typed_as_one_leaves_is_done_and_what_is_said_is_shown(site):
    page = site.open(sentence="the cat sat")
    site.run("one")
    page.get_by_role("textbox", name="Seed").fill("7.5")
    page.evaluate("leave('one', 0)")
    becomes(page, lambda: site.place.seed, "7.5")
    site.run("other")
    becomes(page, lambda: "got '7.5'" in page.get_by_role("alert").inner_text(), True)
