"""Texts of steps of models: what the steps say of recorded and hand-built parameters is so."""

import re

import numpy as np
from cases import of_each
from documents import with_verdict

from attnviz.core.limits import MAX_LAYERS
from attnviz.explain.steps import steps_of
from attnviz.models import MODELS
from attnviz.models.tasks.names import LONGEST

SHOWN = {
    f"{id_}, {label}, {'at the end' if checkpoint is None else 'before training'}": (id_, text, checkpoint)
    for id_, model in MODELS.items()
    for label, text in model.examples
    for checkpoint in ((0, None) if len(model.checkpoints(model.seeds[0])) > 1 else (None,))
}
EVERYWHERE = of_each("name", [*SHOWN])


def model_of(name):
    id_, _, checkpoint = SHOWN[name]
    return MODELS[id_].at(MODELS[id_].seeds[0], checkpoint)


def trace_of(name):
    return model_of(name).trace(SHOWN[name][1])


def said(trace, id_):
    """What a step says, without what follows the selection."""
    found = (step.text for step in steps_of(trace) if step.id == id_)
    return "".join(text for runs in found for style, text in with_verdict(trace, runs) if style != "story")


@EVERYWHERE
def test_every_step_has_a_heading_and_a_short_text(name):
    trace = trace_of(name)
    for step in steps_of(trace):
        assert len(step.headings) == 1
        assert not re.search(r"\bweights?\b", said(trace, step.id), re.IGNORECASE)
        assert len(re.findall(r"[.?!](?= [A-Z]|$)", said(trace, step.id))) <= (4 if step.id == "question" else 3)
        assert len(said(trace, step.id)) < 470


@EVERYWHERE
def test_the_first_step_asks_the_models_question_of_what_was_typed(name):
    (start, *_) = steps_of(trace_of(name))
    asked = "".join(text for _, text in start.heading)
    _, text, _ = SHOWN[name]
    assert asked.endswith("?")
    assert text in asked


@EVERYWHERE
def test_whether_the_answer_is_right_is_as_the_task_says(name):
    model, trace = model_of(name), trace_of(name)
    answers = [model.task.answers[place] for place in trace["probabilities"].value.argmax(axis=-1)]
    right = model.task.right(model.tokens(SHOWN[name][1]))
    asked = [answer == expected for answer, expected in zip(answers, right, strict=True) if expected is not None]
    verdict = said(trace, "answer")
    if trace.origin.is_open:
        most = trace["probabilities"].value[-1].max()
        assert f"“{answers[-1]}” most" in verdict
        assert verdict.endswith(f"{round(100 * most)}\N{NO-BREAK SPACE}%.")
    elif len(asked) == 1:
        praise = "a lucky guess" if trace.origin.kind == "drawn" else "which is right"
        assert bool(re.search("which is right|a lucky guess", verdict)) == (f"{praise}." in verdict) == asked[0]
        assert ("” is right" in verdict) == (not asked[0])
    else:
        luck = " by luck" * (trace.origin.kind == "drawn" and sum(asked) > 0)
        assert f"{sum(asked)} of {len(asked)} answers are right{luck}." in verdict


@EVERYWHERE
def test_a_vector_of_a_place_is_made_as_the_text_says(name):
    model, trace = model_of(name), trace_of(name)
    text = said(trace, "positions")
    assert bool(text) == (model.positions is not None)
    if "no more positions than it was trained on" in text:
        batch = model.task.batch(np.random.RandomState(0), 3)
        longest = LONGEST + 1 if trace.origin.is_open else batch.tokens.shape[1]
        assert longest == len(model.positions)
    is_built = trace.origin.kind == "built"
    assert ("one rotation turns the vector of any position into the vector of the next" in text) == is_built
    if is_built:
        turned, *_ = np.linalg.lstsq(model.positions[:-1], model.positions[1:], rcond=None)
        np.testing.assert_allclose(model.positions[:-1] @ turned, model.positions[1:], atol=1e-12)
        used = model.positions.any(axis=0)
        np.testing.assert_allclose(turned[used][:, used] @ turned[used][:, used].T, np.eye(used.sum()), atol=1e-12)


@EVERYWHERE
def test_rows_written_by_hand_hold_a_one_and_else_0(name):
    trace = trace_of(name)
    if "a 1 in the dimension of the letter, and 0 elsewhere" in said(trace, "tokens"):
        words = dict(zip(trace.labels["token"], trace["embeddings"].value, strict=True))
        assert all(sorted(row) == [0] * (len(row) - 1) + [1] for row in words.values())
        same = {word.split()[0]: row.argmax() for word, row in words.items()}
        assert len({*same.values()}) == len(same)


def test_no_model_has_more_layers_than_addresses_know():
    assert max(trace_of(name).n_layers for name in SHOWN) <= MAX_LAYERS
