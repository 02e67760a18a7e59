"""Model: what answers, and how it was trained, as data."""

from msgspec import convert

from attnviz.contract.models import Model, Training
from attnviz.core.trace import Trace
from attnviz.explain.heads import does
from attnviz.explain.steps.answer import verdict


def model_data(trace: Trace, training: dict | None) -> Model | None:
    """The model whose pass this is, for the viewer; None where nobody asks its parameters anything.

    Parameters
    ----------
    training : dict or None
        As `attnviz.models` gives it; None for a model that was built by hand.
    """
    origin = trace.origin
    if not origin.read:
        return None
    return Model(
        read=origin.read,
        answers="probabilities",
        right=origin.right,
        guesses=origin.kind == "drawn",
        is_open=origin.is_open,
        verdict=verdict(trace),
        training=training and convert(training | {"heads": _heads(training)}, Training),
    )


def _heads(training: dict) -> list[str]:
    """The sentence on each head; nothing where that was not measured."""
    parts, over = training["heads"], f"{training['heldOut']:,} {training['over']}"
    heads = parts["heads"] if parts else []
    return [
        does(number, head["looks"], over=over, loss=parts["loss"], without=head["loss"])
        for number, head in enumerate(heads, start=1)
    ]
