"""The model built by hand as pieces of an article: what its two layers look at, and its answer."""

import math

import numpy as np

from attnviz.articles import pieces
from attnviz.articles.blocks import LAYER_1, LAYER_2, SOURCE, VECTOR, matrix_pieces, shared
from attnviz.articles.breaking import broken_pieces
from attnviz.articles.doors import Door, door_to
from attnviz.articles.matrix import Side, matrix
from attnviz.contract.article import Heading, Piece
from attnviz.core.trace import Trace
from attnviz.explain.markup import Runs, runs
from attnviz.explain.wording import share
from attnviz.models import MODELS
from attnviz.models.task import most_probable
from attnviz.scene.resolution import SceneWithPass

TRAINED = "recall"


def pictures(resolved: SceneWithPass, part: str) -> tuple[list[Piece], dict[str, Door]]:
    """All of the page's pictures, with one part of the model, and the doors in them."""
    changes = resolved.scene.changes
    string, at_string = string_pieces(resolved)
    broken, at_broken = broken_pieces(changes)
    trained, at_trained = trained_pieces()
    return [*string, *matrix_pieces(part, shared(changes)), *broken, *trained], at_string | at_broken | at_trained


def string_pieces(resolved: SceneWithPass) -> tuple[list[Piece], dict[str, Door]]:
    """The attention of both layers in the string and their answer, if it makes a pass; and the door to it."""
    if resolved.trace is None:
        return [], {}
    scene, trace = resolved.scene, resolved.trace
    output = matrix("The output of the last letter", trace["output_2"].value[-1:], Side("", ("output",)), VECTOR)
    drawn = [
        pieces.door("open", "Open in the walkthrough", _answer(trace)),
        pieces.beside(*(_layer(trace, layer, title) for layer, title in ((1, LAYER_1), (2, LAYER_2)))),
        pieces.text("**The output of the last letter**"),
        output,
    ]
    return drawn, {"open": door_to(SOURCE, scene.sentence, changes=scene.changes)}


def _layer(trace: Trace, layer: int, title: str) -> list[Piece]:
    """The attention of one layer."""
    attention, words = trace[f"attention_{layer}"].value[0], trace.labels["query"]
    sides = Side("queries", words), Side("keys", words)
    return [
        pieces.text([["strong", title], ["", f" {_looks(words, attention[-1])}"]]),
        matrix(f"The attention of layer {layer}", attention, *sides, is_share=True),
    ]


def trained_pieces() -> tuple[list[Piece], dict[str, Door]]:
    """The section on training, which finds the same two layers, with measured shares; and the door to them."""
    choice = MODELS[TRAINED]
    kept = [choice.training_data(seed, None)["patterns"] for seed in choice.seeds]
    measured = []
    for patterns in zip(*kept, strict=True):
        least = math.floor(100 * min(each["value"] for each in patterns))
        measured.append(f"{patterns[0]['label']} **{least} % or more**")
    paragraph = (
        f"Nobody chose the parameters of “{choice.title}”. Trained from {len(kept)} seeds, it has come to the same two "
        f"layers each time ({'; '.join(measured)}). Together they are called an *induction circuit*."
    )
    drawn = [
        Heading(2, "Training finds the same"),
        pieces.text(paragraph),
        pieces.door("trained", choice.title),
    ]
    return drawn, {"trained": door_to(TRAINED, choice.examples[0][1])}


def _looks(words: tuple[str, ...], row: np.ndarray) -> str:
    """Where the last letter looks most."""
    most = np.flatnonzero(row == row.max())
    if len(most) > 1:
        return f"The last “{words[-1]}” looks at {len(most)} positions alike, {share(row.max())} each."
    return f"The last “{words[-1]}” looks most at “{words[most[0]]}”: {share(row.max())}."


def _answer(trace: Trace) -> Runs:
    """The model's answer at the last letter, whether that is right, and whether it is exact."""
    probabilities, answers = trace["probabilities"].value[-1], trace.labels["answer"]
    most = [answers[place] for place in np.flatnonzero(most_probable(probabilities))]
    each = " each" if len(most) > 1 else ""
    says = runs(f"The answer is **{' or '.join(most)}**, with a probability of {share(probabilities.max())}{each}")
    right = trace.origin.right[-1]
    if right is None:
        return [*says, ["", ". The last letter did not occur exactly once before, so no answer is right."]]
    mark = [["right", " ✓"]] if most == [right] else [["wrong", " ✗"], *runs(f" (**{right}** is right)")]
    output = trace["output_2"].value[-1]
    is_exact = np.count_nonzero(output) == 1 and output.max() == 1
    return [*says, *mark, ["", f". The output is {'' if is_exact else 'not '}exactly one 1 and otherwise 0."]]
