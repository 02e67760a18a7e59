"""Cause: a mistake as changed nodes of a pass and its wording; and the pass in which mistakes are looked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from attnviz.checks.passes.comparison import Agreement, PassComparison
from attnviz.checks.passes.fitted_scale import Fit
from attnviz.checks.passes.nodes import Node, Nodes
from attnviz.checks.read.decode_steps import AfterCache, after_cache, operation_of_new_rows
from attnviz.checks.read.labels import SYMBOLS, shortened
from attnviz.checks.read.layouts import Sizes
from attnviz.checks.read.masks import WrongMask, seen_in
from attnviz.checks.read.rounding import Rounded
from attnviz.core.operations.linear import Identity, Projection
from attnviz.core.operations.operation import Operation, Source
from attnviz.core.operations.scores import Hide
from attnviz.core.trace import Trace
from attnviz.explain.wording import listed

WRONG_AXES = "axes in another order"
ALONG_THE_BATCH = "attention along the batch axis"
MASK_OF_ANOTHER = "mask of another sentence"
ROWS = {"q": "queries", "k": "keys", "v": "values"}

# Right lines of code that several mistakes break
SCALED = "scores = q @ k.transpose(-2, -1) / d_k ** 0.5"
HIDDEN = "scores = scores.masked_fill(~mask, -torch.inf)"
SOFTMAX = "attention = scores.softmax(dim=-1)"
JOINED = "out = heads.transpose(1, 2).reshape(n, t, d_model)"

Slots = Mapping[str, str]
Change = tuple[Nodes, Slots]


@dataclass(frozen=True)
class Mistake:
    """One mistake: the first stage that it changes, the words for its cause's sentence, and the changed stages."""

    id: str  # such as "unscaled"
    stage: str
    slots: Slots
    nodes: Nodes


@dataclass(frozen=True, eq=False)
class MistakeContext:
    """The pass in which mistakes are looked for."""

    trace: Trace
    nodes: Nodes  # perhaps with earlier mistakes
    wrong_masks: Sequence[WrongMask]
    compared: set[str]  # the stages of the user's arrays
    sizes: Sizes
    first_difference: Agreement | None = None
    values: Mapping[str, Rounded] = field(default_factory=dict)

    @classmethod
    def of(cls, compared: PassComparison, stages: Iterable[str]) -> MistakeContext:
        """The pass that was compared with arrays of these stages."""
        own, first = compared.candidate, compared.first_difference
        return cls(own.trace, compared.nodes, own.wrong_masks, {*stages}, own.sizes, first, compared.values)

    def computes(self, stage: str) -> bool:
        return stage in self.nodes and bool(self.nodes[stage].inputs)

    def computes_unchanged(self, stage: str) -> bool:
        """Whether a stage still has its original inputs."""
        return self.computes(stage) and self.nodes[stage].inputs == self.trace[stage].inputs

    def operation(self, stage: str) -> Operation | None:
        """The operation of a stage; None if the stage is given, or rotated outside the pass."""
        operation = self.trace[stage].operation if self.computes(stage) and stage in self.trace else None
        return None if operation is None or isinstance(operation, Source) else operation_of_new_rows(operation)

    def made_by(self, kind: type[Operation], *stages: str) -> tuple[str, ...]:
        """The stages among these that an operation of this kind computes."""
        return tuple(each for each in stages if isinstance(self.operation(each), kind))

    def matrices(self, *stages: str) -> dict[str, str]:
        """The matrix of each of the stages that is a projection."""
        return {each: self.nodes[each].inputs[1] for each in self.made_by(Projection, *stages)}

    def computed(self, stage: str, operation: Operation) -> Node:
        """A stage computed by another operation, after cached rows if there are any."""
        return Node.of(after_cache(self.trace[stage].operation, operation), self.nodes[stage].inputs)

    def left_out(self, stage: str) -> Node:
        if isinstance(self.trace[stage].operation, AfterCache):
            return self.computed(stage, Identity("key"))
        return Node.identity(self.nodes[stage].inputs)

    @cached_property
    def fit(self) -> Fit | None:
        return Fit.of(self.first_difference, self.values.get("scaled"))

    @cached_property
    def has_mask(self) -> bool:
        return self.computes("masked") and len(self.nodes["masked"].inputs) == 2

    @cached_property
    def has_several_masks(self) -> bool:
        """Whether there are several masks, each of which has its own cause if it wasn't applied."""
        return any(each.name for each in self.wrong_masks)

    @cached_property
    def seen(self) -> np.ndarray | None:
        """Which keys the mask leaves visible; None if there is none that hides some."""
        if not self.has_mask or not self.made_by(Hide, "masked"):
            return None
        seen = seen_in(self.trace["mask"].value)
        return None if seen.all() else seen


Changes = Callable[[MistakeContext], Iterable[Change]]  # the changes that a cause tries in a pass


@dataclass(frozen=True)
class Cause:
    """A kind of mistake. Clause and lines of code have slots, which each change fills."""

    clause: str
    wrong: str
    right: str
    on_purpose: str = ""  # which models do so on purpose
    changes: Changes = lambda context: ()  # none by default: some causes are found in other ways

    def code(self, slots: Slots, true_hides: bool = False, lines: tuple[str, str] | None = None) -> tuple[str, str]:
        """The wrong and the right line, or those of a library, which have the same slots."""
        filled = {name: _as_code(text) for name, text in slots.items()}
        wrong, right = (each.format(**filled) for each in lines or (self.wrong, self.right))
        return (_for_hiding_mask(wrong), _for_hiding_mask(right)) if true_hides else (wrong, right)


class Causes(dict[str, Cause]):
    """Causes by the ids of their mistakes, in the order in which they are tried."""

    def add(self, clause: str, wrong: str, right: str, on_purpose: str = "") -> Callable:
        """Register the changes that a function yields, under the function's name."""

        def register(changes: Changes) -> Changes:
            id = changes.__name__.replace("_", " ").replace("w o ", "w_o ")
            self[id] = Cause(clause, wrong, right, on_purpose, changes)
            return changes

        return register

    def mistakes(self, context: MistakeContext) -> Iterator[Mistake]:
        for id, cause in self.items():
            for nodes, slots in cause.changes(context):
                yield Mistake(id, next(iter(nodes)), slots, nodes)


def _as_code(text: str) -> str:
    root = text.replace("√heads", "√n_heads").replace("−", "-")
    return f"{root[1:]} ** 0.5" if root.startswith("√") else root


def _for_hiding_mask(line: str) -> str:
    if line.startswith("mask = "):
        return line.replace("mask = ", "mask = ~", 1)
    return re.sub(r"(~?)\b(masks?)\b", lambda found: found[2] if found[1] else f"~{found[2]}", line)


def change(nodes: Nodes, **slots: str) -> Change:
    """Changed nodes, and the words that fill the slots of their cause."""
    return nodes, slots


def symbols(names: Sequence[str]) -> str:
    """Symbols as a subject with its verb: "W_Q and W_K were"."""
    return f"{listed([SYMBOLS.get(each, each) for each in names])} {'were' if names[1:] else 'was'}"


def rows(stages: Sequence[str]) -> str:
    """Stages of queries, keys or values as rows: "queries and keys"."""
    return listed([ROWS[each[0]] for each in stages])


def mask_phrase(mask: str) -> str:
    """The mask, with its name if there are several."""
    return f"the mask {shortened(mask)}".strip()


def each_and_all(present: Sequence[str], *together: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Each item alone, and each group as far as it is present: of q and v in (q, k, v), q, v, and (q, v)."""
    groups: list[tuple[str, ...]] = [(each,) for each in present]
    groups += [tuple(each for each in group if each in present) for group in together]
    return [group for group in dict.fromkeys(groups) if group]


def alone_and_together(stages: Sequence[str], changed: Callable[[str], Node], **slots: str) -> Iterator[Change]:
    """Each stage of queries, keys or values changed alone, and all of them."""
    nodes = {each: changed(each) for each in stages}
    for group in each_and_all(stages, tuple(stages)):
        names = {"rows": rows(group), "names": symbols(group), "letter": group[0][0]}
        yield {each: nodes[each] for each in group}, names | slots


def joined(heads: np.ndarray) -> np.ndarray:
    """(heads, tokens, d) to (tokens, heads * d)."""
    return heads.swapaxes(0, 1).reshape(heads.shape[1], -1)


def split(rows: np.ndarray, n_heads: int) -> np.ndarray:
    """(tokens, heads * d) to (heads, tokens, d)."""
    return rows.reshape(len(rows), n_heads, -1).swapaxes(0, 1)


def n_groups(context: MistakeContext) -> int:
    """The number of key groups, even if keys are repeated per head."""
    n_heads = context.sizes["h"]
    groups = context.sizes.get("g", n_heads)
    if groups < n_heads or "k" not in context.trace:
        return groups
    k = context.trace["k"].value
    shared = [n for n in range(n_heads, 1, -1) if n_heads % n == 0]
    return next((n_heads // n for n in shared if np.array_equal(k, np.repeat(k[::n], n, axis=0))), n_heads)


def n_copies(context: MistakeContext, stage: str) -> int:
    """How many copies of each group's keys or values a stage holds."""
    return 1 if stage.startswith("q") else len(context.trace[stage].value) // n_groups(context)
