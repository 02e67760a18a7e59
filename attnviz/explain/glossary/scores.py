"""Terms of what may change a score: masks, positions, a cap."""

from attnviz.explain.glossary.term import Term

SCORES = (
    Term(
        "mask",
        r"\bmask(?:s|ed)?\b",
        "Hides keys from queries: a hidden key has the score −∞, and so the share 0.",
        "For “{query}” and “{key}” it leaves {masked}.",
        "Hide",
    ),
    Term("causal", r"\bcausal\b", "A mask that hides later {unit}s, which a model that writes on cannot have read."),
    Term("padding", r"\bpadding\b", "Fillers that make texts equally long; a mask hides them."),
    Term("window", r"\bwindow\b", "A mask that leaves near {unit}s alone to be seen."),
    Term(
        "global layer",
        r"\bglobal(?: layers?)?\b",
        "A layer without the window that others have, as in Gemma and gpt-oss: it sees {unit}s however far away.",
    ),
    Term(
        "RoPE",
        r"\bRoPE\b|\brotat(?:ed|ion)\b",
        "Turns queries and keys by their positions, pair by pair, so that scores depend on distances.",
        (
            "Here {q_rotated} is made of {q_r}.",
            "Here {q_rotated} is made of {q_normed}.",
            "Here {q_rotated} is made of {q}.",
        ),
        "Rotation",
    ),
    Term(
        "ALiBi",
        r"\bALiBi\b|\bbiased\b",
        "Takes more from a score the further its key is: a slope of the head, times the distance.",
        "Here it leaves {biased} of {scaled}.",
        "ALiBi",
    ),
    Term(
        "softcap",
        r"\bsoftcap\b|\bcapped\b",
        "Keeps scores inside a limit: the limit times tanh of the score over the limit.",
        "Here it makes {capped} of {scaled}.",
        "Softcap",
    ),
)
