"""Recording: a recorded layer as a pass for the viewer, where attnviz computes what the module did."""

from attnviz.analysis.recording.recorded import Recorded
from attnviz.core.errors import OwnArraysError, guarded
from attnviz.core.tokens import cleaned, labels
from attnviz.core.trace import Trace
from attnviz.text.check.report import ARRAYS_TO_SEND, compare


@guarded("read this layer", ARRAYS_TO_SEND)
def pass_of(recorded: Recorded, layer: int) -> Trace:
    """Attnviz's pass of a recorded layer's input and parameters, with the words of its sentence.

    Raises
    ------
    OwnArraysError
        If the module computed something else, or something that the viewer doesn't show.
    """
    comparison = compare(None, recorded[layer])
    if comparison.trace is None or comparison.first is not None:
        raise OwnArraysError(
            f"The viewer shows attnviz's pass, which layer {layer} of the recorded ones isn't. {comparison}"
        )
    if recorded.tokens is None:
        return comparison.trace
    words = labels([cleaned(each) for each in recorded.tokens])
    n_tokens = len(comparison.trace["x"].value)
    if len(words) != n_tokens:
        raise OwnArraysError(f"tokens must be the {n_tokens} words of the recorded sentence; got {len(words)}.")
    return comparison.trace.labelled(token=words, query=words, key=words)
