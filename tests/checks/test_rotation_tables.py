"""Queries and keys are rotated by the user's own tables, whatever made them; a rotation otherwise is named."""

import numpy as np
import pytest
from rotatedpasses import SHAPES, RotatedPass

from attnviz import compare

N_DRAWN = 60
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
    made = RotatedPass.drawn(np.random.default_rng(seed), steps=("",))
    arrays = made.arrays()
    found = compare(None, arrays)
    assert found.first is None, str(found)
    assert set(found.unread) <= {"position_ids"}
    if "output" in arrays:
        assert np.allclose(found.trace["output"].value, arrays["output"], atol=1e-4)


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_rotation_otherwise_is_named(mistake, shape):
    options = {"shape": shape, "mistake": mistake, "scaling": "uneven" if shape != "speeds" else "llama3"}
    for kept in (("attention",), ("q", "q_rotated", "attention")):
        found = compare(None, drawn(3, kept=kept, **options).arrays())
        named = {each.id for each in found.causes[:1]} | {each.id for some in found.alternatives for each in some}
        if shape == "speeds" and mistake == "not rotated" and kept == ("attention",):  # some models scale on the way
            assert "by your inv_freq?" in str(found)
            continue
        assert found.causes, str(found)
        assert named <= MISTAKES[mistake], str(found)
        assert found.explained
