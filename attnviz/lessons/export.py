"""Exports: the questions of a lesson or talk as GIFT (for Moodle and others) and as Markdown slides."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from string import ascii_uppercase
from typing import Literal

import msgspec

from attnviz.contract.lesson import Choose, Fill, LessonRuns, Moment, NumberLink, Pick
from attnviz.lessons.lesson import LESSONS, moments_of
from attnviz.lessons.talk import Talk, TalkError, talk_moment

_GIFT_SIGNS = re.compile(r"[\\~=#{}:]")
_FIRST = re.compile(r"^[%\[]")
"""Characters that open a weight or a format in GIFT; no answer may begin with one."""
_TAGS = {
    "strong": "strong",
    "em": "em",
    "code": "code",
    "q": "strong",
    "k": "strong",
    "v": "strong",
    "output": "strong",
}
_HEAD = """// Questions of attnviz, “{title}”: import them into a question bank, as GIFT, in UTF-8.
// Each names the words that its pass reads; the picture of the pass isn't in it.

$CATEGORY: attnviz/{category}
"""


def gift(title: str, moments: Sequence[Moment]) -> str:
    """The questions of moments with feedback on each answer, as a GIFT file."""
    category = re.sub(r"[/\s]+", " ", title).strip() or "talk"
    questions = (_question(number, each) for number, each in enumerate(moments, 1))
    return "\n\n".join((_HEAD.format(title=_line(title), category=category), *filter(None, questions))) + "\n"


def per_cent(question: Fill) -> float:
    """The factor of an answer's numbers: attention weights are asked in per cent."""
    return 100.0 if question.is_share else 1.0


def words_of(moment: Moment) -> str:
    """The words that a moment's pass reads."""
    return " ".join(msgspec.json.decode(moment.document)["template"]["parts"]["words"]["query"])


def text_of(text: str | NumberLink) -> str:
    """The text of a run."""
    return text.text if isinstance(text, NumberLink) else text


def _question(number: int, moment: Moment) -> str:
    written = []
    name = f"{number} {moment.title}".strip()
    if moment.question:
        prompt = [*moment.question.prompt, ["", _unit(moment.question)]]
        paragraphs = [[["em", words_of(moment)]], moment.text, prompt]
        written.append(_whole(name, paragraphs, "".join(_answers(moment.question)), moment.after))
    if moment.ending:
        written.append(_whole(f"{name}: in your own words", [moment.ending.explain], "", moment.ending.answer))
    return "\n\n".join(written)


def _whole(name: str, paragraphs: Sequence[LessonRuns], answers: str, after: LessonRuns) -> str:
    text = "".join(f"<p>{_html(runs)}</p>" for runs in paragraphs if runs)
    feedback = f"\n####{_escaped(_html(after))}" if after else ""
    return f"::{_escaped(_line(name))}::[html]{_escaped(text)}{{{answers}{feedback}\n}}"


def _answers(question: Pick | Choose | Fill) -> Iterator[str]:
    if isinstance(question, Fill):
        yield from _numbers(question)
        return
    is_code = isinstance(question, Choose) and question.is_code
    for place, each in enumerate(question.candidates):
        sign = "=" if place in question.right else "~"
        label = _FIRST.sub(lambda first: f"&#{ord(first[0])};", _html([["code" if is_code else "", each.label]]))
        yield f"\n{sign}{_escaped(label)}#{_escaped(_html(each.feedback))}"


def _numbers(question: Fill) -> Iterator[str]:
    """The right number with its tolerance, and known wrong ones with feedback."""
    by = per_cent(question)
    yield f"#\n={_near(question.right * by, question.tolerance * by)}#{_escaped(_html([['', question.text]]))}"
    for near in question.nears:
        yield f"\n=%0%{_near(near.value * by, near.tolerance * by)}#{_escaped(_html(near.feedback))}"


def _near(number: float, tolerance: float) -> str:
    """A number and its tolerance in full digits, without an exponent."""
    return ":".join(format(Decimal(repr(float(each))), "f") for each in (number, tolerance))


def _unit(question: Pick | Choose | Fill) -> str:
    if not isinstance(question, Fill):
        return ""
    return " (In per cent.)" if question.is_share else f" ({question.unit}.)" if question.unit else ""


def _html(runs: LessonRuns) -> str:
    return "".join(_gift_run(style, text_of(text)) for style, text in runs)


def _gift_run(style: str, text: str) -> str:
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


_SIGNS = re.compile(r"[\\`*_{}\[\]<>|~$#&]|^[-+=]|(?<=^\d)[.)]")
_MARKS = {"strong": "**", "em": "*", "q": "**", "k": "**", "v": "**", "output": "**"}


def slides(title: str, moments: Sequence[Moment]) -> str:
    """The questions of moments as slides in Markdown."""
    made = [f"# {_plain(title)}"]
    for number, each in enumerate(moments, 1):
        made += _of(f"## {number}. {_plain(each.title)}".rstrip(". "), each)
    return "\n\n---\n\n".join(made) + "\n"


def _of(heading: str, moment: Moment) -> Iterator[str]:
    """The slides of a moment: what is asked, and what is right."""
    if moment.question:
        question = moment.question
        parts = [
            _said(moment.text),
            f"*{_plain(words_of(moment))}*",
            f"**{_bare(question.prompt)}**",
            *_choices(question),
        ]
        yield "\n\n".join((heading, *filter(None, parts)))
        yield "\n\n".join((heading, _right(question), *filter(None, [_said(moment.after)])))
    if moment.ending:
        yield "\n\n".join(("## In your own words", _said(moment.ending.explain)))
        yield "\n\n".join(("## In your own words", _said(moment.ending.answer)))


def _choices(question: Pick | Choose | Fill) -> Iterator[str]:
    if not isinstance(question, Fill):
        yield "\n".join(
            f"- {letter}: {label}" for letter, label in zip(_letters(question), _labels(question), strict=True)
        )


def _right(question: Pick | Choose | Fill) -> str:
    if isinstance(question, Fill):
        return f"**{_plain(question.text)}** {_plain(question.unit)}".strip()
    named = [*zip(_letters(question), _labels(question), strict=True)]
    return "\n\n".join(f"**{named[place][0]}**: {named[place][1]}" for place in question.right)


def _letters(question: Pick | Choose) -> list[str]:
    """Letters to vote for, one per answer; two letters after Z."""
    n = len(question.candidates)
    return [*ascii_uppercase, *(f"A{letter}" for letter in ascii_uppercase)][:n] if n <= 52 else [*map(str, range(n))]


def _labels(question: Pick | Choose) -> list[str]:
    is_code = isinstance(question, Choose) and question.is_code
    return [_code(each.label) if is_code else _plain(each.label) for each in question.candidates]


def _said(runs: LessonRuns) -> str:
    return "".join(_run(style, text_of(text)) for style, text in runs)


def _bare(runs: LessonRuns) -> str:
    """The text of a bold passage, without nested bold marks."""
    return "".join(_run(style if style in ("code", "math") else "", text_of(text)) for style, text in runs).strip()


def _run(style: str, text: str) -> str:
    if style == "math":
        return f"${text}$"
    if style == "code":
        return _code(text)
    mark = _MARKS.get(style, "")
    return f"{mark}{_plain(text)}{mark}"


def _code(text: str) -> str:
    """Inline code, between more backticks than it contains."""
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{room}{' '.join(text.split())}{room}{fence}"


def _plain(text: str) -> str:
    return _SIGNS.sub(lambda sign: f"\\{sign[0]}", text.replace("\n", " "))


_WRITERS = {"gift": gift, "slides": slides}

Form = Literal[tuple(_WRITERS)]
"""GIFT, or slides in Markdown."""

ENDINGS = {"gift": "gift.txt", "slides": "md"}
"""The extension of a file in each form."""


def exported(form: Form, title: str, moments: Sequence[Moment]) -> str:
    """The questions of moments."""
    return _WRITERS[form](title, moments)


def of_lesson(form: Form, lesson: str) -> str:
    """The questions of the lesson with this id.

    Raises
    ------
    TalkError
        If there is none.
    """
    if lesson not in LESSONS:
        raise TalkError(f"There is no such lesson. The lessons are {', '.join(LESSONS)}.")
    return exported(form, LESSONS[lesson].title, moments_of(lesson))


def of_talk(form: Form, talk: Talk) -> str:
    """The questions of a talk.

    Raises
    ------
    TalkError
        If a moment doesn't fit its pass.
    """
    return exported(form, talk.title or "A talk", [talk_moment(each, talk.uploads) for each in talk.moment])
