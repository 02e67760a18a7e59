"""The pass cache: passes and their documents that many ask for alike, kept in memory.

A class opens one link and follows one projector, so most of what it asks for
has just been made for somebody else. What is kept is what would be made anew,
so nobody can tell but by the time it takes. Three things hold, whatever anyone does:

Nobody empties it. What everyone may meet (a first visit, the worked examples,
the trained models with their sentences at each checkpoint) is a closed set of
some 200, kept for good once it was asked for. Of the rest, what fewer sessions
asked for leaves first: who wants an answer out needs more sessions than the
class has that asked for it. A session's flood of other scenes pushes out nothing.

Nobody fills it. An answer is kept once two sessions have asked for the same.
Of what is kept each session may have brought a sixteenth at most, and of what
waits for a second session it has the last few. No change by hand, head, slope,
large pass or pass of somebody's own parameters is ever kept. With sixteen sessions and more one can fill what is not
of the closed set; then others wait as long as they would without this module.

It is bounded in bytes: `MAX_BYTES` besides the closed set, which comes to about as much.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from attnviz.core.trace import Trace
from attnviz.models import MODELS
from attnviz.scene.document import Body, body, written, written_beside
from attnviz.scene.fitting import SceneWithPass, pass_of
from attnviz.scene.scene import FIRST_VISIT, OWN_MODEL, OWN_PARAMETERS, SOURCES, Scene, of_model

MAX_BYTES = 32_000_000
MIN_SESSIONS = 16  # how many sessions at least fill the room
MAX_PASS_BYTES = 250_000  # of numbers in a pass that may be kept: all its heads are in its document
MAX_WAITING_SCENES = 8  # scenes of one session that wait for a second session
MAX_SESSIONS = 1000  # of which such scenes are remembered
_OBJECT_BYTES = 50_000  # that Python needs for a pass besides its numbers

Key = tuple


def key_of(scene: Scene) -> Key:
    """What decides a scene's pass, as long as no number is set by hand; and its document but for where one looks."""
    return (scene.source, scene.sentence, scene.context, scene.options, scene.model_seed, scene.checkpoint, scene.own)


def pass_key(scene: Scene) -> Key:
    """What decides the pass of a scene, numbers set by hand among it."""
    return (*key_of(scene), scene.changes)


def closed() -> frozenset[Key]:
    """The scenes that everyone may meet without typing or picking a setting."""
    scenes = [FIRST_VISIT, Scene(), *(Scene(source=source) for source in SOURCES)]
    for name, model in MODELS.items():
        first = of_model(name)
        checkpoints = [None, *range(len(model.checkpoints(first.model_seed)) - 1)]
        scenes += [
            replace(first, sentence=sentence, checkpoint=checkpoint)
            for _, sentence in model.examples
            for checkpoint in checkpoints
        ]
    return frozenset(map(key_of, scenes))


@dataclass
class Answer:
    """A pass and its document, who brought it, who asked for it, and when it was last asked for."""

    original: Trace
    body: Body
    bringer: str
    askers: set[str] = field(default_factory=set)
    used: int = 0

    @property
    def size(self) -> int:
        """How many bytes it needs, about."""
        return len(self.body.numbers) + len(self.body.plan.parts) + _n_bytes(self.original) + _OBJECT_BYTES


class Answers:
    """What one process keeps; any thread may ask."""

    def __init__(self, room: int = MAX_BYTES) -> None:
        self._room = room
        self._closed = closed()
        self._passes: dict[Key, Trace] = {}  # those of the closed set
        self._kept: dict[Key, Answer] = {}
        self._waiting: dict[str, deque[Key]] = {}
        self._clock = count()
        self._lock = threading.Lock()

    def original(self, scene: Scene) -> Trace:
        """The pass of a scene before any number is set by hand (see `pass_of`).

        Of the closed set it is kept for pages that send no document too.
        """
        key = key_of(scene)
        with self._lock:
            kept, original = self._kept.get(key), self._passes.get(key)
        if kept or original:
            return kept.original if kept else original
        original = pass_of(scene)
        if key in self._closed:
            with self._lock:
                self._passes[key] = original
        return original

    def written(
        self,
        fitted: SceneWithPass,
        asker: str,
        *,
        asked: Sequence[int] = (),
        slopes_of: str = "",
        flips_of: str = "",
        arrival: int = 0,
        plans: Collection[str] = (),
        with_names: bool = False,
    ) -> bytes:
        """The document of a scene as JSON (see `document`).

        Parameters
        ----------
        fitted : SceneWithPass
            The scene beside its pass, perhaps with another beside that.
        asker : str
            What stands for the session that asks.
        asked : sequence of int, optional
            The heads of a large pass that it asked for.
        slopes_of : str, optional
            The address of the cell whose slopes it asked for.
        flips_of : str, optional
            The address of the share of whose row it asked what would turn it.
        arrival : int, optional
            Another number where the viewer is to look where the scene says.
        plans : collection of str, optional
            The plans that its browser has.
        with_names : bool, optional
            Whether it asked for texts that a language model writes.
        """
        made, beside = self._body(fitted, asker, asked, slopes_of, flips_of), fitted.beside
        if beside is None:
            return written(made, fitted, arrival=arrival, plans=plans, with_names=with_names)
        other = self._body(beside, asker, asked)
        document = written(other, beside, plans=(*plans, made.plan.name))
        paired = written_beside(beside, fitted, document)
        return written(
            made, fitted, arrival=arrival, plans=plans, beside=paired, other=beside.trace, with_names=with_names
        )

    @property
    def n_bytes(self) -> int:
        """How much is kept besides the closed set."""
        return sum(answer.size for answer in self._open().values())

    def _body(
        self, fitted: SceneWithPass, asker: str, asked: Sequence[int], slopes_of: str = "", flips_of: str = ""
    ) -> Body:
        if _is_of_one(fitted) or asked or slopes_of or flips_of:
            return body(fitted, asked=asked, slopes_of=slopes_of, flips_of=flips_of)
        return self._made(fitted, asker)

    def _made(self, fitted: SceneWithPass, asker: str) -> Body:
        key = key_of(fitted.scene)
        found = self._found(key, asker)
        if found is None:
            found = body(fitted)
            self._offer(key, Answer(fitted.original, found, asker, {asker}))
        return found

    def _found(self, key: Key, asker: str) -> Body | None:
        with self._lock:
            answer = self._kept.get(key)
            if answer is None:
                return None
            answer.used = next(self._clock)
            if len(answer.askers) < MAX_SESSIONS:
                answer.askers.add(asker)
            return answer.body

    def _offer(self, key: Key, answer: Answer) -> None:
        with self._lock:
            if key not in self._closed:
                if not self._is_second(key, answer.bringer):
                    return
                brought = sum(each.size for each in self._open().values() if each.bringer == answer.bringer)
                if brought + answer.size > self._room // MIN_SESSIONS:
                    return
            answer.used = next(self._clock)
            self._kept[key] = answer
            while self.n_bytes > self._room:
                del self._kept[min(self._open(), key=self._worth)]

    def _is_second(self, key: Key, asker: str) -> bool:
        """Whether another session has asked for the same lately; this one is remembered."""
        if any(key in keys for session, keys in self._waiting.items() if session != asker):
            return True
        keys = self._waiting.pop(asker, deque(maxlen=MAX_WAITING_SCENES))
        keys.append(key)
        self._waiting[asker] = keys  # the last of all
        if len(self._waiting) > MAX_SESSIONS:
            del self._waiting[next(iter(self._waiting))]
        return False

    def _open(self) -> dict[Key, Answer]:
        return {key: answer for key, answer in self._kept.items() if key not in self._closed}

    def _worth(self, key: Key) -> tuple[int, int]:
        return len(self._kept[key].askers), self._kept[key].used


def _is_of_one(fitted: SceneWithPass) -> bool:
    """Whether nobody else asks for the like, or it is too large to be kept."""
    scene = fitted.scene
    is_own = scene.source in (OWN_PARAMETERS, OWN_MODEL)
    return bool(scene.changes) or is_own or _n_bytes(fitted.original) > MAX_PASS_BYTES


def _n_bytes(trace: Trace) -> int:
    return sum(stage.value.nbytes for stage in trace.stages)


ANSWERS = Answers()
"""Those of this process."""
