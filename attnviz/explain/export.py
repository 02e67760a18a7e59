"""Export: a pass as a NumPy script and as arrays, for someone who checks their own implementation."""

import io

import numpy as np

from attnviz.core.operations.operation import Operation
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace
from attnviz.explain.steps import full_title

HEAD = '''\
import numpy as np

np.seterr(all="ignore")  # what overflows or is no number DIFFERS, without a warning
given = np.load("attnviz.npz")
agrees = {}


def compared(name, made):
    """Compare a stage with attnviz's array and return that array, so that a difference shows in one stage alone.

    It is compared in the precision that it was made in: float16, float32, else float64. Its last digits depend on the
    processor, and on those of the stages before it. So a stage agrees if three quarters of the digits do: no number is
    further off than epsilon ** 0.75 of its row's size, which is the most that the terms of one number of the row add up
    to when all signs are dropped. What is set by hand agrees to the last digit.
    """
    made, expected, size = np.asarray(made), given[name], given[f"size_{name}"][..., None]
    precision = np.finfo(made.dtype if made.dtype in (np.float16, np.float32) else float)
    epsilon = float(precision.eps)
    allowed = epsilon**0.75 * size + epsilon * np.abs(np.nan_to_num(expected)) + float(precision.tiny)
    is_shaped = made.shape == expected.shape
    off = np.where(made == expected, 0, np.abs(made - expected)) if is_shaped else np.full(expected.shape, np.inf)
    agrees[name] = bool((off <= allowed).all())
    verdict = "identical" if not off.any() else "agrees to rounding" if agrees[name] else "DIFFERS"
    worst = np.argmax(off / allowed)
    print(f"{name} in {precision.dtype}: {verdict}, off by {off.flat[worst]:.2g}, {allowed.flat[worst]:.2g} allowed")
    return expected
'''
FOOT = 'print("Every stage agrees." if all(agrees.values()) else "Not every stage agrees.")'


def script(trace: Trace) -> str:
    """The pass as NumPy: given stages from the file that `arrays` writes, each other computed and compared with it."""
    given = [stage for stage in trace.stages if stage.is_given]
    computed = [stage for stage in trace.stages if not stage.is_given]
    lines = [HEAD, *(f'{stage.name} = given["{stage.name}"]  # {_shape(stage)}' for stage in given)]
    for stage in computed:
        lines += ["", f"# {full_title(stage.name)}, {_shape(stage)}", *_lines(trace, stage)]
        lines += [f'{stage.name} = compared("{stage.name}", {stage.name})']
    return "\n".join([*lines, "", FOOT]) + "\n"


def arrays(trace: Trace) -> bytes:
    """Every stage, at full precision, as the bytes of a NumPy .npz file.

    `words_query` and so on hold the tokens, `size_q` and so on what the script compares the rows of a stage by.
    """
    file = io.BytesIO()
    words = {f"words_{axis.replace(' ', '_')}": np.array(labels) for axis, labels in trace.labels.items()}
    sizes = {f"size_{stage.name}": _sizes(trace, stage) for stage in trace.stages if not stage.is_given}
    np.savez(file, **{stage.name: stage.value for stage in trace.stages}, **words, **sizes)
    return file.getvalue()


def _lines(trace: Trace, stage: Stage) -> tuple[str, ...]:
    if stage.overridden_by:
        return (f'{stage.name} = given["{stage.name}"]  # {stage.overridden_by}',)
    return trace.lines(stage.name)


def _shape(stage: Stage) -> str:
    return f"{stage.shape}: {', '.join(stage.axes)}"


def _sizes(trace: Trace, stage: Stage) -> np.ndarray:
    """For each row the most that the terms of one number add up to when all signs are dropped; rounding follows it.

    What has several inputs and no other terms is a sum of their products, and the operation on their absolute values is
    that sum.
    """
    is_sum = len(stage.inputs) > 1 and type(stage.operation).terms is Operation.terms
    inputs = [np.where(np.isfinite(each.value), np.abs(each.value), 0) for each in trace.inputs(stage.name)]
    with np.errstate(over="ignore"):
        values = stage.operation.compute(*inputs) if is_sum else stage.value
    counts = values != -np.inf
    for index in stage.overridden:
        counts[index] = False
    return np.minimum(np.where(counts, np.abs(values), 0).max(axis=-1), np.finfo(float).max)
