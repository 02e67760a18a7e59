"""Queries and keys are rotated by the user's own tables, whatever made them; a rotation otherwise is named."""

from contextlib import suppress

import numpy as np
import pytest
from cases import covering
from rotatedpasses import SHAPES, STEPS, RotatedPass

from attnviz import OwnArraysError, compare

N_DRAWN = 80
MISTAKES = {
    "heads": {"rotation along the heads", "rotation left out"},
    "not rotated": {"rotation left out", "rotation along the heads"},
    "queries alone": {"rotation left out"},
    "keys alone": {"rotation left out"},
    "backwards": {"rotation by negative angles"},
    "twice": {"rotation twice"},
}


def drawn(seed, **options):
    made = RotatedPass(np.random.default_rng(seed))
    for name, value in options.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize("seed", range(N_DRAWN))
def test_a_correct_pass_agrees_and_its_tables_are_read(seed):
    made = RotatedPass.drawn(np.random.default_rng(seed))
    arrays = made.arrays()
    found = compare(None, arrays)
    assert found.first is None, str(found)
    assert set(found.unread) <= {"position_ids"}
    if "output" in arrays:
        assert np.allclose(found.trace["output"].value, arrays["output"], atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mistake", "shape"),
    [(each, SHAPES[(nth + by) % len(SHAPES)]) for by in (0, 7, 1) for nth, each in enumerate(MISTAKES)],
)
def test_a_rotation_otherwise_is_named(mistake, shape):
    """Each mistake with three shapes, and each shape with two mistakes."""
    options = {"shape": shape, "mistake": mistake, "scaling": "uneven" if shape != "speeds" else "llama3"}
    is_rotated_given = ([*MISTAKES].index(mistake) + SHAPES.index(shape)) % 2
    kept = ("q", "q_rotated", "attention") if is_rotated_given else ("attention",)
    found = compare(None, drawn(3, kept=kept, **options).arrays())
    named = {each.id for each in found.causes[:1]} | {each.id for some in found.alternatives for each in some}
    assert found.causes, str(found)
    assert named <= MISTAKES[mistake], str(found)
    assert found.explained


def test_a_scale_on_the_way_is_asked_about():
    arrays = drawn(3, kept=("attention",), shape="speeds", mistake="not rotated", scaling="llama3").arrays()
    assert "by your inv_freq?" in str(compare(None, arrays))


STEP_MISTAKES = {
    "restarts": {"rotation restarts in a decode step"},
    "queries restart": {"rotation restarts in a decode step"},
    "backwards": {"rotation by negative angles"},
    "not rotated": {"rotation left out"},
}


@pytest.mark.slow
@covering(
    mistake=STEP_MISTAKES,
    step=STEPS[1:],
    n_new=(2, 1, 1, 2, 1),
    tables=["(t, d)"] * 4 + ["longer"] * 4 + ["none"] * 4,
)
def test_a_decode_step_rotated_otherwise_is_named(step, n_new, mistake, tables):
    shape = "longer" if tables == "none" else tables
    scaling = "default" if tables == "none" else "uneven"
    made = drawn(1, step=step, shape=shape, n_new=n_new, mistake=mistake, scaling=scaling, kept=("attention",))
    arrays = made.arrays()
    if tables == "none":
        arrays = {name: each for name, each in arrays.items() if name not in ("cos", "sin")}
    found = compare(None, arrays)
    named = {each.id for each in found.causes[:1]} | {each.id for some in found.alternatives for each in some}
    if n_new == 1:  # at position 0 nothing is rotated
        named -= {"rotation left out", "rotation restarts in a decode step"} - STEP_MISTAKES[mistake]
    asked = "should it be?" in str(found) or (tables == "none" and found.causes == ())
    assert named == STEP_MISTAKES[mistake] or (tables == "none" and asked), str(found)


def test_positions_that_begin_again_in_a_decode_step_are_named():
    """`position_ids` or a table of one row at position 0, though tokens were kept."""
    made = drawn(1, step="cache", shape="longer", n_new=2, mistake="restarts", kept=("attention",))
    found = compare(None, {**made.arrays(), "position_ids": np.arange(2)})
    assert [each.id for each in found.causes] == ["rotation restarts in a decode step"]
    made = drawn(1, step="cache", shape="(t, d)", n_new=1, mistake="restarts", kept=("attention",))
    arrays = {**made.arrays(), "cos": np.ones((1, 8)), "sin": np.zeros((1, 8))}
    assert "are those of position 0, after 6 tokens in the cache" in str(compare(None, arrays))


def test_given_queries_and_keys_that_may_be_rotated_already_raise_a_question():
    made = drawn(2, kept=("attention",))
    arrays = made.arrays()
    for rotated, asks in (("_rotated", True), ("", False)):
        rows = {each: made.stages[each + rotated] for each in "qk"} | {"v": made.stages["v"]}
        kept = {name: arrays[name] for name in ("attention", "mask", "cos", "sin")}
        found = compare(None, rows | kept)
        assert found.first is None
        assert ("rotated by your cos and sin already" in str(found)) == asks


@pytest.mark.parametrize(
    ("scaling", "mistake", "named"),
    [
        ("linear", "not scaled", "rotation not scaled"),
        ("llama3", "not scaled", "rotation not scaled"),
        ("yarn", "not scaled", "rotation not scaled"),
        ("yarn", "without factor", "rotation without its factor"),
    ],
)
def test_a_scaling_left_out_is_named(scaling, mistake, named):
    arrays = drawn(3, kept=("attention", "output"), scaling=scaling, mistake=mistake, d=16, n_rotated=16).arrays()
    found = compare(None, arrays)
    assert [each.id for each in found.causes] == [named], str(found)
    assert found.explained
    assert "base of 10,000" in str(found) or "factor, 1.3:" in str(found)


@pytest.mark.parametrize("shape", ["speeds", "angles"])
@pytest.mark.parametrize("stage", ["scaled", "output"])
def test_a_factor_that_angles_cannot_tell_is_asked(shape, stage):
    arrays = drawn(3, kept=(stage, "attention"), scaling="yarn", shape=shape, d=16, n_rotated=16).arrays()
    found = compare(None, arrays)
    assert "factor, as YaRN's" in str(found)
    cosines = drawn(3, kept=(stage, "attention"), scaling="yarn", d=16, n_rotated=16).arrays()
    assert "factor, as YaRN's" not in str(compare(None, cosines | {"scale": np.array(0.5)}))


@pytest.mark.parametrize("repeats", ["halves", "neighbours", ""])
def test_other_pairs_than_those_of_the_table_are_named_or_asked(repeats):
    made = drawn(4, pairs="neighbours" if repeats == "halves" else "halves", kept=("attention",))
    arrays = made.arrays()
    numbers = [np.asarray(arrays[each]) for each in ("cos", "sin")]
    own = [each[:, : made.d // 2] if made.pairs == "halves" and each.shape[1] == made.d else each for each in numbers]
    once = [each[:, ::2] if made.pairs == "neighbours" and each.shape[1] == made.d else each for each in own]
    if repeats == "halves":
        tables = [np.concatenate([each, each], axis=-1) for each in once]
    else:
        tables = [np.repeat(each, 2, axis=-1) if repeats else each for each in once]
    found = compare(None, arrays | dict(zip(("cos", "sin"), tables, strict=True)))
    assert [each.id for each in found.causes] == (["rotation of wrong pairs"] if repeats else []), str(found)


@pytest.mark.parametrize("without", ["past_key", "past_value", "x", "q_proj.weight", "k_proj.weight", "v_proj.weight"])
@pytest.mark.parametrize("step", STEPS)
def test_a_part_of_the_arrays_is_compared_or_refused_in_words(step, without):
    arrays = drawn(5, step=step, n_new=1 if step else 7, kept=("q", "attention")).arrays()
    arrays.pop(without, None)
    with suppress(OwnArraysError):
        assert str(compare(None, arrays))


def batch_of(positions, **options):
    """One text at the positions of each sentence of a batch, by the shared parameters."""
    options = {"scaling": "linear", "has_mask": True, **options}
    own = [drawn(6, positions=each, **options).arrays() for each in positions]
    where = [drawn(6, positions=each).where for each in positions]
    tables = ("cos", "sin", "inv_freq") if options.get("shape") in ("longer", "speeds") else ()
    shared = {name for name in own[0] if name.endswith("weight") or name in tables}
    each = [arrays | {"position_ids": ids} for arrays, ids in zip(own, where, strict=True)]
    return {name: e if name in shared else np.stack([other[name] for other in each]) for name, e in each[0].items()}


ROTATED = ("q", "q_rotated", "k_rotated", "attention", "output")


@pytest.mark.slow
@covering(
    positions=[("usual", "left", "later"), ("left", "usual"), ("packed", "packed", "usual")],
    shape=["(t, d)", "(1, t, d)", "(1, 1, t, d)", "complex", "angles", "longer", "speeds"] * 2,
    kept=[("output",), ROTATED],
)
def test_each_sentence_of_a_batch_is_rotated_by_its_own_rows(positions, shape, kept):
    batch = batch_of(positions, shape=shape, kept=kept)
    batch = {name: e[:, 0] if e.shape[1:2] == (1,) and name != "rotary_pos_emb" else e for name, e in batch.items()}
    found = compare(None, batch)
    assert found.first is None, str(found)
    assert (found.n_sentences, found.unread) == (len(positions), ())
    if "q_rotated" in kept:
        batch["q_rotated"] = batch["q_rotated"][::-1].copy()
        assert compare(None, batch).first.stage == "q_rotated"


@pytest.mark.parametrize("positions", [("usual", "left", "later"), ("left", "usual"), ("packed", "packed", "usual")])
@pytest.mark.parametrize("kept", [("output",), ROTATED])
def test_each_sentence_of_a_batch_without_tables_is_rotated_at_its_own_positions(positions, kept):
    batch = batch_of(positions, scaling="default", kept=kept)
    batch = {name: each for name, each in batch.items() if name not in ("cos", "sin")}
    assert compare(None, batch).first is None
