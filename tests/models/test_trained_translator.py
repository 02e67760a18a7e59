"""The translator: its pass, what it writes, its errors, its training and its recorded figures."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import translator_alone as alone

from attnviz.core.changes import Change
from attnviz.core.errors import SettingsError
from attnviz.models import MODELS
from attnviz.models.recipes import RECIPES
from attnviz.models.tasks.lexicon import NOUNS, PRONOUNS
from attnviz.models.tasks.translation import END, N_HELD_OUT, sample
from attnviz.models.trained import measures, pronoun_figures, recording_path
from attnviz.models.training import Adam, accuracy, forward_batch, loss, stages_for, train

RECIPE, CHOICE = RECIPES["translator"], MODELS["translator"]
TASK, MODEL, FILE = RECIPE.task, CHOICE.at(0), recording_path(RECIPES["translator"])
TIRED, WIDE = (f"the cat does not cross the street because it is too {word}" for word in ("tired", "wide"))
ARRAYS = alone.parameters(FILE)


def sentences(which, count):
    return [((*words, END), TASK.translations(words)) for words, _ in sample(which, N_HELD_OUT)[:count]]


@pytest.mark.parametrize("text", [text for _, text in CHOICE.examples])
def test_pass_equals_numpy_alone(text):
    trace = MODEL.trace(text)
    english, french = TASK.english_rows(MODEL.tokens(text)), trace.origin.rows
    logits, weights = alone.forward(ARRAYS, english, french)
    np.testing.assert_allclose(trace["logits"].value, logits, rtol=0, atol=1e-12)
    for layer, expected in enumerate(weights, start=1):
        np.testing.assert_allclose(trace[f"attention_{layer}"].value, expected, rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("which", ["combinations", "sentences"])
@pytest.mark.parametrize("seed", CHOICE.seeds)
def test_held_out_figures_are_recomputed_alone(seed, which):
    """Greedily, whole sentences, with no code of attnviz; the recorded figure is that after each right beginning."""
    n = 250
    share = alone.share_right(alone.parameters(FILE, seed), TASK.english, TASK.answers, sentences(which, n))
    recorded = CHOICE.figures(seed)["sentences"] if which == "sentences" else CHOICE.curve(seed)[-1][2]
    assert share == pytest.approx(recorded, abs=0.004)
    assert share >= 0.992


def test_numpy_alone_translates_what_the_model_does():
    for text in (TIRED, WIDE, *(" ".join(words) for words, _ in sample("combinations", 30))):
        places = alone.translated(ARRAYS, TASK.english_rows(MODEL.tokens(text)))
        words, rows = MODEL.translation(text)
        assert words == tuple(TASK.answers[place] for place in places)
        assert words[-1] == END
        assert MODEL.translate(text) == words[:-1]
        assert rows.shape == (len(words), len(text.split()) + 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the small black cat does not sleep", "le petit chat noir ne dort pas"),
        (TIRED, "le chat ne traverse pas la rue car il est trop fatigué"),
        (WIDE, "le chat ne traverse pas la rue car elle est trop large"),
        ("THIS  dog does not\nlook for them", "ce chien ne les cherche pas"),
        ("the cat and the cow are black", "le chat et la vache sont noirs"),
        ("the street is not too wide", "la rue n’est pas trop large"),
    ],
)
def test_translations(text, expected):
    assert TASK.french_text(MODEL.translate(text)) == expected
    assert MODEL.written(expected) == MODEL.written(expected.replace("’", "'")) == MODEL.translate(text)


def test_what_does_not_end_is_written_to_the_last_place():
    text = "the small black cat does not sleep"
    places = alone.translated(alone.parameters(FILE, checkpoint=0), TASK.english_rows(MODEL.tokens(text)))
    words, rows = CHOICE.at(0, 0).translation(text)
    assert words == tuple(TASK.answers[place] for place in places[:-1])
    assert len(words) == len(rows) == 13
    assert END not in words


def next_words(english, written):
    """The words that may come next in a right translation, in order."""
    n = len(written)
    begun = (each for each in TASK.translations(english) if n < len(each) and each[:n] == tuple(written))
    return tuple(dict.fromkeys(each[n] for each in begun))


def test_written_gender_is_kept():
    """What only the French so far tells: whether the judge is a man or a woman."""
    for article, adjective in (("le", "fatigué"), ("la", "fatiguée")):
        trace = MODEL.trace("the judge is tired", f"{article} juge est")
        assert TASK.answers[trace["probabilities"].value[-1].argmax()] == adjective
        assert next_words(["the", "judge", "is", "tired"], (article, "juge", "est")) == (adjective,)
        muted = trace.with_changes(Change("heads_2", (None,), 0.0))
        assert muted["probabilities"].value[-1, TASK.answers.index(adjective)] < 0.999
    assert next_words(["the", "judge", "is", "tired"], ()) == ("le", "la")
    assert next_words(["the", "judge", "is", "tired"], ("le", "chat")) == ()


def test_changes_hold_while_it_writes():
    without_encoder = MODEL.translate("the cow sleeps", [Change("heads_1", (None,), 0.0)])
    assert without_encoder != MODEL.translate("the cow sleeps")
    late = [Change("probabilities", (3, TASK.answers.index("car")), 2.0)]  # there is no fourth word before the third
    assert MODEL.translate("the black cow sleeps", late)[:4] == ("la", "vache", "noire", "car")


def test_written_words_follow_the_pass():
    trace = MODEL.trace(TIRED, "le chat")
    assert trace.labels["token"] == ("<begin>", "le", "chat")
    assert trace.labels["key_3"] == trace.labels["context token"] == trace.labels["key_1"]
    assert trace.labels["key_1"][-1] == END
    assert MODEL.trace(TIRED, "").labels["token"] == ("<begin>",)
    assert MODEL.trace(TIRED).labels["token"][1:] == MODEL.translate(TIRED)
    np.testing.assert_allclose(
        MODEL.trace(TIRED)["logits"].value[:3], trace["logits"].value, rtol=0, atol=1e-12, err_msg="later words matter"
    )


@pytest.mark.parametrize(
    ("text", "written", "says"),
    [
        (" ", None, "The sentence has no words yet. It knows these English words:\nAnimals: cat, cats, cow"),
        ("the Zebra sees a gnu", None, "“zebra”, “gnu”: not among the English words of this model. It knows these"),
        ("the cat sees a gnu", None, "\nPlaces: bridge, bridges, street"),
        ("the " * 14, None, "This model has places for 13 English words; this text has 14. Shorten it."),
        (3, None, "sentence must be text; got int"),
        ("the " * 501, None, "at most 2,000 characters; got 2,004"),
        ("the cat sleeps", "le zébu", "“zébu”: not among the French words of this model. It knows these French words:"),
        ("the cat sleeps", "le chat dort <end>", "“<end>”: not among the French words of this model."),
        ("the cat sleeps", "le " * 14, "This model has places for 13 French words; this text has 14. Shorten it."),
        ("the cat sleeps", 3, "What is written so far must be text; got int"),
        ("the cat sleeps", "le " * 900, "The French text may have at most 2,000 characters; got 2,700"),
    ],
)
def test_unreadable_text_gets_help(text, written, says):
    with pytest.raises(SettingsError, match=re.escape(says)):
        MODEL.trace(text, written)


def test_batch_equals_single_texts():
    batch = TASK.held_out().picked(slice(-60, None))
    drawn = RECIPE.untrained(0)
    together = forward_batch(stages_for(drawn, batch), drawn.arrays, batch)["probabilities"]
    for row in range(0, 60, 7):
        n, n_source = np.flatnonzero(batch.is_target[row])[-1] + 1, batch.is_source[row].sum()
        english = tuple(TASK.english[place] for place in batch.source[row, :n_source])
        french = tuple(TASK.french[place] for place in batch.tokens[row, 1:n])
        alone = drawn.read(english, french)["probabilities"].value
        np.testing.assert_allclose(together[row, :n], alone, rtol=1e-9, atol=1e-15)


@pytest.mark.slow
def test_batch_asks_for_right_words():
    asking = TASK.batch_of(sample("training", 50), asks_choices=True)
    for batch in (asking, TASK.held_out().picked(slice(0, 100))):
        for source, is_source, tokens, answers, is_target, translates in zip(*batch, strict=True):
            english = tuple(TASK.english[place] for place in source[is_source])
            n = np.flatnonzero(is_target)[-1]
            words = tuple(TASK.answers[place] for place in answers[: n + 1])
            assert words in TASK.translations(english[:-1])
            assert ("<begin>", *words[:-1]) == tuple(TASK.french[place] for place in tokens[: n + 1])
            assert translates[:n].any(axis=1).all()
            for at in np.flatnonzero(~is_target[:n]):
                assert len(next_words(english[:-1], words[:at])) > 1
    assert asking.is_target[:, 0].all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", CHOICE.seeds)
def test_checkpoints_match_their_recorded_figures(seed):
    held_out, curve = TASK.held_out(), {step: figures for step, *figures in CHOICE.curve(seed)}
    own = RECIPE.all_seeds[seed]
    assert list(CHOICE.checkpoints(seed)) == list(RECIPE.recorded(own))
    assert (min(curve), max(curve)) == (0, RECIPE.steps)
    steps = CHOICE.checkpoints(seed)
    for place in ((3, 10), (1,), (3,))[seed]:  # the first training is the lesson's film
        found, recorded = measures(CHOICE.at(seed, place), held_out), CHOICE.training_data(seed, place)["patterns"]
        assert [found["loss"], found["accuracy"]] == pytest.approx(curve[steps[place]], abs=2e-4)
        assert found["patterns"] == pytest.approx({each["label"]: each["value"] for each in recorded}, abs=2e-4)


def test_figures_are_measured_again():
    """Those of one training; what is recorded of all is recounted alone."""
    assert pronoun_figures(CHOICE.at(1)) == CHOICE.figures(1)


def test_chosen_seed_finds_the_noun_of_it():
    """The first training is the one of the lesson: it was chosen because this holds."""
    turned = CHOICE.figures(0)["turned"]
    assert turned["referent"] >= 0.5
    assert turned["other noun"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", CHOICE.seeds[::2])  # the others: `test_figures_are_measured_again`
def test_turned_pronouns_are_recounted_alone(seed):
    """The noun that "it" stands for is the one of the gender of the right pronoun."""
    genders = {form: noun.genders for noun in NOUNS for form in noun.english}
    arrays, turned = alone.parameters(FILE, seed), {"referent": [], "other noun": []}
    rows = TASK.french_rows(word for pair in PRONOUNS.values() for word in pair)
    for words, written in sample("combinations", 1_000):
        nouns = [place for place, word in enumerate(words) if word in genders]
        if "because" not in words or len({genders[words[place]] for place in nouns}) == 1:
            continue
        french = [word for word, _ in written]
        begun, right = french[: french.index("car") + 1], french[french.index("car") + 1]
        texts = TASK.english_rows((*words, END)), TASK.french_rows(("<begin>", *begun))
        nouns.sort(key=lambda place, right=right, words=words: genders[words[place]] != "mf"["elle" in right])
        it = words.index("because") + 1
        whole, *found = (
            int(alone.forward(arrays, *texts, hidden)[0][-1, np.array(rows) - 1].argmax())
            for hidden in ((), *([(it, noun), (it + 1, noun)] for noun in nouns))
        )
        for noun, one in zip(turned, found, strict=True):
            turned[noun].append(one != whole)
    recorded = CHOICE.figures(seed)
    assert len(turned["referent"]) == recorded["pronouns"]
    assert {noun: np.mean(each) for noun, each in turned.items()} == pytest.approx(recorded["turned"], abs=5e-5)


def test_untrained_model_repeats_the_recording():
    for seed, own in enumerate(RECIPE.all_seeds):
        for name, array in RECIPE.untrained(own).arrays.items():
            np.testing.assert_array_equal(CHOICE.at(seed, 0).arrays[name], array.round(2))


def test_recording_is_small():
    assert FILE.stat().st_size < 250_000


@pytest.mark.slow
def test_loss_falls_as_recorded():
    """The first steps again, of all 20,000 sentences; what the training reaches is measured in its checkpoints."""
    recorded, checkpoints = {step: loss for step, loss, _ in CHOICE.curve(0)}, CHOICE.checkpoints(0)
    models = train(RECIPE, RECIPE.all_seeds[0])
    for step, model in zip(range(51), models, strict=False):
        if step in (0, 50):
            found = measures(model, TASK.held_out())["loss"]
            assert found == pytest.approx(recorded[step], rel=0.02)
            arrays = CHOICE.at(0, checkpoints.index(step)).arrays
            distances = [abs(array - arrays[name]).ravel() for name, array in model.arrays.items()]
            assert np.concatenate(distances).mean() < 0.004  # 0.0025 is that of rounding


@pytest.mark.slow
@pytest.mark.parametrize("name", ["context_embeddings", "embeddings", "positions", "context_positions", "w_q_1", "w_u"])
def test_loss_gradients_are_central_differences(name):
    from attnviz.models.training import gradients

    small, batch, step = (
        replace(RECIPE, d_model=4, quiet=1.0).untrained(5),
        TASK.batch_of(sample("training", 4), asks_choices=True),
        1e-5,
    )
    stages, parameters = stages_for(small, batch), small.arrays
    found = gradients(stages, parameters, batch)
    assert found.keys() == parameters.keys()

    def moved(index, by):
        other = parameters[name].copy()
        other[index] += by
        return loss(forward_batch(stages, parameters | {name: other}, batch)["probabilities"], batch)

    cells = [*np.ndindex(parameters[name].shape)][:: max(1, parameters[name].size // 60)]
    expected = [(moved(at, step) - moved(at, -step)) / (2 * step) for at in cells]
    np.testing.assert_allclose([found[name][at] for at in cells], expected, atol=1e-8)
    assert np.any(found[name])


def test_adam_shrinks_parameters_as_adamw():
    """Algorithm 2 of Loshchilov and Hutter 2019: the decay is beside the gradient, in proportion to the rate."""
    plain, decayed = Adam(0.1, 50), Adam(0.1, 50, weight_decay=0.3)
    one = other = found = {"w": np.array([2.0])}
    for step in range(1, 51):
        slope = {"w": np.array([np.sin(step)])}
        rate = 0.1 * min(1, step / 20, (51 - step) / 12.5)
        before = one["w"]
        one = plain.step(one, slope)
        other = {"w": other["w"] * (1 - 0.3 * rate) + (one["w"] - before)}
        found = decayed.step(found, slope)
        np.testing.assert_allclose(found["w"], other["w"], rtol=1e-12)


def test_rate_rises_for_50_steps_and_falls_from_halfway():
    assert (RECIPE.decay, RECIPE.steps) == ("halfway", 4000)
    adam, moved = Adam(1.0, 400, decay="halfway"), [{"w": np.zeros(1)}]
    for _ in range(400):
        moved.append(adam.step(moved[-1], {"w": np.ones(1)}))
    rates = -np.diff([each["w"][0] for each in moved])
    expected = [min(1, step / 50, (401 - step) / 200) for step in range(1, 401)]
    np.testing.assert_allclose(rates, expected, rtol=1e-6)


def test_whole_translations_are_counted():
    batch = TASK.held_out().picked(slice(0, 5))
    right = np.eye(len(TASK.answers))[batch.answers]
    assert accuracy(right, batch) == 1
    row, at = 2, np.flatnonzero(batch.is_target[2])[1]
    right[row, at] = np.roll(right[row, at], 1)
    assert accuracy(right, batch) == pytest.approx(0.8)


@pytest.mark.slow
@pytest.mark.parametrize("text", [WIDE, "the judge is tired", "cat the the"])
def test_translations_along_training(text):
    data = CHOICE.translations(0, text)
    assert len(data) == len(CHOICE.checkpoints(0))
    for place, each in enumerate(data):
        model = CHOICE.at(0, place)
        words = model.translate(text)
        assert tuple(each["words"][: len(words)]) == words
        assert set(each["words"][len(words) :]) <= {END}
        weights = model.read(model.tokens(text), words)["attention_3"].value[0]
        np.testing.assert_allclose(each["rows"], weights[: len(each["words"])], atol=2e-6)
        assert bool(each["right"]) == bool(TASK.translations(text.split()))
    if data[-1]["right"]:
        assert data[-1]["words"] == data[-1]["right"]
    json.dumps(data)
