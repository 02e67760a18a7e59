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
    stage_pair = next((each for each in (pairs.stages.get(stage), pairs.first) if each and each.at), None)
    if stage_pair is None:
        return {}
    return {"view": "sheet"} | at_cell(right, right[stage_pair.name].cell(stage_pair.at), Selection().within(right))
