"""Messages: what a browser sends, which may be anything, read as what the viewer means by it."""

from attnviz.analysis.provenance import parse_trail
from attnviz.core.terms import Cell
from attnviz.core.trace import Trace


def cells_in(trace: Trace, message: object) -> tuple[Cell, ...]:
    """The cells of a trail, as far as it is one of the trace; none if it is nothing of the kind."""
    return parse_trail(trace, message)[0] if isinstance(message, str) else ()
