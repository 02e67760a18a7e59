"""What the core raises. Every message says the rule, what came, and what to do."""


class SettingsError(ValueError):
    """A setting outside its limits."""


class ArrayError(ValueError):
    """An array whose shape or numbers attention cannot use."""
