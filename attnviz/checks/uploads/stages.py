"""Own stages: stages of a pass as somebody's code computed them, kept in their tab alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from attnviz.checks.wording.report import AS_COMPUTED
from attnviz.core.trace import Trace


@dataclass(frozen=True, eq=False)
class OwnStages:
    """Stages as somebody's code computed them, by a mistake, in place of a pass's own.

    Attributes
    ----------
    values : mapping of stages to ndarray
    at : str
        The stage of theirs that was the first to differ; it may follow from these.
    """

    values: Mapping[str, np.ndarray]
    at: str

    def of(self, trace: Trace) -> Trace:
        """The pass with them in it.

        Raises
        ------
        ArrayError
            If they are those of another pass.
        """
        return trace.with_stages(self.values, AS_COMPUTED)


LACKING = OwnStages({}, "")
"""Those that an address has, which no address holds."""
