"""Documents of passes that no scene leads to, as much of them as a pass and its lessons are read from."""

from attnviz.text.ids import nearest
from attnviz.text.steps import steps_of
from attnviz.views.scales import limits
from attnviz.views.stages import stages
from attnviz.views.steps import step_data


def document_of(trace):
    """All numbers and steps of a pass, as JSON can write it."""
    steps = steps_of(trace)
    heads = range(max(stage.shape[0] for stage in trace.stages if stage.axes[0] == "head"))
    return {
        "stages": stages(trace, limits(trace, steps), heads),
        "steps": [step_data(trace, step) for step in steps],
        "nearest": nearest(trace),
        "before": {},
    }
