"""Bands: what stands on the sheet of one word, step by step. Each follows from a stage and what it reads.

A band is rows under the words: the row of a stage, which the selected query has; or a matrix, with a column at its
left whose numbers its rows are multiplied by, or at its right, which its rows add up to. Stages that hold one number
for each key are rows, whatever computes them: a new operation between the scores and the softmax is one, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attnviz.contract.steps import Band, Matrix
from attnviz.core.stage import Stage, split_layer
from attnviz.core.trace import Trace
from attnviz.explain.bands import sentence
from attnviz.explain.step import Step
from attnviz.explain.steps import ENTERING, entry
from attnviz.explain.steps.scaling import is_unscaled
from attnviz.explain.steps.tokens import TOKENS
from attnviz.explain.views.band import (
    column,
    compared_by,
    contributed,
    follows_its_factors,
    is_norm,
    is_output,
    is_product,
    is_query_or_key,
    joins,
    line,
    multiplied,
    normed,
    turned,
)
from attnviz.explain.views.sources import first_query, query_latent


def bands(trace: Trace, step: Step) -> tuple[Band, ...]:
    """The bands that a step adds to the sheet; a step that would add nothing to see has none."""
    if step.id == TOKENS.id:
        return first_query(trace)
    if step.id in {entering.id for entering in ENTERING} or _is_of_sources(step):
        return ()
    return tuple(band for name in step.stages for band in _bands(trace, step, trace[name]))


def page(trace: Trace, step: Step, of_step: Sequence[Band]) -> str:
    """The page of the sheet for the bands of a step: that of a layer's words, or of what comes of them.

    Before them the first query has one, and the latents that queries, and that keys and values come from in each layer:
    pages that begin with "query" are not put on paper.

    Of an MLP the neurons have a page of their own, and so has what they write, and the answer after it.
    """
    if step.id == TOKENS.id:
        return "query-1"
    layer = trace.layers[step.layer - 1].number
    names = {split_layer(name)[0] for name in step.stages}
    if names & _OF_QUERY_LATENT:
        return f"query-{layer}"
    if "latent" in names:
        return f"query-latents-{layer}"
    if names & _OF_NEURONS:
        return f"neurons-{layer}"
    if names & _OF_MLP:
        return f"mlp-{layer}"
    if "logits" in names and "mlp" in trace.layers[-1].trace:
        return f"answer-{layer}"
    is_of_words = bool(of_step) and all(_columns(trace, band.cells) == "key" and not _by_head(band) for band in of_step)
    return f"{'words' if is_of_words else 'join'}-{layer}"


_OF_QUERY_LATENT = {"q_compressed", "q_latent"}
_OF_NEURONS, _OF_MLP = {"mlp_norm", "hidden", "active"}, {"mlp", "mlp_residual"}


def _is_of_sources(step: Step) -> bool:
    """Whether what a step shows stands where queries, keys and values are from: the norm before them."""
    return {split_layer(name)[0] for name in step.stages} == {"attn_norm"}


def _bands(trace: Trace, step: Step, stage: Stage) -> Iterator[Band]:
    base, _ = split_layer(stage.name)
    if comparison := compared_by(trace, stage):
        yield _compared(trace, comparison)
    elif base == "q_compressed":
        yield from query_latent(trace, stage)
    elif base == "latent":
        yield Band(sentence(trace, stage.name, "latent of each"), entry(stage.name).title, turned(stage))
    elif (
        base in ("v", "q_latent")
        or is_query_or_key(trace, stage)
        or (base == "scaled" and is_unscaled(trace.layer_of(stage.name).trace))
    ):
        return  # under the shares; with its source; beside the keys, or where these are from; the scores as they are
    elif base == "concat":
        yield from _side_by_side(trace, stage)
    elif base == "contributions":
        yield from contributed(trace, stage)
    elif is_product(stage) and _reads_shares(trace, stage):
        yield _mixed(trace, stage)
    elif stage.axes[-3:-1] == ("query", "key"):
        yield Band(sentence(trace, stage.name), entry(stage.name).one, Matrix(stage.name, None, len(stage.axes) - 2))
    elif stage.axes[-2] in ("query", "token"):
        yield from _row(trace, step, stage)


def _compared(trace: Trace, comparison: Stage) -> Band:
    """Each key under its word, with the query at the left."""
    query, keys = trace.inputs(comparison.name)[:2]
    text = sentence(trace, keys.name, _shows(keys, comparison), scores=comparison.name)
    return Band(text, entry(keys.name).title, turned(keys), left=column(query))


def _shows(keys: Stage, comparison: Stage) -> str:
    base, scores = split_layer(keys.name)[0], split_layer(comparison.name)[0]
    if scores != "scores":
        return f"{base} in {scores}"
    return base if base == "k" else f"{base} compared"


def _row(trace: Trace, step: Step, stage: Stage) -> Iterator[Band]:
    """The row of a stage that the selected query has, after what it is computed from, where that is not there yet."""
    is_summed = is_product(stage) and not (joins(trace, stage) and is_output(stage))
    if is_summed and stage.axes[-1] != "key":
        left, matrix = trace.inputs(stage.name)[:2]
        yield multiplied(trace, matrix, left, stage)
    is_added_up = is_summed and follows_its_factors(trace, stage)
    slots = {}
    if is_norm(stage):
        yield from normed(trace, stage)
        return
    if split_layer(stage.name)[0] in ("residual", "mlp_residual"):
        slots = dict(zip(("left", "right"), stage.inputs, strict=True))
        yield Band([], "what came in", line(trace[stage.inputs[0]]))
    for bar in step.bars:
        if bar.stage == stage.name and bar.array:
            yield Band(
                sentence(trace, stage.name, bar.array),
                "exp(score − max)",
                line(stage, sums=len(stage.inputs) == 1),
                array=bar.array,
            )
    sums = entry(stage.name).scale == "share"
    yield Band(
        sentence(trace, stage.name, **slots),
        _label(stage),
        line(stage, sums=sums),
        leftover=_sink_share(trace, stage),
        factors=is_added_up,
    )


def _sink_share(trace: Trace, stage: Stage) -> Matrix | None:
    """The sink's share of a row of attention, if there is one."""
    base, _ = split_layer(stage.name)
    taken = trace.layer_of(stage.name).names.get("sink_share") if base == "attention" else None
    return Matrix(taken, None, None) if taken else None


def _mixed(trace: Trace, stage: Stage) -> Band:
    """Each value under its word, with what they add up to at the right."""
    values = trace[stage.inputs[1]]
    text = sentence(trace, values.name, f"{split_layer(values.name)[0]} collected")
    return Band(text, entry(values.name).title, turned(values), right=column(stage))


def _side_by_side(trace: Trace, stage: Stage) -> Iterator[Band]:
    """The shares of each head, with what it found at the right; one head is seen already."""
    if joins(trace, stage):
        layer = trace.layer_of(stage.name)
        heads, shares = trace[stage.inputs[0]], trace[layer.names["attention"]]
        yield Band(
            sentence(trace, stage.name),
            entry(shares.name).title,
            Matrix(shares.name, 0, 2),
            right=Matrix(heads.name, 0, 2),
        )


def _reads_shares(trace: Trace, stage: Stage) -> bool:
    return trace[stage.inputs[0]].axes[-1] == "key"


def _label(stage: Stage) -> str:
    """The operation on the row before, where a sign says it; else the row's label, or its title."""
    signs = [operand.after for operand in stage.operation.operands] if not stage.is_given else []
    return next(filter(None, signs), entry(stage.name).label or entry(stage.name).title)


def _columns(trace: Trace, slot: Matrix) -> str:
    return trace[slot.stage].axes[slot.columns]


def _by_head(band: Band) -> bool:
    return band.right is not None and band.right.columns is not None
