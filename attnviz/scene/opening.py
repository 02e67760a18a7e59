"""Opening: where the walkthrough opens for somebody who wants other numbers."""

from attnviz.contract.looks import QUESTIONS
from attnviz.core.terms import Cell
from attnviz.core.trace import Trace
from attnviz.scene.resolution import SceneWithPass
from attnviz.scene.scene import Scene
from attnviz.scene.start import selected
from attnviz.text.steps import STEPS, entry


def what_if(resolved: SceneWithPass) -> dict[str, object]:
    """The parts of the scene that ask what other numbers would move: at the stage picked, or at the last change."""
    scene, trace, asks = resolved.scene, resolved.trace, {"question": QUESTIONS[-1], "trail": ()}
    if trace is None:
        return asks
    if scene.picked:
        return _at(trace, trace.cell_at(scene.picked, selected(scene, trace)), scene) | asks
    if scene.changes:
        last = scene.changes[-1]
        rest = (0,) * (len(trace[last.stage].shape) - len(last.index))
        return _at(trace, trace[last.stage].cell((*last.index, *rest)), scene) | asks
    return {"step": STEPS[-1].id} | asks


def _at(trace: Trace, cell: Cell, scene: Scene) -> dict[str, object]:
    """The step that shows a cell, with the cell selected."""
    selection = trace.selection_at(cell, selected(scene, trace))
    return {"step": entry(cell.stage).step, "selection": selection, "picked": cell.stage}
