"""Terms of models: what one answers, how it was trained, and how an answer is drawn."""

from attnviz.explain.glossary.term import Term

MODELS = (
    Term(
        "logit",
        r"\blogits?\b",
        "The score of an answer, before the softmax makes a probability of it.",
        "“{answer}” has {logits}.",
    ),
    Term(
        "probability",
        r"\bprobabilit(?:y|ies)\b|\bprobable\b",
        "How likely an answer is to the model; those of all answers add up to 1.",
        "“{answer}” has {probabilities:percent}.",
    ),
    Term(
        "layer",
        r"\blayers?\b",
        "One round of attention, and of an MLP where the model has one.",
    ),
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
