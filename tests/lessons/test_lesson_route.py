"""The route of lessons: a moment for who asks for one, the same for everybody, and a sentence where there is none."""

import gzip
import json

import msgspec
import pytest
from asgi import APP, ask, run
from documents import whole
from starlette.applications import Starlette
from starlette.routing import Mount

from attnviz.app import lesson_routes
from attnviz.contract.lesson import Moment
from attnviz.lessons.lesson import LESSONS, moment

FIRST = "/moment?lesson=who-is-it&moment=1"


def test_a_moment_is_as_it_is_declared_and_a_browser_that_has_it_is_told_so():
    answer = ask(APP, FIRST)
    found = json.loads(answer.text)
    msgspec.convert(found | {"document": whole(found["document"])}, Moment, str_keys=True)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert "no-cache" in answer.headers["cache-control"], "after an update the browser asks for the new one"
    again = ask(APP, FIRST, **{"if-none-match": answer.headers["etag"]})
    assert (again.status, again.text) == (304, "")
    other = ask(APP, FIRST.replace("moment=1", "moment=2"), **{"if-none-match": answer.headers["etag"]})
    assert other.status == 200


def test_it_is_compressed_for_who_can_read_that():
    bodies = []

    async def asked():
        sent = []

        async def send(message):
            sent.append(message)

        headers = [(b"host", b"127.0.0.1"), (b"accept-encoding", b"gzip, br")]
        path, _, query = FIRST.partition("?")
        scope = {"type": "http", "method": "GET", "path": path, "root_path": "", "headers": headers}
        await APP(scope | {"query_string": query.encode()}, None, send)
        bodies.append(b"".join(each["body"] for each in sent[1:]))
        return dict(sent[0]["headers"])

    assert run(asked())[b"content-encoding"] == b"gzip"
    assert gzip.decompress(bodies[0]) == moment("who-is-it", 1)
    assert len(bodies[0]) < 60_000


@pytest.mark.parametrize("base", ["", "/course", "/a/b"])
def test_it_is_found_wherever_the_app_is_mounted(base):
    mounted = Starlette(routes=[Mount(base, app=APP)]) if base else APP
    assert ask(mounted, base + FIRST).status == 200


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "no such lesson"),
        ("lesson=unicorn&moment=1", "no such lesson"),
        ("lesson=who-is-it", "no such moment"),
        ("lesson=who-is-it&moment=0", "no such moment"),
        ("lesson=who-is-it&moment=99", "no such moment"),
        ("lesson=who-is-it&moment=1.0", "no such moment"),
        ("lesson=who-is-it&moment=%D9%A1", "no such moment"),
        ("lesson=../../pyproject&moment=1", "no such lesson"),
        (f"lesson={'x' * 10_000}&moment=1", "no such lesson"),
    ],
)
def test_where_there_is_none_one_sentence_says_what_there_is(query, said):
    answer = ask(APP, f"/moment?{query}")
    assert answer.status == 404
    assert said in answer.text
    assert "who-is-it" in answer.text
    assert len(answer.text) < 300, "what was asked for isn't repeated"


def test_nothing_can_be_sent_to_it():
    assert ask(APP, FIRST, "POST", body=b"{}").status == 405


def test_a_class_costs_one_pass(monkeypatch):
    made = []
    monkeypatch.setattr(lesson_routes, "moment", lambda *of: made.append(of) or moment(*of))
    lesson_routes._compressed_moment.cache_clear()
    assert len({ask(APP, "/moment?lesson=order&moment=1").text for _ in range(5)}) == 1
    assert made == [("order", 1)]
    assert set(LESSONS) >= {"order"}
