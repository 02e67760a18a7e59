"""Export: a pass as a NumPy script and as arrays, for someone who checks their own implementation."""

import io

import numpy as np

from attnviz.core.stage import Stage
from attnviz.core.trace import Trace
from attnviz.text.steps import full_title

HEAD = '''\
import numpy as np

given = np.load("attnviz.npz")
agrees = {}


def compared(name, made, size):
    """Compare a stage with attnviz's array and return that array, so that a difference shows in one stage alone.

    The last bits of products and exponentials depend on the processor. So a stage agrees if no number is further off
    than 1e-12 of `size`: the most that the terms of one of its numbers add up to when all signs are dropped.
    """
    expected, allowed = given[name], 1e-12 * size + np.finfo(float).tiny
    finite = np.isfinite(expected)
    alike = made.shape == expected.shape and np.array_equal(made[~finite], expected[~finite])
    off = np.abs(made[finite] - expected[finite]).max(initial=0.0) if alike else np.inf
    agrees[name] = bool(off <= allowed)
    verdict = "identical" if alike and off == 0 else "agrees to rounding" if agrees[name] else "DIFFERS"
    print(f"{name}: {verdict}, largest difference {off:.2g}, allowed {allowed:.2g}")
    return expected
'''
FOOT = 'print("Every stage agrees." if all(agrees.values()) else "Not every stage agrees.")'


def script(trace: Trace) -> str:
    """The pass as NumPy: given stages from the file that `arrays` writes, each other computed and compared with it."""
    given = [stage for stage in trace.stages if stage.is_given]
    computed = [stage for stage in trace.stages if not stage.is_given]
    lines = [HEAD, *(f'{stage.name} = given["{stage.name}"]  # {_shape(stage)}' for stage in given)]
    for stage in computed:
        lines += ["", f"# {full_title(stage.name)}, {_shape(stage)}", *trace.lines(stage.name)]
        lines += [f'{stage.name} = compared("{stage.name}", {stage.name}, {_size(trace, stage):.3g})']
    return "\n".join([*lines, "", FOOT]) + "\n"


def arrays(trace: Trace) -> bytes:
    """Every stage, at full precision, as the bytes of a NumPy .npz file; `words_query` and so on hold the tokens."""
    file = io.BytesIO()
    words = {f"words_{axis.replace(' ', '_')}": np.array(labels) for axis, labels in trace.labels.items()}
    np.savez(file, **{stage.name: stage.value for stage in trace.stages}, **words)
    return file.getvalue()


def _shape(stage: Stage) -> str:
    return f"{stage.shape}: {', '.join(stage.axes)}"


def _size(trace: Trace, stage: Stage) -> float:
    """The most that the terms of one number add up to when all signs are dropped: what rounding is relative to.

    What has several inputs is a sum of their products, and the operation on their absolute values is that sum.
    """
    inputs = [np.where(np.isfinite(each.value), np.abs(each.value), 0) for each in trace.inputs(stage.name)]
    with np.errstate(over="ignore"):
        values = stage.operation.compute(*inputs) if len(inputs) > 1 else stage.value
    counts = values != -np.inf
    for index in stage.overridden:
        counts[index] = False
    return min(float(np.abs(values[counts]).max(initial=0.0)), np.finfo(float).max)
