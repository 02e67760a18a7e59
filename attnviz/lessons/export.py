"""Exports: the questions of a lesson or talk as GIFT (for Moodle and others) and as Markdown slides."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from string import ascii_uppercase
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from attnviz.contract.lesson import (
    Choose,
    Fill,
    Gaps,
    GapsCell,
    LessonRuns,
    Moment,
    Near,
    Pick,
    Question,
    Slide,
    Write,
)
from attnviz.lessons.cell_reference import Passes
from attnviz.lessons.given import format_rows, missing_needs, text_of, text_of_runs
from attnviz.lessons.lesson import LESSONS, Lesson, MomentSource, moments_of, passes_at
from attnviz.lessons.needs import Need, needs_on_paper
from attnviz.lessons.talk import Talk, TalkError, talk_moment, talk_passes

Site = Annotated[str, Meta(pattern=r"^(https?://[^\s\"<>]*)?$", max_length=1000)]  # the app's address; or empty


class OnPaper(NamedTuple):
    """A moment, and what its question needs that isn't in its texts."""

    moment: Moment
    given: str = ""  # numbers with their names
    link: str = ""  # the address of the pass, if not all can be written

    @property
    def prompt(self) -> LessonRuns:
        """The prompt of its question, without what needs a screen."""
        return paper_prompt(self.moment.question.prompt) if self.moment.question else []


_FOR_SCREENS = re.compile(r" ?\b(?:Click|Drag|Tap|Press)\b[^.?!]*[.?!]")  # as in handout.js


def paper_prompt(prompt: LessonRuns) -> LessonRuns:
    """A prompt without sentences such as “Click it.”, unless it has no others."""
    kept = [(style, _FOR_SCREENS.sub("", text) if style == "" else text) for style, text in prompt]
    return [run for run in kept if run[1]] if text_of_runs(kept).strip() else prompt


def on_paper(moment: Moment, needs: Sequence[Need], site: str) -> OnPaper:
    """A moment, and the needs that its texts don't give."""
    if moment.question is None:
        return OnPaper(moment)
    unwritten = [each for each in needs if not each.row]
    lacks = missing_needs(unwritten, moment.question, [moment.text], words_of(moment))
    link = f"{site and site.removesuffix('/') + '/'}walkthrough?{moment.at}" if lacks else ""
    return OnPaper(moment, format_rows(moment.given), link)


_HEAD = """// Questions of attnviz, “{title}”: import them into a question bank, as GIFT, in UTF-8.
// Each names the words that its pass reads, and the numbers it needs; the picture of the pass isn't in it.

$CATEGORY: attnviz/{category}
"""
_GIFT_SIGNS = re.compile(r"[\\~=#{}:]")
_TAGS = {"em": "em", "code": "code"} | dict.fromkeys(("strong", "q", "k", "v", "output"), "strong")


def gift(title: str, moments: Sequence[OnPaper]) -> str:
    """The questions of moments with feedback on each answer, as a GIFT file."""
    category = re.sub(r"[/\s]+", " ", title).strip() or "talk"
    questions = (each for number, moment in enumerate(moments, 1) for each in _gift_questions(number, moment))
    return "\n\n".join((_HEAD.format(title=_line(title), category=category), *questions)) + "\n"


def words_of(moment: Moment) -> str:
    """The words that a moment's pass reads, the read text first if there are two; or the words of its slide."""
    if isinstance(moment.picture, Slide):
        return " ".join(filter(None, [moment.picture.text, "; ".join(moment.picture.items)]))
    words = msgspec.json.decode(moment.document)["template"]["parts"]["words"]
    texts = [words["query"]] if words["shared"] else [words["key"], words["query"]]
    named = zip(reversed(words["sides"]) if len(texts) > 1 else [""], texts, strict=True)
    return "; ".join(f"{side}: {' '.join(text)}" if side else " ".join(text) for side, text in named)


def _gift_questions(number: int, paper: OnPaper) -> Iterator[str]:
    moment = paper.moment
    name, question, ending = f"{number} {moment.title}".strip(), moment.question, moment.ending
    about = [[("em", words_of(moment))], moment.text]
    if moment.worked:
        yield _gift_item(name, _paragraphs([*about, *moment.worked, moment.after]))
    if question:
        given = [("", f"Given: {paper.given}.")] if paper.given else []
        text = _paragraphs([*about, given, [*paper.prompt, ("", _unit(question))]]) + _gift_link(paper.link)
        if is_open(question):
            offered = [[("", each.label)] for each in question.candidates] if isinstance(question, Choose) else []
            yield _gift_item(name, text + _paragraphs(offered), "", moment.after)
        elif isinstance(question, Gaps):
            yield from _gift_gaps(name, text, question, moment.after)
        else:
            answers = _gift_numbers(question) if isinstance(question, Fill) else _gift_choices(question)
            yield _gift_item(name, text, "".join(answers), moment.after)
    if ending:
        yield _gift_item(f"{name}: in your own words", _paragraphs([ending.explain]), "", ending.answer)


def is_open(question: Question) -> bool:
    """Whether no answer is right: an opinion, any number, or words."""
    if isinstance(question, Fill):
        return question.right is None
    return isinstance(question, Write) or (isinstance(question, Choose) and not question.right)


def _unit(question: Question) -> str:
    if not isinstance(question, Fill):
        return ""
    return " (In per cent.)" if question.is_share else f" ({question.unit}.)" if question.unit else ""


def _paragraphs(texts: Sequence[LessonRuns]) -> str:
    return "".join(f"<p>{_html(runs)}</p>" for runs in texts if runs)


def _gift_link(link: str) -> str:
    if not link:
        return ""
    address = html.escape(link)
    linked = f'<a href="{address}">{address}</a>' if link.startswith("http") else f"<code>{address}</code>"
    return f"<p>Its pass, in attnviz: {linked}</p>"


def _gift_item(name: str, text: str, answers: str | None = None, after: LessonRuns | None = None) -> str:
    """A question with its answers, of which an essay has none; without answers a description."""
    item = f"::{_escaped(_line(name))}::[html]{_escaped(text)}"
    feedback = f"\n####{_escaped(_html(after))}" if after else ""
    return item if answers is None else f"{item}{{{answers}{feedback}\n}}"


def _gift_gaps(name: str, text: str, question: Gaps, after: LessonRuns) -> Iterator[str]:
    """A question on each gap of a table."""
    lines = [["", *question.words], *([row.name, *map(_shown, row.cells)] for row in question.rows)]
    rows = "".join(
        f"<tr>{''.join(f'<td>{html.escape(each, quote=False)}</td>' for each in line)}</tr>" for line in lines
    )
    for row in question.rows:
        for word, cell in zip(question.words, row.cells, strict=True):
            if cell.gap is None:
                continue
            unit = " (In per cent.)" if text_of_runs(cell.text).endswith("%") else ""
            asked = _paragraphs([[("", f"Which number is missing in the row “{row.name}”, at “{word}”?{unit}")]])
            right = Near(value=cell.gap.value, tolerance=cell.gap.tolerance, feedback=cell.text)
            answers = _gift_answers(right, cell.gap.nears, 1.0)
            made = f"{text}<table>{rows}</table>{asked}"
            yield _gift_item(f"{name}: {row.name}, {word}", made, "".join(answers), after)


def _shown(cell: GapsCell) -> str:
    return "?" if cell.gap else text_of_runs(cell.text)


def _gift_choices(question: Pick | Choose) -> Iterator[str]:
    is_code = isinstance(question, Choose) and question.is_code
    for index, each in enumerate(question.candidates):
        label = _html([["code" if is_code else "", each.label]])
        if label.startswith(("%", "[")):  # characters that begin a weight or a format
            label = f"&#{ord(label[0])};{label[1:]}"
        yield f"\n{'=' if index in question.right else '~'}{_escaped(label)}#{_escaped(_html(each.feedback))}"


def _gift_numbers(question: Fill) -> Iterator[str]:
    """The right number with its tolerance, and known wrong ones with feedback; fractions are asked in per cent."""
    right = Near(value=question.right, tolerance=question.tolerance, feedback=[("", question.text)])
    return _gift_answers(right, question.nears, 100.0 if question.is_share else 1.0)


def _gift_answers(right: Near, nears: Sequence[Near], by: float) -> Iterator[str]:
    yield f"#\n={_tolerant(right.value * by, right.tolerance * by)}#{_escaped(_html(right.feedback))}"
    for near in nears:
        yield f"\n=%0%{_tolerant(near.value * by, near.tolerance * by)}#{_escaped(_html(near.feedback))}"


def _tolerant(number: float, tolerance: float) -> str:
    """A number and its tolerance in full digits, without an exponent."""
    return ":".join(format(Decimal(repr(float(each))), "f") for each in (number, tolerance))


def _html(runs: LessonRuns) -> str:
    return "".join(_html_run(style, text_of(text)) for style, text in runs)


def _html_run(style: str, text: str) -> str:
    if style == "math":
        return html.escape(f"\\({text}\\)", quote=False)
    made = html.escape(text, quote=False).replace("\n", "<br>")
    if style == "code":
        made = made.replace("  ", "&nbsp; ")
    return f"<{_TAGS[style]}>{made}</{_TAGS[style]}>" if style in _TAGS else made


def _line(text: str) -> str:
    return " ".join(text.split())


def _escaped(text: str) -> str:
    return _GIFT_SIGNS.sub(lambda sign: f"\\{sign[0]}", text)


_MARKDOWN_SIGNS = re.compile(r"[\\`*_{}\[\]<>|~$#&]|^[-+=]|(?<=^\d)[.)]")
_MARKS = {"em": "*"} | dict.fromkeys(("strong", "q", "k", "v", "output"), "**")


def slides(title: str, moments: Sequence[OnPaper]) -> str:
    """The questions of moments as slides in Markdown."""
    made = [f"# {_plain(title)}"]
    for number, each in enumerate(moments, 1):
        made += _slides_of(f"## {number}. {_plain(each.moment.title)}".rstrip(". "), each)
    return "\n\n---\n\n".join(made) + "\n"


def _slides_of(heading: str, paper: OnPaper) -> Iterator[str]:
    moment = paper.moment
    if isinstance(moment.picture, Slide):
        items = "\n".join(f"- {_plain(each)}" for each in moment.picture.items)
        image = f"![{_plain(moment.picture.alt)}]({moment.picture.image})" if moment.picture.image else ""
        yield "\n\n".join((heading, *filter(None, [_plain(moment.picture.text), items, image])))
    if moment.worked:
        lines = "\n".join(f"- {_markdown(line)}" for line in moment.worked)
        yield "\n\n".join((heading, *filter(None, [_markdown(moment.text), lines, _markdown(moment.after)])))
    if question := moment.question:
        labels = _labels(question) if isinstance(question, Pick | Choose) else {}
        prompt = _markdown([(style if style in ("code", "math") else "", text) for style, text in paper.prompt])
        given = f"Given: {_plain(paper.given)}" if paper.given else ""
        about = "" if isinstance(moment.picture, Slide) else f"*{_plain(words_of(moment))}*"
        parts = [_markdown(moment.text), about, given, f"**{prompt.strip()}**"]
        parts.append("\n".join(f"- {letter}: {label}" for letter, label in labels.items()))
        parts += [_table(question, "?")] if isinstance(question, Gaps) else []
        parts += [f"<{paper.link}>"] if paper.link else []
        yield "\n\n".join((heading, *filter(None, parts)))
        if is_open(question):
            right = "No answer is right or wrong."
        elif isinstance(question, Gaps):
            right = _table(question)
        elif isinstance(question, Fill):
            right = f"**{_plain(question.text)}** {_plain(question.unit)}".strip()
        else:
            named = list(labels.items())
            right = "\n\n".join("**{}**: {}".format(*named[index]) for index in question.right)
        yield "\n\n".join((heading, right, *filter(None, [_markdown(moment.after)])))
    if moment.ending:
        yield "\n\n".join(("## In your own words", _markdown(moment.ending.explain)))
        yield "\n\n".join(("## In your own words", _markdown(moment.ending.answer)))


def _table(question: Gaps, gap: str = "") -> str:
    """A table with its gaps as `gap`; filled without one, in bold."""
    lines = [["", *map(_plain, question.words)], ["---"] * (1 + len(question.words))]
    for row in question.rows:
        cells = ((cell, _plain(text_of_runs(cell.text))) for cell in row.cells)
        numbers = [(gap or f"**{text}**") if cell.gap else text for cell, text in cells]
        lines.append([_plain(row.name), *numbers])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _labels(question: Pick | Choose) -> dict[str, str]:
    """The answers by the letters to vote for; two letters after Z, numbers after 52 answers."""
    is_code = isinstance(question, Choose) and question.is_code
    labels = [_code(each.label) if is_code else _plain(each.label) for each in question.candidates]
    letters = [*ascii_uppercase, *(f"A{letter}" for letter in ascii_uppercase)]
    return dict(zip(letters if len(labels) <= len(letters) else map(str, range(len(labels))), labels, strict=False))


def _markdown(runs: LessonRuns) -> str:
    return "".join(_run(style, text_of(text)) for style, text in runs)


def _run(style: str, text: str) -> str:
    if style == "math":
        return f"${text}$"
    mark = _MARKS.get(style, "")
    return _code(text) if style == "code" else f"{mark}{_plain(text)}{mark}"


def _code(text: str) -> str:
    """Inline code, between more backticks than it contains."""
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{_line(text)}{space}{fence}"


def _plain(text: str) -> str:
    return _MARKDOWN_SIGNS.sub(lambda sign: f"\\{sign[0]}", text.replace("\n", " "))


_WRITERS = {"gift": gift, "slides": slides}
Form = Literal[tuple(_WRITERS)]  # GIFT, or slides in Markdown
ENDINGS = {"gift": "gift.txt", "slides": "md"}  # the extension of a file in each form


def exported(form: Form, title: str, moments: Sequence[Moment], needs: Sequence[Sequence[Need]], site: str = "") -> str:
    """The questions of moments, with what they need."""
    papers = [on_paper(moment, needed, site) for moment, needed in zip(moments, needs, strict=True)]
    return _WRITERS[form](title, papers)


def needs_of(source: MomentSource, passes: Passes) -> list[Need]:
    """What the question of a moment needs."""
    return needs_on_paper(source.ask.needs, passes) if source.ask else []


def needs_of_lesson(lesson: Lesson) -> list[list[Need]]:
    """What each question of a lesson needs."""
    return [needs_of(each, passes_at(each.at)) for each in lesson.moment]


def needs_of_talk(talk: Talk) -> list[list[Need]]:
    """What each question of a talk needs."""
    return [
        [] if each.slide else needs_of(each, talk_passes(each.at, each.uploads, talk.uploads)) for each in talk.moment
    ]


def of_lesson(form: Form, lesson: str, site: str = "") -> str:
    """The questions of the lesson with this id."""
    if lesson not in LESSONS:
        raise TalkError(f"There is no such lesson. The lessons are {', '.join(LESSONS)}.")
    own = LESSONS[lesson]
    return exported(form, own.title, moments_of(lesson), needs_of_lesson(own), site)


def of_talk(form: Form, talk: Talk, site: str = "") -> str:
    """The questions of a talk."""
    moments = [talk_moment(each, talk.uploads, talk.images) for each in talk.moment]
    return exported(form, talk.title or "A talk", moments, needs_of_talk(talk), site)
