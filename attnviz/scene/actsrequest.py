"""Acts requests: what a viewer says was done, and what it may say."""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import parse_qs

from attnviz.scene.answer import PARTS

MAX_ACTS = 5
"""Acts in one request: what was done while the answer to the one before was on its way."""

FIELDS = ("tab", "address", "look", "view", "acts", "plans")


@dataclass(frozen=True)
class ActsRequest:
    """What a viewer says was done.

    Attributes
    ----------
    tab : str
        What stands for the person's tab.
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
    address: dict[str, str | None]
    look: dict[str, list[str]]
    view: str
    acts: list[list]
    plans: list[str]


def read(body: bytes) -> ActsRequest | None:
    """What a request says, or None if no viewer would say so."""
    try:
        said = json.loads(_well_formed(json.loads(body)))
        tab, address, look, view, acts, plans = (said[field] for field in FIELDS)
        look = parse_qs(look.removeprefix("?"), keep_blank_values=True, max_num_fields=100)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    is_read = (
        isinstance(tab, str)
        and isinstance(address, dict)
        and all(isinstance(text, str | None) for text in address.values())
        and isinstance(view, str)
        and view in PARTS
        and isinstance(acts, list)
        and len(acts) <= MAX_ACTS
        and all(isinstance(each, list) and len(each) == 2 for each in acts)
        and isinstance(plans, list)
        and all(isinstance(each, str) for each in plans)
    )
    return ActsRequest(tab, address, look, view, acts, plans) if is_read else None


def _well_formed(said: object) -> str:
    """The same as JSON, in which U+FFFD stands for half a character: no answer could be sent with that."""
    text = json.dumps(said, ensure_ascii=False)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
