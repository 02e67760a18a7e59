"""The viewer: the browser code, and what carries it as a page, a notebook cell or a site. It knows no Streamlit."""
