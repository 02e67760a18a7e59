"""Terms of what is kept for later tokens: groups, latents, sinks, and softmax by blocks."""

from attnviz.explain.glossary.term import Term

CACHE = (
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
        "Some keys after the others, so that no row of all shares is needed; what was collected is divided at the end.",
        operation="LastQuotient",
    ),
)
