"""What if: the walkthrough, asking what another number would move. Not in the menu; links to it keep working."""

from attnviz.scene.scene import QUESTIONS
from attnviz.ui.state import store

store.read().open_page("pages/walkthrough.py", question=QUESTIONS[-1])
