"""Tokens: the words and punctuation marks of a sentence, in any script."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain, count

_JOINERS = "\u200c\u200d"  # emoji and some scripts are spelt with them
_INSIDE_WORDS = "'\u2019"
_INSIDE_NUMBERS = ".,"
_FILLER = re.compile(r"(\[PAD\])")
_NUMBER = re.compile(r" \(\d+\)$")
MAX_LABEL_CHARACTERS = 24
_UNSEEN = ("Zs", "Zl", "Zp", "Cc", "Cf")


def clean(text: str) -> str:
    """`text` in NFC, without control or direction-override characters; a lone surrogate becomes U+FFFD."""
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    kept = (
        " " if character.isspace() else character
        for character in text
        if character.isspace() or character in _JOINERS or unicodedata.category(character) not in ("Cc", "Cf")
    )
    return unicodedata.normalize("NFC", "".join(kept))  # last: a letter's mark may come to it only now


@lru_cache(maxsize=64)  # a request tokenizes the same sentence many times
def tokenize(text: str) -> tuple[str, ...]:
    """Split `text` into words and punctuation marks.

    A combining mark stays with its letter, an emoji sequence stays whole, an apostrophe inside a word and a point
    inside a number stay inside; each Chinese character is a token of its own, since no spaces separate them; so is
    "[PAD]", with which texts of one batch are filled up.

    >>> tokenize("Don't stop, at 3.5!")
    ("Don't", 'stop', ',', 'at', '3.5', '!')
    """
    clusters = _clusters(clean(text))
    tokens: list[str] = []
    grows = False
    for position, cluster in enumerate(clusters):
        following = clusters[position + 1] if position + 1 < len(clusters) else " "
        if cluster == " ":
            grows = False
        elif grows and (_in_word(cluster) or _bridges(tokens[-1], cluster, following)):
            tokens[-1] += cluster
        else:
            tokens.append(cluster)
            grows = _in_word(cluster)
    return tuple(tokens)


def swap_tokens(text: str, one: int, other: int, read: Callable[[str], Sequence[str]] = tokenize) -> str:
    """`text` with two tokens swapped, counted from 0; the characters between tokens stay.

    >>> swap_tokens("The  cat, the dog", 1, 4)
    'The  dog, the cat'
    """
    text, tokens = clean(text), list(read(text))
    one, other = sorted((one, other))
    (start, end), (from_, to) = (_span(text, tokens, place) for place in (one, other))
    tokens[one], tokens[other] = tokens[other], tokens[one]
    swapped = text[:start] + text[from_:to] + text[end:from_] + text[start:end] + text[to:]
    return swapped if list(read(swapped)) == tokens else " ".join(tokens)  # “-” splits “a-b”; a word would join it


def replace_word(text: str, word: str, by: str) -> str:
    """`text` with every occurrence of a word replaced, in any case; the characters between tokens stay.

    >>> replace_word("The dragon, the Dragon", "dragon", "cat")
    'The cat, the cat'
    """
    text, tokens = clean(text), tokenize(text)
    places = [place for place, token in enumerate(tokens) if token.lower() == word]
    spans = [_span(text, tokens, place) for place in places]
    replaced = text
    for start, end in reversed(spans):
        replaced = replaced[:start] + by + replaced[end:]
    expected = tuple(by if place in places else token for place, token in enumerate(tokens))
    return replaced if tokenize(replaced) == expected else " ".join(expected)


def first_tokens(text: str, most: int, read: Callable[[str], Sequence[str]] = tokenize) -> str:
    """`text` as far as its first tokens, at most so many; `read` as in `swapped`.

    >>> first_tokens("The cat, the dog", 3)
    'The cat,'
    """
    tokens = read(text)
    return text if len(tokens) <= most else clean(text)[: _span(clean(text), tokens, most - 1)[1]]


def _span(text: str, tokens: Sequence[str], place: int) -> tuple[int, int]:
    """Where a token begins and ends in the text."""
    letters = [at for at, letter in enumerate(text) if letter != " "]
    first = sum(map(len, tokens[:place]))
    return letters[first], letters[first + len(tokens[place]) - 1] + 1


def labels(tokens: Sequence[str]) -> tuple[str, ...]:
    """Tokens as they are shown: a long one cut short, the second "the" as "the (2)". No two labels are the same."""
    taken: dict[str, None] = {}  # a set in order
    for token in tokens:
        shown = token if len(token) <= MAX_LABEL_CHARACTERS else token[: MAX_LABEL_CHARACTERS - 1] + "…"
        if len(token) == 1 and unicodedata.category(token) in _UNSEEN:  # a letter of a user's model
            shown = "␣" if token == " " else f"U+{ord(token):04X}"
        if any(unicodedata.bidirectional(character) in ("R", "AL") for character in shown):
            shown = f"\u2068{shown}\u2069"  # isolated, or it would reverse the text around it, as in q[head 1, …, 3]
        numbered = (f"{shown} ({n})" for n in count(2))
        taken[next(label for label in chain([shown], numbered) if label not in taken)] = None
    return tuple(taken)


def without_number(label: str) -> str:
    """A label without the number of a repeated token.

    >>> without_number("the (2)")
    'the'
    """
    return _NUMBER.sub("", label)


def _clusters(text: str) -> list[str]:
    """Letters with their marks, emoji with what modifies or joins them, and fillers."""
    clusters: list[str] = []
    for place, part in enumerate(_FILLER.split(text)):
        for character in [part] if place % 2 else part:
            if clusters and " " not in (clusters[-1], character) and _clings(clusters[-1], character):
                clusters[-1] += character
            else:
                clusters.append(character)
    return clusters


def _clings(cluster: str, character: str) -> bool:
    return len(character) == 1 and (
        unicodedata.category(character).startswith("M")
        or character in _JOINERS
        or "\U0001f3fb" <= character <= "\U0001f3ff"  # skin tones
        or (cluster[-1] == "\u200d" and not _in_word(cluster))
        or (len(cluster) == 1 and _is_flag_half(cluster) and _is_flag_half(character))
    )


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _in_word(cluster: str) -> bool:
    first = cluster[0]
    is_ideograph = unicodedata.name(first, "").startswith("CJK UNIFIED")
    return (first == "_" or unicodedata.category(first)[0] in "LN") and not is_ideograph


def _bridges(word: str, cluster: str, following: str) -> bool:
    if cluster in _INSIDE_WORDS:
        return unicodedata.category(word[-1])[0] in "LM" and following[0].isalpha() and _in_word(following)
    return cluster in _INSIDE_NUMBERS and word[-1].isdigit() and following[0].isdigit()
