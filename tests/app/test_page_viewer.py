"""What is done in the viewer of a page, without a browser: what it is given then, and what the address holds."""

import pytest
from page import ROOT, address_of, did, opened, scene_of, sends, sent, warnings

from attnviz import Settings, trace_of
from attnviz.analysis.gradients import gradients
from attnviz.core.limits import MAX_CHANGES
from attnviz.scene.document.reply_notes import ReplyNotes

CHANGES = "scores[0,1,2]=1.5;heads[1]=0;q[0,0,0]=2"
FIRST, MUTED, LAST = CHANGES.split(";")
MUTE = {"stage": "heads", "place": 0}
LARGE = {"sentence": " ".join(f"w{i}" for i in range(64)), "d_model": "128", "heads": "8"}


def changes(at):
    return at.query_params.get("changes", "").split(";")


@pytest.mark.parametrize(
    ("event", "message", "left"),
    [
        ("change", {"cell": "k[1,0,2]", "value": -0.5}, [FIRST, MUTED, LAST, "k[1,0,2]=-0.5"]),
        ("change", {"cell": "scores[0,1,2]", "value": 4}, [MUTED, LAST, "scores[0,1,2]=4"]),
        ("drop", 0, [MUTED, LAST]),
        ("drop", 1, [FIRST, LAST]),
        ("drop", 2, [FIRST, MUTED]),
        ("drop", 3, [FIRST, MUTED, LAST]),
        ("mute", {"stage": "heads", "place": 0}, [FIRST, MUTED, LAST, "heads[0]=0"]),
        ("mute", {"stage": "heads", "place": 1}, [FIRST, LAST, MUTED]),
        ("reset", True, [""]),
    ],
)
def test_what_is_set_by_hand_and_undone_is_in_the_address_and_in_the_pass(event, message, left):
    at = opened(changes=CHANGES)
    answer = did(at, event, message)
    assert answer["notices"] == []
    assert changes(at) == left
    assert len(answer["pass"]["changes"]) == len([each for each in left if each])


@pytest.mark.parametrize("stage", ["heads_1", "heads_2"])
def test_the_head_that_is_muted_is_of_the_layer_that_is_asked_for(stage):
    at = opened(model="recall")
    assert did(at, "mute", {"stage": stage, "place": 0})["notices"] == []
    assert changes(at) == [f"{stage}[0]=0"]


def test_a_change_that_cannot_be_leaves_all_as_it_was_and_says_why():
    at = opened(changes="v[0,0,0]=1e308")
    for message in ({"cell": "w_o[0,0]", "value": 1e9}, {"cell": "scores[0,0,0]", "value": None}):
        answer = did(at, "change", message)
        assert changes(at) == ["v[0,0,0]=1e308"]
        assert len(answer["notices"]) == 1
        assert did(at, "slopes", "")["notices"] == [], "it is said once"


def test_as_many_numbers_are_set_by_hand_as_an_address_may_hold_and_no_more():
    at = opened(changes=";".join(f"q[0,0,{place}]=1" for place in range(4)))
    for place in range(4, MAX_CHANGES + 2):
        answer = did(at, "change", {"cell": f"w_q[0,{place % 8},{place // 8}]", "value": 1.0})
    assert len(changes(at)) == len(set(changes(at))) == MAX_CHANGES
    assert "at most 16" in answer["notices"][0]


@pytest.mark.parametrize(
    ("address", "message", "sentence"),
    [
        ({"sentence": "the  cat, sat"}, [1, 3], "the  sat, cat"),
        ({"sentence": "the  cat, sat"}, [0, 4], "the  cat, sat"),
        ({"sentence": "the cat", "context": "le chat"}, [0, 1], "the cat"),
        ({"model": "who-is-it", "sentence": "It was the  Animal"}, [3, 0], "Animal was the  It"),
        ({"model": "by-hand", "sentence": "abc a"}, [4, 1], "abc a"),  # “^” stands before what was typed
        ({"model": "by-hand", "sentence": "abc a"}, [2, 3], "acb a"),
        ({"model": "by-hand", "sentence": "abc a"}, [0, 1], "abc a"),
    ],
)
def test_two_words_of_one_sentence_are_swapped(address, message, sentence):
    at = opened(**address)
    assert did(at, "swap", message)["notices"] == []
    assert at.query_params["sentence"] == sentence


def test_a_checkpoint_that_is_asked_for_is_shown_and_one_that_does_not_exist_is_not():
    at = opened(model="mirror", seed="1")
    last = sent(at)["model"]["training"]["at"]
    for message, place in ((2, 2), (last, last), (0, 0), (last + 1, 0), (-1, 0), ("1", 0), (None, 0)):
        answer = did(at, "checkpoint", message)
        assert answer["notices"] == []
        assert answer["pass"]["model"]["training"]["at"] == place
        assert at.query_params.get("checkpoint", str(last)) == str(place)


def test_slopes_are_sent_once_to_who_asked():
    at = opened(sentence="the cat sat")
    found = did(at, "slopes", "output[1,0]")["pass"]["slopes"]
    assert found["of"] == "output[1,0]"
    assert found["values"].keys() == gradients(trace_of(Settings("the cat sat")), "output", (1, 0)).keys() - {"output"}
    assert sent(at.run())["slopes"] is None
    assert did(at, "slopes", "nonsense")["pass"]["slopes"] is None


def test_the_heads_that_are_asked_for_are_sent_the_latest_in_any_case():
    at = opened(**LARGE)
    there = [head for head, piece in enumerate(sent(at)["stages"]["attention"]["values"]) if piece]
    for head in [each for each in range(8) if each not in there]:
        assert did(at, "need", f"scores[{head},0,0]")["pass"]["stages"]["attention"]["values"][head]


def test_a_head_that_is_asked_for_comes_however_many_were_asked_for_before():
    at = opened(**LARGE | {"heads": "128"})
    at.session_state["tab"].session.notes = ReplyNotes(heads=tuple(range(1, 100)))
    written = did(at, "need", "scores[100,0,0]")["pass"]
    there = [head for head, piece in enumerate(written["stages"]["attention"]["values"]) if piece]
    assert {0, 100} <= {*there}, "and the selected one"
    assert len(there) < 100


def test_the_viewer_is_led_where_the_scene_says_only_by_who_arrives():
    at = opened(step="Scores", cell="1.2.3.1.1")
    arrival = sent(at)["arrival"]
    for name, message in (("mute", MUTE), ("mask", "causal")):
        assert did(at, name, message)["pass"]["arrival"] == arrival
    assert sent(at.run())["arrival"] == arrival


def test_the_place_that_the_viewer_has_written_is_the_one_that_the_server_says():
    at = opened(step="Scores", cell="1.2.3.1.1", order="index", picked="q")
    for place in ({"step": "output", "cell": "2.3.1.1.4", "ask": "whatif"}, {"step": "softmax"}):
        for name in ("step", "cell", "order", "picked", "ask"):
            at.query_params.pop(name, None)
        for name, text in place.items():
            at.query_params[name] = text
        where = did(at, "mute", MUTE)["pass"]["where"]
        assert (where["step"], where["ask"]) == (place["step"], place.get("ask", "made"))
        assert where["cell"]["head"] == (1 if "cell" in place else 0)
        assert (where["order"], where["picked"]) == ("large", "")


def test_where_one_looks_after_another_source_is_where_the_next_run_leads():
    at = opened(step="Scores")
    did(at, "source", "004 softmax")
    at.query_params["picked"] = "scores"
    at.run()
    assert (sent(at)["where"]["picked"], scene_of(at).picked) == ("scores", "scores")


def test_a_press_that_leads_to_a_step_leads_there_whatever_the_address_says():
    at = opened(step="scores")
    at.session_state["tab"].session.update(step="output")
    assert sent(at.run())["where"]["step"] == at.query_params["step"] == "output"


def test_a_switch_of_pages_loses_nothing_though_streamlit_forgets_the_address():
    at = opened(changes=FIRST, step="Scores", cell="2.3.1.1.1", seed="7")
    before = address_of(at)
    at.query_params.clear()
    at.switch_page("pages/audit.py").run()
    assert at.query_params == before


def test_back_to_another_pass_leads_the_viewer_where_the_address_says(monkeypatch):
    at = opened(step="Scores")
    arrival = sent(at)["arrival"]
    monkeypatch.setattr("attnviz.app.store.is_navigation", lambda: True)
    at.query_params["step"] = "output"
    at.run()
    assert sent(at)["arrival"] == arrival  # in the same pass the viewer reads the address itself
    at.query_params["step"], at.query_params["seed"] = "mask", "7"
    at.run()
    assert sent(at)["arrival"] > arrival
    assert sent(at)["where"]["step"] == "softmax"  # the nearest: there is no mask


WRONG_CHANGES = "scores[9,9,9]=1;q_2[1]=3;scores[0,0,0]=2"
NOTICES = [
    ({"heads": "7"}, ["got '7', using 8"]),
    ({"changes": WRONG_CHANGES}, ["scores[9,9,9]=1 is left out", "q_2[1]=3 is left out"]),
]


@pytest.mark.parametrize(("address", "says"), NOTICES)
def test_what_was_mended_or_refused_is_said_once(address, says):
    at = opened(sentence="a b c", **address)
    assert len(warnings(at)) == len(says)
    assert all(any(each in text for text in warnings(at)) for each in says)
    assert not warnings(at.run())


def test_of_another_pass_nothing_is_said_that_was_refused_before(monkeypatch):
    monkeypatch.setattr("streamlit.switch_page", lambda page: None)  # the page is opened without the router
    at = opened(ROOT / "pages" / "what_attention_says.py", sentence=" ")
    sends(at, "evidence_2", "opened", "measured-2-2")
    assert not warnings(at.run())


def test_a_given_number_that_is_set_to_what_it_was_is_no_change():
    at = opened(mask="causal")
    for value, held in ((1, "mask[1,2]=1"), (0, "")):
        did(at, "change", {"cell": "mask[1,2]", "value": value})
        assert changes(at) == [held]
    score = float(trace_of(Settings("the cat sat on the mat"))["scores"].value[0, 1, 2])
    at = opened()
    did(at, "change", {"cell": "scores[0,1,2]", "value": score})
    assert changes(at) == [f"scores[0,1,2]={score!r}"]  # a computed one is held, whatever comes before it
