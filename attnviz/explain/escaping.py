"""Text: a person's words are data, so they are escaped before they reach Markdown."""

import re

_PUNCTUATION = re.compile(r"([!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~])")
_BREAKS = re.compile(r"(?<=[-<>=./~])(?=[^\s\d])|(?<=[:@])(?=\S)|(?<=www)(?=\.)", re.IGNORECASE)
WORD_JOINER = "\u2060"


def markdown(text: str) -> str:
    """`text` as Markdown that shows those very characters.

    A backslash stops markup, but not what Streamlit and GitHub's Markdown find
    in plain text: addresses, `:name:` and arrows. An invisible word joiner does, after the characters (and "www")
    that these need; a number stays as it is, so that it can be copied.
    """
    joined = _BREAKS.sub(WORD_JOINER, text)
    return _PUNCTUATION.sub(r"\\\1", joined)
