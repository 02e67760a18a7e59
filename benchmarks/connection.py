"""A connection: HTTP/1.1 as a browser speaks it, kept alive, with the cookies that have come over it."""

from __future__ import annotations

import asyncio
import gzip
from dataclasses import dataclass
from http.cookies import SimpleCookie

import h11

READ_BYTES = 2**16


@dataclass(frozen=True)
class Answer:
    """What the server said: its status, and the body as it was before it was compressed.

    Attributes
    ----------
    n_bytes : int
        How much of the body came over the network.
    """

    status: int
    body: bytes
    n_bytes: int


class Connection:
    """One connection to a server, opened when it is first needed, and anew where the server has closed it.

    Attributes
    ----------
    cookies : SimpleCookie
        Those that were given, and are sent with everything.
    """

    def __init__(self, host: str, port: int, **headers: str):
        self._host, self._port = host, port
        self._headers = {"Host": f"{host}:{port}", "Accept-Encoding": "gzip"} | headers
        self._http: h11.Connection | None = None
        self.cookies: SimpleCookie = SimpleCookie()

    async def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        """Send a request, and wait for all of the answer."""
        is_kept = self._http is not None and not self._reader.at_eof()
        if not is_kept:
            await self._open()
        try:
            return await self._asked(method, path, body, headers)
        except (OSError, h11.RemoteProtocolError):
            self._http = None
            if not is_kept:
                raise
            return await self.ask(method, path, body, **headers)  # it was closed as this was sent

    async def close(self) -> None:
        """Close it."""
        if self._http is not None:
            self._writer.close()
            self._http = None

    def cookie(self) -> str:
        """The cookies as a header has them."""
        return "; ".join(f"{name}={each.value}" for name, each in self.cookies.items())

    async def _open(self) -> None:
        await self.close()
        self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        self._http = h11.Connection(h11.CLIENT)

    async def _asked(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
        length = {"Content-Length": str(len(body))} if body else {}
        given = self._headers | {"Cookie": self.cookie()} | length | headers
        parts = (
            h11.Request(method=method, target=path, headers=list(given.items())),
            h11.Data(body),
            h11.EndOfMessage(),
        )
        self._writer.write(b"".join(filter(None, map(self._http.send, parts))))
        head = await self._event()
        n_bytes, pieces = 0, []
        while isinstance(piece := await self._event(), h11.Data):
            pieces.append(bytes(piece.data))
            n_bytes += len(piece.data)
        if self._http.our_state is h11.MUST_CLOSE:
            await self.close()
        else:
            self._http.start_next_cycle()
        for name, value in head.headers:
            if name == b"set-cookie":
                self.cookies.load(value.decode())
        is_packed = (b"content-encoding", b"gzip") in head.headers
        return Answer(head.status_code, (gzip.decompress if is_packed else bytes)(b"".join(pieces)), n_bytes)

    async def _event(self) -> h11.Response | h11.Data | h11.EndOfMessage:
        """What the server says next."""
        while (event := self._http.next_event()) is h11.NEED_DATA:
            self._http.receive_data(await self._reader.read(READ_BYTES))
        return event
