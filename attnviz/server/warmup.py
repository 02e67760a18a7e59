"""Warm-up: what the first visitor would wait for is imported before anyone comes."""

import gc
import importlib
import pkgutil

from attnviz.ui import sections


def warm_up() -> None:
    """Import all that the pages need, and have no collection look at it again: each would take some 40 ms."""
    for module in pkgutil.iter_modules(sections.__path__, f"{sections.__name__}."):
        importlib.import_module(module.name)
    gc.collect()
    gc.freeze()
