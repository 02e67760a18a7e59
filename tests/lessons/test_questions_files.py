"""The questions of lessons and talks as files: GIFT read back as Moodle reads it; Markdown whose slides are counted."""

import json
import re
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urlencode

import pytest

from attnviz.lessons.export import of_lesson, of_talk, paper_prompt
from attnviz.lessons.lesson import LESSONS, moment
from attnviz.lessons.questions.gaps import Gaps, GapsRow, WrongGap
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
    if "{" not in text:
        return Question(shown(name), plain(text.removeprefix("[html]")), "description", [], "")
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
        if sent["worked"]:
            yield number, sent, {"kind": "worked"}
        if sent["question"]:
            yield from ((number, sent, each) for each in asked_apart(sent["question"]))
        if sent["ending"]:
            yield number, sent, None


def asked_apart(asked):
    """A question as it is; of one with gaps each gap as a question on a number."""
    if asked["kind"] != "gaps":
        return [asked]
    pairs = [
        (row["name"], word, cell)
        for row in asked["rows"]
        for word, cell in zip(asked["words"], row["cells"], strict=True)
    ]
    return [
        {"kind": "gap", "prompt": asked["prompt"], "isShare": False, "right": cell["gap"]["value"]}
        | {"name": f"{name}, {word}", "text": text_of(cell["text"]), "all": asked}
        | cell["gap"]
        for name, word, cell in pairs
        if cell["gap"]
    ]


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
        if asked["kind"] == "worked":
            assert read.kind == "description"
            assert all(text_of(line) in read.text for line in [sent["text"], *sent["worked"], sent["after"]])
            continue
        assert without_screen(text_of(asked["prompt"])) in read.text
        assert not re.search(r"\b(Click|Drag|Tap|Press)\b", read.text)
        assert read.after == text_of(sent["after"])
        holds_choices(read, asked) if "candidates" in asked else holds_numbers(read, asked)


def without_screen(prompt):
    """The sentences of a prompt that one can follow on paper."""
    sentences = re.split(r"(?<=[.?!]) ", prompt)
    return " ".join(each for each in sentences if each.split(" ")[0] not in ("Click", "Drag", "Tap", "Press"))


def holds_choices(read, asked):
    assert read.kind == "choice"
    for place, (answer, candidate) in enumerate(zip(read.answers, asked["candidates"], strict=True)):
        assert answer.text == candidate["label"]
        assert answer.part == (100 if place in asked["right"] else 0)
        assert answer.told == text_of(candidate["feedback"])


def holds_numbers(read, asked):
    by = 100 if asked["isShare"] else 1
    assert read.kind == "number"
    assert ("(In per cent.)" in read.text) == (asked["isShare"] or asked["text"].endswith("%"))
    if asked["kind"] == "gap":
        assert read.name.endswith(asked["name"])
        given = [cell for row in asked["all"]["rows"] for cell in row["cells"] if not cell["gap"]]
        assert all(text_of(cell["text"]) in read.text for cell in given)
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


AT = "sentence=the+cat+sat&initialiser=whole&d_model=2&heads=1&seed=124&view=sheet"
SCORES = [f"scores[cat, {word}]" for word in ("the", "cat", "sat")]
GAPS = Gaps(
    prompt="Fill in the gaps. Press Tab.",
    words=("the", "cat", "sat"),
    rows=(
        GapsRow(name="score", of=tuple(SCORES), form="fraction"),
        GapsRow(
            name="2^score",
            of=("4", "2", "1"),
            gaps=("cat", "sat"),
            wrong=(WrongGap(at="cat", of="1", feedback="One."),),
        ),
    ),
    needs=("scores[cat, the]:fraction", "q[cat, 2]:fraction", "word: sat", "word: dog"),
)


def test_gaps_are_one_question_each_with_what_they_need():
    made = talk(at=AT, text="Powers.", title="Gaps", after="Done.", ask=GAPS)
    _, found = questions(of_talk("gift", made, "https://attnviz.example/"))
    assert [each.name for each in found] == ["1 Gaps: 2^score, cat", "1 Gaps: 2^score, sat"]
    for each in found:
        assert each.kind == "number"
        assert each.after == "Done."
        assert "Fill in the gaps." in each.text
        assert "Press" not in each.text
        assert "Given: Queries at “cat”, dimension 2: −2." in each.text, "that stands nowhere else"
        assert "score of" not in each.text, "that stands in the table"
        assert "https://attnviz.example/walkthrough?sentence=the+cat+sat&" in each.text, "a word that is nowhere"
    assert [each.answers[0].number for each in found] == [(2.0, pytest.approx(0.005)), (1.0, pytest.approx(0.005))]
    assert found[0].answers[1].told == "One."
    (one, filled) = of_talk("slides", made).split("\n\n---\n\n")[1:]
    assert "| 2^score | 4 | ? | ? |" in one
    assert "| 2^score | 4 | **2** | **1** |" in filled


def test_worked_example_is_a_description_and_one_slide():
    made = talk(
        at=AT, text="See.", title="Worked", worked=("The score is {scores[cat, the]:fraction}.", "2 > 1"), after="So."
    )
    _, (read,) = questions(of_talk("gift", made))
    assert (read.kind, read.answers) == ("description", [])
    assert read.text.split("\n") == ["the cat sat", "See.", "The score is 2.", "2 > 1", "So."]
    (slide,) = of_talk("slides", made).split("\n\n---\n\n")[1:]
    assert slide == "## 1. Worked\n\nSee.\n\n- The score is 2.\n- 2 \\> 1\n\nSo.\n"


def test_paper_prompt_keeps_what_a_prompt_asks():
    prompts = {
        "Which word? Click it.": "Which word?",
        "Drag an arc to it. Which word fits?": " Which word fits?",
        "Click the word that fits.": "Click the word that fits.",
        "Does pressing help?": "Does pressing help?",
    }
    assert {each: text_of(paper_prompt([("", each)])) for each in prompts} == {
        each: kept.strip() for each, kept in prompts.items()
    }


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
    worked = [each for each in LESSONS[lesson].moment if each.worked]
    assert len(slides) == 1 + 2 * len(asked) + len(worked) + 2, "the title, and the ending"
    assert slides[0] == f"# {LESSONS[lesson].title}"
    if lesson == "masks":
        (asked, answered) = (
            each for each in slides if "B: `np.where(mask, scaled, -np.inf)`" in each.replace("**", "")
        )
        assert "\n- B: `np.where(mask, scaled, -np.inf)`" in asked
        assert "**B**: `np.where(mask, scaled, -np.inf)`" in answered


def test_slides_have_both_texts_of_a_translation():
    slides = of_lesson("slides", "translator").replace("\\", "").split("\n\n---\n\n")
    asked = [each for each in slides if each.startswith("## 4. ") and "- A: " in each]
    assert (
        [each for each in asked if "English: the cow sleeps <end>; French: <begin> la vache dort" in each]
        == asked
        != []
    )


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
