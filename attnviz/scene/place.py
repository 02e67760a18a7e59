"""The place of a scene in somebody's tab: the scene as it stands, and what the next answer has to say besides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from attnviz.analysis.audit import Audit
from attnviz.scene.address import LOOKED_AT
from attnviz.scene.answers import ANSWERS, key_of
from attnviz.scene.fitting import Fitted, fit
from attnviz.scene.scene import Scene


@dataclass(eq=False)
class Place:
    """What is kept of a scene between two answers. It holds no pass: one of 64 words and 128 heads is 27 MB.

    Attributes
    ----------
    name : str
        What stands before the keys of the scene's widgets; the scene that the page's address holds has none.
    scene : Scene
        As it was asked for: what doesn't fit its pass may fit the next.
    arrivals : int
        Another number whenever the viewer is to look where the scene says, not where it looked before.
    told : int
        The arrivals that the browser has been told of; where this is all of them, its address says where one looks.
    seed : str
        What was typed as a seed.
    heads : tuple of int
        The heads of a large pass that were asked for, the latest last.
    slopes_of : str
        The address of a cell whose slopes are part of the next answer.
    said : str
        A sentence that is part of the next answer.
    address : dict of str to str or None
        The parameters that the browser's address has, or lacks, since the last answer.
    """

    name: str
    scene: Scene
    arrivals: int = 0
    told: int = 0
    seed: str = ""
    heads: tuple[int, ...] = ()
    slopes_of: str = ""
    said: str = ""
    address: dict[str, str | None] = field(default_factory=dict)
    _made: dict[Scene, Fitted] | None = None
    _audit: tuple[tuple, Audit] | None = None

    def fitted(self) -> Fitted:
        """The scene beside its pass."""
        if self._made is None:
            return fit(self.scene, ANSWERS.original)
        if self.scene not in self._made:
            self._made.clear()
            self._made[self.scene] = fit(self.scene, ANSWERS.original)
        return self._made[self.scene]

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Make the pass of a scene once for all that asks for it while the block lasts; then it is let go."""
        self._made = {}
        try:
            yield
        finally:
            self._made = None

    @property
    def of_pass(self) -> tuple:
        """What decides the pass, numbers set by hand among it."""
        return (key_of(self.scene), self.scene.changes)

    @property
    def audit(self) -> Audit | None:
        """The audit of the pass, if that was asked for and no other was since."""
        return self._audit[1] if self._audit and self._audit[0] == self.of_pass else None

    @audit.setter
    def audit(self, found: Audit) -> None:
        self._audit = (self.of_pass, found)

    def update(self, **parts: object) -> None:
        """Change parts of the scene."""
        self.scene = replace(self.scene, **parts)
        if not parts.keys().isdisjoint(LOOKED_AT):
            self.arrivals += 1
