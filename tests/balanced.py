"""Several processes of attnviz behind nginx, with the configuration of `deploy/nginx`, on free ports."""

import contextlib
import getpass
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from server import ROOT, free_port, running

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")


@dataclass
class Balanced:
    """The address that people open, the processes by their addresses, and what nginx logged."""

    address: str
    processes: dict[str, subprocess.Popen]
    log: Path

    def answering(self, path, count):
        """The processes that answered at a path, oldest first; nginx logs an answer a moment after it was given."""
        deadline, asked = time.monotonic() + 120, f" GET {path} "
        while len(lines := [each for each in self.log.read_text("utf-8").splitlines() if asked in each]) < count:
            assert time.monotonic() < deadline, f"fewer than {count} answers at {path} in the log"
            time.sleep(0.01)
        return [line.split()[-1] for line in lines]


@contextlib.contextmanager
def balanced(folder):
    """Starts two; a process that somebody has killed stays away."""
    ports = [free_port() for _ in range(2)]
    with contextlib.ExitStack() as started:
        processes = {
            f"127.0.0.1:{port}": started.enter_context(
                running([sys.executable, "-m", "attnviz", "--port", str(port)], f"http://127.0.0.1:{port}", cwd=ROOT)
            )
            for port in ports
        }
        address = started.enter_context(fronted(folder, ports))
        yield Balanced(address, processes, folder / "access.log")


@contextlib.contextmanager
def fronted(folder, ports):
    """Starts nginx in front of what listens on some ports; yields its address."""
    public = free_port()
    address = f"http://127.0.0.1:{public}"
    here = f"user {getpass.getuser()}; pid {folder}/pid; daemon off;"
    nginx = [NGINX, "-c", configured(folder, public, ports), "-e", folder / "error.log", "-g", here]
    with running(nginx, address, "healthz"):
        yield address


def configured(folder, public, ports):
    """The configuration of `deploy/`, whose folders and ports are those of a test; nothing else is changed."""
    text = (ROOT / "deploy/nginx/nginx.conf").read_text("utf-8")
    for ours, tested in {
        "/var/log/nginx": folder,
        "/var/cache/attnviz": folder / "cache",
        "listen 80;": f"listen 127.0.0.1:{public};",
        "listen [::]:80;": "",
        "127.0.0.1:8480": f"127.0.0.1:{free_port()}",
    }.items():
        assert ours in text
        text = text.replace(ours, str(tested))
    (folder / "nginx.conf").write_text(text, "utf-8")
    process = (ROOT / "deploy/nginx/attnviz-processes.conf").read_text("utf-8").splitlines()[1]
    assert "127.0.0.1:8501" in process
    lines = [process.replace("8501", str(port)) for port in ports]
    (folder / "attnviz-processes.conf").write_text("\n".join(lines), "utf-8")
    return folder / "nginx.conf"


@contextlib.contextmanager
def shared():
    """Two processes that share rooms by a Redis of their own; yields them by their addresses."""
    port = free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    with contextlib.ExitStack() as started:
        redis = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL, cwd=tempfile.gettempdir())
        started.callback(redis.wait)
        started.callback(redis.terminate)
        environment = os.environ | {"ATTNVIZ_ROOMS": f"redis://127.0.0.1:{port}"}
        processes = {}
        for own in (free_port(), free_port()):
            address = f"http://127.0.0.1:{own}"
            command = [sys.executable, "-m", "attnviz", "--port", str(own)]
            processes[address] = started.enter_context(running(command, address, cwd=ROOT, env=environment))
        yield processes
