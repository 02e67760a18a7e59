"""The loader: what Streamlit is given of a component.

Streamlit sends the script of an inline component with every run. The viewer's is
hundreds of kB, so what it sends is a loader of a few lines; a route of the server has the rest.
"""

from pathlib import Path

from attnviz.viewer.script import SCRIPTS

_TEXT = Path(__file__).with_suffix(".js").read_text("utf-8")


def loader(name: str) -> str:
    """The loader of a script, one of `SCRIPTS`."""
    return _TEXT.replace("{path}", SCRIPTS[name].path.lstrip("/"))


def runs() -> None:
    """The callback of what a component asks of the run that follows, such as another page: a callback opens none."""
