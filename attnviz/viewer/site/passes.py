"""Passes: each in the viewer, on a page of its own: the first of each model, microgpt's of twenty names."""

from __future__ import annotations

from collections.abc import Iterator

from attnviz.models import MODELS
from attnviz.scene.document.document import body, document_json
from attnviz.scene.document.encoding import Json
from attnviz.scene.document.pass_cache import PASS_CACHE
from attnviz.scene.scene import Scene, of_model
from attnviz.viewer.site.page import Page, Way, drawn_page

NAMES = MODELS["microgpt"].task.names[:20]
"""Names for microgpt to read, which are held out: it was not trained on them."""


def model_page_name(model: str) -> str:
    """The file of a model's first pass."""
    return f"model-{model}.html"


def name_page_name(name: str) -> str:
    """The file of a name that microgpt reads."""
    return f"microgpt-{name}.html"


def model_pages() -> Iterator[Page]:
    """The first pass of each model."""
    ways = tuple(Way(model_page_name(name), model.title) for name, model in MODELS.items())
    for name, model in MODELS.items():
        yield pass_page(model_page_name(name), model.title, of_model(name), ways)


def name_pages() -> Iterator[Page]:
    """The passes of names in microgpt."""
    ways = tuple(Way(name_page_name(name), name) for name in NAMES)
    for name in NAMES:
        scene = Scene(source="microgpt", sentence=name)
        yield pass_page(name_page_name(name), f"microgpt reads “{name}”", scene, ways)


def pass_page(name: str, heading: str, scene: Scene, ways: tuple[Way, ...] = ()) -> Page:
    """The page of a scene with its pass.

    Parameters
    ----------
    name : str
        Of its file.
    heading : str
    scene : Scene
    ways : tuple of Way
        To pages like it.
    """
    resolved = PASS_CACHE.resolved(scene)
    return drawn_page(name, "pass", heading, {"pass": Json(document_json(body(resolved), resolved))}, ways)
