"""A step of the walkthrough: texts that apply to some traces, the entries of its stages, and its terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

from attnviz.core.trace import Layer, Trace
from attnviz.explain.markup import Runs, runs
from attnviz.explain.story import Condition, Story, always, renamed

Role = Literal["q", "k", "v", "output", ""]


@dataclass(frozen=True)
class Entry:
    """The name, meaning and stories of a stage.

    Attributes
    ----------
    symbol : str
        LaTeX with ^ and _ only; `_i` stands for the head.
    title : str
    meaning : str
        A clause that completes "It holds ...".
    role : str
        The role whose colour it has: "q", "k", "v", "output", or none.
    scale : {"signed", "share", "flag"}
        Diverging around zero, sequential from 0 to 1, or visible and hidden.
    kind : {"input", "parameter", "computed"}
        Whether it is input, a matrix or bias of parameters, or computed from
        earlier stages (or given, in a pass that begins with it).
    stories : tuple of Story
        Stories about one of its numbers; the first that applies is used.
    one : str
        What one of its numbers is called, as the head of a column; its title if empty.
    label : str
        The label of its row in the One word view, and of its column on a phone; its title if empty. A soft hyphen
        shows where a narrow column may break it.
    step : str
        The id of the step that introduces it; `attnviz.explain.steps` fills it in.
    """

    symbol: str
    title: str
    meaning: str
    role: Role = ""
    scale: Literal["signed", "share", "flag"] = "signed"
    kind: Literal["input", "parameter", "computed"] = "computed"
    stories: tuple[Story, ...] = ()
    one: str = ""
    label: str = ""
    step: str = ""

    def of_layer(self, number: int) -> Entry:
        """The entry in one of several layers: S_i becomes S^{(2)}_i, and W^Q_i becomes W^{Q(2)}_i."""
        base, *head = self.symbol.split("_")
        letter, _, above = base.partition("^")
        return replace(
            self,
            symbol="_".join([f"{letter}^{{{above}({number})}}", *head]),
            step=f"{self.step}-{number}",
        )


@dataclass(frozen=True)
class Term:
    """A term of the field.

    Attributes
    ----------
    id : str
    pattern : str
        A regular expression, of Python and JavaScript alike, that finds it in a text in either case.
    says : str
        One sentence, where `{unit}` is what a token is called.
    here : str or tuple of str
        Its number in a pass, as a story (`attnviz.explain.story`) about the selection in the last layer. Of several,
        the first whose stages the pass has. Empty for a term whose number `measured` gives, if any.
    operation : str
        The class of the operation that it names, if any.
    """

    id: str
    pattern: str
    says: str
    here: str | tuple[str, ...] = ""
    operation: str = ""


Writer = Callable[[Trace, Mapping[str, Entry]], str | Runs]


@dataclass(frozen=True)
class Section:
    """A heading, or a few sentences of a step.

    Attributes
    ----------
    name : str
        Its topic, unique within the step.
    text : str, runs or callable
        In our markup, where `{unit}` is what a token of the trace is called; or a function that writes it, or its
        runs, from a trace and the entries of all stages. Runs, once it is bound to a trace.
    when : callable
        The traces that it applies to.
    stages : tuple of str
        Stages that these sentences explain instead of a picture.
    """

    name: str
    text: str | Runs | Writer
    when: Condition = always
    stages: tuple[str, ...] = ()

    def of(self, layer: Layer, entries: Mapping[str, Entry]) -> Section:
        """Bind the section to a layer of a trace: its text, and the stages that the layer has."""
        text = self.text(layer.trace, entries) if callable(self.text) else self.text
        text = _read(text.replace("{unit}", layer.trace.origin.unit)) if isinstance(text, str) else text
        return replace(
            self,
            text=[_story_in(layer, *run) for run in text],
            stages=tuple(layer.names[name] for name in self.stages if name in layer.trace),
        )


_read = lru_cache(maxsize=512)(runs)  # traces share most sentences


def _story_in(layer: Layer, style: str, content: str | dict) -> list:
    """A run with the stage names of a layer."""
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
        The array of the stage's rule to show; the stage's numbers if empty.
    when : callable
        The traces for which it is drawn.
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
        Exactly one applies to a trace.
    why : tuple of Section
        What the step does and why, in one or two sentences; exactly one applies to a trace.
    sections : tuple of Section
        More text; those that apply to a trace make two or three short sentences.
    stages : tuple of str
        The stages whose computation it shows, except those that a section explains in words.
    entries : mapping of stage names to Entry
        The vocabulary that it introduces.
    band_texts : mapping of str to (str, tuple of Story)
        The sentences beside its bands in the One word view, by what a band shows: a stage, an array of its rule, a sum,
        sources. Each is a text, and the stories of the `{story}` in it.
    terms : tuple of Term
        The terms of the field that it introduces.
    notes : tuple of Section
        A paragraph below the text; at most one applies to a trace.
    arcs : bool
        Whether arcs over the words show the attention.
    bars : tuple of Bars
    subject : str
        The stage whose selected number the panel explains; by default the last of its stages, or the output if it has
        none.
    when : callable, optional
        The traces that have the step; by default those with one of its stages.
    layer : int
        The layer that it shows, from 1, in a trace of several layers; else 0.
    """

    id: str
    title: str
    headings: tuple[Section, ...]
    why: tuple[Section, ...]
    sections: tuple[Section, ...]
    stages: tuple[str, ...] = ()
    entries: Mapping[str, Entry] = field(default_factory=dict)
    band_texts: Mapping[str, tuple[str, tuple[Story, ...]]] = field(default_factory=dict)
    terms: tuple[Term, ...] = ()
    notes: tuple[Section, ...] = ()
    arcs: bool = False
    bars: tuple[Bars, ...] = ()
    subject: str = ""
    when: Condition | None = None
    layer: int = 0

    @property
    def heading(self) -> Runs:
        """Its heading, once it is bound to a trace."""
        return self.headings[0].text

    @property
    def reason(self) -> Runs:
        """What the step does and why, once it is bound to a trace."""
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
        """Bind the step to a layer of a trace: its stages under their names in the trace, and the texts that apply.

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
