"""Read back: the lines of a sheet as a person sees and hears them, and the cells of a pass that they name."""

import math
import re
from dataclasses import dataclass

from needs import in_page

from attnviz.core.numerals import digits, short

LINES = in_page("lines.js")
_GO = """(place) => {
  window.arrivals = (window.arrivals ?? 1e6) + 1;
  show({ arrival: window.arrivals, where: { ...given.where, view: "sheet", reveal: null, from: "", ...place } });
}"""


def go(page, **place):
    """Look elsewhere in the pass that is shown, as whoever comes by a link does."""
    page.evaluate(_GO, place)


@dataclass(frozen=True)
class Cell:
    """One cell of a sheet, as it is seen and heard."""

    kind: str  # Its classes
    name: str  # The number of the pass that it opens; "" and () where it opens none
    index: tuple
    # What stands in it, what it is called to those who hear it, and what it was before numbers were set by hand
    text: str
    heard: str
    was: str


@dataclass(frozen=True)
class Line:
    """One line of a sheet."""

    # What its columns are called, and how many words that stand together are said to be, such as "other 28"
    names: list
    ends: list  # What the cells at its right are called
    missing: str  # What the header says of columns that are not there
    said: str  # What stands beside it and before it
    label: str
    kind: str
    before: Cell | None  # The number at its left
    cells: list  # Those under its names, and those at its right
    after: list
    sum: str


def lines(page, table=".sheet > table"):
    """The lines of a sheet, from top to bottom."""
    return lines_of(page.locator(table).evaluate(LINES))


def lines_of(rows):
    """The lines of a sheet, from its rows as `LINES` reads them."""
    found, names, ends, missing, said = [], [], [], "", ""
    for kind, cells in rows:
        if "names" in kind.split():
            names = [text for tag, of, _, text, *_ in cells if tag == "th" and "place" not in of.split()]
            ends = [text for tag, of, _, text, *_ in cells if tag == "th" and "place" in of.split()]
            missing = cells[0][3]
            continue
        if "kept" in kind.split():
            continue
        said = cells[0][3] if cells[0][1] == "said" else said
        of, rest = [cell for cell in cells if cell[1] != "said"], len(names)
        labels = [cell[3] for cell in of if cell[1].split()[:1] == ["label"]]
        numbers = [_cell(*cell[1:]) for cell in of if cell[1].split()[:1] not in (["label"], ["sum"])]
        before = numbers.pop(0) if "label" not in of[0][1].split() else None
        end = [cell for cell in numbers[rest:] if cell.kind != "blank" or cell.heard]
        sums = [cell[3] for cell in of if "sum" in cell[1].split()]
        label = labels[0] if labels else ""
        found.append(Line(names, ends, missing, said, label, kind, before, numbers[:rest], end, "".join(sums)))
    return found


def _cell(kind, address, text, heard, was):
    name, places = re.fullmatch(r"(?:(\w+)\[([\d,]+)\])?", address).groups()
    return Cell(kind, name or "", tuple(map(int, places.split(","))) if places else (), text, heard, was)


def called(trace, name, index):
    """What the address of a number is with words in it: scores[head 1, cat, sat]."""
    return f"{name}[{', '.join(axis.labels[place] for axis, place in zip(trace.axes(name), index, strict=True))}]"


def titled(trace, name, index, value=None):
    """A number by its name, as it is heard."""
    return f"{called(trace, name, index)} = {digits(trace[name].value[index] if value is None else value)}"


def written(value):
    """A number as it stands in a cell; that of a hidden key is infinite."""
    return "−∞" if value == -math.inf else short(value)


def numerals(text):
    """The numbers in a text, as they are written."""
    return re.findall(r"−?(?:∞|\d+(?:\.\d+)?(?:e−?\d+)?)", text)


def number(text):
    """A numeral as a number."""
    return float(text.replace("−", "-").replace("∞", "inf"))


def axis_between(one, other, but=None):
    """The axis along which two cells of a stage are apart, besides one."""
    (axis,) = {at for at, (m, n) in enumerate(zip(one.index, other.index, strict=True)) if m != n} - {but}
    return axis
