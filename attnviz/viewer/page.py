"""`page` and `show`: a pass in the viewer, as one HTML file or in a notebook."""

from __future__ import annotations

import html
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from attnviz.checks.recording.recorded import Recorded, pass_of
from attnviz.checks.report.verdict import Comparison
from attnviz.checks.uploads import UserStages
from attnviz.core.arguments import check_bool, quoted
from attnviz.core.errors import ArrayError, OwnArraysError, guarded
from attnviz.core.settings import Settings
from attnviz.core.tokens import without_number
from attnviz.core.trace import Trace
from attnviz.explain.wording import counted, listed
from attnviz.models.translator import END
from attnviz.scene.compare import furthest_apart
from attnviz.scene.document.document import document_json
from attnviz.scene.document.reply_notes import ReplyNotes
from attnviz.scene.scene import Scene, pinned
from attnviz.scene.with_pass import SceneWithPass
from attnviz.viewer.bundle import heads_page, viewer_page
from attnviz.viewer.overview import overview_json

USUAL_BYTES = 850_000  # the usual size of a page; a larger one gets a warning before it is written
USUAL_BYTES_OF_HEADS = 1_600_000  # for 12 × 12 heads at 64 tokens
USUAL_BYTES_OF_LAYER = 4_000_000  # for one of their layers with d_model 768
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
        The whole page, with its scripts.
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


def page(
    trace: Trace | Comparison | Recorded,
    path: str | PathLike[str],
    *,
    layer: int | None = None,
    effects: ArrayLike | None = None,
    parameters: bool = False,
) -> int:
    """Write what `show` shows as one HTML file, which opens by a double click, without a server or a network.

    Parameters
    ----------
    trace : Trace, Comparison or Recorded
        What is shown, as in `show`.
    path : str or path
        The file; an existing one is overwritten.
    layer : int, optional
        As in `show`.
    effects : array (layers, heads), optional
        As in `show`.
    parameters : bool
        As in `show`.

    Returns
    -------
    int
        Its size in bytes. A warning comes first if it is unusually large.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from attnviz import page, trace_of
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     n_bytes = page(trace_of("the cat sat"), f"{folder}/cat.html")
    ...     print(n_bytes == Path(folder, "cat.html").stat().st_size)
    True
    """
    if not isinstance(path, str | PathLike):
        raise ArrayError(
            f'page takes what it shows and then a file, as in page(trace, "cat.html"); got {quoted(path)}.'
        )
    return Path(path).write_bytes(_page_of(trace, layer, effects, parameters).html.encode())


def show(
    trace: Trace | Comparison | Recorded,
    *,
    layer: int | None = None,
    effects: ArrayLike | None = None,
    parameters: bool = False,
) -> Page:
    """Show a pass in the viewer, or all heads of a recording; a notebook displays it as the value of a cell.

    A recording opens as a grid of heatmaps, layers × heads, in 8 bits, with statistics of each head to sort and filter
    by. Each head can be enlarged. The heads of one layer open number by number: the one that `layer` names, or the only
    one.

    Parameters
    ----------
    trace : Trace, Comparison or Recorded
        For a comparison that names a mistake two passes are shown side by side: A as the compared code computes it, B
        as attnviz does, at the number that is furthest off. For any other comparison, attnviz's pass.
    layer : int, optional
        The recorded layer that is shown number by number, counted from 0 as in its model. At 12 heads, 64 tokens and
        d_model 768 that adds 4 MB to a page of 1 MB.
    effects : array (layers, heads), optional
        What `head_effects` returns: heads of a recording are sorted by it.
    parameters : bool
        Whether the page has the parameters of a large pass. Without them, its other numbers are in 32 bits, and terms
        that need parameters are left out. Parameters under 250 kB are always there.

    Returns
    -------
    Page
        Let a notebook show it, or read its `html`.

    Raises
    ------
    ArrayError, OwnArraysError
        If it is none of these, the comparison has no pass, attnviz can't compute what the recorded layer does, or
        `effects` has another shape.

    Examples
    --------
    >>> from attnviz import show, trace_of
    >>> show(trace_of("the cat sat"))
    attnviz: “the cat sat”, one page of ... kB
    """
    return _page_of(trace, layer, effects, parameters)


@guarded("write this page", "the pass, or what made it,")
def _page_of(
    trace: Trace | Comparison | Recorded, layer: int | None, effects: ArrayLike | None, parameters: bool
) -> Page:
    check_bool("parameters", parameters)
    if isinstance(trace, Recorded):
        result, usual, extent = _of_recording(trace, layer, effects, parameters)
    elif layer is not None or effects is not None:
        raise ArrayError(
            f"layer and effects are those of a recording; got a {quoted(trace)} with them. Leave these out."
        )
    else:
        shown, document = _document(trace, parameters)
        title = _title(shown)
        result, usual = Page(title, viewer_page(document, f"{title} – attnviz")), USUAL_BYTES
        extent = f"its pass has {_extent(shown)}"
    if result.n_bytes > usual:
        warnings.warn(f"A page of {_size(result.n_bytes)}, as {extent}; one with fewer is smaller.", stacklevel=4)
    return result


def _of_recording(
    recorded: Recorded, layer: int | None, effects: ArrayLike | None, parameters: bool
) -> tuple[Page, int, str]:
    """The page of all heads, its usual size, and what makes it large."""
    exact, trace = _exact_layer(recorded, layer)
    document = None if trace is None else _document(trace, parameters)[1]
    title = (
        _titled(recorded.tokens or recorded.context_tokens or ()) or f"{counted(len(recorded), 'layer')} of attention"
    )
    html = heads_page(overview_json(recorded, effects, exact), document, f"{title} – attnviz")
    n_tokens = max([0, *(max(each) for each in recorded.lengths.values() if each)])
    extent = f"it has {counted(len(recorded), 'layer')} and {counted(n_tokens, 'token')}"
    return Page(title, html), USUAL_BYTES_OF_HEADS + (0 if document is None else USUAL_BYTES_OF_LAYER), extent


def _exact_layer(recorded: Recorded, layer: int | None) -> tuple[int | None, Trace | None]:
    """The layer to show number by number, and its pass; none of several unless it is named."""
    if layer is not None:
        trace = pass_of(recorded, layer)
        return range(len(recorded))[layer], trace
    if len(recorded) == 1:
        with suppress(OwnArraysError):
            return 0, pass_of(recorded, 0)
    return None, None


def _document(trace: Trace | Comparison, parameters: bool) -> tuple[Trace, bytes]:
    """A pass, that of a comparison too, and its document."""
    theirs, code, view_params = None, None, {}
    if isinstance(trace, Comparison):
        comparison, trace, theirs = trace, trace.trace, trace.theirs
        if trace is None:
            raise OwnArraysError(f"These arrays make no pass that the viewer shows. {comparison}")
    if theirs:
        code, view_params = UserStages(comparison.mistaken, comparison.at), furthest_apart(theirs, trace, comparison.at)
    if not isinstance(trace, Trace):
        write = ""
        if isinstance(trace, Mapping | np.ndarray):
            write = ' Compare arrays first: show(compare(None, {"attention": array})).'
        elif isinstance(trace, str | Settings):
            write = " Write show(trace_of(...))."
        raise ArrayError(
            f"A page shows a trace, as attend or trace_of returns it, a comparison or a recording; got {quoted(trace)}."
            f"{write}"
        )
    title = _title(trace)
    scene = replace(Scene(sentence=title, view="sheet"), **view_params)
    a = SceneWithPass(replace(pinned(scene), code=code), theirs, theirs) if theirs else None
    notes = ReplyNotes(whole=True, without_parameters=not parameters)
    return trace, document_json(SceneWithPass(scene, trace, trace, other=a), notes)


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
    return _titled(words) or f"a pass of {counted(trace.lengths['query'], 'token')}"


def _titled(words: Sequence[str]) -> str:
    text = " ".join(without_number(word) if without_number(word) in words else word for word in words)
    return text if len(text) <= MAX_TITLE_CHARACTERS else f"{text[: MAX_TITLE_CHARACTERS - 1]}…"


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1000:.0f} kB"
