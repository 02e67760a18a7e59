"""Resolution: a scene beside its pass, with what does not fit that pass brought to the nearest that does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from attnviz.analysis.provenance import format_trail, parse_trail
from attnviz.core.attention import trace_of
from attnviz.core.changes import Change
from attnviz.core.errors import ArrayError, ChangeError, SettingsError
from attnviz.core.limits import MAX_TOKENS
from attnviz.core.masks import CUSTOM_MASK_RECIPE, CustomMask
from attnviz.core.settings import Settings
from attnviz.core.tokens import leading
from attnviz.core.trace import Trace
from attnviz.explain.steps import layer_number, nearest, title
from attnviz.scene.reading import has_options
from attnviz.scene.scene import OWN_PARAMETERS, SOURCES, Scene, choice_of, lacks_file, pinned
from attnviz.scene.settled import settled
from attnviz.scene.start import start

LACKS_ARRAYS = (
    "This link leads to a pass of somebody's own numbers, which no link holds. If they are yours, give the file again "
    "under “Your own numbers”; else ask whoever sent it for the page, which has them (the button “Page”)."
)


@dataclass(frozen=True)
class SceneWithPass:
    """A scene and its pass.

    Attributes
    ----------
    scene : Scene
        Every part of it fits the pass.
    original : Trace or None
        The pass before any number is set by hand; None where the sentence makes none.
    trace : Trace or None
        The pass with the numbers that are set by hand.
    notices : tuple of str
        One sentence for each part that was brought inside the pass: the rule, what came, what is shown.
    refused : tuple of str
        One sentence for each number set by hand that does not fit, or for the sentence that makes no pass.
    other : SceneWithPass or None
        The scene beside it with its pass, at the same step and number; None where there is none, or it makes no pass.
    """

    scene: Scene
    original: Trace | None
    trace: Trace | None
    notices: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    other: SceneWithPass | None = None


def pass_of(scene: Scene) -> Trace:
    """The pass of a scene, with the mask that is painted and stages of somebody's code, before any is set by hand.

    Raises
    ------
    SettingsError
        If its sentence makes none, or it is of a file of somebody's own that is not here.
    ArrayError
        If numbers of it go beyond float64.
    """
    trace = _unpainted(scene)
    if scene.hidden is not None:
        trace = trace.with_mask(~scene.hidden.hidden(*_sizes(trace)), CUSTOM_MASK_RECIPE)
    return trace if scene.code is None else scene.code.of(trace)


def _sizes(trace: Trace) -> tuple[int, int, int]:
    return tuple(trace.lengths[axis] for axis in ("head", "query", "key"))


def _unpainted(scene: Scene) -> Trace:
    if lacks_file(scene):
        raise SettingsError(LACKS_ARRAYS)
    if scene.source == OWN_PARAMETERS:
        return scene.upload.trace()
    if scene.source in SOURCES:
        return SOURCES[scene.source][1].trace
    if has_options(scene):
        return trace_of(settings_of(scene))
    model = choice_of(scene).at(scene.model_seed, scene.checkpoint)
    trace = model.trace(model.leading(scene.sentence))
    if scene.upload:  # what is said of one's own is kept nowhere
        return trace
    return trace.with_template((scene.source, model.kind, trace.labels["token"]))  # training decides numbers alone


def settings_of(scene: Scene) -> Settings:
    """The settings of a pass with random parameters; of more tokens than it has room for, the first."""
    sentence, context = (leading(text, MAX_TOKENS) for text in (scene.sentence, scene.context))
    return Settings(sentence, context=context if context.strip() else None, **vars(scene.options))


PassOrReason = Trace | str
"""A pass before any number is set by hand, or the sentence that says why there is none."""


def pass_or_reason(scene: Scene) -> PassOrReason:
    """The pass of a scene, or why there is none."""
    try:
        return pass_of(scene)
    except (ArrayError, SettingsError) as error:  # a model of somebody's own may hold any numbers
        return str(error)


def resolve(scene: Scene) -> SceneWithPass:
    """The scene beside its pass, and the one beside it beside its own; what lies outside them is brought inside.

    Whoever keeps passes (`scene/document/pass_cache`) has them at hand, and goes by the two steps of this.
    """
    scene, other = both(scene)
    return placed(scene, pass_or_reason(scene), other and pass_or_reason(other))


def both(scene: Scene) -> tuple[Scene, Scene | None]:
    """The scene and the one beside it, as their passes are made.

    What needs no pass to be mended (`settled`) is mended without a notice: `address.parse` has said it.
    """
    return settled(scene)[0], _beside(scene)


def _beside(scene: Scene) -> Scene | None:
    return scene.other and settled(pinned(scene.other))[0]


def placed(scene: Scene, original: PassOrReason, original_beside: PassOrReason | None = None) -> SceneWithPass:
    """A scene of `both` beside its pass, and that beside it; what lies outside them is brought inside."""
    if isinstance(original, str):
        return SceneWithPass(scene, None, None, refused=(original,))
    changes, trace, refused = _changed(original, scene.changes)
    scene, notices = _placed(scene, trace)
    if scene.hidden is not None and not scene.hidden.fits(*_sizes(original)):
        scene = replace(scene, hidden=CustomMask.of(scene.hidden.hidden(*_sizes(original))))
        notices.append("hidden has cells that this pass doesn't have; they are left out.")
    a, of_a = _other(scene, original_beside)
    scene = replace(scene, changes=changes, other=a and pinned(a.scene))
    return SceneWithPass(scene, original, trace, (*notices, *of_a), refused, a)


def _placed(scene: Scene, trace: Trace) -> tuple[Scene, list[str]]:
    """The scene at a step, a number and a trail of its pass, and a sentence for each that is another."""
    notices = []
    step = nearest(trace)[scene.step]
    selection = scene.selection and scene.selection.within(trace)
    if selection != scene.selection:
        notices.append(f"cell={scene.selection} lies outside this pass; showing {selection}.")
    if selection == start(trace, step) and scene.other is None:  # beside another pass one begins elsewhere
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


def _other(scene: Scene, original: PassOrReason | None) -> tuple[SceneWithPass | None, list[str]]:
    """The scene beside this one at its step and number, if it makes a pass; a sentence for each part refused."""
    if scene.other is None:
        return None, []
    a = placed(replace(_beside(scene), selection=scene.selection, step=scene.step), original)
    return a if a.trace else None, [f"A: {each}" for each in a.refused]


def _changed(trace: Trace, changes: Sequence[Change]) -> tuple[tuple[Change, ...], Trace, tuple[str, ...]]:
    """The changes that fit the trace, the trace with them, and a sentence for each that does not fit."""
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
