"""Worked examples: a notebook as its variants, print-outs and mistakes."""

from dataclasses import dataclass, field
from functools import cached_property

from attnviz.core.selection import Selection
from attnviz.examples.mistake import Mistake
from attnviz.examples.printout import Agreement, Number, PrintOut
from attnviz.examples.variant import Variant


@dataclass(frozen=True)
class Example:
    """A notebook, worked through.

    Attributes
    ----------
    id : str
        The number of the notebook, "000" to "004".
    title : str
        What it teaches, in a few words.
    summary : str
        The same in one sentence.
    description : str
        What it shows, and where to look.
    step : str
        The id of the step that this speaks of.
    source : str
        Whose facts and figures these are, and what had to be rebuilt of them.
    variants : tuple of Variant
    print_outs : tuple of PrintOut
    mistakes : tuple of Mistake
    selection : Selection
        The number that the description speaks of.
    """

    id: str
    title: str
    summary: str
    description: str
    step: str
    source: str
    variants: tuple[Variant, ...]
    print_outs: tuple[PrintOut, ...]
    mistakes: tuple[Mistake, ...]
    selection: Selection = field(default_factory=Selection)

    def variant(self, id: str) -> Variant:
        """The variant of that id.

        Raises
        ------
        KeyError
            If there is none.
        """
        for variant in self.variants:
            if variant.id == id:
                return variant
        raise KeyError(f"no variant {id!r}; example {self.id} has {', '.join(each.id for each in self.variants)}")

    @property
    def numbers(self) -> tuple[Number, ...]:
        """Every number that the notebook printed, once and in its order, beside the computed one."""
        return tuple(number for print_out in self.print_outs if not print_out.of for number in print_out.numbers)

    @cached_property
    def agreement(self) -> Agreement:
        """The counts of those that agree, by how closely."""
        return Agreement.of(self.numbers)
