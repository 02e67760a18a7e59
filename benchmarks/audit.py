"""The audit of a 12-word sentence at d_model 16: its time, and how many times that of the pass in plain NumPy.

Run with `python -m benchmarks.audit`. Both are measured in this run, in turns,
and the best of each is taken, so that a busy machine slows both alike.
"""

import sys
import time
from collections.abc import Callable

import numpy as np

from attnviz import Settings, trace_of
from attnviz.analysis.audit import Audit, audit
from benchmarks.core import plain

MAX_SECONDS = 0.5
ROUNDS = 20


def seconds(task: Callable[[], object]) -> float:
    """How long `task` takes."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def main() -> int:
    """Print the figures; 1 if the audit is slower than its limit."""
    trace = trace_of(Settings(" ".join(f"word{n}" for n in range(12)), d_model=16, n_heads=2))
    arrays = [trace[name].value for name in ("x", "w_q", "w_k", "w_v", "w_o")]
    assert np.allclose(plain(*arrays)["output"], trace["output"].value), "the plain pass is another pass"
    rounds = [(seconds(lambda: list(audit(trace))), seconds(lambda: plain(*arrays))) for _ in range(ROUNDS)]
    audited, in_numpy = map(min, zip(*rounds, strict=True))
    print(Audit(tuple(audit(trace))).sentence(trace))
    print(f"audit           {audited * 1e3:8.1f} ms  (limit {MAX_SECONDS * 1e3:.0f} ms)")
    print(f"plain NumPy     {in_numpy * 1e3:8.3f} ms")
    print(f"audit / NumPy   {audited / in_numpy:8.0f}")
    return 0 if audited <= MAX_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
