"""The pass cache: passes and their documents that many ask for alike, kept in memory.

A class opens one link and follows one projector, so most of what it asks for
has just been made for somebody else. What is kept is what would be made anew,
so nobody can tell but by the time it takes.

What everyone may meet (a first visit, the worked examples, the trained models
with their sentences at each checkpoint) is a closed set of some 250, kept for
good once it was asked for. Anything else is kept once two sessions have it among the
last few that they asked for, and leaves first where fewer have it. So whoever
floods the cache pushes out what they asked for themselves. No change by hand, head,
slope, large pass or pass of somebody's own parameters is ever kept.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from attnviz.core.trace import Trace
from attnviz.models import MODELS
from attnviz.scene.compare.report import other_pass
from attnviz.scene.document.document import Body, body, document_json
from attnviz.scene.document.extras import NO_EXTRAS, Extras
from attnviz.scene.resolution import PassOrReason, SceneWithPass, both, pass_or_reason, placed
from attnviz.scene.scene import DECIDING, FIRST_VISIT, SOURCES, Scene, is_uploaded, of_model, pinned

MAX_BYTES = 32_000_000  # besides the closed set, which comes to some 50 MB
MAX_PASS_BYTES = 250_000  # of numbers in a pass that may be kept: all its heads are in its document
MAX_SCENES = 8  # that count of what a session asked for, the latest
MAX_SESSIONS = 1000  # that count, the latest
_OBJECT_BYTES = 50_000  # that Python needs for a pass besides its numbers

Key = tuple


def key_of(scene: Scene) -> Key:
    """The key of a scene's pass, as long as no number is set by hand."""
    return tuple(getattr(scene, name) for name in DECIDING if name != "changes")


def pass_key(scene: Scene) -> Key:
    """The key of a scene's pass, numbers set by hand among it."""
    return (*key_of(scene), scene.changes)


def document_key(scene: Scene) -> Key:
    """The key of a scene's document, but for where one looks, as long as no number is set by hand."""
    return (*key_of(scene), scene.drawing)


def closed() -> frozenset[Key]:
    """The documents that everyone may meet without typing or picking a setting."""
    scenes = [FIRST_VISIT, Scene(), *(Scene(source=source) for source in SOURCES)]
    for name, model in MODELS.items():
        first = of_model(name)
        checkpoints = [None, *range(len(model.checkpoints(first.model_seed)) - 1)]
        scenes += [
            replace(first, sentence=sentence, checkpoint=checkpoint)
            for _, sentence in model.examples
            for checkpoint in checkpoints
        ]
    return frozenset(map(document_key, scenes))


class Entry(NamedTuple):
    """A pass and its document, and how many bytes they need, about."""

    original: Trace
    body: Body
    n_bytes: int


class Shared:
    """Answers that two sessions had among the last `MAX_SCENES` that they asked for; any thread may ask.

    Beyond `room` bytes, what the fewest sessions have leaves first, and of that what was asked for longest ago.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._kept: OrderedDict[Key, Entry] = OrderedDict()  # what was asked for last is the last, here and below
        self._recent: OrderedDict[str, deque[Key]] = OrderedDict()  # of each session
        self._lock = threading.Lock()

    @property
    def n_bytes(self) -> int:
        """The bytes that are kept."""
        return sum(entry.n_bytes for entry in self._kept.values())

    def peek(self, key: Key) -> Entry | None:
        """The entry of a key, whoever asks."""
        return self._kept.get(key)

    def get(self, key: Key, session: str) -> Entry | None:
        """The entry of a key, which is now among those that the session asked for."""
        with self._lock:
            before = self._recent.pop(session, ())
            self._recent[session] = deque((*(each for each in before if each != key), key), MAX_SCENES)
            if len(self._recent) > MAX_SESSIONS:
                self._recent.popitem(last=False)
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: Key, entry: Entry) -> None:
        """Keep an entry, if another session asked for the same."""
        with self._lock:
            n_sessions = Counter(chain.from_iterable(self._recent.values()))
            if n_sessions[key] > 1:
                self._kept[key] = entry
            while self.n_bytes > self._room:
                del self._kept[min(self._kept, key=n_sessions.__getitem__)]


class Answers:
    """The passes and documents that one process keeps."""

    def __init__(self, room: int = MAX_BYTES) -> None:
        self._closed = closed()
        self._passes: dict[Key, Trace] = {}  # of the closed set, and their documents
        self._bodies: dict[Key, Body] = {}
        self._shared = Shared(room)

    def resolved(self, scene: Scene) -> SceneWithPass:
        """The scene beside its pass (see `scene.resolution.resolve`)."""
        return self.resolver()(scene)

    def resolver(self) -> Callable[[Scene], SceneWithPass]:
        """`resolved`, which makes each pass once for all that is done and answered at once; no pass outlives it."""
        original = lru_cache(2)(self.original)

        @lru_cache(2)
        def resolved(scene: Scene) -> SceneWithPass:
            scenes = both(scene)
            return placed(scenes[0], *(each and original(replace(pinned(each), changes=())) for each in scenes))

        return resolved

    def original(self, scene: Scene) -> PassOrReason:
        """The pass of a scene before any number is set by hand, or why there is none (see `pass_or_reason`)."""
        key = document_key(replace(scene, drawing=None))
        if key not in self._closed:
            kept = self._shared.peek(key)
            return kept.original if kept else pass_or_reason(scene)
        if key not in self._passes:
            self._passes[key] = pass_or_reason(scene)
        return self._passes[key]

    def document_json(
        self,
        resolved: SceneWithPass,
        session: str,
        extras: Extras = NO_EXTRAS,
        *,
        arrival: int = 0,
        templates: Collection[str] = (),
    ) -> bytes:
        """The document of a scene as JSON, for the session that asks."""
        made, a = self._body(resolved, session, extras), resolved.other
        if a is None:
            return document_json(made, resolved, arrival=arrival, templates=templates)
        body_of_a = self._body(a, session, Extras(heads=extras.heads, queries=extras.queries, whole=extras.whole))
        other = other_pass(a, resolved, document_json(body_of_a, a, templates=(*templates, *made.names)))
        return document_json(made, resolved, arrival=arrival, templates=templates, other=other, other_trace=a.trace)

    @property
    def n_bytes(self) -> int:
        """The bytes that are kept besides the closed set."""
        return self._shared.n_bytes

    def _body(self, resolved: SceneWithPass, session: str, extras: Extras) -> Body:
        return body(resolved, extras) if _is_of_one(resolved) or extras.asks else self._made(resolved, session)

    def _made(self, resolved: SceneWithPass, session: str) -> Body:
        key = document_key(resolved.scene)
        if key in self._closed:
            if key not in self._bodies:
                self._bodies[key] = body(resolved)
            return self._bodies[key]
        entry = self._shared.get(key, session)
        if entry is None:
            made = body(resolved)
            n_bytes = made.n_bytes + _n_bytes(resolved.original) + _OBJECT_BYTES
            entry = Entry(resolved.original, made, n_bytes)
            self._shared.put(key, entry)
        return entry.body


def _is_of_one(resolved: SceneWithPass) -> bool:
    """Whether the pass is one person's alone, or too large to be kept."""
    scene = resolved.scene
    return bool(scene.changes) or is_uploaded(scene) or _n_bytes(resolved.original) > MAX_PASS_BYTES


def _n_bytes(trace: Trace) -> int:
    return sum(stage.value.nbytes for stage in trace.stages)


ANSWERS = Answers()
"""The cache of this process."""
