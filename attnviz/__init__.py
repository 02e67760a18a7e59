"""attnviz: attention, number by number.

>>> from attnviz import Settings, trace_of
>>> trace = trace_of(Settings("the cat sat on the mat"))
>>> trace["attention"].shape
(2, 6, 6)
"""

from attnviz.core.attention import attend, trace_of
from attnviz.core.parameters import Parameters
from attnviz.core.settings import Settings

__all__ = ["Parameters", "Settings", "attend", "trace_of"]
