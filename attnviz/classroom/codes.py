"""Room codes, and the secrets that let people in.

A code is six of twenty letters, so there are 64,000,000. One network may try 30 wrong ones, and nine more each second
(`room_entry`): 65,000 in the two hours that a room lasts. It hits a given room with 65,000 / 64,000,000 = 0.1 %,
and any of fifty with 5 %. The link of a QR code holds 128 random bits besides, which nobody guesses.
"""

import hashlib
import hmac
import math
import re
import secrets

LETTERS = "BCDFGHJKMNPQRSTVWXYZ"  # no vowels, so that no code is a word, and no L, which looks like I
LENGTH = 6
_CODE = re.compile(f"[{LETTERS}]{{{LENGTH}}}", re.IGNORECASE)


def new_code() -> str:
    """An unpredictable room code."""
    return "".join(secrets.choice(LETTERS) for _ in range(LENGTH))


def code_in(text: str) -> str | None:
    """The room code that a text spells, in either case and in capitals, or None."""
    return text.upper() if _CODE.fullmatch(text) else None


def new_secret() -> str:
    """128 random bits, for the speaker's key, a seat or a QR code's link."""
    return secrets.token_urlsafe(16)


def new_seat(key: str, now: float) -> str:
    """A signed seat that carries its own issue time in seconds, so that a room only stores the seats in use. The key is
    the hash of the speaker's key, which all processes know and no follower does.
    """
    unsigned = f"{int(now):x}.{secrets.token_urlsafe(12)}"
    return f"{unsigned}.{_signature(key, unsigned)}"


def seat_age(seat: str, key: str, now: float) -> float:
    """Seconds since a room issued a seat; infinite if it didn't."""
    unsigned, _, signature = seat.rpartition(".")
    if not hmac.compare_digest(signature.encode(), _signature(key, unsigned).encode()):
        return math.inf
    return now - int(unsigned.partition(".")[0], 16)


_PUBLIC_SEAT = re.compile(r"[0-9a-f]{1,12}\.[\w-]{16}", re.ASCII)


def public_seat(seat: str) -> str:
    """A follower's seat without its signature, which lets nobody in; a device's seat has none, and stays."""
    return seat.rpartition(".")[0] or seat


def signed_seat(public: str, key: str) -> str | None:
    """The seat with this public part under a room's key; None if no room issues one like it."""
    return f"{public}.{_signature(key, public)}" if _PUBLIC_SEAT.fullmatch(public) else None


def host_name(key: str) -> str:
    """What tells phones that a reopened room is the one they were in: a hash of the hash of its speaker's key, as the
    latter signs seats.
    """
    return hash_of(f"host {key}")[:24]


def _signature(key: str, unsigned: str) -> str:
    return hmac.new(key.encode(), unsigned.encode(), hashlib.sha256).hexdigest()[:24]


def hash_of(secret: str) -> str:
    """The hash of a key or a link. Rooms store only hashes, which let nobody in."""
    return hashlib.sha256(secret.encode()).hexdigest()


def is_one_of(secret: str, hashes: tuple[str, ...]) -> bool:
    """Whether a secret matches one of these hashes, compared in constant time."""
    digest = hash_of(secret)
    return any(hmac.compare_digest(digest, each) for each in hashes)
