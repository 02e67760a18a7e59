"""What if: the whole pass, asking what another number would move. Not in the menu; links to it keep working."""

from attnviz.scene.scene import QUESTIONS
from attnviz.text.steps import STEPS
from attnviz.ui.state import store

store.read().open_page("pages/walkthrough.py", step=STEPS[-1].id, question=QUESTIONS[-1])
