"""Layers: imports go one way, and the core knows no interface."""

import ast
import functools
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from attnviz.viewer.bundle import BROWSER, bundle

ROOT = Path(__file__).parents[2]
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
_LINES = re.findall(r"^    (\w+(?: < \w+)+)$", ARCHITECTURE, re.M)
PACKAGES, CHECKS_PACKAGES, SCENE_PACKAGES, BROWSER_FOLDERS = (line.split(" < ") for line in _LINES)
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.glob("attnviz/**/*.py")
}
SCRIPTS = sorted(BROWSER.glob("*/*.js"))
ENTRY_POINTS = {"attnviz", "attnviz.__main__", "attnviz.testing"}
"""Modules in no package: they import from all of them."""
INTERFACE = {"streamlit", "plotly", "pandas"}


@functools.cache
def imported(path: Path) -> set[str]:
    """The modules that a file imports, in full, even if only a type checker reads them."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide where they lead"
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def ours(module: str) -> set[str]:
    return imported(MODULES[module]) & MODULES.keys() - ENTRY_POINTS


def package_of(module: str) -> str:
    return module.split(".")[1]


def scene_package_of(module: str) -> str:
    """The package within scene; modules right under it are the scene and its text."""
    return module.split(".")[2] if MODULES[module].parent.name != "scene" else "scene"


def checks_package_of(module: str) -> str:
    """The package within checks; uploads stands alone."""
    return module.split(".")[2]


@pytest.mark.slow
def test_nothing_imports_torch():
    assert not [name for name, path in MODULES.items() if any(each.split(".")[0] == "torch" for each in imported(path))]


@pytest.mark.parametrize(
    ("inside", "package_of", "order"),
    [
        ("attnviz.", package_of, PACKAGES),
        ("attnviz.checks.", checks_package_of, CHECKS_PACKAGES),
        ("attnviz.scene.", scene_package_of, SCENE_PACKAGES),
    ],
    ids=["attnviz", "checks", "scene"],
)
def test_packages_import_only_to_the_left(inside, package_of, order):
    modules = {name for name in MODULES.keys() - ENTRY_POINTS if name.startswith(inside)}
    assert {package_of(module) for module in modules} == set(order)
    edges = {(module, each) for module in modules for each in ours(module) & modules}
    assert {edge for edge in edges if order.index(package_of(edge[1])) > order.index(package_of(edge[0]))} == set()


def test_no_import_cycles():
    assert "attnviz.core.operations" in MODULES
    TopologicalSorter({name: ours(name) - {name} for name in MODULES}).prepare()


def test_core_imports_only_numpy():
    core = [path for name, path in MODULES.items() if name.startswith("attnviz.core")]
    outside = {each.split(".")[0] for path in core for each in imported(path)} - {"attnviz"}
    assert outside <= {"numpy", *sys.stdlib_module_names}


def test_browser_folders_import_only_to_the_left():
    assert {path.parent.name for path in SCRIPTS} == set(BROWSER_FOLDERS)
    for path in SCRIPTS:
        for folder in re.findall(r'^import .* from "\.\./(\w+)/', path.read_text("utf-8"), re.M):
            assert BROWSER_FOLDERS.index(folder) < BROWSER_FOLDERS.index(path.parent.name), (path.name, folder)


def test_browser_module_names_are_unique():
    assert len({path.stem for path in SCRIPTS}) == len(SCRIPTS)


def test_bundle_refuses_import_cycles(tmp_path):
    for name, other in ("ab", "ba"):
        text = f'import {{ {other} }} from "./{other}.js";\nexport function {name}() {{}}\n'
        (tmp_path / f"{name}.js").write_text(text, "utf-8")
    with pytest.raises(ValueError, match=r"import each other: a\.js -> b\.js -> a\.js"):
        bundle(tmp_path / "a.js")


def test_only_app_imports_streamlit():
    others = {name for name in MODULES.keys() - ENTRY_POINTS if package_of(name) != "app"}
    assert {name for name in others if _mentions(MODULES[name], "streamlit", "attnviz.app")} == set()


def test_every_app_module_needs_streamlit():
    modules = {name for name in MODULES if re.match(r"attnviz\.app\.(?!scripts|log)", name)}
    assert {name for name in modules if not _mentions(MODULES[name], "streamlit", "attnviz.app")} == set()


def _mentions(path: Path, *packages: str) -> bool:
    return any(f"{module}.".startswith(f"{each}.") for module in imported(path) for each in packages)


@pytest.mark.slow
def test_fresh_process_imports_no_interface():
    shown = "attnviz.show(attnviz.trace_of(attnviz.Settings('the cat')))._repr_html_()"
    code = f"import sys, attnviz; print(*sys.modules); {shown}; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    at_first, later = map(str.split, result.stdout.splitlines())
    assert "numpy" in at_first
    assert "msgspec" not in at_first
    assert not [name for name in at_first if name.startswith(("attnviz.scene", "attnviz.viewer"))]
    assert "attnviz.viewer.page" in later
    assert not INTERFACE & {name.partition(".")[0] for name in later}


def test_architecture_names_existing_files():
    files = re.findall(r"`(\w+(?:/\w*)+(?:\.py|\.js)?)`", ARCHITECTURE)
    assert len(files) > 12
    assert [each for each in files if not any((ROOT / top / each).exists() for top in ("", "attnviz"))] == []
    named = set(re.findall(r"`(test_\w+)`", ARCHITECTURE))
    assert named
    assert {name for name in named if not any((ROOT / "tests").rglob(f"{name}.py"))} == set()
