"""The light form of a moment: what a phone needs to answer, without its pass. 120 phones that only answer get a lesson
of ten moments in less than 25 MB.
"""

from __future__ import annotations

from urllib.parse import parse_qsl

import msgspec

from attnviz.analysis.provenance import parse_trail
from attnviz.classroom.commands import Place
from attnviz.classroom.questions import moment_at
from attnviz.contract.lesson import Glance, Pick, Question
from attnviz.core.terms import Cell
from attnviz.core.tokens import without_number
from attnviz.core.trace import Trace
from attnviz.explain.step import ShownStep
from attnviz.explain.steps import layer_name, steps_of
from attnviz.scene.address import parse
from attnviz.scene.document.encoding import to_json, words_of
from attnviz.scene.document.pass_cache import PASS_CACHE
from attnviz.scene.with_pass import selected

LEAST = 0.01  # the smallest attention weight that an arc is drawn of
_ALONE = {"story", "verdict"}  # styles of runs that need the viewer
_NULL = msgspec.Raw(b"null")


class _Sent(msgspec.Struct, rename="camel"):
    """What a glance depends on, of a moment."""

    at: str
    question: Question | None
    asked_cell: str | None
    answer_cell: str | None


def light_moment_at(place: Place) -> bytes:
    """The moment at a place with a glance instead of its document; on the way through a pass, of the current step."""
    whole = moment_at(place)
    parts, sent = msgspec.json.decode(whole, type=dict[str, msgspec.Raw]), msgspec.json.decode(whole, type=_Sent)
    is_pass = place.kind == "pass"
    glance = None
    if parts["document"] != _NULL and parts["picture"] == _NULL:
        glance = _glance(place.at if is_pass else sent.at, cell_in(sent), says=is_pass)
    return to_json(parts | {"document": _NULL, "notes": msgspec.Raw(b'""'), "glance": msgspec.Raw(to_json(glance))})


def cell_in(sent: _Sent) -> str:
    """The cell that tells which word's attention a question is about, or "": where a key is asked for, the answer's."""
    question, answer = sent.question, sent.answer_cell
    if sent.asked_cell or not answer or not isinstance(question, Pick):
        return sent.asked_cell or ""
    right = {question.candidates[nth].word for nth in question.right}
    place = [int(each) for each in answer.partition("[")[2].rstrip("]").split(",")]  # its query and key come last
    return answer if place[-1] in right and not right.intersection(place[-2:-1]) else ""


def _glance(at: str, cell: str, *, says: bool) -> Glance | None:
    resolved = PASS_CACHE.resolved(parse(dict(parse_qsl(at, keep_blank_values=True))).scene)
    trace, scene = resolved.trace, resolved.scene
    if trace is None:
        return None
    step = next(each for each in steps_of(trace) if each.id == scene.step)
    layer, selection, cells = trace.layers[step.layer - 1], selected(scene, trace), parse_trail(trace, cell)[0]
    head, query = selection.head, selection.query
    if cells and (place := _head_and_query(trace, cells[0])):
        layer, (head, query) = trace.layer_of(cells[0].stage), place
    words = words_of(layer.trace)
    weights = trace[layer.names["attention"]].value
    query = min(query, weights.shape[1] - 1)
    looks = enumerate(weights[min(head, len(weights) - 1), query].tolist())
    return Glance(
        words=_plain(words.query),
        keys=None if words.shared else _plain(words.key),
        sides=(words.sides[0], words.sides[1]) if words.sides and not words.shared else ("", ""),
        query=query,
        stage=layer.names["attention"],
        arcs=[(query, key, round(weight, 4)) for key, weight in looks if weight >= LEAST] if step.arcs else [],
        title=_title(trace, step) if says else "",
        said=[(style, text) for style, text in step.why or step.text if style not in _ALONE] if says else [],
    )


def _head_and_query(trace: Trace, cell: Cell) -> tuple[int, int] | None:
    """A cell's head and query, if it has both."""
    axes = trace[cell.stage].axes
    return (cell.index[axes.index("head")], cell.index[axes.index("query")]) if {"head", "query"} <= {*axes} else None


def _plain(words: list[str]) -> list[str]:
    """Words without the numbers of repeated ones."""
    return [without_number(word) if without_number(word) in words else word for word in words]


def _title(trace: Trace, step: ShownStep) -> str:
    return f"{step.title}, {layer_name(trace, step.layer)}" if step.layer else step.title
