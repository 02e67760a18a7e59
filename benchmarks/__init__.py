"""What is timed, and against what: `python -m benchmarks.NAME`. Servers and visitors are those of the tests."""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
sys.path += [str(TESTS), str(TESTS / "checks")]
