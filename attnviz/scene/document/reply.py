"""Replies: what a browser receives for a scene as JSON, with its settings, notices and pass."""

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
from attnviz.scene.document.controls import settings
from attnviz.scene.document.encoding import Json, to_json
from attnviz.scene.document.pass_cache import PASS_CACHE
from attnviz.scene.document.reply_notes import ReplyNotes, notices, offers, typed_seed
from attnviz.scene.parameters import PARAMETERS, VIEWERS
from attnviz.scene.scene import Scene, lacks_file
from attnviz.scene.with_pass import SceneWithPass

MAX_UNASKED_TERMS = 80_000
"""The most terms audited without a request (a link or an action alone): some 0.3 s."""

TERMS_PER_SECOND = 200_000
"""Approximate, pauses included, to estimate how long an audit takes."""


def verdict(resolved: SceneWithPass, asked_for: Audit | None) -> answer.Verdict:
    """The audit's verdict; for a large pass, a button that runs it."""
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
class ClientState:
    """The tab that a reply is for, and what its browser already has.

    Attributes
    ----------
    tab : str
        The tab's token.
    view : str
        What its page shows of a scene, one of `PARTS`.
    number : int
        Larger than that of every earlier answer of the tab.
    arrival : int
        Changes whenever the viewer should move to the scene's selection instead of keeping its own.
    templates : collection of str
        The names of templates whose parts it has.
    """

    tab: str
    view: str
    number: int = 0
    arrival: int = 0
    templates: Collection[str] = ()


def reply(resolved: SceneWithPass, notes: ReplyNotes, client: ClientState) -> bytes:
    """The reply for a scene with its pass, as `contract.answer` declares it; a pure function of its arguments."""
    part = PARTS[client.view](resolved, notes, client) if resolved.trace else None
    scene = resolved.scene
    seed, of_seed = typed_seed(scene, notes)
    return to_json(
        Answer(
            tab=client.tab,
            view=client.view,
            number=client.number,
            settings=settings(scene, seed),
            notices=[*notes.notices, *of_seed, *notices(resolved), *resolved.refused],
            offers=offers(resolved),
            lacks_file=lacks_file(scene),
            by_hand=_by_hand(resolved) if client.view != "pass" else None,
            address=address_of(scene),
            **{_FIELDS[client.view]: part},
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
    listed = "; ".join(described(resolved.original, change) for change in resolved.scene.changes)
    return [["strong", "Set by hand:"], ["", f" {listed or 'nothing that fits this pass'}"]]


def _pass(resolved: SceneWithPass, notes: ReplyNotes, client: ClientState) -> Json:
    """The document that a viewer shows."""
    return Json(
        PASS_CACHE.document_json(resolved, client.tab, notes, arrival=client.arrival, templates=client.templates)
    )


def _audit(resolved: SceneWithPass, notes: ReplyNotes, client: ClientState) -> Verdict:
    return verdict(resolved, notes.audit)


def _script(resolved: SceneWithPass, notes: ReplyNotes, client: ClientState) -> Program:
    trace = resolved.trace
    torch, micro = torch_script(trace), microgpt_script.script(trace)
    return Program(
        runs=coloured(script(trace)),
        torch=torch and coloured(torch),
        microgpt=micro and coloured(micro),
        file=File(name=microgpt_script.NAME, text=microgpt_script.numbers(trace).decode()) if micro else None,
    )


PARTS = {"pass": _pass, "audit": _audit, "script": _script}
"""What a page can show of a pass, by its field in the reply."""

_FIELDS = {each.encode_name: each.name for each in fields(Answer)}
