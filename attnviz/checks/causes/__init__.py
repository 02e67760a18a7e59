"""Causes: the mistakes that are looked for, each beside its wording."""
