"""The edition that needs no server: its passes, article, lessons and talks as pages, and the folder they go to."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from attnviz.articles import pieces
from attnviz.articles.evidence import INTRODUCTION, TITLE, article, doors
from attnviz.contract.lesson import LessonEntry, LessonsPage, Moment
from attnviz.explain.wording import counted
from attnviz.lessons.export import ENDINGS, exported, needs_of_lesson, needs_of_talk
from attnviz.lessons.lesson import LESSONS, contents, moments_of
from attnviz.lessons.talk import Talk, talk_moment
from attnviz.models import MODELS
from attnviz.scene.document.document import document_json
from attnviz.scene.document.encoding import Json, to_json
from attnviz.scene.document.pass_cache import PASS_CACHE
from attnviz.scene.scene import Scene, of_model
from attnviz.viewer.bundle import STYLES, THEME, bundle, joined, module
from attnviz.viewer.site.page import (
    INDEX,
    OWN,
    SCRIPT,
    STYLESHEETS,
    Data,
    Page,
    PageLink,
    drawn_page,
    link,
    pooled,
    single_file,
    written_page,
)

NAMES = MODELS["microgpt"].task.names[:20]  # held-out names for microgpt to read
SENTENCES = tuple(text for _, text in MODELS["translator"].examples[1:])  # the first is the model's first pass


def model_page_name(model: str) -> str:
    """The file name of a model's first pass."""
    return f"model-{model}.html"


def name_page_name(name: str) -> str:
    """The file name of a name that microgpt reads."""
    return f"microgpt-{name}.html"


def model_pages() -> Iterator[Page]:
    """The first pass of each model."""
    links = tuple(PageLink(model_page_name(name), model.title) for name, model in MODELS.items())
    for name, model in MODELS.items():
        yield pass_page(model_page_name(name), model.title, of_model(name), links)


def name_pages() -> Iterator[Page]:
    """The passes of names in microgpt."""
    links = tuple(PageLink(name_page_name(name), name) for name in NAMES)
    for name in NAMES:
        scene = Scene(source="microgpt", sentence=name)
        yield pass_page(name_page_name(name), f"microgpt reads “{name}”", scene, links)


def sentence_page_name(sentence: str) -> str:
    """The file name of a sentence that the translator reads."""
    return f"translator-{sentence.replace(' ', '-')}.html"


def sentence_pages() -> Iterator[Page]:
    """The passes of sentences in the translator."""
    links = tuple(PageLink(sentence_page_name(each), each) for each in SENTENCES)
    for each in SENTENCES:
        scene = Scene(source="translator", sentence=each)
        yield pass_page(sentence_page_name(each), f"“{each}” in French", scene, links)


def pass_page(name: str, heading: str, scene: Scene, links: tuple[PageLink, ...] = ()) -> Page:
    """The page of a scene's pass, with links to similar pages."""
    resolved = PASS_CACHE.resolved(scene)
    return drawn_page(name, "pass", heading, {"pass": Json(document_json(resolved))}, links)


ARTICLE = "what-attention-doesnt-say.html"


def article_pages() -> Iterator[Page]:
    """The article on what attention doesn't say, and a page for each of its doors."""
    files = {name: f"{name}.html" for name in doors()}
    yield drawn_page(ARTICLE, "article", TITLE, {"pieces": [pieces.text(INTRODUCTION), *article()], "doors": files})
    for name, (label, door) in doors().items():
        yield pass_page(files[name], label, replace(Scene(), **door), (PageLink(ARTICLE, TITLE),))


MOST_NUMBERS = 3_000  # the most numbers of a parameter on a lesson's page: four larger ones would exceed 150 kB
_CHARACTERS = 8 * 4 / 3  # per number: float64 as base64
_TALK = "a-talk"  # the lesson id of a talk on its page: `talk` is the one stored in the browser


def lesson_page_name(lesson: str) -> str:
    """The file name of a lesson."""
    return f"lesson-{lesson}.html"


def talk_page_name(talk: Talk) -> str:
    """The file name of a talk, from its title."""
    return f"talk-{'-'.join(re.findall(r'[a-z0-9]+', talk.title.lower()))[:60]}".rstrip("-") + ".html"


def lesson_pages() -> Iterator[Page]:
    """The pages of all lessons, and their questions."""
    pages = {each: lesson_page_name(each) for each in LESSONS}
    for name, lesson in LESSONS.items():
        moments = moments_of(name)
        questions = {form: exported(form, lesson.title, moments, needs_of_lesson(lesson)) for form in ENDINGS}
        yield from _pages(name, lesson.title, moments, questions, Json(contents()), pages)


def talk_pages(talk: Talk) -> Iterator[Page]:
    """The page of a talk, and its questions; raises TalkError if a moment doesn't fit its pass."""
    name, title = talk_page_name(talk), talk.title or "A talk"
    for_all = [structs.replace(each, notes="") for each in talk.moment]  # whoever has the page may read it
    moments = [talk_moment(each, talk.uploads, talk.images) for each in for_all]
    planned = [each.minutes for each in talk.moment]
    minutes = round(sum(planned))
    entry = LessonEntry(
        id=_TALK, name=title, says="", minutes=minutes, n_moments=len(moments), planned=planned if any(planned) else []
    )
    course = LessonsPage(lessons=[entry], own_sentence=json.loads(contents())["ownSentence"])
    questions = {form: exported(form, title, moments, needs_of_talk(talk)) for form in ENDINGS}
    yield from _pages(_TALK, title, moments, questions, Json(to_json(course)), {_TALK: name})


def _pages(
    name: str, title: str, moments: Sequence[Moment], questions: dict[str, str], course: Json, pages: dict[str, str]
) -> Iterator[Page]:
    sent = [json.loads(to_json(each)) for each in moments]
    data = {
        "lesson": name,
        "course": course,
        "lightened": [number for number, each in enumerate(sent, 1) if _lightened(each)],
        "moments": pooled(sent),
        "questions": questions,
        "pages": pages,
        "own": OWN,
        "microgpt": model_page_name("microgpt"),
        "walkthrough": model_page_name("who-is-it"),
    }
    yield drawn_page(pages[name], "lesson", title, data)
    for form, text in questions.items():
        yield Page(f"{pages[name].removesuffix('.html')}.{ENDINGS[form]}", text)


def _lightened(moment: Data) -> bool:
    """Remove the largest arrays of parameters from a moment: they don't compress and would double the page.

    Returns whether any number is missing then (a moment of a large pass also lacks some heads, as None). The page
    tells readers who explore there.
    """
    document, is_lighter = moment["document"], False
    if document is None:  # a slide
        return False
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
    """The index of all pages, each with a summary."""
    entries = [
        (PageLink(talk_page_name(each), each.title or "A talk"), f"{len(each.moment)} moments.") for each in talks
    ]
    lessons = [
        (PageLink(lesson_page_name(name), each.title), f"{each.says} About {counted(each.minutes, 'minute')}.")
        for name, each in LESSONS.items()
    ]
    models = [(PageLink(model_page_name(name), each.title), each.summary) for name, each in MODELS.items()]
    main = "\n".join(
        (
            _paragraph(
                "Transformer attention, number by number, in models small enough to be seen whole. Every number is "
                "real and can be taken apart. These pages need no server and no network; what you answer stays in "
                "this browser."
            ),
            *(_section("Talks", "", _list(entries)) if entries else ()),
            *_section("Lessons", f"{len(lessons)} paths that ask before they show.", _list(lessons, "ol")),
            *_section("Models", "The first pass of each, from its words to its answer.", _list(models)),
            *_section(
                "microgpt reads names",
                f"{len(NAMES)} names that it was not trained on: what comes next?",
                f'<p class="names">{" ".join(link(PageLink(name_page_name(each), each)) for each in NAMES)}</p>',
            ),
            *_section(
                "The translator reads English",
                "Sentences that were translated before; any other needs the app.",
                "".join(_paragraph(link(PageLink(sentence_page_name(each), each))) for each in SENTENCES),
            ),
            *_section("An article", "", _list([(PageLink(ARTICLE, TITLE), "Four measurements, with numbers.")])),
            *_section(
                "Your own sentence", "", _paragraph(f"{link(PageLink(OWN, 'How to start the app'))}, which reads it.")
            ),
        )
    )
    return written_page(INDEX, "attnviz", main)


def own_page() -> Page:
    """How to start the app."""
    main = "\n".join(
        (
            _paragraph(
                "These pages hold passes that were computed before. Another sentence, another model, a number set by "
                "hand: for that the app itself computes, on your own machine."
            ),
            _paragraph(_REPOSITORY),
            f"<pre><code>{html.escape(_START)}</code></pre>",
            _paragraph(_INSTALLED),
            "<pre><code>attnviz</code></pre>",
            _paragraph("Either prints an address. Open it in this browser: nothing that you type leaves your machine."),
        )
    )
    return written_page(OWN, "Your own sentence", main)


def _section(title: str, text: str, made: str) -> tuple[str, ...]:
    return (f"<h2>{html.escape(title)}</h2>", *([_paragraph(html.escape(text))] if text else []), made)


def _list(links: list[tuple[PageLink, str]], tag: str = "ul") -> str:
    lines = (f"<li>{link(page_link)}<p>{html.escape(text)}</p></li>" for page_link, text in links)
    return f"<{tag}>{''.join(lines)}</{tag}>"


def _paragraph(text: str) -> str:
    return f"<p>{text}</p>"


_OF_ARTICLES = ("tokens", "article")
_OF_THE_APP = {"allLayers", "article", "phone", "settings", "views"}
_SITE = Path(__file__).with_name("site.css")


def files(talks: Sequence[Talk] = ()) -> Iterator[Page]:
    """All files: talks first, then the pages that are fastest to make."""
    for each in talks:
        yield from talk_pages(each)
    yield Page(SCRIPT, _script())
    yield Page(STYLESHEETS[""], _styles())
    yield Page(STYLESHEETS["article"], joined(_OF_ARTICLES))
    yield Page(STYLESHEETS["pass"], _styles_of_pass())
    yield from (index_page(talks), own_page())
    for pages in (model_pages, name_pages, sentence_pages, article_pages, lesson_pages):
        yield from pages()


def talk_file(talk: Talk) -> str:
    """A talk as one HTML file, with all its moments, questions and answers."""
    return single_file(next(talk_pages(talk)), _script(), _styles() + _styles_of_pass())


def _script() -> str:
    return f'"use strict";\n{bundle(module("site"))}'


def _styles() -> str:
    return THEME.read_text("utf-8") + _SITE.read_text("utf-8")


def _styles_of_pass() -> str:
    return joined(each for each in STYLES if each not in _OF_THE_APP)


def write(folder: Path, talks: Sequence[Talk] = ()) -> Iterator[tuple[str, int]]:
    """Write all files into a folder, created if needed; yields each name and its size in bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files(talks):
        yield name, (folder / name).write_bytes(text.encode())
