"""A session done again from its record; as a script it writes its answers, and can't import Streamlit."""

import json
import sys
from pathlib import Path

RECORD = json.loads((Path(__file__).parents[1] / "data" / "replay.json").read_text("utf-8"))
"""What was done: of each request the view of the page, and the actions."""


def replayed():
    """The answers to what is in the record."""
    from attnviz.contract.request_reply import ActionsRequest
    from attnviz.scene.actions.session import Session, reply_to
    from attnviz.scene.scene import FIRST_VISIT

    session = Session(FIRST_VISIT)
    look = "?step=softmax&cell=1.2.1.1.1"
    return [
        reply_to(session, ActionsRequest("a tab", session.address, look, view, actions, [])) for view, actions in RECORD
    ]


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    sys.modules["streamlit"] = None
    sys.stdout.buffer.write(b"\n".join(replayed()))
