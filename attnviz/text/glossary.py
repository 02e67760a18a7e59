"""Glossary: each term of the field that stands on a screen, in one sentence, with a number of the pass.

Whoever adds an operation adds its term (`Term.operation`); `python -m attnviz.viewer.glossary` gives the terms to the
browser, which finds their numbers in the pass that it shows.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A term of the field.

    Attributes
    ----------
    id : str
    pattern : str
        A regular expression, of Python and JavaScript alike, that finds it in a text in either case.
    says : str
        One sentence, where `{unit}` is what a token is called.
    here : str or tuple of str
        Its number in a pass, as a story (`attnviz.text.story`) of what is selected in the last layer; of several the
        first of which the pass has all stages, and where there is none, nothing. Empty of a term whose number only a
        scene knows (`measured`).
    operation : str
        The class of the operation that it is, if it is one.
    """

    id: str
    pattern: str
    says: str
    here: str | tuple[str, ...] = ""
    operation: str = ""


TERMS = (
    Term(
        "indices",
        r"^[a-z]\w*\[.*\]",
        "A number’s address: in brackets the head if there is one, then the row, then the column.",
        "scores[{head}, {query}, {key}] is {scores}.",
    ),
    Term(
        "query",
        r"\bquer(?:y|ies)\b",
        "What a {unit} looks for, as a vector: it is compared with the keys.",
        "Its length is {q:length} here.",
    ),
    Term(
        "key",
        r"\bkeys?\b",
        "What a {unit} is found by, as a vector: queries are compared with it.",
        "Its length is {k:length} here.",
    ),
    Term(
        "value",
        r"\bvalues?\b",
        "What a {unit} passes on to those that look at it, as a vector.",
        "Its length is {v:length} here.",
    ),
    Term(
        "score",
        r"\bscores?\b",
        "How well a query and a key match: their dot product.",
        "“{query}” scores {scores} with “{key}”.",
    ),
    Term(
        "scaling",
        r"\bscal(?:ed|ing|e)\b",
        "Multiplying every score by the same number, mostly 1/√d_k, so that scores do not spread more as d_k grows.",
        "Here {scores} is scaled to {scaled}.",
        "Scale",
    ),
    Term(
        "share",
        r"\bshares?\b",
        "How much of its attention a query gives to one key.",
        "“{query}” gives “{key}” {attention:percent}.",
    ),
    Term(
        "attention",
        r"\battention\b",
        "In which shares a {unit} takes in what others pass on.",
        "“{query}” gives “{key}” {attention:percent}.",
    ),
    Term(
        "softmax",
        r"\bsoftmax\b",
        "Makes shares of numbers: exp of each, over the sum of all these.",
        "Here it makes {attention:percent} of {masked}.",
        "Softmax",
    ),
    Term(
        "rows over their sums",
        r"\brows? over (?:its|their) sums?\b|\bover their sum\b",
        "Each score over the sum of its row: shares without exp, which may be negative.",
        "Here it makes {attention} of {masked}.",
        "SumNormalise",
    ),
    Term(
        "head",
        r"\bheads?\b",
        "One attention with queries, keys and values of its own; several look for different things at once.",
        "Heads of this layer: {heads:first}.",
    ),
    Term(
        "W_O",
        r"\bW_O\b|\boutput parameters\b",
        "The matrix of parameters that makes the output of what the heads found.",
        "Here it is {w_o:rows} × {w_o:length}.",
    ),
    Term(
        "contribution",
        r"\bcontributions?\b",
        "What one head adds to the output: what it found, times its own rows of W_O.",
        "Of the selected head it begins with {contributions}.",
        "Contributions",
    ),
    Term(
        "concatenation",
        r"\bconcatenation\b|\bside by side\b",
        "Rows written one after the other as one longer row, without adding anything up.",
        "The length of the row is {concat:length} here.",
        "Concatenation",
    ),
    Term(
        "unchanged",
        r"\bas (?:it is|they are)\b",
        "Nothing is computed: the same numbers are passed on.",
        operation="Identity",
    ),
    Term(
        "parameter",
        r"\bparameters?\b",
        "A number that training sets; all others are computed from parameters and the {unit}s.",
        "W_Q has {w_q:rows} × {w_q:length} of them in each head.",
    ),
    Term(
        "projection",
        r"\bprojections?\b|\bprojected\b",
        "A row times a matrix of parameters: each column of the matrix makes one number.",
        "That of queries is {w_q:rows} × {w_q:length} here.",
        "Projection",
    ),
    Term(
        "weighted sum",
        r"\bweighted sums?\b|\bmixture\b",
        "Each value times its share, added up.",
        "“{key}” counts {attention:percent} here.",
        "WeightedSum",
    ),
    Term(
        "dot product",
        r"\bdot products?\b",
        "Two vectors, multiplied dimension by dimension and added up.",
        "Products that are added here: {k:length}.",
        "DotProducts",
    ),
    Term(
        "embedding",
        r"\bembeddings?\b",
        "The row of numbers that stands for a {unit}.",
        "Its length is {embeddings:length} here.",
    ),
    Term(
        "unembedding",
        r"\bunembedding\b",
        "The matrix with a column for each answer.",
        "Here it is {w_u:rows} × {w_u:length}.",
    ),
    Term(
        "d_k",
        r"\bd_k\b",
        "How many numbers a query has, and a key.",
        (
            "d_k = {q:length} + {q_r:length} here, of content and for positions.",
            "d_k = {q:length} here, √d_k = {q:root}.",
        ),
    ),
    Term(
        "d_v",
        r"\bd_v\b",
        "How many numbers a value has.",
        "d_v = {v:length} here.",
    ),
    Term(
        "d_model",
        r"\bd_model\b",
        "How many numbers stand for a {unit} between the layers.",
        "d_model = {x:length} here.",
    ),
    Term(
        "dimension",
        r"\bdimensions?\b",
        "One place of a vector: dimension 2 is its second number.",
        "A query has {q:length} here.",
    ),
    Term(
        "position",
        r"\bpositions?\b",
        "Where a {unit} stands, counted from 1.",
        "Here the last is {scores:length}.",
    ),
    Term(
        "token",
        r"\btokens?\b",
        "What a text is cut into: here a {unit}.",
        "There are {scores:length}.",
    ),
    Term(
        "residual stream",
        r"\bresidual(?: stream)?\b",
        "What a {unit} holds from layer to layer: each step adds to it, and nothing is put in its place.",
        "Its width is {residual:length} here.",
        "Addition",
    ),
    Term(
        "MLP",
        r"\bMLP\b",
        "Two matrices with neurons between them, applied to each {unit} by itself.",
        "Its neurons here: {hidden:length}.",
    ),
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
    Term(
        "RMSNorm",
        r"\bRMSNorm\b|\bnorm(?:s|ed)?\b",
        "Divides each row by its size, the root of the mean of its squares.",
        "The length of a row is {x:length} here.",
        "RMSNorm",
    ),
    Term(
        "LayerNorm",
        r"\bLayerNorm\b",
        "Takes its mean from each row, and divides what is left by its size.",
        "The length of a row is {x:length} here.",
        "LayerNorm",
    ),
    Term("bias", r"\bbias(?:es)?\b", "A row of parameters that is added to every row, whatever is in it."),
    Term("gain", r"\bgain\b(?! the)", "A parameter for each dimension, which a norm multiplies by."),
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
    Term(
        "group",
        r"\bgroups?\b",
        "Heads that share keys and values, so that fewer of these must be kept.",
        "Groups of keys here: {k:first}.",
    ),
    Term(
        "query latent",
        r"\bquery latents?\b|\bd_cq\b",
        "One short vector of a {unit}, of which the queries of all heads are made, with fewer parameters.",
        "d_cq = {q_latent:length} here.",
    ),
    Term(
        "latent",
        r"\blatents?\b|\bMLA\b|\bd_c\b",
        "One short vector of a {unit}, of which the keys and values of all heads are made, and that is kept for them.",
        "d_c = {latent:length} here.",
        "HeadProjection",
    ),
    Term(
        "absorbed",
        r"\babsorbed\b",
        "Multiplied in another order: queries and what heads collect take over a matrix, so keys need not be made.",
        "An absorbed query has {q_absorbed:length} numbers here.",
    ),
    Term(
        "d_n",
        r"\bd_n\b",
        "How many numbers of a query, and of a key, are compared by content.",
        "d_n = {q:length} here.",
    ),
    Term(
        "d_r", r"\bd_r\b", "How many numbers of a query, and of a key, are for positions.", "d_r = {q_r:length} here."
    ),
    Term(
        "KV cache",
        r"\bKV cache\b",
        "Memory for the keys and values of earlier {unit}s, so that a new one needs to compute its own alone.",
    ),
    Term(
        "sink",
        r"\bsinks?\b",
        "A score of no key: it takes a share that goes nowhere, so a row adds up to less than 1.",
        "That of {head} is {sinks}, and takes {sink_share:percent}.",
        "SinkShare",
    ),
    Term(
        "running maximum",
        r"\brunning maximum\b|\bmax so far\b",
        "The largest score of the keys that were read so far, which is subtracted before exp.",
        "At the end of the block of “{key}” it is {running_max}.",
        "RunningMaximum",
    ),
    Term(
        "running sum",
        r"\brunning sum\b|\bsum so far\b",
        "What exp(score − maximum) adds up to for the keys that were read so far.",
        "At the end of the block of “{key}” it is {running_sum}.",
        "RunningSum",
    ),
    Term(
        "running output",
        r"\brunning output\b|\boutput so far\b",
        "The values of the keys that were read so far, each times exp(score − maximum), added up.",
        "At the end of the block of “{key}” it begins with {running_output}.",
        "RunningOutput",
    ),
    Term(
        "by blocks",
        r"\bby blocks\b|\blast block\b",
        "Some keys after the others, so that no row of all shares is kept; what was collected is divided at the end.",
        operation="LastQuotient",
    ),
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
"""Of two that would begin at one place the former is marked there."""


def explained(label: str) -> str:
    """The sentence of a label that is a term; nothing where it is none."""
    matches = (term for term in TERMS if re.fullmatch(term.pattern, label, re.IGNORECASE))
    return next((term.says.replace("{unit}", "token") for term in matches), "")
