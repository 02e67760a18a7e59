"""Terms of vectors: what a token is made into, and how long that is."""

from attnviz.explain.glossary.term import Term

VECTORS = (
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
)
