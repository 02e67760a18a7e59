"""Codes: what a room is called, and the secrets that let people in.

A code is six of twenty letters, so there are 64,000,000. One network may try 30 wrong ones, and nine more each second
(`server/room_door`): 65,000 in the two hours that a room lasts. It hits a given room with 65,000 / 64,000,000 = 0.1 %,
and any of fifty with 5 %. The link of a QR code holds 128 random bits besides, which nobody guesses.
"""

import hashlib
import hmac
import math
import re
import secrets

LETTERS = "BCDFGHJKMNPQRSTVWXYZ"
"""No vowels, so that no code is a word, and no L, which looks like I."""

LENGTH = 6

_CODE = re.compile(f"[{LETTERS}]{{{LENGTH}}}", re.IGNORECASE)


def new_code() -> str:
    """A code that nobody can foresee."""
    return "".join(secrets.choice(LETTERS) for _ in range(LENGTH))


def code_in(text: str) -> str | None:
    """The code that a text is, in either case; None if it is none.

    >>> code_in("ktqwrm")
    'KTQWRM'
    """
    return text.upper() if _CODE.fullmatch(text) else None


def new_secret() -> str:
    """128 random bits: the speaker's key, a seat, what a QR code's link holds."""
    return secrets.token_urlsafe(16)


def new_seat(key: str, now: float) -> str:
    """A seat that proves by itself when a room gave it out, so that a room keeps only those that somebody uses.

    Parameters
    ----------
    key
        The hash of the speaker's key, which all processes know and no follower does.
    now
        In seconds.
    """
    given = f"{int(now):x}.{secrets.token_urlsafe(12)}"
    return f"{given}.{_mark(key, given)}"


def seat_age(seat: str, key: str, now: float) -> float:
    """The seconds since a room gave out a seat; infinite for a seat that it never gave."""
    given, _, mark = seat.rpartition(".")
    if not hmac.compare_digest(mark.encode(), _mark(key, given).encode()):
        return math.inf
    return now - int(given.partition(".")[0], 16)


def _mark(key: str, given: str) -> str:
    return hmac.new(key.encode(), given.encode(), hashlib.sha256).hexdigest()[:24]


def hash_of(secret: str) -> str:
    """The hash of a key or a link, all that a room keeps of it; nobody can speak with a hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


def is_one_of(secret: str, hashes: tuple[str, ...]) -> bool:
    """Whether a secret has one of these hashes."""
    digest = hash_of(secret)
    return any(hmac.compare_digest(digest, each) for each in hashes)
