"""Talks of one's own: a file and a link give back what was written; reading raises nothing but `TalkError`."""

import base64
import json
import random
from itertools import islice

import msgspec
import pytest
from documents import whole
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pools import read as read_pool
from test_site import Links

from attnviz.contract.lesson import Moment
from attnviz.core.limits import MAX_TALK_BYTES
from attnviz.lessons.lesson import LESSONS, moment
from attnviz.lessons.questions import AnyQuestion
from attnviz.lessons.questions.own import OwnChoice, OwnNumber, OwnOption, OwnWords
from attnviz.lessons.slide import SlideSource
from attnviz.lessons.talk import Talk, TalkError, TalkMoment, lesson_as_talk, read, read_json, talk_moment, write
from attnviz.viewer.site.static_edition import talk_pages

CAT = "sentence=the+cat+sat&heads=1&view=sheet"

TALKS = {name: lesson_as_talk(lesson) for name, lesson in LESSONS.items()}
ASKS = [each.ask for talk in TALKS.values() for each in talk.moment if each.ask]
GAPS = {"kind": "gaps", "prompt": "?", "words": ["the", "cat"]}
GAPS |= {"rows": [{"name": "score", "of": ["scores[cat, the]", "scores[cat, cat]"], "gaps": ["cat"]}]}
ASKS += [msgspec.convert(GAPS, AnyQuestion)]
PICTURES = [each.picture for talk in TALKS.values() for each in talk.moment if each.picture]


def of(**parts):
    return json.loads(msgspec.json.encode(talk_moment(TalkMoment(**{"at": CAT} | parts))))


SIGNATURES = {"png": b"\x89PNG\r\n\x1a\n", "jpeg": b"\xff\xd8\xff", "webp": b"RIFF\x00\x00\x00\x00WEBP"}
IMAGES = [base64.b64encode(each + b"\x00 quoted\xff").decode() for each in SIGNATURES.values()]
NAMES = st.from_regex("[a-z0-9-]{0,9}", fullmatch=True)

texts = st.text(max_size=60)
prompted = st.builds(msgspec.structs.replace, st.sampled_from(ASKS), prompt=texts)
written = dict.fromkeys(("at", "text", "after", "title", "notes"), texts)
asking = st.builds(
    TalkMoment,
    **written,
    ask=st.none() | prompted,
    picture=st.none() | st.sampled_from(PICTURES),
    says_words_alone=st.booleans(),
    asked_as=texts,
    confidence=st.booleans(),
    minutes=st.floats(0, 120),
)
options = st.lists(st.builds(OwnOption, text=texts, right=st.booleans()), max_size=10).map(tuple)
numbers = st.floats(-1e12, 1e12)
own = st.one_of(
    st.builds(OwnChoice, prompt=texts, options=options),
    st.builds(
        OwnNumber, prompt=texts, right=st.none() | numbers, tolerance=st.floats(0, 1e12), unit=st.text(max_size=9)
    ),
    st.builds(OwnWords, prompt=texts),
)
slides = st.builds(SlideSource, text=texts, items=st.lists(texts, max_size=12).map(tuple), image=NAMES, alt=texts)
slide_moments = st.builds(TalkMoment, **written, slide=slides, ask=st.none() | own, confidence=st.booleans())
moments = (
    asking
    | slide_moments
    | st.builds(TalkMoment, **written, ask=own)
    | st.builds(TalkMoment, **written, worked=st.lists(texts, max_size=6).map(tuple))
)
images = st.dictionaries(NAMES.filter(bool), st.sampled_from(IMAGES), max_size=3)
talks = st.builds(Talk, title=texts, moment=st.lists(moments, max_size=4).map(tuple), images=images)


@given(talks)
@example(Talk(title="a.b.c.d.e.f.g.h.i.j.k.l ''' \"\"\" a.b.c.d.e.f.g.h.i.j.k"))  # dots in a text are no deep key
@settings(max_examples=30)
def test_talk_round_trips(talk):
    assert read(write(talk).encode()) == talk
    assert read_json(msgspec.json.encode(talk)) == talk


@pytest.mark.parametrize("name", TALKS)
def test_lesson_is_a_talk(name):
    assert read(write(TALKS[name]).encode()) == TALKS[name]


def test_talk_moment_equals_its_lesson_moment():
    for number, made in enumerate(TALKS["masks"].moment[1:-1], 2):  # none asks for the largest of a row
        own = json.loads(moment("masks", number)) | {"id": "", "recall": None, "why": [], "isOptional": False}
        assert json.loads(msgspec.json.encode(talk_moment(made))) == own


def test_largest_question_selects_the_word_itself():
    """Whoever collects a moment may have picked the answer."""
    ask = msgspec.convert({"kind": "word", "of": "attention[cat, *]", "prompt": "?"}, AnyQuestion)
    assert of(at=f"{CAT}&cell=1.2.1.1.1", ask=ask)["askedCell"] == "attention[0,1,1]"


@pytest.mark.parametrize("number", ["masked[cat, sat]", "exp(1000)", "1 / 0", "attention[cat, *]", "'a'"])
def test_gap_without_a_number_to_give_is_refused(number):
    rows = [{"name": "score", "of": ["scores[cat, the]", number], "gaps": ["cat"]}]
    with pytest.raises(TalkError):
        of(at=f"{CAT}&mask=causal", ask=msgspec.convert(GAPS | {"rows": rows}, AnyQuestion))


def test_worked_example_asks_nothing():
    with pytest.raises(TalkError, match="not both"):
        read(b'[[moment]]\nat = "a"\nworked = ["1"]\nask = { kind = "answer", prompt = "?" }')


PIECES = rb"""" ''' [[moment]] = { } nan inf 1e999 \ud800 1979-05-27 -1 true kind ask={} at=1""".split()
PIECES += [b"\n", b"\xff", b"\x00", b".a" * 20, b"9" * 5_000, b"[" * 2_000]


def broken(seed):
    """Ten thousand files that are broken somewhere."""
    rng = random.Random(seed)
    files = [write(Talk(moment=talk.moment[:2])).encode() for talk in TALKS.values()]
    for _ in range(10_000):
        content = bytearray(rng.choice(files))
        start = rng.randrange(len(content))
        del content[rng.randrange(len(content)) :]
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(content) + 1)
            content[at : at + rng.choice([0, 0, 1, 8])] = rng.choice(PIECES)
        yield bytes(content[start % 40 :] if rng.random() < 0.1 else content)


def said_of(reader, content):
    """What our own error says of it; empty where it is a talk."""
    try:
        return "" if isinstance(reader(content), Talk) else "no talk"
    except TalkError as error:
        return str(error)


@pytest.mark.slow
def test_broken_files_raise_only_talk_errors():
    refused = [said for said in (said_of(read, content) for content in broken(1)) if said]
    assert len(refused) > 8_000
    assert all(20 < len(said) < 400 for said in refused)


def page_of(talk):
    try:
        return next(talk_pages(talk)).text
    except TalkError as error:
        return str(error)


SIZES = [(8, 128, 16, True), (64, 32, 4, True), (32, 32, 4, False), (3, 8, 1, False)]


def test_talk_page_lists_lightened_passes():
    """Of words x d_model x heads: a large pass has one head in its moment already."""
    addresses = [
        f"sentence={'+'.join(f'w{n}' for n in range(words))}&d_model={d_model}&heads={heads}&step=softmax"
        for words, d_model, heads, _ in SIZES
    ]
    page = page_of(Talk(title="T", moment=tuple(TalkMoment(at=at, text="x") for at in addresses)))
    given = Links(page).given
    moments = read_pool(given["moments"])
    assert given["lightened"] == [n for n, (*_, is_lighter) in enumerate(SIZES, 1) if is_lighter]
    for n, (words, d_model, heads, is_lighter) in enumerate(SIZES):
        document = moments[n]["document"]
        numbers = document["stages"] | document["parameters"]["parts"]["stages"]
        missing = {name for name, stage in numbers.items() if None in stage.get("values", ())}
        assert bool(missing) == is_lighter, (words, d_model, heads)


@pytest.mark.slow
def test_broken_talk_page_is_made_or_refused():
    """Of files that are broken and are talks all the same; what they say is data in it."""
    talks = [read(content) for content in islice((each for each in broken(4) if not said_of(read, each)), 20)]
    for made in map(page_of, talks):
        assert 20 < len(made) < 600 or made.count("</script>") == 2
    assert any(len(page_of(talk)) > 10_000 for talk in talks[:5])


MOMENT = b"[[moment]]\nat = ''\n"
NO_TALKS = [
    *(b"title = 1", b'title = "a"\nunknown = 1', b"[[moment]]\ntext = 'no address'", b"title = 'a'\x00", b"\xff\xfe"),
    *(MOMENT + b"minutes = nan", MOMENT + b"minutes = -1", MOMENT + b'ask = { kind = "riddle", prompt = "" }'),
    MOMENT + b'ask = { kind = "share", of = "a", prompt = "", tolerance = inf }',
    MOMENT + b"ask = { kind = 'share', prompt = '', of = '" + b"x" * 3_001 + b"' }",
    *(MOMENT + b'claims = ["1 == 1"]', MOMENT + b"text = '" + b"x" * 3_001 + b"'", MOMENT * 61),
    b"[[moment]]\nat = '" + b"x" * 40_001 + b"'",
    *(b"[" * 100_000, b"a = " + b"[" * 100_000, b"a." * 100_000 + b"a = 1", b"'a'." * 50_000 + b"a = 1"),
    *(b"[a" + b".a" * 100_000 + b"]", b"x = { b" + b" . b" * 50_000 + b" = 1 }", b"x = " + b"9" * 100_000),
    b"#" * (MAX_TALK_BYTES + 1),
]


@pytest.mark.parametrize("content", NO_TALKS, ids=lambda content: content[:20])
def test_file_that_is_no_talk_is_refused(content):
    with pytest.raises(TalkError):
        read(content)


def test_own_moment_matches_its_contract():
    found = of(text="{attention[cat, sat]:%} of it", notes="say it")
    msgspec.convert(found | {"document": whole(found["document"])}, Moment, str_keys=True)
    assert found["text"][0][0] == "number"
    assert found["notes"] == "say it"


@pytest.mark.parametrize(
    "text", ["{nothing}", "{a} {{b}} {", "{attention[dog, sat]}", "{1 / 0}", '{"a" * 99999999999}', "{x:y}"]
)
def test_unknown_slot_stays_as_typed(text):
    assert "".join(run for _, run in of(text=text)["text"]) == text


def test_slot_in_strong_text_is_a_number():
    assert of(text="**{count.words} words**")["text"] == [["strong", "3 words"]]


HOSTILE = [
    *("1 / 0", "exp(9999)", "log(-1)", "log(0)", "max()", "max", "spread(1)", "'a'", "1e999", "1 > 0", "round('a')"),
    *("'a' * 9999999999", "attention[cat, *]", "attention[*, *, *] * attention[cat, *]", "round(1e300, 'a')", "\x00"),
    *("sweep('none', 1, '__class__')", "sweep('none', 2.5, 'spread')", "sweep('nothing', 1, 'spread')", ""),
    *("__import__('os')", "count.words.real", "softmax(attention[cat, sat])", "\u00e9[cat]", 'attention["' * 99),
    *("(" * 300 + "1" + ")" * 300, "-" * 2_000 + "1", "1" + "0" * 2_900, "attention[" + '"' * 999),
]


@pytest.mark.parametrize("kind", ["share", "number", "word", "cell", "count", "compare", "code"])
def test_question_without_answer_is_refused(kind):
    for hostile in HOSTILE:
        parts = {"kind": kind, "prompt": "?", "of": hostile} | ({"unit": "x"} if kind == "count" else {})
        try:
            made = of(ask=msgspec.convert(parts, AnyQuestion))
        except TalkError as error:
            refusal = str(error)
        else:
            refusal = "A question with an answer."
            msgspec.convert(made | {"document": whole(made["document"])}, Moment, str_keys=True)
        assert 20 < len(refusal) < 600


@pytest.mark.parametrize(
    "at", ["%", "model=who-is-it&seed=99", "=", "sentence=", "source=own", "a=b", "model=nothing", "x" * 40_000]
)
def test_unusable_address_is_refused(at):
    with pytest.raises(TalkError):
        of(at=at)
