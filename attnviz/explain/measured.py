"""Measured: what a scene adds to terms of the glossary: its layers, its seed, and the loss of its training."""

import math
from collections.abc import Mapping


def measured(n_layers: int, training: Mapping | None, seed: int | None) -> dict[str, str]:
    """Sentences on terms, by their ids, with numbers that a browser can't find in a pass.

    Parameters
    ----------
    n_layers : int
    training : mapping or None
        As `attnviz.models` gives it.
    seed : int or None
        From which parameters were drawn; None where no seed is on the screen.
    """
    always = {"layer": f"Layers of this pass: {n_layers}."} | ({} if seed is None else {"seed": f"Here it is {seed}."})
    if not training:
        return always
    step = training["checkpoints"][training["at"]]
    loss = next(loss for at, loss, _ in training["curve"] if at == step)
    compared = [f"{each['label']} {each['loss']:.2f}" for each in training["yardsticks"]]
    return always | {
        "loss": f"Here {loss:.2f}" + (f", beside {', '.join(compared)}." if compared else "."),
        "nats": f"{loss:.2f} nats: as unsure as between e^{loss:.2f} = {math.exp(loss):.2g} answers.",
        "held-out": f"Here {training['heldOut']:,} texts.",
        "checkpoint": f"This one is of step {step:,}.",
        **_muted({each["label"]: each["loss"] for each in training["yardsticks"]}),
    }


def _muted(losses: Mapping[str, float]) -> dict[str, str]:
    """A sentence on the loss without attention, where that was measured."""
    without, pairs = losses.get("with attention muted"), losses.get("pairs of letters")
    if without is None or pairs is None:
        return {}
    how = "no better than" if without >= pairs else "better than"
    return {"muted": f"With attention muted the loss is {without:.2f}: {how} a table of pairs, {pairs:.2f}."}
