"""Steps: what each step of the walkthrough says and draws, as data."""

from attnviz.core.stage import Stage
from attnviz.core.trace import Trace
from attnviz.text.step import Step
from attnviz.text.vocabulary import symbol
from attnviz.views.band import Band
from attnviz.views.bands import bands, page
from attnviz.views.pictures import Picture, pictures
from attnviz.views.sources import Source, sources


def step_data(trace: Trace, step: Step) -> dict:
    """A step of a trace for the viewer; symbols keep the `_i` that stands for the head.

    Its attention and its heads are those of its layer, outside of layers those of the last.
    """
    names = trace.layers[step.layer - 1].names
    of_sheet = bands(trace, step)
    return {
        "id": step.id,
        "layer": step.layer,
        "attention": names["attention"],
        "heads": names["heads"],
        "title": step.title,
        "heading": step.heading,
        "why": step.reason if of_sheet else [],
        "text": step.text,
        "notes": [note.text for note in step.notes],
        "stages": list(step.stages),
        "subject": step.subject or (step.stages or [trace.output.name])[-1],
        "pictures": [_picture(picture) for picture in pictures(trace, step.stages)],
        "formulas": formulas(trace, step),
        "numpy": [line for name in step.stages for line in trace.lines(name)],
        "page": page(trace, step, of_sheet),
        "bands": [_band(band) for band in of_sheet],
        "sources": [_source(trace, each) for each in sources(trace, step)],
        "arcs": step.arcs,
        "bars": [[bars.stage, bars.array] for bars in step.bars],
    }


def formulas(trace: Trace, step: Step) -> list[str]:
    """The formula of each stage of a step, in symbols."""
    return [_formula(trace, trace[name]) for name in step.stages if trace[name].inputs]


def _formula(trace: Trace, stage: Stage) -> str:
    return stage.operation.latex(*map(symbol, (stage, *trace.inputs(stage.name))))


def _picture(picture: Picture) -> dict:
    grid = [[slot and vars(slot) for slot in row] for row in picture.grid]
    return {"grid": grid, "turns": picture.turns, "aside": picture.aside}


def _source(trace: Trace, source: Source) -> dict:
    made = trace[source.bands[-1].cells.stage]
    return vars(source) | {"formula": _formula(trace, made), "bands": [_band(band) for band in source.bands]}


def _band(band: Band) -> dict:
    slots = {
        part: slot and vars(slot) for part, slot in vars(band).items() if part in ("cells", "left", "right", "leftover")
    }
    return vars(band) | slots
