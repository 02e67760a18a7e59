"""Steps of the walkthrough, one module each: the vocabulary of its stages, and what is said of them.

Which steps a trace has, and what they say, follows from its stages.
"""

from dataclasses import replace
from functools import lru_cache

from attnviz.core.stage import split_layer
from attnviz.core.trace import Layer, Trace, cached_by_template
from attnviz.explain.entry import Entry
from attnviz.explain.step import Step
from attnviz.explain.steps.alibi import ALIBI
from attnviz.explain.steps.answer import ANSWER
from attnviz.explain.steps.blocks import BLOCKS
from attnviz.explain.steps.concatenation import CONCATENATION
from attnviz.explain.steps.latent import ABSORBED_QUERIES, ABSORBED_VALUES, LATENT, QUERY_LATENT
from attnviz.explain.steps.mask import MASK
from attnviz.explain.steps.mlp import MLP, MLP_RESIDUAL
from attnviz.explain.steps.neurons import NEURONS
from attnviz.explain.steps.norms import ATTN_NORM, INPUT_NORM, MLP_NORM
from attnviz.explain.steps.output import OUTPUT
from attnviz.explain.steps.positions import POSITIONS
from attnviz.explain.steps.projections import PROJECTIONS
from attnviz.explain.steps.qk_norm import QK_NORM
from attnviz.explain.steps.question import QUESTION
from attnviz.explain.steps.residual import RESIDUAL
from attnviz.explain.steps.rotation import ROTATION
from attnviz.explain.steps.scaling import SCALING
from attnviz.explain.steps.scores import SCORES
from attnviz.explain.steps.softcap import SOFTCAP
from attnviz.explain.steps.softmax import SOFTMAX
from attnviz.explain.steps.tokens import TOKENS
from attnviz.explain.steps.weighted_sum import WEIGHTED_SUM
from attnviz.explain.steps.whole_pass import WHOLE_PASS

ENTERING = (TOKENS, POSITIONS, INPUT_NORM)
_COMPARED = (QUERY_LATENT, LATENT, PROJECTIONS, QK_NORM, ABSORBED_QUERIES, ROTATION)
_SCORED = (SCORES, SCALING, SOFTCAP, ALIBI, MASK)
_ATTENTION = (SOFTMAX, BLOCKS, WEIGHTED_SUM, ABSORBED_VALUES, CONCATENATION, OUTPUT, RESIDUAL)
LAYER = (ATTN_NORM, *_COMPARED, *_SCORED, *_ATTENTION, MLP_NORM, NEURONS, MLP, MLP_RESIDUAL)
LEAVING = (ANSWER, WHOLE_PASS)
STEPS = (QUESTION, *ENTERING, *LAYER, *LEAVING)
"""All steps; those of LAYER come once for each layer of a pass."""

ENTRIES: dict[str, Entry] = {
    name: replace(entry, step=step.id) for step in STEPS for name, entry in step.entries.items()
}
"""The entries of all stages, by their names without a layer."""


@lru_cache(maxsize=256)  # more than there are stages
def entry(name: str) -> Entry:
    """The vocabulary's entry of a stage."""
    base, layer = split_layer(name)
    return ENTRIES[base].of_layer(layer) if layer else ENTRIES[base]


def full_title(name: str) -> str:
    """The title of a stage where no symbol beside it tells its layer.

    >>> full_title("scores_2"), full_title("scores")
    ('Scores of layer 2', 'Scores')
    """
    layer = split_layer(name)[1]
    return entry(name).title + (f" of layer {layer}" if layer else "")


@cached_by_template
def steps_of(trace: Trace) -> tuple[Step, ...]:
    """The steps that the stages of the trace call for; those of a layer once for each, with its number in their ids.

    Of two steps that could show a stage the later one does. What is said before
    and after the layers is said of the first and of the last of them.
    """
    first, last = trace.layers[0], trace.layers[-1]
    steps = [
        *_steps_in((QUESTION,), last),
        *_steps_in(ENTERING, first),
        *(step for layer in trace.layers for step in _of_layer(trace, layer)),
        *_steps_in(LEAVING, last),
    ]
    shown_in = {name: step.id for step in steps for name in step.stages}
    return tuple(replace(step, stages=tuple(n for n in step.stages if shown_in[n] == step.id)) for step in steps)


def _steps_in(steps: tuple[Step, ...], layer: Layer) -> list[Step]:
    entries = ENTRIES | {name: entry(full) for name, full in layer.names.items()}
    return [step.of(layer, entries) for step in steps if step.is_in(layer.trace)]


def _of_layer(trace: Trace, layer: Layer) -> list[Step]:
    if trace.n_layers == 1:
        return _steps_in(LAYER, layer)
    return [replace(step, id=f"{step.id}-{layer.number}", layer=layer.number) for step in _steps_in(LAYER, layer)]
