"""The steps of the walkthrough: each with its text, the vocabulary of its stages, its bands and terms. Which
steps a trace has, and what they say, follows from its stages.
"""

import re
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
from attnviz.explain.steps.norms import ATTN_NORM, INPUT_NORM, MLP_NORM, QK_NORM
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

ENTERING = (TOKENS, POSITIONS, INPUT_NORM)
_COMPARED = (QUERY_LATENT, LATENT, PROJECTIONS, QK_NORM, ABSORBED_QUERIES, ROTATION)
_SCORED = (SCORES, SCALING, SOFTCAP, ALIBI, MASK)
_ATTENTION = (SOFTMAX, BLOCKS, WEIGHTED_SUM, ABSORBED_VALUES, CONCATENATION, OUTPUT, RESIDUAL)
LAYER = (ATTN_NORM, *_COMPARED, *_SCORED, *_ATTENTION, MLP_NORM, NEURONS, MLP, MLP_RESIDUAL)
LEAVING = (ANSWER, WHOLE_PASS)
STEPS = (QUESTION, *ENTERING, *LAYER, *LEAVING)  # all steps; those of LAYER are repeated for each layer of a pass
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


def full_title(name: str) -> str:
    """The title of a stage with its layer.

    >>> full_title("scores_2"), full_title("scores")
    ('Scores of layer 2', 'Scores')
    """
    layer = split_layer(name)[1]
    return entry(name).title + (f" of layer {layer}" if layer else "")


@cached_by_template
def steps_of(trace: Trace) -> tuple[ShownStep, ...]:
    """The steps of a trace; those of a layer are repeated for each layer, with its number in their ids. If two steps
    could show a stage, the later one does. Steps before and after the layers are about the first and the last layer.
    """
    first, last = trace.layers[0], trace.layers[-1]
    steps = [
        *_steps_in((QUESTION,), last),
        *_steps_in(ENTERING, first),
        *(s for layer in trace.layers for s in _steps_in(LAYER, layer, layer.number if trace.n_layers > 1 else 0)),
        *_steps_in(LEAVING, last),
    ]
    shown_in = {name: step.id for step in steps for name in step.stages}
    return tuple(replace(step, stages=tuple(n for n in step.stages if shown_in[n] == step.id)) for step in steps)


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
    stories = applicable(layer.trace, (*of_all, *entry(name).stories))
    return stories if layer.trace is trace else tuple(story.renamed(layer.names) for story in stories)


def ids(n_layers: int) -> list[str]:
    """The ids of all steps that a pass with this many layers may have, in order."""
    numbers = range(1, n_layers + 1) if n_layers > 1 else ()
    in_layers = [f"{step.id}-{number}" for number in numbers for step in LAYER] or [step.id for step in LAYER]
    return [*(step.id for step in (QUESTION, *ENTERING)), *in_layers, *(step.id for step in LEAVING)]


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
        wanted: next(each for each in order[order.index(_moved(wanted, count)) :] if each in present)
        for n_layers in (1, MAX_LAYERS, count)
        for wanted in ids(n_layers)
    }


def _moved(id_: str, n_layers: int) -> str:
    base, layer = _split(id_)
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


def layer_number(id_: str) -> int:
    """The layer in a step's id; 0 if it has none."""
    return _split(id_)[1]
