"""Written: the pages of the site that need no script: its index, and how to start the app."""

from __future__ import annotations

import html
from collections.abc import Sequence

from attnviz.articles.evidence import TITLE
from attnviz.lessons.lesson import LESSONS
from attnviz.lessons.talk import Talk
from attnviz.models import MODELS
from attnviz.viewer.site import article
from attnviz.viewer.site.lessons import lesson_page_name, talk_page_name
from attnviz.viewer.site.page import INDEX, OWN, Page, Way, link, written_page
from attnviz.viewer.site.passes import NAMES, model_page_name, name_page_name

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
