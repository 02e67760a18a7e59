"""The audit: it agrees with every right number, and names the first wrong one."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from cases import covering
from operationcases import OPERATIONS
from page import changes_of
from passes import planted

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.analysis import audit
from attnviz.analysis.audit import Audit
from attnviz.core.initialisers import INITIALISERS
from attnviz.core.operations.softmax import Softmax
from attnviz.core.settings import OPTIONS
from attnviz.core.terms import Cell
from attnviz.core.trace import Trace


def audited(trace):
    return Audit(tuple(audit.audit(trace)))


@pytest.fixture
def trace():
    return trace_of(Settings("the cat sat on the mat", mask="causal", positions="sinusoidal"))


@covering(initialiser=list(INITIALISERS), mask=OPTIONS["mask"].allowed, context=[None, "le chat"])
def test_every_number_agrees(initialiser, mask, context):
    settings = Settings(
        "the cat sat on the mat", context, d_model=12, n_heads=3, mask=mask, mask_size=2, initialiser=initialiser
    )
    trace = trace_of(settings)
    summary = audited(trace)
    assert summary.n_agree == summary.n_recomputed > 0
    assert [stage.stage for stage in summary.stages] == [stage.name for stage in trace.stages]
    assert sum(stage.n_recomputed + stage.n_given for stage in summary.stages) == sum(
        s.value.size for s in trace.stages
    )


def test_given_and_changed_numbers_are_counted_apart(trace):
    summary = audited(trace.with_change("heads", (1,), 0.0))
    counts = {stage.stage: (stage.n_given, stage.n_recomputed, stage.n_agree) for stage in summary.stages}
    assert counts["embeddings"] == (48, 0, 0)
    assert counts["scores"] == (0, 72, 72)
    assert counts["heads"] == (24, 24, 24)
    assert summary.n_agree == summary.n_recomputed


MISTAKES = {
    # row 1 of a causal mask: head 1's first query attends to itself alone, but its column does not
    "heads": (lambda _, attention, v: attention.swapaxes(-1, -2) @ v, "heads[head 1, the, 1]"),
    "scaled": (lambda own, scores: scores / own.d_k, "scaled[head 1, the, the]"),
    "attention": (
        lambda own, masked: Softmax.compute(own, masked.swapaxes(-1, -2)).swapaxes(-1, -2),
        "attention[head 1, the, the]",
    ),
    # the first key of the first query is on the diagonal
    "masked": (lambda _, scaled, mask: np.where(mask.T, scaled, -np.inf), "masked[head 1, the, cat]"),
    # feature 1 of head 1 is the first either way
    "concat": (lambda _, heads: heads.transpose(1, 2, 0).reshape(heads.shape[1], -1), "concat[the, 2]"),
}
"""By stages how each is wrongly computed, and the first number that is wrong."""


def mistaken(trace, name, compute):
    """The pass with an operation that keeps its rule and computes something else."""
    right = trace[name].operation
    wrong = type("Mistaken", (type(right),), {"compute": compute})
    return planted(trace, name, wrong(**{each.name: getattr(right, each.name) for each in fields(right)}))


@pytest.mark.parametrize("name", MISTAKES)
def test_planted_mistake_is_named(trace, name):
    compute, first = MISTAKES[name]
    wrong = mistaken(trace, name, compute)
    summary = audited(wrong)
    assert summary.first.stage == name
    assert wrong.name_of(summary.first.wrong) == first
    assert [stage.stage for stage in summary.stages if stage.wrong] == [name]  # what follows was made from it, rightly
    assert summary.n_agree < summary.n_recomputed
    assert f"the first that does not is {first}: {summary.first.wrong.value!r}, its terms give" in summary.sentence(
        wrong
    )


def test_finite_number_at_a_hidden_key_is_wrong():
    trace = attend(np.eye(3), parameters=Parameters(), mask=np.where(np.tri(3, dtype=bool), 0.5, -np.inf))
    summary = audited(mistaken(trace, "masked", lambda _, scaled, mask: scaled + np.where(np.isneginf(mask), 0, mask)))
    assert summary.first.wrong.index == (0, 0, 1)
    assert summary.largest_difference == math.inf


def test_nan_never_agrees(trace):
    value = trace["output"].value.copy()
    value[2, 1] = math.nan
    stages = (*trace.stages[:-1], trace.stages[-1].with_value(value))
    assert audited(replace(trace, stages=stages)).first.wrong.index == (2, 1)


TOO_LARGE_ON_THE_WAY = "concat[0,0]=1.1e308;concat[0,1]=-1.1e308;w_o[0,0]=1.5;w_o[1,0]=1.5"


@pytest.mark.parametrize("changes", [TOO_LARGE_ON_THE_WAY, "q[0,0,0]=1.2e308;q[0,0,1]=-1.2e308;k[0,1]=1.2"])
def test_sums_near_the_largest_float_are_recomputed(changes):
    trace = trace_of(Settings("the cat sat"))
    after = trace.with_changes(*changes_of(changes))
    assert after.changes
    assert audited(after).first is None
    for stage in after.stages:
        for index in np.ndindex(stage.shape):
            assert math.isfinite(after.terms(stage.name, index).rounding)


def test_mistake_among_the_largest_floats_is_found():
    trace = trace_of(Settings("the cat sat"))
    after = trace.with_changes(*changes_of(TOO_LARGE_ON_THE_WAY))
    value = after["output"].value.copy()
    value[0, 0] += 1e300
    found = audit.audit_of(after, after["output"].with_value(value), np.ndindex(value.shape))
    assert found.wrong.index == (0, 0)


def test_audit_runs_no_operation(trace, monkeypatch):
    assert all(stage.value.size for stage in trace.stages)  # made before, as operations do
    for kind in OPERATIONS:
        monkeypatch.setattr(kind, "compute", None)
    assert audited(trace).first is None


def test_slices_cover_every_cell_in_order(trace, monkeypatch):
    whole = audited(trace)
    monkeypatch.setattr(audit, "SLICE_TERMS", 50)
    slices = list(audit.audit(trace))
    assert len(slices) > len(trace.stages)
    assert Audit(tuple(slices)).stages == whole.stages
    assert [each.stage for each in whole.stages] == [stage.name for stage in trace.stages]
    assert sum(each.n_given + each.n_recomputed for each in slices) == sum(stage.value.size for stage in trace.stages)


def test_slices_stay_within_their_term_limit(trace, monkeypatch):
    counts, terms_of = [], Trace.terms

    def counted(*of):
        made_from = terms_of(*of)
        counts[-1] += len(made_from.cells)
        return made_from

    monkeypatch.setattr(Trace, "terms", counted)
    monkeypatch.setattr(audit, "SLICE_TERMS", 500)
    slices = audit.audit(trace)
    while counts.append(0) or next(slices, None):
        assert counts[-1] <= 500
    assert sum(counts) <= audit.n_terms(trace)


def test_first_wrong_slice_is_named():
    right = audit.StageAudit("scores", 0, 1, 1, 0.0)
    one, other = (audit.StageAudit("scores", 0, 1, 0, 1.0, Cell("scores", (n,), 1.0), 2.0) for n in range(2))
    (joined,) = Audit((right, one, other)).stages
    assert (joined.wrong, joined.n_agree, joined.n_recomputed) == (one.wrong, 1, 3)
