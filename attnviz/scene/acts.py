"""Acts: what a person can do in the viewer and its settings, each by its name. What it comes with may be anything.

An act that means nothing for the scene changes nothing; one that can't be done says why.
"""

import contextlib
import random
from collections.abc import Callable
from functools import partial

from attnviz.analysis.contest import contest_of
from attnviz.core import tokens
from attnviz.core.changes import Change, muted, replaced
from attnviz.core.errors import ArrayError, ChangeError
from attnviz.core.settings import MAX_CHANGES, MAX_CHARACTERS, OPTIONS, nearest
from attnviz.models import MODELS
from attnviz.scene.continuing import can_continue, next_token
from attnviz.scene.controls import MAX_SEED_CHARACTERS, offered
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
from attnviz.scene.pass_cache import ANSWERS
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
from attnviz.scene.tabscene import TabScene
from attnviz.scene.words import swapped


def act(place: TabScene, name: object, message: object) -> None:
    """Do what a person asks for, if it means anything in this scene."""
    if not isinstance(name, str):
        return
    settings = _settings_of(place.scene)
    if name in settings:
        settings[name](place, message)
    elif name in _OF_PASSES and (fitted := place.fitted()).trace:
        _OF_PASSES[name](place, fitted, message)


def _settings_of(scene: Scene) -> dict[str, Callable[[TabScene, object], None]]:
    """The acts that need no pass: a worked example has no settings but that another is shown."""
    if scene.source in READY_MADE:
        return _OF_ALL
    options = _OF_OPTIONS if has_options(scene) else {}
    return _OF_ALL | options | (_OF_MODELS if choice_of(scene) else _OF_OWN)


def _source(place: TabScene, message: object) -> None:
    source = option_in(message, (OWN, *MODELS, *SOURCES))
    if source is not None:
        place.update(**{"sentence": spaced(place.scene)} | parts_for_source(source))


def _typed(place: TabScene, message: object, name: str) -> None:
    if isinstance(message, str):
        place.update(**{name: message[:MAX_CHARACTERS]})


def _example(place: TabScene, message: object) -> None:
    sentence = option_in(message, [text for _, text in choice_of(place.scene).examples])
    if sentence is not None:
        place.update(sentence=sentence)


def _word(place: TabScene, message: object) -> None:
    word = option_in(message, [each for words in choice_of(place.scene).words_by_kind.values() for each in words])
    if word is not None:
        task = choice_of(place.scene).task
        sentence = place.scene.sentence
        _typed(place, sentence + word if task.spoken((word,)) else f"{sentence} {word}".strip(), "sentence")


def _replace(place: TabScene, message: object) -> None:
    if not isinstance(message, list) or len(message) != 2:
        return
    word = option_in(message[0], unknown(place.scene))
    by = option_in(message[1], model_of(choice_of(place.scene)).task.words)
    if word is not None and by is not None:
        _typed(place, tokens.replaced(place.scene.sentence, word, by), "sentence")


def _model_seed(place: TabScene, message: object) -> None:
    seed = option_in(message, choice_of(place.scene).seeds)
    if seed is not None:
        place.update(model_seed=seed)


def _checkpoint(place: TabScene, message: object) -> None:
    checkpoint = place_in(message, len(choice_of(place.scene).checkpoints(place.scene.model_seed)))
    if checkpoint is not None:
        place.update(checkpoint=checkpoint)


def _seed(place: TabScene, message: object) -> None:
    if isinstance(message, str):
        place.seed = message[:MAX_SEED_CHARACTERS]
        _set(place, "seed", nearest({"seed": place.seed})[0]["seed"])


def _another_seed(place: TabScene, message: object) -> None:
    present = place.scene.options.seed
    _set(place, "seed", random.choice([seed for seed in range(1000) if seed != present]))


def _option(place: TabScene, message: object, name: str) -> None:
    value = option_in(message, offered(place.scene, name))
    if value is not None:
        _set(place, name, value)


def _set(place: TabScene, name: str, value: int | str | bool) -> None:
    before = place.scene.options
    after = with_options(before, **{name: value})
    place.update(options=after)
    if name != "n_heads" and after.n_heads != before.n_heads:
        place.said = f"{before.n_heads} heads don't divide {after.d_model}: showing {after.n_heads}."


def _change(place: TabScene, fitted: SceneWithPass, message: object) -> None:
    try:
        change = change_in(fitted.trace, message)
    except ChangeError as error:
        place.said = str(error)
        return
    if change:
        _set_by_hand(place, fitted, change)


def _drop(place: TabScene, fitted: SceneWithPass, message: object) -> None:
    changes = fitted.scene.changes
    dropped = place_in(message, len(changes))
    if dropped is not None:
        place.update(changes=changes[:dropped] + changes[dropped + 1 :])


def _reset(place: TabScene, fitted: SceneWithPass, message: object) -> None:
    place.update(changes=())


def _mute(place: TabScene, fitted: SceneWithPass, message: object) -> None:
    found = writer_in(fitted.trace, message)
    if found:
        _set_by_hand(place, fitted, muted(*found))


def _set_by_hand(place: TabScene, fitted: SceneWithPass, change: Change) -> None:
    """Set a number, if it does not push another beyond float64."""
    changes = replaced(fitted.scene.changes, change)
    stage = fitted.original[change.stage]
    if stage.is_given and (stage.value[change.where] == change.value).all():  # as it was: nothing is set by hand
        changes = changes[:-1]
    try:
        if len(changes) > MAX_CHANGES:
            raise ChangeError(f"There may be at most {MAX_CHANGES} changes at once: undo one to make another.")
        fitted.original.with_changes(*changes)
    except (ArrayError, ChangeError) as error:
        place.said = str(error)
        return
    place.update(changes=changes)


def _swap(place: TabScene, fitted: SceneWithPass, message: object) -> None:
    places = places_in(message, fitted.trace.lengths["query"])
    sentence = swapped(fitted, *places) if places else None
    if sentence is not None:
        place.update(sentence=sentence)


def _slopes(place: TabScene, fitted: SceneWithPass, message: object) -> None:
    if cell_in(fitted.trace, message):
        place.slopes_of = message


def _flip(place: TabScene, fitted: SceneWithPass, message: object) -> None:
    cell = cell_in(fitted.trace, message)
    if cell and contest_of(fitted.trace, *cell):
        place.flips_of = message
    elif cell:
        place.said = "What would flip it is asked of a share that a softmax gives, in a row of at least two."


def _pin(place: TabScene, fitted: SceneWithPass, message: object) -> None:
    """Keep the present pass as A beside what is shown next."""
    place.update(beside=pinned(fitted.scene))


def _unpin(place: TabScene, message: object) -> None:
    place.update(beside=None, compare=COMPARISONS[0])


def _turn(place: TabScene, fitted: SceneWithPass, message: object) -> None:
    """Let A and B change places."""
    if fitted.scene.beside:
        _show_beside(place, pinned(fitted.scene), fitted.scene.beside)


def _pair(place: TabScene, fitted: SceneWithPass, message: object) -> None:
    pair = next((each for each in pairs_of(fitted.scene) if each.id == message), None)
    if pair is None:
        return
    a, b = (fit(scene, ANSWERS.original) for scene in (pair.a, pair.b))
    if a.refused or b.refused:
        place.said = (*a.refused, *b.refused)[0]
        return
    _show_beside(place, pair.a, pair.b)
    if fitted.scene.selection is None:
        now = place.fitted()
        found, stage = (of(now.scene, now.trace, a.trace) for of in (selected, picked))
        if found != start(now.trace, now.scene.step) or not now.trace.origin.read or stage:
            place.update(selection=found, picked=stage)


def _show_beside(place: TabScene, a: Scene, b: Scene) -> None:
    place.seed = ""
    place.update(beside=a, **{name: getattr(b, name) for name in DECIDING})


def _need(place: TabScene, fitted: SceneWithPass, message: object) -> None:
    asked = heads_in(message, fitted.trace.lengths["head"])
    place.heads = (*(each for each in place.heads if each not in asked), *asked)


def _next(place: TabScene, fitted: SceneWithPass, message: object) -> None:
    """Append the letter that comes next."""
    token = next_token(fitted) if can_continue(fitted) else None
    if token is not None:
        place.update(sentence=without_end(fitted.scene) + token)


def _shorter(place: TabScene, fitted: SceneWithPass, message: object) -> None:
    """Take the last letter away."""
    if can_continue(fitted):
        place.update(sentence=shortened(fitted.scene))


def _names(place: TabScene, fitted: SceneWithPass, message: object) -> None:
    place.with_names = can_continue(fitted)


def _draw(place: TabScene, fitted: SceneWithPass, message: object) -> None:
    with contextlib.suppress(ValueError):
        place.update(drawing=drawing_in(message))


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
    "change": _change,
    "drop": _drop,
    "reset": _reset,
    "mute": _mute,
    "swap": _swap,
    "slopes": _slopes,
    "flip": _flip,
    "need": _need,
    "pin": _pin,
    "turn": _turn,
    "pair": _pair,
    "next": _next,
    "shorter": _shorter,
    "names": _names,
    "draw": _draw,
}

NAMES = tuple(_OF_ALL | _OF_OWN | _OF_OPTIONS | _OF_MODELS | _OF_PASSES)
"""The names of all acts."""
