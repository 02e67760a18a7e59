"""Edition: all files of the site, and the folder that they are written into."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from attnviz.articles.evidence import TITLE
from attnviz.contract.lesson import LessonEntry, LessonsPage, Moment
from attnviz.lessons.export import ENDINGS, exported
from attnviz.lessons.lesson import LESSONS, contents, moments_of
from attnviz.lessons.talk import Talk, talk_moment
from attnviz.models import MODELS
from attnviz.scene.document.encoding import Json, to_json
from attnviz.viewer.bundle import bundle, module
from attnviz.viewer.pool import Data, pooled
from attnviz.viewer.shell import THEME
from attnviz.viewer.site import article
from attnviz.viewer.site.article import article_pages
from attnviz.viewer.site.page import INDEX, OWN, SCRIPT, STYLES, Page, Way, drawn_page, link, single_file, written_page
from attnviz.viewer.site.passes import NAMES, model_page_name, model_pages, name_page_name, name_pages
from attnviz.viewer.styles import STYLES as ROOMS
from attnviz.viewer.styles import joined

MOST_NUMBERS = 3_000
"""Of an array of parameters that a lesson's page holds. Larger ones, no moment shows; four of them would take more than
a page has room for (150 kB)."""

_CHARACTERS = 8 * 4 / 3  # of a number: float64 as base64

_TALK = "a-talk"
"""The lesson that a talk is on its page: `talk` is the one that a browser keeps."""


def lesson_page_name(lesson: str) -> str:
    """The file of a lesson."""
    return f"lesson-{lesson}.html"


def talk_page_name(talk: Talk) -> str:
    """The file of a talk, by its title."""
    return f"talk-{'-'.join(re.findall(r'[a-z0-9]+', talk.title.lower()))[:60]}".rstrip("-") + ".html"


def lesson_pages() -> Iterator[Page]:
    """The pages of all lessons, and their questions."""
    pages = {each: lesson_page_name(each) for each in LESSONS}
    for name, lesson in LESSONS.items():
        yield from _pages(name, lesson.title, moments_of(name), Json(contents()), pages)


def talk_pages(talk: Talk) -> Iterator[Page]:
    """The page of a talk, and its questions.

    Raises
    ------
    TalkError
        If a moment doesn't fit its pass.
    """
    name, title = talk_page_name(talk), talk.title or "A talk"
    moments = [talk_moment(each, talk.uploads) for each in talk.moment]
    planned = [each.minutes for each in talk.moment]
    minutes = max(round(sum(planned)), 1)
    entry = LessonEntry(
        id=_TALK, name=title, says="", minutes=minutes, n_moments=len(moments), planned=planned if any(planned) else []
    )
    course = LessonsPage(lessons=[entry], own_sentence=json.loads(contents())["ownSentence"])
    yield from _pages(_TALK, title, moments, Json(to_json(course)), {_TALK: name})


def _pages(name: str, title: str, moments: Sequence[Moment], course: Json, pages: dict[str, str]) -> Iterator[Page]:
    questions = {form: exported(form, title, moments) for form in ENDINGS}
    sent = [json.loads(to_json(each)) for each in moments]
    given = {
        "lesson": name,
        "course": course,
        "lightened": [number for number, each in enumerate(sent, 1) if _lightened(each)],
        "moments": pooled(sent),
        "questions": questions,
        "pages": pages,
        "own": OWN,
        "walkthrough": model_page_name("who-is-it"),
    }
    yield drawn_page(pages[name], "lesson", title, given)
    for form, text in questions.items():
        yield Page(f"{pages[name].removesuffix('.html')}.{ENDINGS[form]}", text)


def _lightened(moment: Data) -> bool:
    """Take the largest arrays of parameters out of a moment, as they don't compress and would double a page.

    Returns whether any number is missing then: of a large pass the moment itself has some of its heads (None stands for
    the others). Its page says so to who looks around there.
    """
    document, is_lighter = moment["document"], False
    for each in (document, *([document["other"]["document"]] if document["other"] else [])):
        parameters = (each["parameters"]["parts"] or {"stages": {}})["stages"]
        for stage in parameters.values():
            if sum(len(chunk or "") for chunk in stage["values"]) > MOST_NUMBERS * _CHARACTERS:
                stage["values"] = [None for _ in stage["values"]]
        is_lighter |= any(None in stage.get("values", ()) for stage in (*parameters.values(), *each["stages"].values()))
    return is_lighter


_REPOSITORY = "In a folder with attnviz, with Python 3.11 or newer:"
_START = "python3 -m venv .venv\n.venv/bin/pip install -r requirements.txt\n.venv/bin/streamlit run app.py"
_INSTALLED = "Where attnviz is installed with its app, one word starts it:"


def index_page(talks: Sequence[Talk] = ()) -> Page:
    """All pages, with what each is about."""
    entries = [(Way(talk_page_name(each), each.title or "A talk"), f"{len(each.moment)} moments.") for each in talks]
    lessons = [
        (Way(lesson_page_name(name), each.title), f"{each.says} {_minutes(each.minutes)}.")
        for name, each in LESSONS.items()
    ]
    models = [(Way(model_page_name(name), each.title), each.summary) for name, each in MODELS.items()]
    main = "\n".join(
        (
            _said(
                "Transformer attention, number by number, in models small enough to be seen whole. Every number is "
                "real and can be taken apart. These pages need no server and no network; what you answer stays in "
                "this browser."
            ),
            *(_section("Talks", "", _listed(entries)) if entries else ()),
            *_section("Lessons", f"{len(lessons)} paths that ask before they show.", _listed(lessons, "ol")),
            *_section("Models", "The first pass of each, from its words to its answer.", _listed(models)),
            *_section(
                "microgpt reads names",
                f"{len(NAMES)} names that it was not trained on: what comes next?",
                f'<p class="names">{" ".join(link(Way(name_page_name(each), each)) for each in NAMES)}</p>',
            ),
            *_section("An article", "", _listed([(Way(article.NAME, TITLE), "Three measurements, with numbers.")])),
            *_section("Your own sentence", "", _said(f"{link(Way(OWN, 'How to start the app'))}, which reads it.")),
        )
    )
    return written_page(INDEX, "attnviz", main)


def own_page() -> Page:
    """How to start the app."""
    main = "\n".join(
        (
            _said(
                "These pages hold passes that were computed before. Another sentence, another model, a number set by "
                "hand: for that the app itself computes, on your own machine."
            ),
            _said(_REPOSITORY),
            f"<pre><code>{html.escape(_START)}</code></pre>",
            _said(_INSTALLED),
            "<pre><code>attnviz</code></pre>",
            _said("Either prints an address. Open it in this browser: nothing that you type leaves your machine."),
        )
    )
    return written_page(OWN, "Your own sentence", main)


def _section(title: str, text: str, made: str) -> tuple[str, ...]:
    return (f"<h2>{html.escape(title)}</h2>", *([_said(html.escape(text))] if text else []), made)


def _listed(ways: list[tuple[Way, str]], tag: str = "ul") -> str:
    lines = (f"<li>{link(way)}<p>{html.escape(text)}</p></li>" for way, text in ways)
    return f"<{tag}>{''.join(lines)}</{tag}>"


def _said(text: str) -> str:
    """A paragraph, of HTML."""
    return f"<p>{text}</p>"


def _minutes(minutes: int) -> str:
    return f"About {minutes} {'minute' if minutes == 1 else 'minutes'}"


_OF_ARTICLES = ("formula", "article")
_OF_THE_APP = {"article", "settings", "views"}
_SITE = Path(__file__).with_name("site.css")


def files(talks: Sequence[Talk] = ()) -> Iterator[Page]:
    """All files, the talks and then the pages that are quickest made first.

    Raises
    ------
    TalkError
        If a moment of a talk doesn't fit its pass.
    """
    for each in talks:
        yield from talk_pages(each)
    yield Page(SCRIPT, _script())
    yield Page(STYLES[""], _styles())
    yield Page(STYLES["article"], joined(_OF_ARTICLES))
    yield Page(STYLES["pass"], _styles_of_pass())
    yield from (index_page(talks), own_page())
    for pages in (model_pages, name_pages, article_pages, lesson_pages):
        yield from pages()


def talk_file(talk: Talk) -> str:
    """A talk as one HTML file, with all its moments, questions and answers, and each of their passes a single time.

    Raises
    ------
    TalkError
        If a moment doesn't fit its pass.
    """
    return single_file(next(talk_pages(talk)), _script(), _styles() + _styles_of_pass())


def _script() -> str:
    return f'"use strict";\n{bundle(module("site"))}'


def _styles() -> str:
    return THEME.read_text("utf-8") + _SITE.read_text("utf-8")


def _styles_of_pass() -> str:
    return joined(each for each in ROOMS if each not in _OF_THE_APP)


def write(folder: Path, talks: Sequence[Talk] = ()) -> Iterator[tuple[str, int]]:
    """Write all files into a folder, which is made if it isn't there; yields each name, and how many bytes it has.

    Raises
    ------
    OSError
        If the folder can't be made, or something in it can't be written.
    TalkError
        If a moment of a talk doesn't fit its pass.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files(talks):
        yield name, (folder / name).write_bytes(text.encode())
