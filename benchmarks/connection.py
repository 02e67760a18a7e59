"""A connection: HTTP/1.1 as a browser speaks it, kept alive, with the cookies that have come over it."""

import asyncio
import gzip
from http.cookies import SimpleCookie
from typing import NamedTuple

import h11

READ_BYTES = 2**16


class Answer(NamedTuple):
    """What the server said: its status, the body as it was before it was compressed, and its bytes as they came."""

    status: int
    body: bytes
    n_bytes: int


class Connection:
    """One connection to a server, opened when it is first needed, and anew where the server has closed it."""

    def __init__(self, host: str, port: int):
        self._host, self._port = host, port
        self._reader: asyncio.StreamReader | None = None
        self.cookies: SimpleCookie = SimpleCookie()

    async def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        """Send a request, and wait for all of the answer."""
        if self._reader is None or self._reader.at_eof():
            await self.close()
            self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        http = h11.Connection(h11.CLIENT)
        given = {"Host": f"{self._host}:{self._port}", "Accept-Encoding": "gzip", "Cookie": self.cookie()} | headers
        request = h11.Request(method=method, target=path, headers=[*given.items(), ("Content-Length", str(len(body)))])
        self._writer.write(b"".join(map(http.send, (request, h11.Data(body), h11.EndOfMessage()))))
        head = await self._event(http)
        pieces = []
        while isinstance(piece := await self._event(http), h11.Data):
            pieces.append(bytes(piece.data))
        if http.our_state is h11.MUST_CLOSE:
            await self.close()
        for name, value in head.headers:
            if name == b"set-cookie":
                self.cookies.load(value.decode())
        came = b"".join(pieces)
        is_packed = (b"content-encoding", b"gzip") in head.headers
        return Answer(head.status_code, gzip.decompress(came) if is_packed else came, len(came))

    async def close(self) -> None:
        """Close it."""
        if self._reader is not None:
            self._writer.close()
            self._reader = None

    def cookie(self) -> str:
        """The cookies as a header has them."""
        return "; ".join(f"{name}={each.value}" for name, each in self.cookies.items())

    async def _event(self, http: h11.Connection) -> h11.Response | h11.Data | h11.EndOfMessage:
        """What the server says next."""
        while (event := http.next_event()) is h11.NEED_DATA:
            http.receive_data(await self._reader.read(READ_BYTES))
        return event
