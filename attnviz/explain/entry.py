"""Entry: what the vocabulary says of one stage."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from attnviz.explain.story import Story

Role = Literal["q", "k", "v", "output", ""]


@dataclass(frozen=True)
class Entry:
    """The name, picture and explanation of a stage.

    Attributes
    ----------
    symbol : str
        LaTeX of a small grammar (^ and _ only); `_i` stands for the head.
    title : str
    meaning : str
        A clause that finishes "It holds ...".
    role : str
        Whose colour it wears: "q", "k", "v", "output", or none.
    scale : {"signed", "share", "flag"}
        Diverging around zero, sequential from 0 to 1, or visible and hidden.
    kind : {"input", "parameter", "computed"}
        Whether it enters, is a matrix or bias of parameters, or is computed from
        earlier stages (a pass that begins later, with queries say, has it given).
    stories : tuple of Story
        What is said of one of its numbers; of those that hold the first is told.
    one : str
        What one of its numbers is called over a column of them; its title if empty.
    label : str
        What stands before its row on the sheet, and over its column on a phone; its title if empty. A soft hyphen is
        where a narrow column may break it.
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
        """The entry of the same stage in one of several layers: S_i becomes S^{(2)}_i, and W^Q_i W^{Q(2)}_i."""
        base, *head = self.symbol.split("_")
        letter, _, above = base.partition("^")
        return replace(
            self,
            symbol="_".join([f"{letter}^{{{above}({number})}}", *head]),
            step=f"{self.step}-{number}",
        )
