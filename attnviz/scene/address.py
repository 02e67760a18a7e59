"""Addresses: a scene as URL parameters, and back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from attnviz.analysis.provenance import format_trail
from attnviz.contract.view_params import USUAL, USUAL_IN_TALK
from attnviz.core.changes import format_changes
from attnviz.core.coerce import nearest
from attnviz.core.tokens import cleaned
from attnviz.models import MODELS
from attnviz.scene.parameters import ALL, LOOKED_AT, OF_OPTIONS, PARAMETERS, READERS, VIEWERS, only
from attnviz.scene.reading import has_options, normalized
from attnviz.scene.scene import (
    FIRST_VISIT,
    OWN,
    OWN_CODE,
    READY_MADE,
    SOURCES,
    Options,
    Scene,
    Upload,
    of_model,
    pinned,
    with_options,
    with_uploads,
)

Query = Mapping[str, str | Sequence[str]]

_COUNT = re.compile("[0-9]{1,9}")


def query(scene: Scene) -> dict[str, str]:
    """The parameters of the scene's address, in a fixed order.

    Parameters with the source's default values are left out. A model
    is always named, and so is a typed sentence: an address without either is
    that of a first visit, or of earlier versions, which had no models.
    """
    is_model = scene.source in MODELS
    defaults = of_model(scene.source) if is_model else Scene()
    usual = with_options(Options(), d_model=scene.options.d_model)
    usual = replace(usual, d_model=Options().d_model)
    trained = {"seed": scene.model_seed or None, "checkpoint": scene.checkpoint}
    written = {
        "context": scene.context,
        **{
            parameter: str(getattr(scene.options, name)).lower()
            for parameter, name in OF_OPTIONS.items()
            if getattr(scene.options, name) != getattr(usual, name)
        },
        **{name: str(value) for name, value in trained.items() if is_model and value is not None},
        "step": scene.step if scene.step != defaults.step else "",
        "cell": "" if scene.selection is None else str(scene.selection),
        "picked": scene.picked,
        "hidden": "" if scene.hidden is None else str(scene.hidden),
        "changes": format_changes(scene.changes),
        "code": "" if scene.code is None else OWN_CODE,
        "trail": format_trail(scene.trail),
        "ask": scene.question if scene.question != defaults.question else "",
        "order": scene.order if scene.order != defaults.order else "",
        "view": scene.view if scene.view != _usual_view(scene) else "",
        "present": "1" if scene.present else "",
        "reveal": "" if scene.reveal == _usual_reveal(scene) else ALL if scene.reveal is None else str(scene.reveal),
        "notebook": scene.notebook if scene.notebook != defaults.notebook else "",
        "beside": "" if scene.other is None else _other_text(scene, scene.other),
        "draw": "" if scene.drawing is None else ",".join(f"{value:g}" for value in vars(scene.drawing).values()),
        "compare": scene.compare if scene.compare != defaults.compare else "",
        "route": scene.route if scene.route != defaults.route else "",
    }
    return _of_the_source(scene, defaults) | {parameter: text for parameter, text in written.items() if text}


def _of_the_source(scene: Scene, defaults: Scene) -> dict[str, str]:
    source = {} if scene.source == OWN else {"model" if scene.source in MODELS else "source": scene.source}
    is_typed = scene.source == OWN or scene.sentence != defaults.sentence  # an empty one counts too
    return source | ({"sentence": scene.sentence} if is_typed or _writes(scene.source) else {})


def _writes(source: str) -> bool:
    """Whether the model generates the text, so that the address must always hold it."""
    return source in MODELS and MODELS[source].task.is_open


_AS_IT_IS = "same"


def _other_text(scene: Scene, other: Scene) -> str:
    """The other scene's differences from this one, as one parameter's text; empty values mark missing parameters."""
    current, others = query(pinned(scene)), query(other)
    otherwise = {name: others.get(name, "") for name in {**current, **others} if current.get(name) != others.get(name)}
    return urlencode(otherwise) or _AS_IT_IS


_OF_A_TALK = {"present", "reveal", "route"}
"""An address of these alone presents what a first visit shows."""


class Parsed(NamedTuple):
    """A parsed scene, and one notice per corrected value: the rule, what was given, what is used."""

    scene: Scene
    notices: tuple[str, ...]


def parse(written: Query, uploads: Mapping[str, Upload] = MappingProxyType({})) -> Parsed:
    """Read a scene from the parameters of an address, whatever they hold.

    No pass is made: what doesn't fit the scene's is mended by `resolve`. A scene that fits is given back by
    `parse(query(scene))`.

    Parameters
    ----------
    written : mapping of str to str or sequence of str
    uploads : mapping of str to Upload, optional
        What the tab has been given, which no address holds, each by its key (`scene.source_of_upload`).
    """
    notices = _unknown([name for name in written if name not in PARAMETERS])
    texts = {name: only(name, value, notices) for name, value in written.items() if name in PARAMETERS}
    if texts.keys() <= _OF_A_TALK:
        texts = query(FIRST_VISIT) | texts
    scene = _read(texts, uploads, notices)
    if "beside" in texts:
        scene = replace(scene, other=_read_other(texts, uploads, notices))
    return Parsed(scene, tuple(notices))


def _read(texts: Mapping[str, str], uploads: Mapping[str, Upload], notices: list[str]) -> Scene:
    """The scene of these parameters, without the one to compare with."""
    model = _model(texts, notices)
    scene = of_model(model) if model else Scene()
    brought = ("source", "context") if model else ()
    for name, read in READERS.items():
        if name in texts and name not in brought:
            scene = replace(scene, **read(texts[name], notices))
    scene = with_uploads(scene, uploads)
    if "view" not in texts:
        scene = replace(scene, view=_usual_view(scene))
    if "reveal" not in texts:
        scene = replace(scene, reveal=_usual_reveal(scene))
    if "sentence" not in texts and _writes(scene.source) and _begins_talk(scene):
        scene = replace(scene, sentence="")  # a press is a letter, from the first on
    if has_options(scene):
        scene = replace(scene, options=_options(texts, notices))
    notices += _left_out(scene, texts)
    if model and not has_options(scene):
        scene = replace(scene, **_training(texts, notices))
    scene, mended = normalized(scene)
    notices += mended
    return scene


def _read_other(texts: Mapping[str, str], uploads: Mapping[str, Upload], notices: list[str]) -> Scene | None:
    """The scene to compare with, if the address has one."""
    decisive = {name: text for name, text in texts.items() if name not in (*VIEWERS, "notebook", "beside")}
    try:
        otherwise = dict(parse_qsl(texts["beside"], keep_blank_values=True, max_num_fields=len(PARAMETERS)))
    except ValueError:
        notices.append(f"beside has at most {len(PARAMETERS)} parameters, joined by “&”; it is left out.")
        return None
    both = decisive | otherwise
    kept = ("sentence",) if _writes(both.get("model", "")) else ()  # no letter yet is where such a model begins
    lacking = {"beside", *(name for name, text in otherwise.items() if not text)}.difference(kept)
    others = {name: text for name, text in both.items() if name not in lacking}
    parsed = parse(others or {"sentence": Scene().sentence}, uploads)  # one that says nothing is a first visit's
    notices += [f"A: {notice}" for notice in parsed.notices]
    return pinned(parsed.scene)


def with_view(scene: Scene, written: Query) -> Scene:
    """The scene with only its view parameters taken from an address."""
    looked = replace(scene, **{part: getattr(Scene(), part) for part in LOOKED_AT})
    for name in VIEWERS:
        if name in written:
            looked = replace(looked, **READERS[name](only(name, written[name], []), []))
    looked = looked if "view" in written else replace(looked, view=_usual_view(looked))
    return looked if "reveal" in written else replace(looked, reveal=_usual_reveal(looked))


def _usual_view(scene: Scene) -> str:
    """The view of an address that names none."""
    return (USUAL_IN_TALK if scene.present else USUAL)["view"]


def _usual_reveal(scene: Scene) -> int | None:
    """The reveal of an address that names none."""
    return (USUAL_IN_TALK if _begins_talk(scene) else USUAL)["reveal"]


def _begins_talk(scene: Scene) -> bool:
    """Whether a scene is the first step of a talk."""
    first = of_model(scene.source).step if scene.source in MODELS else Scene().step
    return scene.present and scene.step == first


def _unknown(names: Sequence[str]) -> list[str]:
    """A notice on unknown parameter names."""
    some = ", ".join(f"“{cleaned(name[:40])}”" for name in names[:5])
    if len(names) > 1:
        return [f"{len(names):,} names are no parameters of attnviz, and are left out, as {some}."]
    return [f"{some} is no parameter of attnviz, and is left out."] if names else []


def _options(texts: Mapping[str, str], notices: list[str]) -> Options:
    written = {setting: texts[parameter] for parameter, setting in OF_OPTIONS.items() if parameter in texts}
    allowed, mended = nearest(written)
    notices += mended
    return with_options(Options(), **allowed)


def _model(texts: Mapping[str, str], notices: list[str]) -> str:
    """The id of the named model; empty if none is named or it doesn't exist."""
    named = texts.get("model", "")
    model = next((each for each in MODELS if each == named.strip().casefold()), "")
    if not model and "model" in texts:
        notices.append(f"model is one of {', '.join(MODELS)}; got {named[:40]!r}, so these are random parameters.")
    if not model and "checkpoint" in texts:
        notices.append("checkpoint is of a model's training; no model is shown, so it is left out.")
    if model and "source" in texts:
        notices.append(f"An address names a model or a source; got both, using the model {model}.")
    return model


def _left_out(scene: Scene, texts: Mapping[str, str]) -> list[str]:
    """A notice on settings that don't affect the scene's pass."""
    if scene.source == OWN:
        return []
    if scene.source in READY_MADE:
        what = "A worked example" if scene.source in SOURCES else "A pass of somebody's own parameters"
        rule, names = f"{what} brings its words and settings with it", (*OF_OPTIONS, "sentence", "context", "hidden")
    elif has_options(scene):
        rule, names = "A sentence that a model can't read has no training and no context", ("checkpoint", "context")
    else:
        rule, names = "A model brings its settings with it and reads one sentence", (*OF_OPTIONS, "context")
    left_out = [name for name in names if name in texts and (name != "seed" or scene.source in READY_MADE)]
    return [f"{rule}; left out: {', '.join(left_out)}."] if left_out else []


def _training(texts: Mapping[str, str], notices: list[str]) -> dict[str, int]:
    """The training of a model and its checkpoint, as whole numbers; `resolve` brings them to those that exist."""
    training = {}
    for name, part in (("seed", "model_seed"), ("checkpoint", "checkpoint")):
        if name in texts and _COUNT.fullmatch(texts[name]):
            training[part] = int(texts[name])
        elif name in texts:
            notices.append(f"{name} is a whole number from 0 on; got {texts[name][:40]!r}, and is left out.")
    return training
