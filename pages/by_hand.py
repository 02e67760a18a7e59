"""Built by hand: a model whose every parameter was chosen, what each is for, and what breaks if it is another."""

import streamlit as st

from attnviz.app import by_hand, components, page_frame, page_scene
from attnviz.articles.byhand import pictures

shown = page_scene.read()
with page_frame.article(shown, "Built by hand"):
    st.markdown(
        "Can one write attention, as one writes a program? Here nothing was learnt: two layers were put together by "
        "hand to answer one question: **what came after this letter last time?** After “abca” that is b. "
        "The question only makes sense if the last letter occurred exactly once before. A vector has 16 numbers in "
        "three blocks: the **word**, its **position** and the **previous word**. Layer 1 fills in the previous word. "
        "Layer 2 looks for the position whose previous word is the last letter, and copies the word there. A mark, "
        "“^”, begins each string, so that the first letter has a word before it too."
    )
    resolved = by_hand.resolved(shown)
    changes = resolved.scene.changes
    choice, drawn = st.columns([1, 3], gap="medium")
    with choice, st.container(key="beside"):
        by_hand.ask(shown, resolved)
        by_hand.choose(shown, changes)
    with drawn:
        pieces, doors = pictures(resolved, by_hand.shown_part(shown, changes))
        components.draw_article(shown, "pictures", pieces, doors, by_hand.choose_part)
