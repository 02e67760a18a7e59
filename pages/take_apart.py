"""Take it apart: the walkthrough, at a number that is taken apart. Not in the menu; links to it keep working."""

from attnviz.scene.opening import take_apart
from attnviz.ui.state import store

shown = store.read()
shown.open_page("pages/walkthrough.py", **take_apart(shown))
