"""The routes of lessons and talks: moments, questions and files, answered without a session; all else is refused."""

import base64
import gzip
import json
import re
import zlib
from urllib.parse import parse_qsl

import msgspec
import pytest
from asgi import APP, ask
from documents import fitted_at, whole
from msgspec import structs
from page import ROOT
from test_talk import CAT, TALKS

from attnviz.app import lesson_routes
from attnviz.app.lesson_routes import MAX_TALK_REQUEST_BYTES, TALK_PATH
from attnviz.contract.lesson import Moment, OpenedTalk, ShownUploads, SuggestedQuestions, WrittenFile, WrittenPage
from attnviz.lessons.lesson import LESSONS, moment
from attnviz.lessons.talk import read_json, write
from attnviz.viewer.bundle import module

DECLARED = {
    "questions": SuggestedQuestions,
    "file": WrittenFile,
    "export": WrittenFile,
    "talk": OpenedTalk,
    "page": WrittenPage,
    "uploads": ShownUploads,
}


def post(**said):
    """The answer to a request, which is as the contract declares it unless it refuses."""
    answer = ask(APP, TALK_PATH, "POST", body=json.dumps(said).encode())
    if answer.status == 200 and said["kind"] in DECLARED:
        msgspec.json.decode(answer.text, type=DECLARED[said["kind"]])
    return answer


def told(**said):
    return json.loads(post(**said).text)


def suggested(at):
    return told(kind="questions", at=at)["questions"]


def test_moment_has_pass_and_answer():
    answer = post(
        kind="moment",
        moment={"at": CAT, "text": "{count.words}", "ask": {"kind": "word", "of": "attention[cat, *]", "prompt": "?"}},
    )
    found = json.loads(answer.text)
    assert (answer.status, answer.headers["cache-control"]) == (200, "no-store")
    assert found["text"] == [["", "3"]]
    texts = [f"{{attention[cat, {word}]:digits}}" for word in ("the", "cat", "sat")]
    row = [told(kind="moment", moment={"at": CAT, "text": text})["text"][0][1]["text"] for text in texts]
    assert found["question"]["right"] == [max(range(3), key=lambda place: float(row[place]))]
    assert whole(found["document"])["words"]["query"] == ["the", "cat", "sat"]


@pytest.mark.parametrize(
    "at",
    [
        *("", CAT, "model=microgpt&step=neurons", "model=recall", "model=who-is-it&view=sheet&beside=checkpoint%3D0"),
        "sentence=%7Ba%7D+*b*+%22&view=sheet",
    ],
)
def test_suggested_questions_state_their_answer(at):
    offered = suggested(at)
    assert offered
    for each in offered:
        made = told(kind="moment", moment={"at": at, "ask": each["ask"]})["question"]
        right = (
            [made["candidates"][place]["label"] for place in made["right"]] if "candidates" in made else [made["text"]]
        )
        assert all(label in each["answer"] for label in right)


def test_pair_question_compares_the_named_words():
    for mask, seed, query, key in (("", 3, 0, 2), ("&mask=causal", 4, 2, 0), ("", 7, 1, 2)):
        at = f"sentence=the+cat+sat&heads=2{mask}&view=sheet&step=softmax&cell=1.{query + 1}.{key + 1}.1.1"
        offered = suggested(f"{at}&beside=seed%3D{seed}")
        (asked,) = (each for each in offered if each["ask"]["kind"] == "compare")
        pattern = r"Does “(\w+)” give “(\w+)” more in head 1 than in A, less or the same\?"
        names = re.fullmatch(pattern, asked["ask"]["prompt"]).groups()
        assert names == tuple(("the", "cat", "sat")[place] for place in (query, key))
        b, a = (fitted_at(dict(parse_qsl(f"{at}{more}"))).trace for more in ("", f"&seed={seed}"))
        one, other = (each["attention"].value[0, query, key] for each in (b, a))
        assert asked["answer"] == ("more" if one > other else "less")


OFFERED = json.loads((ROOT / "tests/data/offered_questions.json").read_text("utf-8"))
"""For a scene the question of its number, and the number that it asks for."""


@pytest.mark.parametrize(("at", "prompt", "cell"), OFFERED)
def test_number_question_names_stage_head_and_layer(at, prompt, cell):
    asked = {each["ask"]["prompt"]: each for each in suggested(at)}
    assert prompt in asked, list(asked)
    stage, index = re.fullmatch(r"(\w+)\[([\d,]+)\]", cell).groups()
    number = fitted_at(dict(parse_qsl(at))).trace[stage].value[tuple(map(int, index.split(",")))]
    made = told(kind="moment", moment={"at": at, "ask": asked[prompt]["ask"]})["question"]
    assert made["right"] == pytest.approx(number, rel=1e-12)


def test_pair_and_mask_get_their_own_questions():
    def kinds(at):
        return {each["ask"]["kind"] for each in suggested(at)}

    pair, masked, plain = kinds(f"{CAT}&beside=seed%3D3"), kinds(f"{CAT}&mask=causal"), kinds(CAT)
    assert {"compare", "count"} <= pair
    assert masked - plain == {"count"}
    assert "answer" not in plain


@pytest.mark.parametrize(("at", "unit"), [("model=microgpt", "letter"), ("model=mirror", "digit"), ("", "word")])
def test_question_uses_the_models_unit(at, unit):
    prompts = [each["ask"]["prompt"] for each in suggested(at)]
    said = {each for each in ("letter", "digit", "word") for prompt in prompts if each in prompt.split("“")[0]}
    assert said == {unit}


def test_no_question_where_every_answer_is_right():
    """Of a single word, three lines of NumPy give the same share."""
    offered = suggested("sentence=owls&heads=1&view=sheet")
    assert "code" not in {each["ask"]["kind"] for each in offered}


def test_file_round_trips_through_the_route():
    talk = TALKS["masks"]
    as_json = msgspec.json.encode(talk).decode()
    file = told(kind="file", talk=json.loads(as_json))["file"]
    assert file == write(talk)
    for given in ({"file": file}, {"json": as_json}, {"lesson": "masks"}):
        assert read_json(json.dumps(told(kind="talk", **given)["talk"]).encode()) == talk


def test_talk_page_is_self_contained_and_stores_passes_once():
    masks = json.loads(msgspec.json.encode(TALKS["masks"])) | {"title": "</script><b>"}
    page = told(kind="page", talk=masks)["page"]
    assert not re.findall(r"<link|<script src|<b>|href=\"[^#\"]", page)
    assert page.count("</script>") == 2
    twice = masks | {"moment": masks["moment"] * 2}
    assert len(told(kind="page", talk=twice)["page"]) < 1.1 * len(page)


REFUSED = [b"", b"{}", b'{"kind": "riddle"}', b'{"kind": "questions", "at": "%"}', b"[" * 100_000]
REFUSED += [b'{"kind": "talk", "file": "["}', b'{"kind": "talk", "json": "["}']
REFUSED += [b'{"kind": "moment", "moment": %s}' % each for each in (b'{"at": 1}', b'{"at": "a=b"}')]
REFUSED += [b'{"kind": "moment", "moment": {"at": "", "claims": []}}']
TOO_LARGE = b'{"kind": "talk", "file": "' + b"#" * MAX_TALK_REQUEST_BYTES + b'"}'


@pytest.mark.parametrize(("said", "status"), [*((said, 400) for said in REFUSED), (TOO_LARGE, 413)])
def test_wrong_request_is_refused(said, status):
    answer = ask(APP, TALK_PATH, "POST", body=said)
    assert answer.status == status
    assert 20 < len(answer.text) < 600


def test_each_route_has_one_method():
    assert (ask(APP, TALK_PATH).status, ask(APP, FIRST, "POST", body=b"{}").status) == (405, 405)


def test_link_holds_a_whole_talk(node):
    """With words of many scripts; what is broken, cut off or unpacks to too much is refused in a sentence."""
    talk = TALKS["who-is-it"]
    without_notes = tuple(structs.replace(each, notes="") for each in talk.moment)
    talk = type(talk)(title="नमस्ते 🦜 \x00", moment=without_notes)
    lessons = ", ".join(msgspec.json.encode(each).decode() for each in TALKS.values())
    source = f"""
        import {{ MAX_LINK_CHARACTERS, packed, unpacked }} from "{module("talkDock").as_uri()}";
        const given = await packed({msgspec.json.encode(talk).decode()}), json = await unpacked(given);
        const lengths = await Promise.all([{lessons}].map(async each => (await packed(each)).length));
        const refused = [];
        const bomb = await packed({{ title: "a".repeat(3e6), moment: [] }});
        for (const broken of [given.slice(0, 900), given + "!", "#talk=", "#talk=é", given.replace("A", "B"), bomb])
            await unpacked(broken).catch(({{ message }}) => refused.push(message));
        const fit = Math.max(...lengths) < MAX_LINK_CHARACTERS;
        console.log(JSON.stringify([json, given, await unpacked("#other"), refused, fit]));
    """
    found, given, other, refused, fit = json.loads(node("--input-type=module", "--eval", source))
    assert read_json(found.encode()) == talk
    packed = base64.urlsafe_b64decode(given.removeprefix("#talk=") + "==")
    assert read_json(zlib.decompress(packed, wbits=-15)) == talk, "a raw stream of deflate"
    assert fit
    assert other is None
    assert len(refused) >= 5
    assert set(refused) == {refused[0]}


FIRST = "/moment?lesson=who-is-it&moment=1"


def test_moment_route_has_an_etag():
    answer = ask(APP, FIRST)
    found = json.loads(answer.text)
    msgspec.convert(found | {"document": whole(found["document"])}, Moment, str_keys=True)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert "no-cache" in answer.headers["cache-control"], "after an update the browser asks for the new one"
    again = ask(APP, FIRST, **{"if-none-match": answer.headers["etag"]})
    assert (again.status, again.text) == (304, "")
    other = ask(APP, FIRST.replace("moment=1", "moment=2"), **{"if-none-match": answer.headers["etag"]})
    assert other.status == 200


def test_moment_is_compressed():
    answer = ask(APP, FIRST, **{"accept-encoding": "gzip, br"})
    assert answer.headers["content-encoding"] == "gzip"
    assert gzip.decompress(answer.body) == moment("who-is-it", 1)
    assert len(answer.body) < 60_000


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "no such lesson"),
        ("lesson=unicorn&moment=1", "no such lesson"),
        ("lesson=who-is-it", "no such moment"),
        ("lesson=who-is-it&moment=0", "no such moment"),
        ("lesson=who-is-it&moment=99", "no such moment"),
        ("lesson=who-is-it&moment=1.0", "no such moment"),
        ("lesson=who-is-it&moment=%D9%A1", "no such moment"),
        ("lesson=../../pyproject&moment=1", "no such lesson"),
        (f"lesson={'x' * 10_000}&moment=1", "no such lesson"),
    ],
)
def test_unknown_moment_lists_the_known(query, said):
    answer = ask(APP, f"/moment?{query}")
    assert answer.status == 404
    assert said in answer.text
    assert "who-is-it" in answer.text
    assert len(answer.text) < 300, "what was asked for isn't repeated"


def test_class_costs_one_pass(monkeypatch):
    made = []
    monkeypatch.setattr(lesson_routes, "moment", lambda *of: made.append(of) or moment(*of))
    lesson_routes._compressed_moment.cache_clear()
    assert len({ask(APP, "/moment?lesson=order&moment=1").text for _ in range(5)}) == 1
    assert made == [("order", 1)]
    assert set(LESSONS) >= {"order"}
