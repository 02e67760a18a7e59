"""Layers: keys and values of another layer, in words and code."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.checks.wording.causes.cause import ROWS, Cause
from attnviz.explain.wording import listed


def _of_another(about: str) -> str:
    *letters, layer = about.split()
    return f"{listed([ROWS[each] for each in letters])} were those of layer {layer}"


def _kept(about: str) -> Mapping[str, str]:
    *letters, layer = about.split()
    made = ", ".join(letters)
    read = ", ".join(f"kept_{ROWS[each]}[{{0}}]" for each in letters)
    return {"wrong": f"{made} = {read.format(layer)}", "right": f"{made} = {read.format('layer')}"}


CAUSES: dict[str, Cause] = {"of another layer": Cause(_of_another, "{wrong}", "{right}", slots=_kept)}
