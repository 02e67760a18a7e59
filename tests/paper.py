"""Paper: what a page is printed to, read back from the PDF."""

import ctypes
from dataclasses import dataclass

import pypdfium2
from pypdfium2 import raw


@dataclass(frozen=True)
class Sheet:
    """One printed page."""

    text: str  # each row of a matrix is in one line
    digits: tuple[tuple[str, float], ...]  # each with its size in points
    size: tuple[float, float]  # its width and height in points

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


def arcs(page, names, **options):
    """The words, of some names without spaces, at both ends of each arc, in the order in which arcs are drawn."""
    document = pypdfium2.PdfDocument(page.pdf(**options))
    found = []
    for sheet in document:
        words = [each for each in _words(sheet) if each["text"] in names]
        found += [[_word_at(words, end) for end in arc] for arc in _curves(sheet)]
    document.close()
    return found


def _curves(sheet):
    """Both ends of each line that is a single Bézier curve from one place to another, in points."""
    for each in sheet.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH]):
        if raw.FPDFPath_CountSegments(each) != 4:
            continue
        matrix, around = each.get_matrix(), each.container
        while around is not None:
            matrix, around = matrix.multiply(around.get_matrix()), around.container
        segments = [raw.FPDFPath_GetPathSegment(each, place) for place in (0, 3)]
        if raw.FPDFPathSegment_GetType(segments[1]) != raw.FPDF_SEGMENT_BEZIERTO:
            continue
        ends = []
        for segment in segments:
            x, y = ctypes.c_float(), ctypes.c_float()
            raw.FPDFPathSegment_GetPoint(segment, x, y)
            ends.append(matrix.on_point(x.value, y.value))
        yield ends


def _words(sheet):
    """The words with their boxes in points: letters of one line less than a letter's height apart."""
    letters, words, before = sheet.get_textpage(), [], ("", 0, 0)
    for place in range(letters.count_chars()):
        letter = chr(raw.FPDFText_GetUnicode(letters, place))
        if letter.isspace() or not letter.isprintable():
            continue
        left, bottom, right, top = letters.get_charbox(place, loose=True)
        is_again = before[0] == letter and max(abs(before[1] - left), abs(before[2] - bottom)) < 0.5
        before = letter, left, bottom
        if is_again:  # a bold letter is printed twice
            continue
        last = words[-1] if words else None
        if last and abs(last["bottom"] - bottom) < 1 and 0 <= left - last["right"] + 1 < 1 + 0.5 * (top - bottom):
            last["text"] += letter
            last["right"] = right
        else:
            words.append({"text": letter, "left": left, "bottom": bottom, "right": right, "top": top})
    return words


def _word_at(words, end):
    """The word beside an end: of the line of words that is nearest, the one whose middle is."""
    x, y = end

    def off(each):
        return abs(y - (each["bottom"] + each["top"]) / 2)

    line = min(map(off, words), default=0)
    beside = [each for each in words if off(each) < line + 2]
    return min(beside, key=lambda each: abs(x - (each["left"] + each["right"]) / 2))["text"] if line < 25 else ""


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
