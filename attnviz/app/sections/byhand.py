"""The model built by hand on the page: a string of one's own."""

import streamlit as st

from attnviz.app.state.setter import SceneSetter
from attnviz.app.state.store import Shown
from attnviz.articles.byhand import SOURCE
from attnviz.articles.pieces import door_to
from attnviz.core.errors import SettingsError
from attnviz.core.limits import MAX_CHARACTERS
from attnviz.explain.markup import markdown
from attnviz.models.byhand import MODEL
from attnviz.scene.document.pass_cache import PASS_CACHE
from attnviz.scene.scene import of_model
from attnviz.scene.with_pass import SceneWithPass


def resolved(shown: Shown) -> SceneWithPass:
    """The scene of the page, if it is of this model; else the model's first example. No other reads its string."""
    if shown.scene.source != SOURCE:
        return PASS_CACHE.resolved(of_model(SOURCE))
    try:
        MODEL.tokens(shown.scene.sentence)
    except SettingsError as error:
        return SceneWithPass(shown.kept, None, None, refused=(str(error),))
    return shown


def update(setter: SceneSetter, **parts: object) -> None:
    """Change parts of the scene, in a callback; it becomes one of this model, if it is of another."""
    if setter.kept.source != SOURCE:
        parts = door_to(SOURCE, MODEL.task.examples[0][1]) | parts
    setter.update(**parts)


def ask(shown: Shown, resolved: SceneWithPass) -> None:
    """Draw the box for a string, and help if it makes no pass."""
    scene = resolved.scene
    st.markdown("## Try it")
    st.text_input(
        "A string of the letters a to d",
        key=shown.holds("string", scene.sentence),
        live=True,
        max_chars=MAX_CHARACTERS,
        on_change=_typed,
        args=(shown.setter,),
    )
    if resolved.refused:
        st.warning("  \n".join(map(markdown, resolved.refused)), icon=":material/info:")


def _typed(setter: SceneSetter) -> None:
    update(setter, sentence=setter.value("string"))
