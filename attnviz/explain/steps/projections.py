"""Projections: queries, keys and values."""

from attnviz.core.trace import Trace
from attnviz.explain.step import Entries, Entry, Role, Section, Step, Term, either
from attnviz.explain.steps.latent import MADE, NOT_MADE
from attnviz.explain.story import (
    PARTS,
    PRODUCT,
    SUM,
    Story,
    always,
    both,
    has,
    lacks,
    of_model,
    selection_story,
    unless,
)
from attnviz.explain.styled_text import Runs, runs
from attnviz.explain.texts import crosses, key_noun, query_noun

_MATRICES = ("w_q", "w_k", "w_v")


def _n_used(trace: Trace) -> int:
    """How many of queries, keys and values are made by a matrix; given ones are not."""
    return sum(name in trace and f"w_{name}" in trace[name].inputs for name in "qkv")


def _all_matrices(trace: Trace) -> bool:
    return _n_used(trace) == len(_MATRICES)


def _some_matrices(trace: Trace) -> bool:
    return 0 < _n_used(trace) < len(_MATRICES) and "w_dkv" not in trace


def _any_matrix(trace: Trace) -> bool:
    return _n_used(trace) > 0 or "w_uq" in trace


def _made_by_some(trace: Trace, entries: Entries) -> str:
    rest = "as it was given" if any(trace[name].is_given for name in "qkv") else "the input itself"
    return (
        "Only some of :blue[**query**] (what a token looks for), :orange[**key**] (what it offers) and "
        ":green[**value**] (what it passes on) are made by matrices of parameters here. What has no matrix is "
        f"{rest}."
    )


def _several_heads(trace: Trace) -> bool:
    return trace["q"].shape[0] > 1


def _has_groups(trace: Trace) -> bool:
    return "k" in trace and "group" in trace["k"].axes


def _groups(trace: Trace, entries: Entries) -> str:
    n_heads, n_groups = len(trace["q"]), len(trace["k"])
    if n_groups == 1:
        return (
            f"Each of the {n_heads} heads has queries of its own, and all share one matrix of keys and one of values."
        )
    return (
        f"Each of the {n_heads} heads has queries of its own, but {n_heads // n_groups} heads in a row share the keys "
        f"and values of one of {n_groups} groups."
    )


def _of_latents(trace: Trace, entries: Entries) -> str:
    x = entries[trace["q"].inputs[0]].symbol
    return (
        f"Each head’s matrices turn each row of ${x}$ into a :blue[**query**] (what the token looks for), and each "
        "latent into a :orange[**key**] (what it offers) and a :green[**value**] (what it passes on)."
    )


def _not_made(trace: Trace, entries: Entries) -> str:
    x = entries[trace["q"].inputs[0]].symbol
    return (
        f"Each head’s matrix turns each row of ${x}$ into a :blue[**query**] (what the token looks for); no "
        ":orange[**key**] and no :green[**value**] is made, as the latents stand for both."
    )


def _same_latents(trace: Trace, entries: Entries) -> str:
    whose = "all heads" if len(trace["latent"]) == 1 else "the heads of a group"
    return f"The latents are the same for {whose}, the matrices are not."


def _of_positions(trace: Trace, entries: Entries) -> str:
    n, many = trace["q_r"].shape[-1], len(trace["k_r"]) > 1
    whose = "each group’s heads share" if many else "all heads share"
    numbers = "one number" if n == 1 else f"{n} numbers"
    unmade = "" if "q_latent" in trace else ", which no latent makes"
    return (
        f"Beside that of content, a query and a key have a part of {numbers} for **positions**{unmade}; {whose} that "
        "of a key."
    )


def _one_sentence(trace: Trace, entries: Entries) -> str:
    x = entries[trace["q"].inputs[0]].symbol
    return (
        f"Three matrices of parameters turn each row of ${x}$ into a :blue[**query**] (what the token looks for), a "
        ":orange[**key**] (what it offers) and a :green[**value**] (what it passes on)."
    )


def _two_sentences(trace: Trace, entries: Entries) -> str:
    x = entries[trace["q"].inputs[0]].symbol
    if crosses(trace):
        return (
            f"In **cross-attention** matrices turn each row of ${x}$, one for each {query_noun(trace)}, into a "
            f":blue[**query**] (what it looks for), and each row of the **memory** ${entries['context'].symbol}$, one "
            f"for each {key_noun(trace)}, into a :orange[**key**] (what it offers) and a :green[**value**] (what it "
            "passes on)."
        )
    return (
        f"Matrices of parameters turn each row of ${x}$ into a :blue[**query**] (what the token looks for), and each "
        "row of the other sentence, $C$, into a :orange[**key**] (what it offers) and a :green[**value**] (what "
        "it passes on)."
    )


def _stories(role: Role, one: str, does: str) -> dict[str, tuple[Story, ...]]:
    w, b = f"w_{role}", f"b_{role}"
    says = f"“{{row}}” {does} {{value}} in dimension {{column}}"
    weighs = (
        "In {head}, dimension {row} of what enters is multiplied by {value} on its way to dimension {column} of the"
    )
    return {
        w: (Story(f"{weighs} {one}."),),
        b: (Story(f"In {{head}}, {{value}} is added in dimension {{column}} of every {one}."),),
        role: (
            Story(f"{says}, as it is given.", "given"),
            Story(f"{says}; of its input, {PARTS}.", of=has(w)),
            Story(f"{says}; of its latent, {PARTS}.", of=has(f"w_u{role}")),
            Story(f"{says}, its latent times a column of parameters.", of=has(f"w_u{role}")),
            Story(f"{says}, its input times a column of parameters, and a bias.", of=has(b)),
            Story(f"{says}, its input times a column of parameters.", of=has(w)),
            Story(f"{says}: its input, as it is.", of=lacks(w)),
        ),
    }


def _position_stories(role: Role, one: str, does: str) -> dict[str, tuple[Story, ...]]:
    says = f"For positions, “{{row}}” {does} {{value}} in dimension {{column}}"
    weighs = "is multiplied by {value} on its way to dimension {column} of the"
    sources = (("a query latent", "latent", has("q_latent")), ("what enters", "input", lacks("q_latent")))
    if role == "k":
        sources = (("what enters", "input", always),)
    return {
        f"w_{role}r": tuple(
            Story(f"In {{head}}, dimension {{row}} of {whole} {weighs} {one}’s part for positions.", of=of)
            for whole, _, of in sources
        ),
        f"{role}_r": (*(Story(f"{says}; of its {own}, {PARTS}.", of=of) for _, own, of in sources), Story(f"{says}.")),
    }


def _asks(trace: Trace, entries: Entries) -> Runs:
    word = selection_story(Story("{query}"))
    written = f"A {query_noun(trace)} is written by the row of the {trace.origin.unit} before it"
    return runs(f"{written}: that of “{{word}}” asks what comes next.", word=word)


def _heading(trace: Trace, entries: Entries) -> str:
    return f"What each {query_noun(trace)} looks for, and each {key_noun(trace)} offers and passes on"


PROJECTIONS = Step(
    id="qkv",
    title="Q, K, V",
    heading=(
        Section("crosses", _heading, both(_any_matrix, crosses)),
        Section("made", "What each token looks for, offers and passes on", both(_any_matrix, unless(crosses))),
        Section("given", "Queries, keys and values, as they are given", unless(_any_matrix)),
    ),
    why=either(
        unless(NOT_MADE),
        "To look, to be found and to pass on are three tasks, so there is a vector for each: :blue[**query**], "
        ":orange[**key**] and :green[**value**].",
        "To look is the :blue[**query**]’s task; what latents offer and pass on to each head is in them already, "
        "so no key and no value is made.",
    ),
    text=(
        Section("of latents", _of_latents, MADE),
        Section("not made", _not_made, NOT_MADE),
        Section("of positions", _of_positions, has("q_r")),
        Section("same latents", _same_latents, both(has("w_dkv"), lacks("q_r"))),
        Section("one sentence", _one_sentence, both(_all_matrices, lacks("context"))),
        Section("asks", _asks, both(of_model, crosses)),
        Section("two sentences", _two_sentences, both(_all_matrices, has("context"))),
        Section(
            "no matrices",
            "This example has **no matrices of parameters**. What enters is used as it is, as :blue[**query**] (what a "
            "token looks for), :orange[**key**] (what it offers) and :green[**value**] (what it passes on).",
            unless(_any_matrix),
        ),
        Section("some matrices", _made_by_some, _some_matrices),
        Section(
            "one head",
            "Each number is a whole row times a column of the matrix.",
            both(_all_matrices, unless(_several_heads)),
        ),
        Section(
            "several heads",
            "Each head has matrices of its own, which read whole rows; the pictures show the selected head.",
            both(_all_matrices, _several_heads, unless(_has_groups)),
        ),
        Section("groups", _groups, _has_groups),
        Section("biases", "A **bias** is added to each row.", unless(lacks("b_q", "b_k", "b_v"))),
    ),
    stages=("q", "k", "v", "q_r", "k_r"),
    entries={
        "w_q": Entry(
            "W^Q_i", "Query parameters", "each head's matrix that makes queries", "q", kind="parameter", one="parameter"
        ),
        "b_q": Entry("b^Q_i", "Query bias", "what is added to every query", "q", kind="parameter"),
        "q": Entry("Q_i", "Queries", "what each token looks for", "q", one="query"),
        "w_k": Entry(
            "W^K_i", "Key parameters", "each head's matrix that makes keys", "k", kind="parameter", one="parameter"
        ),
        "b_k": Entry("b^K_i", "Key bias", "what is added to every key", "k", kind="parameter"),
        "k": Entry("K_i", "Keys", "what each token offers", "k", one="key"),
        "w_v": Entry(
            "W^V_i", "Value parameters", "each head's matrix that makes values", "v", kind="parameter", one="parameter"
        ),
        "b_v": Entry("b^V_i", "Value bias", "what is added to every value", "v", kind="parameter"),
        "v": Entry("V_i", "Values", "what each token passes on", "v", one="value"),
        "w_qr": Entry(
            "P^Q_i",
            "Position query parameters",
            "the matrix that makes the part of queries for positions",
            kind="parameter",
        ),
        "q_r": Entry("Q^P_i", "Position queries", "the part of queries for positions", "q", one="position query"),
        "w_kr": Entry(
            "P^K_i", "Position key parameters", "the matrix that makes the part of keys for positions", kind="parameter"
        ),
        "k_r": Entry("K^P_i", "Position keys", "the part of keys for positions", "k", one="position key"),
    },
    stories={
        **_stories("q", "query", does="asks with"),
        **_stories("k", "key", does="offers"),
        **_stories("v", "value", does="passes on"),
        **_position_stories("q", "query", does="asks with"),
        **_position_stories("k", "key", does="offers"),
    },
    band_texts={
        "w_q": ("What “{word}” enters with, times the :blue[**query parameters**]: {story}", PRODUCT),
        "w_k": ("What “{key}” enters with, times the :orange[**key parameters**]: {story}", PRODUCT),
        "w_k times memory": (
            "What the encoder has made of “{key}”, times the :orange[**key parameters**]: {story}",
            PRODUCT,
        ),
        "w_v times memory": (
            "What the encoder has made of “{key}”, times the :green[**value parameters**]: {story}",
            PRODUCT,
        ),
        "w_v": ("What “{key}” enters with, times the :green[**value parameters**]: {story}", PRODUCT),
        "w_qr": ("What “{word}” enters with, times the :blue[**position query parameters**]: {story}", PRODUCT),
        "w_kr": ("What “{key}” enters with, times the :orange[**position key parameters**]: {story}", PRODUCT),
        "w_qr times q_latent": (
            "The query latent of “{word}”, times the :blue[**position query parameters**]: {story}",
            PRODUCT,
        ),
        "q_r from": ("Where the part for positions of the :blue[**query**] of “{word}” is from", ()),
        "k_r from": ("Where the part for positions of the :orange[**key**] of “{key}” is from", ()),
        "q_r sum": ("**Added up**: the part for positions, {story}", SUM),
        "k_r sum": ("**Added up**: the part for positions, {story}", SUM),
        "q from": ("Where the :blue[**query**] of “{word}” is from", ()),
        "k from": ("Where the :orange[**key**] of “{key}” is from", ()),
        "v from": ("Where the :green[**value**] of “{key}” is from", ()),
        "q sum": ("**Added up**: the :blue[**query**] of “{word}”, {story}", SUM),
        "k sum": ("**Added up**: the :orange[**key**] of “{key}”, {story}", SUM),
        "v sum": ("**Added up**: the :green[**value**] of “{key}”, {story}", SUM),
    },
    terms=(
        Term(
            "query",
            r"\bquer(?:y|ies)\b",
            "What a {unit} looks for, as a vector: it is compared with the keys.",
            "Its length is {q:length} here.",
        ),
        Term(  # after “query”, which is marked in “query latent”
            "query latent",
            r"\bquery latents?\b|\bd_cq\b",
            "One short vector of a {unit}, of which the queries of all heads are made, with fewer parameters.",
            "d_cq = {q_latent:length} here.",
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
            "projection",
            r"\bprojections?\b|\bprojected\b",
            "A row times a matrix of parameters: each column of the matrix makes one number.",
            "That of queries is {w_q:rows} × {w_q:length} here.",
            "Projection",
        ),
        Term(
            "parameter",
            r"\bparameters?\b",
            "A number that training sets; all others are computed from parameters and the {unit}s.",
            "W_Q has {w_q:rows} × {w_q:length} of them in each head.",
        ),
        Term("bias", r"\bbias(?:es)?\b", "A row of parameters that is added to every row, whatever is in it."),
        Term(
            "d_k",
            r"\bd_k\b",
            "How many numbers a query has, and a key.",
            (
                "d_k = {q:length} + {q_r:length} here, of content and for positions.",
                "d_k = {q:length} here, √d_k = {q:root}.",
            ),
        ),
        Term("d_v", r"\bd_v\b", "How many numbers a value has.", "d_v = {v:length} here."),
        Term(
            "head",
            r"\bheads?\b",
            "One attention with queries, keys and values of its own; several look for different things at once.",
            "Heads of this layer: {heads:first}.",
        ),
        Term(
            "group",
            r"\bgroups?\b",
            "Heads that share keys and values, so that fewer of these must be kept.",
            "Groups of keys here: {k:first}.",
        ),
    ),
)
