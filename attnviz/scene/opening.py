"""Openings: where links to the pages of earlier versions lead."""

from attnviz.analysis.provenance import format_trail, parse_trail
from attnviz.core.terms import Cell
from attnviz.core.trace import Trace
from attnviz.scene.fitting import SceneWithPass
from attnviz.scene.scene import QUESTIONS, Scene
from attnviz.scene.start import selected
from attnviz.text.steps import STEPS, entry


def take_apart(fitted: SceneWithPass) -> dict[str, object]:
    """The parts of the scene that show its trail; the selected number of the output where it has none."""
    scene, trace = fitted.scene, fitted.trace
    if trace is None:
        return {}
    cells, _ = parse_trail(trace, format_trail(scene.trail))
    cells = cells or (trace.cell_at(trace.output.name, selected(scene, trace)),)
    return _at(trace, cells[-1], scene) | {"trail": tuple(map(str, cells))}


def what_if(fitted: SceneWithPass) -> dict[str, object]:
    """The parts of the scene that ask what other numbers would move: at the stage picked, or at the last change."""
    scene, trace, asks = fitted.scene, fitted.trace, {"question": QUESTIONS[-1], "trail": ()}
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
