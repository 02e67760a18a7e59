"""Sections of several pages: running an audit, downloads, worked examples, and your own numbers."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import NoReturn

import pandas as pd
import streamlit as st

from attnviz.analysis.audit import Audit, audit
from attnviz.app.browser_tabs import LONG_WORK, current_tab
from attnviz.app.components import draw_article
from attnviz.app.page_scene import PageScene, SceneSetter
from attnviz.app.scripts import loader, rerun
from attnviz.articles import worked
from attnviz.articles.upload_reply import OPEN, OPEN_MODEL, OPEN_PAIR
from attnviz.checks.uploads import EXAMPLES as FILES
from attnviz.checks.uploads import QUESTIONS, example_file
from attnviz.classroom.fair_queue import Part
from attnviz.core.limits import MAX_FILE_BYTES, MAX_FILE_SIZE
from attnviz.core.trace import Trace
from attnviz.examples import EXAMPLES
from attnviz.explain import export
from attnviz.models.statefile import MAX_EMBEDDING, MAX_PLACES, MAX_WORDS, SAVING
from attnviz.scene.actions.messages import option_in
from attnviz.scene.actions.session import Session
from attnviz.scene.document.pass_cache import pass_key
from attnviz.scene.scene import OWN_MODEL, OWN_PARAMETERS, parts_for_source


def run_audit(shown: PageScene) -> NoReturn:
    """Audit the shown pass with a progress bar, then rerun the page: with the verdict, or because the pass changed."""
    session, before = shown.session, pass_key(shown.session.scene)
    n_cells = sum(stage.size for stage in shown.trace.stages)
    bar = st.progress(0, text="Recomputing every number from its terms")
    slices, n_done, percent = [], 0, 0
    for each in until_cancelled(LONG_WORK.run_in_turns(current_tab().owner, audit(shown.trace))):
        if pass_key(session.scene) != before:  # an action changed it, and actions don't end a run
            st.rerun()
        slices.append(each)
        n_done += each.n_given + each.n_recomputed
        if 100 * n_done // n_cells > percent:
            percent = 100 * n_done // n_cells
            bar.progress(percent, text=f"Recomputing {each.stage}")
    session.audit = (pass_key(shown.scene), Audit(tuple(slices)))
    st.rerun()


def until_cancelled(parts: Iterator[Part]) -> Iterator[Part]:
    """Yield parts until the visitor leaves or changes something: Streamlit ends such a run at a session read."""
    for part in parts:
        _ = "unwanted" in st.session_state
        yield part


def offer_file(session: Session, label: str, name: str, make: Callable[[Trace | None], bytes]) -> None:
    """Offer a file made from the shown pass on demand: no run follows an action. Streamlit keeps the maker for as long
    as the page is open, so it gets the pass only when called.
    """
    st.download_button(label, lambda: make(session.resolved().trace), name, on_click="ignore")


def offer_arrays(session: Session) -> None:
    """Offer the arrays of the shown pass."""
    offer_file(session, "Arrays (attnviz.npz)", "attnviz.npz", lambda trace: export.arrays(trace) if trace else b"")


def draw_notebook(shown: PageScene) -> None:
    """Draw a worked example: the choice of one, what it shows, what went wrong, and where its numbers come from."""
    example = EXAMPLES[shown.scene.notebook]
    draw_article(shown, "notebook", *worked.article(example.id), _choose_notebook)
    key = f"of_{example.id}"
    was_open = f"{key} was open"  # Streamlit forgets it on other pages
    st.session_state.setdefault(key, st.session_state.get(was_open, False))
    folded = st.expander(f"The notebook and its {worked.counted(example.agreement)}", key=key, on_change="rerun")
    st.session_state[was_open] = folded.open
    if not folded.open:
        return
    with folded:
        st.markdown(
            f"{example.source}\n\n{worked.lines(example.id)}\n\n"
            "Each printed number once, beside the computed one: ✓ agrees to the last digit printed, ≈ within the "
            "rounding of the inputs, ✗ does not agree. An input agrees by construction; a label is a number in words, "
            "such as the 1 of “Element 1”."
        )
        st.dataframe(_table(example.id), hide_index=True, height=320, key="numbers")


@cache
def _table(notebook: str) -> pd.DataFrame:
    """Every printed number of a notebook next to the computed one."""
    return pd.DataFrame(
        [
            (print_out.name, number.published, number.shown, worked.mark(number), number.kind)
            for print_out in EXAMPLES[notebook].print_outs
            if not print_out.of
            for number in print_out.numbers
        ],
        columns=["print-out", "published", "computed", "agrees", "kind"],
    )


def _choose_notebook(setter: SceneSetter, chosen: Mapping[str, object]) -> None:
    notebook = option_in(chosen.get("notebook"), tuple(EXAMPLES))
    if notebook is not None:
        setter.update(notebook=notebook)


_OF = {"stage": "single", "true_is": "all", "orientation": "all"}
_RARE = ("orientation", "true_is")
# code that saves arrays from PyTorch
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

_numbers = st.components.v2.component(
    "attnviz.numbers", html='<div class="article" aria-busy="true"></div>', js=loader("numbers")
)


def draw_own_numbers(shown: PageScene) -> None:
    """Draw the upload of a file and its comparison, which links to the walkthrough."""
    hint = (
        f".npz, .npy, .safetensors or .csv, or a microgpt as .json, at most {MAX_FILE_SIZE}. It is read on this server "
        "and kept in this tab alone."
    )
    too_large = (
        f"A file of arrays may have at most {MAX_FILE_SIZE}; this one has more. Leave out what attention doesn't need."
    )
    questions: list[dict[str, object]] = [
        {"event": name, "label": label, "options": _options(answers)}
        | {"of": _OF.get(name, "several"), "rare": name in _RARE}
        for name, (label, answers) in QUESTIONS.items()
    ]
    data = {"tab": current_tab().token, "hint": hint, "most": MAX_FILE_BYTES, "tooLarge": too_large}
    data |= {"examples": _options(FILES), "questions": questions}
    parts = _parts_of_link(shown.session, _numbers(key="numbers", data=data, on_opened_change=rerun).opened)
    if parts:
        shown.open_page("pages/walkthrough.py", **parts)


def _options(labels: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"value": value, "label": label} for value, label in labels.items()]


_OPENS = {OPEN: OWN_PARAMETERS, OPEN_MODEL: OWN_MODEL}


def _parts_of_link(session: Session, link: str | None) -> dict[str, object]:
    """The parts of the scene that a link leads to; your own model gets its first example."""
    if link == OPEN_PAIR:
        return session.pair()
    if link not in _OPENS:
        return {}
    model = session.uploads.get(OWN_MODEL)
    sentence = {"sentence": model.examples[0][1]} if link == OPEN_MODEL and model else {}
    return parts_for_source(_OPENS[link]) | sentence


def draw_saving(session: Session) -> None:
    """Explain how to save your own arrays, and offer a file to start with."""
    st.code(SNIPPET, language=None)
    st.markdown(
        "A **microgpt** of your own (its 200 lines of Python, with your own text) opens as a model: add these lines to "
        "its end, and give the file here. They also write the logits after one name, with which it is checked. It is "
        f'read with ReLU and RMSNorm (else add `"activation": "gelu"` or `"relu2"`, `"norm": "layernorm"`), '
        f"an `n_embd` of at most {MAX_EMBEDDING}, a `block_size` of at most {MAX_PLACES} and {MAX_WORDS - 1} letters."
    )
    st.code(SAVING, language=None)
    correct = partial(example_file, "correct")
    offer_file(session, "A correct file to begin with (numbers.npz)", "numbers.npz", correct)
