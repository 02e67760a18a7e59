"""Parameters: the matrices of attention, drawn from a seed, learnt, or chosen by hand."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attnviz.core.arrays import real
from attnviz.core.numbers import Numbers

PARAMETER_AXES = {
    "w_q": ("head", "d_model", "d_k"),
    "w_k": ("head", "d_model", "d_k"),
    "w_v": ("head", "d_model", "d_v"),
    "w_o": ("heads * d_v", "d_model"),
    "b_q": ("head", "d_k"),
    "b_k": ("head", "d_k"),
    "b_v": ("head", "d_v"),
    "b_o": ("d_model",),
}
"""What the places along each parameter's axes count."""


@dataclass(frozen=True)
class Parameters:
    """Projection matrices and biases of multi-head attention; any may be absent.

    Without `w_q`, `w_k` or `w_v` the input itself is the query, key or value of
    each head; without `w_o` the pass ends with the concatenation.

    The arrays are copied once, when these are made, and nobody can write into the copies: passes share them.

    Attributes
    ----------
    w_q, w_k : ndarray (heads, d_in, d_k), optional
    w_v : ndarray (heads, d_in, d_v), optional
    w_o : ndarray (heads * d_v, d_out), optional
    b_q, b_k : ndarray (heads, d_k), optional
    b_v : ndarray (heads, d_v), optional
    b_o : ndarray (d_out,), optional

    Raises
    ------
    ArrayError
        If one has other axes, or a number that is not real or not finite.
    """

    w_q: np.ndarray | None = None
    w_k: np.ndarray | None = None
    w_v: np.ndarray | None = None
    w_o: np.ndarray | None = None
    b_q: np.ndarray | None = None
    b_k: np.ndarray | None = None
    b_v: np.ndarray | None = None
    b_o: np.ndarray | None = None

    def __post_init__(self):
        for name, numbers in self.numbers.items():
            object.__setattr__(self, name, numbers.array)

    @cached_property
    def numbers(self) -> dict[str, Numbers]:
        """Those that are given, by their names."""
        given = {name: getattr(self, name) for name in PARAMETER_AXES}
        return {name: real(name, array, PARAMETER_AXES[name]) for name, array in given.items() if array is not None}


def banded(matrix: np.ndarray, n_heads: int) -> np.ndarray:
    """Cut a matrix (d_in, heads * d) into one band of columns for each head, (heads, d_in, d).

    The heads' small matrices are one big matrix cut: `x @ matrix` holds every
    head's projection, side by side. The bands are views of it.
    """
    d_in, columns = matrix.shape
    return matrix.reshape(d_in, n_heads, columns // n_heads).swapaxes(0, 1)
