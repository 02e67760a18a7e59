"""Step: one step of a walkthrough, as sections that each hold for some traces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from attnviz.core.trace import Trace
from attnviz.text.entry import Entry

Condition = Callable[[Trace], bool]


def always(trace: Trace) -> bool:
    """The condition that holds for every trace."""
    return True


def has(*names: str) -> Condition:
    """The condition that a trace has all of these stages."""
    return lambda trace: all(name in trace for name in names)


def lacks(*names: str) -> Condition:
    """The condition that a trace has none of these stages."""
    return lambda trace: not any(name in trace for name in names)


def both(*conditions: Condition) -> Condition:
    """The condition that all of these hold."""
    return lambda trace: all(condition(trace) for condition in conditions)


@dataclass(frozen=True)
class Section:
    """A heading, or some sentences of a step.

    Attributes
    ----------
    name : str
        What it is about, unique within the step.
    text : str or callable
        Markdown; or a function that writes it from a trace and the entries of all
        stages, where it names a stage that differs from trace to trace.
    when : callable
        For which traces it holds.
    stages : tuple of str
        Stages that these sentences explain, and no picture of the step shows.
    """

    name: str
    text: str | Callable[[Trace, Mapping[str, Entry]], str]
    when: Condition = always
    stages: tuple[str, ...] = ()

    def of(self, trace: Trace, entries: Mapping[str, Entry]) -> Section:
        """The section with its text for the trace."""
        return replace(self, text=self.text(trace, entries)) if callable(self.text) else self


@dataclass(frozen=True)
class Chart:
    """A chart below the picture of a step.

    Attributes
    ----------
    name : str
    when : callable
        For which traces it is drawn.
    stages : tuple of str
        Stages that it shows, and the step's picture doesn't.
    """

    name: str
    when: Condition = always
    stages: tuple[str, ...] = ()


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
    sections : tuple of Section
        What and why; those that hold for a trace make two to four sentences.
    stages : tuple of str
        The stages whose making it shows.
    entries : mapping of stage names to Entry
        The vocabulary that it introduces.
    notes : tuple of Section
        Each a paragraph of its own, below the text.
    charts : tuple of Chart
    when : callable, optional
        Which traces have the step; by default those with one of its stages.
    """

    id: str
    title: str
    headings: tuple[Section, ...]
    sections: tuple[Section, ...]
    stages: tuple[str, ...] = ()
    entries: Mapping[str, Entry] = field(default_factory=dict)
    notes: tuple[Section, ...] = ()
    charts: tuple[Chart, ...] = ()
    when: Condition | None = None

    @property
    def heading(self) -> str:
        """Its heading; of a step that is not of a trace yet, the usual one."""
        return self.headings[0].text

    @property
    def text(self) -> str:
        """Its sections as one paragraph."""
        return " ".join(section.text for section in self.sections)

    def is_in(self, trace: Trace) -> bool:
        """Whether the trace has this step."""
        return self.when(trace) if self.when else any(name in trace for name in self.stages)

    def of(self, trace: Trace, entries: Mapping[str, Entry]) -> Step:
        """The step with the stages that the trace has, and with what holds for it; `entries` are those of all steps."""

        def said(sections: tuple[Section, ...]) -> tuple[Section, ...]:
            return tuple(section.of(trace, entries) for section in sections if section.when(trace))

        return replace(
            self,
            headings=said(self.headings),
            sections=said(self.sections),
            stages=tuple(name for name in self.stages if name in trace),
            notes=said(self.notes),
            charts=tuple(chart for chart in self.charts if chart.when(trace)),
        )
