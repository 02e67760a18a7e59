"""Heads: what each head of a trained language model does, measured on texts that it never saw, in a sentence."""

from collections.abc import Mapping

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
