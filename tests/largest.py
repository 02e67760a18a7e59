"""The largest pass there is, as an address: all words of both texts, the longest vectors, a head for each number."""

from urllib.parse import urlencode

from attnviz.core.limits import MAX_TOKENS
from attnviz.core.settings import OPTIONS

_MAX_D_MODEL = str(max(OPTIONS["d_model"].allowed))
ADDRESS = {
    "sentence": " ".join(f"w{n}" for n in range(MAX_TOKENS)),
    "context": " ".join(f"c{n}" for n in range(MAX_TOKENS)),
    "d_model": _MAX_D_MODEL,
    "heads": _MAX_D_MODEL,
}


def query(**others: str) -> str:
    """The address with some of it changed, as it is written behind a question mark."""
    return urlencode(ADDRESS | others)
