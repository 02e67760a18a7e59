"""Opening: where the walkthrough opens for somebody who wants other numbers."""

from attnviz.contract.view_params import QUESTIONS
from attnviz.core.selection import Selection
from attnviz.core.terms import Cell
from attnviz.core.trace import Trace
from attnviz.explain.steps import STEPS, entry
from attnviz.scene.resolution import SceneWithPass
from attnviz.scene.start import selected


def what_if(resolved: SceneWithPass) -> dict[str, object]:
    """The parts of the scene that ask what other numbers would move: at the stage picked, or at the last change."""
    scene, trace, asks = resolved.scene, resolved.trace, {"question": QUESTIONS[-1], "trail": ()}
    if trace is None:
        return asks
    looks = selected(scene, trace)
    if scene.picked:
        return at_cell(trace, trace.cell_at(scene.picked, looks), looks) | asks
    if scene.changes:
        last = scene.changes[-1]
        rest = (0,) * (len(trace[last.stage].shape) - len(last.index))
        return at_cell(trace, trace[last.stage].cell((*last.index, *rest)), looks) | asks
    return {"step": STEPS[-1].id} | asks


def at_cell(trace: Trace, cell: Cell, selection: Selection) -> dict[str, object]:
    """The parts of the scene that show a cell, picked, at its step; of other coordinates the selection's are kept."""
    selection = trace.selection_at(cell, selection)
    return {"step": entry(cell.stage).step, "selection": selection, "picked": cell.stage}
