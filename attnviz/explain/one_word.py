"""The One word view: the bands of each step, with their sentences, and where queries, keys and values are from.

A band is rows under the words: the row of a stage, which the selected query has; or a matrix, with a column at its
left whose numbers its rows are multiplied by, or at its right, which its rows add up to. Each follows from a stage and
what it reads, so a new operation between the scores and the softmax has a band, too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from attnviz.contract.stages import Band, Matrix, Source
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.stage import Stage, split_layer
from attnviz.core.trace import Layer, Trace
from attnviz.explain.step import ShownStep
from attnviz.explain.steps import BAND_TEXTS, INPUT_STEPS, base_id, entry, stories_of, symbol, title_in
from attnviz.explain.steps.scaling import is_unscaled, scale_in_words
from attnviz.explain.steps.tokens import TOKENS
from attnviz.explain.story import Story, selection_story, several_heads
from attnviz.explain.styled_text import Runs, runs
from attnviz.explain.texts import crosses, key_noun, worded

_WORD, _KEY, _HEAD = Story("{query}"), Story("{key}"), Story("{head}")


def sentence(trace: Trace, name: str, shows: str = "", **slots: str) -> Runs:
    """The sentence beside the band of a stage; the stage's own stories if no step has one.

    `shows` is what is shown instead of the stage: an array of its rule, a sum, its sources. `slots` are the stages of
    further slots in its stories: `sum` is what a matrix's products add up to.
    """
    layer = trace.layer_of(name)
    names = layer.names | slots
    base, _ = split_layer(name)
    keys = (shows, f"{base} of {type(trace[name].operation).__name__}", base)
    text, stories = next((BAND_TEXTS[key] for key in keys if key in BAND_TEXTS), ("{story}", ()))
    text = worded(layer.trace, text)
    stories = [
        dataclasses.replace(story, text=worded(layer.trace, story.text)).renamed(names)
        for story in stories
        if story.of(layer.trace)
    ] or stories_of(trace, name)
    unit = key_noun(layer.trace) if crosses(layer.trace) else trace.origin.unit
    filled = {"{unit}": unit, "{scaling}": scale_in_words(layer.trace) if base == "scaled" else ""}
    for slot, words in filled.items():
        text = text.replace(slot, words)
        stories = [dataclasses.replace(each, text=each.text.replace(slot, words)) for each in stories]
    word, key, head = (selection_story(story, of=names["attention"]) for story in (_WORD, _KEY, _HEAD))
    of = layer.names["heads"] if base == "concat" else name  # `concat` copies these numbers side by side
    return runs(text, word=word, key=key, head=head, story=selection_story(*stories, of=of))


def marks(stage: Stage) -> str:
    """The sentence that replaces a band's if something set numbers of the stage; else empty."""
    if not stage.overridden_by:
        return ""
    return f"{'These numbers are' if stage.is_overridden_whole else 'What is marked is'} {stage.overridden_by}."


def norm_bands(trace: Trace, stage: Stage) -> Iterator[Band]:
    """The row before the norm, its squares with their sum, and the row after."""
    read, kind = stage.inputs[0], type(stage.operation).__name__
    yield _row_band(trace, trace[read], [])
    if kind == "RMSNorm":
        squares, after = sentence(trace, stage.name, "#square"), ""
    else:
        squares, after = sentence(trace, stage.name, f"#square of {kind}"), kind
    yield Band(squares, "squares", row_matrix(stage, sums=True), array="#square")
    yield _row_band(trace, stage, sentence(trace, stage.name, after, left=read))


def product_band(trace: Trace, matrix: Stage, left: Stage, result: Stage) -> Band:
    """A matrix of parameters, with the numbers that its rows are multiplied by."""
    rows, columns = len(matrix.axes) - 2, len(matrix.axes) - 1
    if result.operation.operands[1].transposed:
        rows, columns = columns, rows
    times = f"{split_layer(matrix.name)[0]} times {split_layer(left.name)[0]}"
    text = sentence(trace, matrix.name, times, sum=result.name)
    return Band(text, entry(matrix.name).title, Matrix(matrix.name, rows, columns), left=column_matrix(left))


def contribution_bands(trace: Trace, stage: Stage) -> Iterator[Band]:
    """Each head's contribution to the output, and the bias."""
    if not has_several_heads(trace, stage):
        return
    yield Band(sentence(trace, stage.name), entry(stage.name).title, Matrix(stage.name, 0, 2))
    if bias := trace.layer_of(stage.name).names.get("b_o"):
        yield Band([], entry(bias).title, Matrix(bias, None, 0))


def has_several_heads(trace: Trace, stage: Stage) -> bool:
    """Whether the stage's layer has several heads."""
    return several_heads(trace.layer_of(stage.name).trace)


def dot_products_of(trace: Trace, stage: Stage) -> list[Stage]:
    """The dot products of queries and keys in the stage's layer: the scores, or those of their two parts."""
    layer = trace.layer_of(stage.name)
    scores = layer.names.get("scores")
    if scores is None:
        return []
    return [trace[scores]] if is_product(trace[scores]) else list(trace.inputs(scores))


def follows_its_factors(trace: Trace, stage: Stage) -> bool:
    """Whether the row of a product comes right after the band with its factors."""
    parts = dot_products_of(trace, stage)
    if stage not in parts or len(parts) == 1:
        return True
    order = list(trace.keys()).index
    first = min(parts, key=lambda part: order(part.name))
    last = max(parts, key=lambda part: max(map(order, part.inputs)))
    return stage is first is last


def comparison_after(trace: Trace, stage: Stage) -> Stage | None:
    """The comparison whose last input is this stage."""
    order = list(trace.keys()).index
    comparisons = dot_products_of(trace, stage)
    return next((each for each in comparisons if max(each.inputs, key=order) == stage.name), None)


def is_query_or_key(trace: Trace, stage: Stage) -> bool:
    """Whether a stage is queries or keys, compared as they are or after further stages."""
    compared = [each for scores in dot_products_of(trace, stage) for each in trace.inputs(scores.name)[:2]]
    while compared and stage not in compared:
        inputs = [(after, before) for after in compared for before in trace.inputs(after.name)[:1]]
        compared = [before for after, before in inputs if before.axes[:2] == after.axes[:2]]
    return bool(compared)


def is_product(stage: Stage) -> bool:
    """Whether a stage is a matrix product."""
    return not stage.is_given and {"row", "column"} <= {operand.reads for operand in stage.operation.operands}


def is_norm(stage: Stage) -> bool:
    """Whether a stage is the result of a norm."""
    return isinstance(stage.operation, RMSNorm | LayerNorm)


def is_output(stage: Stage) -> bool:
    """Whether a stage is the output of a layer."""
    return split_layer(stage.name)[0] == "output"


def _row_band(trace: Trace, stage: Stage, text: Runs, **more: object) -> Band:
    return Band(text, title_in(trace, stage.name), row_matrix(stage), **more)


def row_matrix(stage: Stage, *, sums: bool = False) -> Matrix:
    """The row of a stage."""
    return Matrix(stage.name, None, len(stage.axes) - 1, sums=sums)


def column_matrix(stage: Stage) -> Matrix:
    """The row of a stage as a column."""
    return Matrix(stage.name, len(stage.axes) - 1, None)


def transposed_matrix(stage: Stage) -> Matrix:
    """The columns and rows of a stage."""
    return Matrix(stage.name, len(stage.axes) - 1, len(stage.axes) - 2)


def sources(trace: Trace, step: ShownStep) -> tuple[Source, ...]:
    """Where the queries, keys and values of a step come from, and the output of several heads. Only what a matrix makes
    has a source.
    """
    names = trace.layers[step.layer - 1].names
    found = []
    if _first_compared(trace, names) in step.stages:
        made = [trace[names[name]] for name in _NAMES if name in names]
        found = [_source(trace, stage) for stage in made if is_product(stage)]
    for stage in map(trace.__getitem__, step.stages):
        if is_output(stage) and has_several_heads(trace, stage) and is_product(stage):
            found.append(_source_of_output(trace, stage))
    return tuple(found)


def formula(trace: Trace, stage: Stage) -> str:
    """The formula of a stage, in symbols."""
    return stage.operation.latex(*map(symbol, (stage, *trace.inputs(stage.name))))


def input_bands(trace: Trace, layer: Layer) -> tuple[Band, ...]:
    """The bands of how a word's row is made: its embedding, plus its position, is the input of its first layer."""
    own = [name for name in ("embeddings", "positions", "embedded", "x") if name in layer.names]
    return tuple(band for name in own for band in _input_row(trace, trace[layer.names[name]], name))


def _input_row(trace: Trace, stage: Stage, own: str) -> Iterator[Band]:
    if is_norm(stage):
        _, *bands = norm_bands(trace, stage)  # the row before the norm is there already
        yield from bands
    else:
        short = {"embeddings": trace.origin.unit, "positions": "position"}.get(own, entry(own).title)
        yield Band(sentence(trace, stage.name, f"{own} of a word"), short, row_matrix(stage))


def query_latent_bands(trace: Trace, stage: Stage) -> tuple[Band, ...]:
    """The bands of how the query latent is made, without those of the step Tokens, which are on the same page."""
    entering = {(band.cells.stage, band.array) for band in input_bands(trace, trace.layers[0])}
    bands = _source(trace, stage).bands
    return tuple(band for band in bands if band.left or (band.cells.stage, band.array) not in entering)


def _source_of_output(trace: Trace, output: Stage) -> Source:
    contributions = trace[trace.layer_of(output.name).names["contributions"]]
    concat, w_o = trace.inputs(output.name)[:2]
    text = sentence(trace, w_o.name, "w_o of heads", sum=output.name)
    return Source(
        entry(w_o.name).title.lower(),
        "query",
        sentence(trace, output.name, "output from"),
        formula(trace, output),
        (
            replace(product_band(trace, w_o, concat, output), sentence=text),
            *contribution_bands(trace, contributions),
            _row_band(trace, output, sentence(trace, output.name)),
        ),
    )


def _source(trace: Trace, stage: Stage) -> Source:
    base, _ = split_layer(stage.name)
    enters, matrix, *bias = trace.inputs(stage.name)
    is_input = enters.name in ("x", "context") and trace.layer_of(stage.name).names.get("x") == enters.name
    is_sum = is_input and len(enters.inputs) > 1 and not is_norm(enters)
    added = enters.inputs if is_sum else []
    bands = (
        *(replace(band, sentence=[]) for band in (norm_bands(trace, enters) if is_norm(enters) else ())),
        *(_row_band(trace, trace[name], []) for name in added),
        *((_row_band(trace, enters, []),) if added else ()),
        product_band(trace, matrix, enters, stage),
        *(_row_band(trace, each, []) for each in bias),
        _row_band(trace, stage, sentence(trace, stage.name, f"{base} sum"), factors=True),
        *(band for each in _stages_before_scores(trace, stage) for band in _changed_row(trace, each)),
    )
    word = stage.axes[-2]
    return Source(_NAMES[base], word, sentence(trace, stage.name, f"{base} from"), formula(trace, stage), bands)


_NAMES = {
    "q_compressed": "query latent",
    "compressed": "latent",
    "q": "query",
    "k": "key",
    "v": "value",
    "q_r": "position query",
    "k_r": "position key",
}


def _first_compared(trace: Trace, names: Mapping[str, str]) -> str | None:
    parts, order = dot_products_of(trace, trace[names["attention"]]), list(trace.keys()).index
    return min((max(each.inputs, key=order) for each in parts), key=order, default=None)


def _stages_before_scores(trace: Trace, stage: Stage) -> Iterator[Stage]:
    """The stages between queries or keys and their dot products, in order."""
    for each in trace.stages:
        if each.axes[:2] == stage.axes[:2] and each.axes[-1] != "key" and stage.name in each.inputs[:1]:
            yield each
            yield from _stages_before_scores(trace, each)


def _changed_row(trace: Trace, stage: Stage) -> Iterator[Band]:
    if is_norm(stage):
        _, *bands = norm_bands(trace, stage)
        yield from bands
    elif is_product(stage):
        left, matrix = trace.inputs(stage.name)
        yield product_band(trace, matrix, left, stage)
        yield _row_band(trace, stage, sentence(trace, stage.name, f"{split_layer(stage.name)[0]} sum"), factors=True)
    else:
        yield _row_band(trace, stage, sentence(trace, stage.name, f"{split_layer(stage.name)[0]} row"))


def bands(trace: Trace, step: ShownStep) -> tuple[Band, ...]:
    """The bands that a step adds to the One word view, if any."""
    base = base_id(step.id)
    if base == TOKENS.id:
        return input_bands(trace, trace.layers[max(step.layer, 1) - 1])
    names = {split_layer(name)[0] for name in step.stages}
    if base in {entering.id for entering in INPUT_STEPS} or names == {"attn_norm"}:  # shown with the sources
        return ()
    return tuple(band for name in step.stages for band in _bands(trace, step, trace[name]))


def page(trace: Trace, step: ShownStep, of_step: Sequence[Band]) -> str:
    """The page of the One word view that has the bands of a step.

    A layer has one for its words and one for joining heads. Before them come pages for what enters and for latents:
    pages that begin with "query" are not printed. An MLP has pages for its neurons, its output and the answer after it.
    """
    if base_id(step.id) == TOKENS.id:
        return f"query-{max(step.layer, 1)}"
    layer = trace.layers[step.layer - 1].number
    names = {split_layer(name)[0] for name in step.stages}
    if names & _OF_QUERY_LATENT:
        return f"query-{layer}"
    if "latent" in names:
        return f"query-latents-{layer}"
    if names & _OF_NEURONS:
        return f"neurons-{layer}"
    if names & _OF_MLP or ("memory" in names and "mlp" in trace.layers[layer - 1].trace):
        return f"mlp-{layer}"
    if "logits" in names and "mlp" in trace.layers[-1].trace:
        return f"answer-{layer}"
    cells = [band.cells for band in of_step if band.right is None or band.right.columns is None]  # not by head
    has_words = cells and len(cells) == len(of_step) and all(trace[at.stage].axes[at.columns] == "key" for at in cells)
    return f"{'words' if has_words else 'join'}-{layer}"


_OF_QUERY_LATENT = {"q_compressed", "q_latent"}
_OF_NEURONS, _OF_MLP = {"mlp_norm", "hidden", "active"}, {"mlp", "mlp_residual"}


def _bands(trace: Trace, step: ShownStep, stage: Stage) -> Iterator[Band]:
    base, _ = split_layer(stage.name)
    if comparison := comparison_after(trace, stage):
        yield _comparison(trace, comparison)
    elif base == "q_compressed":
        yield from query_latent_bands(trace, stage)
    elif base == "latent":
        yield Band(sentence(trace, stage.name, "latent of each"), entry(stage.name).title, transposed_matrix(stage))
    elif (
        base in ("v", "q_latent")
        or is_query_or_key(trace, stage)
        or (base == "scaled" and is_unscaled(trace.layer_of(stage.name).trace))
    ):
        return  # shown below the attention weights, with its source, beside the keys, or as the scores
    elif base == "concat":
        yield from _side_by_side(trace, stage)
    elif base == "contributions":
        yield from contribution_bands(trace, stage)
    elif is_product(stage) and trace[stage.inputs[0]].axes[-1] == "key":
        yield _weighted_sum(trace, stage)
    elif stage.axes[-3:-1] == ("query", "key"):
        yield Band(sentence(trace, stage.name), entry(stage.name).one, Matrix(stage.name, None, len(stage.axes) - 2))
    elif stage.axes[-2] in ("query", "token", "context token"):
        yield from _row(trace, step, stage)


def _comparison(trace: Trace, comparison: Stage) -> Band:
    query, keys = trace.inputs(comparison.name)[:2]
    text = sentence(trace, keys.name, _shows(keys, comparison), scores=comparison.name)
    return Band(text, entry(keys.name).title, transposed_matrix(keys), left=column_matrix(query))


def _shows(keys: Stage, comparison: Stage) -> str:
    base, scores = split_layer(keys.name)[0], split_layer(comparison.name)[0]
    if scores != "scores":
        return f"{base} in {scores}"
    return base if base == "k" else f"{base} compared"


def _row(trace: Trace, step: ShownStep, stage: Stage) -> Iterator[Band]:
    """The selected query's row of a stage, after what it is computed from if that isn't shown yet."""
    is_summed = is_product(stage) and not (has_several_heads(trace, stage) and is_output(stage))
    if is_summed and stage.axes[-1] != "key":
        left, matrix = trace.inputs(stage.name)[:2]
        yield product_band(trace, matrix, left, stage)
    is_added_up = is_summed and follows_its_factors(trace, stage)
    slots = {}
    if is_norm(stage):
        before, *bands = norm_bands(trace, stage)
        yield from bands if stage.name == "memory" else (before, *bands)  # what it reads is the row above
        return
    if split_layer(stage.name)[0] in ("residual", "mlp_residual"):
        slots = dict(zip(("left", "right"), stage.inputs, strict=True))
        yield Band([], "what came in", row_matrix(trace[stage.inputs[0]]))
    for bar in step.bars:
        if bar.stage == stage.name and bar.array:
            text, row = sentence(trace, stage.name, bar.array), row_matrix(stage, sums=len(stage.inputs) == 1)
            yield Band(text, "exp(score − max)", row, array=bar.array)
    yield Band(
        sentence(trace, stage.name, **slots),
        _label(stage),
        row_matrix(stage, sums=entry(stage.name).scale == "share"),
        leftover=_sink_share(trace, stage),
        factors=is_added_up,
    )


def _sink_share(trace: Trace, stage: Stage) -> Matrix | None:
    base, _ = split_layer(stage.name)
    name = trace.layer_of(stage.name).names.get("sink_share") if base == "attention" else None
    return Matrix(name, None, None) if name else None


def _weighted_sum(trace: Trace, stage: Stage) -> Band:
    values = trace[stage.inputs[1]]
    text = sentence(trace, values.name, f"{split_layer(values.name)[0]} collected")
    return Band(text, entry(values.name).title, transposed_matrix(values), right=column_matrix(stage))


def _side_by_side(trace: Trace, stage: Stage) -> Iterator[Band]:
    """The attention weights of each of several heads, with its output on the right."""
    if not has_several_heads(trace, stage):
        return
    attention, heads = trace.layer_of(stage.name).names["attention"], stage.inputs[0]
    text = sentence(trace, stage.name)
    yield Band(text, entry(attention).title, Matrix(attention, 0, 2), right=Matrix(heads, 0, 2))


def _label(stage: Stage) -> str:
    """The sign of the operation on the row before, if it has one; else the row's label or title."""
    signs = [operand.after for operand in stage.operation.operands] if not stage.is_given else []
    return next(filter(None, signs), entry(stage.name).label or entry(stage.name).title)
