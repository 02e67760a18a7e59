"""The model built by hand on the page: a string of one's own, what its two layers look at, and its answer."""

import math

import numpy as np
import streamlit as st

from attnviz.core.errors import SettingsError
from attnviz.core.settings import MAX_CHARACTERS
from attnviz.core.trace import Trace
from attnviz.models import MODELS
from attnviz.models.byhand import MODEL
from attnviz.models.task import most_probable
from attnviz.scene.fitting import SceneWithPass, fit
from attnviz.scene.pass_cache import ANSWERS
from attnviz.scene.scene import of_model
from attnviz.text.markup import Runs, runs
from attnviz.text.wording import precise
from attnviz.ui.article import pieces
from attnviz.ui.article.component import Door
from attnviz.ui.article.matrix import Side, matrix
from attnviz.ui.article.pieces import Piece
from attnviz.ui.escaping import markdown
from attnviz.ui.sections import door
from attnviz.ui.sections.blocks import LAYER_1, LAYER_2, VECTOR
from attnviz.ui.state.store import Shown
from attnviz.ui.state.writer import Writer

SOURCE, TRAINED = "by-hand", "recall"


def fitted(shown: Shown) -> SceneWithPass:
    """The scene of the page, if it is of this model; else the model's first example. No other reads its string."""
    if shown.scene.source != SOURCE:
        return fit(of_model(SOURCE), ANSWERS.original)
    try:
        MODEL.tokens(shown.scene.sentence)
    except SettingsError as error:
        return SceneWithPass(shown.kept, None, None, refused=(str(error),))
    return shown


def update(writer: Writer, **parts: object) -> None:
    """Change parts of the scene, in a callback; it becomes one of this model, if it is of another."""
    if writer.kept.source != SOURCE:
        parts = door.parts_of(SOURCE, MODEL.task.examples[0][1]) | parts
    writer.update(**parts)


def ask(shown: Shown, fitted: SceneWithPass) -> None:
    """Draw the box for a string, and help if it makes no pass."""
    scene = fitted.scene
    st.markdown("## Try it")
    st.text_input(
        "A string of the letters a to d",
        key=shown.holds("string", scene.sentence),
        live=True,
        max_chars=MAX_CHARACTERS,
        on_change=_typed,
        args=(shown.writer,),
    )
    if fitted.refused:
        st.warning("  \n".join(map(markdown, fitted.refused)), icon=":material/info:")


def string_pieces(fitted: SceneWithPass) -> tuple[list[Piece], dict[str, Door]]:
    """What both layers look at in the string and what they answer, if it makes a pass; and the door to it."""
    if fitted.trace is None:
        return [], {}
    scene, trace = fitted.scene, fitted.trace
    output = matrix("The output of the last letter", trace["output_2"].value[-1:], Side("", ("output",)), VECTOR)
    drawn = [
        pieces.door("open", "Open in the walkthrough", _answer(trace)),
        pieces.beside(*(_layer(trace, layer, title) for layer, title in ((1, LAYER_1), (2, LAYER_2)))),
        pieces.text("**The output of the last letter**"),
        output,
    ]
    return drawn, {"open": door.parts_of(SOURCE, scene.sentence, changes=scene.changes)}


def _layer(trace: Trace, layer: int, title: str) -> list[Piece]:
    """What one layer looks at."""
    attention, words = trace[f"attention_{layer}"].value[0], trace.labels["query"]
    sides = Side("queries", words), Side("keys", words)
    return [
        pieces.text([["strong", title], ["", f" {_looks(words, attention[-1])}"]]),
        matrix(f"The attention of layer {layer}", attention, *sides, is_share=True),
    ]


def trained_pieces() -> tuple[list[Piece], dict[str, Door]]:
    """That training finds the same two layers, with what was measured of them; and the door to them."""
    choice = MODELS[TRAINED]
    kept = [choice.training_data(seed, None)["patterns"] for seed in choice.seeds]
    measured = []
    for patterns in zip(*kept, strict=True):
        least = math.floor(100 * min(each["value"] for each in patterns))
        measured.append(f"{patterns[0]['label']} **{least} % or more**")
    said = (
        f"Nobody chose the parameters of “{choice.title}”. Trained from {len(kept)} seeds, it has come to the same two "
        f"layers each time ({'; '.join(measured)}). Together they are called an *induction circuit*."
    )
    drawn = [
        pieces.heading(2, "Training finds the same"),
        pieces.text(said),
        pieces.door("trained", choice.title),
    ]
    return drawn, {"trained": door.parts_of(TRAINED, choice.examples[0][1])}


def _looks(words: tuple[str, ...], row: np.ndarray) -> str:
    """Where the last letter looks most."""
    most = np.flatnonzero(row == row.max())
    if len(most) > 1:
        return f"The last “{words[-1]}” looks at {len(most)} positions alike, {share(row.max())} each."
    return f"The last “{words[-1]}” looks most at “{words[most[0]]}”: {share(row.max())}."


def _answer(trace: Trace) -> Runs:
    """What the model answers at the last letter, whether that is right, and whether it is exact."""
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


def share(value: float) -> str:
    """A share as it is said; 0 or 1 only if it is no more and no less."""
    return f"{value:g}" if value in (0, 1) else precise(value)


def _typed(writer: Writer) -> None:
    update(writer, sentence=writer.value("string"))
