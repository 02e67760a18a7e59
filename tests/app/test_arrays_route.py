"""Files of somebody's own, sent to their route: what is compared, what is refused, and that nothing of them stays."""

import asyncio
import io
import json
import logging
import re
import threading

import numpy as np
import pytest
from asgi import APP, MARKER, ask, asked, run
from implementations import Implementation, softmax
from page import PAGES, answer_of, opened, pieces_in, warnings, worded
from patience import PATIENCE_SECONDS
from posts import answer, new_tab
from test_microgpt import own as own_microgpt

from attnviz import UnexpectedError, attend, compare
from attnviz.app import browser_tabs, sections
from attnviz.articles.upload_reply import OPEN_MODEL, Reply
from attnviz.checks.report import compare_arrays
from attnviz.checks.uploads import QUESTIONS
from attnviz.core.limits import MAX_FILE_BYTES
from attnviz.core.parameters import Parameters
from attnviz.models import statefile
from attnviz.models.model import Built
from attnviz.scene.address import parse, query
from attnviz.scene.document import pass_cache
from attnviz.scene.scene import OWN_MODEL, OWN_PARAMETERS, Options, Scene, parts_for_source
from attnviz.scene.with_pass import LACKS_ARRAYS, resolve


@pytest.fixture
def tab():
    return new_tab()


def sent(tab, content=b"", name="own.npz", **said):
    """What a page sends of a file."""
    first = {each: next(iter(answers)) for each, (_, answers) in QUESTIONS.items()}
    line = {"tab": tab if isinstance(tab, str) else tab.token, "filename": name, "example": ""} | first | said
    return json.dumps(line).encode() + b"\n" + content


def post(body):
    return ask(APP, browser_tabs.ARRAYS_PATH, "POST", body=body)


def said(answered):
    assert answered.status == 200, answered.text
    pieces = list(pieces_in(json.loads(answered.text)["pieces"]))
    return "\n".join(worded(each) for each in pieces if each["kind"] == "text")


def npz(arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def implementation(**how):
    return Implementation(np.random.default_rng(1), n=6, mask=np.tri(6, dtype=bool), **how)


IMPLEMENTATIONS = {
    "transposed": "The first stage that differs: output. W_V was used transposed.",
    "mask inverted": "The first stage that differs: attention. The mask was applied the other way round.",
    "": "Attention and output agree to float32 rounding.",
}


@pytest.mark.parametrize(("wrong", "says"), IMPLEMENTATIONS.items())
def test_a_file_is_compared_with_the_pass_of_its_own_inputs_and_weights(tab, wrong, says):
    own = implementation(wrong=wrong)
    file = npz(own.written("torch.nn.MultiheadAttention", "attention", "output"))
    answered = post(sent(tab, file, true_is="hidden"))
    assert said(answered).startswith(says)
    assert "read transposed" in said(answered)
    assert answered.headers["cache-control"] == "no-store"
    assert ("marked" in answered.text) == bool(wrong)


def test_one_array_is_compared_with_the_pass_in_the_walkthrough(tab):
    trace = tab.session.resolved().trace
    csv = "\n".join(",".join(map(str, row)) for row in trace["output"].value).encode()
    for name, stage in (("output.csv", ""), ("mine.csv", ""), ("mine.csv", "output")):
        assert said(post(sent(tab, csv, name, stage=stage))).startswith("Output agrees to float64 rounding.")
    assert tab.session.uploads == {}
    assert said(post(sent(tab, npz({"q": trace["q"].value * 2}), against="shown"))).startswith(
        "The first stage that differs: Q."
    )


@pytest.mark.parametrize("against", ["own", "shown"])
def test_the_pass_of_their_code_opens_beside_the_right_one_where_it_is_furthest_off(tab, against):
    """The file holds attention, whose scores weren't divided; of a pass in the walkthrough nothing else is known."""
    tab.session.update(**vars(Scene(sentence="the cat sat on it", options=Options(mask="causal"))))
    right = tab.session.resolved().trace
    theirs = softmax(np.where(np.tri(5, dtype=bool), right["scores"].value, -np.inf))
    begins = {name: right[name].value for name in ("x", "w_q", "w_k", "w_v", "w_o", "mask")} if against == "own" else {}
    answered = post(sent(tab, npz(begins | {"attention": theirs}), against=against, true_is="visible"))
    assert {"kind": "door", "door": "pair"}.items() <= max(json.loads(answered.text)["pieces"], key=is_pair).items()
    tab.session.update(**tab.session.pair())
    address = query(tab.session.scene)
    assert address["source"] == OWN_PARAMETERS if against == "own" else "source" not in address
    assert "own-code" in address["beside"]
    assert parse(address, tab.session.uploads).scene == tab.session.scene
    shown = tab.session.resolved()
    for scene, expected in ((shown, right["attention"].value), (shown.other, theirs)):
        np.testing.assert_allclose(scene.trace["attention"].value, expected, atol=1e-12)
    off = np.abs(theirs - right["attention"].value)
    at = shown.scene.selection
    assert (shown.scene.picked, off[at.head, at.query, at.key]) == ("attention", off.max())
    document = answer(tab)["pass"]
    assert document["other"]["between"] == [["Computed by", "your code", "attnviz"]]
    assert document["other"]["first"] == "scaled"
    for act in (("exchange", True), ("pair", "code"), ("reset", True)):
        assert answer(tab, act)["pass"]["other"]["between"]
    for view in ("audit", "script"):
        assert answer(tab, ("exchange", True), view=view)[view]
    post(sent(tab, npz(begins | {"attention": right["attention"].value}), against=against, true_is="visible"))
    assert tab.session.pair() == {}, "nothing is wrong in the file that came last"
    elsewhere = resolve(parse(address).scene)
    assert any(LACKS_ARRAYS in each for each in (*elsewhere.notices, *elsewhere.refused))


def is_pair(piece):
    return piece.get("door") == "pair"


def everyones():
    """The keys of what is cached for everyone."""
    return set(pass_cache.PASS_CACHE._entries)


def test_inputs_and_weights_alone_are_a_pass_of_their_own_whose_numbers_are_attends(tab):
    own = implementation()
    arrays = own.written("attnviz")
    words = ["<i>the</i>", "cat", "sat", "on", "the", "mat"]
    before = everyones()
    assert "nothing to compare yet" in said(post(sent(tab, npz(arrays | {"tokens": np.array(words)}))))
    tab.session.update(**parts_for_source(OWN_PARAMETERS))
    found = answer(tab, ("change", {"cell": "w_o[0,0]", "value": 2}), ("reset", True), ("slopes", "output[0,0]"))
    assert found["pass"]["words"]["query"] == ["<i>the</i>", "cat", "sat", "on", "the", "mat"]
    assert found["pass"]["slopes"]["values"]
    pair = answer(tab, ("pin", True), ("change", {"cell": "w_o[0,0]", "value": 2}))["pass"]["other"]
    assert pair["between"] == [["Set by hand", "nothing", "w_o[1, 1] = 2"]]
    answer(tab, ("unpin", True), ("reset", True))
    assert found["address"]["source"] == OWN_PARAMETERS
    parameters = {name: each for name, each in arrays.items() if name[1:2] == "_"}
    expected = attend(own.x, parameters=Parameters(**parameters), mask=own.mask)
    trace = tab.session.resolved().trace
    for stage in expected.stages:
        np.testing.assert_array_equal(trace[stage.name].value, stage.value)
    for view in ("audit", "script", "pass"):
        assert answer(tab, view=view)[view]
    assert answer(tab, view="audit")["audit"]["agrees"]
    other = new_tab()
    other.session.update(**parts_for_source(OWN_PARAMETERS))
    for _ in range(2):  # what two ask for alike is kept else
        lacking = answer(other)
        assert (lacking["pass"], lacking["lacksFile"], lacking["notices"]) == (None, True, [LACKS_ARRAYS])
        assert not answer(tab)["lacksFile"]
    assert everyones() == before


def test_a_pass_too_large_for_the_walkthrough_is_compared_and_says_so(tab):
    x = np.random.default_rng(2).normal(size=(65, 4))
    found = said(post(sent(tab, npz({"x": x, "w_q": np.eye(4), "w_k": np.eye(4), "w_v": np.eye(4)}))))
    assert "The walkthrough shows at most 64 tokens; this pass has 65." in found
    assert tab.session.uploads == {}


WRONG_FILES = [
    (b"PK\x03\x04", "a.npz", "must be a .npz file as NumPy"),
    (b"", "<b>.exe", "A file of arrays is one of .npz, .npy, .safetensors, .csv; got '<b>.exe'."),
    (b"1,2\n3", "\ud800\u202e.csv", "all rows of one length"),
    (npz({"x": np.eye(3)}) * 2, "a.npy", "must be a .npy file"),
    (npz({"zz": np.eye(3)}), "a.npz", "A pass begins with x and parameters"),
]


@pytest.mark.parametrize(("content", "name", "says"), WRONG_FILES)
def test_a_wrong_file_gets_one_sentence(tab, content, name, says):
    assert says in said(post(sent(tab, content, name)))


def test_what_no_page_sends_is_refused(tab):
    for body in (
        b"",
        b"\n",
        b"[" * 9_000,
        b"x" * (browser_tabs.MAX_LINE_BYTES + 1) + b"\n",
        sent(tab, example="other"),
        sent(tab, n_heads=2),
        sent(tab, stage="x" * 300),
        sent(tab).replace(b"\n", b""),
    ):
        assert post(body).status == 400
    assert post(sent("0" * 32)).status == 404
    assert post(sent(tab, b" " * (MAX_FILE_BYTES + 1))).status == 413
    assert ask(APP, browser_tabs.ARRAYS_PATH, "GET").status == 405
    assert ask(APP, browser_tabs.ARRAYS_PATH, "POST", body=sent(tab), origin="http://evil.example").status == 403


def test_one_file_of_a_tab_is_compared_at_once_from_its_share_and_no_act_waits_for_it(tab, monkeypatch):
    may_end, begun = threading.Event(), threading.Event()

    def compares(*_):
        begun.set()
        assert may_end.wait(PATIENCE_SECONDS)
        return Reply([])

    monkeypatch.setattr(browser_tabs, "reply", compares)

    async def story():
        first = asyncio.create_task(asked(APP, browser_tabs.ARRAYS_PATH, "POST", body=sent(tab)))
        while not begun.is_set():
            await asyncio.sleep(0)
        second = await asked(APP, browser_tabs.ARRAYS_PATH, "POST", body=sent(tab))
        act = await asyncio.to_thread(answer, tab, ("mask", "causal"))
        may_end.set()
        return second.status, act["address"]["mask"], (await first).status

    before = tab.cpu_quota.used
    assert run(story()) == (429, "causal", 200)
    assert tab.cpu_quota.used > before
    assert not browser_tabs._COMPARING


def test_files_of_many_wait_for_their_turn_and_one_that_is_slow_to_come_keeps_nobody_waiting(tab, monkeypatch):
    may_end, underway = threading.Event(), []
    monkeypatch.setattr(
        browser_tabs, "reply", lambda *_: (underway.append(1), may_end.wait(PATIENCE_SECONDS), Reply([]))[2]
    )
    many = [new_tab() for _ in range(30)]

    async def slow(last):
        yield {"type": "http.request", "body": sent(tab), "more_body": True}
        await last.wait()
        yield {"type": "http.request", "body": b""}

    async def story():
        last = asyncio.Event()
        coming = asyncio.create_task(asked(APP, browser_tabs.ARRAYS_PATH, "POST", messages=slow(last)))
        compared = [asyncio.create_task(asked(APP, browser_tabs.ARRAYS_PATH, "POST", body=sent(each))) for each in many]
        while len(browser_tabs._COMPARING) < len(many):
            await asyncio.sleep(0)
        at_once = len(underway)
        may_end.set()
        found = {each.status for each in await asyncio.gather(*compared)}
        last.set()
        return at_once, found, (await coming).status

    at_once, found, late = run(story())
    assert at_once <= 1
    assert (found, late) == ({200}, 200)


def test_nothing_that_a_file_holds_is_in_the_log(tab, caplog):
    with caplog.at_level(logging.DEBUG):
        said(post(sent(tab, npz({MARKER: np.eye(3), "x": np.eye(3)}), f"{MARKER}.npz")))
        said(post(sent(tab, MARKER.encode(), f"{MARKER}.csv")))
    assert MARKER not in caplog.text


def test_a_bug_of_ours_is_a_sentence_on_the_page_and_a_line_in_the_log(tab, caplog, monkeypatch):
    def examined(*_):
        raise KeyError(MARKER)

    monkeypatch.setattr(compare_arrays, "explain", examined)
    monkeypatch.setattr(statefile, "matrices", examined)
    arrays = {MARKER: np.eye(3), "x": np.eye(3)}
    with pytest.raises(UnexpectedError, match=BUG) as raised:
        compare(None, arrays)
    assert isinstance(raised.value.__cause__, KeyError)
    for content, name in ((npz(arrays), f"{MARKER}.npz"), (json.dumps(own_microgpt()).encode(), f"{MARKER}.json")):
        caplog.clear()
        answered = post(sent(tab, content, name))
        assert re.search(BUG, said(answered))
        assert MARKER not in answered.text
        [line] = caplog.messages
        assert re.match(r"A file could not be compared: KeyError at test_arrays_route\.py:\d+ < ", line)
        assert MARKER not in caplog.text


BUG = r"attnviz could not .* That is a bug of ours: please report it with .* this line: KeyError at test_arrays_route"


@pytest.mark.parametrize("block_size", [1, 2, 3])
def test_a_microgpt_of_few_positions_opens_with_as_many_letters_as_it_reads(tab, block_size):
    own = own_microgpt()
    whole = statefile.read(json.dumps(own).encode()).trace("xy")["logits"].value
    own["state_dict"]["wpe"] = own["state_dict"]["wpe"][:block_size]
    answered = said(post(sent(tab, json.dumps(own).encode(), "mine.json")))
    assert answered.startswith("A microgpt of your own\n")
    parts = sections._parts_of_link(tab.session, OPEN_MODEL)
    tab.session.update(**parts)
    assert answer(tab)["pass"]["words"]["query"] == ["BOS", "x", "y"][:block_size]
    logits = tab.session.resolved().trace["logits"].value
    np.testing.assert_allclose(logits, whole[:block_size], rtol=0, atol=1e-12)
    for actions in ([("next", True)], [("names", True)], [("sentence", "zzzz")], [("pin", True)]):
        assert len(answer(tab, *actions)["pass"]["words"]["query"]) <= block_size
    assert answer(tab, ("example", parts["sentence"]))["notices"] == []


def test_a_microgpt_of_ones_own_reads_what_is_typed_and_is_in_this_tab_alone(tab):
    written = json.dumps(own_microgpt()).encode()
    model, before = statefile.read(written), everyones()
    assert said(post(sent(tab, written, "mine.json"))).startswith("A microgpt of your own")
    place = tab.session
    place.update(**parts_for_source(OWN_MODEL), sentence="zxy")
    assert np.array_equal(place.resolved().trace["logits"].value, model.trace("zxy")["logits"].value)
    found = answer(tab, ("sentence", "Éy"), ("pin", True), ("sentence", "xy"))
    assert found["pass"]["words"]["query"] == ["BOS", "x", "y"]
    assert found["pass"]["other"]["document"]["words"]["query"] == ["BOS", "é", "y"]
    assert found["address"] | {"beside": None} == dict.fromkeys(found["address"]) | {
        "source": OWN_MODEL,
        "sentence": "xy",
    }
    assert everyones() == before
    other = new_tab()  # who follows the link has none
    other.session.update(source=OWN_MODEL, sentence="xy")
    assert answer(other)["notices"] == [LACKS_ARRAYS]
    assert answer(other)["lacksFile"]
    answer(tab, ("source", "mirror"))
    assert place.scene.upload is None
    assert said(post(sent(tab, b"[1]", "mine.json"))).startswith("A state file is an object")


def too_large(letters):
    """A microgpt of one's own in which the numbers of some letters, by their places, have squares beyond float64."""
    found = own_microgpt()
    for place in letters:
        found["state_dict"]["wte"][place] = [1e160] * 12
    return found


BEYOND = "The squares of a row that is normed must add up to a number of float64. Use smaller ones."


def test_a_model_that_makes_no_pass_is_not_offered(tab):
    answered = post(sent(tab, json.dumps(too_large(range(5))).encode(), "mine.json"))
    assert said(answered).startswith(f"This microgpt makes no pass.\n{BEYOND}")
    assert "Open in the walkthrough" not in answered.text
    assert tab.session.uploads == {}
    answered = post(sent(tab, json.dumps(too_large([3])).encode(), "mine.json"))
    assert "Open in the walkthrough" in answered.text


def test_a_text_of_which_a_model_makes_no_pass_is_told_so_on_every_page_and_breaks_none():
    for page in PAGES:
        at = opened(page)
        place = at.session_state["tab"].session
        place.keep(Built(statefile.read(json.dumps(too_large([3])).encode())))
        for sentence, says in (("xy", []), ("xé", [BEYOND])):
            place.update(**parts_for_source(OWN_MODEL), sentence=sentence)
            at.run()
            assert not at.exception, page
            assert not answer_of(at) or warnings(at) == says, page


def test_names_whose_numbers_go_beyond_float64_are_not_written_and_it_is_said(tab):
    tab.session.keep(Built(statefile.read(json.dumps(too_large([3])).encode())))
    tab.session.update(**parts_for_source(OWN_MODEL), sentence="xy")
    assert answer(tab, ("names", True))["pass"]["next"]["names"]["text"] == BEYOND
