"""Addresses: a scene as the parameters of one, and back. No other module knows what a parameter is called."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

from attnviz.analysis.provenance import format_trail
from attnviz.core.changes import Change, format_changes, parse_change, split_changes
from attnviz.core.errors import ChangeError, SettingsError
from attnviz.core.selection import Selection
from attnviz.core.settings import MAX_CHARACTERS, nearest
from attnviz.core.tokens import cleaned
from attnviz.core.trace import Trace
from attnviz.examples import EXAMPLES
from attnviz.models import MODELS
from attnviz.models.choice import Choice
from attnviz.models.continuation import OFFERED
from attnviz.scene.continuing import drawing_in
from attnviz.scene.fitting import SceneWithPass, fit, pass_of
from attnviz.scene.reading import has_options
from attnviz.scene.scene import (
    COMPARISONS,
    FIRST_VISIT,
    ORDERS,
    OWN,
    OWN_MODEL,
    QUESTIONS,
    READY_MADE,
    ROUTES,
    SOURCES,
    VIEWS,
    Options,
    Scene,
    of_model,
    pinned,
    with_options,
)
from attnviz.text.ids import find
from attnviz.text.steps import STEPS

Query = Mapping[str, str | Sequence[str]]

_OPTIONS = {("heads" if name == "n_heads" else name): name for name in vars(Options())}
"""The parameters that are settings, and their names in `Settings`."""

_MOMENT = re.compile("0|[1-9][0-9]?")
_COUNT = re.compile("[0-9]{1,9}")


def query(scene: Scene) -> dict[str, str]:
    """The parameters of the scene's address, in a fixed order.

    Those are left out that say what is seen first of the same source. A model
    is always named, and so is one's own sentence: an address without either is
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
            for parameter, name in _OPTIONS.items()
            if getattr(scene.options, name) != getattr(usual, name)
        },
        **{name: str(value) for name, value in trained.items() if is_model and value is not None},
        "step": scene.step if scene.step != defaults.step else "",
        "cell": "" if scene.selection is None else str(scene.selection),
        "picked": scene.picked,
        "changes": format_changes(scene.changes),
        "trail": format_trail(scene.trail),
        "ask": scene.question if scene.question != defaults.question else "",
        "order": scene.order if scene.order != defaults.order else "",
        "view": scene.view if scene.view != _usual_view(scene) else "",
        "present": "1" if scene.present else "",
        "reveal": "" if scene.reveal == _usual_reveal(scene) else _ALL if scene.reveal is None else str(scene.reveal),
        "notebook": scene.notebook if scene.notebook != defaults.notebook else "",
        "beside": "" if scene.beside is None else _written_beside(scene, scene.beside),
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
    """Whether a model writes the sentence itself, so that its address always says how far it has come."""
    return source in MODELS and MODELS[source].task.is_open


_AS_IT_IS = "same"
_ALL = "all"
"""Of a step that has come to its end."""


def _written_beside(scene: Scene, other: Scene) -> str:
    """What another scene has otherwise, as parameters within those of this one's address; one without text it lacks."""
    own, others = query(pinned(scene)), query(other)
    otherwise = {name: others.get(name, "") for name in {**own, **others} if own.get(name) != others.get(name)}
    return urlencode(otherwise) or _AS_IT_IS


def _read_beside(
    texts: Mapping[str, str], make_pass: Callable[[Scene], Trace], model: Choice | None, notices: list[str]
) -> Scene | None:
    """The scene that is written so beside that of an address; None where it makes no pass."""
    decisive = {name: text for name, text in texts.items() if name not in (*VIEWERS, "notebook", "beside")}
    try:
        otherwise = dict(parse_qsl(texts["beside"], keep_blank_values=True, max_num_fields=len(PARAMETERS)))
    except ValueError:
        notices.append(f"beside has at most {len(PARAMETERS)} parameters, joined by “&”; it is left out.")
        return None
    lacking = ("beside", *(name for name, text in otherwise.items() if not text))
    own = {name: text for name, text in (decisive | otherwise).items() if name not in lacking}
    found = parse(own or {"sentence": Scene().sentence}, make_pass, model)  # one that says nothing is a first visit's
    notices += [f"A: {notice}" for notice in (*found.notices, *found.refused)]
    return pinned(found.scene) if found.trace else None


def parse(written: Query, make_pass: Callable[[Scene], Trace] = pass_of, own: Choice | None = None) -> SceneWithPass:
    """Read a scene from the parameters of an address, whatever they hold; `make_pass` makes its pass.

    A model of somebody's own is in no address: `own` is that of the tab, if it has one.

    Returns
    -------
    SceneWithPass
        The scene beside its pass; `parse(query(scene)).scene` gives it back. Its notices say of each value that was
        mended the rule, what came and what is used; what is refused is no part of the scene.
    """
    notices = _unknown([name for name in written if name not in PARAMETERS])
    texts = {name: _only(name, value, notices) for name, value in written.items() if name in PARAMETERS}
    if not texts:
        return replace(fit(FIRST_VISIT, make_pass), notices=tuple(notices))
    model = _model(texts, notices)
    scene = of_model(model) if model else Scene()
    brought = ("source", "context") if model else ()
    for name, read in _READERS.items():
        if name in texts and name not in brought:
            scene = replace(scene, **read(texts[name], notices))
    if scene.source == OWN_MODEL:
        scene = replace(scene, own=own)
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
    if "beside" in texts:
        scene = replace(scene, beside=_read_beside(texts, make_pass, own, notices))
    fitted = fit(scene, make_pass)
    return replace(fitted, notices=(*notices, *fitted.notices))


def looking(scene: Scene, written: Query) -> Scene:
    """The scene, looked at as the viewer's own parameters of an address say; all other parts stay."""
    looked = replace(scene, **{part: getattr(Scene(), part) for part in LOOKED_AT})
    for name in VIEWERS:
        if name in written:
            looked = replace(looked, **_READERS[name](_only(name, written[name], []), []))
    looked = looked if "view" in written else replace(looked, view=_usual_view(looked))
    return looked if "reveal" in written else replace(looked, reveal=_usual_reveal(looked))


def _usual_view(scene: Scene) -> str:
    """The view of an address that names none: what was presented before there was a sheet is on the sheet now."""
    return "sheet" if scene.present else VIEWS[0]


def _usual_reveal(scene: Scene) -> int | None:
    """How far the step has come of an address that doesn't say it: to its end, but a talk begins with its question."""
    return 0 if _begins_talk(scene) else None


def _begins_talk(scene: Scene) -> bool:
    """Whether a scene is the first step of a talk."""
    first = of_model(scene.source).step if scene.source in MODELS else Scene().step
    return scene.present and scene.step == first


def _unknown(names: Sequence[str]) -> list[str]:
    """A sentence on names that are no parameters, however many there are."""
    some = ", ".join(f"“{cleaned(name[:40])}”" for name in names[:5])
    if len(names) > 1:
        return [f"{len(names):,} names are no parameters of attnviz, and are left out, as {some}."]
    return [f"{some} is no parameter of attnviz, and is left out."] if names else []


def _only(name: str, value: str | Sequence[str], notices: list[str]) -> str:
    """The value of a parameter; of several the last, as in a form."""
    if isinstance(value, str):
        return value
    if len(value) > 1:
        notices.append(f"{name} stands in the address {len(value)} times; using the last, {value[-1][:40]!r}.")
    return value[-1] if value else ""


def _choice(name: str, text: str, allowed: Sequence[str], default: str, notices: list[str]) -> str:
    """The allowed text that was written, in any case."""
    found = next((each for each in allowed if each.casefold() == text.strip().casefold()), None)
    if found is None:
        notices.append(f"{name} is one of {', '.join(map(repr, allowed))}; got {text[:40]!r}, using {default!r}.")
    return default if found is None else found


def _sentence(name: str, text: str, notices: list[str]) -> str:
    if len(text) > MAX_CHARACTERS:
        notices.append(
            f"The {name} may have at most {MAX_CHARACTERS:,} characters; the address has {len(text):,}, "
            f"so only the first {MAX_CHARACTERS:,} are here."
        )
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode()  # a lone surrogate has no place in a message


def _options(texts: Mapping[str, str], notices: list[str]) -> Options:
    written = {setting: texts[parameter] for parameter, setting in _OPTIONS.items() if parameter in texts}
    allowed, mended = nearest(written)
    notices += mended
    return with_options(Options(), **allowed)


def _model(texts: Mapping[str, str], notices: list[str]) -> str:
    """The id of the model that is named; empty where there is none, or it doesn't exist."""
    named = texts.get("model", "")
    found = next((each for each in MODELS if each == named.strip().casefold()), "")
    if not found and "model" in texts:
        notices.append(f"model is one of {', '.join(MODELS)}; got {named[:40]!r}, so these are random parameters.")
    if not found and "checkpoint" in texts:
        notices.append("checkpoint is of a model's training; no model is shown, so it is left out.")
    if found and "source" in texts:
        notices.append(f"An address names a model or a source; got both, using the model {found}.")
    return found


def _left_out(scene: Scene, texts: Mapping[str, str]) -> list[str]:
    """A sentence on the settings that the scene's pass has no use for."""
    if scene.source == OWN:
        return []
    if scene.source in READY_MADE:
        what = "A worked example" if scene.source in SOURCES else "A pass of somebody's own parameters"
        rule, names = f"{what} brings its words and settings with it", (*_OPTIONS, "sentence", "context")
    elif has_options(scene):
        rule, names = "A sentence that a model can't read has no training and no context", ("checkpoint", "context")
    else:
        rule, names = "A model brings its settings with it and reads one sentence", (*_OPTIONS, "context")
    left_out = [name for name in names if name in texts and (name != "seed" or scene.source in READY_MADE)]
    return [f"{rule}; left out: {', '.join(left_out)}."] if left_out else []


def _training(texts: Mapping[str, str], notices: list[str]) -> dict[str, int]:
    """Which training of a model, and how far, as whole numbers; `fit` brings them to those that there are."""
    found = {}
    for name, part in (("seed", "model_seed"), ("checkpoint", "checkpoint")):
        if name in texts and _COUNT.fullmatch(texts[name]):
            found[part] = int(texts[name])
        elif name in texts:
            notices.append(f"{name} is a whole number from 0 on; got {texts[name][:40]!r}, and is left out.")
    return found


def _step(text: str, notices: list[str]) -> dict:
    found = find(text)
    if found is None:
        titles = ", ".join(repr(step.title) for step in STEPS)
        notices.append(f"step is one of {titles}; got {text[:40]!r}, using {STEPS[0].title}.")
    return {"step": found or STEPS[0].id}


def _selection(text: str, notices: list[str]) -> dict:
    try:
        return {"selection": Selection.parse(text)}
    except SettingsError as error:
        notices.append(str(error))
        return {}


def _changes(text: str, notices: list[str]) -> dict:
    changes: list[Change] = []
    try:
        parts = split_changes(text)
    except ChangeError as error:
        notices.append(str(error))
        parts = []
    for part in parts:
        try:
            changes.append(parse_change(part))
        except ChangeError as error:
            notices.append(str(error))
    return {"changes": tuple(changes)}


def _trail(text: str, notices: list[str]) -> dict:
    if not text:
        notices.append("trail is cells with “<” between them; got '', so no number is unfolded.")
    return {"trail": tuple(text.split("<")) if text else ()}


def _present(text: str, notices: list[str]) -> dict:
    if text not in ("0", "1"):
        notices.append(f"present is 1 or 0; got {text[:40]!r}, so nothing is presented.")
    return {"present": text == "1"}


def _reveal(text: str, notices: list[str]) -> dict:
    if text == _ALL:
        return {"reveal": None}
    if not _MOMENT.fullmatch(text):
        rule = f"reveal is a whole number from 0 to 99, or {_ALL}"
        notices.append(f"{rule}; got {text[:40]!r}, so all of the step is shown.")
        return {"reveal": None}
    return {"reveal": int(text)}


def _chosen(parameter: str, field: str, allowed: Sequence[str]) -> Callable[[str, list[str]], dict]:
    def read(text: str, notices: list[str]) -> dict:
        return {field: _choice(parameter, text, allowed, getattr(Scene(), field), notices)}

    return read


def _typed(name: str) -> Callable[[str, list[str]], dict]:
    return lambda text, notices: {name: _sentence(name, text, notices)}


def _draw(text: str, notices: list[str]) -> dict:
    try:
        values = [float(part) for part in text.split(",")]
        return {"drawing": drawing_in(dict(zip(OFFERED, values, strict=True)))}
    except ValueError:
        notices.append(
            f"draw is a temperature, a top_k, a top_p and a seed that are offered, as 1,0,1,7; got {text[:40]!r}, "
            "so the most probable comes next."
        )
        return {}


_READERS: dict[str, Callable[[str, list[str]], dict]] = {
    "source": _chosen("source", "source", (OWN, OWN_MODEL, *READY_MADE)),
    "sentence": _typed("sentence"),
    "context": _typed("context"),
    "step": _step,
    "cell": _selection,
    "stage": lambda text, _: {"picked": text},  # of older links: the stage that numbers were set in
    "picked": lambda text, _: {"picked": text},
    "changes": _changes,
    "trail": _trail,
    "ask": _chosen("ask", "question", QUESTIONS),
    "order": _chosen("order", "order", ORDERS),
    "view": _chosen("view", "view", VIEWS),
    "present": _present,
    "reveal": _reveal,
    "notebook": _chosen("notebook", "notebook", tuple(EXAMPLES)),
    "draw": _draw,
    "compare": _chosen("compare", "compare", COMPARISONS),
    "route": _chosen("route", "route", ROUTES),
}
"""What reads each of the other parameters: from its text, the scene's field and value; mended with a notice."""

PARAMETERS = (*_OPTIONS, "model", "checkpoint", "beside", *_READERS)
"""The names of all parameters."""

_LOOKS = {
    "step": "step",
    "cell": "selection",
    "picked": "picked",
    "trail": "trail",
    "ask": "question",
    "order": "order",
    "view": "view",
    "present": "present",
    "reveal": "reveal",
    "compare": "compare",
    "route": "route",
}
VIEWERS = tuple(_LOOKS)
"""The parameters that say where in a pass one looks. The viewer writes them, without a run of the script."""

LOOKED_AT = tuple(_LOOKS.values())
"""The parts of a scene that they stand for."""
