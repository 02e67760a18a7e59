"""Replies: what a browser receives for a scene as JSON, with its settings, notices and pass."""

from __future__ import annotations

from collections.abc import Collection
from typing import get_args

from attnviz.analysis.audit import Audit, StageAudit, audit, n_terms
from attnviz.contract import request_reply as contract
from attnviz.core.trace import Trace, cached_on_trace
from attnviz.explain import pass_as_microgpt
from attnviz.explain.change_sentences import describe_change
from attnviz.explain.export import script, torch_script
from attnviz.explain.styled_text import coloured
from attnviz.explain.wording import counted
from attnviz.scene.address import PARAMETERS, VIEWERS, query
from attnviz.scene.document.controls import settings
from attnviz.scene.document.document import document_json
from attnviz.scene.document.encoding import Json, to_json
from attnviz.scene.document.pass_cache import PASS_CACHE
from attnviz.scene.document.reply_notes import ReplyNotes, notices, offers, typed_seed
from attnviz.scene.scene import Scene, lacks_file
from attnviz.scene.with_pass import SceneWithPass

MAX_UNASKED_TERMS = 80_000  # the most terms audited without a request (a link or an action alone): some 0.3 s
TERMS_PER_SECOND = 200_000  # approximate, pauses included, to estimate how long an audit takes


def verdict(trace: Trace, requested: Audit | None) -> contract.Verdict:
    """The audit's verdict; for a large pass, a button that runs it."""
    n = n_terms(trace)
    result = _small_audit(trace) if n <= MAX_UNASKED_TERMS else requested
    if result is None:
        seconds = counted(max(n // TERMS_PER_SECOND, 1), "second")
        return contract.Verdict(asks=f"Recompute {n:,} terms (about {seconds})")
    return contract.Verdict(
        agrees=result.first is None,
        sentence=f"{result.sentence(trace)}.",
        stages=[contract.StageAudit(name=each.stage, numbers=_counts(each), off=_off(each)) for each in result.stages],
    )


@cached_on_trace
def _small_audit(trace: Trace) -> Audit:
    return Audit(tuple(audit(trace)))


def _counts(each: StageAudit) -> str:
    agreeing = f"{each.n_agree} of {each.n_recomputed} agree" if each.n_recomputed else ""
    return ", ".join(filter(None, (agreeing, f"{each.n_given} given" if each.n_given else "")))


def _off(each: StageAudit) -> str:
    if not each.n_recomputed:
        return ""
    return f"{each.largest_difference:.0e}" if each.largest_difference else "0"


PARTS = get_args(contract.View)  # what a page can show of a pass


def reply(
    resolved: SceneWithPass,
    notes: ReplyNotes,
    *,
    tab: str,
    view: str,
    number: int,
    arrival: int = 0,
    templates: Collection[str] = (),
) -> bytes:
    """The reply for a scene with its pass, as `contract.request_reply` declares it; a pure function of its arguments.

    `number` is larger than that of every earlier reply to the tab; `arrival` changes whenever the viewer should move to
    the scene's selection instead of keeping its own; `templates` are the names of those whose parts the browser has.
    """
    scene, part = resolved.scene, None
    seed, seed_notices = typed_seed(scene, notes)
    if resolved.trace:
        part = _part(resolved, notes, view, arrival, templates)
    return to_json(
        contract.SceneReply(
            tab=tab,
            view=view,
            number=number,
            settings=settings(scene, seed),
            notices=[*notes.notices, *seed_notices, *notices(resolved), *resolved.refused],
            offers=offers(resolved),
            lacks_file=lacks_file(scene),
            by_hand=_by_hand(resolved) if view != "pass" else None,
            address=address_of(scene),
            **{"pass_" if view == "pass" else view: part},
        )
    )


def address_of(scene: Scene) -> dict[str, str | None]:
    """The parameters to set in, or remove from, the browser's address; the viewer writes the others itself."""
    parameters = query(scene)
    return {name: parameters.get(name) for name in PARAMETERS if name not in VIEWERS}


def _by_hand(resolved: SceneWithPass) -> list[list[str]] | None:
    """The line on hand-set numbers, also refused ones, for pages without the viewer."""
    if resolved.trace is None or not (resolved.scene.changes or resolved.refused):
        return None
    listed = "; ".join(describe_change(resolved.original, change) for change in resolved.scene.changes)
    return [["strong", "Set by hand:"], ["", f" {listed or 'nothing that fits this pass'}"]]


def _part(
    resolved: SceneWithPass, notes: ReplyNotes, view: str, arrival: int, templates: Collection[str]
) -> Json | contract.Verdict | contract.Program:
    if view == "audit":
        return verdict(resolved.trace, notes.audit)
    if view == "script":
        return _program(resolved.trace)
    return Json(document_json(resolved, notes, arrival=arrival, templates=templates, cache=PASS_CACHE))


def _program(trace: Trace) -> contract.Program:
    torch, micro = torch_script(trace), pass_as_microgpt.script(trace)
    numbers = (
        contract.File(name=pass_as_microgpt.NAME, text=pass_as_microgpt.numbers(trace).decode()) if micro else None
    )
    others = {"torch": torch and coloured(torch), "microgpt": micro and coloured(micro), "file": numbers}
    return contract.Program(runs=coloured(script(trace)), **others)
