"""Addresses: a scene as URL parameters, and back; bad values are corrected with a notice."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from attnviz.analysis.provenance import format_trail
from attnviz.checks.uploads import MISSING_UPLOAD, Upload
from attnviz.contract.view_params import ALL, CHOICES, FORMER, REVEAL, USUAL, USUAL_IN_TALK, VIEWERS
from attnviz.core.changes import Change, format_changes, parse_change, split_changes
from attnviz.core.coerce import nearest
from attnviz.core.errors import ChangeError, SettingsError
from attnviz.core.limits import MAX_CHARACTERS
from attnviz.core.masks import CustomMask
from attnviz.core.selection import Selection
from attnviz.core.tokens import clean
from attnviz.examples import EXAMPLES
from attnviz.explain.steps import STEPS, find
from attnviz.models import MODELS
from attnviz.models.continuation import SAMPLING_CHOICES, Sampling
from attnviz.scene.reading import has_options, normalized, translates
from attnviz.scene.scene import (
    FIRST_VISIT,
    FIXED_SOURCES,
    OWN_CODE,
    OWN_MODEL,
    OWN_PARAMETERS,
    RANDOM,
    SOURCES,
    Options,
    Scene,
    of_model,
    pinned,
    with_options,
    with_uploads,
)

# parameters that are settings, with their names in `Settings`
OPTION_PARAMETERS = {("heads" if name == "n_heads" else name): name for name in vars(Options())}
_FORMER = FORMER | {"your own sentence": RANDOM, "your own parameters": OWN_PARAMETERS, "your own microgpt": OWN_MODEL}


def only(name: str, value: str | Sequence[str], notices: list[str]) -> str:
    """The value of a parameter; the last one if it is repeated."""
    if isinstance(value, str):
        return value
    if len(value) > 1:
        notices.append(f"{name} stands in the address {len(value)} times; using the last, {value[-1][:40]!r}.")
    return value[-1] if value else ""


def drawing_in(message: object) -> Sampling | None:
    """The sampling settings in a message or an address; ValueError if they are invalid."""
    if message is None:
        return None
    if not isinstance(message, dict) or message.keys() != SAMPLING_CHOICES.keys():
        raise ValueError("no drawing")
    values = {}
    for name, offered in SAMPLING_CHOICES.items():
        value = message[name]
        if isinstance(value, bool) or not isinstance(value, int | float) or value not in offered:
            raise ValueError("no drawing")
        values[name] = type(offered[0])(value)
    return Sampling(**values)


_CHOICES = {"source": (RANDOM, OWN_MODEL, *FIXED_SOURCES), "notebook": tuple(EXAMPLES)} | CHOICES
# parameters whose scene field has a different name; `stage` is that of older links
_FIELDS = {"cell": "selection", "stage": "picked", "ask": "question", "draw": "drawing"}
_READ = (  # parameters that stand for a field of the scene, whatever its source
    *("sentence", "written", "context", "step", "cell", "stage", "picked", "hidden", "changes", "code", "trail"),
    *("present", "reveal", "draw", *_CHOICES),
)

PARAMETERS = (*OPTION_PARAMETERS, "model", "checkpoint", "beside", *_READ)  # the names of all parameters
VIEW_FIELDS = tuple(_FIELDS.get(name, name) for name in VIEWERS)  # the scene fields of the `VIEWERS` parameters


def _with_read(scene: Scene, name: str, text: str, notices: list[str]) -> Scene:
    """The scene with the field of a parameter; an unreadable value changes nothing but adds a notice."""
    try:
        return replace(scene, **{_FIELDS.get(name, name): _value(name, text, notices)})
    except (SettingsError, ChangeError) as error:
        notices.append(str(error))
        return scene


def _value(name: str, text: str, notices: list[str]) -> object:
    """The value of a parameter, or an error with a notice of what is used instead."""
    if name in _CHOICES:
        return _choice(name, text)
    match name:
        case "sentence" | "context":
            return _sentence(name, text, notices)
        case "written":
            return None if text == ALL else _sentence(name, text, notices)
        case "stage" | "picked":
            return text
        case "code":
            if text != OWN_CODE:
                raise SettingsError(f"code is {OWN_CODE!r} or isn't there; got {text[:40]!r}, and is left out.")
            return MISSING_UPLOAD
        case "trail":
            if not text:
                raise SettingsError("trail is cells with “<” between them; got '', so no number is unfolded.")
            return tuple(text.split("<"))
        case "present":
            if text not in ("0", "1"):
                raise SettingsError(f"present is 1 or 0; got {text[:40]!r}, so nothing is presented.")
            return text == "1"
        case "reveal":
            if text != ALL and not re.fullmatch(REVEAL, text):
                rule = f"reveal is a whole number from 0 to 99, or {ALL}"
                raise SettingsError(f"{rule}; got {text[:40]!r}, so all of the step is shown.")
            return None if text == ALL else int(text)
        case "draw":
            try:
                return drawing_in(dict(zip(SAMPLING_CHOICES, map(float, text.split(",")), strict=True)))
            except ValueError:
                rule = "draw is a temperature, a top_k, a top_p and a seed that are offered, as 1,0,1,7"
                raise SettingsError(f"{rule}; got {text[:40]!r}, so the most probable comes next.") from None
        case "changes":
            return _changes(text, notices)
        case "hidden":
            try:
                return CustomMask.parse(text)
            except SettingsError as error:
                raise SettingsError(f"{error} No mask is painted.") from None
        case "cell":
            return Selection.parse(text)
        case "step":
            if (id_ := find(text)) is None:
                raise SettingsError(f"There's no step called “{clean(text[:40])}”; showing {STEPS[0].title}.")
            return id_


def _choice(name: str, text: str) -> str:
    lowered, allowed = text.strip().casefold(), _CHOICES[name]
    choice = next((each for each in allowed if each.casefold() == _FORMER.get(lowered, lowered)), None)
    if choice is None:
        default = getattr(Scene(), _FIELDS.get(name, name))
        raise SettingsError(f"{name} is one of {', '.join(map(repr, allowed))}; got {text[:40]!r}, using {default!r}.")
    return choice


def _sentence(name: str, text: str, notices: list[str]) -> str:
    if len(text) > MAX_CHARACTERS:
        rule = f"The {name} may have at most {MAX_CHARACTERS:,} characters; the address has {len(text):,}"
        notices.append(f"{rule}, so only the first {MAX_CHARACTERS:,} are here.")
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode()  # JSON can't hold a lone surrogate


def _changes(text: str, notices: list[str]) -> tuple[Change, ...]:
    changes = []
    for part in split_changes(text):
        try:
            changes.append(parse_change(part))
        except ChangeError as error:
            notices.append(str(error))
    return tuple(changes)


_FORMER_TEXT = "eliza"  # the first example of a model that writes, in the days when addresses left it out
Query = Mapping[str, str | Sequence[str]]
_COUNT = re.compile("[0-9]{1,9}")


def query(scene: Scene) -> dict[str, str]:
    """The parameters of the scene's address, in a fixed order.

    Parameters with the source's default values are left out. A model is always named, and so is a typed sentence: an
    address without either is that of a first visit, or of earlier versions, which had no models.
    """
    is_model = scene.source in MODELS
    defaults = of_model(scene.source) if is_model else Scene()
    usual = with_options(Options(), d_model=scene.options.d_model)
    usual = replace(usual, d_model=Options().d_model)
    trained = {"seed": scene.model_seed or None, "checkpoint": scene.checkpoint}
    texts = {
        "context": scene.context,
        **{
            parameter: str(getattr(scene.options, name)).lower()
            for parameter, name in OPTION_PARAMETERS.items()
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
    return _of_the_source(scene, defaults) | {parameter: text for parameter, text in texts.items() if text}


def _of_the_source(scene: Scene, defaults: Scene) -> dict[str, str]:
    source = {} if scene.source == RANDOM else {"model" if scene.source in MODELS else "source": scene.source}
    is_typed = scene.source == RANDOM or scene.sentence != defaults.sentence  # an empty one counts too
    written = {} if scene.written is None else {"written": scene.written}  # an empty one is where writing begins
    return source | ({"sentence": scene.sentence} if is_typed or _writes(scene.source) else {}) | written


def _writes(source: str) -> bool:
    """Whether the model generates the text, so that the address must always hold it."""
    return source in MODELS and MODELS[source].task.is_open and not translates(Scene(source))


_AS_IT_IS = "same"


def _other_text(scene: Scene, other: Scene) -> str:
    """The other scene's differences from this one, as one parameter's text; empty values mark missing parameters."""
    current, others = query(pinned(scene)), query(other)
    lacking = {"written": ALL}
    otherwise = {
        name: others.get(name, lacking.get(name, ""))
        for name in {**current, **others}
        if current.get(name) != others.get(name)
    }
    return urlencode(otherwise) or _AS_IT_IS


_OF_A_TALK = {"present", "reveal", "route"}  # an address with no others presents the scene of a first visit


class Parsed(NamedTuple):
    """A parsed scene, and one notice per corrected value: the rule, what was given, what is used."""

    scene: Scene
    notices: tuple[str, ...]


def parse(parameters: Query, uploads: Mapping[str, Upload] = MappingProxyType({})) -> Parsed:
    """Read a scene from the parameters of an address, whatever they hold. No pass is made: what doesn't fit the scene's
    is mended by `resolve`. A scene that fits is given back by `parse(query(scene))`.
    """
    notices = _unknown([name for name in parameters if name not in PARAMETERS])
    texts = {name: only(name, value, notices) for name, value in parameters.items() if name in PARAMETERS}
    if texts.keys() <= _OF_A_TALK:
        texts = query(FIRST_VISIT) | texts
    scene = _read(texts, uploads, notices)
    if "beside" in texts:
        scene = replace(scene, other=_read_other(texts, uploads, notices))
    return Parsed(scene, tuple(notices))


def _read(texts: Mapping[str, str], uploads: Mapping[str, Upload], notices: list[str]) -> Scene:
    model = _model(texts, notices)
    scene = of_model(model) if model else Scene()
    from_model = ("source", "context") if model else ()
    for name in _READ:
        if name in texts and name not in from_model:
            scene = _with_read(scene, name, texts[name], notices)
    scene = with_uploads(scene, uploads)
    if "view" not in texts:
        scene = replace(scene, view=_usual_view(scene))
    if "reveal" not in texts:
        scene = replace(scene, reveal=_usual_reveal(scene))
    if "sentence" not in texts and _writes(scene.source):  # in a talk each press writes one letter
        scene = replace(scene, sentence="" if _begins_talk(scene) else _FORMER_TEXT)
    if has_options(scene):
        scene = replace(scene, options=_options(texts, notices))
    notices += [*_left_out(scene, texts), *_of_translators(scene, texts)]
    if model and not has_options(scene):
        scene = replace(scene, **_training(texts, notices))
    scene, corrections = normalized(scene)
    notices += corrections
    return scene


def _read_other(texts: Mapping[str, str], uploads: Mapping[str, Upload], notices: list[str]) -> Scene | None:
    decisive = {name: text for name, text in texts.items() if name not in (*VIEWERS, "notebook", "beside")}
    try:
        otherwise = dict(parse_qsl(texts["beside"], keep_blank_values=True, max_num_fields=len(PARAMETERS)))
    except ValueError:
        notices.append(f"beside has at most {len(PARAMETERS)} parameters, joined by “&”; it is left out.")
        return None
    both = decisive | otherwise
    empty = {"sentence"} if _writes(both.get("model", "")) else set()  # such a model begins without a letter
    lacking = {"beside", *(name for name, text in otherwise.items() if not text)}.difference(empty, {"written"})
    others = {name: text for name, text in both.items() if name not in lacking}
    parsed = parse(others or {"sentence": Scene().sentence}, uploads)  # an empty address would be a first visit
    notices += [f"A: {notice}" for notice in parsed.notices]
    return pinned(parsed.scene)


def with_view(scene: Scene, parameters: Query) -> Scene:
    """The scene with only its view parameters taken from an address."""
    looked = replace(scene, **{part: getattr(Scene(), part) for part in VIEW_FIELDS})
    for name in VIEWERS:
        if name in parameters:
            looked = _with_read(looked, name, only(name, parameters[name], []), [])
    looked = looked if "view" in parameters else replace(looked, view=_usual_view(looked))
    return looked if "reveal" in parameters else replace(looked, reveal=_usual_reveal(looked))


def _usual_view(scene: Scene) -> str:
    return (USUAL_IN_TALK if scene.present else USUAL)["view"]


def _usual_reveal(scene: Scene) -> int | None:
    return (USUAL_IN_TALK if _begins_talk(scene) else USUAL)["reveal"]


def _begins_talk(scene: Scene) -> bool:
    first = of_model(scene.source).step if scene.source in MODELS else Scene().step
    return scene.present and scene.step == first


def _unknown(names: Sequence[str]) -> list[str]:
    some = ", ".join(f"“{clean(name[:40])}”" for name in names[:5])
    if len(names) > 1:
        return [f"Ignored {len(names):,} names that aren't parameters of attnviz, such as {some}."]
    return [f"Ignored {some}, which isn't a parameter of attnviz."] if names else []


def _options(texts: Mapping[str, str], notices: list[str]) -> Options:
    options = {setting: texts[parameter] for parameter, setting in OPTION_PARAMETERS.items() if parameter in texts}
    allowed, corrections = nearest(options)
    notices += corrections
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
    if scene.source == RANDOM:
        return []
    if scene.source in FIXED_SOURCES:
        what = "A worked example" if scene.source in SOURCES else "A pass of somebody's own parameters"
        rule, names = (
            f"{what} brings its words and settings with it",
            (*OPTION_PARAMETERS, "sentence", "context", "hidden"),
        )
    elif has_options(scene):
        rule, names = "A sentence that a model can't read has no training and no context", ("checkpoint", "context")
    else:
        rule, names = "A model brings its settings with it and reads one sentence", (*OPTION_PARAMETERS, "context")
    left_out = [name for name in names if name in texts and (name != "seed" or scene.source in FIXED_SOURCES)]
    return [f"{rule}; left out: {', '.join(left_out)}."] if left_out else []


def _of_translators(scene: Scene, texts: Mapping[str, str]) -> list[str]:
    if "written" in texts and not translates(scene):
        return ["written is what a translator has written so far, and this is none; left out: written."]
    if "hidden" in texts and translates(scene):
        return ["The layers of a translator have words of their own and no common mask; left out: hidden."]
    return []


def _training(texts: Mapping[str, str], notices: list[str]) -> dict[str, int]:
    """The training of a model and its checkpoint, as whole numbers; `resolve` brings them to those that exist."""
    training = {}
    for name, part in (("seed", "model_seed"), ("checkpoint", "checkpoint")):
        if name in texts and _COUNT.fullmatch(texts[name]):
            training[part] = int(texts[name])
        elif name in texts:
            notices.append(f"{name} is a whole number from 0 on; got {texts[name][:40]!r}, and is left out.")
    return training
