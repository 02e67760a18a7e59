"""What is done in the viewer of a page, without a browser: what it is given then, and what the address holds."""

import pytest
from page import address_of, did, opened, scene_of, sent, warnings

from attnviz import Settings, trace_of
from attnviz.analysis.provenance import gradients
from attnviz.core.limits import MAX_CHANGES

CHANGES = "scores[0,1,2]=1.5;heads[1]=0;q[0,0,0]=2"
FIRST, MUTED, LAST = CHANGES.split(";")
MUTE = {"stage": "heads", "place": 0}


def changes(at):
    return at.query_params.get("changes", "").split(";")


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


def test_slopes_are_sent_once_to_who_asked():
    at = opened(sentence="the cat sat")
    found = did(at, "slopes", "output[1,0]")["pass"]["slopes"]
    assert found["of"] == "output[1,0]"
    assert found["values"].keys() == gradients(trace_of(Settings("the cat sat")), "output", (1, 0)).keys() - {"output"}
    assert sent(at.run())["slopes"] is None
    assert did(at, "slopes", "nonsense")["pass"]["slopes"] is None


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
    monkeypatch.setattr("attnviz.app.page_scene.is_navigation", lambda: True)
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


def test_a_given_number_that_is_set_to_what_it_was_is_no_change():
    at = opened(mask="causal")
    for value, held in ((1, "mask[1,2]=1"), (0, "")):
        did(at, "change", {"cell": "mask[1,2]", "value": value})
        assert changes(at) == [held]
    score = float(trace_of(Settings("the cat sat on the mat"))["scores"].value[0, 1, 2])
    at = opened()
    did(at, "change", {"cell": "scores[0,1,2]", "value": score})
    assert changes(at) == [f"scores[0,1,2]={score!r}"]  # a computed one is held, whatever comes before it
