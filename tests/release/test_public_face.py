"""What `import attnviz` and the command give somebody who has read the README alone."""

import importlib
import pkgutil
import re
import subprocess
import sys

import pytest
from page import ROOT

import attnviz
from attnviz.__main__ import main

MODULES = [each.name for each in pkgutil.walk_packages(attnviz.__path__, "attnviz.") if "__main__" not in each.name]


def test_every_public_name_is_listed_and_there():
    assert set(attnviz.__all__) <= set(dir(attnviz))
    for name in attnviz.__all__:
        assert getattr(attnviz, name).__name__ == name


def test_no_module_takes_the_place_of_a_public_name(tmp_path):
    """A module directly under the package that is imported later becomes an attribute of the package."""
    for module in MODULES:
        importlib.import_module(module)
    for name in attnviz.__all__:
        assert callable(getattr(attnviz, name)), name
    trace = attnviz.trace_of("the cat sat")
    assert attnviz.compare(trace, {"attention": trace["attention"]}).first is None
    assert attnviz.attend(trace["x"], parameters=attnviz.Parameters())["attention"].shape == (1, 3, 3)
    assert attnviz.page(trace, tmp_path / "cat.html") > 100_000
    assert "iframe" in attnviz.show(trace)._repr_html_()
    ours = {"compare", "check", "show", "page", "record", *attnviz.__all__}
    assert ours.isdisjoint(module.split(".")[1] for module in MODULES)


def test_the_command_says_its_version(capsys):
    main(["--version"])
    assert capsys.readouterr().out == f"attnviz {attnviz.__version__}\n"


def test_where_the_app_is_not_installed_the_command_says_what_to_install(monkeypatch):
    monkeypatch.setattr("attnviz.__main__.find_spec", lambda name: None if name == "plotly" else object())
    with pytest.raises(SystemExit, match=r"The app needs plotly; install it by: pip install 'attnviz\[app\]'"):
        main([])


def test_without_the_app_a_pass_is_computed_compared_and_written(tmp_path):
    code = """
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("streamlit", "plotly", "pandas", "uvicorn", "starlette"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
from attnviz import compare, page, show, trace_of
trace = trace_of("the cat sat")
assert compare(trace, {"attention": trace["attention"]}).first is None
assert page(trace, sys.argv[1]) > 100_000
assert "iframe" in show(trace)._repr_html_()
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "cat.html")], check=True)


def test_the_guide_to_a_new_operation_names_what_is_there():
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    to_write = {"attnviz/core/operations/scores.py", "attnviz/explain/steps/alibi.py"}
    named = set(re.findall(r"`((?:attnviz|tests)/[\w/]+\.py)`", guide))
    assert to_write < named
    assert all((ROOT / path).exists() for path in named - to_write)
    for registry, path in re.findall(r"`(\w+)` in `((?:attnviz|tests)/[\w/]+\.py)`", guide):
        assert re.search(rf"^(?:class )?{registry}\b", (ROOT / path).read_text("utf-8"), re.MULTILINE), registry


def test_the_version_stands_alike_wherever_it_stands():
    version = attnviz.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\n## {version}, " in (ROOT / "CHANGELOG.md").read_text("utf-8")
