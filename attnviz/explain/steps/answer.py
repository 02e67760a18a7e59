"""Answer: what leaves the last layer becomes a probability for each answer; and the whole pass at a glance."""

import numpy as np

from attnviz.core.stage import name_in_layer
from attnviz.core.trace import Trace
from attnviz.explain.step import Entries, Entry, Section, Step, Term, either
from attnviz.explain.steps.output_projection import adds_up, is_set_by_hand
from attnviz.explain.story import (
    LARGEST_PART,
    PARTS,
    ROW_BY_ROW,
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
from attnviz.explain.texts import of_two_texts, query_noun, sides
from attnviz.explain.wording import counted, percent
from attnviz.models.task import most_probable
from attnviz.models.translator import END


def _counted(trace: Trace, entries: Entries) -> str:
    everything = sum(stage.size for stage in trace.stages)
    inputs = [stage for stage in trace.stages if stage.is_given]
    parameters = sum(stage.size for stage in inputs if entries[stage.name].kind == "parameter")
    n_queries, n_keys = trace["scores"].shape[1:]
    n_rows, width = trace.output.shape
    queries, keys = (trace.labels.get(axis) for axis in ("query", "key"))
    entered = f"{counted(n_queries, 'query', 'queries')} looked at {counted(n_keys, 'key')}, and"
    if of_two_texts(trace):
        asked, read = sides(trace)
        entered = f"{counted(n_queries, f'{asked} token')} and {counted(n_keys, f'{read} token')} went in, and"
    elif queries and queries == keys:
        entered = f"{counted(n_queries, 'token')} went in and"
    where = " in matrices of" if of_model(trace) else ""
    return (
        f"{entered} {counted(n_rows, 'row')} of {counted(width, 'number')} came out: {everything:,} numbers in all, "
        f"{f'{parameters:,}' if parameters else 'none'} of them{where} parameters."
    )


_EARLIER = name_in_layer("scores", 1)  # a stage that exists only if there are several layers
_ends_in_output = lacks("probabilities")


def _took(where: str) -> list:
    return [
        selection_story(
            Story(
                f"In {where}, “{{query}}” took most from {{attention:best}}: an attention weight of {{attention:most}}."
            ),
            Story(f"In {where}, “{{query}}” took from {{attention:alike}}: an attention weight of {{attention:most}}."),
            Story(f"In {where}, “{{query}}” saw no key and took nothing.", "unseeing"),
        )
    ]


def _took_of_the_other(trace: Trace, entries: Entries) -> list:
    titles = [f"“{title}”" for title in trace.origin.layer_titles]
    return _took(f"{{head}} of {titles[-1] if titles else 'the last layer'}")


_ADDED = selection_story(Story("To the output of “{query}”, {contributions:longest} contributed most."))


def _answered(trace: Trace, entries: Entries) -> Runs:
    where = "After" if of_two_texts(trace) else "For"
    return [
        selection_story(
            Story(
                f"{where} “{{query}}” the most probable answer{{probabilities:s}} {{probabilities:is}} "
                "{probabilities:best}: {probabilities:most}."
            ),
            Story(f"{where} “{{query}}” the probability is {{probabilities:most}} for {{probabilities:alike}}."),
            of="probabilities",
        )
    ]


WHOLE_PASS = Step(
    id="whole-pass",
    title="Whole pass",
    heading=either(
        has("probabilities"), "The whole pass, from {unit}s to answer", "The whole pass, from {unit}s to output"
    ),
    why=(
        "All steps at once: each number is computed from those before it, so any can be followed back to the {unit}s."
    ),
    text=(
        Section("counted", _counted),
        Section("took", _took("{head}"), lacks(_EARLIER)),
        Section("took last", _took("{head} of the last layer"), both(has(_EARLIER), unless(of_two_texts))),
        Section("took of the other", _took_of_the_other, of_two_texts),
        Section("answered", _answered, has("probabilities")),
        Section("added", [_ADDED], both(_ends_in_output, adds_up)),
        Section(
            "by hand",
            "Between the heads and the output numbers are set, not computed.",
            both(_ends_in_output, is_set_by_hand),
        ),
        Section(
            "no output",
            "There is no $W^O$ here: what the heads collect is what leaves.",
            both(_ends_in_output, lacks("output")),
        ),
    ),
    arcs=True,
    when=always,
)


_MODEL = {
    "drawn": "Before any training this model answers",
    "learnt": "This model was trained to answer",
    "built": "This model was built to answer",
}


def _logits(trace: Trace, entries: Entries) -> str:
    read, *_ = trace["logits"].inputs
    return (
        f"The last matrix of parameters, ${entries['w_u'].symbol}$, has a column for each answer: a row of "
        f"${entries[read].symbol}$ times that column is the answer's score, its **logit**. The softmax turns "
        "each row of logits into **probabilities**."
    )


def verdict(trace: Trace) -> Runs:
    """What a model answers, where, and whether that is right."""
    origin, shares = trace.origin, trace["probabilities"].value
    if origin.is_open:
        return _next(trace)
    begin, known = _MODEL[origin.kind], [place for place, right in enumerate(origin.right) if right is not None]
    if not known:
        return runs("The model was not made for such a text, so its answer means nothing.")
    answers = [_most(trace, row) for row in shares]
    if len(known) > 1:
        n_right = sum(answers[place] == (origin.right[place],) for place in known)
        luck = " by luck" * bool(origin.kind == "drawn" and n_right)
        return runs(f"{begin} at each token; {n_right} of {len(known)} answers are right{luck}.")
    (place,) = known
    where = "the last token" if origin.read == "last" else "“{token}”"
    if len(answers[place]) > 1:
        tied = f"{counted(len(answers[place]), 'answer')} are equally probable, {percent(shares[place].max())} each"
        return runs(f"{begin} at {where}: {tied}, so the model gives none.", token=trace.axes("logits")[0].label(place))
    is_right = answers[place] == (origin.right[place],)
    praise = "a lucky guess" if origin.kind == "drawn" else "which is right"
    verdict = praise if is_right else "but “{right}” is right"
    return runs(
        f"{begin} at {where}: “{{answer}}” with {percent(shares[place].max())}, {verdict}.",
        token=trace.axes("logits")[0].label(place),
        answer=answers[place][0],
        right=origin.right[place],
    )


def _next(trace: Trace) -> Runs:
    """The sentence on the most probable continuation, for a model without a right answer."""
    shares = trace["probabilities"].value[-1]
    before, most = trace.origin.kind == "drawn", _most(trace, shares)
    where = f"After the last {sides(trace)[0]} token".replace("  ", " ")
    if of_two_texts(trace) and len(trace["probabilities"].value) == 1:
        where = f"As first {query_noun(trace)}"
    if len(most) > 1:
        return runs(f"{where} {counted(len(most), 'answer')} are equally probable, {percent(shares.max())} each.")
    learnt = "before any training, so by chance" if before else "as it has learnt"
    ends = ", which ends the text" * (of_two_texts(trace) and most[0] == END)
    return runs(
        f"{where} the model expects “{{answer}}” most{ends}, {learnt}: {percent(shares.max())}.",
        answer=most[0],
    )


def _most(trace: Trace, shares: np.ndarray) -> tuple[str, ...]:
    return tuple(trace.axes("logits")[1].label(place) for place in np.flatnonzero(most_probable(shares)))


def _heading(trace: Trace, entries: Entries) -> str:
    return f"What comes after each {query_noun(trace)}: a probability for each answer"


def _of_answers(*texts: str) -> tuple[Story, ...]:
    """Stories of an answer for a token; in the text that a decoder writes, of what comes after it."""
    where = (("For", unless(of_two_texts)), ("After", of_two_texts))
    return tuple(
        Story(f"{begins} “{{query}}”, “{{answer}}” has {text}", of=of) for text in texts for begins, of in where
    )


_PROBABLE = "a probability of {value:percent}"
_SCORES = "the logit {value}"

ANSWER = Step(
    id="answer",
    title="Answer",
    heading=either(of_two_texts, _heading, "A probability for each answer"),
    why=(
        "Each answer has a column: the dot product with it, its logit, says how much speaks for it, and the "
        "softmax turns all logits into probabilities."
    ),
    text=(Section("logits", _logits), Section("read", [["verdict", ""]], lambda trace: bool(trace.origin.read))),
    stages=("logits", "probabilities"),
    entries={
        "w_u": Entry("W^U", "Unembedding", "the matrix that scores each answer", one="answer", kind="parameter"),
        "logits": Entry("L", "Logits", "the score of each answer", one="logit"),
        "probabilities": Entry("Y", "Probabilities", "how probable each answer is", one="probability", scale="share"),
    },
    stories={
        "w_u": (
            Story("Dimension {row} of every token is multiplied by {value} on its way to the logit of “{column}”."),
        ),
        "logits": (
            *_of_answers(
                f"{_SCORES}, {{value:rank}} of the {{value:count}}; {PARTS}.", f"{_SCORES}; {PARTS}.", f"{_SCORES}."
            ),
        ),
        "probabilities": (
            Story(
                "You set the probability of “{answer}” for “{query}” to {value} by hand; its row now adds up to "
                "{value:sum}.",
                "set",
            ),
            *_of_answers(
                f"{_PROBABLE}: its logit {{logits}} is {{logits:rank}} of the {{logits:count}}.",
                f"{_PROBABLE}: there is no other answer.",
            ),
        ),
    },
    arcs=True,
    band_texts={
        "w_u": (
            "Each **answer** has a column; what “{word}” has now is compared with it: {story}",
            (Story(f"for “{{column}}”, {LARGEST_PART}"), ROW_BY_ROW),
        ),
        "logits": (
            "**Added up**: {story}",
            (
                Story("“{answer}” has the logit {value}, as it is set by hand.", "set"),
                Story("“{answer}” has the logit {value}, {value:rank} of the {value:count}."),
                Story("“{answer}” has the logit {value}."),
            ),
        ),
        "probabilities": (
            "**Softmax**. {story}",
            (
                Story("“{answer}” has {value:percent}, as it is set by hand.", "set"),
                Story("Most probable: {value:best}, {value:most}."),
                Story("{value:most} for {value:alike}."),
            ),
        ),
    },
    terms=(
        Term(
            "unembedding",
            r"\bunembedding\b",
            "The matrix with a column for each answer.",
            "Here it is {w_u:rows} × {w_u:length}.",
        ),
        Term(
            "logit",
            r"\blogits?\b",
            "The score of an answer, before the softmax turns it into a probability.",
            "“{answer}” has {logits}.",
        ),
        Term(
            "probability",
            r"\bprobabilit(?:y|ies)\b|\bprobable\b",
            "How likely an answer is to the model; those of all answers add up to 1.",
            "“{answer}” has {probabilities:percent}.",
        ),
    ),
)
