"""The only package that knows Streamlit: the store, the parts of pages, routes, middleware and the command."""
