"""Errors of the core. Every message says the rule, what came, and what to do."""


class SettingsError(ValueError):
    """A setting outside its limits."""


class ArrayError(ValueError):
    """An array whose shape or numbers attention cannot use."""


class ChangeError(ValueError):
    """A what-if that cannot be read, or does not fit the trace."""


class OwnArraysError(ValueError):
    """A file or arrays of someone's own that cannot be read, or not as parts of a pass."""
