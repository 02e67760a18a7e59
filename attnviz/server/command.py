"""The command `attnviz`: the app from any folder, with our settings."""

import argparse
import runpy
import socket
from collections.abc import Sequence

from attnviz.server.settings import HOME, settings

EVERYONE = ("0.0.0.0", "::")
"""The addresses that stand for all that this machine has."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve the app until it is stopped; Streamlit says at which address."""
    asked = _parser().parse_args(arguments)
    app = runpy.run_path(str(HOME / "app.py"))["app"]
    app.run(config=settings() | _of(asked))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("attnviz", description="Open attnviz, attention number by number, in a browser.")
    parser.add_argument("--port", type=int, help="the port to listen on; without it 8501, or the next that is free")
    parser.add_argument(
        "--address",
        help="the address to listen on; 0.0.0.0 lets others open it too (without it, this machine alone)",
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        metavar="NAME",
        help="a host name that the app answers to, as in attnviz.example.edu; it then answers to no other",
    )
    return parser


def _of(asked: argparse.Namespace) -> dict[str, object]:
    """What was asked for, as Streamlit's options."""
    options = {
        "server.port": asked.port,
        "server.address": asked.address,
        "server.allowedHosts": asked.allow_host,
    }
    names = [name for name in asked.allow_host or () if "*" not in name]
    if names:  # at any other address it would be refused
        options["browser.serverAddress"] = names[0]
    elif asked.address in EVERYONE:  # otherwise Streamlit asks a server elsewhere which address this machine has
        options["browser.serverAddress"] = _own_address()
    return {name: value for name, value in options.items() if value is not None}


def _own_address() -> str:
    """The address of this machine in its network; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address that is nobody's (RFC 5737)
        except OSError:
            return "localhost"  # no network
        return probe.getsockname()[0]
