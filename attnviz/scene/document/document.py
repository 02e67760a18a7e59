"""Documents: a scene and its pass as JSON, all that a viewer needs (`contract.document`), less what it already has."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from msgspec import structs

from attnviz.analysis.flips import flips
from attnviz.analysis.provenance import gradients, parse_trail
from attnviz.analysis.row_ranking import ranking_of
from attnviz.contract import document as contract
from attnviz.contract.base import ActionLink
from attnviz.contract.view_params import Selected, Where
from attnviz.core.coerce import is_applicable
from attnviz.core.errors import ArrayError
from attnviz.core.selection import Selection
from attnviz.core.settings import OPTIONS
from attnviz.core.trace import Trace
from attnviz.explain import change_sentences
from attnviz.explain.flips import FAILED as FAILED_FLIPS
from attnviz.explain.flips import headline, sentences
from attnviz.explain.glossary import measured
from attnviz.explain.payload import ALL, SendFilter, by_row, model_data, numbers, values
from attnviz.explain.pictures import limits
from attnviz.explain.steps import steps_of
from attnviz.explain.wording import setting
from attnviz.models.model import Model
from attnviz.scene.compare import other_pass, pairs_of
from attnviz.scene.document.continuing_text import next_data
from attnviz.scene.document.encoding import Json, parameter_names, parameters_of, template_of, to_json
from attnviz.scene.document.pass_cache import MAX_PASS_BYTES, PassCache, n_bytes_of, pass_key
from attnviz.scene.document.reply_notes import NO_NOTES, ReplyNotes
from attnviz.scene.reading import has_options, reading_model, source_name, text_read, translates
from attnviz.scene.scene import FIXED_SOURCES, RANDOM, SOURCES, Options, Scene, is_uploaded, model_choice
from attnviz.scene.with_pass import SceneWithPass, n_typed, picked, selected, starts

_ALWAYS = ("d_model", "n_heads", "mask", "seed")


def caption(scene: Scene) -> str:
    """One line for print: the settings that decide the pass, without its words and hand-set numbers."""
    name = source_name(scene)
    if scene.source in FIXED_SOURCES:
        return f"Worked example: {name}." if scene.source in SOURCES else f"{name.capitalize()}."
    painted = " A painted mask." if scene.hidden is not None else ""
    if has_options(scene):
        shown = (name for name in OPTIONS if _is_in_caption(name, scene.options))
        settings = ", ".join(f"{OPTIONS[name].label}: {setting(getattr(scene.options, name))}" for name in shown)
        return f"{name.capitalize()}. {settings}.{painted}"
    model = model_choice(scene)
    training = [f"seed {scene.model_seed}"] if len(model.seeds) > 1 else []
    if scene.checkpoint is not None:
        training.append(f"after {model.checkpoints(scene.model_seed)[scene.checkpoint]} steps of training")
    which = f" ({', '.join(training)})" if training else ""
    return f"Model: {name}{which}.{painted}"


def _is_in_caption(name: str, options: Options) -> bool:
    if name in _ALWAYS:
        return True
    is_changed = name == "mask_size" or getattr(options, name) != getattr(Options(), name)
    return is_changed and is_applicable(options, name)


_log = logging.getLogger(__name__)
_BYTES_PER_NUMBER = 8 * 4 / 3  # float64 as base64
MAX_BYTES = 4_000_000  # the most bytes of numbers in one document
MAX_UNASKED_BYTES = 1_000_000  # for a larger pass a few heads are sent, the others on request
MAX_PARAMETER_BYTES = 250_000  # the most bytes of parameters in a page that may leave them out
MAX_VECTOR = 4_096  # numbers of a parameter, such as a bias, that is never left out
MAX_ROW_BYTES = 500_000  # for stages that are sent row by row, beginning with the rows next to the one in focus
MAX_SIDE_BY_SIDE_BYTES = 420_000  # for stages whose heads are always sent
OWN_SENTENCE_LINK = ActionLink(event="source", value=RANDOM, label="or type your own sentence")
# for models of letters or digits
OWN_NAME_LINK = ActionLink(event="source", value=RANDOM, label="Try your own sentence instead")


class Body(NamedTuple):
    """A document without selection and arrival: identical for everyone who opens the pass."""

    template: contract.SentShape  # all that doesn't depend on the numbers
    parameters: contract.SentParameters  # the parameters' numbers
    parts: Mapping[str, Json]  # the parts of the document that are in neither


def body(resolved: SceneWithPass, notes: ReplyNotes = NO_NOTES) -> Body:
    """The body of the document of a scene with its pass, including requested parts. A pass too large to be sent at once
    is sent with the heads and rows of `notes`, the latest first.
    """
    parts = _numbers(resolved, notes)
    parameters, parts.stages = parameters_of(resolved.trace, parts.stages)
    encoded = {name: Json(to_json(part)) for name, part in structs.asdict(parts).items()}
    return Body(template_of(resolved.trace), parameters, encoded)


def _cached_body(resolved: SceneWithPass, notes: ReplyNotes, cache: PassCache) -> Body:
    scene = resolved.scene
    is_private = scene.changes or is_uploaded(scene) or n_bytes_of(resolved.original) > MAX_PASS_BYTES
    if is_private or notes.asks:
        return body(resolved, notes)
    key = ("document", pass_key(scene), scene.drawing)
    made = cache.get(key)
    if made is None:
        made = body(resolved)
        encoded = (made.template.parts, made.parameters.parts, *made.parts.values())
        cache.put(key, made, sum(memoryview(each).nbytes for each in encoded))
    return made


def document_json(
    resolved: SceneWithPass,
    notes: ReplyNotes = NO_NOTES,
    *,
    arrival: int = 0,
    templates: Collection[str] = (),
    cache: PassCache | None = None,
) -> bytes:
    """The document of a scene as JSON, with the compared pass if there is one. With a cache, the pass has to be the one
    that `resolve` makes of the scene.
    """
    made, a = _cached_body(resolved, notes, cache) if cache else body(resolved, notes), resolved.other
    other = None
    if a is not None:
        of_a = ReplyNotes(
            heads=notes.heads,
            queries=notes.queries,
            whole=notes.whole,
            without_parameters=notes.without_parameters,
        )
        known = (*templates, made.template.name, made.parameters.name)
        other = other_pass(a, resolved, document_json(a, of_a, templates=known, cache=cache))
    template, parameters = (
        structs.replace(each, parts=None) if each.name in templates else each
        for each in (made.template, made.parameters)
    )
    return to_json(
        contract.SentDocument(
            template=template,
            parameters=parameters,
            where=where(resolved.scene, resolved.trace, a and a.trace),
            arrival=arrival,
            other=other,
            **made.parts,
        )
    )


def _numbers(resolved: SceneWithPass, notes: ReplyNotes) -> contract.PassNumbers:
    scene, trace, original = resolved.scene, resolved.trace, resolved.original
    sent = _to_send(trace, notes, selected(scene, trace))
    choice, model = model_choice(scene), reading_model(scene)
    training = choice.training_data(scene.model_seed, scene.checkpoint) if choice else None
    if training:
        training |= _learnt(scene, trace)
    seed = scene.options.seed if scene.source == RANDOM else scene.model_seed if choice else None
    moved = [stage.name for stage in original.stages if trace[stage.name] is not stage]
    return contract.PassNumbers(
        stages=numbers(trace, limits(trace, steps_of(trace)), sent, _seen_side_by_side(trace)),
        starts=[Selected(**vars(each)) for each in starts(trace)],
        typed=n_typed(scene),
        model=model_data(trace, training),
        measured=measured(trace.n_layers, training, seed),
        changes=[
            contract.ChangeMade(
                text=change_sentences.describe_change(original, change), stage=change.stage, index=change.index
            )
            for change in scene.changes
        ],
        moved=[contract.Moved(stage=name, text=change_sentences.caption(original, trace, name)) for name in moved],
        before={name: values(original[name], sent) for name in moved},
        slopes=slopes(trace, notes.slopes_of, sent) if notes.slopes_of else None,
        flips=flips_data(trace, notes.flips_of) if notes.flips_of else None,
        caption=caption(scene),
        painted=None if scene.source in FIXED_SOURCES or translates(scene) else scene.hidden is not None,
        pairs=[contract.SuggestedPair(id=pair.id, label=pair.label) for pair in pairs_of(scene)],
        link=_link(scene),
        door=_door(scene, model),
        offer=model and _offer(scene, model),
        next=next_data(resolved, with_names=notes.with_names),
    )


def _link(scene: Scene) -> dict[str, str]:
    if scene.source != RANDOM and not model_choice(scene):
        return {}
    return {"sentence": scene.sentence} | ({} if scene.written is None else {"written": scene.written})


MAX_LEARNT_WORDS = 16  # longer sentences don't fit in one line, so their weights at the checkpoints aren't sent


def _learnt(scene: Scene, trace: Trace) -> dict[str, object]:
    """What each checkpoint makes of a pass, unless that is changed by hand; of several layers the last is drawn, at
    which the answer is read.
    """
    choice = model_choice(scene)
    if scene.changes or scene.hidden is not None:
        return {}
    if translates(scene):
        return {"translations": choice.translations(scene.model_seed, text_read(scene))}
    n_words = len(trace.origin.rows)
    return {"learning": choice.learning(scene.model_seed, trace.origin.rows)} if 0 < n_words <= MAX_LEARNT_WORDS else {}


def _door(scene: Scene, model: Model | None) -> ActionLink | None:
    """The link to a sentence with random parameters; none from a translator, which they don't replace."""
    if model is None or translates(scene):
        return None
    return OWN_SENTENCE_LINK if model.task.unit == "word" else OWN_NAME_LINK


def _offer(scene: Scene, model: Model) -> ActionLink | None:
    if model.task.is_open or len(model.task.examples) < 2:
        return None
    (_, text), (_, other), *_ = model.task.examples
    if scene.sentence != text:
        return None
    changed = [new for old, new in zip(text.split(), other.split(), strict=False) if old != new]
    is_one_word = len(changed) == 1 and len(text.split()) == len(other.split())
    return ActionLink(event="example", value=other, label=f"What if it were “{changed[0] if is_one_word else other}”?")


def where(scene: Scene, trace: Trace, other: Trace | None = None) -> Where:
    """The scene's selection and view; next to another pass, where the two differ."""
    same = ("step", "trail", "order", "view", "present", "reveal", "compare", "route")
    return Where(
        cell=Selected(**vars(selected(scene, trace, other))),
        picked=picked(scene, trace, other),
        ask=scene.question,
        **{name: getattr(scene, name) for name in same},
    )


def slopes(trace: Trace, address: str, sent: SendFilter = ALL) -> contract.Slopes | None:
    """The gradients of a cell, or why there are none; None if the pass has no such cell."""
    cells, _ = parse_trail(trace, address)
    if not cells:
        return None
    cell = cells[0]
    try:
        slopes_of = gradients(trace, cell.stage, cell.index)
    except ArrayError as error:
        return contract.Slopes(of=str(cell), text=str(error), values={})
    sloped = trace.with_values(slopes_of)
    return contract.Slopes(
        of=str(cell),
        text=change_sentences.steepest(trace, cell.stage, cell.index, slopes_of),
        values={name: values(sloped[name], sent) for name in slopes_of if name != cell.stage},
    )


def flips_data(trace: Trace, address: str) -> contract.Flips | None:
    """The smallest changes that reorder a weight's row, stage by stage; None if the pass has no such weight."""
    cells, _ = parse_trail(trace, address)
    ranking = ranking_of(trace, cells[0].stage, cells[0].index) if cells else None
    if not ranking:
        return None
    try:
        changes = sentences(trace, ranking, flips(trace, ranking))
    except Exception:  # a failed search must not lose the rest of the document
        _log.exception("The search for flips failed")
        return contract.Flips(of=str(cells[0]), text=FAILED_FLIPS, stages=[])
    stages = [
        contract.Flip(
            stage=each.stage, text=text, cell=each.flip and str(each.flip.cell), value=each.flip and each.flip.turns
        )
        for each, text in changes
    ]
    return contract.Flips(of=str(cells[0]), text=headline(trace, ranking), stages=stages)


def _to_send(trace: Trace, notes: ReplyNotes, focus: Selection) -> SendFilter:
    most = MAX_BYTES if notes.heads or notes.whole else MAX_UNASKED_BYTES
    wanted = range(trace.lengths["head"]) if notes.whole else ()
    left_out = _to_leave_out(trace) if notes.without_parameters else frozenset()
    heads = heads_to_send(trace, (*wanted, *notes.heads, focus.head), most, left_out)
    if notes.whole:
        return SendFilter(heads, left_out=left_out)
    return SendFilter(heads, queries_to_send(trace, (*notes.queries, focus.query), len(heads)))


def _to_leave_out(trace: Trace) -> frozenset[str]:
    """The parameters of a pass that has many, and the contributions, which W_O makes as large; then no number is needed
    in more than 32 bits.
    """
    parameters = [trace[name] for name in parameter_names(trace)]
    if sum(stage.size for stage in parameters) * _BYTES_PER_NUMBER <= MAX_PARAMETER_BYTES:
        return frozenset()
    contributions = [layer.names["contributions"] for layer in trace.layers if "contributions" in layer.names]
    return frozenset([*(stage.name for stage in parameters if stage.size > MAX_VECTOR), *contributions])


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


def heads_to_send(trace: Trace, wanted: Sequence[int], most: int, left_out: Collection[str] = ()) -> frozenset[int]:
    """All heads if the pass fits into `most` bytes; else as many requested heads as fit, latest first."""
    sent = [stage for stage in trace.stages if not by_row(stage) and stage.name not in left_out]
    bytes_per_number = _BYTES_PER_NUMBER / 2 if left_out else _BYTES_PER_NUMBER
    with_heads = [stage for stage in sent if stage.is_headed]
    n_heads = with_heads[0].shape[0]
    of_one = sum(stage.size for stage in with_heads) // n_heads * bytes_per_number
    rest = sum(stage.size for stage in sent) * bytes_per_number - of_one * n_heads
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
