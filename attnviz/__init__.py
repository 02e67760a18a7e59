"""attnviz: attention, number by number.

>>> from attnviz import Settings, trace_of
>>> trace = trace_of(Settings("the cat sat on the mat"))
>>> trace["attention"].shape
(2, 6, 6)
"""

from importlib import import_module
from typing import TYPE_CHECKING

from attnviz.core.attention import attend, trace_of
from attnviz.core.parameters import Parameters
from attnviz.core.settings import Settings

if TYPE_CHECKING:
    from attnviz.text.comparison import Comparison, compare
    from attnviz.viewer.page import page, show

__all__ = ["Comparison", "Parameters", "Settings", "attend", "compare", "page", "show", "trace_of"]

_WHEN_ASKED = {
    "Comparison": "attnviz.text.comparison",
    "compare": "attnviz.text.comparison",
    "page": "attnviz.viewer.page",
    "show": "attnviz.viewer.page",
}


def __getattr__(name: str) -> object:
    """What says or shows a pass, once somebody asks for it: whoever computes alone imports no texts and no viewer."""
    if name not in _WHEN_ASKED:
        raise AttributeError(f"module 'attnviz' has no attribute {name!r}")
    return getattr(import_module(_WHEN_ASKED[name]), name)
