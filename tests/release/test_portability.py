"""What would fail on Windows or macOS, found in the code: most of the tests have to run there too."""

import ast
import functools
import re
import subprocess

import pytest
from page import ROOT

FOLDERS = ("attnviz", "pages", "tests", "benchmarks", "docs")
POSIX_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}
POSIX_NAMES = {
    *("fork", "forkpty", "killpg", "setsid", "getuid", "geteuid", "getloadavg", "sysconf", "mkfifo", "uname"),
    *("SIGKILL", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "alarm", "setitimer", "AF_UNIX"),
    *("preexec_fn", "pass_fds", "start_new_session"),
}
POSIX_PATH = re.compile(r"/(?:tmp|proc|dev|usr|etc|var|bin|home)(?:/|$)")
LINUX_ALONE = {
    "benchmarks/frames.py": "prints the machine's load",
    "benchmarks/sizes.py": "prints the memory of a process",
    "docs/record.py": "records README's pictures",
    "tests/checks/test_large_files.py": "the memory of a process; skipped without",
    "tests/balanced.py": "nginx and Redis; skipped without",
    "tests/engines.py": "Xvfb, Firefox and WebKit; skipped without",
    "tests/release/test_deploy_files.py": "paths in nginx's own files",
    "tests/release/test_hostile_visitors.py": "counts a server's open files; slow, which runs on Debian alone",
    "tests/server.py": "a process's time and memory, for benchmarks and Linux",
}
"""The modules that may use what only Linux has, and why that fails nowhere else."""
SUSPECT = re.compile(
    rf"""\b(?:import|from) (?:{"|".join(POSIX_MODULES)})\b|\b(?:{"|".join(POSIX_NAMES)})\b|["']{POSIX_PATH.pattern}"""
    r"""|\b(?:open|read_text|write_text)\((?!"utf-8"\))|\b(?:run|Popen|check_output|check_call|system)\("""
)
"""What a module has that needs a closer look: to parse all of them takes four times as long."""


@functools.cache
def findings():
    """What each module of the project has that other systems lack, as `{path: [line and name]}` by kind."""
    found = {"import": {}, "posix": {}, "encoding": {}, "shell": {}}
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        text = path.read_text("utf-8")
        for kind, line, what in _in_module(ast.parse(text)) if SUSPECT.search(text) else ():
            found[kind].setdefault(path.relative_to(ROOT).as_posix(), []).append(f"line {line}: {what}")
    return found


def _in_module(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]
            if not POSIX_MODULES.isdisjoint(names) and not _may_fail(node, tree):
                yield "posix" if node.col_offset else "import", node.lineno, names
        elif isinstance(node, ast.Call):
            yield from _in_call(node)
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str) and POSIX_PATH.match(node.value):
                yield "posix", node.lineno, node.value
        elif (name := getattr(node, "attr", getattr(node, "arg", ""))) in POSIX_NAMES:
            yield "posix", node.lineno, name


def _may_fail(imported, tree):
    """Whether an import is tried."""
    around = (each for each in ast.walk(tree) if any(node is imported for node in ast.walk(each)))
    handlers = [handler.type for each in around if isinstance(each, ast.Try) for handler in each.handlers]
    return any(isinstance(each, ast.Name) and each.id == "ImportError" for each in handlers)


def _in_call(call):
    options = {each.arg: each.value for each in call.keywords}
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    texts = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    is_open = isinstance(call.func, ast.Name) and name == "open" and not any("b" in text for text in texts[-1:])
    is_text = name in ("read_text", "write_text") and len(call.args) < (1 if name == "read_text" else 2)
    is_piped = name in ("run", "Popen", "check_output") and not {"text", "universal_newlines"}.isdisjoint(options)
    if (is_open or is_text or is_piped) and "encoding" not in options:
        yield "encoding", call.lineno, f"{name} without an encoding"
    if name in ("run", "Popen", "check_output", "check_call", "system"):
        words = [each.value for node in call.args for each in ast.walk(node) if isinstance(each, ast.Constant)]
        if "shell" in options or {"bash", "sh"} & {str(word) for word in words}:
            yield "shell", call.lineno, f"{name} starts a shell"


@pytest.mark.parametrize("kind", ["import", "encoding", "shell"])
def test_nothing_that_other_systems_lack(kind):
    """Modules of POSIX are imported where they may be absent, text has an encoding, and nothing needs a shell."""
    assert findings()[kind] == {}


def test_linux_alone_is_where_it_is_said():
    assert findings()["posix"].keys() == LINUX_ALONE.keys(), findings()["posix"]


@functools.cache
def tracked():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    return listed.stdout.split("\0")[:-1] or pytest.skip("not a clone")


def test_file_names_are_legal_everywhere():
    lower = [name.lower() for name in tracked()]
    assert len(set(lower)) == len(lower), "Windows and macOS ignore case"
    reserved = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)")
    for part in {part for name in lower for part in name.split("/")}:
        assert not re.search(r'[<>:"|?*\\\x00-\x1f]|[. ]$', part), part
        assert not reserved.match(part), part
    assert max(map(len, lower)) < 120, "a path of Windows has at most 260 characters"


def test_lines_end_alike_everywhere():
    """By .gitattributes: a checkout of Windows would have other hashes of scripts."""
    changed = [name for name in tracked() if name.endswith((".js", ".css", ".json", ".toml", ".py", ".txt", ".csv"))]
    assert [name for name in changed if b"\r\n" in (ROOT / name).read_bytes()] == []
