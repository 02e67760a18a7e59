"""The scene of somebody's tab: as it stands, and what the next answer has to say besides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count

from attnviz.analysis.audit import Audit
from attnviz.scene.fitting import SceneWithPass, fit
from attnviz.scene.ownparameters import OwnParameters
from attnviz.scene.parameters import LOOKED_AT
from attnviz.scene.pass_cache import ANSWERS, Key
from attnviz.scene.scene import OWN_MODEL, OWN_PARAMETERS, Own, Scene


@dataclass(eq=False)
class TabScene:
    """What is kept of a scene between two answers. It holds no pass: one of 64 words and 128 heads is 27 MB.

    Attributes
    ----------
    name : str
        What stands before the keys of the scene's widgets; the scene that the page's address holds has none.
    scene : Scene
        As it was asked for: what doesn't fit its pass may fit the next.
    arrivals : int
        Another number whenever the viewer is to look where the scene says, not where it looked before.
    arrivals_sent : int
        The arrivals that the browser has been told of; where this is all of them, its address says where one looks.
    seed : str
        What was typed as a seed.
    heads : tuple of int
        The heads of a large pass that were asked for, the latest last.
    slopes_of : str
        The address of a cell whose slopes are part of the next answer.
    flips_of : str
        The address of a share; what would turn the order of its row is part of the next answer.
    with_names : bool
        Whether texts that a language model writes are part of the next answer.
    said : str
        A sentence that is part of the next answer.
    address : dict of str to str or None
        The parameters that the browser's address has, or lacks, since the last answer.
    audit : tuple of Key and Audit or None
        What decides the pass that was audited last because somebody asked for it (`pass_key`), and what was found.
    own : dict of str to OwnParameters or Choice
        What somebody gave last of arrays and of models, by the source that it is of. It is theirs alone.
    """

    name: str
    scene: Scene
    arrivals: int = 0
    arrivals_sent: int = 0
    seed: str = ""
    heads: tuple[int, ...] = ()
    slopes_of: str = ""
    flips_of: str = ""
    with_names: bool = False
    said: str = ""
    address: dict[str, str | None] = field(default_factory=dict)
    audit: tuple[Key, Audit] | None = None
    own: dict[str, Own] = field(default_factory=dict)
    _made: dict[Scene, SceneWithPass] | None = None
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def number(self) -> int:
        """The number of a scene that is read after this: runs and acts may be answered at the same time."""
        return next(self._numbers)

    def fitted(self) -> SceneWithPass:
        """The scene beside its pass."""
        number, scene, made = self.number(), self.scene, self._made
        fitted = (made or {}).get(scene) or fit(scene, ANSWERS.original)
        if made is not None:
            made.clear()
            made[scene] = fitted
        return replace(fitted, number=number)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Make the pass of a scene once for all that asks for it while the block lasts; then it is let go."""
        self._made = {}
        try:
            yield
        finally:
            self._made = None

    def given(self, own: Own) -> None:
        """Keep what somebody gave of their own, in place of what they gave before."""
        self.own[OWN_PARAMETERS if isinstance(own, OwnParameters) else OWN_MODEL] = own
        self.update()

    def update(self, **parts: object) -> None:
        """Change parts of the scene."""
        scene = replace(self.scene, **parts)
        self.scene = replace(scene, own=self.own.get(scene.source))
        if not parts.keys().isdisjoint(LOOKED_AT):
            self.arrivals += 1
