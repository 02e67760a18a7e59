"""The package and its command: what `pip install .` installs starts from any folder, with our settings."""

import email
import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import urllib.request
import zipfile

import pytest
import streamlit.config
from page import ROOT
from server import free_port, running

from attnviz.app.app_wiring import ENOUGH_FILES
from attnviz.app.command import main, settings


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from the sdist, which so has all that it needs."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder), "--target"]
    subprocess.run([*build, "sdist"], cwd=ROOT, check=True, capture_output=True)
    shutil.unpack_archive(next(folder.glob("*.tar.gz")), folder)
    unpacked = next(path for path in folder.iterdir() if path.is_dir())
    subprocess.run([*build, "wheel"], cwd=unpacked, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The command of a package that stands in an environment of its own, beside the libraries of the tests."""
    folder = tmp_path_factory.mktemp("environment")
    uv = [sys.executable, "-m", "uv", "--quiet"]
    subprocess.run([*uv, "venv", "--python", sys.executable, folder], check=True)
    subprocess.run([*uv, "pip", "install", "--python", folder, "--no-deps", "--offline", wheel], check=True)
    libraries = sysconfig.get_path("purelib", vars={"base": str(folder)})
    with open(f"{libraries}/tests.pth", "w", encoding="utf-8") as file:
        file.write(sysconfig.get_path("purelib"))
    return folder / "bin" / "attnviz"


@pytest.mark.slow
def test_wheel_contents(wheel):
    held = set(zipfile.ZipFile(wheel).namelist())
    package = {path for path in ROOT.glob("attnviz/**/*") if path.is_file() and path.suffix != ".pyc"}
    app = [ROOT / "app.py", ROOT / ".streamlit" / "config.toml", *ROOT.glob("pages/*.py")]
    expected = {path.relative_to(ROOT).as_posix() for path in package} | {
        f"attnviz/streamlit_files/{path.relative_to(ROOT).as_posix()}" for path in app
    }
    assert {name for name in held if ".dist-info/" not in name} == expected
    assert {"LICENSE", "NOTICE"} <= {name.partition("/licenses/")[2] for name in held}


def test_pypi_readme_leads_to_the_repository(wheel):
    with zipfile.ZipFile(wheel) as opened:
        name = next(name for name in opened.namelist() if name.endswith("/METADATA"))
        metadata = email.message_from_string(opened.read(name).decode())
    readme, original = metadata.get_payload(), (ROOT / "README.md").read_text("utf-8")
    fenced = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
    assert fenced.findall(readme) == fenced.findall(original)
    linking = re.compile(r"""\]\(([^)\s]+)|\b(?:href|src|srcset)="([^"\s]+)""")
    before, after = ([a or b for a, b in linking.findall(fenced.sub("", text))] for text in (original, readme))
    address = dict(each.split(", ") for each in metadata.get_all("Project-URL"))["Repository"]

    def target(link):
        if re.match(r"https://|#", link):
            return link
        if link.startswith("../../"):  # of the repository, and no file
            return f"{address}/{link.removeprefix('../../')}"
        kind = "raw" if link.endswith((".gif", ".png", ".svg")) else "blob"
        return f"{address}/{kind}/v{metadata['Version']}/{link}"

    assert after == [target(link) for link in before]
    assert before != after
    assert "pip install ." in original
    assert not re.search(r"pip install '?\.", readme)


@pytest.mark.slow
def test_command_starts_in_an_empty_folder(installed, tmp_path):
    resource = pytest.importorskip("resource")
    port = free_port()
    address = f"http://127.0.0.1:{port}"

    def allow_few_descriptors():
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    nobody = {"cwd": tmp_path, "env": os.environ | {"HOME": str(tmp_path)}, "preexec_fn": allow_few_descriptors}
    with (
        open(tmp_path / "log", "w", encoding="utf-8") as log,
        running([installed, "--port", str(port)], address, "healthz", stdout=log, **nobody) as process,
        urllib.request.urlopen(address) as page,
    ):
        assert b"<title>Streamlit</title>" in page.read()
        if hasattr(resource, "prlimit"):  # Linux
            allowed, most = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
            assert allowed == min(ENOUGH_FILES, most), "an open tab takes five descriptors"
    assert address in (tmp_path / "log").read_text("utf-8")


@pytest.fixture
def served(monkeypatch):
    """The settings that the command would serve the app with, and what it would do with the socket that it has."""
    given = {}
    monkeypatch.setattr("attnviz.app.streamlit_private.load_config_options", given.update)
    monkeypatch.setattr("attnviz.app.app_wiring.allow_files", lambda: None)

    def start(*arguments, serve=lambda listening: None):
        monkeypatch.setattr("uvicorn.Server.run", lambda server, sockets: serve(*sockets))
        main(arguments)
        return given

    return start


def test_listens_locally_by_default(served):
    found = []
    options = served(serve=lambda listening: found.append(listening.getsockname()))
    assert options == settings() | {"server.port": found[0][1]}
    assert found[0][0] == options["server.address"] == "127.0.0.1"
    port = free_port()
    options = served("--address", "0.0.0.0", "--port", str(port), serve=lambda each: found.append(each.getsockname()))
    assert found[1] == ("0.0.0.0", port)
    assert options.items() >= {("server.address", "0.0.0.0"), ("server.port", port)}
    assert options["browser.gatherUsageStats"] is False


def test_nagle_is_off(served):
    """Otherwise one part waits until the one before is acknowledged, 40 ms on a busy connection."""
    found = []

    def accepted(listening):
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as connection:
            found.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    served(serve=accepted)
    assert found[0]


def test_taken_port_moves_to_the_next(served, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        monkeypatch.setattr("attnviz.app.command.PORTS", (taken, free_port()))
        assert served()["server.port"] not in (0, taken)
        with pytest.raises(SystemExit, match=rf"can't listen at 127\.0\.0\.1, port {taken}: .*--port"):
            served("--port", str(taken))


@pytest.mark.parametrize(
    ("address", "said"), [("127.0.0.1", "127.0.0.1"), ("localhost", "localhost"), ("::1", "[::1]")]
)
def test_prints_its_address(served, capsys, monkeypatch, address, said):
    here = socket.create_server(("127.0.0.1", 0))  # not every machine has the others
    monkeypatch.setattr("attnviz.app.command.listener", lambda address, ports: here)
    port = served("--address", address)["server.port"]
    assert capsys.readouterr().out == f"attnviz is at http://{said}:{port}\n"


@pytest.mark.parametrize(
    "names", [["attnviz.example.edu", "attention.example.edu"], ["*"], ["*.example.edu"], []], ids=str
)
def test_allowed_hosts_are_answered_and_the_first_is_printed(served, names):
    """Without an address of its own, Streamlit asks a server elsewhere for it when it listens to everyone."""
    options = served("--address", "0.0.0.0", *(part for name in names for part in ("--allow-host", name)))
    assert options.get("server.allowedHosts", []) == names
    if names and "*" not in names[0]:
        assert options["browser.serverAddress"] == names[0]
    assert "*" not in options["browser.serverAddress"], "a pattern is no address"


def test_settings_exist_in_streamlit():
    """Options hidden from the help may vanish in an upgrade."""
    unknown = {name for name in settings() if name not in streamlit.config._config_options_template}
    assert unknown == set()
