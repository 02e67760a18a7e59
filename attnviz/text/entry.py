"""Entry: what the vocabulary says of one stage."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from attnviz.core.selection import Selection
from attnviz.core.trace import Trace

Role = Literal["q", "k", "v", "output", ""]
Caption = Callable[[Trace, Selection], str]


@dataclass(frozen=True)
class Entry:
    """How a stage is called, drawn and explained.

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
        Whether it enters, is learnt in a real model, or is computed from earlier
        stages (a pass that begins later, with queries say, has it given).
    caption : callable, optional
        From a trace and a selection: what is worth seeing in the stage, in one to three sentences
        (`captions.caption` adds one on the numbers set by hand, if any).
    step : str
        The id of the step that introduces it; `attnviz.text.steps` fills it in.
    """

    symbol: str
    title: str
    meaning: str
    role: Role = ""
    scale: Literal["signed", "share", "flag"] = "signed"
    kind: Literal["input", "parameter", "computed"] = "computed"
    caption: Caption | None = None
    step: str = ""
