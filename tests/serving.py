"""Processes that serve: started, waited for until they answer, and ended."""

import contextlib
import socket
import subprocess
import time
import urllib.request


def free_port():
    """A port of this machine that nobody listens on."""
    with contextlib.closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextlib.contextmanager
def running(command, address, path="_stcore/health", **options):
    """A server from when it answers `ok` at a path of its address; yields its process."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | options
    server = subprocess.Popen(command, **quiet)
    try:
        deadline = time.monotonic() + 60
        while not _healthy(f"{address}/{path}"):
            assert server.poll() is None, "the server ended at once"
            assert time.monotonic() < deadline, "the server did not answer within a minute"
            time.sleep(0.1)
        yield server
    finally:
        server.terminate()
        server.wait(10)


def _healthy(address):
    with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=1) as answer:
        return answer.read() == b"ok"  # any other path answers 200 too, with a page
    return False
