"""What knows Streamlit: controls, the address, the matrix component, the walkthrough's parts."""
