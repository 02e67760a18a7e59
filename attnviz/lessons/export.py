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

_HEAD = """// Questions of attnviz, “{title}”: import them into a question bank, as GIFT, in UTF-8.
// Each names the words that its pass reads; the picture of the pass isn't in it.

$CATEGORY: attnviz/{category}
"""
_GIFT_SIGNS = re.compile(r"[\\~=#{}:]")
_TAGS = {"em": "em", "code": "code"} | dict.fromkeys(("strong", "q", "k", "v", "output"), "strong")


def gift(title: str, moments: Sequence[Moment]) -> str:
    """The questions of moments with feedback on each answer, as a GIFT file."""
    category = re.sub(r"[/\s]+", " ", title).strip() or "talk"
    questions = (each for number, moment in enumerate(moments, 1) for each in _gift_questions(number, moment))
    return "\n\n".join((_HEAD.format(title=_line(title), category=category), *questions)) + "\n"


def words_of(moment: Moment) -> str:
    """The words that a moment's pass reads."""
    return " ".join(msgspec.json.decode(moment.document)["template"]["parts"]["words"]["query"])


def text_of(text: str | NumberLink) -> str:
    """The text of a run."""
    return text.text if isinstance(text, NumberLink) else text


def _gift_questions(number: int, moment: Moment) -> Iterator[str]:
    name, question, ending = f"{number} {moment.title}".strip(), moment.question, moment.ending
    if question:
        prompt = [*question.prompt, ["", _unit(question)]]
        answers = _gift_numbers(question) if isinstance(question, Fill) else _gift_choices(question)
        yield _gift_question(name, [[["em", words_of(moment)]], moment.text, prompt], "".join(answers), moment.after)
    if ending:
        yield _gift_question(f"{name}: in your own words", [ending.explain], "", ending.answer)


def _unit(question: Pick | Choose | Fill) -> str:
    if not isinstance(question, Fill):
        return ""
    return " (In per cent.)" if question.is_share else f" ({question.unit}.)" if question.unit else ""


def _gift_question(name: str, paragraphs: Sequence[LessonRuns], answers: str, after: LessonRuns) -> str:
    text = "".join(f"<p>{_html(runs)}</p>" for runs in paragraphs if runs)
    feedback = f"\n####{_escaped(_html(after))}" if after else ""
    return f"::{_escaped(_line(name))}::[html]{_escaped(text)}{{{answers}{feedback}\n}}"


def _gift_choices(question: Pick | Choose) -> Iterator[str]:
    is_code = isinstance(question, Choose) and question.is_code
    for index, each in enumerate(question.candidates):
        label = _html([["code" if is_code else "", each.label]])
        if label.startswith(("%", "[")):  # which open a weight or a format
            label = f"&#{ord(label[0])};{label[1:]}"
        yield f"\n{'=' if index in question.right else '~'}{_escaped(label)}#{_escaped(_html(each.feedback))}"


def _gift_numbers(question: Fill) -> Iterator[str]:
    """The right number with its tolerance, and known wrong ones with feedback; fractions are asked in per cent."""
    by = 100.0 if question.is_share else 1.0
    yield f"#\n={_tolerant(question.right * by, question.tolerance * by)}#{_escaped(_html([['', question.text]]))}"
    for near in question.nears:
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


def slides(title: str, moments: Sequence[Moment]) -> str:
    """The questions of moments as slides in Markdown."""
    made = [f"# {_plain(title)}"]
    for number, each in enumerate(moments, 1):
        made += _slides_of(f"## {number}. {_plain(each.title)}".rstrip(". "), each)
    return "\n\n---\n\n".join(made) + "\n"


def _slides_of(heading: str, moment: Moment) -> Iterator[str]:
    if question := moment.question:
        labels = {} if isinstance(question, Fill) else _labels(question)
        prompt = _markdown([(style if style in ("code", "math") else "", text) for style, text in question.prompt])
        parts = [_markdown(moment.text), f"*{_plain(words_of(moment))}*", f"**{prompt.strip()}**"]
        parts.append("\n".join(f"- {letter}: {label}" for letter, label in labels.items()))
        yield "\n\n".join((heading, *filter(None, parts)))
        if isinstance(question, Fill):
            right = f"**{_plain(question.text)}** {_plain(question.unit)}".strip()
        else:
            named = list(labels.items())
            right = "\n\n".join("**{}**: {}".format(*named[index]) for index in question.right)
        yield "\n\n".join((heading, right, *filter(None, [_markdown(moment.after)])))
    if moment.ending:
        yield "\n\n".join(("## In your own words", _markdown(moment.ending.explain)))
        yield "\n\n".join(("## In your own words", _markdown(moment.ending.answer)))


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


def exported(form: Form, title: str, moments: Sequence[Moment]) -> str:
    """The questions of moments."""
    return _WRITERS[form](title, moments)


def of_lesson(form: Form, lesson: str) -> str:
    """The questions of the lesson with this id."""
    if lesson not in LESSONS:
        raise TalkError(f"There is no such lesson. The lessons are {', '.join(LESSONS)}.")
    return exported(form, LESSONS[lesson].title, moments_of(lesson))


def of_talk(form: Form, talk: Talk) -> str:
    """The questions of a talk."""
    return exported(form, talk.title or "A talk", [talk_moment(each, talk.uploads) for each in talk.moment])
