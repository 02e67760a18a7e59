"""Neurons: what each of them gets from a token, and which of them fire."""

from collections.abc import Mapping

from attnviz.core.operations.activations import ReLU
from attnviz.core.trace import Trace
from attnviz.explain.step import Entry, Section, Step, Term, either
from attnviz.explain.story import LARGEST_PART, PARTS, ROW_BY_ROW, Story, has, selection_story, unless


def is_relu(trace: Trace) -> bool:
    """Whether the MLP uses the ReLU."""
    return isinstance(trace["active"].operation, ReLU)


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
    heading="Which neurons fire?",
    why=either(
        is_relu,
        "Each neuron looks for one pattern in the {unit}’s row, and is silent where it does not find it; without "
        "the ReLU between them two matrices could do no more than one.",
        "Each neuron looks for one pattern in the {unit}’s row, and is nearly silent far from it; without the GELU "
        "between them two matrices could do no more than one.",
    ),
    text=(
        Section("got", _got),
        Section("relu", _fires, is_relu),
        Section("firing", [_FIRING], is_relu),
        Section(
            "gelu",
            "The **GELU** multiplies it by the part of a normal distribution that lies below it: what is large stays, "
            "and what is far below 0 becomes almost nothing.",
            unless(is_relu),
        ),
    ),
    stages=("hidden", "active"),
    entries={
        "w_hidden": Entry("W^F", "Hidden parameters", "a column for each neuron", one="parameter", kind="parameter"),
        "b_hidden": Entry("b^F", "Hidden bias", "what is added to what each neuron gets", kind="parameter"),
        "hidden": Entry("F", "Neurons", "what each neuron gets", one="neuron"),
        "active": Entry("F^{+}", "Firing", "what each neuron passes on", one="firing neuron"),
    },
    stories={
        "w_hidden": (
            Story("Dimension {row} of what the MLP reads is multiplied by {value} on its way to neuron {column}."),
        ),
        "b_hidden": (Story("Neuron {column} gets {value} more from every token."),),
        "hidden": (
            Story(f"{_GETS}; {PARTS}."),
            Story(f"{_GETS}; its bias is the largest part of that.", of=has("b_hidden")),
            Story(f"{_GETS}."),
        ),
        "active": (Story("Neuron {column} gets {hidden} from “{row}” and passes on {value}."),),
    },
    arcs=True,
    band_texts={
        "w_hidden": (
            "What the MLP reads of “{word}”, times a column for each **neuron**: {story}",
            (Story(f"for neuron {{column}}, {LARGEST_PART}"), ROW_BY_ROW),
        ),
        "hidden": (
            "**Added up**: {story}",
            (
                Story("neuron {column} gets {value}, as it is set by hand.", "set"),
                Story("neuron {column} gets {value}."),
            ),
        ),
        "active": (
            "**Fire**: {story}",
            (
                Story("neuron {column} passes on {value}, as it is set by hand.", "set"),
                Story("{value:positive} neurons pass something on.", of=is_relu),
                Story("neuron {column} passes on {value}."),
            ),
        ),
    },
    terms=(
        Term(
            "neuron",
            r"\bneurons?\b",
            "One number in the middle of the MLP, which fires where it finds its pattern.",
            "Here {active:positive} are above 0.",
        ),
        Term(
            "fire",
            r"\bfires?\b|\bfiring\b",
            "A neuron fires where what it passes on is not 0.",
            "Here {active:positive} are above 0.",
        ),
        Term(
            "ReLU",
            r"\bReLU\b",
            "Keeps what is above 0, and makes 0 of the rest.",
            "Here it makes {active} of {hidden}.",
            "ReLU",
        ),
        Term(
            "GELU",
            r"\bGELU\b",
            "Like the ReLU with a round corner: each number times the part of a normal distribution below it.",
            "Here it makes {active} of {hidden}.",
            "GELU",
        ),
    ),
)
