"""A scene with its pass: the selection that a pass opens with, the pass or why there is none, and moves within it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from attnviz.analysis.pairing import furthest, pairing, row_differs
from attnviz.analysis.provenance import format_trail, parse_trail
from attnviz.contract.view_params import QUESTIONS
from attnviz.core import tokens
from attnviz.core.attention import trace_of
from attnviz.core.changes import Change
from attnviz.core.errors import ArrayError, ChangeError, SettingsError
from attnviz.core.limits import MAX_TOKENS
from attnviz.core.masks import CUSTOM_MASK_RECIPE, CustomMask
from attnviz.core.selection import Selection
from attnviz.core.settings import Settings
from attnviz.core.terms import Cell
from attnviz.core.tokens import first_tokens, without_number
from attnviz.core.trace import Layer, Trace, cached_on_trace
from attnviz.explain.steps import STEPS, layer_number, nearest, step_of, steps_of, title
from attnviz.explain.texts import encodes
from attnviz.models.model import Model
from attnviz.models.tasks.lexicon import PRONOUNS
from attnviz.models.translator import Translator
from attnviz.scene.reading import (
    capacity,
    has_options,
    is_by_character,
    join_words,
    normalized,
    text_read,
    translates,
    words_in,
)
from attnviz.scene.scene import FIXED_SOURCES, OWN_PARAMETERS, SOURCES, Scene, lacks_file, model_choice, pinned


def selected(scene: Scene, trace: Trace, other: Trace | None = None) -> Selection:
    """The scene's selection in its pass, or the default one.

    Next to another pass A: the usual default if its row differs from A's, else the attention weight that differs most,
    in the step's layer or, if nothing differs there, in the last.
    """
    if scene.selection is not None:
        return scene.selection.within(trace)
    usual = start(trace, scene.step)
    if other is None:
        return usual
    layer = _layer_of(trace, scene.step)
    cell = furthest(other, trace, layer) or furthest(other, trace)
    shown = trace.layers[(layer if trace.has_encoder else 0) - 1].names["attention"]
    if cell is None or (trace.origin.read and row_differs(other, trace, shown, usual)):
        return usual
    return replace(usual, head=cell.head, query=cell.query, key=cell.key)


def picked(scene: Scene, trace: Trace, other: Trace | None = None) -> str:
    """The selected stage; the logits if two compared passes have equal attention and differ there; else ""."""
    if scene.picked or scene.selection is not None or other is None or "logits" not in trace or "logits" not in other:
        return scene.picked
    attentions = [layer.names["attention"] for layer in trace.layers]
    stages = pairing(other, trace).stages
    return "logits" if all(stages[name].is_same for name in attentions) and not stages["logits"].is_same else ""


def start(trace: Trace, step: str) -> Selection:
    """The default selection at a step."""
    return starts(trace)[_layer_of(trace, step)]


def _layer_of(trace: Trace, step: str) -> int:
    return next(each.layer for each in steps_of(trace) if each.id == step)


@cached_on_trace
def starts(trace: Trace) -> tuple[Selection, ...]:
    """The default selections: outside of layers and, if there are several, in each layer.

    For a model that answers: the attention of the last word at which something is asked, to the right answer if that is
    one of the words, else to the word that it looks at most; in a layer, the attention that the layer's purpose is
    about; of vectors, the largest number. Outside of layers the last layer's selection is used. Where nothing is asked:
    the second word and the one after it; where a mask hides that, the one that the second word looks at most; in a long
    sentence where the word looks nowhere in particular, the weight that is the largest multiple of an even one.

    In a translation: the next word and what it reads; once it is complete, the first word that changed its order. In
    the decoder's self-attention, the same word; in the encoder, a pronoun or the first word.
    """
    of_layers = tuple(_start(trace, layer) for layer in trace.layers)
    if trace.origin.read and trace.has_encoder:  # no answer is given in the rows of an encoder
        last = of_layers[-1].answer
        encoders = (encodes(layer.trace) for layer in trace.layers)
        of_layers = tuple(
            replace(at, answer=last) if is_encoder else at for at, is_encoder in zip(of_layers, encoders, strict=True)
        )
    return (of_layers[-1], *of_layers) if trace.n_layers > 1 else of_layers


def _start(trace: Trace, layer: Layer) -> Selection:
    if not trace.origin.read:
        return _looking_somewhere(layer, Selection().within(trace))
    if trace.has_encoder:
        return _translating(trace, layer)
    questions = [position for position, answer in enumerate(trace.origin.right) if answer is not None]
    position = questions[-1] if questions else len(trace.origin.right) - 1
    right, answers = trace.origin.right[position], trace.labels["answer"]
    answer = answers.index(right) if right in answers else int(trace["probabilities"].value[position].argmax())
    query, key = _looking(trace, layer, position)
    return _with_largest(layer, Selection(query=query, key=key, answer=answer)).within(trace)


def _with_largest(layer: Layer, at: Selection) -> Selection:
    """The selection with the largest number of each vector."""
    rows = {"feature": layer.trace["v"].value[at.head, at.key], "dimension": layer.trace["output"].value[at.query]}
    rows["neuron"] = layer.trace["active"].value[at.query] if "active" in layer.trace else np.zeros(1)
    return replace(at, **{name: int(abs(row).argmax()) for name, row in rows.items()})


def _translating(trace: Trace, layer: Layer) -> Selection:
    weights, words = layer.trace["attention"].value, layer.trace.labels["query"]
    answers = trace["probabilities"].value.argmax(axis=-1)
    if layer.number == 1:
        query = next((place for place, word in enumerate(words) if word in PRONOUNS), 0)
    else:
        reads = trace.layers[-1].trace["attention"].value.mean(axis=0).argmax(axis=-1)
        query = _writing(reads, ends=answers[-1] == len(trace.labels["answer"]) - 1)
    others = weights[:, query].copy()
    if layer.number == 1:
        others[:, query] = 0.0  # a word that reads itself is no surprise
    head, key = divmod(int(others.argmax()), others.shape[-1])
    answer = int(answers[min(query, len(answers) - 1)])
    return _with_largest(layer, Selection(head=head, query=query, key=key, answer=answer)).within(trace)


def _writing(reads: np.ndarray, *, ends: bool) -> int:
    """The row that writes the word that comes next; if that is the end, the first one that moved, or the last word."""
    moved = np.flatnonzero(np.diff(reads[:-1]) < 0) + 1
    if not ends or len(reads) < 2:
        return len(reads) - 1
    return int(moved[0]) if len(moved) else len(reads) - 2


LONG = 16  # sentences longer than this don't fit on the screen
LOOKS = 2.0  # the least multiple of an even attention weight that counts as looking


def _looking_somewhere(layer: Layer, usual: Selection) -> Selection:
    weights, visible = layer.trace["attention"].value[0], np.isfinite(layer.trace["masked"].value[0])
    times_even = weights.clip(0, 1) * visible.sum(axis=-1, keepdims=True)  # set by hand, a weight may be anything
    least = LOOKS if weights.shape[-1] > LONG else 0.0
    if visible[usual.query, usual.key] and times_even[usual.query, usual.key] >= least:
        return usual
    if visible[usual.query].any() and not least:
        return replace(usual, key=int(weights[usual.query].argmax()))
    query, key = divmod(int(times_even.argmax()), weights.shape[-1])
    return replace(usual, query=query, key=key)


def _looking(trace: Trace, layer: Layer, position: int) -> tuple[int, int]:
    """The query and key that a layer's purpose is about."""
    if trace.origin.looks:
        return trace.origin.looks[layer.number - 1]
    right, keys = trace.origin.right[position], trace.labels["key"]
    if layer.number == trace.n_layers and right in keys:
        return position, keys.index(right)
    return position, int(layer.trace["attention"].value[0, position].argmax())


LACKS_ARRAYS = (
    "This link leads to a pass of somebody's own numbers, which no link holds. If they are yours, give the file again "
    "under “Your own numbers”; else ask whoever sent it for the page, which has them (the button “Page”)."
)


@dataclass(frozen=True)
class SceneWithPass:
    """A scene and its pass; every field of the scene fits the pass."""

    scene: Scene
    original: Trace | None  # before any number is set by hand; None where the sentence makes no pass
    trace: Trace | None  # the pass, including numbers set by hand
    notices: tuple[str, ...] = ()  # a sentence for each corrected field: the rule, what came, what is shown
    refused: tuple[str, ...] = ()  # a sentence for each number set by hand that doesn't fit, or on why there is no pass
    other: SceneWithPass | None = None  # the compared scene at the same step and number, if it has a pass


def pass_or_reason(scene: Scene) -> Trace | str:
    """The pass of a scene with painted mask and uploaded stages, without hand-set numbers; or why there is none.

    Hand-set numbers still decide the words of a whole translation: see `as_written`.
    """
    scene = as_written(scene)
    try:
        trace = _without_painted_mask(scene)
        if scene.hidden is not None:
            trace = trace.with_mask(~scene.hidden.hidden(*_mask_shape(trace)), CUSTOM_MASK_RECIPE)
        return trace if scene.code is None else scene.code.of(trace)
    except (ArrayError, SettingsError) as error:  # an uploaded model may hold any numbers
        return str(error)


def _mask_shape(trace: Trace) -> tuple[int, int, int]:
    return tuple(trace.lengths[axis] for axis in ("head", "query", "key"))


def _without_painted_mask(scene: Scene) -> Trace:
    if lacks_file(scene):
        raise SettingsError(LACKS_ARRAYS)
    if scene.source == OWN_PARAMETERS:
        return scene.upload.trace()
    if scene.source in SOURCES:
        return SOURCES[scene.source][1].trace
    if has_options(scene):
        return trace_of(settings_of(scene))
    model = _model(scene)
    text = text_read(scene)
    if isinstance(model, Translator):
        trace = model.trace(text, whole_translation(scene) if scene.written is None else scene.written)
    else:
        trace = model.trace(text)
    if scene.upload:  # uploads are not cached
        return trace
    words = (trace.labels[name] for name in ("token", "context token") if name in trace.labels)
    return trace.with_template((scene.source, model.kind, *words))  # training decides numbers alone


def _model(scene: Scene) -> Model:
    return model_choice(scene).at(scene.model_seed, scene.checkpoint)


def as_written(scene: Scene) -> Scene:
    """The scene without its hand-set numbers. A whole translation is replaced by the words that the model writes with
    these numbers in force.
    """
    original = replace(scene, changes=())
    if not scene.changes or scene.written is not None or not translates(scene):
        return original
    try:
        return replace(original, written=whole_translation(scene))
    except (ArrayError, SettingsError):  # no pass, or none with these numbers: `fit_to_pass` says why
        return original


def whole_translation(scene: Scene) -> str:
    """What a translator writes with the numbers set by hand in force."""
    return " ".join(_model(scene).translate(text_read(scene), scene.changes))


def written_words(trace: Trace) -> list[str]:
    """The words that a translator has written in its pass, without the one that all begin with."""
    return list(map(without_number, trace.labels["token"][1:]))


def settings_of(scene: Scene) -> Settings:
    """The settings of a pass with random parameters, for as many tokens as fit."""
    sentence, context = (first_tokens(text, MAX_TOKENS) for text in (scene.sentence, scene.context))
    return Settings(sentence, context=context if context.strip() else None, **vars(scene.options))


def resolve(scene: Scene) -> SceneWithPass:
    """The scene with its pass, and the compared scene with its own; parts that don't fit are corrected."""
    scene, _ = normalized(scene)
    return fit_to_pass(scene, pass_or_reason(scene), scene.other and pass_or_reason(scene.other))


def fit_to_pass(scene: Scene, original: Trace | str, original_of_other: Trace | str | None = None) -> SceneWithPass:
    """`resolve` for a normalized scene with its pass as made before, and that of the compared scene."""
    if isinstance(original, str):
        return SceneWithPass(scene, None, None, refused=(original,))
    changes, trace, refused = _changed(original, scene.changes)
    scene, notices = _placed(scene, trace)
    if scene.hidden is not None and not scene.hidden.fits(*_mask_shape(original)):
        scene = replace(scene, hidden=CustomMask.of(scene.hidden.hidden(*_mask_shape(original))))
        notices.append("hidden has cells that this pass doesn't have; they are left out.")
    a = None
    if scene.other is not None:
        a = fit_to_pass(replace(scene.other, selection=scene.selection, step=scene.step), original_of_other)
        notices += [f"A: {each}" for each in a.refused]
        a = a if a.trace else None
    scene = replace(scene, changes=changes, other=a and pinned(a.scene))
    return SceneWithPass(scene, original, trace, tuple(notices), refused, a)


def _placed(scene: Scene, trace: Trace) -> tuple[Scene, list[str]]:
    notices = []
    step = nearest(trace)[scene.step]
    selection = scene.selection and scene.selection.within(trace)
    if selection != scene.selection:
        notices.append(f"cell={scene.selection} lies outside this pass; showing {selection}.")
    if selection == start(trace, step) and scene.other is None:  # the default differs with a compared pass
        selection = None
    trail, notice = parse_trail(trace, format_trail(scene.trail)) if scene.trail else ((), "")
    notices += [notice] * bool(notice)
    picked = scene.picked if scene.picked in trace else ""
    if picked != scene.picked:
        notices.append(f"picked is a stage of this pass; got {scene.picked[:40]!r}, so no stage is picked.")
    if title(step) != title(scene.step):
        number = layer_number(scene.step)
        lacking = f"Layer {number}" if 0 < number <= trace.n_layers else "This pass"  # another layer may have it
        notices.append(f"{lacking} has no step {title(scene.step)!r}; showing {title(step)!r}.")
    return replace(scene, selection=selection, picked=picked, step=step, trail=tuple(map(str, trail))), notices


def _changed(trace: Trace, changes: Sequence[Change]) -> tuple[tuple[Change, ...], Trace, tuple[str, ...]]:
    fitting, refused = [], []
    for change in changes:
        try:
            trace.check(change)
            fitting.append(change)
        except ChangeError as error:
            refused.append(f"{change} is left out here: {error}")
    try:
        return tuple(fitting), trace.with_changes(*fitting) if fitting else trace, tuple(refused)
    except ArrayError as error:
        return (), trace, (*refused, f"{error} No change was made.")


def what_if(resolved: SceneWithPass) -> dict[str, object]:
    """The fields that open "what if" at the selected stage or the last change."""
    scene, trace, asks = resolved.scene, resolved.trace, {"question": QUESTIONS[-1], "trail": ()}
    if trace is None:
        return asks
    selection = selected(scene, trace)
    if scene.picked:
        return at_cell(trace, trace.cell_at(scene.picked, selection), selection) | asks
    if scene.changes:
        last = scene.changes[-1]
        rest = (0,) * (len(trace[last.stage].shape) - len(last.index))
        index = tuple(place or 0 for place in (*last.index, *rest))  # of all places the first
        return at_cell(trace, trace[last.stage].cell(index), selection) | asks
    return {"step": STEPS[-1].id} | asks


def at_cell(trace: Trace, cell: Cell, selection: Selection) -> dict[str, object]:
    """The fields that select a cell at its step; other coordinates of the selection stay."""
    selection = trace.selection_at(cell, selection)
    return {"step": step_of(trace, cell.stage), "selection": selection, "picked": cell.stage}


def n_typed(scene: Scene) -> int:
    """How many of the last words were typed in one sentence; 0 with a context, a translation or a worked example."""
    if scene.source in FIXED_SOURCES or scene.context.strip() or translates(scene):
        return 0
    return min(len(words_in(scene)), capacity(scene))


def swapped(resolved: SceneWithPass, one: int, other: int) -> str | None:
    """The sentence with two words swapped; None if it doesn't contain both."""
    scene, count = resolved.scene, n_typed(resolved.scene)
    if not count:
        return None
    first = len(resolved.trace.labels["query"]) - count  # after the word that all texts of a model begin with
    if min(one, other) < first:
        return None
    words, (one, other) = list(words_in(scene)), (one - first, other - first)
    if is_by_character(scene):
        words[one], words[other] = words[other], words[one]
        return join_words(scene, words)
    return tokens.swap_tokens(scene.sentence, one, other, lambda text: words_in(replace(scene, sentence=text)))
