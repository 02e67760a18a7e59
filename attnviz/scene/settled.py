"""Settled: a scene without what its pass has no use for, and with a training that there is. It needs no pass."""

from __future__ import annotations

from dataclasses import replace

from attnviz.models.choice import Choice
from attnviz.scene.reading import has_options
from attnviz.scene.scene import OWN, READY_MADE, Options, Scene, choice_of


def settled(scene: Scene) -> tuple[Scene, list[str]]:
    """The scene with its pass's own settings, and a sentence for each that was mended."""
    if scene.source in READY_MADE:
        scene = replace(scene, sentence=Scene().sentence)
    if scene.source != OWN:
        scene = replace(scene, context="")
    model, is_random = choice_of(scene), has_options(scene)
    if not is_random:
        scene = replace(scene, options=Options())
    if not model or is_random:
        return replace(scene, model_seed=Scene().model_seed, checkpoint=None), []
    seed, of_seed = _seed(model, scene.model_seed)
    checkpoint, of_checkpoint = _checkpoint(model, seed, scene.checkpoint)
    return replace(scene, model_seed=seed, checkpoint=checkpoint), of_seed + of_checkpoint


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
        said = f"“{model.title}” was not trained, so it has no checkpoints; got {checkpoint}, and it is left out."
        return None, [said]
    if checkpoint is not None and checkpoint > last:
        rule = f"“{model.title}” has the checkpoints 0 to {last}; got {checkpoint}"
        return None, [f"{rule}, using the last, after {steps[-1]:,} steps of training."]
    return None if checkpoint == last else checkpoint, []
