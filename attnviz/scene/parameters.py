"""URL parameters: their names, and readers that correct any bad value with a notice."""

import re
from collections.abc import Callable, Sequence

from attnviz.checks.uploads import LACKING
from attnviz.contract.view_params import ALL, CHOICES, FORMER, REVEAL, VIEWERS
from attnviz.core.changes import Change, parse_change, split_changes
from attnviz.core.errors import ChangeError, SettingsError
from attnviz.core.limits import MAX_CHARACTERS
from attnviz.core.masks import CustomMask
from attnviz.core.selection import Selection
from attnviz.examples import EXAMPLES
from attnviz.explain.steps import STEPS, find
from attnviz.models.continuation import OFFERED, Drawing
from attnviz.scene.scene import OWN, OWN_CODE, OWN_MODEL, OWN_PARAMETERS, READY_MADE, Options, Scene

OF_OPTIONS = {("heads" if name == "n_heads" else name): name for name in vars(Options())}
"""Parameters that are settings, with their names in `Settings`."""

_FIELDS = {"cell": "selection", "ask": "question"}
"""Parameters whose scene field has a different name."""

_FORMER = FORMER | {
    "your own sentence": OWN,
    "your own parameters": OWN_PARAMETERS,
    "your own microgpt": OWN_MODEL,
}


def only(name: str, value: str | Sequence[str], notices: list[str]) -> str:
    """The value of a parameter; the last one if it is repeated."""
    if isinstance(value, str):
        return value
    if len(value) > 1:
        notices.append(f"{name} stands in the address {len(value)} times; using the last, {value[-1][:40]!r}.")
    return value[-1] if value else ""


def _choice(name: str, text: str, allowed: Sequence[str], default: str, notices: list[str]) -> str:
    """The allowed value, ignoring case; values of old addresses are translated."""
    written = text.strip().casefold()
    choice = next((each for each in allowed if each.casefold() == _FORMER.get(written, written)), None)
    if choice is None:
        notices.append(f"{name} is one of {', '.join(map(repr, allowed))}; got {text[:40]!r}, using {default!r}.")
    return default if choice is None else choice


def _sentence(name: str, text: str, notices: list[str]) -> str:
    if len(text) > MAX_CHARACTERS:
        notices.append(
            f"The {name} may have at most {MAX_CHARACTERS:,} characters; the address has {len(text):,}, "
            f"so only the first {MAX_CHARACTERS:,} are here."
        )
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode()  # a lone surrogate has no place in a message


def _step(text: str, notices: list[str]) -> dict:
    id_ = find(text)
    if id_ is None:
        titles = ", ".join(repr(step.title) for step in STEPS)
        notices.append(f"step is one of {titles}; got {text[:40]!r}, using {STEPS[0].title}.")
    return {"step": id_ or STEPS[0].id}


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


def _hidden(text: str, notices: list[str]) -> dict:
    try:
        return {"hidden": CustomMask.parse(text)}
    except SettingsError as error:
        notices.append(f"{error} No mask is painted.")
        return {}


def _trail(text: str, notices: list[str]) -> dict:
    if not text:
        notices.append("trail is cells with “<” between them; got '', so no number is unfolded.")
    return {"trail": tuple(text.split("<")) if text else ()}


def _present(text: str, notices: list[str]) -> dict:
    if text not in ("0", "1"):
        notices.append(f"present is 1 or 0; got {text[:40]!r}, so nothing is presented.")
    return {"present": text == "1"}


def _reveal(text: str, notices: list[str]) -> dict:
    if text == ALL:
        return {"reveal": None}
    if not re.fullmatch(REVEAL, text):
        rule = f"reveal is a whole number from 0 to 99, or {ALL}"
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


def _code(text: str, notices: list[str]) -> dict:
    if text != OWN_CODE:
        notices.append(f"code is {OWN_CODE!r} or isn't there; got {text[:40]!r}, and is left out.")
        return {}
    return {"code": LACKING}


def drawing_in(message: object) -> Drawing | None:
    """The sampling settings in a message or an address; ValueError if they are invalid."""
    if message is None:
        return None
    if not isinstance(message, dict) or message.keys() != OFFERED.keys():
        raise ValueError("no drawing")
    values = {}
    for name, offered in OFFERED.items():
        value = message[name]
        if isinstance(value, bool) or not isinstance(value, int | float) or value not in offered:
            raise ValueError("no drawing")
        values[name] = type(offered[0])(value)
    return Drawing(**values)


READERS: dict[str, Callable[[str, list[str]], dict]] = {
    "source": _chosen("source", "source", (OWN, OWN_MODEL, *READY_MADE)),
    "sentence": _typed("sentence"),
    "context": _typed("context"),
    "step": _step,
    "cell": _selection,
    "stage": lambda text, _: {"picked": text},  # of older links: the stage that numbers were set in
    "picked": lambda text, _: {"picked": text},
    "hidden": _hidden,
    "changes": _changes,
    "code": _code,
    "trail": _trail,
    "present": _present,
    "reveal": _reveal,
    "notebook": _chosen("notebook", "notebook", tuple(EXAMPLES)),
    "draw": _draw,
    **{name: _chosen(name, _FIELDS.get(name, name), allowed) for name, allowed in CHOICES.items()},
}
"""Readers of the other parameters: from a text to the scene's field and value, corrected with a notice."""

PARAMETERS = (*OF_OPTIONS, "model", "checkpoint", "beside", *READERS)
"""The names of all parameters."""

LOOKED_AT = tuple(_FIELDS.get(name, name) for name in VIEWERS)
"""The scene fields of the `VIEWERS` parameters."""
