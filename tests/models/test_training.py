"""Training: its derivatives, what it reaches, and that what is recorded is what it reached."""

import math
from dataclasses import replace

import numpy as np
import pytest

from attnviz.core.rng import stream
from attnviz.models import MODELS, trained
from attnviz.models.recipes import RECIPES
from attnviz.models.task import Batch
from attnviz.models.trained import measures
from attnviz.models.training import Adam, accuracy, forward_batch, gradients, loss, stages_for, train

ASKING = {id: recipe for id, recipe in RECIPES.items() if not recipe.task.is_open}
"""Those whose questions have right answers; what comes next in a name is measured in test_microgpt."""

SEEDS = [(id, seed) for id, recipe in ASKING.items() for seed in range(recipe.seeds)]


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_the_slope_of_the_loss_along_every_parameter_equals_central_differences(recipe):
    small = replace(recipe, d_model=recipe.n_heads + 2 * (recipe.n_heads == 1), n_neurons=min(recipe.n_neurons, 5))
    small = replace(small, spread=recipe.spread and 0.5).untrained(5)
    batch = recipe.task.batch(np.random.RandomState(1), 4)
    stages, parameters, step = stages_for(small, batch), small.arrays, 1e-5
    found = gradients(stages, parameters, batch)
    assert found.keys() == parameters.keys()

    def moved(name, index, by):
        other = parameters[name].copy()
        other[index] += by
        return loss(forward_batch(stages, parameters | {name: other}, batch)["probabilities"], batch)

    for name, array in parameters.items():
        expected = [(moved(name, at, step) - moved(name, at, -step)) / (2 * step) for at in np.ndindex(array.shape)]
        assert np.any(expected)
        np.testing.assert_allclose(found[name].ravel(), expected, atol=1e-8, err_msg=name)


@pytest.mark.parametrize("id", ["mirror", "at-it", "short-cut"])
def test_training_again_reaches_what_is_recorded(id):
    """Of those that take the least; what all have learnt is measured again in every checkpoint."""
    recipe = RECIPES[id]
    *_, trained = train(recipe, 0)
    found = measures(trained, recipe.task.held_out())
    assert found["accuracy"] >= 0.9998
    assert MODELS[recipe.id].curve(0)[-1][2] >= 0.9998
    recorded = MODELS[recipe.id].training_data(0, None)["patterns"]
    for pattern in recorded:  # another processor rounds otherwise, which may lead elsewhere, but not far
        assert found["patterns"][pattern["label"]] == pytest.approx(pattern["value"], abs=0.05)


@pytest.mark.parametrize(("id", "seed"), SEEDS)
def test_every_checkpoint_does_on_held_out_texts_what_is_recorded(id, seed):
    choice, held_out = MODELS[id], RECIPES[id].task.held_out()
    curve = {step: figures for step, *figures in choice.curve(seed)}
    assert list(choice.checkpoints(seed)) == list(RECIPES[id].checkpoints)
    assert list(curve) == sorted(curve)
    assert (min(curve), max(curve)) == (0, RECIPES[id].steps)
    for place, step in enumerate(choice.checkpoints(seed)):
        found = measures(choice.at(seed, place), held_out)
        assert [found["loss"], found["accuracy"]] == pytest.approx(curve[step], abs=2e-4)
        recorded = choice.training_data(seed, place)["patterns"]
        assert found["patterns"] == pytest.approx({each["label"]: each["value"] for each in recorded}, abs=2e-4)


@pytest.mark.parametrize(("id", "seed"), SEEDS)
def test_how_many_held_out_texts_came_up_in_training_is_recorded(id, seed):
    task, data = RECIPES[id].task, MODELS[id].training_data(seed, None)
    random = stream(f"{id}, batches", seed)
    task.batch(random, 1)  # of which the graph is made
    drawn = {text.tobytes() for _ in range(RECIPES[id].steps) for text in task.batch(random, RECIPES[id].batch).tokens}
    held_out = task.held_out().tokens
    assert (data["heldOut"], data["met"]) == (len(held_out), sum(text.tobytes() in drawn for text in held_out))
    assert data["met"] == (2 if (id, seed) == ("recall", 2) else 0)


@pytest.mark.parametrize(("id", "seed"), SEEDS)
def test_what_is_seen_at_the_end_of_every_training(id, seed):
    data = MODELS[id].training_data(seed, None)
    first, *others = [pattern["value"] for pattern in data["patterns"]]
    assert data["curve"][-1][2] >= 0.9998
    if id == "who-is-it":
        (tired_animal, tired_street), (wide_animal, wide_street) = data["kinds"]["values"]
        assert first > 0.8
        assert min(tired_animal, wide_street) > 7 > -7 > max(tired_street, wide_animal)
    elif id == "mirror":
        assert first > 0.99
    elif id == "recall":
        assert min(first, *others) > 0.97
    elif id == "at-it":
        assert first == pytest.approx(others[0], abs=0.05)


def test_the_short_cut_is_right_about_few_sentences_of_the_other_kind():
    task, model = RECIPES["short-cut"].task, MODELS["short-cut"].at(0, None)
    others = task.second_nouns()
    assert len(others.tokens) == 360
    assert measures(model, task.held_out())["accuracy"] == 1
    assert measures(model, others)["accuracy"] < 0.1


def test_digits_are_not_mirrored_without_positions():
    *_, blind = train(replace(RECIPES["mirror"], n_places=0), 0)
    assert measures(blind, RECIPES["mirror"].task.held_out())["accuracy"] < 0.35


def test_what_is_recorded_is_the_training_of_each_seed_as_it_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(trained, "FOLDER", tmp_path)
    monkeypatch.setattr(trained, "CURVE_POINTS", 5)
    recipe = replace(RECIPES["mirror"], checkpoints=(0, 3, 20), seeds=2)
    trained.record(recipe)
    kept, held_out = trained.TrainedModel(recipe), recipe.task.held_out()
    for seed in kept.seeds:
        models = list(train(recipe, seed))
        curve = {step: figures for step, *figures in kept.curve(seed)}
        assert list(curve) == [0, 3, 4, 8, 12, 16, 20]
        for place, step in enumerate(recipe.checkpoints):
            model = kept.at(seed, place)
            for name, array in models[step].arrays.items():
                np.testing.assert_array_equal(model.arrays[name], array.round(1))
            found = measures(model, held_out)
            assert curve[step] == [found["loss"], found["accuracy"]]


def test_the_loss_and_the_accuracy_are_of_what_is_asked_alone():
    probabilities = np.array([[[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]], [[0.0, 1.0, 0.0], [0.25, 0.25, 0.5]]])
    batch = Batch(None, np.array([[1, 2], [0, 0]]), np.array([[True, True], [False, True]]))
    assert loss(probabilities, batch) == pytest.approx(-(math.log(0.3) + math.log(0.8) + math.log(0.25)) / 3)
    assert accuracy(probabilities, batch) == pytest.approx(1 / 3)
    impossible = Batch(None, np.zeros((2, 2), int), np.array([[False, False], [True, False]]))
    assert loss(probabilities, impossible) == pytest.approx(-math.log(np.finfo(float).tiny))


def test_adam_moves_a_parameter_as_published():
    """Algorithm 1 of Kingma and Ba 2015, in Python floats; the rate rises in 20 steps and falls in the last quarter."""
    rates = [0.1 * min(1, step / 20, (101 - step) / 25) for step in range(1, 101)]
    adam, found = Adam(0.1, 100), {"w": np.array([1.0])}
    w, mean, square = 1.0, 0.0, 0.0
    for step, rate in enumerate(rates, start=1):
        slope = math.sin(step) + w
        found = adam.moved(found, {"w": np.array([math.sin(step)]) + found["w"]})
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        w -= rate * (mean / (1 - 0.9**step)) / (math.sqrt(square / (1 - 0.999**step)) + 1e-8)
        assert found["w"][0] == pytest.approx(w, rel=1e-9)
