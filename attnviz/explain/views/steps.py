"""Steps: what each step of the walkthrough says and draws, as data."""

from attnviz.contract import steps
from attnviz.core.trace import Trace
from attnviz.explain.step import Step
from attnviz.explain.views.bands import bands, page
from attnviz.explain.views.pictures import pictures
from attnviz.explain.views.sources import formula, sources


def step_data(trace: Trace, step: Step) -> steps.Step:
    """A step of a trace for the viewer; symbols keep the `_i` that stands for the head.

    Its attention and its heads are those of its layer, outside of layers those of the last.
    """
    names = trace.layers[step.layer - 1].names
    of_sheet = bands(trace, step)
    return steps.Step(
        id=step.id,
        layer=step.layer,
        attention=names["attention"],
        heads=names["heads"],
        title=step.title,
        heading=step.heading,
        why=step.reason if of_sheet else [],
        text=step.text,
        notes=[note.text for note in step.notes],
        stages=step.stages,
        subject=step.subject or (step.stages or [trace.output.name])[-1],
        pictures=pictures(trace, step.stages),
        formulas=[formula(trace, trace[name]) for name in step.stages if trace[name].inputs],
        numpy=[line for name in step.stages for line in trace.lines(name)],
        page=page(trace, step, of_sheet),
        bands=of_sheet,
        sources=sources(trace, step),
        arcs=step.arcs,
        bars=[(bars.stage, bars.array) for bars in step.bars],
    )
