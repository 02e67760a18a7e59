"""Tokens: what stays together, what comes apart, and what never gets through."""

import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page import ROOT

from attnviz.core.tokens import clean, first_tokens, labels, replace_word, swap_tokens, tokenize

# characters that cling, bridge, part or vanish: where a tokeniser goes wrong
TRICKY = (
    "ab e'’.,1²\u0301\u0323न\u094dि中ᄀ\u1161가\u200d\u200c\u200b\u00ad\u202e\ufe0f👩🏽🇫🇷_-\u3000\x00\x85\ud83d\ude00"
)
ANY_TEXT = st.one_of(st.text(st.sampled_from(TRICKY), max_size=12), st.text(st.characters(), max_size=12))


@pytest.mark.parametrize(
    ("text", "tokens"),
    json.loads((ROOT / "tests/data/tokens.json").read_text("utf-8")),
)
def test_tokens_of_a_sentence(text, tokens):
    assert list(tokenize(text)) == [unicodedata.normalize("NFC", token) for token in tokens]


@pytest.mark.parametrize("dropped", ["\u202e", "\u2066", "\u200b", "\u00ad", "\ufeff", "\x00", "\x1b"])
def test_invisible_characters_split_no_word(dropped):
    assert tokenize(f"ca{dropped}t") == ("cat",)
    assert tokenize(f"cafe{dropped}\u0301") == ("café",)


def test_surrogates_become_emoji_or_replacement():
    assert clean("a\ud800 \udc00") == "a\ufffd \ufffd"
    assert clean("\ud83d\ude00") == "😀"


@settings(max_examples=300)
@given(ANY_TEXT)
def test_tokens_lose_nothing(text):
    tokens = tokenize(text)
    assert "".join(tokens) == "".join(clean(text).split())
    assert all(len(token.split()) == 1 and token.split()[0] == token for token in tokens)  # no whitespace, not empty
    assert all(token.encode() for token in tokens)  # no lone surrogate
    assert all(unicodedata.is_normalized("NFC", token) for token in tokens)
    assert tokenize(" ".join(tokens)) == tokens


@settings(max_examples=150)
@given(ANY_TEXT)
def test_labels_are_unique_and_begin_with_the_token(text):
    tokens = tokenize(text)
    told_apart = labels(tokens)
    assert len(set(told_apart)) == len(tokens)
    expected = [f"U+{ord(each):04X}" if each in ("\u200c", "\u200d") else each for each in tokens]
    assert [label.split(" (")[0].strip("\u2068\u2069") for label in told_apart] == expected


@given(st.lists(st.sampled_from(["the", "the (2)", "the (2) (2)", "the (3)", "head", "x" * 30, "x" * 31])))
def test_labels_stay_unique_for_lookalike_tokens(tokens):
    assert len(set(labels(tokens))) == len(tokens)


@pytest.mark.parametrize("code", [0x200E, 0x202E, 0x2066, 0x00AD, 0x0007])
def test_invisible_letter_is_labelled_by_code(code):
    assert labels(["a", chr(code)]) == ("a", f"U+{code:04X}")


def test_labels_count_from_the_second():
    assert labels(["the", "cat", "the", "The", "the"]) == ("the", "cat", "the (2)", "The", "the (3)")


@pytest.mark.parametrize(
    ("text", "one", "other", "after"),
    [
        ("the  cat, the dog", 1, 4, "the  dog, the cat"),
        ("the  cat, the dog", 4, 1, "the  dog, the cat"),
        ("one two", 0, 1, "two one"),
        ("a-b dog", 1, 3, "a dog b -"),  # "adogb" would be one word
    ],
)
def test_swap_keeps_spacing(text, one, other, after):
    assert swap_tokens(text, one, other) == after


@given(ANY_TEXT, st.data())
def test_swap_moves_only_two_tokens(text, data):
    tokens = list(tokenize(text))
    if len(tokens) > 1:
        one, other = (data.draw(st.integers(0, len(tokens) - 1)) for _ in range(2))
        tokens[one], tokens[other] = tokens[other], tokens[one]
        assert list(tokenize(swap_tokens(text, one, other))) == tokens


def test_replace_and_cut_keep_spacing():
    assert replace_word("the  dragon, the DRAGON!", "dragon", "cat") == "the  cat, the cat!"
    assert first_tokens("the  cat, the dog", 3) == "the  cat,"


def test_swap_without_spaces():
    assert swap_tokens("ab  c", 0, 2, lambda text: text.replace(" ", "")) == "cb  a"
