"""The table of limits: each bound has a test, and says where it is set."""

import re

from page import ROOT

TABLE = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (ROOT / "deploy" / "LIMITS.md").read_text("utf-8").splitlines()
    if line.startswith("| ")
][2:]


def test_each_limit_has_tests_that_exist():
    assert TABLE
    for what, bound, _, tests in TABLE:
        assert what
        assert bound
        named = re.findall(r"`(\w+\.py)::(\w+)`", tests)
        assert named, what
        for file, test in named:
            assert f"def {test}(" in (ROOT / "tests" / file).read_text("utf-8"), (file, test)


def test_each_limit_is_set_where_the_table_says():
    for what, _, where, _ in TABLE:
        for module in re.findall(r"`(\w+/\w+\.py)`", where):
            assert (ROOT / "attnviz" / module).exists(), (what, module)
        for option in re.findall(r"`server\.(\w+)`", where):
            assert f"{option} = " in (ROOT / ".streamlit" / "config.toml").read_text("utf-8"), (what, option)
