"""Where the app is, and the settings it is served with: those of `.streamlit/config.toml`, read in one place."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

_PACKAGE = Path(__file__).parents[2]
HOME = next(each for each in (_PACKAGE / "streamlit_files", _PACKAGE.parent) if (each / "app.py").exists())
"""Where `app.py`, its pages and its settings are: in an installed package, or in a clone."""


def settings() -> dict[str, object]:
    """Our settings, by the names that Streamlit gives them.

    >>> settings()["browser.gatherUsageStats"]
    False
    """
    text = (HOME / ".streamlit" / "config.toml").read_text("utf-8")
    return dict(_flat(tomllib.loads(text)))


def _flat(table: dict, prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
