"""Documents: a scene and its pass as JSON, all that a viewer in a browser needs to show it.

`contract.document` declares what a document holds. Of its parts
those of the template (`scene/document/encoding`) are omitted if the browser has them.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import asdict

from attnviz.analysis.flips import flips
from attnviz.analysis.gradients import gradients
from attnviz.analysis.provenance import parse_trail
from attnviz.analysis.row_ranking import ranking_of
from attnviz.contract.document import (
    ChangeMade,
    Door,
    Flip,
    Flips,
    Moved,
    PairOffered,
    PassNumbers,
    SentDocument,
    SentOther,
    SentParameters,
    SentShape,
    Slopes,
)
from attnviz.contract.view_params import Selected, Where
from attnviz.core.coerce import is_applicable
from attnviz.core.errors import ArrayError
from attnviz.core.selection import Selection
from attnviz.core.settings import OPTIONS
from attnviz.core.trace import Trace
from attnviz.explain import movement
from attnviz.explain.flips import FAILED as FAILED_FLIPS
from attnviz.explain.flips import headline, sentences
from attnviz.explain.glossary import measured
from attnviz.explain.payload import ALL, Sent, by_row, model_data, numbers, values
from attnviz.explain.pictures import limits
from attnviz.explain.steps import steps_of
from attnviz.explain.wording import setting
from attnviz.scene.compare import pairs_of
from attnviz.scene.document.continuing import next_data
from attnviz.scene.document.encoding import Json, Template, parameters_of, template_of, to_json
from attnviz.scene.document.reply_notes import NO_NOTES, ReplyNotes
from attnviz.scene.reading import has_options, reading_model, source_name
from attnviz.scene.scene import OWN, READY_MADE, SOURCES, Options, Scene, model_choice
from attnviz.scene.with_pass import SceneWithPass, n_typed, picked, selected, starts

_ALWAYS = ("d_model", "n_heads", "mask", "seed")


def caption(scene: Scene) -> str:
    """One line for print: the settings that decide the pass, without its words and hand-set numbers."""
    name = source_name(scene)
    if scene.source in READY_MADE:
        return f"Worked example: {name}." if scene.source in SOURCES else f"{name.capitalize()}."
    painted = " A painted mask." if scene.hidden is not None else ""
    if has_options(scene):
        return f"{name.capitalize()}. {_settings(scene.options)}.{painted}"
    return f"Model: {name}{_which(scene)}.{painted}"


def _settings(options: Options) -> str:
    preset = Options()
    shown = [
        name
        for name in OPTIONS
        if name in _ALWAYS
        or (is_applicable(options, name) and (name == "mask_size" or getattr(options, name) != getattr(preset, name)))
    ]
    return ", ".join(f"{OPTIONS[name].label}: {setting(getattr(options, name))}" for name in shown)


def _which(scene: Scene) -> str:
    """Which training of the model is shown, if there are several."""
    model = model_choice(scene)
    steps = model.checkpoints(scene.model_seed)
    seed = [f"seed {scene.model_seed}"] if len(model.seeds) > 1 else []
    trained = [] if scene.checkpoint is None else [f"after {steps[scene.checkpoint]} steps of training"]
    return f" ({', '.join([*seed, *trained])})" if seed or trained else ""


_log = logging.getLogger(__name__)

MAX_BYTES = 4_000_000  # of numbers in one document
MAX_UNASKED_BYTES = 1_000_000  # of a larger pass a few heads are sent, and others once they are asked for
MAX_ROW_BYTES = 500_000  # of stages that are sent row by row: at first the rows next to the one in focus
MAX_SIDE_BY_SIDE_BYTES = 420_000  # of those stages whose heads are all sent in any case

DOOR = Door(event="source", value=OWN, label="or type your own sentence")
DOOR_OF_LETTERS = Door(event="source", value=OWN, label="or leave this model for a sentence of your own")
"""The button next to a model's question; models of letters or digits take no sentence."""


class Body(NamedTuple):
    """A document without selection and arrival: identical for everyone who opens the pass.

    Attributes
    ----------
    template : Template
        What the pass is but for its numbers.
    parameters : Template
        The numbers of its parameters.
    parts : mapping of str to Json
        Those of the document that are in neither.
    """

    template: Template
    parameters: Template
    parts: Mapping[str, Json]

    @property
    def n_bytes(self) -> int:
        """Its size."""
        parts = (self.template.parts, self.parameters.parts, *self.parts.values())
        return sum(memoryview(each).nbytes for each in parts)

    @property
    def names(self) -> tuple[str, str]:
        """The names of its templates."""
        return self.template.name, self.parameters.name


def body(resolved: SceneWithPass, notes: ReplyNotes = NO_NOTES) -> Body:
    """The body of the document of a scene with its pass, including requested parts.

    A pass too large to be sent at once is sent with the heads and rows of `notes`, the latest first.
    """
    parts = _numbers(resolved, notes)
    parameters, parts.stages = parameters_of(resolved.trace, parts.stages)
    return Body(
        template_of(resolved.trace), parameters, {name: Json(to_json(part)) for name, part in asdict(parts).items()}
    )


def document_json(
    body: Body,
    resolved: SceneWithPass,
    *,
    arrival: int = 0,
    templates: Collection[str] = (),
    other: SentOther | None = None,
    other_trace: Trace | None = None,
) -> bytes:
    """The complete document around a body.

    Parameters
    ----------
    body : Body
    resolved : SceneWithPass
        The scene, which says where one looks.
    arrival : int
        Changes whenever the viewer should move to the scene's selection instead of keeping its own.
    templates : collection of str
        The names of templates whose parts the browser has.
    other : SentOther, optional
        The compared pass, A (see `scene/compare`).
    other_trace : Trace, optional
        Its trace.
    """
    return to_json(
        SentDocument(
            template=SentShape(**body.template.sent(templates)),
            parameters=SentParameters(**body.parameters.sent(templates)),
            where=where(resolved.scene, resolved.trace, other_trace),
            arrival=arrival,
            other=other,
            **body.parts,
        )
    )


def _numbers(resolved: SceneWithPass, notes: ReplyNotes) -> PassNumbers:
    scene, trace, original = resolved.scene, resolved.trace, resolved.original
    sent = _to_send(trace, notes, selected(scene, trace))
    training = _training(scene)
    moved = [stage.name for stage in original.stages if trace[stage.name] is not stage]
    return PassNumbers(
        stages=numbers(trace, limits(trace, steps_of(trace)), sent, _seen_side_by_side(trace)),
        starts=[Selected(**vars(each)) for each in starts(trace)],
        typed=n_typed(scene),
        model=model_data(trace, training),
        measured=measured(trace.n_layers, training, _seed(scene)),
        changes=[
            ChangeMade(text=movement.described(original, change), stage=change.stage, index=change.index)
            for change in scene.changes
        ],
        moved=[Moved(stage=name, text=movement.caption(original, trace, name)) for name in moved],
        before={name: values(original[name], sent) for name in moved},
        slopes=slopes(trace, notes.slopes_of, sent) if notes.slopes_of else None,
        flips=flips_data(trace, notes.flips_of) if notes.flips_of else None,
        imprint=caption(scene),
        painted=None if scene.source in READY_MADE else scene.hidden is not None,
        pairs=[PairOffered(id=pair.id, label=pair.label) for pair in pairs_of(scene)],
        link={"sentence": scene.sentence} if scene.source == OWN or model_choice(scene) else {},
        door=_door(scene),
        offer=_offer(scene),
        next=next_data(resolved, with_names=notes.with_names),
    )


def _door(scene: Scene) -> Door | None:
    model = reading_model(scene)
    if model is None:
        return None
    return DOOR if model.task.unit == "word" else DOOR_OF_LETTERS


def _offer(scene: Scene) -> Door | None:
    """A second sentence to try after the model's first example; None after any other sentence."""
    model = reading_model(scene)
    if model is None or model.task.is_open or len(model.task.examples) < 2:
        return None
    (_, text), (_, other), *_ = model.task.examples
    if scene.sentence != text:
        return None
    changed = [new for old, new in zip(text.split(), other.split(), strict=False) if old != new]
    is_one_word = len(changed) == 1 and len(text.split()) == len(other.split())
    return Door(event="example", value=other, label=f"What if it were “{changed[0] if is_one_word else other}”?")


def where(scene: Scene, trace: Trace, other: Trace | None = None) -> Where:
    """The scene's selection and view; next to another pass, where the two differ."""
    return Where(
        step=scene.step,
        cell=Selected(**vars(selected(scene, trace, other))),
        picked=picked(scene, trace, other),
        trail=scene.trail,
        ask=scene.question,
        order=scene.order,
        view=scene.view,
        present=scene.present,
        reveal=scene.reveal,
        compare=scene.compare,
        route=scene.route,
    )


def slopes(trace: Trace, address: str, sent: Sent = ALL) -> Slopes | None:
    """The gradients of a cell, or why there are none; None if the pass has no such cell."""
    cells, _ = parse_trail(trace, address)
    if not cells:
        return None
    cell = cells[0]
    try:
        slopes_of = gradients(trace, cell.stage, cell.index)
    except ArrayError as error:
        return Slopes(of=str(cell), text=str(error), values={})
    sloped = trace.with_values(slopes_of)
    return Slopes(
        of=str(cell),
        text=movement.steepest(trace, cell.stage, cell.index, slopes_of),
        values={name: values(sloped[name], sent) for name in slopes_of if name != cell.stage},
    )


def flips_data(trace: Trace, address: str) -> Flips | None:
    """The smallest changes that turn the order of a share's row, stage by stage; None if the pass has no such share."""
    cells, _ = parse_trail(trace, address)
    ranking = ranking_of(trace, cells[0].stage, cells[0].index) if cells else None
    if not ranking:
        return None
    try:
        found = sentences(trace, ranking, flips(trace, ranking))
    except Exception:  # a failed search is no answer, and the rest of the document is none the worse for it
        _log.exception("The search for flips failed")
        return Flips(of=str(cells[0]), text=FAILED_FLIPS, stages=[])
    stages = [
        Flip(stage=each.stage, text=text, cell=each.flip and str(each.flip.cell), value=each.flip and each.flip.turns)
        for each, text in found
    ]
    return Flips(of=str(cells[0]), text=headline(trace, ranking), stages=stages)


def _to_send(trace: Trace, notes: ReplyNotes, focus: Selection) -> Sent:
    most = MAX_BYTES if notes.heads or notes.whole else MAX_UNASKED_BYTES
    wanted = range(trace.lengths["head"]) if notes.whole else ()
    heads = heads_to_send(trace, (*wanted, *notes.heads, focus.head), most)
    if notes.whole:
        return Sent(heads)
    return Sent(heads, queries_to_send(trace, (*notes.queries, focus.query), len(heads)))


def queries_to_send(trace: Trace, wanted: Sequence[int], n_sent: int) -> frozenset[int]:
    """The queries whose rows are sent: the requested ones, latest first, then those after the latest."""
    n_heads, n_queries = trace.lengths["head"], trace.lengths["query"]
    n_rows = n_heads * n_queries
    of_one = sum(stage.size for stage in trace.stages if by_row(stage)) / n_rows * n_sent * _BYTES_PER_NUMBER
    room = max(int(MAX_ROW_BYTES // of_one), 1) if of_one else n_queries
    inside = [query for query in reversed(wanted) if 0 <= query < n_queries]
    last = inside[0] if inside else 0
    after = ((last + step) % n_queries for step in range(n_queries))
    return frozenset(list(dict.fromkeys((*inside, *after)))[:room])


def heads_to_send(trace: Trace, wanted: Sequence[int], most: int) -> frozenset[int]:
    """All heads if the pass fits into `most` bytes; else as many requested heads as fit, latest first."""
    sent = [stage for stage in trace.stages if not by_row(stage)]
    with_heads = [stage for stage in sent if stage.is_headed]
    n_heads = with_heads[0].shape[0]
    of_one = sum(stage.size for stage in with_heads) // n_heads * _BYTES_PER_NUMBER
    rest = sum(stage.size for stage in sent) * _BYTES_PER_NUMBER - of_one * n_heads
    room = max(int((most - rest) // of_one), 1)
    latest = dict.fromkeys(head for head in reversed(wanted) if 0 <= head < n_heads)
    return frozenset(range(n_heads) if n_heads <= room else list(latest)[:room])


def _seen_side_by_side(trace: Trace) -> list[str]:
    """The stages whose heads are shown side by side, as many as fit, attention first."""
    shown, room = [], MAX_SIDE_BY_SIDE_BYTES / _BYTES_PER_NUMBER
    for base in ("attention", "heads", "contributions"):
        names = [layer.names[base] for layer in trace.layers if base in layer.names]
        room -= sum(trace[name].size for name in names)
        shown += names if room >= 0 else []
    return shown


_BYTES_PER_NUMBER = 8 * 4 / 3  # of a number: float64 as base64


def _seed(scene: Scene) -> int | None:
    """The seed of the parameters; None if they weren't drawn at random."""
    if scene.source == OWN:
        return scene.options.seed
    return scene.model_seed if model_choice(scene) else None


def _training(scene: Scene) -> dict | None:
    choice = model_choice(scene)
    return choice.training_data(scene.model_seed, scene.checkpoint) if choice else None
