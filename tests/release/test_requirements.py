"""What is installed: the app's packages as an extra, and in a deployment what the ranges allow, with hashes."""

import itertools
import re
import tomllib

from packaging.requirements import Requirement
from page import ROOT

from attnviz.__main__ import APP

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = {name: [Requirement(each) for each in packages] for name, packages in PROJECT["optional-dependencies"].items()}
CORE = [Requirement(each) for each in PROJECT["dependencies"]]
RANGES = CORE + EXTRAS["app"]
LOCK = (ROOT / "deploy" / "requirements.lock").read_text("utf-8")
LOCKED = dict(re.findall(r"^([\w.-]+)==(\S+)", LOCK, re.M))
MADE = "made by deploy/lock, which makes it again"


def test_the_package_and_a_clone_ask_for_the_same():
    cloned = {Requirement(line) for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines()}
    assert {each for each in cloned if each.name != "pytest"} == set(RANGES), "pytest is for a clone alone"


def test_without_the_app_numpy_and_what_writes_json_are_installed():
    assert [each.name for each in CORE] == ["numpy", "msgspec"]
    assert {each.name for each in EXTRAS["app"]} == set(APP)


def test_the_lock_is_within_the_ranges():
    for each in RANGES:
        assert each.name in LOCKED, MADE
        assert LOCKED[each.name] in each.specifier, f"{each.name} {LOCKED[each.name]}: the lock is {MADE}"


def test_every_locked_package_has_its_hashes():
    for entry in re.split(r"^(?=[\w.-]+==)", LOCK, flags=re.M)[1:]:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry


def test_every_test_that_is_chosen_for_other_versions_is_there():
    """The list is run before a release alone, so that no test of every day would miss a name."""
    listed = (ROOT / ".ci" / "versions").read_text("utf-8").partition("CHOSEN=(")[2].partition("\n)")[0]
    chosen = [each for line in listed.splitlines() if not line.lstrip().startswith("#") for each in line.split()]
    assert len(chosen) > 20
    for each in chosen:
        pieces = [piece.split(",") for piece in re.split(r"[{}]", each)]
        for path, _, name in (("".join(parts)).partition("::") for parts in itertools.product(*pieces)):
            assert re.search(
                rf"^(async )?def {name}\(" if name else "^def test_", (ROOT / path).read_text("utf-8"), re.M
            ), each
