"""`page` and `show`: a pass in the viewer, as one HTML file or in a notebook."""

from __future__ import annotations

import html
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path

from attnviz.checks.recording.recorded import Recorded, pass_of
from attnviz.checks.report.compare_arrays import Comparison
from attnviz.checks.uploads import UserStages
from attnviz.core.errors import ArrayError, OwnArraysError, guarded
from attnviz.core.tokens import without_number
from attnviz.core.trace import Trace
from attnviz.explain.wording import counted, listed
from attnviz.models.translator import END
from attnviz.scene.compare import furthest_apart
from attnviz.scene.document.document import document_json
from attnviz.scene.document.reply_notes import ReplyNotes
from attnviz.scene.scene import Scene, pinned
from attnviz.scene.with_pass import SceneWithPass
from attnviz.viewer.bundle import filled

USUAL_BYTES = 850_000  # the usual size of a page; a larger one gets a warning before it is written
MAX_TITLE_CHARACTERS = 80
_FRAME = (
    '<iframe title="{name}" sandbox="allow-scripts allow-downloads" srcdoc="{page}" '
    'style="box-sizing: border-box; width: 100%; height: 46rem; border: 1px solid #8888; resize: vertical"></iframe>'
    "<p>{name}. This output takes {size} of the notebook. No frame above? Trust the notebook, or write the page to a "
    "file: attnviz.page(trace, path).</p>"
)


@dataclass(frozen=True, eq=False)
class Page:
    """A pass in the viewer, as a page that needs no server and no network. A notebook shows it.

    Attributes
    ----------
    title : str
        The words of its pass.
    html : str
    """

    title: str
    html: str

    @property
    def n_bytes(self) -> int:
        """The size of its file."""
        return len(self.html.encode())

    def __repr__(self) -> str:
        return f"attnviz: “{self.title}”, one page of {_size(self.n_bytes)}"

    def _repr_html_(self) -> str:
        """The page in a sandboxed frame, and a line for notebooks that drop frames."""
        return self._framed

    @cached_property
    def _framed(self) -> str:
        page = self.html.replace("&", "&amp;").replace('"', "&quot;")
        name, size = html.escape(f"attnviz: “{self.title}”"), _size(len(page.encode()))
        return _FRAME.format(name=name, page=page, size=size)


def page(trace: Trace | Comparison, path: str | PathLike[str], *, parameters: bool = False) -> int:
    """Write a pass in the viewer as one HTML file, which opens by a double click, without a server or a network.

    Parameters
    ----------
    trace : Trace or Comparison
        For a comparison that names a mistake both passes are written, as `show` has them.
    path : str or path
        The file; an existing one is overwritten.
    parameters : bool
        Whether to write the parameters of a large pass. Without them, its other numbers are in 32 bits, and terms that
        need parameters are left out. Parameters under 250 kB are always written.

    Returns
    -------
    int
        Its size in bytes. Above `USUAL_BYTES` there is a warning before it is written.

    Examples
    --------
    >>> import tempfile
    >>> from attnviz import Settings, page, trace_of
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page(trace_of(Settings("the cat sat")), f"{folder}/cat.html") < 800_000
    True
    """
    return Path(path).write_bytes(_page_of(trace, parameters).html.encode())


def show(trace: Trace | Comparison | Recorded, *, layer: int = 0, parameters: bool = False) -> Page:
    """A pass in the viewer, which a notebook shows as the value of a cell.

    Parameters
    ----------
    trace : Trace, Comparison or Recorded
        For a comparison that names a mistake two passes are shown side by side: A as the compared code computes it, B
        as attnviz does, at the number that is furthest off. For any other comparison, attnviz's pass.
    layer : int
        Which of the recorded layers, counted from 0 as in their model.

    Raises
    ------
    ArrayError, OwnArraysError
        If it is none of these, the comparison has no pass, or attnviz can't compute what the recorded layer does.

    Examples
    --------
    >>> from attnviz import Settings, show, trace_of
    >>> show(trace_of(Settings("the cat sat")))  # doctest: +ELLIPSIS
    attnviz: “the cat sat”, one page of ... kB
    """
    return _page_of(pass_of(trace, layer) if isinstance(trace, Recorded) else trace, parameters)


@guarded("write this page", "the pass, or what made it,")
def _page_of(trace: Trace | Comparison, parameters: bool) -> Page:
    theirs, code, view_params = None, None, {}
    if isinstance(trace, Comparison):
        comparison, trace, theirs = trace, trace.trace, trace.theirs
        if trace is None:
            raise OwnArraysError(f"These arrays make no pass that the viewer shows. {comparison}")
    if theirs:
        code, view_params = UserStages(comparison.mistaken, comparison.at), furthest_apart(theirs, trace, comparison.at)
    if not isinstance(trace, Trace):
        raise ArrayError(f"A page shows a trace, as attend or trace_of returns it; got {type(trace).__name__}.")
    title = _title(trace)
    scene = replace(Scene(sentence=title, view="sheet"), **view_params)
    a = SceneWithPass(replace(pinned(scene), code=code), theirs, theirs) if theirs else None
    document = document_json(
        SceneWithPass(scene, trace, trace, other=a), ReplyNotes(whole=True, without_parameters=not parameters)
    )
    result = Page(title, filled(document, f"{title} – attnviz"))
    if result.n_bytes > USUAL_BYTES:
        warnings.warn(
            f"A page of {_size(result.n_bytes)}, as its pass has {_extent(trace)}; one with fewer is smaller.",
            stacklevel=4,
        )
    return result


def _extent(trace: Trace) -> str:
    """How many layers, if several, tokens and heads a pass has: "3 layers, 8 tokens and 2 heads"."""
    layers = [counted(trace.n_layers, "layer")] if trace.n_layers > 1 else []
    return listed(
        [*layers, *(counted(trace.lengths[each], name) for each, name in (("query", "token"), ("head", "head")))]
    )


def _title(trace: Trace) -> str:
    """The words of a pass, or those that its encoder reads, without the numbers of repeated ones; without words, the
    number of tokens.
    """
    words = [word for word in trace.labels.get("context token" if trace.has_encoder else "query", ()) if word != END]
    if not words:
        return f"a pass of {counted(trace.lengths['query'], 'token')}"
    text = " ".join(without_number(word) if without_number(word) in words else word for word in words)
    return text if len(text) <= MAX_TITLE_CHARACTERS else f"{text[: MAX_TITLE_CHARACTERS - 1]}…"


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1000:.0f} kB"
