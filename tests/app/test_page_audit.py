"""Audit, without a browser: the page says what the audit found, and of a large pass asks first."""

import pytest
from page import ADDRESSES, ROOT, SENTENCE, answer_of, did, opened, quiet, trace_at
from streamlit.testing.v1 import AppTest

from attnviz import Settings, trace_of
from attnviz.analysis.audit import Audit, audit
from attnviz.app import page_scene
from attnviz.app import sections as section
from attnviz.core.operations.linear import WeightedSum
from attnviz.scene.actions import session
from attnviz.scene.document import reply
from attnviz.scene.document.pass_cache import PassCache

AUDIT = ROOT / "pages" / "audit.py"
LARGE = " ".join(f"w{i}" for i in range(30))


def found(at):
    """What the page shows of the audit."""
    return answer_of(at)["audit"]


def of(trace):
    return Audit(tuple(audit(trace)))


def stage_by_stage(shown, whole):
    """The table has the counts of the audit."""
    assert [row["name"] for row in shown["stages"]] == [each.stage for each in whole.stages]
    for row, each in zip(shown["stages"], whole.stages, strict=True):
        counts = [f"{each.n_agree} of {each.n_recomputed} agree"] if each.n_recomputed else []
        assert row["numbers"].split(", ") == counts + ([f"{each.n_given} given"] if each.n_given else [])
        assert row["off"] == (f"{each.largest_difference:.0e}".replace("0e+00", "0") if each.n_recomputed else "")


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_the_audit_is_told_as_it_came_out(address):
    whole = of(trace_at(address))
    at = opened(AUDIT, **address)
    assert quiet(at)
    assert found(at)["sentence"] == f"{whole.sentence(None)}."
    stage_by_stage(found(at), whole)
    assert found(at)["agrees"]


def test_what_is_done_is_answered_with_the_audit_of_the_pass_it_makes():
    at = opened(AUDIT, sentence=SENTENCE)
    for name, value, settings in (("mask", "causal", {}), ("d_model", 16, {"d_model": 16})):
        shown = did(at, name, value)["audit"]
        assert shown["sentence"] == f"{of(trace_of(Settings(SENTENCE, mask='causal', **settings))).sentence(None)}."


def test_no_link_and_no_act_has_a_large_pass_audited(monkeypatch):
    for each in (section, reply):
        monkeypatch.setattr(each, "audit", None)
    changes = ";".join(f"{stage}[0,0,0]=0.5" for stage in ("q", "k", "v", "scores", "heads", "contributions"))
    address = {"sentence": LARGE, "recompute": "true", "run": "recompute", "audit": "true"}
    at = opened(AUDIT, changes=f"{changes};output[0,0]=0.5", **address)
    assert not at.exception
    assert found(at)["asks"].startswith("Recompute 107,880 terms (about ")
    pressed_by_nobody = {"recompute": True, "run": "recompute", "audit": True, "mask": "causal", "reset": True}
    for name, message in pressed_by_nobody.items():
        assert found(at).keys() == did(at, name, message)["audit"].keys() == {"asks"}
    assert found(at.run()).keys() == {"asks"}


def pressed(settings, act=None):
    """A page on which someone has pressed the button that has a large pass audited; `act` is done meanwhile."""
    import streamlit as st

    from attnviz.analysis import audit as analysis
    from attnviz.app import components, page_scene, sections

    def under_way(trace):
        for number, each in enumerate(analysis.audit(trace)):
            if number == 3 and act:
                shown.session.update(**act)
            st.session_state["slices"] = number + 1
            yield each

    for name, text in settings.items():
        st.query_params.setdefault(name, text)
    shown = page_scene.read()
    components.draw_settings(shown, "audit")
    if "slices" not in st.session_state:
        sections.audit = under_way
        sections.run_audit(shown)


def test_a_large_pass_is_audited_when_that_is_asked_for_and_its_verdict_is_kept_with_it(monkeypatch):
    monkeypatch.setattr(section, "audit", audit)  # put back what the page replaces
    at = AppTest.from_function(pressed, kwargs={"settings": {"sentence": LARGE}}, default_timeout=600).run()
    whole = of(trace_of(Settings(LARGE)))
    assert not at.exception
    assert found(at)["sentence"] == f"{whole.sentence(None)}."
    stage_by_stage(found(at), whole)
    assert did(at, "nothing", True)["audit"] == found(at)
    assert did(at, "mask", "causal")["audit"].keys() == {"asks"}, "it is another pass"
    assert did(at, "mask", "none")["audit"] == found(at)
    by_hand = did(at, "change", {"cell": "scores[0,0,0]", "value": 3})
    assert by_hand["audit"].keys() == {"asks"}, "nor is a pass with a number set by hand the one that was audited"
    assert did(at, "reset", True)["audit"] == found(at)


def test_an_audit_ends_where_an_act_has_made_another_pass(monkeypatch):
    monkeypatch.setattr(section, "audit", audit)
    given = {"settings": {"sentence": LARGE}, "act": {"sentence": SENTENCE}}
    at = AppTest.from_function(pressed, kwargs=given, default_timeout=600).run()
    assert not at.exception
    assert at.session_state["slices"] == 4
    assert found(at)["sentence"] == f"{of(trace_of(Settings(SENTENCE))).sentence(None)}."
    assert did(at, "sentence", LARGE)["audit"].keys() == {"asks"}, "what was not whole is not kept"


def test_a_pass_that_many_open_is_recomputed_once(monkeypatch):
    kept = PassCache()
    for each in (page_scene, session):
        monkeypatch.setattr(each, "PASS_CACHE", kept)
    first = opened(AUDIT, sentence=SENTENCE)
    monkeypatch.setattr(reply, "audit", None)
    again = opened(AUDIT, sentence=SENTENCE)
    assert quiet(again)
    assert found(again) == found(first)
    assert opened(AUDIT, sentence=SENTENCE, changes="scores[0,0,0]=3").exception  # another pass is another's


def test_a_planted_mistake_is_named_on_the_page(monkeypatch):
    """`tests/analysis/test_audit.py::test_planted_mistake_is_named` plants others."""
    monkeypatch.setattr(WeightedSum, "compute", lambda self, attention, v: attention[..., :-1] @ v[..., :-1, :])
    monkeypatch.setattr(page_scene, "PASS_CACHE", PassCache())
    at = opened(AUDIT, sentence=SENTENCE)
    assert not at.exception
    assert not found(at)["agrees"]
    wrong = trace_of(Settings(SENTENCE))
    whole, named = of(wrong), "heads[head 1, the, 1]"
    assert f"; the first that does not is {named}: {whole.first.wrong.value!r}, its terms give" in found(at)["sentence"]
    assert found(at)["sentence"] == f"{whole.sentence(wrong)}."
    assert whole.n_agree < whole.n_recomputed
    stage_by_stage(found(at), whole)
