"""Flips: the smallest changes that turn an answer, or the order of two shares."""
