"""Numbers of one's own in a talk: its file gives them back to the last bit, and a broken one raises nothing else."""

import base64
import io
import json
import random
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from asgi import APP, ask
from documents import whole
from implementations import Implementation

from attnviz.app.browser_tabs import OPEN, Tab
from attnviz.app.lesson_routes import TALK_PATH
from attnviz.checks.uploads import Layer, UploadRequest, UserStages, compared, packed, unpacked
from attnviz.core.errors import OwnArraysError
from attnviz.core.limits import MAX_TALK_BYTES, MAX_TALK_UPLOAD_CHARACTERS
from attnviz.core.order import LAYER, layer_configs
from attnviz.lessons.talk import Talk, TalkError, TalkMoment, read, talk_moment, talk_passes, uploads_of_scene, write
from attnviz.lessons.talk_request import suggested_questions
from attnviz.models import MODELS, statefile
from attnviz.models.model import Built
from attnviz.scene.actions.session import Session
from attnviz.scene.scene import FIRST_VISIT, OWN_MODEL, OWN_PARAMETERS, Scene
from attnviz.viewer.site.static_edition import talk_file


def npz(arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def user_arrays(format_="BERT", **parts):
    made = Implementation(np.random.default_rng(1), np.float64, n=4, mask=np.tri(4, dtype=bool), **parts)
    arrays = made.written(format_, "attention") | {"tokens": np.array(["owls", "<b>", "सी", "mice"])}
    asked = UploadRequest("", "own.npz", "", "", "", "own", "", "")
    return compared(asked, npz(arrays), None).parameters


ARRAYS = user_arrays()
MICROGPT = Built(statefile.read(statefile.to_json(MODELS["microgpt"].at(0))))
TALK = Talk(
    title="Mine",
    moment=(
        TalkMoment(
            at=f"source={OWN_PARAMETERS}", uploads=tuple(uploads_of_scene(Scene(OWN_PARAMETERS, upload=ARRAYS)))
        ),
        TalkMoment(
            at=f"source={OWN_MODEL}&sentence=emma", uploads=tuple(uploads_of_scene(Scene(OWN_MODEL, upload=MICROGPT)))
        ),
    ),
    uploads=uploads_of_scene(Scene(OWN_PARAMETERS, upload=ARRAYS))
    | uploads_of_scene(Scene(OWN_MODEL, upload=MICROGPT)),
)


def test_arrays_round_trip_bitwise():
    again = unpacked(packed(ARRAYS))
    one, other = ARRAYS.trace(), again.trace()
    assert [stage.name for stage in one.stages] == [stage.name for stage in other.stages]
    for stage in one.stages:
        assert stage.value.tobytes() == other[stage.name].value.tobytes()
    assert (one.labels, again.block) == (other.labels, ARRAYS.block)


def test_layers_round_trip():
    names = {"x", "w_q", "hidden", "attn_norm", "mlp_norm", "residual"}
    options = {step.name for step in LAYER if step.option in ("qk_norm", "rotation", "softcap", "alibi")}
    blocks = [replace(block, n_heads=2, d_k=4) for block in layer_configs(names | options)]
    assert len({repr(block) for block in blocks}) == len(blocks) > 300
    assert all(Layer.of(block).block == block for block in blocks)
    assert {block.rotation is None for block in blocks} == {False}
    assert all(block.softcap and block.alibi and block.qk_norm for block in blocks)


def test_microgpt_round_trips_bitwise():
    again = unpacked(packed(MICROGPT)).at(0)
    assert again.trace("emma")["logits"].value.tobytes() == MICROGPT.at(0).trace("emma")["logits"].value.tobytes()


def test_user_stages_stand_beside_their_pass():
    code = UserStages({"masked": ARRAYS.trace()["scores"].value - 1}, "attention")
    again = unpacked(packed(code))
    assert (again.at, again.values["masked"].tobytes()) == ("attention", code.values["masked"].tobytes())
    right = Scene(OWN_PARAMETERS, upload=ARRAYS)
    uploads = uploads_of_scene(replace(right, other=replace(right, code=code)))
    assert uploads.keys() == (uploads_of_scene(right) | uploads_of_scene(replace(right, code=code))).keys()
    assert len(uploads) == 2
    moment = TalkMoment(at=f"source={OWN_PARAMETERS}&beside=code%3Down-code", uploads=tuple(uploads))
    found = json.loads(msgspec.json.encode(talk_moment(moment, uploads)))
    assert found["document"]["other"]["first"] == "masked"
    with pytest.raises(TalkError, match="own numbers"):
        talk_moment(TalkMoment(at=f"source={OWN_PARAMETERS}&code=own-code", uploads=moment.uploads[:1]), uploads)


def test_talk_stores_each_upload_once():
    twice = msgspec.structs.replace(TALK, moment=TALK.moment * 3)
    assert read(write(twice).encode()) == twice
    assert all(write(twice).count(each) == 1 for each in TALK.uploads.values())


def test_moment_and_page_show_the_upload():
    found = json.loads(msgspec.json.encode(talk_moment(TALK.moment[0], TALK.uploads)))
    document = whole(found["document"])
    assert document["words"]["query"] == ["owls", "<b>", "सी", "mice"]
    shares = np.frombuffer(base64.b64decode(document["stages"]["attention"]["values"][0]))
    assert shares.tobytes() == ARRAYS.trace()["attention"].value[0].tobytes()
    questions = suggested_questions(talk_passes(TALK.moment[0].at, TALK.uploads, TALK.uploads))
    assert {"word", "share"} <= {each.ask["kind"] for each in questions}
    page = talk_file(TALK)
    assert "सी" in page
    assert not any(each in page for each in TALK.uploads.values()), "it computes nothing, and needs none of them"


def test_missing_upload_is_reported():
    for uploads in ({}, {TALK.moment[0].uploads[0]: "!"}, {TALK.moment[0].uploads[0]: "AAAA"}):
        with pytest.raises(TalkError, match=r"the talk|base64|broken"):
            talk_moment(TALK.moment[0], uploads)
    with pytest.raises(TalkError, match="own numbers"):
        talk_moment(TalkMoment(at=TALK.moment[0].at), TALK.uploads)


def test_uploads_are_limited_in_size():
    most = MAX_TALK_UPLOAD_CHARACTERS
    whole_ = Talk(uploads={"a": "A" * (most - 4), "b": "AAAA"})
    assert read(write(whole_).encode()) == whole_
    with pytest.raises(OwnArraysError, match="8 MiB"):
        Talk(uploads={"a": "A" * most, "b": "A"})
    with pytest.raises(TalkError, match="8 MiB"):
        read(b"\n[uploads]\na = '" + b"A" * most + b"'\nb = 'AAAA'\n")
    with pytest.raises(TalkError, match="at most"):
        read(b"title = '" + b"A" * (MAX_TALK_BYTES + 1) + b"'")
    with pytest.raises(TalkError, match="at most"):
        read(b'\n[uploads]\na = "' + b"A" * (MAX_TALK_BYTES + 1) + b'"')


def test_text_is_never_read_as_upload():
    assert read(b"title = 'AAAA'").title == "AAAA"
    talk = Talk(title="\n[uploads]\na = 'AAAA'\n", uploads={"a": "BBBB"})
    assert read(write(talk).encode()) == talk
    with pytest.raises(TalkError, match="uploads"):
        read(b'title = """\n[uploads]\na = \'AAAA\'\n"""')


@pytest.mark.parametrize(
    "text",
    [
        "uploads = 1",
        "uploads = ['a']",
        "[uploads]\na = 1",
        "[uploads]\n\"a b\" = 'AAAA'",
        "[uploads]\nA = 'AAAA'",
        "[[moment]]\nat = ''\nuploads = ['a', 'b', 'c', 'd']",
        "[[moment]]\nat = ''\nuploads = 'a'",
        "[uploads]\na = 'AAAA'\na = 'BBBB'",
        "[uploads]\n" + "\n".join(f"a{n} = 'AAAA'" for n in range(181)),
    ],
)
def test_wrong_upload_table_is_refused(text):
    with pytest.raises(TalkError):
        read(text.encode())


def broken(count):
    """Files with arrays or a model, broken somewhere: bytes, or arrays that don't fit each other."""
    drawn, whole_files = random.Random(3), [packed(ARRAYS), packed(MICROGPT)]
    for _ in range(count):
        if drawn.random() < 0.5:
            content = bytearray(drawn.choice(whole_files))
            for _ in range(drawn.randrange(1, 4)):
                content[drawn.randrange(len(content))] = drawn.randrange(256)
            yield bytes(content[: drawn.choice([None, drawn.randrange(len(content))])])
        else:
            yield npz(misfits(drawn))


def misfits(drawn):
    """The arrays of a pass, one of which is missing, is another, or has another shape."""
    layer = {"n_heads": 2, "d_k": 2, "unprojected": False, "residual": False, "activation": "relu"}
    layer |= {"attn_norm": "", "mlp_norm": ""}
    name, value = drawn.choice([*layer.items()])
    layer[name] = drawn.choice([value, 0, -1, 10**9, None, "", True, "gelu tanh", "layernorm", 128])
    arrays = {**ARRAYS.arrays, "layer": np.array([json.dumps(layer)]), "tokens": np.array(["a"] * 4)}
    for _ in range(drawn.randrange(3)):
        name = drawn.choice([*arrays, "x", "scores", "mask", "microgpt", "positions", "g_attn_norm"])
        shape = tuple(drawn.randrange(6) for _ in range(drawn.randrange(5)))
        arrays[name] = drawn.choice(
            [np.zeros(shape), np.full(shape, np.nan), np.full(shape, 1e308), np.array(["x"]), np.ones(shape, bool)]
        )
    if drawn.random() < 0.3:
        del arrays[drawn.choice([*arrays])]
    return arrays


def read_or_refused(content):
    try:
        unpacked(content).at(0) if "microgpt" in str(content[:200]) else unpacked(content)
    except OwnArraysError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("count", [300, pytest.param(2_000, marks=pytest.mark.slow)])
def test_broken_uploads_raise_only_array_errors(count):
    said = [read_or_refused(content) for content in broken(count)]
    assert sum(map(bool, said)) > 0.7 * count
    assert all(len(each) < 400 for each in said)


def test_tabs_exchange_uploads():
    tab, other = Tab(), Tab()
    for each in (tab, other):
        OPEN[each.token] = each
        each.session = Session(FIRST_VISIT)
    tab.session.keep(ARRAYS)
    said = {"kind": "uploads", "tab": tab.token, "at": f"source={OWN_PARAMETERS}"}
    uploads = json.loads(ask(APP, TALK_PATH, "POST", body=json.dumps(said).encode()).text)["uploads"]
    assert uploads == uploads_of_scene(Scene(OWN_PARAMETERS, upload=ARRAYS))
    answer = ask(
        APP, TALK_PATH, "POST", body=json.dumps({"kind": "give", "tab": other.token, "uploads": uploads}).encode()
    )
    assert answer.status == 200
    assert other.session.uploads[OWN_PARAMETERS].arrays.keys() == ARRAYS.arrays.keys()
    assert ask(APP, TALK_PATH, "POST", body=json.dumps(said | {"tab": "nobody"}).encode()).status == 400
    hostile = {"kind": "give", "tab": other.token, "uploads": {"a": "AAAA"}}
    assert ask(APP, TALK_PATH, "POST", body=json.dumps(hostile).encode()).status == 400
