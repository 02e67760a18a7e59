"""The pass cache: passes and documents that several sessions request.

A class opens one link and follows one projector, so most of its requests repeat.
A cached answer equals a new one; only the time differs.

What anyone can reach (a first visit, the worked examples, the trained models
with their sentences at each checkpoint) is a closed set of some 250 documents, cached
for good at the first request. Anything else is cached once two sessions have it among
their last few requests; what the fewest sessions have is evicted first. So a flood
only evicts the flooder's own entries. Hand-set numbers, single heads, gradients,
large passes and uploads are never cached.
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
from attnviz.scene.compare import other_pass
from attnviz.scene.document.document import Body, body, document_json
from attnviz.scene.document.reply_notes import NO_NOTES, ReplyNotes
from attnviz.scene.scene import FIRST_VISIT, PASS_FIELDS, SOURCES, Scene, is_uploaded, of_model, pinned
from attnviz.scene.with_pass import PassOrReason, SceneWithPass, fit_to_pass, normalized_scenes, pass_or_reason

MAX_BYTES = 32_000_000  # besides the closed set, some 50 MB
MAX_PASS_BYTES = 250_000  # of numbers; a cached pass is small enough that its document has all heads
MAX_SCENES = 8  # the latest requests of a session that count
MAX_SESSIONS = 1000  # the latest sessions that count
_OBJECT_BYTES = 50_000  # of Python objects per pass, besides its numbers

Key = tuple


def key_of(scene: Scene) -> Key:
    """The key of a scene's pass without hand-set numbers."""
    return tuple(getattr(scene, name) for name in PASS_FIELDS if name != "changes")


def pass_key(scene: Scene) -> Key:
    """The key of a scene's pass, including hand-set numbers."""
    return (*key_of(scene), scene.changes)


def document_key(scene: Scene) -> Key:
    """The key of a scene's document body without hand-set numbers."""
    return (*key_of(scene), scene.drawing)


def fixed_keys() -> frozenset[Key]:
    """Keys of the documents that anyone can reach without typing or changing a setting."""
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


class CacheEntry(NamedTuple):
    """A pass, its document and their approximate size in bytes."""

    original: Trace
    body: Body
    n_bytes: int


class SharedCache:
    """Entries that two sessions had among their last `MAX_SCENES` requests; thread-safe.

    Beyond `room` bytes it evicts what the fewest sessions have, least recently used first.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._kept: OrderedDict[Key, CacheEntry] = OrderedDict()  # what was asked for last is the last, here and below
        self._recent: OrderedDict[str, deque[Key]] = OrderedDict()  # of each session
        self._lock = threading.Lock()

    @property
    def n_bytes(self) -> int:
        """The bytes in use."""
        return sum(entry.n_bytes for entry in self._kept.values())

    def peek(self, key: Key) -> CacheEntry | None:
        """The entry of a key, without counting as a request."""
        return self._kept.get(key)

    def get(self, key: Key, session: str) -> CacheEntry | None:
        """The entry of a key; records the request for this session."""
        with self._lock:
            before = self._recent.pop(session, ())
            self._recent[session] = deque((*(each for each in before if each != key), key), MAX_SCENES)
            if len(self._recent) > MAX_SESSIONS:
                self._recent.popitem(last=False)
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: Key, entry: CacheEntry) -> None:
        """Store an entry if a second session has requested its key; evict what the fewest sessions requested."""
        with self._lock:
            n_sessions = Counter(chain.from_iterable(self._recent.values()))
            if n_sessions[key] > 1:
                self._kept[key] = entry
            while self.n_bytes > self._room:
                del self._kept[min(self._kept, key=n_sessions.__getitem__)]


class PassCache:
    """The passes and documents cached in one process."""

    def __init__(self, room: int = MAX_BYTES) -> None:
        self._closed = fixed_keys()
        self._passes: dict[Key, Trace] = {}  # of the closed set, and their documents
        self._bodies: dict[Key, Body] = {}
        self._shared = SharedCache(room)

    def resolved(self, scene: Scene) -> SceneWithPass:
        """The scene with its pass (see `scene.with_pass.resolve`)."""
        return self.resolver()(scene)

    def resolver(self) -> Callable[[Scene], SceneWithPass]:
        """A `resolved` for one request, which computes each pass once and keeps it no longer than the request."""
        original = lru_cache(2)(self.original)

        @lru_cache(2)
        def resolved(scene: Scene) -> SceneWithPass:
            scenes = normalized_scenes(scene)
            return fit_to_pass(scenes[0], *(each and original(replace(pinned(each), changes=())) for each in scenes))

        return resolved

    def original(self, scene: Scene) -> PassOrReason:
        """The pass of a scene without hand-set numbers, or why there is none (see `pass_or_reason`)."""
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
        notes: ReplyNotes = NO_NOTES,
        *,
        arrival: int = 0,
        templates: Collection[str] = (),
    ) -> bytes:
        """The document of a scene as JSON; the request counts for `session`."""
        made, a = self._body(resolved, session, notes), resolved.other
        if a is None:
            return document_json(made, resolved, arrival=arrival, templates=templates)
        body_of_a = self._body(a, session, ReplyNotes(heads=notes.heads, queries=notes.queries, whole=notes.whole))
        other = other_pass(a, resolved, document_json(body_of_a, a, templates=(*templates, *made.names)))
        return document_json(made, resolved, arrival=arrival, templates=templates, other=other, other_trace=a.trace)

    @property
    def n_bytes(self) -> int:
        """The bytes in use besides the closed set."""
        return self._shared.n_bytes

    def _body(self, resolved: SceneWithPass, session: str, notes: ReplyNotes) -> Body:
        return body(resolved, notes) if _is_of_one(resolved) or notes.asks else self._made(resolved, session)

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
            entry = CacheEntry(resolved.original, made, n_bytes)
            self._shared.put(key, entry)
        return entry.body


def _is_of_one(resolved: SceneWithPass) -> bool:
    """Whether the pass is private to one user, or too large to cache."""
    scene = resolved.scene
    return bool(scene.changes) or is_uploaded(scene) or _n_bytes(resolved.original) > MAX_PASS_BYTES


def _n_bytes(trace: Trace) -> int:
    return sum(stage.value.nbytes for stage in trace.stages)


PASS_CACHE = PassCache()
"""The cache of this process."""
