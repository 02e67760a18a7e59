"""The parts that know Streamlit: the scene of a session, the parts of a page, the viewer."""
