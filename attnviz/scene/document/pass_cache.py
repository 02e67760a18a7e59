"""The pass cache: the latest passes and documents, for the sessions that request them again.

A class opens one link and follows one projector, so most of its requests repeat. A cached document equals a new one;
only the time differs. Hand-set numbers, single heads, gradients, large passes and uploads are never cached.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache

from attnviz.core.trace import Trace
from attnviz.scene.reading import normalized
from attnviz.scene.scene import PASS_FIELDS, Scene, is_uploaded, pinned
from attnviz.scene.with_pass import SceneWithPass, as_written, fit_to_pass, pass_or_reason

MAX_BYTES = 32_000_000
MAX_PASS_BYTES = 250_000  # the most bytes of numbers of a cached pass: few enough that its document has all heads
_OBJECT_BYTES = 25_000  # approximate, of the Python objects of a pass or a document besides its numbers
Key = tuple


def pass_key(scene: Scene) -> Key:
    """The key of a scene's pass: all fields that decide its numbers."""
    return tuple(getattr(scene, name) for name in PASS_FIELDS)


class PassCache:
    """The passes and documents of this process that were requested last, as many as fit into `room` bytes."""

    def __init__(self, room: int = MAX_BYTES) -> None:
        self.n_bytes = 0
        self.room = room
        self._entries: OrderedDict[Key, tuple[object, int]] = OrderedDict()  # the latest request last
        self._lock = threading.Lock()

    def get(self, key: Key) -> object | None:
        """The value of a key; None if it is not cached."""
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key][0]

    def put(self, key: Key, value: object, n_bytes: int) -> None:
        """Store a value; evict those that were not requested for longest."""
        n_bytes += _OBJECT_BYTES
        with self._lock:
            _, before = self._entries.pop(key, (None, 0))
            self._entries[key] = value, n_bytes
            self.n_bytes += n_bytes - before
            while self.n_bytes > self.room:
                _, (_, evicted) = self._entries.popitem(last=False)
                self.n_bytes -= evicted

    def resolved(self, scene: Scene) -> SceneWithPass:
        """The scene with its pass (see `scene.with_pass.resolve`)."""
        return self.resolver()(scene)

    def resolver(self) -> Callable[[Scene], SceneWithPass]:
        """A `resolved` for one request, which computes each pass once and keeps it no longer than the request."""
        original = lru_cache(2)(self.original)

        @lru_cache(2)
        def resolved(scene: Scene) -> SceneWithPass:
            scene, _ = normalized(scene)
            passes = [each and original(as_written(pinned(each))) for each in (scene, scene.other)]
            return fit_to_pass(scene, *passes)

        return resolved

    def original(self, scene: Scene) -> Trace | str:
        """The pass of a scene without hand-set numbers, or why there is none (see `pass_or_reason`)."""
        if is_uploaded(scene):
            return pass_or_reason(scene)
        key = ("pass", pass_key(scene))
        original = self.get(key)
        if original is None:
            original = pass_or_reason(scene)
            if isinstance(original, Trace) and (n_bytes := n_bytes_of(original)) <= MAX_PASS_BYTES:
                self.put(key, original, n_bytes)
        return original


def n_bytes_of(trace: Trace) -> int:
    """The bytes of a pass's numbers."""
    return sum(stage.value.nbytes for stage in trace.stages)


PASS_CACHE = PassCache()  # the cache of this process
