"""Slides and questions of a lecturer's own: plain text stays as typed, images are what their bytes are, limits hold."""

import base64
import json
import re
from itertools import chain

import msgspec
import pytest
from documents import whole
from test_talk import CAT, IMAGES, SIGNATURES, TALKS, of

from attnviz.contract.lesson import Moment
from attnviz.core.limits import (
    MAX_IMAGE_BYTES,
    MAX_IMAGE_CHARACTERS,
    MAX_TALK_BYTES,
    MAX_TALK_IMAGE_CHARACTERS,
)
from attnviz.lessons.export import of_talk
from attnviz.lessons.questions import AnyQuestion
from attnviz.lessons.slide import SlideSource, data_url
from attnviz.lessons.talk import Talk, TalkError, TalkMoment, read, talk_moment, write
from attnviz.viewer.bundle import module
from attnviz.viewer.site.static_edition import talk_file

HOSTILE = [
    *("{count.d_k}", "{attention[cat, sat]:%}", "{1 + 1}", "{{x}} {", "**bold** *em* `code` $x^2$", "<b>&amp;</b>"),
    *(
        "</script><script>alert(1)</script>",
        "=1+1",
        "\u202eabc\u202c",
        "\x00\x07",
        '"""',
        "'''",
        "\\",
        "[images]",
        "🦜",
    ),
]


def encoded(content):
    return base64.b64encode(content).decode()


def moment_of(images=(), **parts):
    made = msgspec.convert({"at": ""} | parts, TalkMoment)
    sent = json.loads(msgspec.json.encode(talk_moment(made, {}, dict(images))))
    document = sent["document"] and whole(sent["document"])
    msgspec.convert(sent | {"document": document}, Moment, str_keys=True)
    return sent


def asked(at=CAT, **ask):
    return moment_of(at=at, ask=ask)["question"]


def plain(runs):
    assert {style for style, _ in runs} <= {""}
    return "".join(text for _, text in runs)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_typed_stays_as_typed(text):
    """On a slide and on a pass that has these numbers; a file gives it back."""
    slide = {"text": text, "items": [text], "alt": text}
    choice = {"kind": "own-choice", "prompt": text, "options": [{"text": text}, {"text": f"{text}2", "right": True}]}
    number = {"kind": "own-number", "prompt": text, "right": 3, "tolerance": 1, "unit": text}
    for parts in ({"slide": slide}, {"at": CAT}):
        found = moment_of(ask=choice, title=text, **parts)
        assert plain(found["question"]["prompt"]) == text
        assert [each["label"] for each in found["question"]["candidates"]] == [text, f"{text}2"]
        assert found["title"] == text
        assert plain(moment_of(ask={"kind": "own-words", "prompt": text}, **parts)["question"]["prompt"]) == text
        of_number = moment_of(ask=number, **parts)["question"]
        assert plain(of_number["prompt"]) == text, "nobody is told how far off counts as right"
    picture = moment_of(slide=slide)["picture"]
    assert (picture["text"], picture["items"], picture["alt"]) == (text, [text], text)
    computed = {"kind": "word", "of": "attention[cat, *]", "prompt": "{count.d_k}?"}
    assert plain(moment_of(at=CAT, ask=computed, asked_as=text)["question"]["prompt"]) == text
    moments = [{"at": "", "slide": slide, "ask": each} for each in (choice, number)]
    talk = msgspec.convert({"title": text, "moment": moments}, Talk)
    assert read(write(talk).encode()) == talk
    assert talk_file(talk).count("</script>") == 2
    assert "<script>" not in of_talk("slides", talk)
    assert not any("<script>" in each for each in of_talk("gift", talk).split("[html]")[1:])


def test_slide_texts_have_marks_but_no_slots():
    """As “Said with the answer” of any moment has; a slide has no numbers for them."""
    found = moment_of(slide={}, text="{1 + 1} **b**", after="{count.d_k}")
    assert found["text"] == [["", "{1 + 1}"], ["", " "], ["strong", "b"]]
    assert plain(found["after"]) == "{count.d_k}"


def test_computed_question_stays_computed_under_other_words():
    ask = {"kind": "share", "of": "attention[cat, sat]", "prompt": "{count.words}?"}
    one, other = moment_of(at=CAT, ask=ask), moment_of(at=CAT, ask=ask, asked_as="How much, {you}?")
    assert plain(other["question"].pop("prompt")) == "How much, {you}?"
    assert plain(one["question"].pop("prompt")).startswith("3? Within 5 points")
    assert one["question"] == other["question"]
    assert one["covers"] == other["covers"] != []


CHOICES = [
    ([("a", True), ("b", False)], [0]),
    ([("a", False), ("b", False)], []),
    ([("", True), ("a", False), (" ", False), ("b", True), ("c", False)], [1]),
]


@pytest.mark.parametrize(("options", "right"), CHOICES)
def test_own_choice(options, right):
    found = asked(kind="own-choice", prompt="?", options=[{"text": text, "right": is_} for text, is_ in options])
    assert found["right"] == right
    assert [each["label"] for each in found["candidates"]] == [text for text, _ in options if text.strip()]


@pytest.mark.parametrize(
    ("parts", "right", "text"),
    [({}, None, ""), ({"right": 0}, 0, "0"), ({"right": -2.5}, -2.5, "−2.5"), ({"right": 1234567}, 1234567, "1234567")],
)
def test_own_number(parts, right, text):
    found = asked(kind="own-number", prompt="?", **parts)
    assert (found["right"], found["text"], found["isShare"]) == (right, text, False)
    assert plain(asked(kind="own-number", prompt="?", tolerance=2)["prompt"]) == "?", "no right one: nothing is off"


UNFINISHED = [
    {"kind": "own-choice", "prompt": "?", "options": [{"text": "a"}, {"text": " "}]},
    {"kind": "own-choice", "prompt": "?", "options": [{"text": "a", "right": True}, {"text": "b", "right": True}]},
    *({"kind": kind, "prompt": " "} for kind in ("own-number", "own-words")),
]


@pytest.mark.parametrize("ask", UNFINISHED)
def test_unfinished_question_is_kept_and_says_what_it_lacks(ask):
    with pytest.raises(TalkError, match=r"Type another|mark fewer|type it in"):
        asked(**ask)
    talk = msgspec.convert({"moment": [{"at": "", "ask": ask}]}, Talk)
    assert read(write(talk).encode()) == talk


@pytest.mark.parametrize(
    "parts",
    [
        {"ask": {"kind": "word", "of": "attention[cat, *]", "prompt": "?"}},
        *({"picture": {"kind": "sweep"}}, {"worked": ["1"]}),
        *({"slide": {"items": ["x"] * 101}}, {"slide": {"items": ["x" * 3_001]}}, {"slide": {"image": "A b"}}),
        {"slide": {"image": "x" * 41}},
        {"ask": {"kind": "own-choice", "prompt": "?", "options": [{"text": "x"}] * 11}},
        {"ask": {"kind": "own-number", "prompt": "?", "right": 1.1e12}},
        {"ask": {"kind": "own-number", "prompt": "?", "tolerance": -1}},
    ],
)
def test_slide_that_is_none_is_refused(parts):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"at": "", "slide": {}} | parts, TalkMoment)


@pytest.mark.parametrize("type_", SIGNATURES)
def test_image_is_what_its_bytes_are(type_):
    image = encoded(SIGNATURES[type_] + b"<svg onload=alert(1)>")
    assert data_url(image) == f"data:image/{type_};base64,{image}"
    found = moment_of({"a": image}, slide={"image": "a", "alt": "A"})
    assert (found["picture"]["image"], found["picture"]["alt"]) == (data_url(image), "A")
    assert found["document"] is None


def test_all_that_the_editor_takes_is_a_talk():
    """Its boxes and lists have these limits; what it took and nobody reads would be lost with the file."""
    forms = [module(name).read_text("utf-8") for name in ("talkForm", "questionForm")]
    found = [int(each) for form in forms for each in re.findall(r"\b(?:MOST|LONGEST)_[A-Z]+ = ([0-9]+)", form)]
    found += [int(each) for form in forms for each in re.findall("maxLength(?:: | = )([0-9]+)", form)]
    items, options, option, unit = found[:4]
    assert (items, options, option, unit) == (100, 10, 200, 40)
    assert {*found[4:]} == {300, 500, 3_000}, "of a headline, of an image's words, and of all other texts"
    long = "x" * 3_000
    slide = {"text": long, "items": ["x"] * 100, "image": newest, "alt": "x" * 500}
    choice = {"kind": "own-choice", "prompt": long, "options": [{"text": "x" * 200}] * 10}
    number = {"kind": "own-number", "prompt": long, "right": -1e12, "tolerance": 1e12, "unit": "x" * 40}
    texts = {"title": "x" * 300, "text": long, "after": long, "notes": long, "asked_as": long}
    for ask in (choice, number, {"kind": "own-words", "prompt": long}):
        for parts in ({"slide": slide}, {"at": CAT}, {"slide": {"items": [long]}}):
            assert moment_of(ask=ask, **texts, **parts)["question"]


newest = f"image-{'f' * 16}"
"""The name of an image, as long as the editor makes them."""

LIES = [
    *(b"", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"GIF89a", b"%PDF-1.7", b"BM", b"<html>", b"\x00\x00\x01\x00"),
    *(
        b"\x89PNG",
        b" " + SIGNATURES["png"],
        SIGNATURES["png"][1:],
        b"\xff\xd8",
        b"RIFF\x00\x00\x00\x00WAVE",
        b"RIFFWEBP",
    ),
    b"\x89PNG\n\x1a\n" + b"\x00" * 9,  # as a transfer as text breaks it
]


@pytest.mark.parametrize(
    "image", [*map(encoded, LIES), "A", "AAA", "é", "<svg>", "AAAA\n", "A===", "data:image/png;base64,"]
)
def test_image_that_lies_is_refused(image):
    with pytest.raises(TalkError, match="image"):
        data_url(image)
    with pytest.raises(TalkError, match="image"):
        Talk(images={"a": image})
    file = f"\n[images]\na = {json.dumps(image)}\n"
    with pytest.raises(TalkError, match="image"):
        read(file.encode())


def png(n_bytes):
    return encoded(SIGNATURES["png"].ljust(n_bytes, b"\x00"))


def test_missing_image_leaves_its_words():
    """As in a talk from a link."""
    for alt, words in (("A cat", "A cat"), ("", "An image that is not here")):
        picture = moment_of(slide={"text": "x", "image": "a", "alt": alt})["picture"]
        assert (picture["image"], picture["alt"], picture["text"]) == ("", words, "x")
    assert moment_of(slide={"text": "x"})["picture"]["alt"] == ""


def test_limits_are_exact():
    most = png(MAX_IMAGE_BYTES)
    assert len(most) == MAX_IMAGE_CHARACTERS
    assert data_url(most)
    with pytest.raises(TalkError, match="300 kB; this one has 301 kB"):
        data_url(png(MAX_IMAGE_BYTES + 1))
    rest = MAX_TALK_IMAGE_CHARACTERS - 6 * len(most)
    images = {f"n{nth}": most for nth in range(6)} | {"rest": png(3 * rest // 4)}
    assert sum(map(len, images.values())) == MAX_TALK_IMAGE_CHARACTERS
    assert MAX_TALK_IMAGE_CHARACTERS + MAX_TALK_BYTES == 3_000_000
    largest = Talk(images=images)
    assert read(write(largest).encode()) == largest
    with pytest.raises(TalkError, match="1,950 kB"):
        Talk(images=images | {"one": IMAGES[0]})
    with pytest.raises(TalkError, match="1,950 kB"):
        read(write(largest).encode() + f"one = '{IMAGES[0]}'\n".encode())
    with pytest.raises(TalkError, match="at most 400,000 bytes"):
        read(b"title = '" + b"A" * MAX_TALK_BYTES + b"'\n" + write(largest).encode())


def test_tables_of_files_stand_in_any_order():
    image = IMAGES[0]
    for tables in (
        f"[images]\na = '{image}'\n[uploads]\nb = 'AAAA'\n",
        f"[uploads]\nb = 'AAAA'\n[images]\na = '{image}'\n",
    ):
        talk = read(f"title = 'x'\n{tables}".encode())
        assert (talk.images, talk.uploads) == ({"a": image}, {"b": "AAAA"})


@pytest.mark.parametrize(
    "text", ["images = 1", "[images]\na = 1", "[images]\n\"a b\" = 'AAAA'", "[[images]]\na = 'AAAA'"]
)
def test_broken_table_of_images_is_refused(text):
    with pytest.raises(TalkError):
        read(f"{text}\n".encode())


def test_old_talks_open():
    """As an earlier version wrote them, with edited prompts that have slots."""
    old = b'title = "Old"\n\n[[moment]]\nat = "sentence=the+cat+sat&heads=1&view=sheet"\ntext = "{count.words}"\n'
    old += b'ask = { kind = "word", of = "attention[cat, *]", prompt = "{count.words} words?" }\n'
    (moment,) = read(old).moment
    found = talk_moment(moment)
    assert plain(found.question.prompt) == "3 words?"
    assert not found.asks_confidence
    assert write(Talk(moment=(moment,))).count("=") == old.count(b"=")


def test_confidence_needs_a_question():
    assert not moment_of(slide={}, confidence=True)["asksConfidence"]
    assert moment_of(slide={}, confidence=True, ask={"kind": "own-words", "prompt": "?"})["asksConfidence"]
    ask = next(each.ask for each in chain(*(talk.moment for talk in TALKS.values())) if each.ask)
    assert not any(each.confidence for talk in TALKS.values() for each in talk.moment)
    assert isinstance(ask, AnyQuestion)


def test_only_the_file_of_a_talk_has_the_speakers_notes():
    talk = Talk(
        title="T", moment=(TalkMoment(at=CAT, notes="for me"), TalkMoment(at="", slide=SlideSource(), notes="for me"))
    )
    assert write(talk).count("for me") == 2
    assert not [each for each in (talk_file(talk), of_talk("slides", talk), of_talk("gift", talk)) if "for me" in each]


def test_slides_leave_in_every_form():
    """The static page and the Markdown hold the image; the questions hold what the slide says."""
    slide = SlideSource(text="The idea", items=("first", "second"), image="a", alt="A sketch")
    asks = [{"kind": "own-words", "prompt": "In words?"}, {"kind": "own-number", "prompt": "How many?", "right": 7}]
    asks += [{"kind": "own-choice", "prompt": "Which?", "options": [{"text": "this"}, {"text": "that", "right": True}]}]
    asks += [{"kind": "own-choice", "prompt": "Your view?", "options": [{"text": "yes"}, {"text": "no"}]}]
    moments = [TalkMoment(at="", title="A slide", slide=slide)]
    moments += [TalkMoment(at=CAT, ask=msgspec.convert(ask, AnyQuestion)) for ask in asks]
    moments += [TalkMoment(at="", slide=slide, ask=msgspec.convert(ask, AnyQuestion)) for ask in asks]
    image = png(999)
    talk = Talk(title="T", moment=tuple(moments), images={"a": image})
    page, markdown, gift = talk_file(talk), of_talk("slides", talk), of_talk("gift", talk)
    assert page.count(image) == 1 + markdown.count(image), "it holds the Markdown, too"
    assert markdown.count(image) == len(asks) + 1
    for text in ("The idea", "first", "second", "In words?", "How many?", "this", "Your view?"):
        assert all(text in made for made in (page, markdown, gift))
    assert [line for line in gift.splitlines() if line.startswith("=")] == ["=7.0:0.0#7", "=that#"] * 2
    assert of(ask=msgspec.convert(asks[2], AnyQuestion))["covers"] == []
