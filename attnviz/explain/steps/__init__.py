"""The steps of the walkthrough: each with its text, the vocabulary of its stages, its bands and terms. Which
steps a trace has, and what they say, follows from its stages.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import lru_cache

from attnviz.core.limits import MAX_LAYERS
from attnviz.core.stage import Stage, split_layer
from attnviz.core.trace import Layer, Trace, cached_by_template
from attnviz.explain.step import Entry, ShownStep, Step
from attnviz.explain.steps.answer import ANSWER, WHOLE_PASS
from attnviz.explain.steps.latent import ABSORBED_QUERIES, ABSORBED_VALUES, LATENT, QUERY_LATENT
from attnviz.explain.steps.mask import MASK
from attnviz.explain.steps.mlp import MLP, MLP_RESIDUAL, NEURONS, RESIDUAL
from attnviz.explain.steps.norms import ATTN_NORM, INPUT_NORM, MEMORY, MLP_NORM, QK_NORM
from attnviz.explain.steps.output_projection import CONCATENATION, OUTPUT
from attnviz.explain.steps.projections import PROJECTIONS
from attnviz.explain.steps.rotation import ROTATION
from attnviz.explain.steps.scaling import ALIBI, SCALING, SOFTCAP
from attnviz.explain.steps.scores import SCORES
from attnviz.explain.steps.softmax import SOFTMAX
from attnviz.explain.steps.start import QUESTION
from attnviz.explain.steps.tokens import POSITIONS, TOKENS
from attnviz.explain.steps.weighted_sum import BLOCKS, WEIGHTED_SUM
from attnviz.explain.story import Story, applicable
from attnviz.explain.texts import input_titles

INPUT_STEPS = (TOKENS, POSITIONS, INPUT_NORM)
_COMPARED = (QUERY_LATENT, LATENT, PROJECTIONS, QK_NORM, ABSORBED_QUERIES, ROTATION)
_SCORED = (SCORES, SCALING, SOFTCAP, ALIBI, MASK)
_ATTENTION = (SOFTMAX, BLOCKS, WEIGHTED_SUM, ABSORBED_VALUES, CONCATENATION, OUTPUT, RESIDUAL)
LAYER = (ATTN_NORM, *_COMPARED, *_SCORED, *_ATTENTION, MLP_NORM, NEURONS, MLP, MLP_RESIDUAL, MEMORY)
OUTPUT_STEPS = (ANSWER, WHOLE_PASS)
STEPS = (QUESTION, *INPUT_STEPS, *LAYER, *OUTPUT_STEPS)  # all steps; each layer of a pass has those of LAYER
ENTRIES: dict[str, Entry] = {  # of all stages, by name without layer
    name: replace(entry, step=step.id, stories=step.stories[name])
    for step in STEPS
    for name, entry in step.entries.items()
}

# the sentences beside the bands of the One word view, and the stories in them, by what a band shows
BAND_TEXTS = {shown: text for step in STEPS for shown, text in step.band_texts.items()}


@lru_cache(maxsize=256)  # there are fewer stages
def entry(name: str) -> Entry:
    """The vocabulary's entry of a stage."""
    base, layer = split_layer(name)
    return ENTRIES[base].of_layer(layer) if layer else ENTRIES[base]


def title_in(trace: Trace, name: str) -> str:
    """The title of a stage, with the text that enters by it if there are two."""
    return input_titles(trace)[name][0] if name in input_titles(trace) else entry(name).title


def full_title(name: str, trace: Trace | None = None) -> str:
    """The title of a stage with its layer; in a trace, with what that is called, and which of two texts enters by it.

    >>> full_title("scores_2"), full_title("scores")
    ('Scores of layer 2', 'Scores')
    """
    layer = split_layer(name)[1]
    own = title_in(trace, name) if trace else entry(name).title
    return f"{own} of {layer_name(trace, layer)}" if layer else own


def layer_name(trace: Trace | None, layer: int) -> str:
    """What a layer is called: by its title in the trace, or its number."""
    titles = trace.origin.layer_titles if trace else ()
    return f"“{titles[layer - 1]}”" if titles else f"layer {layer}"


@cached_by_template
def steps_of(trace: Trace) -> tuple[ShownStep, ...]:
    """The steps of a trace; those of a layer are repeated for each layer, with its number in their ids. If two steps
    could show a stage, the later one does. What enters stands before the first layer; if two texts enter, before the
    first layer of each, and belongs to that layer. The other steps outside layers are about the last one.
    """
    last = trace.layers[-1]
    steps = _steps_in((QUESTION,), last)
    for layer in trace.layers:
        number = layer.number if trace.n_layers > 1 else 0
        if number < 2 or layer.names["x"] in ("x", "context"):
            steps += _input_steps(layer, number if trace.has_encoder else 0)
        steps += _steps_in(LAYER, layer, number)
    steps += _steps_in(OUTPUT_STEPS, last)
    shown_in = {name: step.id for step in steps for name in step.stages}
    return tuple(replace(step, stages=tuple(n for n in step.stages if shown_in[n] == step.id)) for step in steps)


def step_of(trace: Trace, name: str) -> str:
    """The id of the step that shows a stage; of one that is not shown, of the step that introduces it."""
    return _shown_in(trace).get(name, entry(name).step)


@cached_by_template
def _shown_in(trace: Trace) -> dict[str, str]:
    shown = {name: step.id for step in steps_of(trace) for name in step.stages}
    positions = ((each, step) for name, step in shown.items() for each in trace[name].inputs if "positions" in each)
    return dict(positions) | shown  # with two texts, each text's positions enter at a separate step


def _input_steps(layer: Layer, number: int) -> list[ShownStep]:
    """The steps of what enters at a layer, with the stages it reads. In the first layer their ids lack a number."""
    read = {layer.names[name] for name in _before(layer.trace, ("q", "k", "v", "compressed"))}
    return [
        replace(
            step,
            id=step.id.removesuffix("-1"),
            stages=tuple(name for name in step.stages if name in read),
            explained=tuple(name for name in step.explained if name in read),
        )
        for step in _steps_in(INPUT_STEPS, layer, number)
    ]


def _before(trace: Trace, names: Iterable[str]) -> set[str]:
    """These stages of a trace and those that they are made from."""
    there = [name for name in names if name in trace]
    return {*there}.union(*(_before(trace, trace[name].inputs) for name in there))


def _steps_in(steps: tuple[Step, ...], layer: Layer, number: int = 0) -> list[ShownStep]:
    entries = ENTRIES | {name: entry(full) for name, full in layer.names.items()}
    return [step.of(layer, entries, number) for step in steps if step.is_in(layer.trace)]


AXES = {  # what axes are called on the screen
    "token": "tokens",
    "context token": "context tokens",
    "query": "queries",
    "key": "keys",
    "head": "heads",
    "group": "groups",
    "neuron": "neurons",
    "answer": "answers",
    "d_model": "d_model",
    "d_k": "d_k",
    "d_v": "d_v",
    "d_c": "d_c",
    "d_cq": "d_cq",
    "d_n": "d_n",
    "d_r": "d_r",
    "heads * d_k": "heads · d_k",
    "heads * d_v": "heads · d_v",
}


def symbol(stage: Stage) -> str:
    """The symbol of a stage, with `_i` for the head, or `_g` for the group of heads that share it."""
    text = entry(stage.name).symbol
    return text.replace("_i", "_g") if stage.axes[0] == "group" else text


def stories_of(trace: Trace, name: str) -> tuple[Story, ...]:
    """The stories of a stage's numbers, in the order in which they are tried."""
    layer = trace.layer_of(name)
    by = trace[name].overridden_by
    of_all = (Story(f"This number, {{value}}, is {by}; what follows is recomputed from it.", "set"),) if by else ()
    own = next(own for own, full in layer.names.items() if full == name)  # what enters is x in its layer
    stories = applicable(layer.trace, (*of_all, *entry(own).stories))
    return stories if layer.trace is trace else tuple(story.renamed(layer.names) for story in stories)


def ids(n_layers: int) -> list[str]:
    """The ids of all steps that a pass with this many layers may have, in order."""
    in_layers = [step.id for step in (*INPUT_STEPS, *LAYER)]
    if n_layers > 1:
        in_layers = [f"{id_}-{number}" for number in range(1, n_layers + 1) for id_ in in_layers]
        in_layers[: len(INPUT_STEPS)] = [step.id for step in INPUT_STEPS]
    return [QUESTION.id, *in_layers, *(step.id for step in OUTPUT_STEPS)]


@cached_by_template
def nearest(trace: Trace) -> dict[str, str]:
    """For the id of every possible step, the id of the step that the trace shows: the same one, or the next it has. For
    a layer that the trace doesn't have, its first or last layer is taken.
    """
    return _nearest(trace.n_layers, frozenset(step.id for step in steps_of(trace)))


@lru_cache(maxsize=64)  # there are fewer kinds of passes
def _nearest(count: int, present: frozenset[str]) -> dict[str, str]:
    order = ids(count)
    return {
        wanted: next(each for each in order[order.index(_moved(wanted, count, present)) :] if each in present)
        for n_layers in (1, MAX_LAYERS, count)
        for wanted in ids(n_layers)
    }


def _moved(id_: str, n_layers: int, present: Collection[str]) -> str:
    base, layer = _split(id_)
    if id_ in present:
        return id_
    if base not in (step.id for step in LAYER) or n_layers == 1:
        return base
    return f"{base}-{min(max(layer, 1), n_layers)}"


def _split(id_: str) -> tuple[str, int]:
    base, layer = re.fullmatch(r"(.*?)(?:-(\d+))?", id_).groups()
    return base, int(layer or 0)


def find(text: str) -> str | None:
    """The id of the step with this id or title, in upper or lower case; None if there is none.

    >>> find("q, k, v"), find("QKV-2"), find("nonsense")
    ('qkv', 'qkv-2', None)
    """
    named = {id_: id_ for n_layers in (1, MAX_LAYERS) for id_ in ids(n_layers)}
    named |= {step.title.casefold(): step.id for step in STEPS}
    return named.get(text.strip().casefold())


def title(id_: str) -> str:
    """The title of the step with this id."""
    base, _ = _split(id_)
    return next(step.title for step in STEPS if step.id == base)


def base_id(id_: str) -> str:
    """A step's id without the number of its layer."""
    return _split(id_)[0]


def layer_number(id_: str) -> int:
    """The layer in a step's id; 0 if it has none."""
    return _split(id_)[1]
