"""Arrays: what attention accepts of those that people give, with a sentence for what it doesn't."""

import numpy as np

from attnviz.core.errors import ArrayError


def real(name: str, array: np.ndarray, axes: tuple[str, ...]) -> np.ndarray:
    """The array as float64, if its numbers are real and its axes these; else ArrayError."""
    array = _array(name, array, np.float64)
    if array.ndim != len(axes) or 0 in array.shape:
        raise ArrayError(f"{name} must have the shape ({', '.join(axes)}), none of them 0; got {array.shape}.")
    return array


def finite(name: str, array: np.ndarray) -> np.ndarray:
    """The array, if all of its numbers are finite; else ArrayError."""
    wrong = np.count_nonzero(~np.isfinite(array))
    if wrong:
        raise ArrayError(f"{name} must hold finite numbers; got {wrong} that are not.")
    return array


def _array(name: str, value: np.ndarray, dtype: type | None = None) -> np.ndarray:
    try:
        array = np.asarray(value)
        if np.iscomplexobj(array):
            raise TypeError
        return np.asarray(array, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        raise ArrayError(f"{name} must be an array of real numbers; got {type(value).__name__}.") from None


def fitting_mask(mask: np.ndarray | None, n_heads: int, n_queries: int, n_keys: int) -> np.ndarray:
    """The mask, of booleans or float64, if it fits; all keys visible where there is none; else ArrayError."""
    if mask is None:
        return np.ones((n_queries, n_keys), dtype=bool)
    mask = _array("mask", mask)
    if mask.shape not in ((n_queries, n_keys), (n_heads, n_queries, n_keys)):
        raise ArrayError(
            f"mask must have the shape (queries, keys) = {(n_queries, n_keys)} or "
            f"(heads, queries, keys) = {(n_heads, n_queries, n_keys)}; got {mask.shape}."
        )
    if mask.dtype == bool:
        return mask
    if not np.issubdtype(mask.dtype, np.floating):
        raise ArrayError(
            f"mask must be boolean (True is visible) or float (added to the scores); got {mask.dtype}. "
            "Write mask.astype(bool) for 0 and 1."
        )
    if np.isnan(mask).any() or np.isposinf(mask).any():
        raise ArrayError("A float mask may hold finite numbers and -inf; got NaN or inf.")
    return mask.astype(np.float64)
