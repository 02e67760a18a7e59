"""Insides: names within asyncio and uvicorn that our guards set, as there is no public option for them.

An upgrade may take such a name away, and a faster package may stand in for what
has it. The guards would be gone, and nobody would see it: so the server ends.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

_IN_THEIR_PLACE = ("uvloop", "httptools")
"""Packages that uvicorn takes instead of asyncio and h11 where they are installed; Streamlit leaves no choice."""


def check() -> None:
    """Raise where uvicorn serves by others than asyncio and h11."""
    found = [name for name in _IN_THEIR_PLACE if find_spec(name)]
    if found:
        raise RuntimeError(f"they don't hold beside {' and '.join(found)} (pip uninstall {' '.join(found)})")


def replace(owner: object, name: str, value: object) -> None:
    """Set a name that is there."""
    if not hasattr(owner, name):
        raise AttributeError(f"{owner.__name__} has no {name}")
    setattr(owner, name, value)


@contextmanager
def required() -> Iterator[None]:
    """End the process with a sentence where the block raises.

    uvicorn takes SystemExit for a startup that failed, and says so by a traceback.
    """
    try:
        yield
    except Exception as error:
        sys.stderr.write(
            f"attnviz doesn't start without its guards: {error}. deploy/requirements.lock has versions that fit.\n"
        )
        sys.stderr.flush()
        os._exit(1)
