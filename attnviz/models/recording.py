"""Recording: training once, and keeping what came of it."""

import gzip
import json

import numpy as np

from attnviz.models.choice import Choice
from attnviz.models.model import Model
from attnviz.models.recipe import Recipe
from attnviz.models.recorded import file_of
from attnviz.models.task import Batch
from attnviz.models.training import accuracy, batches, loss, passed, stages_for, train
from attnviz.models.yardsticks import FILE, MUTED, muted

CURVE_POINTS = 50


def record(recipe: Recipe) -> None:
    """Train a model from all seeds of its recipe, and write its file."""
    runs = [recorded_run(recipe, seed) for seed in range(recipe.seeds)]
    text, file = json.dumps(runs, separators=(",", ":")) + "\n", file_of(recipe)
    packed = gzip.compress(text.encode(), mtime=0) if file.suffix == ".gz" else text.encode()
    file.write_bytes(packed)


def record_muted(choice: Choice) -> None:
    """Measure what the models of a choice lose without attention, and without their MLP, and write it."""
    held_out = choice.task.held_out()
    found = [
        {what: measures(muted(choice.at(seed), what), held_out)["loss"] for what in MUTED} for seed in choice.seeds
    ]
    FILE.write_text(json.dumps(found) + "\n", "utf-8")


def recorded_run(recipe: Recipe, seed: int) -> dict:
    """One run of training, as plain data; all measures are those of the parameters as they are written."""
    held_out = recipe.task.held_out()
    curve, checkpoints = [], []
    for step, model in enumerate(train(recipe, seed)):
        if step in recipe.checkpoints or step % (recipe.steps // CURVE_POINTS) == 0:
            rounded = model.with_arrays(
                {name: array.round(recipe.decimals) for name, array in model.arrays.items()}, "learnt"
            )
            measured = measures(rounded, held_out)
            curve.append([step, measured["loss"], measured["accuracy"]])
            if step in recipe.checkpoints:
                checkpoints.append(
                    {
                        "step": step,
                        "patterns": measured["patterns"],
                        "parameters": written(model.arrays, recipe.decimals),
                    }
                )
    return {
        "curve": curve,
        "checkpoints": checkpoints,
        "held_out": len(held_out.tokens),
        "met": met(recipe, seed),
        "loss_unrounded": measures(model, held_out)["loss"],
    }


def met(recipe: Recipe, seed: int) -> int:
    """How many of the held-out texts come up in training after all: where texts are drawn at random, a few may."""
    if recipe.task.is_open:
        return 0  # its texts are parted before any is drawn
    _, *trained_on = batches(recipe, seed)
    seen = {tuple(text) for batch in trained_on for text in batch.tokens.tolist()}
    return sum(tuple(text) in seen for text in recipe.task.held_out().tokens.tolist())


def measures(model: Model, batch: Batch) -> dict:
    """How well a model answers what a batch asks, and what is seen in its attention, at 4 decimals."""
    arrays = passed(stages_for(model, batch), model.arrays, batch)
    patterns = model.task.patterns(arrays, batch)
    return {
        "loss": round(loss(arrays["probabilities"], batch), 4),
        "accuracy": round(accuracy(arrays["probabilities"], batch), 4),
        "patterns": {label: round(value, 4) for label, value in patterns.items()},
    }


def written(arrays: dict[str, np.ndarray], decimals: int) -> dict[str, list]:
    """Parameters as whole numbers: of tenths, at one decimal."""
    return {name: (array * 10**decimals).round().astype(int).tolist() for name, array in arrays.items()}
