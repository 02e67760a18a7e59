"""What somebody has who read the README alone: it, `import attnviz`, the command, what is installed, the benchmarks."""

import doctest
import importlib
import itertools
import pkgutil
import pydoc
import re
import subprocess
import sys
import tomllib
from urllib.parse import parse_qsl

import pytest
import visitor
from needs import needed
from packaging.requirements import Requirement
from page import ROOT
from sentences import COUNTS, counted

import attnviz
from attnviz.__main__ import APP, main
from attnviz.checks.causes import CAUSES
from attnviz.examples import EXAMPLES
from attnviz.examples.printout import Agreement
from attnviz.lessons.lesson import LESSONS
from attnviz.models import MODELS
from attnviz.scene.address import parse
from attnviz.viewer.bundle import module

MODULES = [each.name for each in pkgutil.walk_packages(attnviz.__path__, "attnviz.") if "__main__" not in each.name]


def test_public_names_exist():
    assert [name for name in dir(attnviz) if not name.startswith("__")] == sorted(attnviz.__all__)
    for name in attnviz.__all__:
        assert getattr(attnviz, name).__name__ == name


def test_modules_shadow_no_public_name(tmp_path):
    """A module directly under the package that is imported later becomes an attribute of the package."""
    for each in MODULES:
        importlib.import_module(each)
    for name in attnviz.__all__:
        assert callable(getattr(attnviz, name)), name
    trace = attnviz.trace_of("the cat sat")
    assert attnviz.compare(trace, {"attention": trace["attention"]}).first is None
    assert attnviz.attend(trace["x"], parameters=attnviz.Parameters())["attention"].shape == (1, 3, 3)
    assert attnviz.page(trace, tmp_path / "cat.html") > 100_000
    assert "iframe" in attnviz.show(trace)._repr_html_()
    assert [name for name in dir(attnviz) if not name.startswith("__")] == sorted(attnviz.__all__), "no submodules"
    ours = {"compare", "check", "show", "page", "record", *attnviz.__all__}
    assert ours.isdisjoint(each.split(".")[1] for each in MODULES)


def test_help_starts_with_where_to_start():
    shown = pydoc.render_doc(attnviz, renderer=pydoc.plaintext)
    first = "\n".join(shown.partition("attnviz - ")[2].splitlines()[:10])
    starts = ("trace_of", "attend", "terms", "compare", "testing.assert_attention", "check", "record", "show", "page")
    assert [name for name in (*starts, "docs/api.md") if not re.search(rf"\b{re.escape(name)}\b", first)] == []
    assert {each.split(".")[0] for each in starts if each != "terms"} <= {"testing", *attnviz.__all__}


def test_version_option(capsys):
    main(["--version"])
    assert capsys.readouterr().out == f"attnviz {attnviz.__version__}\n"


def test_command_without_app_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr("attnviz.__main__.find_spec", lambda name: None if name == "plotly" else object())
    install = "The app needs plotly; install it by: pip install 'attnviz[app]'"
    with pytest.raises(SystemExit, match=re.escape(install)):
        main([])
    main(["--help"])
    assert install in capsys.readouterr().out


@pytest.mark.slow
def test_core_works_without_the_app(tmp_path):
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


def test_contributing_names_existing_files():
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    to_write = {"attnviz/core/operations/scores.py", "attnviz/explain/steps/scaling.py"}
    named = set(re.findall(r"`((?:attnviz|tests)/[\w/]+\.py)`", guide))
    assert to_write < named
    assert all((ROOT / path).exists() for path in named - to_write)
    for registry, path in re.findall(r"`(\w+)` in `((?:attnviz|tests)/[\w/]+\.py)`", guide):
        assert re.search(rf"^(?:class )?{registry}\b", (ROOT / path).read_text("utf-8"), re.MULTILINE), registry


README = (ROOT / "README.md").read_text("utf-8")
DOCS = {path.stem: path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md")}


def test_readme_code_runs_and_prints_what_it_says(capsys):
    code, printed = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL).groups()
    assert code.count("\n") <= 24
    assert set(re.findall(r"^(?:import|from) (\w+)", code, re.M)) == {"numpy", "attnviz"}
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith(printed)


def test_numbers_in_the_docs():
    learn = DOCS["learn"]
    sizes = {name: sum(array.size for array in model.at(0).arrays.values()) for name, model in MODELS.items()}
    for name, said in {"who-is-it": "600", "microgpt": "4,192", "translator": "8,656"}.items():
        assert f"{sizes[name]:,}" == said
        assert f"of {said} numbers" in learn
    longest = {name: model.at(0).max_tokens for name, model in MODELS.items() if model.at(0).positions is not None}
    assert f"at most {longest.pop('mirror')} (Mirror), {longest.pop('recall')} (Associative recall)" in learn
    assert f"{min(longest.values())} to {max(longest.values())} tokens where they have positions" in learn
    for name in ("who-is-it", "mirror", "recall", "by-hand"):
        assert f"**{MODELS[name].title}**" in learn
    minutes = [each.minutes for each in LESSONS.values()]
    count = COUNTS[len(LESSONS)].capitalize()
    assert f"{count} lessons, of {counted(min(minutes))} to {counted(max(minutes))} minutes each" in learn
    assert f"{count} lessons of some {counted(round(sum(minutes) / len(minutes)))} minutes" in README
    assert [each.title for each in LESSONS.values()] == re.findall(r"^\| \d \| (.+?) \|", learn, re.M)
    assert len(CAUSES) == 94
    assert "ninety-four mistakes by name" in README
    every = Agreement.of(number for example in EXAMPLES.values() for number in example.numbers)
    assert (
        f"They print {every.n_numbers:,} numbers. {every.n_to_the_digit:,} agree to the last digit: {every.n_inputs} "
        f"of these are inputs themselves, {every.n_labels} are labels, and the others were computed again. "
        f"{every.n_within_slack} agree within rounding; {every.n_apart} cannot come from the code shown."
    ) in learn


def test_addresses_in_the_docs_open():
    addresses = re.findall(r"https://attnviz\.example\.edu/(\w+)\?([^\"]+)", DOCS["teach"])
    assert addresses
    for page, parameters in addresses:
        assert (ROOT / "pages" / f"{page}.py").exists()
        ours = {name: value for name, value in parse_qsl(parameters) if name != "embed"}  # which is Streamlit's
        assert parse(ours).notices == ()


PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("deploy/*.md"), *ROOT.glob("benchmarks/*.md")]
OF_GITHUB = "../../actions/workflows/"  # of the repository's page, wherever it is
ELSEWHERE = {  # what our pages link to; by hand, as no test reaches the network
    "https://bbycroft.net/llm",
    "https://github.com/TransformerLensOrg/TransformerLens",
    "https://github.com/jessevig/bertviz",
    "https://github.com/poloclub/transformer-explainer",
    "https://img.shields.io/badge/licence-MIT-blue",
    "https://img.shields.io/badge/python-3.11%20to%203.13-blue",
    "https://keepachangelog.com",
    "https://semver.org",
    "https://www.contributor-covenant.org/version/2/1/code_of_conduct/",
}


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", each).lower() for each in headings)
    return {re.sub(r"[^\w\- ]", "", each).replace(" ", "-") for each in plain}


def links(path):
    text = re.sub(r"^```.*?^```|<!--.*?-->|`[^`\n]*`", "", path.read_text("utf-8"), flags=re.M | re.S)
    return set(re.findall(r"\]\(([^)\s]+)\)", text))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_and_anchors_resolve(path):
    for link in links(path):
        if "://" in link or link.startswith(OF_GITHUB):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text("utf-8")), link


def test_links_elsewhere_are_listed():
    found = {link for path in PAGES for link in links(path) if "://" in link}
    assert {link for link in found if not link.startswith(PROJECT["urls"]["Repository"])} == ELSEWHERE
    workflows = {link for link in links(ROOT / "README.md") if link.startswith(OF_GITHUB)}
    for link in workflows:
        assert (ROOT / ".github/workflows" / link.removeprefix(OF_GITHUB).removesuffix("/badge.svg")).exists()


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = {name: [Requirement(each) for each in packages] for name, packages in PROJECT["optional-dependencies"].items()}
CORE = [Requirement(each) for each in PROJECT["dependencies"]]
RANGES = CORE + EXTRAS["app"]
LOCK = (ROOT / "deploy" / "requirements.lock").read_text("utf-8")
LOCKED = dict(re.findall(r"^([\w.-]+)==(\S+)", LOCK, re.M))
MADE = "made by deploy/lock, which makes it again"


def test_package_and_clone_require_the_same():
    cloned = {Requirement(line) for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines()}
    assert {each for each in cloned if each.name != "pytest"} == set(RANGES), "pytest is for a clone alone"


def test_core_requires_numpy_and_msgspec():
    assert [each.name for each in CORE] == ["numpy", "msgspec"]
    assert {each.name for each in EXTRAS["app"]} == set(APP)


def test_lock_is_within_ranges():
    for each in RANGES:
        assert each.name in LOCKED, MADE
        assert LOCKED[each.name] in each.specifier, f"{each.name} {LOCKED[each.name]}: the lock is {MADE}"


def test_locked_packages_have_hashes():
    for entry in re.split(r"^(?=[\w.-]+==)", LOCK, flags=re.M)[1:]:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry


def test_tests_in_ci_versions_exist():
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


SHOWING = [path.relative_to(ROOT) for path in ROOT.glob("attnviz/**/*.py") if ">>> " in path.read_text("utf-8")]
"""The modules with examples."""


@pytest.mark.parametrize("path", sorted(SHOWING), ids=str)
def test_docstring_examples_run(path):
    shown = importlib.import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for example in doctest.DocTestFinder().find(shown):
        if "import torch" not in (example.docstring or ""):  # those are test_api_page's
            runner.run(example)
    assert not runner.failures


LISTED = re.findall(r"^\| `(\w+)` \|", (ROOT / "benchmarks" / "README.md").read_text("utf-8"), re.M)
RUN = {path.stem for path in ROOT.glob("benchmarks/*.py") if "__main__" in path.read_text("utf-8")}


@pytest.mark.parametrize("name", LISTED)
def test_benchmarks_import(name):
    if name in ("latency", "weight"):
        needed("playwright")
    assert callable(importlib.import_module(f"benchmarks.{name}").main)


def test_visitor_keeps_as_many_templates_as_a_browser():
    kept = re.search(r"MAX_TEMPLATES = (\d+)", module("templates").read_text("utf-8"))
    assert int(kept[1]) == visitor.MAX_TEMPLATES


def test_readme_lists_every_benchmark():
    assert set(LISTED) == RUN
