"""Worked examples: five notebooks on attention, as data and a few calls of the core.

>>> from attnviz.examples import EXAMPLES
>>> EXAMPLES["002"].variant("softmax").trace["attention"].value[0, 1].round(4)
array([0.1385, 0.2379, 0.2333, 0.124 , 0.1082, 0.1581])
"""

from attnviz.examples.algorithm3 import EXAMPLE as ALGORITHM3
from attnviz.examples.example import Example
from attnviz.examples.masked import EXAMPLE as MASKED
from attnviz.examples.onehot import EXAMPLE as ONEHOT
from attnviz.examples.self_attention_variants import EXAMPLE as THREEWAYS
from attnviz.examples.sevensteps import EXAMPLE as SEVENSTEPS

EXAMPLES: dict[str, Example] = {each.id: each for each in (ONEHOT, MASKED, THREEWAYS, SEVENSTEPS, ALGORITHM3)}
"""The worked examples by the number of their notebook, "000" to "004"."""

__all__ = ["EXAMPLES"]
