"""Untried: the parts of a search for a mistake that may be left out."""

from enum import Enum


class Untried(Enum):
    """The parts of a search that were left out."""

    PAIRS = "two mistakes at once, in numbers too coarse to tell them apart"
    READINGS = "readings of the arrays after the likeliest ones"
    BASES = "other bases of a rotation than those of models, where there are many scores"
    ROTATED = "mistakes in passes that are rotated otherwise than in the likeliest ways"
    REST = "whatever takes more work than a comparison may take"
    SIZES = "numbers and orders that are read off scores or shares, where neither was given"
