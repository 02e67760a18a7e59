"""A term of the field."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A term of the field.

    Attributes
    ----------
    id : str
    pattern : str
        A regular expression, of Python and JavaScript alike, that finds it in a text in either case.
    says : str
        One sentence, where `{unit}` is what a token is called.
    here : str or tuple of str
        Its number in a pass, as a story (`attnviz.explain.story`) of what is selected in the last layer; of several the
        first of which the pass has all stages, and where there is none, nothing. Empty of a term whose number only a
        scene knows (`measured`).
    operation : str
        The class of the operation that it is, if it is one.
    """

    id: str
    pattern: str
    says: str
    here: str | tuple[str, ...] = ""
    operation: str = ""
