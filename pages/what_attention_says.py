"""What attention doesn't say: three measurements on the trained models, with numbers."""

import streamlit as st

from attnviz.app import evidence, page_frame, page_scene
from attnviz.articles.evidence import INTRODUCTION, TITLE

shown = page_scene.read()
with page_frame.article(shown, TITLE):
    st.markdown(f"{INTRODUCTION} All numbers are computed as the page opens.")
    evidence.draw(shown)
