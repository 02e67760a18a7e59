"""Export: a pass as a NumPy script and as arrays, for someone who checks their own implementation."""

import io

import numpy as np

from attnviz.operations import Given
from attnviz.trace import Trace
from attnviz.vocabulary import VOCABULARY


def script(trace: Trace) -> str:
    """The pass as NumPy: the given stages from the file that `arrays` writes, then one line for each that is made."""
    given = [stage for stage in trace.stages if isinstance(stage.operation, Given)]
    made = [stage for stage in trace.stages if stage not in given]
    width = max(len(trace.line(stage.name)) for stage in made)
    lines = ["import numpy as np", "", 'given = np.load("attnviz.npz")']
    lines += [f'{stage.name} = given["{stage.name}"]  # {_shape(stage)}' for stage in given]
    lines += ["", *(_commented(trace.line(stage.name), _told(stage), width) for stage in made)]
    return "\n".join(lines) + "\n"


def arrays(trace: Trace) -> bytes:
    """Every stage, at full precision, as the bytes of a NumPy .npz file; `words_query` and so on hold the tokens."""
    file = io.BytesIO()
    words = {f"words_{axis.replace(' ', '_')}": np.array(labels) for axis, labels in trace.labels.items()}
    np.savez(file, **{stage.name: stage.value for stage in trace.stages}, **words)
    return file.getvalue()


def _commented(line: str, comment: str, width: int) -> str:
    return f"{line:<{min(width, 70)}}  # {comment}"


def _told(stage) -> str:
    return f"{VOCABULARY[stage.name].title}, {_shape(stage)}"


def _shape(stage) -> str:
    return f"{stage.shape}: {', '.join(stage.axes)}"
