"""The model built by hand on the page: a string of one's own, what its two layers look at, and its answer."""

import math

import numpy as np
import streamlit as st

from attnviz.core.settings import MAX_CHARACTERS
from attnviz.core.trace import Trace
from attnviz.models import MODELS
from attnviz.models.byhand import MODEL
from attnviz.models.task import most_probable
from attnviz.scene.answers import ANSWERS
from attnviz.scene.fitting import Fitted, fit
from attnviz.scene.scene import of_model
from attnviz.text.wording import precise
from attnviz.ui.escaping import markdown
from attnviz.ui.sections import door, heatmap
from attnviz.ui.sections.blocks import LAYER_1, LAYER_2, VECTOR
from attnviz.ui.sections.heatmap import Chart, Side
from attnviz.ui.state.store import Shown
from attnviz.ui.state.writer import Writer

SOURCE, TRAINED = "by-hand", "recall"


def fitted(shown: Shown) -> Fitted:
    """The scene of the page, if it is of this model; else the model's first example."""
    return shown if shown.scene.source == SOURCE else fit(of_model(SOURCE), ANSWERS.original)


def update(writer: Writer, **parts: object) -> None:
    """Change parts of the scene, in a callback; it becomes one of this model, if it is of another."""
    if writer.kept.source != SOURCE:
        parts = door.parts_of(SOURCE, MODEL.task.examples[0][1]) | parts
    writer.update(**parts)


def ask(shown: Shown, fitted: Fitted) -> None:
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


def draw(shown: Shown, fitted: Fitted) -> None:
    """Draw what both layers look at in the string and what they answer, if it makes a pass."""
    if fitted.trace is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(_answer(fitted.trace), width="content")
        scene = fitted.scene
        door.draw(shown, "Open in the walkthrough", "open", SOURCE, scene.sentence, changes=scene.changes)
    with st.container(horizontal=True, gap="large"):
        for layer, title in ((1, LAYER_1), (2, LAYER_2)):
            with st.container(width="content", key=shown.key(f"layer_{layer}")):
                attention = fitted.trace[f"attention_{layer}"].value[0]
                words = fitted.trace.labels["query"]
                st.markdown(f"**{title}** {_looks(words, attention[-1])}", width=360)
                queries, keys = Side("queries", words), Side("keys", words)
                chart = Chart.of(attention, queries, keys, is_share=True)
                heatmap.draw(chart, shown.key(f"attention_{layer}"))
    with st.container(key=shown.key("output")):
        st.markdown("**The output of the last letter**")
        output = fitted.trace["output_2"].value[-1:]
        heatmap.draw(Chart.of(output, Side("", ("output",)), VECTOR), shown.key("output_2"))


def trained(shown: Shown) -> None:
    """Say that training finds the same two layers, with what was measured of them."""
    choice = MODELS[TRAINED]
    kept = [choice.training_data(seed, None)["patterns"] for seed in choice.seeds]
    measured = []
    for patterns in zip(*kept, strict=True):
        least = math.floor(100 * min(each["value"] for each in patterns))
        measured.append(f"{patterns[0]['label']} **{least} % or more**")
    st.markdown("## Training finds the same")
    st.markdown(
        f"Nobody chose the parameters of “{choice.title}”. Trained from {len(kept)} seeds, it has come to the same two "
        f"layers each time ({'; '.join(measured)}). Together they are called an *induction circuit*."
    )
    door.draw(shown, choice.title, "open_trained", TRAINED, choice.examples[0][1])


def _looks(words: tuple[str, ...], row: np.ndarray) -> str:
    """Where the last letter looks most."""
    most = np.flatnonzero(row == row.max())
    if len(most) > 1:
        return f"The last “{words[-1]}” looks at {len(most)} places alike, {share(row.max())} each."
    return f"The last “{words[-1]}” looks most at “{words[most[0]]}”: {share(row.max())}."


def _answer(trace: Trace) -> str:
    """What the model answers at the last letter, whether that is right, and whether it is exact."""
    probabilities, answers = trace["probabilities"].value[-1], trace.labels["answer"]
    most = [answers[place] for place in np.flatnonzero(most_probable(probabilities))]
    each = " each" if len(most) > 1 else ""
    says = f"The answer is **{' or '.join(most)}**, with a probability of {share(probabilities.max())}{each}"
    right = trace.origin.right[-1]
    if right is None:
        return f"{says}. The last letter did not come before exactly once, so no answer is right."
    mark = ":green[✓]" if most == [right] else f":red[✗] (**{right}** is right)"
    output = trace["output_2"].value[-1]
    is_exact = np.count_nonzero(output) == 1 and output.max() == 1
    return f"{says} {mark}. The output is {'' if is_exact else 'not '}exactly one 1 and otherwise 0."


def share(value: float) -> str:
    """A share as it is said; 0 or 1 only if it is no more and no less."""
    return f"{value:g}" if value in (0, 1) else precise(value)


def _typed(writer: Writer) -> None:
    update(writer, sentence=writer.value("string"))
