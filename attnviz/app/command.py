"""The command `attnviz`: serves the app from any folder, with the settings of `.streamlit/config.toml`."""

import argparse
import runpy
import socket
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import uvicorn

from attnviz.app import streamlit_private

_PACKAGE = Path(__file__).parents[1]
# the folder of `app.py`, pages and settings: in an installed package, or in a clone
HOME = next(each for each in (_PACKAGE / "streamlit_files", _PACKAGE.parent) if (each / "app.py").exists())


def settings() -> dict[str, object]:
    """Our settings, by Streamlit's names, as in `browser.gatherUsageStats`."""
    text = (HOME / ".streamlit" / "config.toml").read_text("utf-8")
    return dict(_flat(tomllib.loads(text)))


def _flat(table: dict, prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


PORTS = range(8501, 8601)  # without `--port`, the first free one of these is used


def listener(address: str, ports: Iterable[int]) -> socket.socket:
    """A socket that listens at an address, on the first free one of some ports; exits if none is free. Its connections
    inherit TCP_NODELAY, which they lack with Streamlit's own: there each part of a response waits until the one before
    is acknowledged, which nginx delays by 40 ms.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    both = family is socket.AF_INET6 and socket.has_dualstack_ipv6()
    for port in ports:
        try:
            listening = socket.create_server((address, port), family=family, dualstack_ipv6=both)
        except OSError as error:
            reason = error.strerror
        else:
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return listening
    raise SystemExit(
        f"attnviz can't listen at {address}, port {port}: {reason}. Choose others by --address and --port."
    )


# size limit of a request's head, as in deploy/nginx/nginx.conf; two texts of 2,000 characters take up to 48,000
MAX_ADDRESS_BYTES = 65_536
EVERYONE = ("0.0.0.0", "::")  # the addresses that listen on all interfaces


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the app's address, and serve the app until it is stopped."""
    parsed = _parser().parse_args(arguments)
    app = runpy.run_path(str(HOME / "app.py"))["app"]
    options = settings() | _options(parsed)
    with listener(options["server.address"], PORTS if parsed.port is None else (parsed.port,)) as listening:
        options["server.port"] = listening.getsockname()[1]
        streamlit_private.configure(options)
        host = options.get("browser.serverAddress", options["server.address"])
        sys.stdout.write(f"attnviz is at http://{f'[{host}]' if ':' in host else host}:{options['server.port']}\n")
        sys.stdout.flush()
        config = uvicorn.Config(
            app,
            log_level="warning",
            h11_max_incomplete_event_size=MAX_ADDRESS_BYTES,
            timeout_graceful_shutdown=2,  # a class's event streams never end
            ws_max_size=options["server.maxMessageSize"] * 1_000_000,
            ws_per_message_deflate=False,  # it would cost memory for each open tab
            ws_ping_interval=30,
            ws_ping_timeout=30,
        )
        uvicorn.Server(config).run(sockets=[listening])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("attnviz", description="Open attnviz, attention number by number, in a browser.")
    parser.add_argument("--version", action="store_true", help="say which version this is, and stop")
    parser.add_argument("--port", type=int, help="the port to listen on; without it 8501, or the next that is free")
    address = "the address to listen on; 0.0.0.0 lets others open it too (without it, this machine alone)"
    host = "a host name that the app answers to, as in attnviz.example.edu; it then answers to no other"
    parser.add_argument("--address", help=address)
    parser.add_argument("--allow-host", action="append", metavar="NAME", help=host)
    return parser


def _options(parsed: argparse.Namespace) -> dict[str, object]:
    options = {"server.address": parsed.address, "server.allowedHosts": parsed.allow_host}
    names = [name for name in parsed.allow_host or () if "*" not in name]
    if names:  # any other address would be refused
        options["browser.serverAddress"] = names[0]
    elif parsed.address in EVERYONE:  # otherwise Streamlit asks an external server for this machine's address
        options["browser.serverAddress"] = _own_address()
    return {name: value for name, value in options.items() if value is not None}


def _own_address() -> str:
    """The address of this machine in its network; no packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # a documentation address (RFC 5737)
        except OSError:
            return "localhost"  # no network
        return probe.getsockname()[0]
