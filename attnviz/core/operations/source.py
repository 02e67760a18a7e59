"""Source: the operation of a stage that comes from nothing in the graph."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """The source of numbers that were typed, drawn or given; `recipe` says where they are from."""

    recipe: str
    operands = ()


GIVEN = Source("given")
"""That of numbers that someone gave, and said no more of."""
