"""Streamlit's static files as browsers get them, against the folder on the disk; no server is started."""

import asyncio
import gzip

import pytest
from asgi import asked, in_loop, run
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route, Router
from streamlit.web.server.starlette.starlette_static_routes import create_streamlit_static_handler

from attnviz.app import scripts, static_files, streamlit_private
from attnviz.app.static_files import CompressedStatic
from attnviz.classroom.http import accepts_gzip
from attnviz.viewer.script import Script

HOME = streamlit_private.static_folder()
FILES = sorted(path for path in (HOME / "static").rglob("*") if path.is_file())
TEXT = min((path for path in FILES if path.suffix == ".js"), key=lambda path: path.stat().st_size)
FONT = next(path for path in FILES if path.suffix == ".woff2")
STREAMLITS = create_streamlit_static_handler(str(HOME), "")
GZIP = {"accept-encoding": "gzip, deflate, br"}
OLD_PASS = f"/viewer/pass-{'0' * 16}.js"
KEPT = ("content-type", "cache-control", "last-modified")


async def silent():
    """A client that sends its request, and nothing more."""
    yield {"type": "http.request", "body": b""}
    await asyncio.Event().wait()


def asked_of(app, path, method="GET", root_path="", **headers):
    return asked(app, path, method, root_path=root_path, messages=silent(), **headers)


def ask(*app_and_path, **headers):
    return run(asked_of(*app_and_path, **headers))


def path_of(file, base=""):
    return f"{base}/{file.relative_to(HOME).as_posix()}"


@pytest.fixture
def static():
    """The middleware before Streamlit's own handler."""
    return CompressedStatic(STREAMLITS)


@in_loop
async def test_what_was_compressed_is_the_file():
    static, page = CompressedStatic(STREAMLITS), (HOME / "index.html").read_text("utf-8")
    texts = [path for path in FILES if path.name in page and path.suffix in (".js", ".css")]
    assert len(texts) > 50
    for file in texts:
        answer = await asked_of(static, path_of(file), **GZIP)
        assert gzip.decompress(answer.body) == file.read_bytes()
        assert answer.headers["content-encoding"] == "gzip"
        assert int(answer.headers["content-length"]) == len(answer.body)
        plain = await asked_of(STREAMLITS, path_of(file))
        assert {name: answer.headers[name] for name in KEPT} == {name: plain.headers[name] for name in KEPT}
        assert "max-age=31536000" in answer.headers["cache-control"]


@pytest.mark.parametrize(
    ("file", "headers", "varies"),
    [
        (TEXT, {}, True),
        (TEXT, {"accept-encoding": "br, gzip;q=0"}, True),
        (TEXT, GZIP | {"range": "bytes=2-5"}, True),
        (FONT, GZIP, False),
        (HOME / "favicon.png", GZIP, False),
        (HOME / "index.html", GZIP, False),
        (HOME / "static/js/missing.js", GZIP, False),
    ],
)
def test_all_others_are_as_streamlit_sends_them(static, file, headers, varies):
    answer, plain = (ask(app, path_of(file), **headers) for app in (static, STREAMLITS))
    assert (answer.status, answer.body) == (plain.status, plain.body)
    assert dict(answer.headers) == dict(plain.headers) | ({"vary": "Accept-Encoding"} if varies else {})


def test_a_browser_that_has_the_file_is_told_so_and_caches_keep_both_apart(static):
    first, plain = ask(static, path_of(TEXT), **GZIP), ask(static, path_of(TEXT))
    etag, date = first.headers["etag"], first.headers["last-modified"]
    assert etag != plain.headers["etag"]
    assert first.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
    for known, status in {
        etag: 304,
        f"W/{etag}": 304,
        f'"other", {etag}': 304,
        "*": 304,
        '"other"': 200,
        plain.headers["etag"]: 200,
    }.items():
        answer = ask(static, path_of(TEXT), **GZIP, **{"if-none-match": known, "if-modified-since": date})
        assert (answer.status, answer.body) == (status, first.body if status == 200 else b""), known
        assert answer.headers["etag"] == etag
    for since, status in ((date, 304), ("Thu, 01 Jan 1970 00:00:00 GMT", 200)):
        assert ask(static, path_of(TEXT), **GZIP, **{"if-modified-since": since}).status == status


def test_head_has_the_headers_alone(static):
    head, answer = (ask(static, path_of(TEXT), method, **GZIP) for method in ("HEAD", "GET"))
    assert (head.body, dict(head.headers)) == (b"", dict(answer.headers))


@pytest.mark.parametrize(("mounted", "base"), [("", ""), ("/course", ""), ("", "a/course"), ("/a", "course")])
def test_files_are_compressed_under_any_mount_path(mounted, base, monkeypatch):
    where = mounted + (base and f"/{base}")
    monkeypatch.setattr("streamlit.get_option", lambda _: base)
    streamlits = Router([Mount(f"/{base}", app=create_streamlit_static_handler(str(HOME), base))])
    static = CompressedStatic(streamlits)
    others = {path_of(TEXT, each) for each in (f"{where}/x", f"{where}x", where[1:], mounted) if each != where}
    for _ in range(2):  # before and after the file is in the cache
        for path in others:
            answer, plain = (ask(app, path, root_path=mounted, **GZIP) for app in (static, streamlits))
            assert (answer.status, answer.body) == (plain.status, plain.body)
            assert "gzip" not in answer.headers.values()
        answer = ask(static, path_of(TEXT, where), root_path=mounted, **GZIP)
        assert gzip.decompress(answer.body) == TEXT.read_bytes()


@pytest.mark.parametrize("is_deleted", [True, False])
def test_a_file_that_is_deleted_or_refused_is_left_to_streamlit(is_deleted, tmp_path, monkeypatch):
    file = tmp_path / "static/a.js"
    file.parent.mkdir()
    file.write_text("1", "utf-8")
    (tmp_path / "index.html").write_text("a page", "utf-8")
    monkeypatch.setattr(streamlit_private, "static_folder", lambda: tmp_path)
    app = create_streamlit_static_handler(str(tmp_path), "") if is_deleted else PlainTextResponse("no", 404)
    static = CompressedStatic(app)
    if is_deleted:
        file.unlink()
    answer, plain = (ask(each, "/static/a.js", **GZIP) for each in (static, app))
    assert (answer.status, answer.body) == (plain.status, plain.body)
    assert "content-encoding" not in answer.headers


@pytest.mark.parametrize("path", ["/static/../index.html", "/static/js/..%2f..%2findex.html", "//static/js", "/static"])
def test_no_other_path_is_looked_up(path):
    passed = []

    async def app(scope, receive, send):
        passed.append(scope["path"])
        await send({"type": "http.response.start", "status": 404, "headers": []})

    ask(CompressedStatic(app), path, **GZIP)
    assert passed == [path]


@in_loop
async def test_of_a_class_that_comes_at_once_a_file_is_compressed_once_and_not_in_the_loop(monkeypatch):
    compressed, real = [], gzip.compress

    def compress(text, **options):
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        compressed.append(text)
        return real(text, **options)

    monkeypatch.setattr(static_files.gzip, "compress", compress)
    static = CompressedStatic(STREAMLITS)
    answers = await asyncio.gather(*(asked_of(static, path_of(TEXT), **GZIP) for _ in range(120)))
    assert compressed == [TEXT.read_bytes()]
    assert {gzip.decompress(each.body) for each in answers} == {TEXT.read_bytes()}


@pytest.mark.parametrize("accepted", ["gzip", "gzip;q=0"])
def test_a_script_is_made_and_compressed_outside_the_loop(accepted, monkeypatch):
    old = Script.exporting("pass", "of an old page")

    class NotInLoop:
        def __getattr__(self, name):
            with pytest.raises(RuntimeError):
                asyncio.get_running_loop()
            return getattr(old, name)

    monkeypatch.setattr(scripts, "whole", lambda name: NotInLoop())
    answer = ask(Router([Route(scripts.SCRIPT_PATH, scripts.handle_script)]), OLD_PASS, **{"accept-encoding": accepted})
    assert answer.body == (old.compressed if accepted == "gzip" else old.text)
    assert ("content-encoding" in answer.headers) is (accepted == "gzip")


@pytest.mark.parametrize(
    ("header", "accepts"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("*", True),
        ("", False),
        ("br", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
        ("*;q=0", False),
        ("x-gzip-not", False),
    ],
)
def test_gzip_is_sent_to_those_who_take_it(header, accepts):
    assert accepts_gzip(header) is accepts
