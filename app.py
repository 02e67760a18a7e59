"""The app: `streamlit run app.py`.

Streamlit imports this file once, to serve `app`, and runs it for each visitor, to show a page.
"""

import streamlit as st

from attnviz.app import app_wiring, browser_tabs

if __name__ == "__main__":
    # without an icon set first, Streamlit has the browser ask a font host for that of the page
    st.set_page_config(page_icon="🔎", layout="wide")
    page = st.navigation(
        {
            "": [
                st.Page("pages/lessons.py", title="Lessons", default=True),
                st.Page("pages/walkthrough.py", title="Walkthrough"),
                st.Page("pages/microgpt.py", title="microgpt"),
                st.Page("pages/your_own_numbers.py", title="Your own numbers"),
            ],
            "More": [
                st.Page("pages/translator.py", title="Translator"),
                st.Page("pages/worked_examples.py", title="Worked examples"),
                st.Page("pages/by_hand.py", title="Built by hand"),
                st.Page("pages/what_attention_says.py", title="What attention doesn't say"),
                st.Page("pages/audit.py", title="Audit"),
                st.Page("pages/numpy_code.py", title="The same in NumPy"),
            ],
        },
        position="top",
    )
    st.set_page_config(page_title=f"{page.title} · attnviz")
    with browser_tabs.within_quota():
        page.run()
else:
    app_wiring.allow_files()
    app = st.App(__file__, routes=app_wiring.routes(), middleware=app_wiring.middleware(), lifespan=app_wiring.lifespan)
