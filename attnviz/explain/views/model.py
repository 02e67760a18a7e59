"""Model: what answers, and how it was trained, as data."""

from collections.abc import Mapping

from msgspec import convert

from attnviz.contract.models import Model, Training
from attnviz.core.trace import Trace
from attnviz.explain.steps.answer import verdict
from attnviz.explain.wording import percent


def does(head: int, looks: Mapping[str, float], *, over: str, loss: float, without: float) -> str:
    """Where a head looks, the most first, and what the model loses without it.

    Parameters
    ----------
    head : int
        Counted from 1.
    looks : mapping of str to float
        The share of its attention that it gives on average, by what it looks at.
    over : str
        What these are means over.
    loss, without : float
        The loss of the model on these texts, and without this head.
    """
    most_first = sorted(looks.items(), key=lambda each: -each[1])
    shares = ", ".join(f"{percent(share)} to {what}" for what, share in most_first)
    change = "is" if abs(without - loss) >= 0.0005 else "stays"
    then = f"{without:.3f} nats a letter, not {loss:.3f}" if change == "is" else f"{loss:.3f} nats a letter"
    return f"On average over {over}, head {head} gives {shares}. Without it the loss {change} {then}."


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
