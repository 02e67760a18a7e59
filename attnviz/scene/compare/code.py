"""Code: a pass, and beside it the same as somebody's code computes it, where the two are furthest apart."""

from attnviz.analysis.pairing import pairing
from attnviz.core.selection import Selection
from attnviz.core.trace import Trace
from attnviz.scene.opening import at_cell


def furthest_apart(theirs: Trace, right: Trace, stage: str) -> dict[str, object]:
    """The parts of the scene that show the number of a stage that is furthest off.

    Parameters
    ----------
    theirs, right : Trace
    stage : str
        One of `right`; where it is the same in both, the first at which they part is shown.
    """
    pairs = pairing(theirs, right)
    found = next((each for each in (pairs.stages.get(stage), pairs.first) if each and each.at), None)
    if found is None:
        return {}
    return {"view": "sheet"} | at_cell(right, right[found.name].cell(found.at), Selection().within(right))
