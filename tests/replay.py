"""A session done again from its record; as a script it writes its answers, and can't import Streamlit."""

import sys
from pathlib import Path

RECORD = [
    ("pass", [["source", "nothing"]]),
    ("pass", [["sentence", "animal street tired"], ["slopes", "output[0,0]"]]),
    ("pass", [["checkpoint", 0], ["pair", "training"]]),
    ("pass", [["exchange", True], ["unpin", True]]),
    ("pass", [["source", "own-sentence"], ["sentence", "the cat sat on the mat"]]),
    ("pass", [["seed", " 7x"], ["d_model", 9]]),
    ("pass", [["another_seed", True], ["pair", "mask"]]),
    ("pass", [["change", {"cell": "q[0,1,2]", "value": 2.5}], ["mute", {"stage": "heads", "place": 0}]]),
    ("audit", [["change", {"cell": "w_q[0,0,0]", "value": 1e308}]]),
    ("script", [["drop", 0]]),
    ("pass", [["swap", [0, 1]], ["flip", "attention[0,1,0]"], ["need", "q[0,0,0]"]]),
    (
        "pass",
        [["unpin", True], ["source", "microgpt"], ["draw", {"temperature": 1, "top_k": 0, "top_p": 1, "seed": 3}]],
    ),
    ("pass", [["next", True], ["next", True], ["pair", "mlp"]]),
    ("script", [["shorter", True]]),
    ("pass", [["source", "002 multihead"], ["reset", True], ["unpin", None]]),
]
"""What was done: of each request the view of the page, and the acts."""


def replayed():
    """The answers to what is in the record."""
    from attnviz.contract.answer import ActsRequest
    from attnviz.scene.actions.session import Session, answer_to
    from attnviz.scene.scene import FIRST_VISIT

    session = Session(FIRST_VISIT)
    look = "?step=softmax&cell=1.2.1.1.1"
    return [answer_to(session, ActsRequest("a tab", session.address, look, view, acts, [])) for view, acts in RECORD]


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))
    sys.modules["streamlit"] = None
    sys.stdout.buffer.write(b"\n".join(replayed()))
