"""The glossary: each term of the field on a screen, in one sentence, with a number of the pass.

A step has the terms that it introduces; the general ones are here. Whoever adds an operation adds its term
(`Term.operation`). `python -m attnviz.viewer.glossary` writes them for the browser, which finds their numbers in the
pass that it shows; `measured` gives the numbers that only the server knows.
"""

import math
from collections.abc import Mapping

from attnviz.explain.step import Term
from attnviz.explain.steps import STEPS

_GENERAL = (
    Term("muted", r"\bmuted?\b", "Set to 0, so that one sees what the rest does without it."),
    Term("initialiser", r"\binitialisers?\b", "How parameters are drawn before anything is learnt."),
    Term("one-hot", r"\bone-hot\b", "A vector with a single 1, at the place of its {unit}, and 0 elsewhere."),
    Term("random", r"\brandom\b", "Drawn, not learnt: the same seed draws the same numbers again."),
    Term("slope", r"\bslopes?\b", "By how much a number grows, for each 1 that another is raised by."),
    Term(
        "dimension",
        r"\bdimensions?\b",
        "One place of a vector: dimension 2 is its second number.",
        "A query has {q:length} here.",
    ),
    Term(
        "indices",
        r"^[a-z]\w*\[.*\]",
        "A number’s address: in brackets the head if there is one, then the row, then the column.",
        "scores[{head}, {query}, {key}] is {scores}.",
    ),
    Term(
        "KV cache",
        r"\bKV cache\b",
        "Memory for the keys and values of earlier {unit}s, so that a new one needs to compute its own alone.",
    ),
    Term(
        "previous token",
        r"\bprevious token\b",
        "The mean weight that rows give the {unit} just before; the first row, which has none, is left out.",
    ),
    Term("token itself", r"\btoken itself\b", "The mean, over the rows, of the weight that each {unit} gives itself."),
    Term(
        "first token",
        r"\bfirst token\b",
        "The mean weight that rows give the first {unit}, where heads often look that find nothing.",
    ),
    Term(
        "spread of attention",
        r"\bspread of attention\b",
        "The entropy of a row over that of an even one: 0 % for one {unit} alone, 100 % for all alike.",
    ),
    Term("layer", r"\blayers?\b", "One round of attention, and of an MLP where the model has one."),
    Term("loss", r"\bloss\b", "The mean of −ln of the probability that the right answer had: less is better."),
    Term("nats", r"\bnats?\b", "The unit of a loss: e to it is the number of answers one is as unsure between."),
    Term("held-out", r"\bheld[- ]out\b", "Kept out of training, to see what was learnt and not learnt by heart."),
    Term("checkpoint", r"\bcheckpoints?\b", "The parameters as they were after so many steps of training."),
    Term("BOS", r"\bBOS\b", "“Beginning of sequence”: the token before the first letter, which ends a text, too."),
    Term("seed", r"\bseeds?\b", "Where random numbers begin: from the same seed the same are drawn."),
    Term(
        "temperature",
        r"\btemperature\b",
        "What logits are divided by before one draws: above 1 rare answers come up more.",
    ),
    Term("top-k", r"\btop[- ]k\b", "Draw among the k most probable answers alone."),
    Term("top-p", r"\btop[- ]p\b", "Draw among the most probable answers that together have the probability p."),
)

# all terms; of two that begin at the same character the first is marked
TERMS = (*_GENERAL, *(term for step in STEPS for term in step.terms))


def measured(n_layers: int, training: Mapping | None, seed: int | None) -> dict[str, str]:
    """Sentences on terms, by their ids, with numbers that the browser can't find in a pass."""
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
    without, pairs = losses.get("with attention muted"), losses.get("pairs of letters")
    if without is None or pairs is None:
        return {}
    how = "no better than" if without >= pairs else "better than"
    return {"muted": f"With attention muted the loss is {without:.2f}: {how} a table of pairs, {pairs:.2f}."}
