"""Groups: keys and values that several heads share, head h those of group h // (heads / groups)."""

from dataclasses import replace

import numpy as np

from attnviz.core.operations.rule import Rule


def repeated(groups: np.ndarray, times: int) -> np.ndarray:
    """The array of each head, from those of the groups: each group's, as often as heads share it."""
    return groups if times == 1 else np.repeat(groups, times, axis=-3)


def by_group(derivatives: np.ndarray, times: int) -> np.ndarray:
    """The derivatives of each group, from those of the heads that share it."""
    if times == 1:
        return derivatives
    *batch, n_heads, rows, columns = derivatives.shape
    return derivatives.reshape(*batch, n_heads // times, times, rows, columns).sum(axis=-3)


def of_groups(rule: Rule, times: int) -> Rule:
    """A rule in which the axis of heads is `(g r)`, and `r` counts the heads of a group."""
    return replace(rule, sizes={**rule.sizes, "r": times})


def repeating(name: str, times: int) -> str:
    """`repeated` in NumPy."""
    return name if times == 1 else f"np.repeat({name}, {times}, axis=0)"
