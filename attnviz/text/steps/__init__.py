"""Steps of the walkthrough, one module each: the vocabulary of its stages, and what is said of them.

Which steps a trace has, and what they say, follows from its stages.
"""

from dataclasses import replace
from functools import lru_cache

from attnviz.core.caching import cached_by_template
from attnviz.core.layers import split_layer
from attnviz.core.trace import Layer, Trace
from attnviz.text.entry import Entry
from attnviz.text.step import Step
from attnviz.text.steps.alibi import ALIBI
from attnviz.text.steps.answer import ANSWER
from attnviz.text.steps.blocks import BLOCKS
from attnviz.text.steps.concatenation import CONCATENATION
from attnviz.text.steps.latent import ABSORBED_QUERIES, ABSORBED_VALUES, LATENT, QUERY_LATENT
from attnviz.text.steps.mask import MASK
from attnviz.text.steps.mlp import MLP, MLP_RESIDUAL
from attnviz.text.steps.neurons import NEURONS
from attnviz.text.steps.norms import ATTN_NORM, INPUT_NORM, MLP_NORM
from attnviz.text.steps.output import OUTPUT
from attnviz.text.steps.positions import POSITIONS
from attnviz.text.steps.projections import PROJECTIONS
from attnviz.text.steps.qk_norm import QK_NORM
from attnviz.text.steps.question import QUESTION
from attnviz.text.steps.residual import RESIDUAL
from attnviz.text.steps.rotation import ROTATION
from attnviz.text.steps.scaling import SCALING
from attnviz.text.steps.scores import SCORES
from attnviz.text.steps.softcap import SOFTCAP
from attnviz.text.steps.softmax import SOFTMAX
from attnviz.text.steps.tokens import TOKENS
from attnviz.text.steps.weighted_sum import WEIGHTED_SUM
from attnviz.text.steps.whole_pass import WHOLE_PASS

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
