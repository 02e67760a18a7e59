"""Terms of attention: queries, keys, values and scores, and what heads make of them."""

from attnviz.explain.glossary.term import Term

ATTENTION = (
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
)
