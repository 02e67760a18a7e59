"""The answer: all that a browser is given of a scene, as JSON: its settings, what is said of it, its pass."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from attnviz.core.settings import nearest
from attnviz.scene import advice
from attnviz.scene.acts import act
from attnviz.scene.address import looking, parse, query
from attnviz.scene.controls import settings
from attnviz.scene.fitting import SceneWithPass
from attnviz.scene.parameters import PARAMETERS, VIEWERS
from attnviz.scene.pass_cache import ANSWERS
from attnviz.scene.reading import has_options
from attnviz.scene.scene import Scene, lacks_file
from attnviz.scene.tabscene import TabScene
from attnviz.scene.verdict import verdict
from attnviz.scene.written import json_of
from attnviz.text import micropython
from attnviz.text.code import coloured
from attnviz.text.export import script
from attnviz.text.movement import described
from attnviz.text.pytorch import torch_script


@dataclass(frozen=True)
class ActsRequest:
    """What a viewer says was done.

    Attributes
    ----------
    tab : str
        What stands for the person's tab.
    name : str
        The name of the scene.
    address : dict of str to str or None
        The `address` of the answer that the person saw. Where that isn't the last, Back has led to another scene
        meanwhile, and what is done is done to the one that was seen.
    look : dict of str to list of str
        The parameters of the browser's address, of which the viewer's own are read.
    view : str
        What the page shows of the scene, one of `PARTS`.
    acts : list of [name, message]
        What was done, one after the other; both may be anything.
    plans : list of str
        The plans that the browser has.
    """

    tab: str
    name: str
    address: dict[str, str | None]
    look: dict[str, list[str]]
    view: str
    acts: list[list]
    plans: list[str]


def reply_to(place: TabScene, done: ActsRequest) -> bytes:
    """The answer to what a person did, which changes the place."""
    if done.address != place.address:
        written = {name: text for name, text in done.address.items() if text is not None}
        place.scene = parse(written, place.own).scene
    if not place.name:  # the one scene that the address is of
        place.scene = looking(place.scene, done.look)
    with place.answering():
        for name, message in done.acts:
            act(place, name, message)
        fitted = place.fitted()
    return reply_bytes(place, fitted, done.view, done.tab, plans=done.plans)


def reply_bytes(
    place: TabScene,
    fitted: SceneWithPass,
    view: str,
    tab: str,
    notices: Sequence[str] = (),
    *,
    plans: Collection[str] = (),
) -> bytes:
    """The answer for a scene, as `viewer/answer.schema.json` says.

    Parameters
    ----------
    place : TabScene
    fitted : SceneWithPass
        The scene of the place beside its pass.
    view : str
        What the page shows of it, one of `PARTS`.
    tab : str
        What stands for the person's tab.
    notices : sequence of str, optional
        What else is to be said of it.
    plans : collection of str, optional
        The plans that the browser has.
    """
    frame = json_of(reply_head(place, fitted, view, tab, notices))
    try:
        part = PARTS[view](place, fitted, tab, plans) if fitted.trace else b"null"
    finally:  # what fails once is not asked for with every answer that follows
        place.slopes_of = place.flips_of = place.said = ""
        place.with_names = False
    return frame[:-1] + f',"{view}":'.encode() + part + b"}"


def _pass(place: TabScene, fitted: SceneWithPass, tab: str, plans: Collection[str]) -> bytes:
    """The document that a viewer shows."""
    asked = {"asked": place.heads, "slopes_of": place.slopes_of, "flips_of": place.flips_of}
    asked["with_names"] = place.with_names
    return ANSWERS.written(fitted, tab, **asked, arrival=place.arrivals, plans=plans)


def _audit(place: TabScene, fitted: SceneWithPass, *_: object) -> bytes:
    return json_of(verdict(place, fitted))


def _script(place: TabScene, fitted: SceneWithPass, *_: object) -> bytes:
    trace = fitted.trace
    torch, micro = torch_script(trace), micropython.script(trace)
    return json_of(
        {
            "runs": coloured(script(trace)),
            "torch": torch and coloured(torch),
            "microgpt": micro and coloured(micro),
            "file": {"name": micropython.NAME, "text": micropython.numbers(trace).decode()} if micro else None,
        }
    )


PARTS = {"pass": _pass, "audit": _audit, "script": _script}
"""What a page may show of a scene that has a pass, by the name that an answer has it under."""


def reply_head(place: TabScene, fitted: SceneWithPass, view: str, tab: str, notices: Sequence[str] = ()) -> dict:
    """What stands around a pass: settings, what is said, the address. The place keeps what the browser will have."""
    scene = fitted.scene
    said = [*notices, *([place.said] if place.said else []), *_of_the_seed(place, scene)]
    place.arrivals_sent, place.address = place.arrivals, _address(scene)
    return {
        "tab": tab,
        "name": place.name,
        "view": view,
        "number": fitted.number,
        "settings": settings(scene, place.seed if has_options(scene) else ""),
        "notices": [*said, *advice.said(fitted), *fitted.refused],
        "offers": advice.offers(fitted),
        "lacksFile": lacks_file(scene),
        "byHand": _by_hand(place, fitted) if view != "pass" else None,
        "address": place.address,
    }


def _of_the_seed(place: TabScene, scene: Scene) -> list[str]:
    """What is said of a seed as it was typed; once the scene has another, that is forgotten."""
    if not has_options(scene) or not place.seed:
        return []
    seeds, notices = nearest({"seed": place.seed})
    if seeds["seed"] == scene.options.seed:
        return notices
    place.seed = ""
    return []


def _address(scene: Scene) -> dict[str, str | None]:
    """The parameters that a browser's address is to have, or to lack; those that the viewer writes are its own."""
    parameters = query(scene)
    return {name: parameters.get(name) for name in PARAMETERS if name not in VIEWERS}


def _by_hand(place: TabScene, fitted: SceneWithPass) -> list[list[str]] | None:
    """What is said where the viewer does not say it: which numbers are set by hand, or were meant to be."""
    if fitted.trace is None or not place.scene.changes:
        return None
    listed = "; ".join(described(fitted.original, change) for change in fitted.scene.changes)
    return [["strong", "Set by hand:"], ["", f" {listed or 'nothing that fits this pass'}"]]
