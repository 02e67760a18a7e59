"""The viewer: what shows a pass in a browser, given as data. It knows no Streamlit."""
