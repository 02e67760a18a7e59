"""Sessions: a tab's state between two replies, and how actions change it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from attnviz.analysis.audit import Audit
from attnviz.contract.answer import ActsRequest
from attnviz.scene.actions import apply_action
from attnviz.scene.actions.messages import Resolve
from attnviz.scene.address import parse, with_view
from attnviz.scene.compare import furthest_apart
from attnviz.scene.document.pass_cache import PASS_CACHE, Key, pass_key
from attnviz.scene.document.reply import ClientState, address_of, reply
from attnviz.scene.document.reply_notes import ReplyNotes
from attnviz.scene.parameters import LOOKED_AT
from attnviz.scene.scene import OWN_CODE, PASS_FIELDS, Scene, Upload, pinned, source_of_upload, with_uploads
from attnviz.scene.with_pass import SceneWithPass


@dataclass(eq=False)
class Session:
    """A tab's state between two replies. It holds no pass: one of 64 words and 128 heads takes 27 MB.

    Attributes
    ----------
    scene : Scene
        As requested: parts that don't fit this pass may fit the next.
    notes : ReplyNotes
        Notes for the next reply (`ReplyNotes.kept`).
    arrivals : int
        Counts up whenever the viewer should move to the scene's selection instead of keeping its own.
    arrivals_sent : int
        The arrivals sent to the browser; when none is pending, the browser's address has the current selection.
    address : dict of str to str or None
        The address parameters sent with the last reply; None for those removed.
    audit : tuple of Key and Audit or None
        The key of the pass last audited on request, and the result.
    compared : Scene or None
        The scene that the last uploaded arrays were compared with.
    uploads : dict of str to Upload
        The latest uploaded arrays, model and code stages, by key.
    """

    scene: Scene
    notes: ReplyNotes = field(default_factory=ReplyNotes)
    arrivals: int = 0
    arrivals_sent: int = 0
    address: dict[str, str | None] = field(default_factory=dict)
    audit: tuple[Key, Audit] | None = None
    uploads: dict[str, Upload] = field(default_factory=dict)
    compared: Scene | None = None
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def number(self) -> int:
        """The next reply number: reruns and actions may be answered concurrently."""
        return next(self._numbers)

    def resolved(self) -> SceneWithPass:
        """The scene with its pass."""
        return PASS_CACHE.resolved(self.scene)

    def keep(self, *uploads: Upload) -> None:
        """Store uploads, each replacing the previous one of its kind."""
        self.uploads |= {source_of_upload(each): each for each in uploads}
        self.update()

    def pair(self) -> dict[str, object]:
        """The parts of the scene that show the last compared pass next to the user's own computation of it.

        Empty if that pair no longer exists.
        """
        right = with_uploads(self.compared, self.uploads) if self.compared else None
        code = self.uploads.get(OWN_CODE)
        if right is None or code is None:
            return {}
        theirs = replace(pinned(right), code=code)
        resolved = PASS_CACHE.resolved(replace(right, other=theirs))
        if resolved.trace is None or resolved.other is None:
            return {}
        looks = furthest_apart(resolved.other.trace, resolved.trace, code.at)
        return {name: getattr(right, name) for name in PASS_FIELDS} | {"other": theirs, "trail": ()} | looks

    def update(self, **parts: object) -> None:
        """Change parts of the scene."""
        scene = with_uploads(replace(self.scene, **parts), self.uploads)
        self.scene = replace(scene, other=scene.other and with_uploads(scene.other, self.uploads))
        if not parts.keys().isdisjoint(LOOKED_AT):
            self.arrivals += 1

    def do(self, name: object, message: object, resolve: Resolve | None = None) -> ReplyNotes:
        """Perform an action; returns the notes for the reply."""
        self.scene, notes = apply_action(self.scene, name, message, resolve or PASS_CACHE.resolver())
        self.arrivals += notes.arrives
        self.notes = self.notes.then(notes).kept(self.scene)
        return notes

    def answer(
        self,
        resolved: SceneWithPass,
        notes: ReplyNotes,
        tab: str,
        view: str,
        number: int,
        templates: Collection[str] = (),
    ) -> bytes:
        """The reply for the session's scene and pass; records what the browser now has."""
        scene = resolved.scene
        key, audit = self.audit or (None, None)
        all_notes = self.notes.then(notes).then(ReplyNotes(audit=audit if key == pass_key(scene) else None))
        self.notes = self.notes.kept(scene)
        self.arrivals_sent, self.address = self.arrivals, address_of(scene)
        return reply(resolved, all_notes, ClientState(tab, view, number, self.arrivals, templates))


def answer_to(session: Session, request: ActsRequest) -> bytes:
    """Perform the requested actions and return the reply; changes the session."""
    if request.address != session.address:
        written = {name: text for name, text in request.address.items() if text is not None}
        session.scene = parse(written, session.uploads).scene
    session.scene = with_view(session.scene, request.looks)
    resolve, notes = PASS_CACHE.resolver(), ReplyNotes()
    for name, message in request.acts:
        notes = notes.then(session.do(name, message, resolve))
    number, resolved = session.number(), resolve(session.scene)
    return session.answer(resolved, notes, request.tab, request.view, number, request.templates)
