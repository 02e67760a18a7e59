"""The verdict: what the audit of a scene's pass found, or what it would take to know."""

from attnviz.analysis.audit import Audit, StageAudit, audit, n_terms
from attnviz.contract import answer
from attnviz.core.caching import cached_on_trace
from attnviz.core.trace import Trace
from attnviz.explain.wording import counted
from attnviz.scene.resolution import SceneWithPass

MAX_UNASKED_TERMS = 80_000
"""Terms that are recomputed without asking, so by a link or an act alone: some 0.3 s."""

TERMS_PER_SECOND = 200_000
"""About, pauses counted: to say how long it may take."""


def verdict(resolved: SceneWithPass, asked_for: Audit | None) -> answer.Verdict:
    """The verdict of the audit of a pass, or of a large one that nobody has asked for the button that does."""
    n = n_terms(resolved.trace)
    result = _small(resolved.trace) if n <= MAX_UNASKED_TERMS else asked_for
    if result is None:
        seconds = counted(max(n // TERMS_PER_SECOND, 1), "second")
        return answer.Verdict(asks=f"Recompute {n:,} terms (about {seconds})")
    return answer.Verdict(
        agrees=result.first is None,
        sentence=f"{result.sentence(resolved.trace)}.",
        stages=[answer.StageAudit(name=each.stage, numbers=_numbers(each), off=_off(each)) for each in result.stages],
    )


@cached_on_trace
def _small(trace: Trace) -> Audit:
    return Audit(tuple(audit(trace)))


def _numbers(each: StageAudit) -> str:
    given = f"{each.n_given} given" if each.n_given else ""
    made = f"{each.n_agree} of {each.n_made} agree" if each.n_made else ""
    return ", ".join(filter(None, (made, given)))


def _off(each: StageAudit) -> str:
    if not each.n_made:
        return ""
    return f"{each.largest_difference:.0e}" if each.largest_difference else "0"
