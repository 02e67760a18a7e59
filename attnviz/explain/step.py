"""A step of the walkthrough: texts that apply to some traces, the entries of its stages, and its terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

from attnviz.core.trace import Layer, Trace
from attnviz.explain.story import Condition, Story, always, renamed, unless
from attnviz.explain.styled_text import Runs, runs

Role = Literal["q", "k", "v", "output", ""]


@dataclass(frozen=True)
class Entry:
    """The name, meaning and stories of a stage."""

    symbol: str  # LaTeX with ^ and _ only; `_i` stands for the head
    title: str
    meaning: str  # a clause that completes "It holds ..."
    role: Role = ""  # the role whose colour it has
    scale: Literal["signed", "share", "flag"] = "signed"  # diverging around zero, from 0 to 1, visible or hidden
    # Parameters are matrices and biases; what is computed may also be given, in a pass that begins with it.
    kind: Literal["input", "parameter", "computed"] = "computed"
    one: str = ""  # what one of its numbers is called, as the head of a column; its title if empty
    # The label of its row in the One word view; its title if empty. A soft hyphen shows where it may break.
    label: str = ""
    step: str = ""  # the id of the step that introduces it; `attnviz.explain.steps` fills in this and `stories`
    stories: tuple[Story, ...] = ()  # about one of its numbers; the first that applies is shown

    def of_layer(self, number: int) -> Entry:
        """The entry in one of several layers: S_i becomes S^{(2)}_i, and W^Q_i becomes W^{Q(2)}_i."""
        base, *head = self.symbol.split("_")
        letter, _, above = base.partition("^")
        return replace(self, symbol="_".join([f"{letter}^{{{above}({number})}}", *head]), step=f"{self.step}-{number}")


@dataclass(frozen=True)
class Term:
    """A term of the field."""

    id: str
    pattern: str  # finds it in a text in either case, in Python and JavaScript alike
    says: str  # one sentence, where `{unit}` is what a token is called
    # Its number in a pass, as a story (`attnviz.explain.story`) about the selection in the last layer. Of several, the
    # first whose stages the pass has. Empty if it has none, or `measured` gives it.
    here: str | tuple[str, ...] = ""
    operation: str = ""  # the class of the operation that it names, if any


Entries = Mapping[str, Entry]  # the entries of all stages, by name
Writer = Callable[[Trace, Entries], str | Runs]  # writes a text, or its runs, about a trace


@dataclass(frozen=True)
class Section:
    """A few sentences of a step, for the traces for which they hold."""

    name: str  # its topic, unique within the step
    text: str | Runs | Writer  # in our markup, where `{unit}` is what a token of the trace is called
    when: Condition = always
    stages: tuple[str, ...] = ()  # stages that these sentences explain instead of a picture


def either(condition: Condition, text: str | Writer, other: str | Writer) -> tuple[Section, Section]:
    """A text for the traces for which a condition holds, and another for all others."""
    return Section("if", text, condition), Section("else", other, unless(condition))


Texts = str | Writer | tuple[Section, ...]  # one text for all traces, or sections for some


def sections_of(texts: Texts, trace: Trace) -> list[Section]:
    """The sections that apply to a trace."""
    if isinstance(texts, tuple):
        return [section for section in texts if section.when(trace)]
    return [Section("", texts)]


@dataclass(frozen=True)
class Bars:
    """A row of bars over the keys, for the selected query."""

    stage: str
    array: str = ""  # the array of the stage's rule to show; the stage's numbers if empty
    when: Condition = always


@dataclass(frozen=True)
class Step:
    """One step of the walkthrough, for all traces: what it says, and the vocabulary that it introduces."""

    id: str  # a short slug for addresses
    title: str  # its name in the row of steps
    heading: Texts  # exactly one section applies to a trace
    why: Texts  # what the step does and why, in one or two sentences; exactly one section applies
    text: Texts  # two or three short sentences
    stages: tuple[str, ...] = ()  # the stages that it shows, except those that a section explains in words
    entries: Mapping[str, Entry] = field(default_factory=dict)
    stories: Mapping[str, tuple[Story, ...]] = field(default_factory=dict)  # by the name of the entry
    # The sentences beside its bands in the One word view, by what a band shows: a stage, an array of its rule, a sum or
    # sources. Each is a text, and the stories for the `{story}` in it.
    band_texts: Mapping[str, tuple[str, tuple[Story, ...]]] = field(default_factory=dict)
    terms: tuple[Term, ...] = ()
    notes: tuple[Section, ...] = ()  # a paragraph below the text; at most one applies
    arcs: bool = False  # whether arcs over the words show the attention
    bars: tuple[Bars, ...] = ()
    subject: str = ""  # the stage that the panel explains; by default the last of its stages, or the output
    when: Condition | None = None  # the traces that have the step; by default those with one of its stages

    def is_in(self, trace: Trace) -> bool:
        """Whether the trace has this step."""
        return self.when(trace) if self.when else any(name in trace for name in self.stages)

    def of(self, layer: Layer, entries: Entries, number: int = 0) -> ShownStep:
        """The step for a layer of a trace, with its number if there are several. `entries` are those of all stages, by
        their names in the layer.
        """

        def runs_of(texts: Texts) -> list[Runs]:
            return [_runs(section.text, layer, entries) for section in sections_of(texts, layer.trace)]

        (heading,), (why,) = runs_of(self.heading), runs_of(self.why)
        in_words = [*sections_of(self.text, layer.trace), *sections_of(self.notes, layer.trace)]
        explained = {name for section in in_words for name in section.stages}
        return ShownStep(
            id=f"{self.id}-{number}" if number else self.id,
            title=self.title,
            heading=heading,
            why=why,
            text=[run for section in runs_of(self.text) for run in (["", " "], *section)][1:],
            notes=runs_of(self.notes),
            stages=tuple(layer.names[name] for name in self.stages if name in layer.trace and name not in explained),
            explained=tuple(
                layer.names[name] for section in in_words for name in section.stages if name in layer.trace
            ),
            arcs=self.arcs,
            bars=tuple(replace(bars, stage=layer.names[bars.stage]) for bars in self.bars if bars.when(layer.trace)),
            subject=layer.names.get(self.subject, ""),
            layer=number,
        )


@dataclass(frozen=True)
class ShownStep:
    """A step of a trace, with its stages under their names in the trace."""

    id: str
    title: str
    heading: Runs
    why: Runs
    text: Runs
    notes: list[Runs]
    stages: tuple[str, ...]
    explained: tuple[str, ...]  # the stages that its text explains instead of a picture
    arcs: bool
    bars: tuple[Bars, ...]
    subject: str
    layer: int  # from 1, in a trace of several layers; else 0


def _runs(text: str | Runs | Writer, layer: Layer, entries: Entries) -> Runs:
    made = text(layer.trace, entries) if callable(text) else text
    if isinstance(made, str):
        made = _read(made.replace("{unit}", layer.trace.origin.unit))
    return [_in_layer(layer, *run) for run in made]


_read = lru_cache(maxsize=512)(runs)  # traces share most sentences


def _in_layer(layer: Layer, style: str, content: str | dict) -> list:
    if style != "story":
        return [style, content]
    stories = [[when, renamed(text, layer.names)] for when, text in content["stories"]]
    return [style, {"of": layer.names[content["of"]], "stories": stories}]
