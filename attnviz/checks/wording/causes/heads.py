"""Heads: rows that are cut into heads, shared by them or joined otherwise, in words and code."""

from __future__ import annotations

from attnviz.checks.axes import WRONG_AXES
from attnviz.checks.wording.causes.cause import JOINED, Cause, of, of_letters, plain
from attnviz.checks.wording.words import title
from attnviz.explain.wording import listed

_SPLIT = "{letter} = {letter}.view(n, t, n_heads, d_k).transpose(1, 2)"


def _of_axes(about: str) -> str:
    stage, theirs, expected = about.split("; ")
    return f"the axes of {title(stage)} are {theirs}; expected {expected}"


CAUSES: dict[str, Cause] = {
    WRONG_AXES: Cause(_of_axes, "", ""),
    "heads split without transposing": Cause(
        of("cut into heads without transposing"),
        "{letter} = {letter}.view(n, n_heads, t, d_k)",
        _SPLIT,
        slots=of_letters,
    ),
    "heads interleaved": Cause(
        of("cut into heads that take turns, one dimension each"),
        "{letter} = {letter}.view(n, t, d_k, n_heads).permute(0, 3, 1, 2)",
        _SPLIT,
        slots=of_letters,
    ),
    "heads joined without transposing": Cause(
        plain("the heads were joined without transposing"), "out = heads.reshape(n, t, d_model)", JOINED
    ),
    "heads joined in another order": Cause(
        plain("the heads were joined so that they take turns, one dimension each"),
        "out = heads.permute(0, 2, 3, 1).reshape(n, t, d_model)",
        JOINED,
    ),
    "heads in another order": Cause(
        lambda about: f"the heads were in another order: {listed(about.split())}",
        "heads = heads[:, order]",
        "heads = heads",
    ),
    "groups tiled": Cause(
        of("tiled, where each group belongs to heads in a row"),
        "{letter} = {letter}.repeat(1, n_heads // n_groups, 1, 1)",
        "{letter} = {letter}.repeat_interleave(n_heads // n_groups, dim=1)",
        slots=of_letters,
    ),
}
