"""Articles: pages of text and tables as data, without Streamlit."""
