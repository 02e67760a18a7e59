"""Texts on a pass, as data."""
