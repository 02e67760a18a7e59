"""Graph: numbers passed on and derivatives passed back through the stages of a pass."""

import numpy as np
from passes import TRACES

from attnviz import Parameters, attend
from attnviz.core.graph import backward, forward, leading_to

draw = np.random.default_rng(4).standard_normal
SHAPES = {"w_q": (2, 5, 3), "w_k": (2, 5, 3), "w_v": (2, 5, 7), "w_o": (14, 5), "b_o": (5,)}
PARAMETERS = {name: draw(shape) for name, shape in SHAPES.items()}


def test_a_pass_passed_on_again_holds_the_same_numbers():
    for name, trace in TRACES.items():
        arrays = forward(trace.stages, {})
        for stage in trace.stages:
            np.testing.assert_array_equal(arrays[stage.name], stage.value, f"{name}: {stage.name}")


def test_other_sentences_are_passed_on_as_attend_does():
    sentences = draw((3, 4, 5))
    traces = [attend(x, parameters=Parameters(**PARAMETERS), mask=np.tri(4, dtype=bool)) for x in sentences]
    together = forward(leading_to(traces[0].stages, "output"), {"x": sentences})["output"]
    np.testing.assert_allclose(together, [trace["output"].value for trace in traces], rtol=1e-12)


def test_only_what_leads_to_a_stage_is_computed():
    trace = attend(draw((3, 5)), parameters=Parameters(**PARAMETERS))
    names = [stage.name for stage in leading_to(trace.stages, "output")]
    assert names == [each.name for each in trace.stages if each.name != "contributions"]


def test_derivatives_of_what_a_batch_shares_are_the_sum_of_those_of_each_sentence():
    trace = attend(draw((3, 5)), parameters=Parameters(**PARAMETERS))
    stages, sentences, upstream = leading_to(trace.stages, "output"), draw((4, 3, 5)), draw((4, 3, 5))

    def derivatives(x, of_output):
        return backward(stages, forward(stages, {"x": x}), {"output": of_output})

    together = derivatives(sentences, upstream)
    alone = [derivatives(*each) for each in zip(sentences, upstream, strict=True)]
    for name in PARAMETERS:
        np.testing.assert_allclose(together[name], np.sum([each[name] for each in alone], axis=0), rtol=1e-10)
    np.testing.assert_allclose(together["x"], [each["x"] for each in alone], rtol=1e-10)
