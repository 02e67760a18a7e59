"""Own parameters: the arrays of a pass that somebody gave, kept in their tab alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from attnviz.checks.recomputation import recomputed
from attnviz.checks.sentence import spoken, words_of
from attnviz.core.errors import OwnArraysError
from attnviz.core.limits import MAX_TOKENS
from attnviz.core.order import LayerConfig
from attnviz.core.settings import OPTIONS
from attnviz.core.trace import Trace

_MOST = {"head": max(OPTIONS["n_heads"].allowed), "query": MAX_TOKENS, "key": MAX_TOKENS}
_WIDEST = max(OPTIONS["d_model"].allowed)


@dataclass(frozen=True, eq=False)
class OwnParameters:
    """The stages that a pass begins with. It holds no pass, which is larger, and made anew in a millisecond.

    Attributes
    ----------
    given : mapping of str to ndarray
        The given stages.
    block : LayerConfig
        What the layer has.
    words, words_of_keys : tuple of str
    """

    given: Mapping[str, np.ndarray]
    block: LayerConfig
    words: tuple[str, ...]
    words_of_keys: tuple[str, ...]

    @classmethod
    def of(
        cls, trace: Trace, block: LayerConfig, texts: Mapping[str, tuple[str, ...]], names: Iterable[str] = ()
    ) -> OwnParameters:
        """The parameters of a pass that reaches from queries, keys and values to head outputs.

        Parameters
        ----------
        trace : Trace
        block : LayerConfig
            What the layer of the pass has.
        texts : mapping of str to tuple of str
            The words that came with the arrays; where none are as many as the tokens, these are counted.
        names : iterable of str
            Of the arrays that came.

        Raises
        ------
        OwnArraysError
            If the pass is larger than the walkthrough shows.
        """
        n_heads, n_queries, n_keys = trace["attention"].shape
        for what, n in zip(_MOST, (n_heads, n_queries, n_keys), strict=True):
            if n > _MOST[what]:
                raise OwnArraysError(f"The walkthrough shows at most {_MOST[what]} {_PLURAL[what]}; this pass has {n}.")
        widest = max(stage.shape[-1] for stage in trace.stages)
        if widest > _WIDEST:
            raise OwnArraysError(f"The walkthrough shows vectors of at most {_WIDEST} numbers; this pass has {widest}.")
        given = {stage.name: stage.value for stage in trace.stages if stage.is_given}
        return cls(given, block, *words_of(trace, texts, names))

    def trace(self) -> Trace:
        """The pass."""
        return spoken(recomputed(self.given, self.block), self.words, self.words_of_keys)


_PLURAL = {"head": "heads", "query": "tokens", "key": "tokens that are looked at"}
