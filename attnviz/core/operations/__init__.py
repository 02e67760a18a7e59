"""Operations: how a stage is made from earlier ones. Nothing outside `linear` and `scoring` knows it.

Every operation has the same shape. `compute` makes the array, `vjp` takes a
derivative back through it, `axes` names its axes, `terms` takes one cell apart,
`latex` and `numpy` write the whole of it, and `operands` says how its picture
is read: which part of each input one cell of the result comes from.

`vjp` is the vector-Jacobian product: of `upstream`, the derivatives of some
number with respect to each cell of `value` (what `compute` made of the same
inputs), it makes those with respect to each cell of each input, in the input's
shape, or None for a boolean mask, which has no derivative.

Wherever arrays have heads, the axis of heads comes first.
"""

from attnviz.core.operations.linear import Addition, Concatenation, Contributions, Identity, Projection, WeightedSum
from attnviz.core.operations.operation import Operand, Source
from attnviz.core.operations.scoring import AddMask, DotProducts, Hide, Scale, Softmax, SumNormalise

Operation = (
    Source
    | Identity
    | Addition
    | Projection
    | DotProducts
    | Scale
    | Hide
    | AddMask
    | Softmax
    | SumNormalise
    | WeightedSum
    | Concatenation
    | Contributions
)

__all__ = [
    "AddMask",
    "Addition",
    "Concatenation",
    "Contributions",
    "DotProducts",
    "Hide",
    "Identity",
    "Operand",
    "Operation",
    "Projection",
    "Scale",
    "Softmax",
    "Source",
    "SumNormalise",
    "WeightedSum",
]
