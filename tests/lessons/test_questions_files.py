"""The questions of lessons and talks as files: GIFT read back as Moodle reads it; Markdown whose slides are counted."""

import json
import re
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urlencode

import pytest

from attnviz.lessons.export import of_lesson, of_talk
from attnviz.lessons.lesson import LESSONS, moment
from attnviz.lessons.questions.numbers import Number
from attnviz.lessons.questions.picks import PickWord
from attnviz.lessons.talk import Talk, TalkError, TalkMoment, talk_moment
from attnviz.lessons.talk_request import ExportRequest, reply

ESCAPES = {"\\:": 58, "\\#": 35, "\\=": 61, "\\{": 123, "\\}": 125, "\\~": 126, "\\n": 10}


class Answer(NamedTuple):
    text: str
    part: float  # of the points
    told: str  # the feedback
    number: tuple[float, float] | None = None  # and its tolerance


class Question(NamedTuple):
    name: str
    text: str
    kind: str
    answers: list
    after: str


def questions(file):
    """The category of a GIFT file and its questions, as Moodle reads them (question/format/gift/format.php)."""
    lines = [line for line in file.splitlines() if not line.startswith("//")]
    blocks = [block for block in re.split(r"\n\s*\n", "\n".join(lines)) if block.strip()]
    category, *rest = (block.strip() for block in blocks)
    assert category.startswith("$CATEGORY:")
    return category.removeprefix("$CATEGORY:").strip(), [question(block) for block in rest]


def question(block):
    text = hidden(block.strip())
    name, text = re.fullmatch(r"::(.*?)::(.*)", text, re.DOTALL).groups()
    opened, closed = text.index("{"), text.rindex("}")
    assert text.count("{") == text.count("}") == 1
    assert text[closed + 1 :] == ""
    stem, inner = text[:opened], text[opened + 1 : closed].strip()
    assert stem.startswith("[html]")
    inner, _, after = inner.partition("####")
    kind, answers = answers_of(inner.strip())
    return Question(shown(name), plain(stem.removeprefix("[html]")), kind, answers, plain(after))


def answers_of(text):
    if not text:
        return "essay", []
    if text.startswith("#"):
        parts = [part for part in text[1:].split("=") if part.strip()]
        return "number", [answer(f"={part}", is_number=True) for part in parts]
    assert "->" not in text, "that would be a question of pairs"
    return "choice", [answer(part) for part in re.findall(r"[=~][^=~]*", text)]


def answer(text, is_number=False):
    sign, rest = text[0], text[1:].strip()
    weighed = re.match(r"%(-?[\d.]+)%", rest)
    part = float(weighed[1]) if weighed else 100.0 * (sign == "=")
    own, _, told = rest[weighed.end() if weighed else 0 :].partition("#")
    if is_number:
        number, tolerance = own.split(":")
        return Answer(own, part, plain(told), (float(number), float(tolerance)))
    assert not own.startswith("[")
    return Answer(plain(own), part, plain(told))


def hidden(text):
    """Escaped signs in the place of which stand others, as in Moodle, before anything is looked for."""
    text = text.replace("\\\\", "&&092;")
    for sign, code in ESCAPES.items():
        text = text.replace(sign, f"&&{code:03};")
    return text


def shown(text):
    return re.sub(r"&&(\d+);", lambda code: chr(int(code[1])), text)


def plain(text):
    found = []
    reader = HTMLParser()
    reader.handle_data = found.append
    reader.handle_starttag = lambda tag, _: found.append("\n" if tag in ("p", "br") else "")
    reader.feed(shown(text).strip())
    reader.close()
    return "".join(found).strip().replace("\xa0", " ")


SIGNS = r"~ = # { } : \ \n \\ // -> [html] %50% <b>&amp; $ ::a:: ####"


def text_of(runs):
    texts = (text if isinstance(text, str) else text["text"] for _, text in runs)
    written = (f"\\({text}\\)" if style == "math" else text for (style, _), text in zip(runs, texts, strict=True))
    return "".join(written).strip().replace("\xa0", " ")


def expected(lesson):
    """What a file has to say, out of the moments that a browser is sent."""
    for number in range(1, len(LESSONS[lesson].moment) + 1):
        sent = json.loads(moment(lesson, number))
        if sent["question"]:
            yield number, sent, sent["question"]
        if sent["ending"]:
            yield number, sent, None


@pytest.mark.parametrize("lesson", LESSONS)
def test_gift_round_trips(lesson):
    category, found = questions(of_lesson("gift", lesson))
    assert category == f"attnviz/{LESSONS[lesson].title}"
    wanted = [*expected(lesson)]
    assert len(found) == len(wanted)
    for read, (number, sent, asked) in zip(found, wanted, strict=True):
        assert read.name.startswith(f"{number} {sent['title']}".strip())
        if asked is None:
            assert (read.kind, read.text) == ("essay", text_of(sent["ending"]["explain"]))
            assert read.after == text_of(sent["ending"]["answer"])
            continue
        assert text_of(asked["prompt"]) in read.text
        assert read.after == text_of(sent["after"])
        holds_choices(read, asked) if "candidates" in asked else holds_numbers(read, asked)


def holds_choices(read, asked):
    assert read.kind == "choice"
    for place, (answer, candidate) in enumerate(zip(read.answers, asked["candidates"], strict=True)):
        assert answer.text == candidate["label"]
        assert answer.part == (100 if place in asked["right"] else 0)
        assert answer.told == text_of(candidate["feedback"])


def holds_numbers(read, asked):
    by = 100 if asked["isShare"] else 1
    assert read.kind == "number"
    assert ("(In per cent.)" in read.text) == asked["isShare"]
    first, *others = read.answers
    assert (first.number, first.part) == ((asked["right"] * by, asked["tolerance"] * by), 100)
    assert [each.number for each in others] == [(near["value"] * by, near["tolerance"] * by) for near in asked["nears"]]
    assert [each.told for each in others] == [text_of(near["feedback"]) for near in asked["nears"]]
    assert {each.part for each in others} <= {0}


def talk(**parts):
    return Talk(title=SIGNS, moment=(TalkMoment(**{"at": "sentence=the+cat+sat&heads=1", "text": SIGNS} | parts),))


def test_talk_text_stays_text_in_gift():
    prompt = SIGNS.replace("{ }", "")  # there a prompt has the numbers of its pass
    made = talk(title=SIGNS, after=SIGNS, ask=Number(of="1 - 3", prompt=prompt))
    _, (read,) = questions(of_talk("gift", made))
    assert read.name == f"1 {SIGNS}"
    assert prompt in read.text
    assert SIGNS in read.text
    assert read.after == SIGNS
    assert read.answers[0].number == (-2.0, pytest.approx(0.5))


def test_typed_words_stay_text_in_answers():
    at = f"{urlencode({'sentence': '[html] %50% = ~ # {d} -> //'})}&heads=1"
    made = talk(at=at, ask=PickWord(of="attention[head 1, =, *]", prompt="Which?"))
    _, (read,) = questions(of_talk("gift", made))
    labels = [each.label for each in talk_moment(made.moment[0]).question.candidates]
    assert {"[", "%", "=", "~", "#", "{", "}"} <= {*labels}
    assert [answer.text for answer in read.answers] == labels
    assert sum(answer.part for answer in read.answers) == 100


@pytest.mark.parametrize("lesson", ["masks", "two-layers"])
def test_slides_alternate_question_and_answer(lesson):
    slides = of_lesson("slides", lesson).split("\n\n---\n\n")
    asked = [each for each in LESSONS[lesson].moment if each.ask]
    assert len(slides) == 1 + 2 * len(asked) + 2, "the title, and the ending"
    assert slides[0] == f"# {LESSONS[lesson].title}"
    if lesson == "masks":
        assert "\n- B: `np.where(mask, scaled, -np.inf)`" in slides[5]
        assert "**B**: `np.where(mask, scaled, -np.inf)`" in slides[6]


def test_talk_text_stays_text_on_slides():
    text = of_talk("slides", talk(text="# a | b\n- <b>", title="1. & ---", ask=Number(of="1 - 3", prompt="?")))
    assert "\\# a \\| b - \\<b\\>" in text
    assert "## 1. 1\\. \\& ---" in text


def test_export_request():
    assert json.loads(reply(ExportRequest(form="gift", lesson="masks")))["file"] == of_lesson("gift", "masks")
    own = talk()
    assert json.loads(reply(ExportRequest(form="slides", talk=own)))["file"] == of_talk("slides", own)
    with pytest.raises(TalkError, match="There is no such lesson"):
        reply(ExportRequest(form="gift", lesson="nothing"))
