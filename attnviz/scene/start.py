"""Start: where one looks in a pass before anyone has picked a number."""

from attnviz.core.once import once
from attnviz.core.selection import Selection
from attnviz.core.trace import Trace
from attnviz.scene.scene import Scene


def selected(scene: Scene, trace: Trace) -> Selection:
    """The number that the scene looks at in its pass."""
    return start(trace) if scene.selection is None else scene.selection.within(trace)


@once
def start(trace: Trace) -> Selection:
    """What the first number to see is.

    Of a model that answers it is the attention of the last word at which something
    is asked to the right answer, if that is one of the words; to what it looks at
    most, if not. Of vectors it is the largest number: what is passed on from there,
    and what leaves.
    """
    if not trace.origin.read:
        return Selection().within(trace)
    asked = [place for place, answer in enumerate(trace.origin.right) if answer is not None]
    query = asked[-1] if asked else len(trace.origin.right) - 1
    right = trace.origin.right[query]
    keys, answers = trace.labels["key"], trace.labels["answer"]
    layer = trace.layers[-1].trace
    key = keys.index(right) if right in keys else int(layer["attention"].value[0, query].argmax())
    answer = answers.index(right) if right in answers else int(trace["probabilities"].value[query].argmax())
    feature, dimension = (int(abs(row).argmax()) for row in (layer["v"].value[0, key], layer["output"].value[query]))
    return Selection(query=query, key=key, feature=feature, dimension=dimension, answer=answer).within(trace)
