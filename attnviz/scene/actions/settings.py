"""Actions on settings, which need no pass."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from attnviz.contract.view_params import COMPARISONS
from attnviz.core import tokens
from attnviz.core.coerce import nearest
from attnviz.core.integer_example import INTEGER_EXAMPLE
from attnviz.core.limits import MAX_CHARACTERS, MAX_D_MODEL
from attnviz.core.masks import LEAST_WINDOW
from attnviz.core.settings import OPTIONS, RULE_OF_PAIRS
from attnviz.explain.wording import counted, setting
from attnviz.models import MODELS
from attnviz.scene.actions.messages import ActionResult, index_in, option_in
from attnviz.scene.document.controls import MAX_SEED_CHARACTERS, allowed_values
from attnviz.scene.document.reply_notes import ReplyNotes
from attnviz.scene.presets import PRESETS
from attnviz.scene.reading import any_model_of, has_options, translates, unknown_words, with_spaces
from attnviz.scene.scene import (
    FIXED_SOURCES,
    RANDOM,
    SENTENCE,
    SOURCES,
    Options,
    Scene,
    model_choice,
    next_seed,
    parts_for_source,
    with_options,
)


def allowed_actions(scene: Scene) -> dict[str, Callable[[Scene, object], ActionResult]]:
    """The actions that a scene allows without its pass; a worked example allows only switching to another source."""
    if scene.source in FIXED_SOURCES:
        return _OF_ALL
    options = _OF_OPTIONS if has_options(scene) else {}
    return _OF_ALL | options | (_OF_MODELS if model_choice(scene) else _OF_OWN)


def _source(scene: Scene, message: object) -> ActionResult:
    source = option_in(message, (RANDOM, *MODELS, *SOURCES))
    if source is None:
        return ActionResult(scene)
    parts = {"sentence": _own_sentence(scene), "view": "sheet" if source == RANDOM else scene.view}
    parts |= parts_for_source(source)
    return ActionResult(replace(scene, **parts), ReplyNotes(arrives=True))


def _own_sentence(scene: Scene) -> str:
    """The sentence to go on with under random parameters; a model's example, which nobody typed, is left behind."""
    choice = model_choice(scene)
    is_example = choice is not None and scene.sentence in (text for _, text in choice.examples)
    return SENTENCE if is_example else with_spaces(scene)


def _typed(scene: Scene, message: object, name: str) -> ActionResult:
    if not isinstance(message, str):
        return ActionResult(scene)
    text = message[:MAX_CHARACTERS]
    return ActionResult(_reading(scene, text) if name == "sentence" else replace(scene, **{name: text}))


def _reading(scene: Scene, sentence: str) -> Scene:
    """The scene with another sentence, which a translator translates whole, or in a talk word by word."""
    if sentence == scene.sentence:
        return scene
    begins = scene.present and scene.written is not None
    return replace(scene, sentence=sentence, written="" if begins else None)


def _written(scene: Scene, message: object) -> ActionResult:
    """What a translator has written, as typed; with nothing, it writes all."""
    if not translates(scene) or not isinstance(message, str):
        return ActionResult(scene)
    return ActionResult(replace(scene, written=message[:MAX_CHARACTERS] if message.strip() else None))


def _example(scene: Scene, message: object) -> ActionResult:
    sentence = option_in(message, [text for _, text in model_choice(scene).examples])
    return ActionResult(scene if sentence is None else _reading(scene, sentence))


def _word(scene: Scene, message: object) -> ActionResult:
    word = option_in(message, [each for words in model_choice(scene).words_by_kind.values() for each in words])
    if word is None:
        return ActionResult(scene)
    joined, sentence = model_choice(scene).task.joined((word,)), scene.sentence
    return _typed(scene, sentence + word if joined else f"{sentence} {word}".strip(), "sentence")


def _replace(scene: Scene, message: object) -> ActionResult:
    if not isinstance(message, list) or len(message) != 2:
        return ActionResult(scene)
    word = option_in(message[0], unknown_words(scene))
    by = option_in(message[1], any_model_of(model_choice(scene)).task.words)
    if word is None or by is None:
        return ActionResult(scene)
    return _typed(scene, tokens.replace_word(scene.sentence, word, by), "sentence")


def _model_seed(scene: Scene, message: object) -> ActionResult:
    seed = option_in(message, model_choice(scene).seeds)
    return ActionResult(scene if seed is None else replace(scene, model_seed=seed))


def _checkpoint(scene: Scene, message: object) -> ActionResult:
    checkpoint = index_in(message, len(model_choice(scene).checkpoints(scene.model_seed)))
    return ActionResult(scene if checkpoint is None else replace(scene, checkpoint=checkpoint))


def _seed(scene: Scene, message: object) -> ActionResult:
    if not isinstance(message, str):
        return ActionResult(scene)
    typed = message[:MAX_SEED_CHARACTERS]
    return ActionResult(_set(scene, "seed", nearest({"seed": typed})[0]["seed"]).scene, ReplyNotes(seed=typed))


def _another_seed(scene: Scene, message: object) -> ActionResult:
    return _set(scene, "seed", next_seed(scene.options.seed))


def _option(scene: Scene, message: object, name: str) -> ActionResult:
    value = option_in(message, allowed_values(scene, name))
    if value is None:
        return ActionResult(scene)
    changes = {"hidden": None} if name in ("mask", "mask_size", "window_in") else {}
    if name == "mask" and value == "causal window" and value != scene.options.mask:
        # in a window of one key each word would only see itself
        changes["options"] = replace(scene.options, mask_size=max(scene.options.mask_size, LEAST_WINDOW))
    return _set(replace(scene, **changes), name, value)


def _preset(scene: Scene, message: object) -> ActionResult:
    name = option_in(message, tuple(PRESETS))
    if name is None:
        return ActionResult(scene)
    is_integer = scene.options.initialiser == INTEGER_EXAMPLE  # it fixes other options
    options = replace(scene.options, initialiser=Options().initialiser) if is_integer else scene.options
    return ActionResult(replace(scene, hidden=None, options=with_options(options, **PRESETS[name].values)))


def _set(scene: Scene, name: str, value: int | str | bool) -> ActionResult:
    before = scene.options
    after = with_options(before, **{name: value})
    if name == "initialiser":
        mended = [each for each in OPTIONS if each != name and getattr(before, each) != getattr(after, each)]
        named = ", ".join(f"{OPTIONS[each].label}: {setting(getattr(after, each))}" for each in mended)
        notices = (f"With the parameters “{value}” other settings are mended: {named}.",) if mended else ()
        return ActionResult(replace(scene, options=after), ReplyNotes(notices=notices))
    notices = []
    if name != "n_heads" and after.n_heads != before.n_heads:
        notices.append(f"{before.n_heads} heads don't divide {after.d_model}: showing {after.n_heads}.")
    if name != "layers" and after.layers != before.layers:
        rule = f"Layers times d_model are at most {MAX_D_MODEL}, and {before.layers} × {after.d_model} is more"
        notices.append(f"{rule}: showing {counted(after.layers, 'layer')}.")
    if after.rope != before.rope and name != "rope":
        notices.append(f"{RULE_OF_PAIRS}: RoPE is off.")
    return ActionResult(replace(scene, options=after), ReplyNotes(notices=tuple(notices)))


def _unpin(scene: Scene, message: object) -> ActionResult:
    return ActionResult(replace(scene, other=None, compare=COMPARISONS[0]), ReplyNotes(arrives=True))


_OF_ALL = {"source": _source, "unpin": _unpin}
_OF_OWN = {name: partial(_typed, name=name) for name in ("sentence", "context")}
_OF_OPTIONS = {**{name: partial(_option, name=name) for name in OPTIONS}, "seed": _seed, "another_seed": _another_seed}
_OF_OPTIONS["preset"] = _preset
_OF_MODELS = {action.__name__[1:]: action for action in (_written, _example, _word, _replace, _model_seed, _checkpoint)}
_OF_MODELS["sentence"] = _OF_OWN["sentence"]
ACTIONS_ON_SETTINGS = _OF_ALL | _OF_OWN | _OF_OPTIONS | _OF_MODELS  # actions by name
