"""Documents: a scene and its pass as plain data, all that a viewer in a browser needs to show it."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from attnviz.analysis.gradients import gradients
from attnviz.analysis.provenance import parse_trail
from attnviz.core.errors import ArrayError
from attnviz.core.trace import Trace
from attnviz.models import MODELS
from attnviz.scene.fitting import Fitted
from attnviz.scene.scene import OWN, Scene
from attnviz.scene.start import selected, start
from attnviz.scene.words import n_typed
from attnviz.text import movement
from attnviz.text.ids import nearest
from attnviz.text.steps import steps_of
from attnviz.views import palette
from attnviz.views.map import arrows, columns
from attnviz.views.model import model_data
from attnviz.views.scales import limits
from attnviz.views.stages import stages, values
from attnviz.views.steps import step_data

MOST_UNASKED = 1_000_000  # bytes of numbers; of a larger pass a few heads are sent, and others once they are asked for
MOST = 4_000_000  # bytes of numbers in one document


def document(fitted: Fitted, *, asked: Sequence[int] = (), slopes_of: str = "", arrival: int = 0) -> dict:
    """The scene as JSON can write it; `ui/viewer/browser/document.schema.json` says what it holds.

    Parameters
    ----------
    fitted : Fitted
        A scene that has a pass.
    asked : sequence of int
        The heads that were asked for, the latest last: of a pass too large to be sent at once these are sent.
    slopes_of : str, optional
        The address of a cell whose slopes are to be sent.
    arrival : int
        A number that is another whenever the viewer is to look where the scene says, not where it looked before.
    """
    return _body(fitted, asked, slopes_of) | _place(fitted, arrival)


def written(fitted: Fitted, **asked: object) -> bytes:
    """The document as JSON."""
    return json_of(document(fitted, **asked))


def body(fitted: Fitted) -> bytes:
    """All of it but where one looks, and when one arrived: the same for all who look at a pass."""
    return json_of(_body(fitted))


def placed(body: bytes, fitted: Fitted, arrival: int) -> bytes:
    """The document that such a body is of."""
    return json_of(_place(fitted, arrival))[:-1] + b"," + body[1:]


def json_of(data: dict) -> bytes:
    """Data as JSON that every browser reads."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _place(fitted: Fitted, arrival: int) -> dict:
    return {"where": where(fitted.scene, fitted.trace), "arrival": arrival}


def _body(fitted: Fitted, asked: Sequence[int] = (), slopes_of: str = "") -> dict:
    scene, trace, original = fitted.scene, fitted.trace, fitted.original
    steps = steps_of(trace)
    places = columns(trace, steps)
    heads = heads_to_send(trace, (*asked, selected(scene, trace).head), MOST if asked else MOST_UNASKED)
    moved = [stage.name for stage in original.stages if trace[stage.name] is not stage]
    return {
        "stages": stages(trace, limits(trace, steps), heads),
        "steps": [step_data(trace, step) for step in steps],
        "nearest": nearest(trace),
        "map": {
            "columns": [
                {"step": step.id, "title": step.title, "layer": step.layer, "stages": places[step.id]} for step in steps
            ],
            "arrows": arrows(trace, [name for names in places.values() for name in names]),
        },
        "words": _words(trace) | {"typed": n_typed(scene)},
        "model": model_data(trace, _training(scene)),
        "palette": {"negative": palette.NEGATIVE, "positive": palette.POSITIVE, "share": palette.SHARE},
        "start": vars(start(trace)),
        "changes": [
            {"text": movement.described(original, change), "stage": change.stage, "index": change.index}
            for change in scene.changes
        ],
        "moved": [{"stage": name, "text": movement.caption(original, trace, name)} for name in moved],
        "before": {name: values(original[name], heads) for name in moved},
        "slopes": slopes(trace, slopes_of, heads) if slopes_of else None,
        "link": {"sentence": scene.sentence} if scene.source in (OWN, *MODELS) else {},
    }


def where(scene: Scene, trace: Trace) -> dict:
    """Where in its pass the scene looks."""
    return {
        "step": scene.step,
        "cell": vars(selected(scene, trace)),
        "picked": scene.picked,
        "trail": list(scene.trail),
        "ask": scene.question,
        "order": scene.order,
        "present": scene.present,
        "reveal": scene.reveal,
    }


def slopes(trace: Trace, address: str, heads: Collection[int] | None = None) -> dict | None:
    """What would move a cell, for some heads or all, or why that can't be said; None if the pass has no such cell."""
    cells, _ = parse_trail(trace, address)
    if not cells:
        return None
    cell = cells[0]
    try:
        found = gradients(trace, cell.stage, cell.index)
    except ArrayError as error:
        return {"of": str(cell), "text": str(error), "values": {}}
    sloped = trace.with_values(found)
    return {
        "of": str(cell),
        "text": movement.steepest(trace, cell.stage, cell.index, found),
        "values": {name: values(sloped[name], heads) for name in found if name != cell.stage},
    }


def heads_to_send(trace: Trace, wanted: Sequence[int], most: int) -> frozenset[int]:
    """All heads of a pass of at most so many bytes; of a larger one as many of those wanted as fit, latest first."""
    with_heads = [stage for stage in trace.stages if stage.axes[0] == "head"]
    n_heads = with_heads[0].shape[0]
    of_one = sum(stage.size for stage in with_heads) // n_heads * _BYTES
    rest = sum(stage.size for stage in trace.stages) * _BYTES - of_one * n_heads
    room = max(int((most - rest) // of_one), 1)
    latest = dict.fromkeys(head for head in reversed(wanted) if 0 <= head < n_heads)
    return frozenset(range(n_heads) if n_heads <= room else list(latest)[:room])


_BYTES = 8 * 4 / 3  # of a number: float64 as base64


def _words(trace: Trace) -> dict:
    labels = {axis.name: list(axis.labels) for axis in trace.layers[0].trace.axes("scores")}
    return {"query": labels["query"], "key": labels["key"], "shared": "context" not in trace}


def _training(scene: Scene) -> dict | None:
    return MODELS[scene.source].training_data(scene.model_seed, scene.checkpoint) if scene.source in MODELS else None
