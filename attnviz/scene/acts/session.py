"""Session: the state of a tab between two answers, and what each act makes of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from attnviz.analysis.audit import Audit
from attnviz.contract.answer import ActsRequest
from attnviz.scene.acts import act
from attnviz.scene.acts.done import Resolve
from attnviz.scene.address import looking, parse
from attnviz.scene.compare.code import furthest_apart
from attnviz.scene.document.extras import Extras
from attnviz.scene.document.pass_cache import ANSWERS, Key, pass_key
from attnviz.scene.document.reply import Has, address_of, reply
from attnviz.scene.parameters import LOOKED_AT
from attnviz.scene.resolution import SceneWithPass
from attnviz.scene.scene import DECIDING, OWN_CODE, Scene, Upload, pinned, source_of_upload, with_uploads


@dataclass(eq=False)
class Session:
    """The state of a tab between two answers. It holds no pass: one of 64 words and 128 heads is 27 MB.

    Attributes
    ----------
    scene : Scene
        As it was asked for: what doesn't fit its pass may fit the next.
    extras : Extras
        What the next answer says besides it (`Extras.kept`).
    arrivals : int
        Another number whenever the viewer is to look where the scene says, not where it looked before.
    arrivals_sent : int
        The arrivals that the browser has been told of; where this is all of them, its address says where one looks.
    address : dict of str to str or None
        The parameters that the browser's address has, or lacks, since the last answer.
    audit : tuple of Key and Audit or None
        What decides the pass that was audited last because somebody asked for it, and what was found.
    compared : Scene or None
        That of the pass that the last file of arrays was compared with.
    uploads : dict of str to Upload
        The last file of arrays, the last model and the last stages of this person's code, each by its key.
    """

    scene: Scene
    extras: Extras = field(default_factory=Extras)
    arrivals: int = 0
    arrivals_sent: int = 0
    address: dict[str, str | None] = field(default_factory=dict)
    audit: tuple[Key, Audit] | None = None
    uploads: dict[str, Upload] = field(default_factory=dict)
    compared: Scene | None = None
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def number(self) -> int:
        """The number of a scene that is read after this: runs and acts may be answered at the same time."""
        return next(self._numbers)

    def resolved(self) -> SceneWithPass:
        """The scene beside its pass."""
        return ANSWERS.resolved(self.scene)

    def keep(self, *uploads: Upload) -> None:
        """Keep what somebody gave, in place of what was of its kind before."""
        self.uploads |= {source_of_upload(each): each for each in uploads}
        self.update()

    def pair(self) -> dict[str, object]:
        """The parts of the scene that show the pass that was compared last, beside the same as their code computes it.

        Nothing where there is no such pair any more.
        """
        right = with_uploads(self.compared, self.uploads) if self.compared else None
        code = self.uploads.get(OWN_CODE)
        if right is None or code is None:
            return {}
        theirs = replace(pinned(right), code=code)
        resolved = ANSWERS.resolved(replace(right, other=theirs))
        if resolved.trace is None or resolved.other is None:
            return {}
        looks = furthest_apart(resolved.other.trace, resolved.trace, code.at)
        return {name: getattr(right, name) for name in DECIDING} | {"other": theirs, "trail": ()} | looks

    def update(self, **parts: object) -> None:
        """Change parts of the scene."""
        scene = with_uploads(replace(self.scene, **parts), self.uploads)
        self.scene = replace(scene, other=scene.other and with_uploads(scene.other, self.uploads))
        if not parts.keys().isdisjoint(LOOKED_AT):
            self.arrivals += 1

    def do(self, name: object, message: object, resolve: Resolve | None = None) -> Extras:
        """Do what a person asks for; returns what else is to be said."""
        self.scene, extras = act(self.scene, name, message, resolve or ANSWERS.resolver())
        self.arrivals += extras.arrives
        self.extras = self.extras.then(extras).kept(self.scene)
        return extras

    def answer(
        self, resolved: SceneWithPass, extras: Extras, tab: str, view: str, number: int, templates: Collection[str] = ()
    ) -> bytes:
        """The answer for the session's scene beside its pass, which its browser will have."""
        scene = resolved.scene
        key, audit = self.audit or (None, None)
        all_extras = self.extras.then(extras).then(Extras(audit=audit if key == pass_key(scene) else None))
        self.extras = self.extras.kept(scene)
        self.arrivals_sent, self.address = self.arrivals, address_of(scene)
        return reply(resolved, all_extras, Has(tab, view, number, self.arrivals, templates))


def answer_to(session: Session, request: ActsRequest) -> bytes:
    """The answer to what a person did, which changes the session."""
    if request.address != session.address:
        written = {name: text for name, text in request.address.items() if text is not None}
        session.scene = parse(written, session.uploads).scene
    session.scene = looking(session.scene, request.looks)
    resolve, extras = ANSWERS.resolver(), Extras()
    for name, message in request.acts:
        extras = extras.then(session.do(name, message, resolve))
    number, resolved = session.number(), resolve(session.scene)
    return session.answer(resolved, extras, request.tab, request.view, number, request.templates)
