"""What some tests need: a person who lacks it is told what was skipped, and where CI is set its tests fail."""

import importlib
import os
from pathlib import Path

import pytest


def absent(message):
    """End a test, a fixture or a module that cannot run here."""
    if os.environ.get("CI"):
        pytest.fail(message, pytrace=False)
    pytest.skip(message, allow_module_level=True)


def needed(name):
    """A module of requirements-dev.txt, or of those beside the tests that import one."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        absent(f"{error} (pip install -r requirements-dev.txt)")


def in_page(name):
    """The text of a script or page that tests run in a browser, from `tests/data/page`."""
    return (Path(__file__).parent / "data" / "page" / name).read_text("utf-8")
