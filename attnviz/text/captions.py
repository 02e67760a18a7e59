"""Captions: sentences computed from the numbers they stand under. Each is plain text, and so is also read aloud."""

from attnviz.core.selection import Selection
from attnviz.core.trace import Trace
from attnviz.text.vocabulary import VOCABULARY, entry
from attnviz.text.wording import counted


def caption(trace: Trace, name: str, selection: Selection) -> str:
    """What is worth seeing in the stage `name`, in one to four sentences about the selected cell.

    One to three are its entry's; the last is on the numbers set by hand, if any.

    Raises
    ------
    KeyError
        If the stage is shown by no step, and so has no caption.
    """
    say = entry(name).caption
    if say is None:
        captioned = ", ".join(each for each, of in VOCABULARY.items() if of.caption)
        raise KeyError(f"A stage with a caption is {captioned}; got {name!r}.")
    return f"{say(trace, selection)}{_by_hand(trace, name, selection)}"


def summary(trace: Trace) -> str:
    """The whole pass in one sentence."""
    parameters = sum(stage.value.size for stage in trace.stages if entry(stage.name).kind == "parameter")
    everything = sum(stage.value.size for stage in trace.stages)
    n_queries, n_keys = trace["scores"].shape[1:]
    n_rows, width = trace.output.shape
    return (
        f"{counted(n_queries, 'query', 'queries')} and {counted(n_keys, 'key')} go in; "
        f"{counted(n_rows, 'row')} of {counted(width, 'number')} {'comes' if n_rows == 1 else 'come'} out. "
        f"{everything:,} numbers in all, {parameters:,} of them in the parameters."
    )


def _by_hand(trace: Trace, name: str, selection: Selection) -> str:
    """A caption says how numbers are made, which doesn't hold for those set by hand."""
    stage = trace[name]
    place = trace.cell_at(name, selection).index[0]  # a head, or a row of a stage without heads
    n_set = sum(index[0] == place for index in stage.overridden)
    if not n_set:
        return ""
    where = f"{'head' if stage.axes[0] == 'head' else 'row'} {place + 1}"
    return f" {counted(n_set, 'number')} of {where} {'is' if n_set == 1 else 'are'} set by hand."
