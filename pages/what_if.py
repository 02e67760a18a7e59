"""What if: the walkthrough, asking what another number would move. Not in the menu; links to it keep working."""

from attnviz.scene.opening import what_if
from attnviz.ui.state import store

shown = store.read()
shown.open_page("pages/walkthrough.py", **what_if(shown))
