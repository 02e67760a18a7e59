"""Short formats: torch's own layers in bfloat16 and float16 agree, and small mistakes in them don't pass in silence."""

import numpy as np
import pytest
from torchshort import MISTAKES, WAYS, recorded

from attnviz import compare

CASES = recorded()


def case_of(name, how):
    return CASES[f"{name}, {how}"]


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
@pytest.mark.parametrize("way", WAYS)
def test_right_layers_in_16_bits_agree_without_a_question(name, way):
    found = compare(None, case_of(name, way))
    assert (found.first, found.precision, found.questions) == (None, name, ()), str(found)


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
@pytest.mark.parametrize("wrong", MISTAKES)
def test_small_mistakes_in_16_bits_are_found(name, wrong):
    found = compare(None, case_of(name, wrong))
    assert found.first is not None, str(found)
    assert len(found.causes) == 1, str(found)
    assert found.explained


def test_more_than_float32_sums_leave_raises_a_question():
    arrays = case_of("bfloat16", WAYS[0])
    output = arrays["output"]
    noise = np.random.default_rng(0).choice((-1, 1), output.shape) * np.abs(output).max()
    wide = (output + 0.06 * noise).astype(np.float32).view(np.uint32) & 0xFFFF0000
    found = compare(None, arrays | {"output": wide.view(np.float32)})
    assert found.first is None, str(found)
    assert any("Compare in float32" in each for each in found.questions), str(found)


def test_torch_records_the_stored_arrays_again():
    pytest.importorskip("torch")
    from torchshort import record_all

    for case, arrays in record_all().items():
        for stage, array in arrays.items():
            np.testing.assert_allclose(array, CASES[case][stage], rtol=0.02, atol=0.02)
