"""Code: a Python text as runs, each with the kind of its tokens, so that a browser can colour it."""

import builtins
import io
import keyword
import tokenize
from itertools import accumulate, pairwise

_KINDS = {"STRING": "string", "NUMBER": "number", "COMMENT": "comment"}
_KINDS |= dict.fromkeys(("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END"), "string")
_BUILTINS = frozenset(name for name in dir(builtins) if name != "_")  # which an interactive Python sets at times


def coloured(code: str) -> list[list[str]]:
    """The text of a program as [kind, text] each: a keyword, function, string, number, comment, or "" for the rest."""
    begins = [0, *accumulate(map(len, code.splitlines(keepends=True)))]
    tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    runs, written = [], 0
    for token, following in pairwise(tokens):
        kind = _kind(token, following)
        start, end = (begins[row - 1] + column for row, column in (token.start, token.end))
        if not kind or not written <= start < end:  # from Python 3.12 on, an f-string can have an empty piece
            continue
        if start > written:
            runs.append(["", code[written:start]])
        runs.append([kind, code[start:end]])
        written = end
    return [*runs, ["", code[written:]]] if written < len(code) else runs


def _kind(token: tokenize.TokenInfo, following: tokenize.TokenInfo) -> str:
    if token.type != tokenize.NAME:
        return _KINDS.get(tokenize.tok_name[token.type], "")
    if keyword.iskeyword(token.string):
        return "keyword"
    return "function" if token.string in _BUILTINS or following.string == "(" else ""
