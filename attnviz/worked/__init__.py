"""Worked examples: five notebooks on attention, each as data and a few lines that call the core.

>>> from attnviz.worked import EXAMPLES
>>> EXAMPLES["002"].variant("softmax").trace["attention"].value[0, 1].round(4)
array([0.1385, 0.2379, 0.2333, 0.124 , 0.1082, 0.1581])
"""

from attnviz.worked import algorithm3, masked, onehot, sevensteps, threeways
from attnviz.worked.example import Example

EXAMPLES: dict[str, Example] = {
    module.EXAMPLE.id: module.EXAMPLE for module in (onehot, masked, threeways, sevensteps, algorithm3)
}
"""The worked examples by the number of their notebook, "000" to "004"."""

__all__ = ["EXAMPLES"]
