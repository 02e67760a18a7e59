"""Mistakes with matrices and biases, and with heads: how they are split, grouped, ordered and joined."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import permutations

import numpy as np

from attnviz.checks.causes.cause import (
    JOINED,
    ROWS,
    WRONG_AXES,
    Cause,
    Causes,
    Change,
    MistakeContext,
    alone_and_together,
    change,
    each_and_all,
    joined,
    n_copies,
    n_groups,
    split,
    symbols,
)
from attnviz.checks.passes.nodes import Change as ChangeArray
from attnviz.checks.passes.nodes import Node
from attnviz.checks.read.decode_steps import CACHE_STAGES
from attnviz.checks.read.labels import SYMBOLS
from attnviz.checks.read.rounding import Precision, Rounded
from attnviz.core.operations.linear import DotProducts, Projection, WeightedSum
from attnviz.core.parameters import split_heads
from attnviz.explain.wording import listed

CAUSES = Causes()

# --- Matrices and biases

_PROJECTED = "{product} = {factor} @ w_{part}.T + b_{part}"
# Product and factor of each matrix that doesn't make q, k or v from x
_PRODUCTS = {"o": ("out", "concat"), "hidden": ("hidden", "x"), "mlp": ("out", "hidden")}
_TOGETHER = (("q", "k", "v"), ("q", "k", "v", "output"))


def of_parameters(names: Sequence[str]) -> dict[str, str]:
    """The slots of a cause with parameters: their symbols, and the product of the first."""
    part = names[0].partition("_")[2]
    product, factor = _PRODUCTS.get(part, (part, "x"))
    return {"names": symbols(names), "part": part, "product": product, "factor": factor}


@CAUSES.add("{names} used transposed", "{product} = {factor} @ w_{part}", "{product} = {factor} @ w_{part}.T")
def transposed(context: MistakeContext) -> Iterator[Change]:
    def transposed_whole(w: np.ndarray) -> np.ndarray:
        return w.T if w.ndim == 2 else split_heads(joined(w).T, len(w))

    matrices = context.matrices("q", "k", "v", "output", "hidden", "mlp")
    square = {stage: w for stage, w in matrices.items() if context.trace[w].size == context.trace[w].shape[-2] ** 2}
    return _with_parameters(context, square, lambda node, w: node.with_input(w, transposed_whole))


@CAUSES.add(
    "{names} were exchanged",
    "{letter}, {other} = x @ w_{other}.T, x @ w_{letter}.T",
    "{letter}, {other} = x @ w_{letter}.T, x @ w_{other}.T",
)
def matrices_swapped(context: MistakeContext) -> Iterator[Change]:
    nodes, made = context.nodes, context.matrices("q", "k", "v")
    for one, other in (("q", "k"), ("k", "v"), ("q", "v")):
        of_one_input = {one, other} <= {*made} and nodes[one].inputs[0] == nodes[other].inputs[0]
        if of_one_input and _are_alike(context, one, other):
            names = listed([SYMBOLS[made[one]], SYMBOLS[made[other]]])
            yield change({one: nodes[other], other: nodes[one]}, names=names, letter=one, other=other)


def _are_alike(context: MistakeContext, one: str, other: str) -> bool:
    return context.trace[one].shape == context.trace[other].shape


@CAUSES.add(
    "the {rows} were made with {wrong}, not with {right}", "{letter} = x @ w_{other}.T", "{letter} = x @ w_{letter}.T"
)
def matrix_of_another_projection(context: MistakeContext) -> Iterator[Change]:
    """For example values computed with W_K, and either bias."""
    nodes, made = context.nodes, context.matrices("q", "k", "v")
    for one, other in permutations(made, 2):
        mine, (x, *theirs) = nodes[one], nodes[other].inputs
        own = [each for each in mine.inputs if each not in CACHE_STAGES]
        theirs = [each for each in theirs if each not in CACHE_STAGES]
        if own[0] == x and len(own) == 1 + len(theirs) and _are_alike(context, one, other):
            for n in range(len(theirs), 0, -1):
                wrong, right = (listed([SYMBOLS[each] for each in names[:n]]) for names in (theirs, own[1:]))
                node = Node((x, *theirs[:n], *mine.inputs[1 + n :]), mine.make)
                yield change({one: node}, rows=ROWS[one], wrong=wrong, right=right, letter=one, other=other)


def _has_square_heads(context: MistakeContext, stage: str) -> bool:
    shape = context.trace[stage].shape
    return shape[-1] == shape[-2] > 1


@CAUSES.add(
    "queries and keys were exchanged in the scores, which are transposed",
    "scores = k @ q.transpose(-2, -1)",
    "scores = q @ k.transpose(-2, -1)",
)
def q_and_k_swapped(context: MistakeContext) -> Iterator[Change]:
    if context.computes("scores") and _has_square_heads(context, "scores"):
        yield change({"scores": context.nodes["scores"].then(np.matrix_transpose)})


@CAUSES.add(
    "the attention was transposed before it was multiplied by V",
    "heads = attention.transpose(-2, -1) @ v",
    "heads = attention @ v",
)
def attention_transposed(context: MistakeContext) -> Iterator[Change]:
    if context.computes("heads") and _has_square_heads(context, "attention"):
        heads = context.nodes["heads"]
        yield change({"heads": heads.with_input(heads.inputs[0], np.matrix_transpose)})


@CAUSES.add("the attention was multiplied by K, not by V", "heads = attention @ k", "heads = attention @ v")
def keys_used_as_values(context: MistakeContext) -> Iterator[Change]:
    if context.computes("heads") and "k" in context.nodes:
        heads, read = context.nodes["heads"], context.trace["heads"].inputs[1]  # `v` may be a node of misread values
        if context.trace["k"].shape == context.trace[read].shape:
            yield change({"heads": Node((heads.inputs[0], "k"), heads.make)})


def _biases(context: MistakeContext, changed: Callable[[Node, str], Node]) -> Iterator[Change]:
    unchanged = [stage for stage in context.trace.stages if context.computes_unchanged(stage.name)]
    biases = {stage.name: name for stage in unchanged for name in stage.inputs if name.startswith("b_")}
    return _with_parameters(context, biases, changed)


def _with_parameters(
    context: MistakeContext, read: Mapping[str, str], changed: Callable[[Node, str], Node]
) -> Iterator[Change]:
    """The parameters that stages read, changed alone and together."""
    nodes = {stage: changed(context.nodes[stage], name) for stage, name in read.items()}
    for stages in each_and_all([*read], *_TOGETHER):
        yield change({each: nodes[each] for each in stages}, **of_parameters([read[each] for each in stages]))


@CAUSES.add("{names} not added", "{product} = {factor} @ w_{part}.T", _PROJECTED)
def bias_forgotten(context: MistakeContext) -> Iterator[Change]:
    return _biases(context, Node.without_input)


@CAUSES.add("{names} added twice", f"{_PROJECTED} + b_{{part}}", _PROJECTED)
def bias_added_twice(context: MistakeContext) -> Iterator[Change]:
    return _biases(context, lambda node, bias: node.with_input(bias, lambda array: 2 * array))


_FUSED_SPLITS = {  # keyed by how a fused matrix is laid out
    "all of Q, then all of K and V": "q, k, v = (x @ w_qkv.T).chunk(3, dim=-1)",
    "Q, K and V of each head in turn": "q, k, v = (x @ w_qkv.T).view(n, t, n_heads, 3, d_k).unbind(dim=-2)",
    "the queries of each group and then its K and V": (
        "q, k, v = (x @ w_qkv.T).view(n, t, n_groups, -1, d_k).split([n_heads // n_groups, 1, 1], dim=-2)"
    ),
    "all of Q, then K and V of each head in turn": (
        "q, kv = (x @ w_qkv.T).split([d_model, 2 * d_model], dim=-1); "
        "k, v = kv.view(n, t, n_heads, 2, d_k).unbind(dim=-2)"
    ),
}
_Blocks = list[tuple[str, int]]  # blocks of columns in a fused matrix: such as ("q", 0), the queries of the first head


@CAUSES.add("the fused matrix, which holds {holds}, was cut as if it held {held}", "{wrong_split}", "{right_split}")
def fused_matrix_split_wrongly(context: MistakeContext) -> Iterator[Change]:
    matrices = context.matrices("q", "k", "v")
    shapes = [context.trace[w].shape for w in matrices.values()]
    inputs = [context.trace[each].inputs for each in matrices]
    have_one_input = len({(x, len(rest)) for x, *rest in inputs}) == 1 and len({shape[1:] for shape in shapes}) == 1
    if len(matrices) < 3 or not have_one_input or not all(map(context.computes_unchanged, matrices)):
        return
    n_heads, n_groups, n_of_values = (shape[0] for shape in shapes)
    if n_groups != n_of_values or n_heads % n_groups:
        return
    for (holds, blocks), (held, taken) in permutations(_fused_orders(n_heads, n_groups).items(), 2):
        if blocks != taken:
            read_as = dict(zip(taken, blocks, strict=True))
            nodes = {each: _from_blocks(context, [read_as[b] for b in blocks if b[0] == each]) for each in matrices}
            splits = {"wrong_split": _FUSED_SPLITS[held], "right_split": _FUSED_SPLITS[holds]}
            yield change(nodes, holds=holds, held=held, **splits)


def _fused_orders(n_heads: int, n_groups: int) -> dict[str, _Blocks]:
    """The orders of blocks in a fused matrix, by what it holds."""
    in_three, by_heads, by_groups, q_then_kv = _FUSED_SPLITS
    of_group = np.arange(n_heads).reshape(n_groups, -1).tolist()
    queries = [("q", head) for head in range(n_heads)]
    return {
        in_three: [*queries, *((each, group) for each in "kv" for group in range(n_groups))],
        by_heads if n_heads == n_groups else by_groups: [
            block
            for group, heads in enumerate(of_group)
            for block in (*(queries[head] for head in heads), ("k", group), ("v", group))
        ],
        q_then_kv: [*queries, *((each, group) for group in range(n_groups) for each in "kv")],
    }


def _from_blocks(context: MistakeContext, blocks: _Blocks) -> Node:
    """The projection with the blocks that a wrong split assigns to it."""
    nodes = {each: context.nodes[each] for each, _ in blocks}
    inputs = tuple(dict.fromkeys(name for node in nodes.values() for name in node.inputs))

    def project(values: Sequence[Rounded], precision: Precision) -> Rounded:
        arrays = dict(zip(inputs, values, strict=True))
        made = {each: node.evaluate([arrays[name] for name in node.inputs], precision) for each, node in nodes.items()}
        value = np.stack([made[each].value[at] for each, at in blocks])
        return Rounded(value, np.stack([made[each].error[at] for each, at in blocks]))

    return Node(inputs, project)


# --- Heads

_SPLIT = "{letter} = {letter}.view(n, t, n_heads, d_k).transpose(1, 2)"


# found by permuting the arrays themselves, in `axis_orders`
CAUSES[WRONG_AXES] = Cause("the axes of {array} are {theirs}; expected ({expected})", "", "")


@CAUSES.add(
    "{names} tiled, where each group belongs to heads in a row",
    "{letter} = {letter}.repeat(1, n_heads // n_groups, 1, 1)",
    "{letter} = {letter}.repeat_interleave(n_heads // n_groups, dim=1)",
)
def groups_tiled(context: MistakeContext) -> Iterator[Change]:
    """Groups of keys and values tiled (0, 1, 0, 1) instead of repeated (0, 0, 1, 1)."""
    heads, groups = context.sizes["h"], n_groups(context)

    def tiled(array: np.ndarray) -> np.ndarray:
        once = array if len(array) == groups else array[:: heads // groups]
        return np.concatenate([once] * (heads // groups))

    nodes = {}
    for stage, operation in (("scores", DotProducts()), ("heads", WeightedSum())) if 1 < groups < heads else ():
        if context.made_by(type(operation), stage):
            node = context.computed(stage, operation)
            nodes[stage] = node.with_input(node.inputs[1], tiled)
    for stages in each_and_all([*nodes], ("scores", "heads")):
        names = ["k" if each == "scores" else "v" for each in stages]
        yield change({each: nodes[each] for each in stages}, names=symbols(names), letter=names[0])


def _splits(context: MistakeContext, wrong: ChangeArray) -> Iterator[Change]:
    """Queries, keys and values split wrongly into heads, or groups of heads that share them."""
    if context.sizes["h"] == 1:
        return

    def shared_split(n: int, array: np.ndarray) -> np.ndarray:
        return np.repeat(wrong(array[::n]), n, axis=0) if n > 1 else wrong(array)

    yield from alone_and_together(
        context.made_by(Projection, "q", "k", "v"),
        lambda each: context.nodes[each].then(partial(shared_split, n_copies(context, each))),
    )


@CAUSES.add("{names} cut into heads without transposing{too}", "{letter} = {letter}.view(n, n_heads, t, d_k)", _SPLIT)
def heads_split_without_transposing(context: MistakeContext) -> Iterator[Change]:
    """Code that splits heads this way often joins them the same way."""
    splits = [*_splits(context, lambda heads: joined(heads).reshape(heads.shape))]
    yield from (change(nodes, **slots, too="") for nodes, slots in splits)
    for nodes, slots in splits[-1:]:
        for join, _ in heads_joined_without_transposing(context):
            yield change({**nodes, **join}, **slots, too=", and joined so, too")


@CAUSES.add(
    "{names} cut into heads that take turns, one dimension each",
    "{letter} = {letter}.view(n, t, d_k, n_heads).permute(0, 3, 1, 2)",
    _SPLIT,
)
def heads_interleaved(context: MistakeContext) -> Iterator[Change]:
    return _splits(context, lambda heads: joined(heads).reshape(*heads.shape[1:], len(heads)).transpose(2, 0, 1))


@CAUSES.add("the heads were joined without transposing", "out = heads.reshape(n, t, d_model)", JOINED)
def heads_joined_without_transposing(context: MistakeContext) -> Iterator[Change]:
    return _joins(context, lambda heads: heads)


@CAUSES.add(
    "the heads were joined so that they take turns, one dimension each",
    "out = heads.permute(0, 2, 3, 1).reshape(n, t, d_model)",
    JOINED,
)
def heads_joined_in_another_order(context: MistakeContext) -> Iterator[Change]:
    return _joins(context, lambda heads: heads.transpose(1, 2, 0))


def _joins(context: MistakeContext, order: ChangeArray) -> Iterator[Change]:
    """Heads joined wrongly, by the order of their numbers alone."""
    if (n_heads := context.sizes["h"]) > 1 and context.computes("concat"):
        yield change({"concat": context.nodes["concat"].then(lambda x: order(split(x, n_heads)).reshape(x.shape))})


_MOST_COMPARED = 2**20  # numbers per pair of heads, over all heads
_SPLIT_STAGES = ("q", "k", "v", "scores", "scaled", "masked", "attention", "heads")


@CAUSES.add("the heads were in another order: {order}", "heads = heads[:, order]", "heads = heads")
def heads_in_another_order(context: MistakeContext) -> Iterator[Change]:
    """The permutation of heads that matches theirs to ours, if there is one."""
    first = context.first_difference
    pair = first.pair if first and first.stage in _SPLIT_STAGES and context.computes(first.stage) else None
    if not first or not pair or pair[0].ndim != 3 or len(pair[0]) < 2 or context.sizes["h"] == 1:
        return
    n, size = len(pair[0]), pair[0].size
    some = slice(None, None, n * size // _MOST_COMPARED | 1)  # an odd step leaves no column out
    theirs, ours = (np.nan_to_num(each.reshape(n, -1)[:, some]) for each in pair)
    with np.errstate(invalid="ignore"):
        order = np.abs(theirs[:, None] - ours[None]).max(axis=-1).argmin(axis=1)
    if len({*order.tolist()}) < n or (order == np.arange(n)).all():
        return
    projections = [each for each in "qkv" if context.computes(each) and context.trace[each].shape[0] == n]
    for stages in each_and_all((first.stage,), tuple(projections) if first.stage in projections else ()):
        nodes = {each: context.nodes[each].then(lambda array: array[order]) for each in stages}
        yield change(nodes, order=listed([str(each + 1) for each in order]))
