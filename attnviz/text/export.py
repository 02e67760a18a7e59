"""Export: a pass as a NumPy script and as arrays, for someone who checks their own implementation."""

import io

import numpy as np

from attnviz.core.stage import Stage
from attnviz.core.trace import Trace
from attnviz.text.vocabulary import VOCABULARY


def script(trace: Trace) -> str:
    """The pass as NumPy: given stages from the file that `arrays` writes, how the others are made, a comparison."""
    given = [stage for stage in trace.stages if stage.is_given]
    made = [stage for stage in trace.stages if stage not in given]
    lines = ["import numpy as np", "", 'given = np.load("attnviz.npz")']
    lines += [f'{stage.name} = given["{stage.name}"]  # {_shape(stage)}' for stage in given]
    for stage in made:
        lines += ["", f"# {VOCABULARY[stage.name].title}, {_shape(stage)}", *trace.lines(stage.name)]
    last = made[-1].name
    lines += ["", f'print("{last} as in attnviz:", np.array_equal({last}, given["{last}"]))']
    return "\n".join(lines) + "\n"


def arrays(trace: Trace) -> bytes:
    """Every stage, at full precision, as the bytes of a NumPy .npz file; `words_query` and so on hold the tokens."""
    file = io.BytesIO()
    words = {f"words_{axis.replace(' ', '_')}": np.array(labels) for axis, labels in trace.labels.items()}
    np.savez(file, **{stage.name: stage.value for stage in trace.stages}, **words)
    return file.getvalue()


def _shape(stage: Stage) -> str:
    return f"{stage.shape}: {', '.join(stage.axes)}"
