"""Whole pass: a summary at its end."""

from collections.abc import Mapping

from attnviz.core.stage import name_in_layer
from attnviz.core.trace import Trace
from attnviz.explain.step import Entry, Section, Step, either
from attnviz.explain.steps.output import adds_up, is_set_by_hand
from attnviz.explain.story import Story, always, both, has, lacks, of_model, selection_story
from attnviz.explain.wording import counted


def _counted(trace: Trace, entries: Mapping[str, Entry]) -> str:
    everything = sum(stage.size for stage in trace.stages)
    given = [stage for stage in trace.stages if stage.is_given]
    parameters = sum(stage.size for stage in given if entries[stage.name].kind == "parameter")
    n_queries, n_keys = trace["scores"].shape[1:]
    n_rows, width = trace.output.shape
    queries, keys = (trace.labels.get(axis) for axis in ("query", "key"))
    entered = f"{counted(n_queries, 'query', 'queries')} looked at {counted(n_keys, 'key')}, and"
    if queries and queries == keys:
        entered = f"{counted(n_queries, 'token')} went in and"
    where = " in matrices of" if of_model(trace) else ""
    return (
        f"{entered} {counted(n_rows, 'row')} of {counted(width, 'number')} came out: {everything:,} numbers in all, "
        f"{f'{parameters:,}' if parameters else 'none'} of them{where} parameters."
    )


_EARLIER = name_in_layer("scores", 1)
"""A stage that exists only if there are several layers."""

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


_ADDED = selection_story(Story("To the output of “{query}”, {contributions:longest} contributed most."))

_ANSWERED = selection_story(
    Story(
        "For “{query}” the most probable answer{probabilities:s} {probabilities:is} {probabilities:best}: "
        "{probabilities:most}."
    ),
    Story("For “{query}” the probability is {probabilities:most} for {probabilities:alike}."),
    of="probabilities",
)

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
        Section("took last", _took("{head} of the last layer"), has(_EARLIER)),
        Section("answered", [_ANSWERED], has("probabilities")),
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
