"""Cause: a mistake as changed nodes of a pass, its wording, and what both are built from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from attnviz.checks.explain.agreement import Agreement
from attnviz.checks.explain.nodes import Node, Nodes
from attnviz.checks.read.layouts import Sizes
from attnviz.checks.read.masks import OtherMask
from attnviz.checks.read.rounding import Precision, Rounded, applied
from attnviz.checks.report.words import SYMBOLS, shortened
from attnviz.core.operations.operation import Operation
from attnviz.core.trace import Trace
from attnviz.explain.wording import listed

WRONG_AXES = "axes in another order"  # its `about`: the stage, its axes, and the expected ones
ROWS = {"q": "queries", "k": "keys", "v": "values"}

Clause = Callable[[str], str]
Slots = Callable[[str], Mapping[str, str]]

SCALED = "scores = q @ k.transpose(-2, -1) / d_k ** 0.5"
HIDDEN = "scores = scores.masked_fill(~mask, -torch.inf)"
SOFTMAX = "attention = scores.softmax(dim=-1)"
JOINED = "out = heads.transpose(1, 2).reshape(n, t, d_model)"  # right lines that several mistakes break


def last_word_slots(about: str) -> Mapping[str, str]:
    """Fill {about} with the last word of `about`, as code."""
    return {"about": about.split()[-1].replace("−", "-") if about else ""}


@dataclass(frozen=True)
class Cause:
    """The wording of a mistake.

    Attributes
    ----------
    clause : callable
        From `Mistake.about` to a clause.
    wrong, right : str
        Lines of code with slots.
    on_purpose : str
        A sentence on models that do so on purpose.
    slots : callable
        From `Mistake.about` to the slots' texts.
    """

    clause: Clause
    wrong: str
    right: str
    on_purpose: str = ""
    slots: Slots = last_word_slots

    def code(self, about: str) -> tuple[str, str]:
        """The wrong and the right line of code."""
        filled = self.slots(about)
        return self.wrong.format(**filled), self.right.format(**filled)


def plain(text: str) -> Clause:
    """A clause with a slot for `about`."""
    return lambda about: text.format(about)


def symbols_clause(predicate: str) -> Clause:
    """A clause whose subject is the symbols in `about`."""

    def clause(about: str) -> str:
        names = about.split()
        return f"{listed([SYMBOLS.get(each, each) for each in names])} {'were' if names[1:] else 'was'} {predicate}"

    return clause


def rows_clause(predicate: str) -> Clause:
    """A clause whose subject is queries, keys or both; the other words of `about` fill a slot."""

    def clause(about: str) -> str:
        words = about.split()
        rows = listed([ROWS[each] for each in words if each in ROWS])
        rest = " ".join(each for each in words if each not in ROWS)
        return f"{rows} were {predicate.format(rest)}"

    return clause


def mask_clause(predicate: str) -> Clause:
    """A clause whose subject is the mask, with its name if there are several."""
    return lambda about: f"{f'the mask {shortened(about)}'.strip()} {predicate}"


def letter_slots(about: str) -> Mapping[str, str]:
    """The first and the last letter of q, k, v and o in `about`."""
    letters = [each[-1] for each in about.split() if each[-1:] in ("q", "k", "v", "o")] or ["q"]
    return {"letter": letters[0], "other": letters[-1]}


@dataclass(frozen=True)
class Mistake:
    """One mistake.

    Attributes
    ----------
    id : str
        Such as "unscaled".
    stage : str
        The first stage that it changes.
    about : str
        The parameters, or the number, that it concerns.
    nodes : mapping of stages to Node
        The changed stages.
    """

    id: str
    stage: str
    about: str
    nodes: Nodes


@dataclass(frozen=True, eq=False)
class Setting:
    """The pass in which mistakes are searched.

    Attributes
    ----------
    nodes : mapping of stages to Node
        The nodes, perhaps with earlier mistakes.
    masks : sequence of OtherMask
        The wrong masks that may have been applied.
    compared : set of stages
        The stages of the user's arrays.
    first : Agreement, optional
        The first stage that differs.
    values : mapping of stages to Rounded
        The computed stages.
    """

    trace: Trace
    nodes: Nodes
    masks: Sequence[OtherMask]
    compared: set[str]
    sizes: Sizes
    first: Agreement | None = None
    values: Mapping[str, Rounded] = field(default_factory=dict)

    def makes(self, stage: str) -> bool:
        """Whether the pass computes a stage from others."""
        return stage in self.nodes and bool(self.nodes[stage].inputs)

    def is_as_it_is(self, stage: str) -> bool:
        """Whether a stage still has its original inputs."""
        return self.makes(stage) and self.nodes[stage].inputs == self.trace[stage].inputs

    def operation(self, stage: str) -> Operation | None:
        """The operation of a stage; None if the stage is given, or rotated outside the pass."""
        return self.trace[stage].operation if self.makes(stage) and stage in self.trace else None

    def made_of(self, *stages: str) -> Iterator[str]:
        """Those of the stages that the pass computes."""
        return (each for each in stages if self.makes(each))


def each_and_all(present: tuple[str, ...], *together: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Each item alone, and each group as far as it is present, without duplicates.

    >>> each_and_all(("q", "v"), ("q", "k", "v"))
    [('q',), ('v',), ('q', 'v')]
    """
    groups = [(each,) for each in present]
    groups += [tuple(each for each in group if each in present) for group in together]
    return [group for group in dict.fromkeys(groups) if group]


def passed_on(given: list[Rounded], precision: Precision) -> Rounded:
    """The first input, unchanged."""
    return given[0]


def followed_by(node: Node, operation: Operation) -> Node:
    """A node with an operation applied to its result."""
    return Node(node.inputs, lambda given, precision: applied(operation, [node.made(given, precision)], precision))


def after(node: Node, operation: Operation) -> Node:
    """A node with an operation applied to its first input."""
    return Node(
        node.inputs,
        lambda given, precision: node.make([applied(operation, given[:1], precision), *given[1:]], precision),
    )
