"""Sessions: a tab's state between two replies, and the actions that change it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from attnviz.analysis.audit import Audit
from attnviz.checks.uploads import Upload
from attnviz.contract.request_reply import ActionsRequest
from attnviz.scene.actions.messages import ActionResult, Resolve
from attnviz.scene.actions.passes import ACTIONS_ON_PASSES, ACTIONS_TO_NEW_PASSES
from attnviz.scene.actions.settings import ACTIONS_ON_SETTINGS, allowed_actions
from attnviz.scene.address import VIEW_FIELDS, parse, with_view
from attnviz.scene.compare import furthest_apart
from attnviz.scene.document.pass_cache import PASS_CACHE, Key, pass_key
from attnviz.scene.document.reply import address_of, reply
from attnviz.scene.document.reply_notes import ReplyNotes
from attnviz.scene.reading import normalized
from attnviz.scene.scene import OWN_CODE, PASS_FIELDS, Scene, pinned, source_of_upload, with_uploads
from attnviz.scene.with_pass import SceneWithPass, resolve

ACTION_NAMES = tuple(ACTIONS_ON_SETTINGS | ACTIONS_ON_PASSES | ACTIONS_TO_NEW_PASSES)  # the names of all actions


def apply_action(scene: Scene, name: object, message: object, resolve: Resolve = resolve) -> ActionResult:
    """Apply an action to a scene as requested: parts that don't fit its pass may fit the next. `resolve` computes the
    scene's pass if the action needs it.
    """
    if not isinstance(name, str):
        return ActionResult(scene)
    on_settings = allowed_actions(scene)
    if name in on_settings:
        return on_settings[name](scene, message)
    if name not in ACTIONS_ON_PASSES and name not in ACTIONS_TO_NEW_PASSES:
        return ActionResult(scene)
    resolved = resolve(scene)
    if not resolved.trace:
        return ActionResult(scene)
    if name in ACTIONS_ON_PASSES:
        return ACTIONS_ON_PASSES[name](scene, resolved, message)
    return ACTIONS_TO_NEW_PASSES[name](scene, resolved, message, resolve)


@dataclass(eq=False)
class Session:
    """A tab's state between two replies. It holds no pass: one of 64 words and 128 heads takes 27 MB."""

    scene: Scene  # as requested: parts that don't fit this pass may fit the next
    notes: ReplyNotes = field(default_factory=ReplyNotes)  # notes for the next reply (`ReplyNotes.carried_over`)
    arrivals: int = 0  # counts up whenever the viewer should move to the scene's selection instead of keeping its own
    arrivals_sent: int = 0  # when none is pending, the browser's address has the current selection
    address: dict[str, str | None] = field(default_factory=dict)  # as sent with the last reply; None removes one
    audit: tuple[Key, Audit] | None = None  # the key of the pass last audited on request, and the result
    uploads: dict[str, Upload] = field(default_factory=dict)  # the latest arrays, model and code stages, by key
    compared: Scene | None = None  # the scene that the last uploaded arrays were compared with
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
        """The fields of the scene that show the last compared pass next to the user's own; empty if it is gone."""
        right = with_uploads(self.compared, self.uploads) if self.compared else None
        code = self.uploads.get(OWN_CODE)
        if right is None or code is None:
            return {}
        theirs = replace(pinned(right), code=code)
        resolved = PASS_CACHE.resolved(replace(right, other=theirs))
        if resolved.trace is None or resolved.other is None:
            return {}
        selection = furthest_apart(resolved.other.trace, resolved.trace, code.at)
        return {name: getattr(right, name) for name in PASS_FIELDS} | {"other": theirs, "trail": ()} | selection

    def update(self, **parts: object) -> None:
        """Change parts of the scene."""
        scene = with_uploads(replace(self.scene, **parts), self.uploads)
        self.scene = replace(scene, other=scene.other and with_uploads(scene.other, self.uploads))
        if not parts.keys().isdisjoint(VIEW_FIELDS):
            self.arrivals += 1

    def do(self, name: object, message: object, resolve: Resolve | None = None) -> ReplyNotes:
        """Perform an action; returns the notes for the reply."""
        self.scene, notes = apply_action(self.scene, name, message, resolve or PASS_CACHE.resolver())
        self.arrivals += notes.arrives
        self.notes = self.notes.then(notes).carried_over(self.scene)
        return notes

    def reply(
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
        self.notes = self.notes.carried_over(scene)
        self.arrivals_sent, self.address = self.arrivals, address_of(scene)
        return reply(resolved, all_notes, tab=tab, view=view, number=number, arrival=self.arrivals, templates=templates)


def reply_to(session: Session, request: ActionsRequest) -> bytes:
    """Perform the requested actions and return the reply; changes the session."""
    if request.address != session.address:
        parameters = {name: text for name, text in request.address.items() if text is not None}
        session.scene = parse(parameters, session.uploads).scene
    session.scene = with_view(session.scene, request.view_params)
    corrections = normalized(session.scene)[1]
    resolve, notes = PASS_CACHE.resolver(), ReplyNotes()
    for name, message in request.actions:
        notes = notes.then(session.do(name, message, resolve))
    number, resolved = session.number(), resolve(session.scene)
    new = [each for each in normalized(session.scene)[1] if each not in corrections]
    notes = replace(notes, notices=(*notes.notices, *new))
    return session.reply(resolved, notes, request.tab, request.view, number, request.templates)
