"""Articles: pages as data, which a component of our own draws; nothing of Streamlit."""
