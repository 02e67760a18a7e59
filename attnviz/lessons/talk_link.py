"""Talk link: a talk as it stands behind the # of a link, `#talk=...`: its JSON, compressed, in base64 for addresses."""

from __future__ import annotations

import base64
import zlib

from attnviz.core.limits import MAX_TALK_BYTES
from attnviz.lessons.talk import Talk, TalkError, read_json, to_json

_RAW = -15  # of zlib: a stream without a head, "deflate-raw" in a browser
_BROKEN = "The link of a talk is broken: it was cut off, or changed on its way. Ask for it again, or for the file."


def written(talk: Talk) -> str:
    """A talk as what follows `#talk=`."""
    packing = zlib.compressobj(9, wbits=_RAW)
    return base64.urlsafe_b64encode(packing.compress(to_json(talk)) + packing.flush()).rstrip(b"=").decode()


def talk_of(text: str) -> Talk:
    """The talk of what follows `#talk=`.

    Raises
    ------
    TalkError
        If it is none; no more than a talk's size is unpacked.
    """
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        unpacking = zlib.decompressobj(_RAW)
        content = unpacking.decompress(packed, MAX_TALK_BYTES + 1)
    except (ValueError, zlib.error):
        raise TalkError(_BROKEN) from None
    if len(content) <= MAX_TALK_BYTES and (not unpacking.eof or unpacking.unused_data):
        raise TalkError(_BROKEN)
    return read_json(content)
