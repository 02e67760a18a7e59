"""GIFT, read step by step as Moodle's importer does (question/format/gift/format.php): no parser on PyPI reads negative
numbers and escaped backslashes."""

import re
from html.parser import HTMLParser
from typing import NamedTuple

ESCAPES = {"\\:": 58, "\\#": 35, "\\=": 61, "\\{": 123, "\\}": 125, "\\~": 126, "\\n": 10}


class Answer(NamedTuple):
    """An answer of a question: its text, the part of the points that it has, its feedback, its number and tolerance."""

    text: str
    part: float
    told: str
    number: tuple[float, float] | None = None


class Question(NamedTuple):
    name: str
    text: str
    kind: str
    answers: list
    after: str


def questions(file):
    """The category of a file, and its questions."""
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
    """What is read in HTML."""
    found = []
    reader = HTMLParser()
    reader.handle_data = found.append
    reader.handle_starttag = lambda tag, _: found.append("\n" if tag in ("p", "br") else "")
    reader.feed(shown(text).strip())
    reader.close()
    return "".join(found).strip().replace("\xa0", " ")
