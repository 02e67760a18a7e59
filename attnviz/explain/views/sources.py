"""Sources: where the queries, keys, values and outputs on the sheet of one word are from, in bands of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from attnviz.contract.steps import Band, Source
from attnviz.core.stage import Stage, split_layer
from attnviz.core.trace import Trace
from attnviz.explain.bands import sentence
from attnviz.explain.step import Step
from attnviz.explain.steps import entry
from attnviz.explain.views.band import (
    comparisons,
    contributed,
    is_norm,
    is_output,
    is_product,
    joins,
    line,
    multiplied,
    normed,
)
from attnviz.explain.vocabulary import symbol


def sources(trace: Trace, step: Step) -> tuple[Source, ...]:
    """Where the queries, keys and values of a step are from, and the output of several heads.

    Nothing of those that no matrix makes.
    """
    names = trace.layers[step.layer - 1].names
    made = (
        [trace[names[name]] for name in _ONE if name in names] if _first_compared(trace, names) in step.stages else []
    )
    joined = [trace[name] for name in step.stages if is_output(trace[name]) and joins(trace, trace[name])]
    return (
        *(_source(trace, stage) for stage in made if is_product(stage)),
        *(_join(trace, stage) for stage in joined if is_product(stage)),
    )


def formula(trace: Trace, stage: Stage) -> str:
    """The formula of a stage, in symbols."""
    return stage.operation.latex(*map(symbol, (stage, *trace.inputs(stage.name))))


def first_query(trace: Trace) -> tuple[Band, ...]:
    """The source of the first layer's query, the word's embedding, where a matrix makes it; or of its latent."""
    names = trace.layers[0].names
    query = trace[names.get("q_compressed", names["q"])]
    bands = _source(trace, query).bands if is_product(query) else ()
    is_latent = "q_compressed" in names
    return bands[: [band.factors for band in bands].index(True) + 1] if is_latent else bands


def query_latent(trace: Trace, stage: Stage) -> tuple[Band, ...]:
    """The source of the latent that queries come from, but for what the first page has of it already."""
    return tuple(band for band in _source(trace, stage).bands if band not in first_query(trace))


def _join(trace: Trace, output: Stage) -> Source:
    """The source of the output: what the heads found, side by side, times the output parameters; and the sum."""
    layer = trace.layer_of(output.name)
    concat, w_o = trace.inputs(output.name)[:2]
    return Source(
        entry(w_o.name).title.lower(),
        "query",
        sentence(trace, output.name, "output from"),
        formula(trace, output),
        (
            replace(
                multiplied(trace, w_o, concat, output),
                sentence=sentence(trace, w_o.name, "w_o of heads", sum=output.name),
            ),
            *contributed(trace, trace[layer.names["contributions"]]),
            Band(sentence(trace, output.name), entry(output.name).title, line(output)),
        ),
    )


def _source(trace: Trace, stage: Stage) -> Source:
    base, _ = split_layer(stage.name)
    enters, matrix, *bias = trace.inputs(stage.name)
    is_sum = not (enters.is_given or len(enters.inputs) < 2 or split_layer(enters.name)[0] != "x" or is_norm(enters))
    added = enters.inputs if is_sum else []
    bands = (
        *(_norm_alone(trace, enters) if is_norm(enters) else ()),
        *(Band([], entry(name).title, line(trace[name])) for name in added),
        *((Band([], entry(enters.name).title, line(enters)),) if added else ()),
        multiplied(trace, matrix, enters, stage),
        *(Band([], entry(each.name).title, line(each)) for each in bias),
        Band(sentence(trace, stage.name, f"{base} sum"), entry(stage.name).title, line(stage), factors=True),
        *(band for each in _before_scores(trace, stage) for band in _changed(trace, each)),
    )
    word = stage.axes[-2]
    return Source(_ONE[base], word, sentence(trace, stage.name, f"{base} from"), formula(trace, stage), bands)


_ONE = {
    "q_compressed": "query latent",
    "compressed": "latent",
    "q": "query",
    "k": "key",
    "v": "value",
    "q_r": "position query",
    "k_r": "position key",
}


def _first_compared(trace: Trace, names: Mapping[str, str]) -> str | None:
    """The stage after which the first comparison of a layer can be made."""
    parts, order = comparisons(trace, trace[names["attention"]]), list(trace.keys()).index
    return min((max(each.inputs, key=order) for each in parts), key=order, default=None)


def _before_scores(trace: Trace, stage: Stage) -> Iterator[Stage]:
    """The stages between the queries or keys and their dot products, in order."""
    for each in trace:
        if each.axes[:2] == stage.axes[:2] and each.axes[-1] != "key" and stage.name in each.inputs[:1]:
            yield each
            yield from _before_scores(trace, each)


def _changed(trace: Trace, stage: Stage) -> Iterator[Band]:
    """The row of a query or key after an operation on it."""
    if is_norm(stage):
        _, *bands = normed(trace, stage)
        yield from bands
    elif is_product(stage):
        left, matrix = trace.inputs(stage.name)
        yield multiplied(trace, matrix, left, stage)
        yield Band(
            sentence(trace, stage.name, f"{split_layer(stage.name)[0]} sum"),
            entry(stage.name).title,
            line(stage),
            factors=True,
        )
    else:
        yield Band(
            sentence(trace, stage.name, f"{split_layer(stage.name)[0]} row"), entry(stage.name).title, line(stage)
        )


def _norm_alone(trace: Trace, stage: Stage) -> Iterator[Band]:
    """The bands of a norm, without sentences."""
    return (replace(band, sentence=[]) for band in normed(trace, stage))
