"""What tests need: without it they are skipped and say so, and where CI is set they fail, a module of them too."""

import os
import subprocess
import sys

import pytest
from page import ROOT

HIDDEN = """
import sys
sys.modules |= dict.fromkeys(("pypdfium2",))
"""
ASKED = ["viewer/test_printed_sheet.py", "viewer/test_javascript.py", "viewer/test_announcements.py"]
MISSING = ["no /nowhere/chromium", "import of pypdfium2 halted", "no node"]


@pytest.mark.slow
@pytest.mark.parametrize("ci", ["", "true"])
def test_missing_tools_skip_locally_and_fail_in_ci(tmp_path, ci):
    (tmp_path / "hidden.py").write_text(HIDDEN, "utf-8")
    plain = ["-p", "hidden", "-p", "no:cacheprovider", "-n", "0", "-m", "", "-rs"]
    options = [*plain, "--chromium=/nowhere/chromium", "--continue-on-collection-errors"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *(f"tests/{name}" for name in ASKED)],
        cwd=ROOT,
        env={"PATH": "", "CI": ci, "PYTHONPATH": str(tmp_path), "HOME": os.environ.get("HOME", "/")},
        capture_output=True,
        encoding="utf-8",
    )
    assert all(what in done.stdout for what in MISSING), done.stdout[-4_000:]
    assert done.returncode == (1 if ci else 0)
    assert (" skipped" in done.stdout, " error" in done.stdout) == (not ci, bool(ci))
