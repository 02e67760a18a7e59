"""What a release is made of: the repository's address, its version, its workflows, and what it names of others."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from page import ROOT

import attnviz
from attnviz.examples import EXAMPLES

TAG = f"v{attnviz.__version__}"
WORKFLOWS = {path.name: path.read_text("utf-8") for path in (ROOT / ".github" / "workflows").glob("*.yml")}


TEXTS = {".md", ".toml", ".cff", ".yml", ".yaml", ".py", ".js", ".txt", ".json", ".conf", ".ipynb", ".css", ""}
FOLDERS = ("", ".ci", ".github", ".github/*", "attnviz/**", "deploy/**", "docs", "pages", "benchmarks")


@pytest.fixture
def clone(tmp_path):
    """A folder with every file that names the repository or a version."""
    naming = re.compile(r"OWNER_TO_FILL_IN|github\.com/[\w.-]+/attnviz|__version__ =|^## 0\.", re.MULTILINE)
    for path in {path for folder in FOLDERS for path in ROOT.glob(f"{folder}/*".removeprefix("/"))}:
        if path.is_file() and path.suffix in TEXTS and naming.search(path.read_text("utf-8")):
            copy = tmp_path / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    return tmp_path


def release(clone, *arguments):
    """The code that `.ci/release` ends with, and what it says."""
    command = [sys.executable, clone / ".ci" / "release", *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


def edit(path, pattern, replacement):
    text, n_edits = re.subn(pattern, replacement, path.read_text("utf-8"), flags=re.MULTILINE)
    assert n_edits
    path.write_text(text, "utf-8")


def test_release_needs_address_date_and_tag(clone):
    edit(clone / "pyproject.toml", r"github\.com/[\w.-]+/", "github.com/OWNER_TO_FILL_IN/")
    code, said = release(clone, "check", TAG)
    assert code == 1
    assert said == "The repository has no address yet: run .ci/release address https://github.com/you/attnviz"
    release(clone, "address", "https://github.com/you/attnviz")
    assert release(clone, "check", TAG) == (0, "This commit can be released.")
    assert "The tag is v0.0.7" in release(clone, "check", "v0.0.7")[1]
    edit(clone / "CHANGELOG.md", rf"^(## {attnviz.__version__}), .*", r"\1, unreleased")
    assert "write the day of the release" in release(clone, "check", TAG)[1]


def test_one_command_writes_the_address_wherever_it_stands(clone):
    naming = re.compile(r"https://(?:github\.com/([\w.-]+)/attnviz|([\w.-]+)\.github\.io/attnviz)\b")
    named = {}
    for path in filter(Path.is_file, clone.rglob("*.*")):
        if owners := {a or b for a, b in naming.findall(path.read_text("utf-8"))}:
            named[path.relative_to(clone).as_posix()] = owners
    assert len(set.union(*named.values())) == 1, "one address"
    assert {"pyproject.toml", "CITATION.cff", "SECURITY.md", ".github/ISSUE_TEMPLATE/config.yml"} <= named.keys()
    code, changed = release(clone, "address", "https://github.com/someone-else/another-name")
    assert code == 0
    assert changed.splitlines() == sorted(named)
    for name in named:
        assert not naming.search((clone / name).read_text("utf-8"))


def test_citation_is_well_formed():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == attnviz.__version__
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "license", "repository-code", "date-released"} <= citation.keys()


def test_actions_are_pinned_and_may_do_little():
    for name, text in WORKFLOWS.items():
        workflow = yaml.safe_load(text)
        assert workflow["permissions"] in ({}, {"contents": "read"}), name
        for action, version in re.findall(r"uses: ([^.\s]\S*)(.*)", text):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action), action
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", version), action
        for job, described in workflow["jobs"].items():
            writes = {each for each, level in described.get("permissions", {}).items() if level == "write"}
            assert not writes or (job == "publish" and writes <= {"id-token", "pages"}), name
            for step in described.get("steps", ()):
                if "actions/checkout" in step.get("uses", ""):
                    assert step["with"]["persist-credentials"] is False, name


def test_notice_names_what_is_of_others():
    notice = (ROOT / "NOTICE").read_text("utf-8")
    vendored = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("attnviz/**/vendor/*.js")]
    data = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("attnviz/models/data/*.gz")]
    assert vendored
    assert data
    for each in vendored + data:
        assert each in notice
    for example in EXAMPLES.values():
        entry = re.search(rf"^    {example.id}  (.+(?:\n         .+)*)", notice, re.MULTILINE)[1]
        assert ("names no author" in entry) == ("author not named" in example.source)
