"""Streamlit's page as browsers get it, against Streamlit's own and the lessons' data; no server is started."""

import gzip
import html
import json
import re

import pytest
from asgi import APP, ask
from starlette.responses import Response

from attnviz.app import index_page, streamlit_private
from attnviz.app.index_page import FIRST_MOMENT_SCRIPT, STYLE, IndexPage, first_moment, with_our_parts
from attnviz.app.middleware import policy
from attnviz.lessons.lesson import LESSONS, moment
from attnviz.viewer.bundle import hash_source
from attnviz.viewer.script import SCRIPTS

INDEX = (streamlit_private.static_folder() / "index.html").read_text("utf-8")
OWN = {"ETag": '"1"', "Cache-Control": "no-cache", "Accept-Ranges": "bytes"}
FONT = "./static/media/a.woff2"
HTML = {"accept": "text/html,*/*"}


async def streamlits(scope, receive, send):
    """Streamlit's page under any path."""
    names = {name for name, _ in scope["headers"]}
    assert not names & {b"accept-encoding", b"range", b"if-range", b"if-none-match"}, "a part can't be added to"
    await Response(INDEX, media_type="text/html", headers=OWN)(scope, receive, send)


@pytest.mark.parametrize("part", ["INDEX_TITLE", "INDEX_STYLESHEET", "INDEX_FONT"])
def test_streamlits_page_still_has_what_is_changed_in_it(part):
    assert len(getattr(streamlit_private, part).findall(INDEX)) == 1


def test_streamlit_still_has_the_scripts_that_it_fetches_late():
    late = streamlit_private.late_scripts()
    for name in ("BidiComponent", "Html"):
        assert sum(path.startswith(f"static/js/{name}.") for path in late) == 1
    for path in late:
        assert (streamlit_private.static_folder() / path).is_file()
        assert path not in INDEX


def test_a_missing_script_is_not_fetched_and_the_app_starts_without_it(tmp_path, monkeypatch):
    (tmp_path / "static/js").mkdir(parents=True)
    (tmp_path / "index.html").write_text("", "utf-8")
    (tmp_path / "static/js/Html.1.js").write_text('import"./there.js";import"./gone.js";', "utf-8")
    (tmp_path / "static/js/there.js").write_text("", "utf-8")
    monkeypatch.setattr(streamlit_private, "static_folder", lambda: tmp_path)
    assert streamlit_private.late_scripts() == ["static/js/Html.1.js", "static/js/there.js"]


@pytest.mark.parametrize(("media_type", "accept"), [("text/html", "*/*"), ("application/json", "text/html")])
def test_only_a_page_that_a_browser_opens_is_changed(media_type, accept):
    answer = ask(IndexPage(Response("<title>é</title></body>", media_type=media_type)), "/", accept=accept)
    assert answer.text == "<title>é</title></body>"


@pytest.mark.parametrize("path", ["/room/home", "/static/js/missing.js", "/course", "/courses", "/course/room/home"])
def test_html_at_other_addresses_than_a_page_s_is_left_as_it_is(path, monkeypatch):
    page = Response(gzip.compress(INDEX.encode()), media_type="text/html", headers={"Content-Encoding": "gzip"})
    monkeypatch.setattr("streamlit.get_option", lambda _: "course" if "course" in path else "")
    answer = ask(IndexPage(page), path, **HTML, **{"accept-encoding": "gzip"})
    assert (answer.body, answer.headers) == (page.body, page.headers)


def test_a_part_of_the_page_is_never_sent():
    parts = {"range": "bytes=0-3", "if-range": '"1"', "if-none-match": '"1"'}
    whole, answer = (ask(IndexPage(streamlits), "/", **HTML, **more) for more in ({}, parts))
    assert (answer.status, answer.body) == (200, whole.body)
    assert "accept-ranges" not in answer.headers


@pytest.mark.parametrize("path", ["/", "/walkthrough"])
def test_the_page_has_our_styles_and_what_streamlit_would_fetch_late(path):
    answer = ask(IndexPage(streamlits), path, **HTML)
    assert int(answer.headers["content-length"]) == len(answer.body)
    assert (answer.headers["cache-control"], "etag" in answer.headers) == ("no-cache", False)
    page = answer.text
    assert page.index(SCRIPTS["connection"].path) < page.index("/static/js/index."), "it runs before Streamlit's"
    assert page.index('rel="stylesheet"') < page.index(f"<style>{STYLE}</style>"), "ours are after Streamlit's"
    late = {*streamlit_private.late_scripts(), SCRIPTS["arrival"].path[1:]}
    assert late < set(re.findall(r'<link rel="modulepreload" crossorigin href="\./([^"]+)">', page))
    assert (SCRIPTS["component"].path in page) is (path == "/")
    for script in re.findall(r'src="\.(/viewer/[^"]+)"', page):
        assert ask(APP, script).status == 200


def test_the_page_comes_compressed():
    plain, answer = (ask(IndexPage(streamlits), "/", **HTML, **more) for more in ({}, {"accept-encoding": "gzip"}))
    assert gzip.decompress(answer.body) == plain.body
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
    assert int(answer.headers["content-length"]) == len(answer.body) < len(plain.body) / 2


@pytest.mark.parametrize(("mounted", "base"), [("", ""), ("/course", ""), ("", "a/course"), ("/a", "course")])
def test_the_first_moment_is_on_the_first_page_alone(mounted, base, monkeypatch):
    monkeypatch.setattr("streamlit.get_option", lambda _: base)
    where = mounted + (base and f"/{base}")
    shows = {"/": True, "/?lesson=masks&moment=2": False, "/?present=1": False, "/audit": False}
    for path, is_first in shows.items():
        page = ask(IndexPage(streamlits), where + path, root_path=mounted, **HTML).text
        assert ('class="first-moment"' in page) is is_first, path
        assert "<title>attnviz</title>" in page


def said(runs):
    return "".join(text["text"] if isinstance(text, dict) else text for _, text in runs)


def test_the_first_moment_is_the_lessons_own():
    data = json.loads(moment(next(iter(LESSONS)), 1))
    texts = [
        html.unescape(re.sub("<[^>]+>", "", each))
        for each in re.findall(r"<(?:h2|p).*?</(?:h2|p)>", first_moment(FONT))
    ]
    question = said(data["question"]["prompt"])
    assert texts[1:4] == [data["title"], said(data["why"]), f"{said(data['text'])} {question}"]
    assert data["saysWordsAlone"], "the first screen says text and question in a line"


def test_what_a_lesson_says_is_escaped(monkeypatch):
    text = "<b>$title</b> $font FONT & 'so' \"on\""
    runs = [["", text]]
    made = json.dumps({"title": text, "why": runs, "text": runs, "question": {"prompt": runs}})
    monkeypatch.setattr(index_page, "moment", lambda *_: made)
    monkeypatch.setattr(index_page, "first_moment", first_moment.__wrapped__)
    page = with_our_parts(INDEX, True).partition('<div class="first-moment">')[2].partition("</div>")[0]
    assert page.count(html.escape(text)) == 4
    assert "<b>" not in page


def test_the_first_moments_script_is_allowed():
    [script] = re.findall("<script>(.*?)</script>", first_moment(FONT), re.DOTALL)
    assert script == FIRST_MOMENT_SCRIPT
    assert hash_source(script) in policy()


def test_a_page_without_these_parts_is_only_added_to():
    page = with_our_parts("<html><body><p>é</p></body></html>", True)
    assert page.startswith("<html><body><p>é</p><style>")
    assert page.endswith("</body></html>")
