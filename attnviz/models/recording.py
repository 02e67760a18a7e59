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
from attnviz.models.yardsticks import FILE, MUTED, headless, muted

CURVE_POINTS = 50


def record(recipe: Recipe) -> None:
    """Train a model from all seeds of its recipe, and write its file."""
    runs = [recorded_run(recipe, seed) for seed in range(recipe.seeds)]
    text, file = json.dumps(runs, separators=(",", ":")) + "\n", file_of(recipe)
    packed = gzip.compress(text.encode(), mtime=0) if file.suffix == ".gz" else text.encode()
    file.write_bytes(packed)


def record_parts(choice: Choice) -> None:
    """Measure what the parts of a choice's models do, and what they lose without each, and write it."""
    FILE.write_text(json.dumps([parts_of(choice.at(seed)) for seed in choice.seeds]) + "\n", "utf-8")


def parts_of(model: Model) -> dict:
    """The content of the file of one model, measured on all that is held out."""
    held_out = model.task.held_out()
    arrays = passed(stages_for(model, held_out), model.arrays, held_out)
    looks = model.task.looks_of(arrays, held_out)

    def lost(other: Model) -> float:
        return measures(other, held_out)["loss"]

    return {
        "loss": lost(model),
        "muted": {what: lost(muted(model, what)) for what in MUTED},
        "heads": [
            {
                "looks": {what: round(shares[head], 4) for what, shares in looks.items()},
                "loss": lost(headless(model, head)),
            }
            for head in range(model.n_heads)
        ],
    }


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
                        "parameters": in_tenths(model.arrays, recipe.decimals),
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
    """The number of held-out texts that come up in training after all: where texts are drawn at random, a few may."""
    if recipe.task.is_open:
        return 0  # its texts are parted before any is drawn
    _, *trained_on = batches(recipe, seed)
    seen = {tuple(text) for batch in trained_on for text in batch.tokens.tolist()}
    return sum(tuple(text) in seen for text in recipe.task.held_out().tokens.tolist())


def measures(model: Model, batch: Batch) -> dict:
    """The loss and accuracy of a model on a batch, and the patterns of its attention, at 4 decimals."""
    arrays = passed(stages_for(model, batch), model.arrays, batch)
    patterns = model.task.patterns(arrays, batch)
    return {
        "loss": round(loss(arrays["probabilities"], batch), 4),
        "accuracy": round(accuracy(arrays["probabilities"], batch), 4),
        "patterns": {label: round(value, 4) for label, value in patterns.items()},
    }


def in_tenths(arrays: dict[str, np.ndarray], decimals: int) -> dict[str, list]:
    """Parameters as whole numbers: of tenths, at one decimal."""
    return {name: (array * 10**decimals).round().astype(int).tolist() for name, array in arrays.items()}
