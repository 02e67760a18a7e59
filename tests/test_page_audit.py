"""Audit, without a browser: the page says what the audit found."""

import re

import numpy as np
import pytest
from page import ADDRESSES, ROOT, SENTENCE, opened, plain, quiet, trace_at

from attnviz import Settings, trace_of
from attnviz.analysis.audit import Audit, audit
from attnviz.core.operations.scale import Scale
from attnviz.core.operations.softmax import Softmax
from attnviz.core.operations.weightedsum import WeightedSum
from attnviz.scene.answers import Answers
from attnviz.ui.sections import audit as section
from attnviz.ui.state import store

AUDIT = ROOT / "pages" / "audit.py"


def verdict(at):
    (box,) = [*at.success, *at.error]
    return plain(box.value)


def stage_by_stage(at, found):
    """The table has the counts of the audit."""
    table = at.markdown[-1].value
    for each in found.stages:
        (row,) = re.findall(rf"^\| `{each.stage}` \|.*$", table, re.MULTILINE)
        assert ("given" in row, "agree" in row) == (each.n_given > 0, each.n_made > 0)
        assert f"{each.n_given} given" in row or not each.n_given
        assert f"{each.n_agree} of {each.n_made} agree" in row or not each.n_made


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_the_audit_is_told_as_it_came_out(address):
    trace = trace_at(address)
    found = Audit(tuple(audit(trace)))
    at = opened(AUDIT, **address)
    assert quiet(at)
    assert verdict(at) == f"{found.sentence(trace)}."
    stage_by_stage(at, found)
    assert found.first is None


def test_a_large_pass_asks_before_it_is_audited(monkeypatch):
    at = opened(AUDIT, d_model="128", sentence=" ".join(f"w{i}" for i in range(64)))
    assert quiet(at)
    assert not at.success
    assert at.button(key="run_audit").label.startswith("Recompute ")
    monkeypatch.setattr(section, "PATIENCE", 1000)
    at = opened(AUDIT, sentence=SENTENCE)
    assert not at.success
    assert at.button(key="run_audit").label.endswith("(about 1 second)")
    at.button(key="run_audit").click().run()
    assert verdict(at) == f"{Audit(tuple(audit(trace_of(Settings(SENTENCE))))).sentence(None)}."


def test_no_link_alone_has_a_large_pass_audited(monkeypatch):
    monkeypatch.setattr(section, "audit", None)
    first_cells = (
        "q[0,0,0]",
        "k[0,0,0]",
        "v[0,0,0]",
        "scores[0,0,0]",
        "heads[0,0,0]",
        "output[0,0]",
        "contributions[0,0,0]",
    )
    address = {"d_model": "64", "sentence": " ".join(f"w{i}" for i in range(64)), "run_audit": "true"}
    at = opened(AUDIT, changes=";".join(f"{cell}=0.5" for cell in first_cells), **address)
    assert not at.exception
    assert at.button(key="run_audit").label.startswith("Recompute ")


def test_a_pass_that_many_open_is_recomputed_once(monkeypatch):
    monkeypatch.setattr(store, "ANSWERS", Answers())
    first = opened(AUDIT, sentence=SENTENCE)
    monkeypatch.setattr(section, "audit", None)
    again = opened(AUDIT, sentence=SENTENCE)
    assert quiet(again)
    assert verdict(again) == verdict(first)
    assert again.markdown[-1].value == first.markdown[-1].value
    assert opened(AUDIT, sentence=SENTENCE, changes="scores[0,0,0]=3").exception  # another pass is another's


def one_key_short(self, attention, v):
    return attention[..., :-1] @ v[..., :-1, :]


def along_the_queries(self, attention, v):
    return attention.swapaxes(-1, -2) @ v


def softmax_of_queries(self, masked):
    exponentials = np.exp(masked - masked.max())
    return exponentials / exponentials.sum(axis=-2, keepdims=True)


@pytest.mark.parametrize(
    ("operation", "compute", "named"),
    [
        (WeightedSum, one_key_short, "heads[head 1, the, 1]"),
        (WeightedSum, along_the_queries, "heads[head 1, the, 1]"),
        (Softmax, softmax_of_queries, "attention[head 1, the, the]"),
        (Scale, lambda self, scores: scores / self.d_k, "scaled[head 1, the, the]"),
    ],
)
def test_a_planted_mistake_is_named_on_the_page(monkeypatch, operation, compute, named):
    monkeypatch.setattr(operation, "compute", compute)
    monkeypatch.setattr(store, "ANSWERS", Answers())
    at = opened(AUDIT, sentence=SENTENCE)
    assert not at.exception
    assert not at.success
    wrong = trace_of(Settings(SENTENCE))
    found = Audit(tuple(audit(wrong)))
    assert f"; the first that does not is {named}: {found.first.wrong.value!r}, its terms give" in verdict(at)
    assert verdict(at) == f"{found.sentence(wrong)}."
    assert found.n_agree < found.n_made
    stage_by_stage(at, found)
