"""The page that the others are measured against: one line of text."""

import streamlit as st

count = st.session_state.get("count", 0)
st.button("Next", key="next", on_click=lambda: st.session_state.update(count=count + 1))
st.text(f"answer {count}")
