"""Neurons: what each of them gets from a token, and which of them fire."""

from collections.abc import Mapping

from attnviz.core.operations.activations import ReLU
from attnviz.core.trace import Trace
from attnviz.explain.condition import has
from attnviz.explain.entry import Entry
from attnviz.explain.step import Section, Step
from attnviz.explain.story import PARTS, Story, selection_story


def is_relu(trace: Trace) -> bool:
    """Whether a neuron that gets nothing positive passes on nothing."""
    return isinstance(trace["active"].operation, ReLU)


def _is_gelu(trace: Trace) -> bool:
    return not is_relu(trace)


def _got(trace: Trace, entries: Mapping[str, Entry]) -> str:
    read, *_ = trace["hidden"].inputs
    bias = ", plus a **bias**," * ("b_hidden" in trace)
    return (
        f"An **MLP** works on each token by itself: a row of ${entries[read].symbol}$ times a column of "
        f"${entries['w_hidden'].symbol}${bias} is what one of {trace['hidden'].shape[-1]} **neurons** gets."
    )


def _fires(trace: Trace, entries: Mapping[str, Entry]) -> str:
    squared = " and squares it" * trace["active"].operation.squared
    return f"The **ReLU** keeps what is positive{squared}, and makes 0 of all else: such a neuron does not **fire**."


_GETS = "Neuron {column} gets {value} from “{row}”"
_FIRING = selection_story(Story("For “{query}”, {active:positive} fire."), of="active")

NEURONS = Step(
    id="neurons",
    title="Neurons",
    headings=(Section("neurons", "Which neurons fire?"),),
    why=(
        Section(
            "relu",
            "Each neuron looks for one pattern in the {unit}’s row, and is silent where it does not find it; without "
            "the ReLU between them two matrices could do no more than one.",
            is_relu,
        ),
        Section(
            "gelu",
            "Each neuron looks for one pattern in the {unit}’s row, and is nearly silent far from it; without the GELU "
            "between them two matrices could do no more than one.",
            _is_gelu,
        ),
    ),
    sections=(
        Section("got", _got),
        Section("relu", _fires, is_relu),
        Section("firing", [_FIRING], is_relu),
        Section(
            "gelu",
            "The **GELU** multiplies it by the part of a normal distribution that lies below it: what is large stays, "
            "and what is far below 0 becomes almost nothing.",
            _is_gelu,
        ),
    ),
    stages=("hidden", "active"),
    entries={
        "w_hidden": Entry(
            "W^F",
            "Hidden parameters",
            "a column for each neuron",
            one="parameter",
            kind="parameter",
            stories=(
                Story("Dimension {row} of what the MLP reads is multiplied by {value} on its way to neuron {column}."),
            ),
        ),
        "b_hidden": Entry(
            "b^F",
            "Hidden bias",
            "what is added to what each neuron gets",
            kind="parameter",
            stories=(Story("Neuron {column} gets {value} more from every token."),),
        ),
        "hidden": Entry(
            "F",
            "Neurons",
            "what each neuron gets",
            one="neuron",
            stories=(
                Story(f"{_GETS}; {PARTS}."),
                Story(f"{_GETS}; its bias is the largest part of that.", of=has("b_hidden")),
                Story(f"{_GETS}."),
            ),
        ),
        "active": Entry(
            "F^{+}",
            "Firing",
            "what each neuron passes on",
            one="firing neuron",
            stories=(Story("Neuron {column} gets {hidden} from “{row}” and passes on {value}."),),
        ),
    },
    arcs=True,
)
