"""LaTeX, as far as the operations write it, read as mathematics.

A name stands for a number, a matrix, or, with letters below it, for one entry: in z_{nm} row n and column m.
`X\\,W` is a product of matrices, `x \\cdot y` one of numbers.
"""

import math
import operator
import re

import numpy as np

_TOKEN = re.compile(r"\\mathrm\{erf\}|\\text\{[^}]*\}|\\[a-z]+|\\.|\d+(?:\.\d+)?|[A-Za-zπθ]|[-+^_{}(),\[\]]")
_CLOSING = {"{": "}", "(": ")"}
_FUNCTIONS = {"ln": np.log} | {name: getattr(np, name) for name in ("sqrt", "exp", "log", "tanh", "cos", "sin")}


def value_of(text, names, **indices):
    """The value of one side of a formula, given those of its names, at some indices."""
    return _Reader(text, names).all()(indices)


def of_both(of, left, right):
    """The function of the bound indices that is `of` the values of two others."""
    return lambda at: of(left(at), right(at))


class _Reader:
    """A recursive descent: each method reads one kind of phrase, and gives a function of the bound indices."""

    def __init__(self, text, names):
        assert not _TOKEN.sub("", text).strip(), f"not all of {text!r} is read"
        self.tokens, self.names = _TOKEN.findall(text), names

    def all(self):
        value = self.choice()
        assert not self.tokens, self.tokens
        return value

    def at(self, *expected):
        return bool(self.tokens) and self.tokens[0] in expected

    def take(self, *expected):
        assert not expected or self.at(*expected), (self.tokens, expected)
        return self.tokens.pop(0)

    def choice(self):
        value = self.sum()
        if not self.at(r"\text{ where }"):
            return value
        self.take()
        where = self.sum()
        self.take(r"\text{, else }")
        otherwise = self.sum()
        return lambda at: np.where(where(at), value(at), otherwise(at))

    def sum(self):
        value = self.product()
        while self.at("+", "-"):
            of = operator.add if self.take() == "+" else operator.sub
            value = of_both(of, value, self.product())
        return value

    def product(self):
        value = self.power()
        while self.at(r"\,", r"\cdot"):
            of = operator.matmul if self.take() == r"\," else operator.mul
            value = of_both(of, value, self.power())
        return value

    def power(self):
        base = self.atom()
        if not self.at("^"):
            return base
        self.take()
        if self.tokens[:3] == ["{", r"\top", "}"]:
            del self.tokens[:3]
            return lambda at: base(at).T
        return of_both(operator.pow, base, self.group())

    def group(self, opening="{", closing="}"):
        self.take(opening)
        value = self.sum()
        self.take(closing)
        return value

    def atom(self):
        token = self.tokens[0]
        if token in ("{", "("):
            return self.group(token, _CLOSING[token])
        self.take()
        if token[0].isdigit():
            return lambda at: float(token)
        if token == "-":
            negated = self.power()
            return lambda at: -negated(at)
        if token == "[":
            return self.side_by_side()
        if token == "π":
            return lambda at: math.pi
        if token == r"\mathrm{erf}":
            return self.function(np.vectorize(math.erf), self.group("(", ")"))
        if token == r"\max" and self.at("("):
            return self.larger()
        if token[0] != "\\":
            return self.name(token)
        if token[1:] in _FUNCTIONS:
            opening = self.tokens[0]
            return self.function(_FUNCTIONS[token[1:]], self.group(opening, _CLOSING[opening]))
        return {
            r"\infty": lambda: lambda at: math.inf,
            r"\frac": lambda: of_both(operator.truediv, self.group(), self.group()),
            r"\sum": lambda: self.over(sum),
            r"\max": lambda: self.over(max),
        }[token]()

    def function(self, of, inner):
        return lambda at: of(inner(at))

    def larger(self):
        """The larger of two, in brackets."""
        self.take("(")
        one = self.sum()
        self.take(",")
        other = self.sum()
        self.take(")")
        return of_both(np.maximum, one, other)

    def over(self, fold):
        """A sum or a maximum over all places of one index."""
        self.take("_")
        index, inner = self.take(), self.power()

        def folded(at):
            assert index not in at, f"{index} is a free index of what is summed over it"
            return fold(inner({**at, index: place}) for place in range(self.names["length"]))

        return folded

    def side_by_side(self):
        parts = [self.name(self.take())]
        while self.at(r"\;"):
            for between in (r"\;", r"\cdots", r"\;"):
                self.take(between)
            parts.append(self.name(self.take()))
        self.take("]")
        return lambda at: np.concatenate([part(at) for part in parts], axis=-1)

    def name(self, letter):
        if not self.at("_"):
            return lambda at: self.names[letter] if letter != "e" else math.e
        self.take()
        below = self.take()
        if below == "{":
            below = ""
            while not self.at("}"):
                below += self.take()
            self.take()
        if f"{letter}_{below}" in self.names:
            return lambda at: self.names[f"{letter}_{below}"]
        return lambda at: self.names[letter][tuple(at[index] for index in below)]
