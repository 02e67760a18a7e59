"""Take it apart: the walkthrough, at a number that is taken apart. Not in the menu; links to it keep working."""

from attnviz.ui.state import store

shown = store.read()
selected = (
    (str(shown.trace.cell_at(shown.trace.output.name, shown.scene.selection.within(shown.trace))),)
    if shown.trace
    else ()
)
shown.open_page("pages/walkthrough.py", trail=shown.scene.trail or selected)
