"""GIFT: the questions of a lesson or a talk as Moodle and others read them (docs.moodle.org/en/GIFT_format).

Texts are HTML there, so that a person's words are text and nothing in them is read as a sign of GIFT.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

import msgspec

from attnviz.contract.lesson import Choose, Fill, LessonRuns, Moment, NumberLink, Pick

_SIGNS = re.compile(r"[\\~=#{}:]")
_FIRST = re.compile(r"^[%\[]")
"""The characters that open a weight or a format, so that no answer may begin with one."""
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
    """The questions of moments, with what each answer would be right for, as a file in GIFT."""
    category = re.sub(r"[/\s]+", " ", title).strip() or "talk"
    questions = (_question(number, each) for number, each in enumerate(moments, 1))
    return "\n\n".join((_HEAD.format(title=_line(title), category=category), *filter(None, questions))) + "\n"


def per_cent(question: Fill) -> float:
    """By what the numbers of an answer are multiplied: a share is asked for in per cent."""
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
    """The number with its tolerance, and wrong ones that are told what they are."""
    by = per_cent(question)
    yield f"#\n={_near(question.right * by, question.tolerance * by)}#{_escaped(_html([['', question.text]]))}"
    for near in question.nears:
        yield f"\n=%0%{_near(near.value * by, near.tolerance * by)}#{_escaped(_html(near.feedback))}"


def _near(number: float, tolerance: float) -> str:
    """A number and how far off counts, all digits of both, without an exponent."""
    return ":".join(format(Decimal(repr(float(each))), "f") for each in (number, tolerance))


def _unit(question: Pick | Choose | Fill) -> str:
    if not isinstance(question, Fill):
        return ""
    return " (In per cent.)" if question.is_share else f" ({question.unit}.)" if question.unit else ""


def _html(runs: LessonRuns) -> str:
    return "".join(_run(style, text_of(text)) for style, text in runs)


def _run(style: str, text: str) -> str:
    if style == "math":
        return html.escape(f"\\({text}\\)", quote=False)
    made = html.escape(text, quote=False).replace("\n", "<br>")
    if style == "code":
        made = made.replace("  ", "&nbsp; ")
    return f"<{_TAGS[style]}>{made}</{_TAGS[style]}>" if style in _TAGS else made


def _line(text: str) -> str:
    return " ".join(text.split())


def _escaped(text: str) -> str:
    return _SIGNS.sub(lambda sign: f"\\{sign[0]}", text)
