"""Extras: what an answer says besides its scene."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from attnviz.analysis.audit import Audit
from attnviz.core.coerce import nearest
from attnviz.scene.reading import has_options
from attnviz.scene.scene import Scene


@dataclass(frozen=True)
class Extras:
    """The parts of an answer besides the scene that an act leads to.

    Attributes
    ----------
    notices : tuple of str
        Sentences.
    seed : str or None
        What was typed as a seed.
    heads : tuple of int
        The heads of a large pass that were asked for, the latest last.
    queries : tuple of int
        The queries of stages that are sent row by row that were asked for, the latest last.
    whole : bool
        Whether all heads and queries are sent, for a file.
    slopes_of : str
        The address of a cell whose slopes are sent.
    flips_of : str
        The address of a share; what would turn the order of its row is sent.
    with_names : bool
        Whether texts that a language model writes are sent.
    arrives : bool
        Whether the viewer is to look where the scene says, not where it looked before.
    audit : Audit or None
        What somebody had a large pass audited for.
    """

    notices: tuple[str, ...] = ()
    seed: str | None = None
    heads: tuple[int, ...] = ()
    queries: tuple[int, ...] = ()
    whole: bool = False
    slopes_of: str = ""
    flips_of: str = ""
    with_names: bool = False
    arrives: bool = False
    audit: Audit | None = None

    @property
    def asks(self) -> bool:
        """Whether anything is sent that a first visit's document lacks."""
        return bool(self.heads or self.queries or self.whole or self.slopes_of or self.flips_of or self.with_names)

    def then(self, later: Extras) -> Extras:
        """These, with what another act says after them in place of the like; heads and queries are sent for both."""
        parts = {each.name: value for each in fields(later) if (value := getattr(later, each.name)) != each.default}
        rows = {name: _both(getattr(self, name), getattr(later, name)) for name in ("heads", "queries")}
        return replace(self, **parts | rows)

    def kept(self, scene: Scene) -> Extras:
        """The extras of later answers: heads, queries, and the seed as it was typed until the scene has another."""
        is_left = self.seed and has_options(scene) and not typed_seed(scene, self)[0]
        return Extras(seed=None if is_left else self.seed or None, heads=self.heads, queries=self.queries)


def _both(earlier: tuple[int, ...], later: tuple[int, ...]) -> tuple[int, ...]:
    return (*(each for each in earlier if each not in later), *later)


NO_EXTRAS = Extras()
"""The extras of a first visit."""


def typed_seed(scene: Scene, extras: Extras) -> tuple[str, list[str]]:
    """The seed as it was typed, and the notices on it; nothing where the scene has another."""
    if not extras.seed or not has_options(scene):
        return "", []
    seeds, notices = nearest({"seed": extras.seed})
    return (extras.seed, notices) if seeds["seed"] == scene.options.seed else ("", [])
