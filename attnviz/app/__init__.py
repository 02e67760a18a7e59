"""The only package that knows Streamlit: page scenes, the parts of pages, routes, middleware and the command."""
