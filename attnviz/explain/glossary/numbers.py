"""Terms of where numbers are from, and of what changes them."""

from attnviz.explain.glossary.term import Term

NUMBERS = (
    Term("muted", r"\bmuted?\b", "Set to 0, so that one sees what the rest does without it."),
    Term("initialiser", r"\binitialisers?\b", "How parameters are drawn before anything is learnt."),
    Term("one-hot", r"\bone-hot\b", "A vector with a single 1, at the place of its {unit}, and 0 elsewhere."),
    Term(
        "sinusoidal",
        r"\bsinusoidal\b|\bsines\b",
        "Made of sines and cosines of the position, in waves of many lengths.",
    ),
    Term("random", r"\brandom\b", "Drawn, not learnt: the same seed draws the same numbers again."),
    Term("slope", r"\bslopes?\b", "By how much a number grows, for each 1 that another is raised by."),
)
