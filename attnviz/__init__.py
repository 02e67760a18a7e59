"""attnviz: attention, number by number.

>>> from attnviz import Settings, trace_of
>>> trace = trace_of(Settings("the cat sat on the mat"))
>>> trace["attention"].shape
(2, 6, 6)
"""

from attnviz.attention import attend, trace_of
from attnviz.parameters import Parameters
from attnviz.settings import Settings

__all__ = ["Parameters", "Settings", "attend", "trace_of"]
