"""Servers on free ports of this machine, and what they use of it: processor time and memory."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
START_SECONDS = 600
"""How long a server may take to answer: on a busy machine one that compiles all its libraries first takes minutes."""
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
"""The signal that ends a process at once: any does so in Windows."""


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with contextlib.closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextlib.contextmanager
def running(
    command: Sequence[object], address: str, path: str = "_stcore/health", **options: object
) -> Iterator[subprocess.Popen]:
    """A server, from when it answers `ok` at a path of its address until the end of the block; yields its process."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | options
    server = subprocess.Popen(command, **quiet)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not _is_healthy(f"{address}/{path}"):
            assert server.poll() is None, "the server ended at once"
            assert time.monotonic() < deadline, f"the server did not answer within {START_SECONDS} s"
            time.sleep(0.1)
        yield server
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:  # it answers first what was asked of it, however much that is
            server.kill()
            server.wait()


@contextlib.contextmanager
def served(script: str = "app.py", port: int | None = None) -> Iterator[tuple[str, int]]:
    """A Streamlit script until the end of the block, on a free port or this one; yields its address and process id."""
    port = port or free_port()
    options = ["--server.port", str(port), "--server.address", "127.0.0.1", "--server.headless", "true"]
    address = f"http://127.0.0.1:{port}"
    with running([sys.executable, "-m", "streamlit", "run", script, *options], address, cwd=ROOT) as server:
        yield address, server.pid


def processor_ms(pid: int) -> float:
    """The processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    """The memory that a process holds."""
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text("utf-8"))[1]) / 1000


def _is_healthy(address: str) -> bool:
    with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=10) as answer:
        return answer.read() == b"ok"  # any other path answers 200 too, with a page
    return False
