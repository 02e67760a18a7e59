"""Addresses: how long one may be. It holds all that a person looks at, and their words in any script."""

from uvicorn.protocols.http import h11_impl

from attnviz.server import insides

BYTES = 65_536
"""Of a request up to its body, as in deploy/nginx/nginx.conf; two texts of 2,000 characters take at most 48,000."""


def bound() -> None:
    """Have uvicorn read that much: it has an option for it, which Streamlit doesn't pass on."""
    insides.replace(h11_impl, "DEFAULT_MAX_INCOMPLETE_EVENT_SIZE", BYTES)
