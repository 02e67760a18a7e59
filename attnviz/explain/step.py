"""Step: one step of a walkthrough, as sections that each hold for some traces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from attnviz.core.trace import Layer, Trace
from attnviz.explain.condition import Condition, always
from attnviz.explain.entry import Entry
from attnviz.explain.markup import Runs, runs
from attnviz.explain.story import renamed

Writer = Callable[[Trace, Mapping[str, Entry]], str | Runs]


@dataclass(frozen=True)
class Section:
    """A heading, or some sentences of a step.

    Attributes
    ----------
    name : str
        What it is about, unique within the step.
    text : str, runs or callable
        In our markup, where `{unit}` is what a token of the trace is called; or a function that writes it, or its
        runs, from a trace and the entries of all stages, where it names what differs from trace to trace. Runs, once
        it is of a trace.
    when : callable
        For which traces it holds.
    stages : tuple of str
        Stages that these sentences explain, and no picture of the step shows.
    """

    name: str
    text: str | Runs | Writer
    when: Condition = always
    stages: tuple[str, ...] = ()

    def of(self, layer: Layer, entries: Mapping[str, Entry]) -> Section:
        """The section with its text for a layer of a trace, and those of its stages that are there."""
        text = self.text(layer.trace, entries) if callable(self.text) else self.text
        text = _read(text.replace("{unit}", layer.trace.origin.unit)) if isinstance(text, str) else text
        return replace(
            self,
            text=[_story_in(layer, *run) for run in text],
            stages=tuple(layer.names[name] for name in self.stages if name in layer.trace),
        )


_read = lru_cache(maxsize=512)(runs)  # the same sentences for every trace


def _story_in(layer: Layer, style: str, content: str | dict) -> list:
    """A run as it reads in a layer: what it tells is told of the stages of that layer."""
    if style != "story":
        return [style, content]
    stories = [[when, renamed(text, layer.names)] for when, text in content["stories"]]
    return [style, {"of": layer.names[content["of"]], "stories": stories}]


@dataclass(frozen=True)
class Bars:
    """A row of bars over the keys, for the selected query.

    Attributes
    ----------
    stage : str
    array : str
        The array of the stage's rule that it shows; the stage's own numbers if empty.
    when : callable
        For which traces it is drawn.
    """

    stage: str
    array: str = ""
    when: Condition = always


@dataclass(frozen=True)
class Step:
    """One step of a walkthrough.

    Attributes
    ----------
    id : str
        A short slug for addresses.
    title : str
        Its name in the row of steps.
    headings : tuple of Section
        Exactly one holds for a trace.
    why : tuple of Section
        What the step does and what for, in one or two sentences; exactly one holds for a trace.
    sections : tuple of Section
        More of that; those that hold for a trace make two or three short sentences.
    stages : tuple of str
        The stages whose making it shows, but for those that a section of the trace explains in words.
    entries : mapping of stage names to Entry
        The vocabulary that it introduces.
    notes : tuple of Section
        Each a paragraph of its own, below the text; at most one holds for a trace.
    arcs : bool
        Whether arcs over the words show the attention.
    bars : tuple of Bars
    subject : str
        The stage whose selected number is spoken of beside it, where that is not the last of its stages: the output
        where it has none.
    when : callable, optional
        Which traces have the step; by default those with one of its stages.
    layer : int
        Of a trace of several layers the one that it shows, counted from 1; 0 where it shows none.
    """

    id: str
    title: str
    headings: tuple[Section, ...]
    why: tuple[Section, ...]
    sections: tuple[Section, ...]
    stages: tuple[str, ...] = ()
    entries: Mapping[str, Entry] = field(default_factory=dict)
    notes: tuple[Section, ...] = ()
    arcs: bool = False
    bars: tuple[Bars, ...] = ()
    subject: str = ""
    when: Condition | None = None
    layer: int = 0

    @property
    def heading(self) -> Runs:
        """Its heading, once it is of a trace."""
        return self.headings[0].text

    @property
    def reason(self) -> Runs:
        """The step's action and purpose, of one trace."""
        return self.why[0].text

    @property
    def text(self) -> Runs:
        """Its sections as one paragraph."""
        spaced = [run for section in self.sections for run in (["", " "], *section.text)]
        return spaced[1:]

    def is_in(self, trace: Trace) -> bool:
        """Whether the trace has this step."""
        return self.when(trace) if self.when else any(name in trace for name in self.stages)

    def of(self, layer: Layer, entries: Mapping[str, Entry]) -> Step:
        """The step with the stages that a layer of a trace has, under their names in the whole trace, and what holds.

        `entries` are those of all stages, by their names in the layer.
        """

        def holding(sections: tuple[Section, ...]) -> tuple[Section, ...]:
            return tuple(section.of(layer, entries) for section in sections if section.when(layer.trace))

        sections, notes = holding(self.sections), holding(self.notes)
        explained = {name for section in (*sections, *notes) for name in section.stages}
        names = (layer.names[name] for name in self.stages if name in layer.trace)
        return replace(
            self,
            headings=holding(self.headings),
            why=holding(self.why),
            sections=sections,
            stages=tuple(name for name in names if name not in explained),
            notes=notes,
            bars=tuple(replace(bars, stage=layer.names[bars.stage]) for bars in self.bars if bars.when(layer.trace)),
            subject=layer.names.get(self.subject, ""),
        )
