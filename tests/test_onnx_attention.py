"""ONNX's door gives what ONNX's own evaluator gives, in all backend cases of its operator Attention."""

import numpy as np
import onnx
import pytest
from onnx.backend.test.case.node import attention as made

from attnviz import onnx_attention

OUTPUTS = ("Y", "present_key", "present_value", "qk_matmul_output")
ROUNDING = {"float32": 2**-22, "float16": 2**-9, "bfloat16": 2**-6}
"""Two units in the last place of 1: the evaluator rounds after each step. ONNX's own runner allows a thousandth."""


def cases():
    """Each case by its name: the arguments by their names, and the outputs that it asks for."""
    found = {}

    def expect(node, inputs, outputs, name, **_):
        attributes = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
        arrays = dict(zip(filter(None, node.input), inputs, strict=True))
        found[name] = arrays | attributes, dict(zip(filter(None, node.output), outputs, strict=True))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(made, "expect", expect)
        np.random.seed(0)  # noqa: NPY002 (ONNX draws from it)
        for each in vars(made.Attention):
            if each.startswith("export"):
                getattr(made.Attention, each)()
    return found


CASES = cases()


def test_there_are_as_many_cases_as_we_say():
    assert len(CASES) == 93


@pytest.mark.parametrize("name", CASES)
def test_a_backend_case(name):
    arguments, outputs = CASES[name]
    found = onnx_attention(**arguments)
    assert outputs
    for each, expected in outputs.items():
        array = getattr(found, each)
        assert (array.dtype, array.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(
            array.astype(np.float64), expected.astype(np.float64), rtol=0, atol=ROUNDING[str(expected.dtype)]
        )
