"""Start: where one looks in a pass before anyone has picked a number."""

from dataclasses import replace

import numpy as np

from attnviz.analysis.pairing import furthest, is_row_apart, pairing
from attnviz.core.selection import Selection
from attnviz.core.trace import Layer, Trace, cached_on_trace
from attnviz.explain.steps import steps_of
from attnviz.scene.scene import Scene


def selected(scene: Scene, trace: Trace, other: Trace | None = None) -> Selection:
    """The number that the scene looks at in its pass, which may have another beside it."""
    if scene.selection is not None:
        return scene.selection.within(trace)
    usual = start(trace, scene.step)
    return usual if other is None else _apart(other, trace, usual, _layer_of(trace, scene.step))


def picked(scene: Scene, trace: Trace, other: Trace | None = None) -> str:
    """The stage whose number the scene looks at; of two passes with the same attention their logits; else empty."""
    if scene.picked or scene.selection is not None or other is None or "logits" not in trace or "logits" not in other:
        return scene.picked
    attentions = [layer.names["attention"] for layer in trace.layers]
    stages = pairing(other, trace).stages
    return "logits" if all(stages[name].is_same for name in attentions) and not stages["logits"].is_same else ""


def _apart(a: Trace, b: Trace, usual: Selection, layer: int) -> Selection:
    """The usual number of pass B where its row is another in A; else the share that is furthest apart.

    That is one of the layer that one is in, if it has any that differs; else of the last.
    """
    name = b.layers[-1].names["attention"]
    cell = furthest(a, b, layer) or furthest(a, b)
    if cell is None or (b.origin.read and is_row_apart(a, b, name, usual)):
        return usual
    return replace(usual, head=cell.head, query=cell.query, key=cell.key)


def start(trace: Trace, step: str) -> Selection:
    """The first number to see at a step of the trace, given by its id."""
    return starts(trace)[_layer_of(trace, step)]


def _layer_of(trace: Trace, step: str) -> int:
    """The layer of a step; 0 outside of layers, and where there is one alone."""
    return next(each.layer for each in steps_of(trace) if each.id == step)


@cached_on_trace
def starts(trace: Trace) -> tuple[Selection, ...]:
    """The first number to see: outside of the layers, and where there are several, in each of them.

    Of a model that answers it is the attention of the last word at which something
    is asked to the right answer, if that is one of the words; to what it looks at
    most, if not. In a layer it is the attention that the layer's purpose is about.
    Of vectors it is the largest number: what is passed on from there, and what
    leaves. What is seen outside of the layers is that of the last.
    Where nothing is asked it is the second word and the one after it; where a
    mask hides that, the one that the same word looks at most. Where the sentence
    is long and the word looks nowhere, it is the share that is the largest
    multiple of an even one.
    """
    of_layers = tuple(_start(trace, layer) for layer in trace.layers)
    return (of_layers[-1], *of_layers) if trace.n_layers > 1 else of_layers


def _start(trace: Trace, layer: Layer) -> Selection:
    if not trace.origin.read:
        return _looking_somewhere(layer, Selection().within(trace))
    place = _question(trace)
    right, answers = trace.origin.right[place], trace.labels["answer"]
    answer = answers.index(right) if right in answers else int(trace["probabilities"].value[place].argmax())
    query, key = _looking(trace, layer, place)
    v, output = layer.trace["v"].value[0, key], layer.trace["output"].value[query]
    feature, dimension = (int(abs(row).argmax()) for row in (v, output))
    fires = layer.trace["active"].value[query] if "active" in layer.trace else np.zeros(1)
    return Selection(
        query=query, key=key, feature=feature, dimension=dimension, answer=answer, neuron=int(abs(fires).argmax())
    ).within(trace)


LONG = 16
"""Words of a sentence of which most are not seen at once."""
LOOKS = 2.0
"""A share that is so many times an even one is a look."""


def _looking_somewhere(layer: Layer, usual: Selection) -> Selection:
    shares, visible = layer.trace["attention"].value[0], np.isfinite(layer.trace["masked"].value[0])
    times_even = shares.clip(0, 1) * visible.sum(axis=-1, keepdims=True)  # set by hand, a share may be anything
    least = LOOKS if shares.shape[-1] > LONG else 0.0
    if visible[usual.query, usual.key] and times_even[usual.query, usual.key] >= least:
        return usual
    if visible[usual.query].any() and not least:
        return replace(usual, key=int(shares[usual.query].argmax()))
    query, key = divmod(int(times_even.argmax()), shares.shape[-1])
    return replace(usual, query=query, key=key)


def _question(trace: Trace) -> int:
    """The last place at which something is asked; the last of all where nothing is."""
    places = [place for place, answer in enumerate(trace.origin.right) if answer is not None]
    return places[-1] if places else len(trace.origin.right) - 1


def _looking(trace: Trace, layer: Layer, place: int) -> tuple[int, int]:
    """The query and the key that the attention of a layer is about."""
    if trace.origin.looks:
        return trace.origin.looks[layer.number - 1]
    right, keys = trace.origin.right[place], trace.labels["key"]
    if layer.number == trace.n_layers and right in keys:
        return place, keys.index(right)
    return place, int(layer.trace["attention"].value[0, place].argmax())
