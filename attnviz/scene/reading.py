"""How a scene's sentence is read, by its model or with random parameters; and scenes with settings made to fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attnviz.core.integer_example import (
    INTEGER_EXAMPLE,
    INTEGER_RULE,
    N_DRAWS,
    draw_integer_example,
    suits_integer_example,
)
from attnviz.core.limits import MAX_TOKENS
from attnviz.core.tokens import first_tokens, tokenize
from attnviz.explain.wording import counted
from attnviz.models.model import Model, PickableModel
from attnviz.models.translator import Translator
from attnviz.scene.scene import (
    FIXED_SOURCES,
    OWN_PARAMETERS,
    RANDOM,
    SOURCES,
    Options,
    Scene,
    lacks_file,
    model_choice,
    pinned,
)


def any_model_of(choice: PickableModel) -> Model:
    """Any one of a choice's models: all share vocabulary and context length."""
    return choice.at(choice.seeds[0])


def unknown_words(scene: Scene) -> tuple[str, ...]:
    """The words that the scene's model doesn't know, in lower case; empty without a model. A translator reads the words
    that fit, whatever follows them.
    """
    choice = model_choice(scene)
    if not choice:
        return ()
    model = any_model_of(choice)
    return model.unknown(_fitting(model, scene.sentence) if translates(scene) else scene.sentence)


def _fitting(model: Model, text: str) -> str:
    return " ".join(model.split(text)[: model.capacity(text)])


def translates(scene: Scene) -> bool:
    """Whether the scene's model translates what it reads."""
    choice = model_choice(scene)
    return choice is not None and isinstance(any_model_of(choice), Translator)


def reading_model(scene: Scene) -> Model | None:
    """The model that reads the sentence; None for random parameters and worked examples. A translator makes no pass of
    words that it doesn't know: random parameters translate nothing.
    """
    choice = model_choice(scene)
    return any_model_of(choice) if choice and (not unknown_words(scene) or translates(scene)) else None


def has_options(scene: Scene) -> bool:
    """Whether the pass has random parameters, so that the scene's options matter."""
    return scene.source not in FIXED_SOURCES and not lacks_file(scene) and reading_model(scene) is None


def source_name(scene: Scene) -> str:
    """The name of a scene's source, for use within a sentence."""
    if scene.source == OWN_PARAMETERS:
        return "somebody's own numbers"
    if scene.source in SOURCES:
        example, variant = SOURCES[scene.source]
        return f"{example.title}, {variant.title}"
    return "random parameters" if has_options(scene) else model_choice(scene).title


def words_in(scene: Scene) -> Sequence[str]:
    """The sentence's tokens as the scene's pass splits it, before it is cut to the pass's length."""
    model = reading_model(scene)
    return model.split(scene.sentence) if model else tokenize(scene.sentence)


def join_words(scene: Scene, words: Sequence[str]) -> str:
    """Tokens joined into a sentence, without spaces where each letter is a token."""
    model = reading_model(scene)
    return (model and model.task.joined(words)) or " ".join(words)


def is_by_character(scene: Scene) -> bool:
    """Whether each character of the sentence is a token, including spaces."""
    model = reading_model(scene)
    return model is not None and model.task.joined(words_in(scene)) == scene.sentence != ""


def without_end(scene: Scene) -> str:
    """The sentence without trailing spaces, unless its model reads them."""
    stripped = scene.sentence.rstrip()
    return stripped if words_in(replace(scene, sentence=stripped)) == words_in(scene) else scene.sentence


def without_last_token(scene: Scene) -> str:
    """The sentence without its last word."""
    text, n_words = scene.sentence, len(words_in(scene))
    while text and len(words_in(replace(scene, sentence=text))) == n_words:
        text = text[:-1]
    return without_end(replace(scene, sentence=text))


def capacity(scene: Scene) -> int:
    """The number of the sentence's tokens that the pass can hold; the rest isn't read."""
    model = reading_model(scene)
    return model.capacity(scene.sentence) if model else MAX_TOKENS


def text_read(scene: Scene) -> str:
    """The sentence as far as its model has room for it; a translator's in plain words."""
    model = reading_model(scene)
    return _fitting(model, scene.sentence) if translates(scene) else model.truncated(scene.sentence)


def french_capacity(scene: Scene) -> int:
    """The number of words that a translator may write."""
    return len(reading_model(scene).positions) - 1  # the first is that of the word that all begin with


def with_spaces(scene: Scene) -> str:
    """The sentence split for random parameters as its model splits it: "abc" becomes "a b c"."""
    words = words_in(scene)
    return scene.sentence if len(words) == len(tokenize(scene.sentence)) else " ".join(words)


def normalized(scene: Scene) -> tuple[Scene, list[str]]:
    """The scene and the compared one with every setting made to fit, and a notice for each correction of the scene."""
    if scene.other is not None:
        scene = replace(scene, other=normalized(pinned(scene.other))[0])
    if scene.source in FIXED_SOURCES:
        scene = replace(scene, sentence=Scene().sentence, hidden=None)
    if scene.source != RANDOM:
        scene = replace(scene, context="")
    # a painted mask is one for all layers, and those of a translator have words of their own
    scene = replace(scene, **{"hidden": None, "drawing": None} if translates(scene) else {"written": None})
    model, is_random = model_choice(scene), has_options(scene)
    if not is_random:
        scene = replace(scene, options=Options())
    if not model or is_random:
        scene = replace(scene, model_seed=Scene().model_seed, checkpoint=None)
        return _with_integers(scene) if scene.options.initialiser == INTEGER_EXAMPLE else (scene, [])
    return _with_training(scene, model)


def _with_integers(scene: Scene) -> tuple[Scene, list[str]]:
    """The integer example needs few words, and a seed that gives whole numbers."""
    options = scene.options
    if not suits_integer_example(scene.sentence, scene.context):
        normal = Options().initialiser
        n = len(tokenize(first_tokens(scene.sentence, MAX_TOKENS)))
        notice = f"{INTEGER_RULE}; got {counted(n, 'word')}, using initialiser={normal}."
        return replace(scene, options=replace(options, initialiser=normal)), [notice]
    seed = draw_integer_example(tokenize(scene.sentence), options.d_model, options.seed).seed
    if seed == options.seed:
        return scene, []
    rule = f"None of {N_DRAWS:,} draws from the seed {options.seed} is easy to compute by hand"
    return replace(scene, options=replace(options, seed=seed)), [f"{rule}; using the seed {seed}."]


def _with_training(scene: Scene, model: PickableModel) -> tuple[Scene, list[str]]:
    """The nearest seed that the model was trained from, and a checkpoint of that training; None for the last."""
    notices, seed, checkpoint = [], scene.model_seed, scene.checkpoint
    if seed not in model.seeds:
        seed = min(model.seeds, key=lambda each: abs(each - scene.model_seed))
        known = ", ".join(map(str, model.seeds))
        notices.append(f"The seeds of “{model.title}” are {known}; got {scene.model_seed}, using {seed}.")
    steps = model.checkpoints(seed)
    last = len(steps) - 1
    if checkpoint and not last:
        rule = f"“{model.title}” was not trained, so it has no checkpoints"
        notices.append(f"{rule}; got {checkpoint}, and it is left out.")
    elif checkpoint is not None and checkpoint > last:
        rule = f"“{model.title}” has the checkpoints 0 to {last}; got {checkpoint}"
        notices.append(f"{rule}, using the last, after {steps[-1]:,} steps of training.")
    if checkpoint is not None and checkpoint >= last:
        checkpoint = None
    return replace(scene, model_seed=seed, checkpoint=checkpoint), notices
