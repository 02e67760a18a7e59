"""Your own numbers on the page: where a file goes, which the browser sends by its own route; how one is saved."""

from functools import partial

import streamlit as st

from attnviz.app.loader import loader, runs
from attnviz.app.sections import downloads
from attnviz.app.state import tabs
from attnviz.app.state.store import Shown
from attnviz.articles.upload import OPEN, OPEN_MODEL, OPEN_PAIR
from attnviz.checks.uploads.examples import EXAMPLES, example_file
from attnviz.checks.uploads.request import QUESTIONS
from attnviz.core.limits import MAX_FILE_BYTES, MAX_FILE_SIZE
from attnviz.models.statefile import MAX_EMBEDDING, MAX_PLACES, MAX_WORDS, SAVING
from attnviz.scene.actions.session import Session
from attnviz.scene.scene import OWN_MODEL, OWN_PARAMETERS, parts_for_source

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
"""Code that saves arrays from PyTorch."""

_component = st.components.v2.component(
    "attnviz.numbers", html='<div class="article" aria-busy="true"></div>', js=loader("numbers")
)


def draw(shown: Shown) -> None:
    """Draw where a file goes and what came of it; the doors in that lead to its passes in the walkthrough."""
    data = {
        "tab": tabs.mine().token,
        "hint": f".npz, .npy, .safetensors or .csv, or a microgpt as .json, at most {MAX_FILE_SIZE}. It is read on "
        "this server and kept in this tab alone.",
        "most": MAX_FILE_BYTES,
        "tooLarge": f"A file of arrays may have at most {MAX_FILE_SIZE}; this one has more. Leave out what attention "
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
    result = _component(key="numbers", data=data, on_opened_change=runs)
    parts = _opened(shown.session, result.opened)
    if parts:
        shown.open_page("pages/walkthrough.py", **parts)


_OPENS = {OPEN: OWN_PARAMETERS, OPEN_MODEL: OWN_MODEL}


def _opened(session: Session, door: str | None) -> dict[str, object]:
    """The parts of the scene that a door leads to; a model of one's own is asked its first question."""
    if door == OPEN_PAIR:
        return session.pair()
    if door not in _OPENS:
        return {}
    model = session.uploads.get(OWN_MODEL)
    typed = {"sentence": model.examples[0][1]} if door == OPEN_MODEL and model else {}
    return parts_for_source(_OPENS[door]) | typed


def draw_saving(session: Session) -> None:
    """Say how one's own arrays are saved, and offer a file to begin with."""
    st.code(SNIPPET, language=None)
    st.markdown(
        "A **microgpt** of your own (its 200 lines of Python, with your own text) opens as a model: add these lines to "
        "its end, and give the file here. They also write the logits after one name, with which it is checked. It is "
        f'read with ReLU and RMSNorm (else add `"activation": "gelu"` or `"relu2"`, `"norm": "layernorm"`), '
        f"an `n_embd` of at most {MAX_EMBEDDING}, a `block_size` of at most {MAX_PLACES} and {MAX_WORDS - 1} letters."
    )
    st.code(SAVING, language=None)
    correct = partial(example_file, "correct")
    downloads.draw(session, "A correct file to begin with (numbers.npz)", "numbers.npz", correct)
