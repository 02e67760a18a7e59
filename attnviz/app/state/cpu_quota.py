"""CPU quota: how much of the processor a tab has used, and how long its next work waits so that others have theirs.

Who waits costs nothing, and all that is asked for meanwhile is answered at once.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

FREE_SECONDS = 2.0
"""Seconds of processor that a tab may use as fast as it likes: no person gets there by hand."""

SECONDS_PER_SECOND = 0.25
"""Seconds of processor that it may use in each second from then on."""

MAX_WAIT_SECONDS = 2.0
"""Seconds that work waits at most."""


@dataclass
class CpuQuota:
    """The processor time that a tab has used.

    Attributes
    ----------
    used : float
        Seconds of processor, less what it was allowed since.
    at : float
        When that was so, in seconds.
    """

    used: float = 0.0
    at: float = field(default_factory=time.monotonic)

    def wait(self, now: float) -> float:
        """The seconds that work which is asked for now has to wait."""
        self.used = max(self.used - SECONDS_PER_SECOND * (now - self.at), 0.0)
        wait = max(self.used - FREE_SECONDS, 0.0) / SECONDS_PER_SECOND
        self.used, self.at = self.used - SECONDS_PER_SECOND * wait, now + wait
        return wait

    def spend(self, seconds: float) -> None:
        """Note what work has used; what is beyond the longest wait is forgotten."""
        self.used = min(self.used + seconds, FREE_SECONDS + SECONDS_PER_SECOND * MAX_WAIT_SECONDS)

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note what the block uses, in its own thread."""
        start = time.thread_time()
        try:
            yield
        finally:
            self.spend(time.thread_time() - start)
