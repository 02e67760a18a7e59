"""Reply: all that a browser is given of a scene, as JSON: its settings, notices, its pass."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from msgspec.structs import fields

from attnviz.analysis.audit import Audit, StageAudit, audit, n_terms
from attnviz.contract import answer
from attnviz.contract.answer import Answer, File, Program, Verdict
from attnviz.core.trace import Trace, cached_on_trace
from attnviz.explain import microgpt_script
from attnviz.explain.export import script, torch_script
from attnviz.explain.markup import coloured
from attnviz.explain.movement import described
from attnviz.explain.wording import counted
from attnviz.scene.address import query
from attnviz.scene.document import advice
from attnviz.scene.document.controls import settings
from attnviz.scene.document.encoding import Json, to_json
from attnviz.scene.document.extras import Extras, typed_seed
from attnviz.scene.document.pass_cache import ANSWERS
from attnviz.scene.parameters import PARAMETERS, VIEWERS
from attnviz.scene.resolution import SceneWithPass
from attnviz.scene.scene import Scene, lacks_file

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


@dataclass(frozen=True)
class Has:
    """The answer's place in its tab, and what the browser has already.

    Attributes
    ----------
    tab : str
        The tab's token.
    view : str
        What its page shows of a scene, one of `PARTS`.
    number : int
        Larger than that of every earlier answer of the tab.
    arrival : int
        Another number whenever the viewer is to look where the scene says, not where it looked before.
    templates : collection of str
        The names of templates whose parts it has.
    """

    tab: str
    view: str
    number: int = 0
    arrival: int = 0
    templates: Collection[str] = ()


def reply(resolved: SceneWithPass, extras: Extras, has: Has) -> bytes:
    """The answer for a scene beside its pass, as `contract.answer` declares it: of the same the same, anywhere."""
    part = PARTS[has.view](resolved, extras, has) if resolved.trace else None
    scene = resolved.scene
    seed, of_seed = typed_seed(scene, extras)
    return to_json(
        Answer(
            tab=has.tab,
            view=has.view,
            number=has.number,
            settings=settings(scene, seed),
            notices=[*extras.notices, *of_seed, *advice.notices(resolved), *resolved.refused],
            offers=advice.offers(resolved),
            lacks_file=lacks_file(scene),
            by_hand=_by_hand(resolved) if has.view != "pass" else None,
            address=address_of(scene),
            **{_FIELDS[has.view]: part},
        )
    )


def address_of(scene: Scene) -> dict[str, str | None]:
    """The parameters that a browser's address is to have, or to lack; those that the viewer writes are its own."""
    parameters = query(scene)
    return {name: parameters.get(name) for name in PARAMETERS if name not in VIEWERS}


def _by_hand(resolved: SceneWithPass) -> list[list[str]] | None:
    """The line on numbers that are set by hand, or were meant to be, where the viewer does not say it."""
    if resolved.trace is None or not (resolved.scene.changes or resolved.refused):
        return None
    listed = "; ".join(described(resolved.original, change) for change in resolved.scene.changes)
    return [["strong", "Set by hand:"], ["", f" {listed or 'nothing that fits this pass'}"]]


def _pass(resolved: SceneWithPass, extras: Extras, has: Has) -> Json:
    """The document that a viewer shows."""
    return Json(ANSWERS.document_json(resolved, has.tab, extras, arrival=has.arrival, templates=has.templates))


def _audit(resolved: SceneWithPass, extras: Extras, has: Has) -> Verdict:
    return verdict(resolved, extras.audit)


def _script(resolved: SceneWithPass, extras: Extras, has: Has) -> Program:
    trace = resolved.trace
    torch, micro = torch_script(trace), microgpt_script.script(trace)
    return Program(
        runs=coloured(script(trace)),
        torch=torch and coloured(torch),
        microgpt=micro and coloured(micro),
        file=File(name=microgpt_script.NAME, text=microgpt_script.numbers(trace).decode()) if micro else None,
    )


PARTS = {"pass": _pass, "audit": _audit, "script": _script}
"""The parts of a reply that a page may show of a pass, by their names in it."""

_FIELDS = {each.encode_name: each.name for each in fields(Answer)}
