"""Texts as runs, each with one style: of our own markup and of Python code; and escaping for Markdown.

Our markup is a small part of Markdown. What a user typed is never read as markup: it enters by a slot, as a run of
style "word". A text that follows the selection is a run of style "story" (`explain.story.selection_story`). An empty
run of style "verdict" stands for a model's verdict (`explain.steps.answer.verdict`), which changes with the numbers.
"""

import builtins
import io
import keyword
import re
import tokenize
from itertools import accumulate, pairwise

# Pairs of a style and a text. The style is one of STYLES, or "story" with stories, or "verdict" with an empty text.
Runs = list[list]
# the style of a run: plain, Markdown's, LaTeX, strong in the colour of a role, or a word that the user typed
STYLES = ("", "strong", "em", "code", "math", "q", "k", "v", "output", "word")
_ROLES = {"blue": "q", "orange": "k", "green": "v", "violet": "output"}
_MARKED = re.compile(
    rf":(?P<role>{'|'.join(_ROLES)})\[(?:\*\*)?(?P<coloured>[^\]*]+)(?:\*\*)?\]"
    r"|\*\*(?P<strong>[^*]+)\*\*|\*(?P<em>[^*]+)\*|`(?P<code>[^`]+)`|\$(?P<math>[^$]+)\$|\{(?P<slot>\w+)\}"
)


def runs(text: str, **words: str | list) -> Runs:
    """Parse markup into runs, and fill each slot with a word that the user typed, or with a run.

    >>> runs("each :blue[**query**] of $X$")
    [['', 'each '], ['q', 'query'], ['', ' of '], ['math', 'X']]
    >>> runs("what “{word}” asks", word="*cat*")
    [['', 'what “'], ['word', '*cat*'], ['', '” asks']]
    """
    parts, end = [], 0
    for marked in _MARKED.finditer(text):
        parts.append(["", text[end : marked.start()]])
        parts.append(_run(marked, words))
        end = marked.end()
    return [run for run in [*parts, ["", text[end:]]] if run[1]]


def _run(marked: re.Match[str], words: dict[str, str | list]) -> list:
    if marked["slot"]:
        word = words[marked["slot"]]
        return ["word", word] if isinstance(word, str) else word
    if marked["role"]:
        return [_ROLES[marked["role"]], marked["coloured"]]
    return [marked.lastgroup, marked[marked.lastgroup]]


_PUNCTUATION = re.compile(r"([!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~])")
_BREAKS = re.compile(r"(?<=[-<>=./~])(?=[^\s\d])|(?<=[:@])(?=\S)|(?<=www)(?=\.)", re.IGNORECASE)
WORD_JOINER = "\u2060"


def markdown(text: str) -> str:
    """Escape a text for Markdown.

    A backslash stops markup, but not what Streamlit and GitHub's Markdown find in plain text: addresses, `:name:` and
    arrows. An invisible word joiner after the characters (and "www") that these need does. Numbers stay unchanged, so
    that they can be copied.
    """
    joined = _BREAKS.sub(WORD_JOINER, text)
    return _PUNCTUATION.sub(r"\\\1", joined)


_KINDS = {"STRING": "string", "NUMBER": "number", "COMMENT": "comment"}
_KINDS |= dict.fromkeys(("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END"), "string")
_BUILTINS = frozenset(name for name in dir(builtins) if name != "_")  # an interactive Python may set `_`


def coloured(code: str) -> list[list[str]]:
    """Split a program into [kind, text] pairs: keyword, function, string, number, comment, or "" for the rest."""
    begins = [0, *accumulate(map(len, code.splitlines(keepends=True)))]
    tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    runs, done = [], 0
    for token, following in pairwise(tokens):
        kind = _kind(token, following)
        start, end = (begins[row - 1] + column for row, column in (token.start, token.end))
        if not kind or not done <= start < end:  # from Python 3.12 on, an f-string can have an empty piece
            continue
        if start > done:
            runs.append(["", code[done:start]])
        runs.append([kind, code[start:end]])
        done = end
    return [*runs, ["", code[done:]]] if done < len(code) else runs


def _kind(token: tokenize.TokenInfo, following: tokenize.TokenInfo) -> str:
    if token.type != tokenize.NAME:
        return _KINDS.get(tokenize.tok_name[token.type], "")
    if keyword.iskeyword(token.string):
        return "keyword"
    return "function" if token.string in _BUILTINS or following.string == "(" else ""
