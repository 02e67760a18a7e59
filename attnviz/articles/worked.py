"""The article on the worked examples: what each shows, what went wrong in it, and its printed numbers."""

from collections.abc import Iterator
from functools import cache

import numpy as np

from attnviz.articles import pieces
from attnviz.articles.pieces import Door
from attnviz.contract.article import Alternative, Alternatives, Columns, Frame, Heading, Piece
from attnviz.core.numerals import digits
from attnviz.examples import EXAMPLES
from attnviz.examples.example import Example, Mistake, Side, Variant
from attnviz.examples.printout import Agreement, Number, PrintOut
from attnviz.explain.steps import STEPS, entry, steps_of
from attnviz.explain.styled_text import runs
from attnviz.models import MODELS
from attnviz.scene.scene import parts_for_source, source_of


@cache
def agreement() -> Agreement:
    """The printed numbers of all examples by how closely they agree."""
    return Agreement.of(number for example in EXAMPLES.values() for number in example.numbers)


def article(chosen: str) -> tuple[list[Piece], dict[str, Door]]:
    """All worked examples with one selected, and their links."""
    return [Alternatives("notebook", "Worked example", "lines", chosen, _options())], _doors()


@cache
def _options() -> list[Alternative]:
    return [
        pieces.option(example.id, f"**{example.title}.** {example.summary}", _pieces(example))
        for example in EXAMPLES.values()
    ]


def _pieces(example: Example) -> list[Piece]:
    return [
        Heading(2, example.title),
        Heading(3, "What it shows"),
        pieces.text(example.description),
        *(_passes(example)),
        Heading(3, "What went wrong in it"),
        *(_mistake(example, number) for number in range(len(example.mistakes))),
    ]


def _passes(example: Example) -> Iterator[Piece]:
    for variant in example.variants:
        ours = [["", " "], ["badge", "ours, not in the notebook"]] if variant.ours else []
        text = runs(f"**{variant.title}.** {variant.description}")
        yield pieces.door(source_of(example, variant), "Open", text + ours)
    if example.trained:
        task = MODELS[example.trained].task
        yield pieces.door(example.trained, "Open", f"**The same, trained: {task.title}.** {task.summary}")


def _mistake(example: Example, number: int) -> Piece:
    """A mistake with its wrong and right number, and a link to the step where they diverge."""
    mistake = example.mistakes[number]
    label = f"See {entry(mistake.stage).title.lower()} in “{mistake.variant.title}”"
    sides = [_side(["wrong", "✗ "], mistake.wrong), _side(["right", "✓ "], mistake.right)]
    return Frame(
        [
            pieces.text(f"**{mistake.title}**"),
            pieces.text(mistake.explanation),
            Columns(sides),
            pieces.door(_door_of(example, number), label),
        ]
    )


def _side(mark: list[str], side: Side) -> list[Piece]:
    values = side.value
    texts = ("nan" if np.isnan(value) else digits(float(value)) for value in np.ravel(values))
    shown = str(tuple(values.tolist())) if "shape" in side.what else ", ".join(texts)
    return [pieces.text([mark, *runs(f"{side.what}:")]), pieces.text([["code", shown]])]


@cache
def _doors() -> dict[str, Door]:
    """The target of each link: a pass of the example, or the step where a mistake shows."""
    doors = {}
    for example in EXAMPLES.values():
        if example.trained:
            doors[example.trained] = parts_for_source(example.trained)
        for variant in example.variants:
            doors[source_of(example, variant)] = _door(example, variant, example.step, selection=example.selection)
        for number, mistake in enumerate(example.mistakes):
            doors[_door_of(example, number)] = _door(example, mistake.variant, _step_of(mistake))
    return doors


def _door(example: Example, variant: Variant, step: str, **parts: object) -> Door:
    return parts_for_source(source_of(example, variant)) | {"step": step} | parts


def _door_of(example: Example, number: int) -> str:
    return f"{example.id}, mistake {number}"


@cache
def lines(notebook: str) -> str:
    """All print-outs of a notebook as a list."""
    return "\n".join(map(_line, EXAMPLES[notebook].print_outs))


def counted(agreement: Agreement) -> str:
    """The printed numbers counted by how closely they agree: each is in one class."""
    classes = (
        (agreement.n_to_the_digit, "agree to the last digit"),
        (agreement.n_within_slack, "within rounding"),
        (agreement.n_apart, "cannot come from the code shown"),
    )
    return f"{agreement.n_numbers} printed numbers: " + ", ".join(f"{n} {what}" for n, what in classes if n)


def mark(number: Number) -> str:
    """The class of a number by how closely it agrees."""
    if number.to_the_digit:
        return "✓"
    return "≈" if number.agrees else "✗"


def _line(print_out: PrintOut) -> str:
    """A print-out as a list entry, with its first number or the first that disagrees."""
    n_agree = sum(number.agrees for number in print_out.numbers)
    first = next((n for n in print_out.numbers if not n.agrees), print_out.numbers[0])
    tick = "✓" if print_out.agrees else "✗"
    again = f"A second check: these numbers are counted with “{print_out.of}”. " if print_out.of else ""
    return (
        f"- {tick} **{print_out.name}** ({print_out.where}), {n_agree} of {len(print_out.numbers)}: "
        f"{first.published} published, {first.shown} computed. {again}{print_out.note} {print_out.why}"
    )


def _step_of(mistake: Mistake) -> str:
    steps = steps_of(mistake.variant.trace)
    return next((step.id for step in steps if mistake.stage in step.stages), STEPS[-1].id)
