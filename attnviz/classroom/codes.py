"""Codes: what a room is called, and the secrets that let people in.

A code is six of twenty letters, so there are 64,000,000. One network may try 30 wrong ones, and ten more each minute
(`guesses`): 1,230 in the two hours that a room lasts. It hits a given room with 1,230 / 64,000,000 = 0.002 %, and any
of fifty with 0.1 %. The link of a QR code holds 128 random bits besides, which nobody guesses.
"""

import hashlib
import hmac
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


def hash_of(secret: str) -> str:
    """The hash of a key or a link, all that a room keeps of it; nobody can speak with a hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


def is_one_of(secret: str, hashes: tuple[str, ...]) -> bool:
    """Whether a secret has one of these hashes."""
    digest = hash_of(secret)
    return any(hmac.compare_digest(digest, each) for each in hashes)
