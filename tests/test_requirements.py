"""What a deployment installs: within the ranges, with hashes, and all of it on the bill of materials."""

import json
import re
import tomllib

from packaging.requirements import Requirement
from packaging.version import Version
from page import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
RANGES = [Requirement(each) for each in PROJECT["dependencies"]]
LOCK = (ROOT / "deploy" / "requirements.lock").read_text("utf-8")
LOCKED = dict(re.findall(r"^([\w.-]+)==(\S+)", LOCK, re.M))
MADE = "made by deploy/lock, which makes both again"


def test_the_package_and_a_clone_ask_for_the_same():
    cloned = {Requirement(line) for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines()}
    assert {each for each in cloned if each.name != "pytest"} == set(RANGES), "pytest is for a clone alone"


def test_the_lock_is_within_the_ranges():
    for each in RANGES:
        assert each.name in LOCKED, MADE
        assert LOCKED[each.name] in each.specifier, f"{each.name} {LOCKED[each.name]}: the lock is {MADE}"


def test_every_locked_package_has_its_hashes():
    for entry in re.split(r"^(?=[\w.-]+==)", LOCK, flags=re.M)[1:]:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry


def test_the_bill_of_materials_lists_what_is_locked():
    bill = json.loads((ROOT / "deploy" / "sbom.cdx.json").read_text("utf-8"))
    assert bill["bomFormat"] == "CycloneDX"
    listed = {_normal(each["name"]): Version(each["version"]) for each in bill["components"]}
    assert listed == {_normal(name): Version(version) for name, version in LOCKED.items()}, MADE


def _normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()
