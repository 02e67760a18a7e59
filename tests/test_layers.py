"""Layers: imports go one way, and the core knows no interface."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = {"tokens", "streams", "torchstream", "errors", "parameters", "embeddings", "initialisers", "masks", "settings"}
CORE |= {"numerals", "terms", "operand", "linear", "scoring", "operations", "changes", "trace", "attention"}
CORE |= {"audit", "gradients", "whatif", "vocabulary"}
INTERFACE = {"streamlit", "plotly", "pandas"}


def imported(path: Path, *, typing_too: bool = False) -> set[str]:
    """The modules that a file imports, in full; those that only a type checker reads are left out."""
    return set(_imports(ast.parse(path.read_text(encoding="utf-8")), typing_too))


def _imports(node: ast.AST, typing_too: bool) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "relative imports hide where they lead"
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif typing_too or not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
        for child in ast.iter_child_nodes(node):
            yield from _imports(child, typing_too)


def test_no_module_imports_its_importer():
    files = ROOT.glob("attnviz/**/*.py")
    modules = {".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): p for p in files}
    assert "attnviz.operations" in modules
    TopologicalSorter({name: imported(path) & modules.keys() - {"attnviz"} for name, path in modules.items()}).prepare()


@pytest.mark.parametrize("name", sorted(CORE))
def test_the_core_imports_only_the_core_and_numpy(name):
    ours = {f"attnviz.{each}" for each in CORE}
    for module in imported(ROOT / "attnviz" / f"{name}.py", typing_too=True):
        package = ".".join(module.split(".")[:2]) if module.startswith("attnviz.") else module.split(".")[0]
        assert package in ours | {"attnviz", "numpy"} | set(sys.stdlib_module_names)


def test_only_the_interface_imports_streamlit():
    importing = {p.relative_to(ROOT) for p in ROOT.glob("attnviz/**/*.py") if _mentions(p, "streamlit", "attnviz.ui")}
    assert {path for path in importing if not path.is_relative_to("attnviz/ui")} == set()


def _mentions(path: Path, *packages: str) -> bool:
    return any(f"{module}.".startswith(f"{each}.") for module in imported(path, typing_too=True) for each in packages)


def test_a_fresh_process_imports_no_interface():
    code = "import sys, attnviz; print(*{name.partition('.')[0] for name in sys.modules})"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "numpy" in result.stdout.split()
    assert not INTERFACE & set(result.stdout.split())
