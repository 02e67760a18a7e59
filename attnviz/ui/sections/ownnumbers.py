"""Your own numbers on the page: where a file goes, which the browser sends by its own route; how one is saved."""

from collections.abc import Callable

import streamlit as st

from attnviz.core.settings import MAX_FILE_BYTES
from attnviz.scene.ownexamples import EXAMPLES, example_file
from attnviz.scene.ownrequest import QUESTIONS
from attnviz.scene.scene import OWN_PARAMETERS, parts_for_source
from attnviz.scene.tabscene import TabScene
from attnviz.ui.article.compared import OPEN
from attnviz.ui.loader import loader
from attnviz.ui.state import tabs
from attnviz.ui.state.store import Shown

_MEBIBYTES = f"{MAX_FILE_BYTES // 2**20} MiB"
_OF = {"stage": "single", "true_is": "all", "orientation": "all"}
_RARE = ("orientation", "true_is")
SNIPPET = """\
import numpy as np
import torch

attention = torch.nn.MultiheadAttention(embed_dim=8, num_heads=2, batch_first=True)  # yours
tokens = ["the", "cat", "sat", "down", "quietly"]
x = torch.randn(1, 5, 8)
hidden = torch.ones(5, 5, dtype=torch.bool).triu(1)
with torch.no_grad():
    output, shares = attention(x, x, x, attn_mask=hidden, average_attn_weights=False)

arrays = {"x": x, "attn_mask": hidden, "attention": shares, "output": output, "tokens": tokens}
np.savez("numbers.npz", **attention.state_dict(), **arrays)
"""
"""How arrays are saved from PyTorch."""

_component = st.components.v2.component(
    "attnviz.numbers", html='<div class="article" aria-busy="true"></div>', js=loader("numbers")
)


def draw(shown: Shown) -> None:
    """Draw where a file goes and what came of it; the door in that leads to its pass in the walkthrough."""
    data = {
        "tab": tabs.mine().token,
        "hint": f".npz, .npy, .safetensors or .csv, at most {_MEBIBYTES}. It is compared on this server and kept in "
        "this tab alone.",
        "most": MAX_FILE_BYTES,
        "tooLarge": f"A file of arrays may have at most {_MEBIBYTES}; this one has more. Leave out what attention "
        "doesn't need.",
        "examples": [{"value": name, "label": label} for name, label in EXAMPLES.items()],
        "questions": [
            {
                "event": name,
                "label": label,
                "options": [{"value": value, "label": text} for value, text in answers.items()],
                "of": _OF.get(name, "several"),
                "rare": name in _RARE,
            }
            for name, (label, answers) in QUESTIONS.items()
        ],
    }
    result = _component(key=shown.key("numbers"), data=data, on_opened_change=_opened)
    if result.opened == OPEN:
        shown.open_page("pages/walkthrough.py", **parts_for_source(OWN_PARAMETERS))


def draw_saving(place: TabScene) -> None:
    """Say how one's own arrays are saved, and offer a file to begin with."""
    st.code(SNIPPET, language=None)
    st.download_button("A correct file to begin with (numbers.npz)", _maker(place), "numbers.npz", on_click="ignore")


def _maker(place: TabScene) -> Callable[[], bytes]:
    """What makes the file, of the pass that is shown then; it is given none, as Streamlit keeps it."""

    def made() -> bytes:
        return example_file("correct", place.fitted().trace)

    return made


def _opened() -> None:
    """The run that follows opens the page: a callback can't."""
