"""Recording: a recorded layer as a pass for the viewer, where attnviz computes what the module did."""

from attnviz.checks.recording.recorded import Recorded
from attnviz.checks.wording.report import ARRAYS_TO_SEND, compare
from attnviz.core.errors import OwnArraysError, guarded
from attnviz.core.trace import Trace


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
    _check_words("tokens", recorded.tokens, recorded)
    _check_words("context_tokens", recorded.context_tokens, recorded)
    return comparison.trace


def _check_words(name: str, words: tuple[str, ...] | None, recorded: Recorded) -> None:
    """Refuse words that no recorded layer has as many of."""
    lengths = sorted({n for sizes in recorded.lengths.values() if sizes for n in sizes})
    if words is not None and lengths and len(words) not in lengths:
        numbers = " or ".join(map(str, lengths))
        raise OwnArraysError(f"{name} must be the {numbers} words of the recorded sentence; got {len(words)}.")
