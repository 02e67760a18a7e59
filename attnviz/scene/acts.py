"""Acts: what a person can do in the viewer and its settings, each by its name. What it comes with may be anything.

An act is a function of a scene and a message that gives a scene and what else to say. One that means nothing
for the scene gives it back; one that can't be done says why.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from attnviz.analysis.flips.contest import contest_of
from attnviz.core import tokens
from attnviz.core.changes import Change, muted, replaced
from attnviz.core.errors import ChangeError
from attnviz.core.settings import MAX_CHANGES, MAX_CHARACTERS, OPTIONS, nearest
from attnviz.models import MODELS
from attnviz.scene.continuing import can_continue, next_token
from attnviz.scene.controls import MAX_SEED_CHARACTERS, offered
from attnviz.scene.extras import Extras
from attnviz.scene.fitting import SceneWithPass, fit
from attnviz.scene.messages import (
    cell_in,
    change_in,
    drawing_in,
    heads_in,
    option_in,
    place_in,
    places_in,
    writer_in,
)
from attnviz.scene.pairs import pairs_of
from attnviz.scene.reading import has_options, model_of, shortened, spaced, unknown, without_end
from attnviz.scene.scene import (
    COMPARISONS,
    DECIDING,
    OWN,
    READY_MADE,
    SOURCES,
    Scene,
    choice_of,
    parts_for_source,
    pinned,
    with_options,
)
from attnviz.scene.start import picked, selected, start
from attnviz.scene.words import swapped

Fit = Callable[[Scene], SceneWithPass]
"""What makes the pass of a scene, such as `fit`."""


class Done(NamedTuple):
    """What an act gives: a scene, and what an answer says besides it."""

    scene: Scene
    extras: Extras = Extras()


def act(scene: Scene, name: object, message: object, fit: Fit = fit) -> Done:
    """Do what a person asks for, if it means anything in this scene.

    Parameters
    ----------
    scene : Scene
        As it was asked for: what doesn't fit its pass may fit the next.
    name, message : object
        Which act, and what it comes with.
    fit : callable, optional
        Makes the pass of a scene, where the act needs it.
    """
    if not isinstance(name, str):
        return Done(scene)
    settings = _settings_of(scene)
    if name in settings:
        return settings[name](scene, message)
    if name not in _OF_PASSES and name not in _OF_NEW_PASSES:
        return Done(scene)
    fitted = fit(scene)
    if not fitted.trace:
        return Done(scene)
    if name in _OF_PASSES:
        return _OF_PASSES[name](scene, fitted, message)
    return _OF_NEW_PASSES[name](scene, fitted, message, fit)


def _settings_of(scene: Scene) -> dict[str, Callable[[Scene, object], Done]]:
    """The acts that need no pass: a worked example has no settings but that another is shown."""
    if scene.source in READY_MADE:
        return _OF_ALL
    options = _OF_OPTIONS if has_options(scene) else {}
    return _OF_ALL | options | (_OF_MODELS if choice_of(scene) else _OF_OWN)


def _source(scene: Scene, message: object) -> Done:
    source = option_in(message, (OWN, *MODELS, *SOURCES))
    if source is None:
        return Done(scene)
    return Done(replace(scene, **{"sentence": spaced(scene)} | parts_for_source(source)), Extras(arrives=True))


def _typed(scene: Scene, message: object, name: str) -> Done:
    return Done(replace(scene, **{name: message[:MAX_CHARACTERS]}) if isinstance(message, str) else scene)


def _example(scene: Scene, message: object) -> Done:
    sentence = option_in(message, [text for _, text in choice_of(scene).examples])
    return Done(scene if sentence is None else replace(scene, sentence=sentence))


def _word(scene: Scene, message: object) -> Done:
    word = option_in(message, [each for words in choice_of(scene).words_by_kind.values() for each in words])
    if word is None:
        return Done(scene)
    spoken, sentence = choice_of(scene).task.spoken((word,)), scene.sentence
    return _typed(scene, sentence + word if spoken else f"{sentence} {word}".strip(), "sentence")


def _replace(scene: Scene, message: object) -> Done:
    if not isinstance(message, list) or len(message) != 2:
        return Done(scene)
    word = option_in(message[0], unknown(scene))
    by = option_in(message[1], model_of(choice_of(scene)).task.words)
    if word is None or by is None:
        return Done(scene)
    return _typed(scene, tokens.replaced(scene.sentence, word, by), "sentence")


def _model_seed(scene: Scene, message: object) -> Done:
    seed = option_in(message, choice_of(scene).seeds)
    return Done(scene if seed is None else replace(scene, model_seed=seed))


def _checkpoint(scene: Scene, message: object) -> Done:
    checkpoint = place_in(message, len(choice_of(scene).checkpoints(scene.model_seed)))
    return Done(scene if checkpoint is None else replace(scene, checkpoint=checkpoint))


def _seed(scene: Scene, message: object) -> Done:
    if not isinstance(message, str):
        return Done(scene)
    typed = message[:MAX_SEED_CHARACTERS]
    return Done(_set(scene, "seed", nearest({"seed": typed})[0]["seed"]).scene, Extras(seed=typed))


def _another_seed(scene: Scene, message: object) -> Done:
    """The seed after this one in an order that comes by all below 1,000 before one comes again."""
    return _set(scene, "seed", (421 * scene.options.seed + 613) % 1000)


def _option(scene: Scene, message: object, name: str) -> Done:
    value = option_in(message, offered(scene, name))
    return Done(scene) if value is None else _set(scene, name, value)


def _set(scene: Scene, name: str, value: int | str | bool) -> Done:
    before = scene.options
    after = with_options(before, **{name: value})
    if name == "n_heads" or after.n_heads == before.n_heads:
        return Done(replace(scene, options=after))
    said = f"{before.n_heads} heads don't divide {after.d_model}: showing {after.n_heads}."
    return Done(replace(scene, options=after), Extras(said=(said,)))


def _drop(scene: Scene, fitted: SceneWithPass, message: object) -> Done:
    changes = fitted.scene.changes
    dropped = place_in(message, len(changes))
    return Done(scene if dropped is None else replace(scene, changes=changes[:dropped] + changes[dropped + 1 :]))


def _reset(scene: Scene, fitted: SceneWithPass, message: object) -> Done:
    return Done(replace(scene, changes=()))


def _swap(scene: Scene, fitted: SceneWithPass, message: object) -> Done:
    places = places_in(message, fitted.trace.lengths["query"])
    sentence = swapped(fitted, *places) if places else None
    return Done(scene if sentence is None else replace(scene, sentence=sentence))


def _slopes(scene: Scene, fitted: SceneWithPass, message: object) -> Done:
    return Done(scene, Extras(slopes_of=message) if cell_in(fitted.trace, message) else Extras())


def _flip(scene: Scene, fitted: SceneWithPass, message: object) -> Done:
    cell = cell_in(fitted.trace, message)
    if cell and contest_of(fitted.trace, *cell):
        return Done(scene, Extras(flips_of=message))
    said = "What would flip it is asked of a share that a softmax gives, in a row of at least two."
    return Done(scene, Extras(said=(said,)) if cell else Extras())


def _need(scene: Scene, fitted: SceneWithPass, message: object) -> Done:
    return Done(scene, Extras(heads=heads_in(message, fitted.trace.lengths["head"])))


def _pin(scene: Scene, fitted: SceneWithPass, message: object) -> Done:
    """Keep the present pass as A beside what is shown next."""
    return Done(replace(scene, beside=pinned(fitted.scene)))


def _unpin(scene: Scene, message: object) -> Done:
    return Done(replace(scene, beside=None, compare=COMPARISONS[0]), Extras(arrives=True))


def _turn(scene: Scene, fitted: SceneWithPass, message: object) -> Done:
    """Let A and B change places."""
    a = fitted.scene.beside
    return Done(scene) if a is None else Done(_beside(scene, pinned(fitted.scene), a), Extras(seed=""))


def _next(scene: Scene, fitted: SceneWithPass, message: object) -> Done:
    """Append the letter that comes next."""
    token = next_token(fitted) if can_continue(fitted) else None
    return Done(scene if token is None else replace(scene, sentence=without_end(fitted.scene) + token))


def _shorter(scene: Scene, fitted: SceneWithPass, message: object) -> Done:
    """Take the last letter away."""
    return Done(replace(scene, sentence=shortened(fitted.scene)) if can_continue(fitted) else scene)


def _names(scene: Scene, fitted: SceneWithPass, message: object) -> Done:
    return Done(scene, Extras(with_names=can_continue(fitted)))


def _draw(scene: Scene, fitted: SceneWithPass, message: object) -> Done:
    try:
        return Done(replace(scene, drawing=drawing_in(message)))
    except ValueError:
        return Done(scene)


def _change(scene: Scene, fitted: SceneWithPass, message: object, fit: Fit) -> Done:
    try:
        change = change_in(fitted.trace, message)
    except ChangeError as error:
        return Done(scene, Extras(said=(str(error),)))
    return _set_by_hand(scene, fitted, change, fit) if change else Done(scene)


def _mute(scene: Scene, fitted: SceneWithPass, message: object, fit: Fit) -> Done:
    found = writer_in(fitted.trace, message)
    return _set_by_hand(scene, fitted, muted(*found), fit) if found else Done(scene)


def _set_by_hand(scene: Scene, fitted: SceneWithPass, change: Change, fit: Fit) -> Done:
    """Set a number, if it does not push another beyond float64."""
    changes = replaced(fitted.scene.changes, change)
    stage = fitted.original[change.stage]
    if stage.is_given and (stage.value[change.where] == change.value).all():  # as it was: nothing is set by hand
        changes = changes[:-1]
    if len(changes) > MAX_CHANGES:
        said = f"There may be at most {MAX_CHANGES} changes at once: undo one to make another."
        return Done(scene, Extras(said=(said,)))
    after = replace(scene, changes=changes)
    refused = fit(after).refused
    return Done(scene, Extras(said=refused)) if refused else Done(after)


def _pair(scene: Scene, fitted: SceneWithPass, message: object, fit: Fit) -> Done:
    pair = next((each for each in pairs_of(fitted.scene) if each.id == message), None)
    if pair is None:
        return Done(scene)
    after = _beside(scene, pair.a, pair.b)
    now = fit(after)
    refused = (*fit(pair.a).refused, *now.refused)
    if refused:
        return Done(scene, Extras(said=refused[:1]))
    if fitted.scene.selection is None:
        found, stage = (of(now.scene, now.trace, now.beside.trace) for of in (selected, picked))
        if found != start(now.trace, now.scene.step) or not now.trace.origin.read or stage:
            return Done(replace(after, selection=found, picked=stage), Extras(seed="", arrives=True))
    return Done(after, Extras(seed=""))


def _beside(scene: Scene, a: Scene, b: Scene) -> Scene:
    """The scene with the pass of B, and that of A beside it."""
    return replace(scene, beside=a, **{name: getattr(b, name) for name in DECIDING})


_OF_ALL = {"source": _source, "unpin": _unpin}
_OF_OWN = {name: partial(_typed, name=name) for name in ("sentence", "context")}
_OF_OPTIONS = {
    **{name: partial(_option, name=name) for name in OPTIONS},
    "seed": _seed,
    "another_seed": _another_seed,
}
_OF_MODELS = {
    "sentence": partial(_typed, name="sentence"),
    "example": _example,
    "word": _word,
    "replace": _replace,
    "model_seed": _model_seed,
    "checkpoint": _checkpoint,
}
_OF_PASSES = {
    "drop": _drop,
    "reset": _reset,
    "swap": _swap,
    "slopes": _slopes,
    "flip": _flip,
    "need": _need,
    "pin": _pin,
    "turn": _turn,
    "next": _next,
    "shorter": _shorter,
    "names": _names,
    "draw": _draw,
}
_OF_NEW_PASSES = {"change": _change, "mute": _mute, "pair": _pair}

NAMES = tuple(_OF_ALL | _OF_OWN | _OF_OPTIONS | _OF_MODELS | _OF_PASSES | _OF_NEW_PASSES)
"""The names of all acts."""
