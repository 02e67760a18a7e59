"""Layers: imports go one way, and the core knows no interface."""

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from attnviz.viewer.bundle import BROWSER

ROOT = Path(__file__).parents[2]
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
_LINES = re.findall(r"^    (\w+(?: < \w+)+)$", ARCHITECTURE, re.M)
ROOMS, SCENE_ROOMS, BROWSER_ROOMS = (line.split(" < ") for line in _LINES)
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.glob("attnviz/**/*.py")
}
SCRIPTS = sorted(BROWSER.glob("*/*.js"))
DOORS = {"attnviz", "attnviz.__main__", "attnviz.testing"}
"""Modules in no room: they open all of them."""
INTERFACE = {"streamlit", "plotly", "pandas"}


@functools.cache
def imported(path: Path) -> set[str]:
    """The modules that a file imports, in full, even if only a type checker reads them."""
    return set(_imports(ast.parse(path.read_text(encoding="utf-8"))))


def _imports(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "relative imports hide where they lead"
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _imports(child)


def test_nothing_imports_torch_whose_modules_and_tensors_are_taken_as_they_come():
    assert not [
        name for name, path in MODULES.items() if any(each.partition(".")[0] == "torch" for each in imported(path))
    ]


def room_of(module: str) -> str:
    return module.split(".")[1]


def ours(path: Path) -> set[str]:
    """The modules of attnviz that a file imports."""
    return imported(path) & MODULES.keys() - DOORS


def test_every_folder_is_a_room_and_every_module_is_in_one():
    assert {room_of(module) for module in MODULES.keys() - DOORS} == set(ROOMS)


def test_a_room_imports_only_from_rooms_below_it():
    above = {
        (name, each)
        for name in MODULES.keys() - DOORS
        for each in ours(MODULES[name])
        if ROOMS.index(room_of(each)) > ROOMS.index(room_of(name))
    }
    assert above == set()


def scene_room_of(module: str) -> str:
    """The room of a module of scene; those right under it are the scene and its text."""
    return module.split(".")[2] if MODULES[module].parent.name != "scene" else "scene"


def test_in_scene_too_a_room_imports_only_from_itself_and_rooms_below_it():
    modules = {name for name in MODULES if name.startswith("attnviz.scene.")}
    assert {scene_room_of(module) for module in modules} == set(SCENE_ROOMS)
    above = {
        (name, each)
        for name in modules
        for each in ours(MODULES[name]) & modules
        if SCENE_ROOMS.index(scene_room_of(each)) > SCENE_ROOMS.index(scene_room_of(name))
    }
    assert above == set()


def test_no_module_imports_its_importer():
    assert "attnviz.core.operations" in MODULES
    TopologicalSorter({name: ours(path) - {name} for name, path in MODULES.items()}).prepare()


def test_the_core_imports_only_itself_and_numpy():
    core = [path for name, path in MODULES.items() if name.startswith("attnviz.core")]
    outside = {each.split(".")[0] for path in core for each in imported(path)} - {"attnviz"}
    assert outside <= {"numpy", *sys.stdlib_module_names}


def test_in_the_browser_too_a_room_imports_only_from_itself_and_rooms_below_it():
    assert {path.parent.name for path in SCRIPTS} == set(BROWSER_ROOMS)
    for path in SCRIPTS:
        for room in re.findall(r'^import .* from "\.\./(\w+)/', path.read_text("utf-8"), re.M):
            assert BROWSER_ROOMS.index(room) < BROWSER_ROOMS.index(path.parent.name), (path.name, room)


def test_no_two_modules_of_the_browser_share_a_name():
    assert len({path.stem for path in SCRIPTS}) == len(SCRIPTS)


def test_only_the_interface_imports_streamlit():
    others = {name for name in MODULES.keys() - DOORS if room_of(name) != "app"}
    assert {name for name in others if _mentions(MODULES[name], "streamlit", "attnviz.app")} == set()


def test_of_the_interface_nothing_is_pure():
    """A page's pieces are data of rooms below: `app` draws them."""
    drawing = {name for name in MODULES if re.match(r"attnviz\.app\.(?!scripts|log)", name)}
    modules = {name for name in drawing if MODULES[name].name != "__init__.py"}
    assert {name for name in modules if not _mentions(MODULES[name], "streamlit", "attnviz.app")} == set()


def _mentions(path: Path, *packages: str) -> bool:
    return any(f"{module}.".startswith(f"{each}.") for module in imported(path) for each in packages)


def test_a_fresh_process_imports_no_interface():
    shown = "attnviz.show(attnviz.trace_of(attnviz.Settings('the cat')))._repr_html_()"
    code = f"import sys, attnviz; print(*sys.modules); {shown}; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    at_first, later = map(str.split, result.stdout.splitlines())
    assert "numpy" in at_first
    assert "msgspec" not in at_first
    assert not [name for name in at_first if name.startswith(("attnviz.scene", "attnviz.viewer"))], (
        "nobody asked for it"
    )
    assert "attnviz.viewer.page" in later
    assert not INTERFACE & {name.partition(".")[0] for name in later}


def test_architecture_names_tests_and_modules_that_there_are():
    named = set(re.findall(r"`(test_\w+)`", ARCHITECTURE))
    assert named
    assert {name for name in named if not any((ROOT / "tests").rglob(f"{name}.py"))} == set()
