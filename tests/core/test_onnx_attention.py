"""ONNX's door gives what ONNX's own evaluator gives, in all backend cases of its operator Attention."""

import numpy as np
import pytest

from attnviz import onnx_attention

OUTPUTS = ("Y", "present_key", "present_value", "qk_matmul_output")
ROUNDING = {"float32": 2**-22, "float16": 2**-9, "bfloat16": 2**-6}
"""Two units in the last place of 1: the evaluator rounds after each step. ONNX's own runner allows a thousandth."""


@pytest.fixture(scope="module")
def cases():
    """Each case by its name: the arguments by their names, and the outputs that it asks for."""
    import onnx  # whose cases take a while to be made
    from onnx.backend.test.case.node import attention as made

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


def test_each_backend_case_gives_what_the_evaluator_gives(cases):
    assert len(cases) == 93, "as many as we say"
    for name, (arguments, outputs) in cases.items():
        found = onnx_attention(**arguments)
        assert outputs, name
        for each, expected in outputs.items():
            array, nearness = getattr(found, each), ROUNDING[str(expected.dtype)]
            assert (array.dtype, array.shape) == (expected.dtype, expected.shape), (name, each)
            assert np.allclose(array.astype(float), expected.astype(float), rtol=0, atol=nearness), (name, each)
