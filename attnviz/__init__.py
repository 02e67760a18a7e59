"""attnviz: attention, number by number.

>>> from attnviz import Settings, trace_of
>>> trace = trace_of(Settings("the cat sat on the mat"))
>>> trace["attention"].shape
(2, 6, 6)
"""

from typing import TYPE_CHECKING

from attnviz.core.attention import attend, trace_of
from attnviz.core.parameters import Parameters
from attnviz.core.settings import Settings

if TYPE_CHECKING:
    from attnviz.viewer.page import page, show

__all__ = ["Parameters", "Settings", "attend", "page", "show", "trace_of"]


def __getattr__(name: str) -> object:
    """What shows a pass, once somebody asks for it: whoever computes alone imports no texts and no viewer."""
    if name not in ("page", "show"):
        raise AttributeError(f"module 'attnviz' has no attribute {name!r}")
    from attnviz.viewer import page as pages

    return getattr(pages, name)
