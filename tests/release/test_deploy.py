"""Behind nginx: a lost process loses nothing, and what is not for the public is refused."""

import contextlib
import gzip
import http.client
import json
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, urlencode

import pytest
from asgi import run
from balanced import NGINX, Balanced, balanced, fronted, shared
from needs import absent, needed
from page import ROOT
from patience import PATIENCE_SECONDS
from tab import at, becomes, cell, expect, grid, parameters, pick, step_is, to_page
from visitor import Visitor

from attnviz.app.browser_tabs import MAX_ACTIONS_BYTES, MAX_LINE_BYTES
from attnviz.classroom.requests import MAX_BYTES, MAX_SPEAKER_BYTES
from attnviz.core.limits import MAX_CHARACTERS, MAX_FILE_BYTES
from attnviz.lessons.lesson import LESSONS
from attnviz.scene.scene import OWN_PARAMETERS
from attnviz.viewer.script import SCRIPTS

pytestmark = pytest.mark.slow

WORDS = "dreizehn Eulen lesen heimlich"
CONNECTED = '[data-testid="stApp"][data-test-connection-state="CONNECTED"]'
CONFIGURATION = "/_stcore/host-config"
"""What browsers alone ask for."""
ADDRESS = {"sentence": WORDS, "heads": "4", "seed": "7", "step": "Softmax", "mask": "causal"}


@pytest.fixture(scope="module")
def nginx():
    if NGINX is None:
        absent("tests of deploy/ not run: no nginx (Debian: apt-get install nginx-light)")


@pytest.fixture(scope="module")
def start(tmp_path_factory, nginx):
    """Start nginx and two processes, unless one is still there: what comes after a test that has one lost needs one."""
    sites = []
    with contextlib.ExitStack() as started:

        def site():
            if not sites or all(process.poll() is not None for process in sites[-1].processes.values()):
                sites.append(started.enter_context(balanced(tmp_path_factory.mktemp("site"))))
            return sites[-1]

        yield site


@pytest.fixture
def site(start):
    return start()


def asked(address, data=None, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(address, data, headers)) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.headers, refused.read()


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd here")
def test_systemd_unit_is_hardened(tmp_path):
    unit = (ROOT / "deploy/systemd/attnviz@.service").read_text("utf-8")
    assert "/opt/attnviz/bin/attnviz " in unit
    (tmp_path / "attnviz@.service").write_text(unit.replace("/opt/attnviz/bin/attnviz", sys.executable), "utf-8")
    for command in ("verify", "security --offline=yes --threshold=20"):
        done = subprocess.run(
            ["systemd-analyze", *command.split(), tmp_path / "attnviz@.service"], capture_output=True, encoding="utf-8"
        )
        assert (done.returncode, "attnviz@" in done.stderr) == (0, False), done.stdout + done.stderr


def test_private_paths_are_refused(site):
    for path in ("_stcore/metrics", "_stcore//metrics", "_stcore/agent/openapi.json", "_stcore/upload_file/a/b"):
        status, _, body = asked(f"{site.address}/{path}")
        assert (status, b"nginx" in body) == (404, True), f"{path} reached the app"
    assert asked(f"{site.address}/healthz")[::2] == (200, b"ok")
    assert asked(f"{site.address}/_stcore/health")[0] == 200


def test_cookie_keeps_one_process(site):
    _, headers, _ = asked(site.address)
    seat = re.match("attnviz_seat=[0-9a-f]{32}", headers["Set-Cookie"])[0]
    assert "Set-Cookie" not in asked(site.address, Cookie=seat)[1]
    first = len(site.answering("/", 2))
    for _ in range(8):
        asked(site.address, Cookie=seat)
    assert len(set(site.answering("/", first + 8)[first:])) == 1
    for _ in range(24):
        asked(site.address)
    assert len(set(site.answering("/", first + 32)[first + 8 :])) == 2, "24 who come anew are not all sent to one"


def test_user_agent_keeps_one_process_without_cookies(site):
    paths = ("/actions", "/arrays", "/_stcore/stream")
    seats = []
    for browser in range(12):
        for path in paths:
            asked(f"{site.address}{path}", **{"User-Agent": str(browser)})
        # nginx's workers write their lines in any order: the log is read before the next browser asks
        seats.append({site.answering(path, browser + 1)[-1] for path in paths})
    assert {len(seat) for seat in seats} == {1}
    assert len(set.union(*seats)) == 2, "12 browsers are not all sent to one"


def test_cross_site_cookie_needs_https(site):
    there = asked(site.address, **{"X-Forwarded-Proto": "https"})[1]
    assert there["Set-Cookie"].endswith("HttpOnly; SameSite=None; Secure; Partitioned")
    assert there["Strict-Transport-Security"]
    here = asked(site.address)[1]
    assert here["Set-Cookie"].endswith("HttpOnly; SameSite=Lax")
    assert "Strict-Transport-Security" not in here


def streamlits(site):
    return re.search(rb'src="\./(static/js/index\.[^"]+\.js)"', asked(site.address)[2])[1].decode()


@pytest.mark.parametrize(
    "path_of", [streamlits, lambda _: SCRIPTS["component"].path.lstrip("/")], ids=["Streamlit's", "ours"]
)
def test_scripts_are_compressed_and_cached(site, path_of):
    path = path_of(site)
    status, headers, plain = asked(f"{site.address}/{path}")
    assert (status, headers["Content-Encoding"]) == (200, None)
    _, headers, packed = asked(f"{site.address}/{path}?again", **{"Accept-Encoding": "gzip, br"})
    assert headers["Content-Encoding"] == "gzip"
    assert headers["Vary"] == "Accept-Encoding"
    assert "max-age=31536000" in headers["Cache-Control"]
    assert gzip.decompress(packed) == plain
    assert len(packed) < len(plain) / 2
    assert site.answering(f"/{path}", 2).count("-") == 1, "the second time, nobody was asked for it"


def test_moment_is_the_same_from_every_process(site):
    address, moment = site.address, "/moment?lesson=who-is-it&moment=2"
    answers = {asked(f"{address}{moment}", **{"User-Agent": f"visitor {n}"})[2] for n in range(8)}
    assert len(answers) == 1, "the parameters reach the app, and all say the same"
    assert json.loads(answers.pop())["title"] == LESSONS["who-is-it"].moment[1].title != ""


def test_every_proxied_path_is_limited():
    public = (ROOT / "deploy/nginx/nginx.conf").read_text("utf-8").partition("listen 127.0.0.1:8480")[0]
    locations = re.findall(r"location ([^{]+) \{(.*?)\}", public, re.DOTALL)
    reaching = {path: body for path, body in locations if "proxy_pass" in body}
    assert {"/", "= /healthz", "~ ^/(static|viewer)/"} <= set(reaching)
    assert [path for path, body in reaching.items() if "limit_req zone=" not in body] == []


def test_actions_reach_the_tabs_process(site):
    async def done():
        for _ in range(8):  # two processes: a seat led to the right one by chance once in 256
            async with Visitor(f"{site.address}/walkthrough{at(**ADDRESS)}") as visitor:
                await visitor.set("mask", "none")
                assert "mask" not in visitor.query
                before = visitor.n_bytes
                await visitor.set("mask", "causal")
                assert visitor.answer["address"]["mask"] == "causal"
                plain = json.dumps(visitor.answer, separators=(",", ":"), ensure_ascii=False).encode()
                assert visitor.n_bytes - before < len(plain) / 2, "it comes compressed"

    run(done())


ONE_SEAT = {"User-Agent": "one seat"}
"""Of a browser without cookies, which nginx leads to one process by that."""


class Phone:
    """A phone without cookies, behind nginx: what it asks and hears of a class."""

    def __init__(self, address, code=""):
        self.address, self.code = address, code

    def told(self, key=None, **message):
        sent, headers = json.dumps(message).encode(), {"X-Room-Key": key} if key else {}
        return json.loads(asked(f"{self.address}/room?room={self.code}", sent, **ONE_SEAT, **headers)[2])

    def path(self, name, **parameters):
        return f"{self.address}/room/{name}?{urlencode({'room': self.code, **parameters})}"

    @contextlib.contextmanager
    def listening(self, seat):
        events = urllib.request.Request(self.path("events", seat=seat), headers=ONE_SEAT | {"Accept-Encoding": "gzip"})
        with urllib.request.urlopen(events, timeout=PATIENCE_SECONDS) as stream:
            yield (json.loads(line[6:]) for line in stream if line.startswith(b"data: "))


def test_class_events_arrive_at_once(site):
    phone = Phone(site.address)  # of one seat, and so of one process, as rooms are in its memory
    made = phone.told(do="make")
    phone.code = made["code"]
    seat = phone.told(do="join")["seat"]
    door = http.client.HTTPConnection(site.address.removeprefix("http://"))
    door.request("GET", f"/{phone.code.lower()}", headers=ONE_SEAT)
    assert door.getresponse().headers["Location"] == f"./?room={phone.code}"
    door.close()
    page = asked(f"{site.address}/?room={phone.code}&embed=true", **ONE_SEAT)[2].decode()
    assert f'data-room="{phone.code}"' in page, "the page of a class, and not Streamlit's"
    with phone.listening(seat) as heard:
        assert next(heard)["answers"] == []
        assert next(heard)["number"] == 0
        for number, step in enumerate(("scores", "softmax"), start=1):
            phone.told(made["key"], do="move", at=f"model=who-is-it&step={step}")
            now = next(heard)
            assert (now["number"], now["at"]) == (number, f"model=who-is-it&step={step}")
    assert json.loads(asked(phone.path("now", seat=seat), **ONE_SEAT)[2])["now"]["at"] == now["at"]
    path = phone.path("moment", seat=seat, shows=now["shows"])
    packed = asked(path, **ONE_SEAT, **{"Accept-Encoding": "gzip"})
    assert packed[1]["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(packed[2]))["question"] is None


def test_forged_networks_raise_no_limit(site):
    begun, n_guesses = time.monotonic(), 42
    for n in range(n_guesses):
        asked(f"{site.address}/room?room=BBBBBB", b'{"do": "join"}', **ONE_SEAT, **{"X-Forwarded-For": f"192.0.2.{n}"})
    assert time.monotonic() - begun >= (n_guesses - 30) / 9, "30 at once, then 9 a second"


def test_lost_process_keeps_class_and_answers(nginx, tmp_path):
    needed("redis")
    if not shutil.which("redis-server"):
        absent("a class on two processes not tested: no redis-server (Debian: apt-get install redis-server)")
    with shared() as processes, fronted(tmp_path, [each.rpartition(":")[2] for each in processes]) as address:
        phone = Phone(address)
        made = phone.told(do="make")
        phone.code = made["code"]
        seat = phone.told(do="join")["seat"]
        phone.told(made["key"], do="move", at="lesson=who-is-it&moment=1")
        assert phone.told(do="answer", seat=seat, question=0, round=1, value=4) == {}
        asked(phone.path("moment", seat=seat, shows=1), **ONE_SEAT)
        (own,) = Balanced(address, processes, tmp_path / "access.log").answering("/room/moment", 1)
        processes[f"http://{own}"].kill()
        with phone.listening(seat) as heard:  # as it has this seat, without joining again
            assert [each["value"] for each in next(heard)["answers"]] == [4]
            assert next(heard)["at"] == "lesson=who-is-it&moment=1"
        assert phone.told(made["key"], do="move", at="model=who-is-it")["number"] == 2, "and so is the speaker"


def test_nginx_room_limits_equal_the_apps(site):
    for most, key in ((MAX_BYTES, {}), (MAX_SPEAKER_BYTES, {"X-Room-Key": "none"})):
        status, _, body = asked(f"{site.address}/room", data=b"0" * most, **key)
        assert status in (400, 413)
        assert b"nginx" not in body, "the app has read it"
    status, _, body = asked(f"{site.address}/room", data=b"0" * (MAX_SPEAKER_BYTES + 4_000))
    assert (status, b"nginx" in body) == (413, True)


def process(is_lost):
    """A stand-in for a process that knows no tab, or is lost with each action; `actions` are those that it has read."""

    class Process(BaseHTTPRequestHandler):
        protocol_version, actions = "HTTP/1.1", []

        def do_GET(self):
            self.answer(200, b"ok")

        def do_POST(self):
            self.actions.append(self.rfile.read(int(self.headers["Content-Length"])))
            if is_lost:
                self.close_connection = True
            else:
                self.answer(404, b"no such tab")

        def answer(self, status, body):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    return Process


def test_action_of_a_lost_process_is_retried(nginx, tmp_path):
    answering, lost = processes = process(is_lost=False), process(is_lost=True)
    with contextlib.ExitStack() as started:
        servers = [started.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), each)) for each in processes]
        for server in servers:
            started.callback(server.shutdown)
            threading.Thread(target=server.serve_forever).start()
        address = started.enter_context(fronted(tmp_path, [each.server_port for each in servers]))
        browsers = iter(range(100))
        while not lost.actions:  # each browser is led to one of the two
            act = f'{{"tab": "{next(browsers)}"}}'.encode()
            assert asked(f"{address}/actions", act, **{"User-Agent": act.decode()})[::2] == (404, b"no such tab")
    assert answering.actions[-1:] == lost.actions, "it was read by both"


def test_nginx_action_limits_equal_the_apps(site):
    assert asked(f"{site.address}/actions", data=b"0" * MAX_ACTIONS_BYTES)[0] == 400, "the app was asked, and read it"
    status, _, body = asked(f"{site.address}/actions", data=b"0" * (MAX_ACTIONS_BYTES + 4_000))
    assert (status, b"nginx" in body) == (413, True)
    line = b"0" * MAX_LINE_BYTES + b"\n"
    assert asked(f"{site.address}/arrays", data=line + b"0" * MAX_FILE_BYTES)[0] == 400
    assert asked(f"{site.address}/arrays", data=line + b"0" * (MAX_FILE_BYTES + 20_000))[0] == 413
    assert asked(f"{site.address}/walkthrough?", data=b"0" * 17_000)[0] == 413, "elsewhere nobody has that much to say"


def test_longest_address_fits(site):
    longest = quote("語" * MAX_CHARACTERS)
    assert asked(f"{site.address}/walkthrough?sentence={longest}&context={longest}")[0] == 200


def test_lost_process_loses_nothing(site, browser):
    context = browser.new_context()
    own, page = context.new_page(), context.new_page()
    own.goto(f"{site.address}/your_own_numbers")
    own.get_by_role("button", name="A weight used transposed").click()
    own.get_by_role("button", name="Open in the walkthrough").click()
    becomes(own, lambda: parameters(own).get("source"), OWN_PARAMETERS)
    expect(own.locator(".panel h3")).to_contain_text("=")
    shown = own.locator(".panel h3").inner_text()
    page.goto(f"{site.address}/audit{at(**ADDRESS)}")
    to_page(page, "Walkthrough")  # Streamlit is told the address there
    step_is(page, 7)
    pick(page, "d_model", "16")  # and not any more
    becomes(page, lambda: parameters(page).get("d_model"), "16")
    cell(page, "Attention", 2, 1).click()
    expect(cell(page, "Attention", 2, 1)).to_have_attribute("tabindex", "0")
    becomes(page, lambda: "picked" in parameters(page), True)
    before = _seen(page)

    sent = []
    own.on("request", lambda request: sent.append(request.url) if request.url.endswith("/arrays") else None)
    n_loads = 2
    while len(answering := set(site.answering(CONFIGURATION, n_loads)[-2:])) > 1:
        # nginx leads a browser elsewhere while its process is slow: have both tabs at the one that is lost
        for tab in (own, page):
            tab.bring_to_front()
            tab.reload()
            expect(tab.locator(CONNECTED)).to_have_count(1)
        becomes(page, lambda: _seen(page), before)
        n_loads += 2
    (answering,) = answering
    with page.expect_websocket():  # it is back too soon for anybody to see that it was away
        site.processes[answering].kill()
    expect(page.locator(CONNECTED)).to_have_count(1)

    becomes(page, lambda: _seen(page), before)
    own.bring_to_front()
    becomes(own, lambda: sent, [f"{site.address}/arrays"], "the browser sends what the other process lacks")
    expect(own.get_by_role("alert")).to_be_hidden()
    expect(own.locator(".panel h3")).to_have_text(shown)
    page.bring_to_front()
    page.keyboard.press("PageDown")
    step_is(page, 8)
    pick(page, "Heads", "1")
    expected = before["address"] | {"step": "weighted-sum", "heads": "1"}
    becomes(page, lambda: parameters(page), expected)
    context.close()


def _seen(page):
    """The address, the step, the words, all numbers of the stage, and the one that is selected."""
    return {
        "address": parameters(page),
        "step": page.locator(".way .place").inner_text(),
        "words": page.get_by_role("listbox", name="Queries").locator(".text").all_inner_texts(),
        "numbers": grid(page, "Attention").locator("[data-row]").all_inner_texts(),
        "selected": page.locator(".panel h3").inner_text(),
    }


def test_logs_hold_nothing_typed(site):
    """Not even when no process answers, which nginx would log together with the address that was asked for."""
    assert asked(f"{site.address}/walkthrough?sentence={quote(WORDS)}")[0] == 200
    for process in site.processes.values():
        process.kill()
        process.wait()
    assert asked(f"{site.address}/walkthrough?sentence=secret")[0] == 502
    assert site.answering("/walkthrough", 2)
    logged = site.log.read_text("utf-8") + site.log.with_name("error.log").read_text("utf-8")
    assert "secret" not in logged
    assert "Eulen" not in logged
