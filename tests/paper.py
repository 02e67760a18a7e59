"""Paper: what a page is printed to, read back from the PDF."""

from dataclasses import dataclass

import pypdfium2
from pypdfium2 import raw


@dataclass(frozen=True)
class Sheet:
    """One printed page.

    Attributes
    ----------
    text : str
        Each row of a matrix is in one line.
    digits : tuple of (str, float)
        Its digits, each with its size in points.
    size : (float, float)
        Its width and height in points.
    """

    text: str
    digits: tuple[tuple[str, float], ...]
    size: tuple[float, float]

    @property
    def is_wide(self):
        """Whether it is wider than high."""
        width, height = self.size
        return width > height


def printed(page, **options):
    """The sheets that a page of the browser is printed to, as its own styles lay them out."""
    document = pypdfium2.PdfDocument(page.pdf(prefer_css_page_size=True, **options))
    sheets = [_sheet(each) for each in document]
    document.close()
    return sheets


def inked(page):
    """How far down each printed page has any ink, as a part of its height."""
    document = pypdfium2.PdfDocument(page.pdf(prefer_css_page_size=True))
    pictures = [each.render(grayscale=True).to_numpy().squeeze() for each in document]
    document.close()
    return [(picture.min(axis=1) < 250).nonzero()[0].max() / len(picture) for picture in pictures]


def _sheet(page):
    letters, matrix = page.get_textpage(), raw.FS_MATRIX()
    text = "".join(map(chr, (raw.FPDFText_GetUnicode(letters, place) for place in range(letters.count_chars()))))
    sizes = []
    for place, letter in enumerate(text):
        if letter.isdigit():
            raw.FPDFText_GetMatrix(letters, place, matrix)
            scale = max(abs(matrix.a), abs(matrix.b))  # b where it stands upright
            sizes.append((letter, scale * raw.FPDFText_GetFontSize(letters, place)))
    return Sheet(text.replace("\r\n", "\n"), tuple(sizes), page.get_size())
