"""Layers: keys and values of another layer than the one that reads them."""

from __future__ import annotations

from collections.abc import Iterator

from attnviz.checks.causes.mistake import Mistake, Setting, each_and_all
from attnviz.checks.nodes import Node, Nodes, evaluated
from attnviz.checks.rounding import Precision, Rounded
from attnviz.core.stage import split_layer


def of_other_layers(setting: Setting) -> Iterator[Mistake]:
    """Keys, values or both that another layer has made."""
    read = _read(setting)
    elsewhere = [(*split_layer(stage.name), stage.name) for stage in setting.trace.stages]
    elsewhere = [each for each in elsewhere if each[1] and each[0] in read.values()]
    for number in sorted({layer for _, layer, _ in elsewhere}):
        of_layer = {stage: _made(setting.nodes, name) for stage, layer, name in elsewhere if layer == number}
        for letters in each_and_all(tuple(letter for letter in read if read[letter] in of_layer), ("k", "v")):
            changed = {read[letter]: of_layer[read[letter]] for letter in letters}
            yield Mistake("of another layer", next(iter(changed)), f"{' '.join(letters)} {number}", changed)


def _read(setting: Setting) -> dict[str, str]:
    """The stages that scores read as keys, and heads as values."""
    pairs = {"k": "scores", "v": "heads"}
    made = {letter: setting.nodes[stage].inputs for letter, stage in pairs.items() if setting.makes(stage)}
    return {letter: inputs[1] for letter, inputs in made.items() if inputs[1].startswith(letter)}


def _made(nodes: Nodes, stage: str) -> Node:
    """A stage as it is made, whatever is changed."""

    def make(given: list[Rounded], precision: Precision) -> Rounded:
        return evaluated(nodes, precision, {stage})[stage]

    return Node((), make)
