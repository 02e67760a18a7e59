"""Explain: the pass and the mistakes that reproduce the arrays."""
