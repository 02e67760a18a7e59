"""Settled: a scene without what its pass has no use for, and with a training that there is. It needs no pass."""

from __future__ import annotations

from dataclasses import replace

from attnviz.core.integer_example import (
    INTEGER_EXAMPLE,
    INTEGER_RULE,
    N_DRAWS,
    draw_integer_example,
    suits_integer_example,
)
from attnviz.core.limits import MAX_TOKENS
from attnviz.core.tokens import leading, tokenize
from attnviz.explain.wording import counted
from attnviz.models.choice import Choice
from attnviz.scene.reading import has_options
from attnviz.scene.scene import OWN, READY_MADE, Options, Scene, choice_of


def settled(scene: Scene) -> tuple[Scene, list[str]]:
    """The scene with its pass's own settings, and a sentence for each that was mended."""
    if scene.source in READY_MADE:
        scene = replace(scene, sentence=Scene().sentence, hidden=None)
    if scene.source != OWN:
        scene = replace(scene, context="")
    model, is_random = choice_of(scene), has_options(scene)
    if not is_random:
        scene = replace(scene, options=Options())
    if not model or is_random:
        scene = replace(scene, model_seed=Scene().model_seed, checkpoint=None)
        return _whole(scene) if scene.options.initialiser == INTEGER_EXAMPLE else (scene, [])
    seed, of_seed = _seed(model, scene.model_seed)
    checkpoint, of_checkpoint = _checkpoint(model, seed, scene.checkpoint)
    return replace(scene, model_seed=seed, checkpoint=checkpoint), of_seed + of_checkpoint


def _whole(scene: Scene) -> tuple[Scene, list[str]]:
    """With whole numbers if the sentence has so few words, of a seed that has some."""
    options = scene.options
    if not suits_integer_example(scene.sentence, scene.context):
        normal = Options().initialiser
        n = len(tokenize(leading(scene.sentence, MAX_TOKENS)))
        notice = f"{INTEGER_RULE}; got {counted(n, 'word')}, using initialiser={normal}."
        return replace(scene, options=replace(options, initialiser=normal)), [notice]
    seed = draw_integer_example(tokenize(scene.sentence), options.d_model, options.seed).seed
    if seed == options.seed:
        return scene, []
    rule = f"None of {N_DRAWS:,} draws from the seed {options.seed} is easy to compute by hand"
    return replace(scene, options=replace(options, seed=seed)), [f"{rule}; using the seed {seed}."]


def _seed(model: Choice, seed: int) -> tuple[int, list[str]]:
    """The nearest seed that the model was trained from."""
    if seed in model.seeds:
        return seed, []
    nearest = min(model.seeds, key=lambda each: abs(each - seed))
    known = ", ".join(map(str, model.seeds))
    return nearest, [f"The seeds of “{model.title}” are {known}; got {seed}, using {nearest}."]


def _checkpoint(model: Choice, seed: int, checkpoint: int | None) -> tuple[int | None, list[str]]:
    """A checkpoint of the training; None for the last."""
    steps = model.checkpoints(seed)
    last = len(steps) - 1
    if checkpoint and not last:
        notice = f"“{model.title}” was not trained, so it has no checkpoints; got {checkpoint}, and it is left out."
        return None, [notice]
    if checkpoint is not None and checkpoint > last:
        rule = f"“{model.title}” has the checkpoints 0 to {last}; got {checkpoint}"
        return None, [f"{rule}, using the last, after {steps[-1]:,} steps of training."]
    return None if checkpoint == last else checkpoint, []
