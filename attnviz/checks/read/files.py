"""Files: read .npz, .npy, .safetensors and .csv files as named arrays of numbers; nothing that they say is trusted."""

import csv
import io
import math
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from attnviz.checks.read.formats import widened
from attnviz.core.arrays import as_numpy
from attnviz.core.errors import OwnArraysError
from attnviz.core.limits import (
    MAX_CHARACTERS,
    MAX_FILE_ARRAYS,
    MAX_FILE_BYTES,
    MAX_FILE_SIZE,
    MAX_STAGE_NUMBERS,
    MAX_TOKENS,
)
from attnviz.core.tokens import clean

_MAX_HEADER_BYTES = 1024 * MAX_FILE_ARRAYS  # for .safetensors; each array takes less
_ENTRY = b"PK\x01\x02"  # precedes each array's name in an .npz
_MAX_NUMBERS = MAX_FILE_BYTES // 2  # as many as a file of float16 holds; each takes 8 bytes from here on
_TEXT = "SU"  # the kinds of arrays that hold text, such as the words in attnviz's own files

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class ArrayFile:
    """What a file holds."""

    arrays: Arrays  # in their original precision
    texts: dict[str, tuple[str, ...]]  # rows of words, cleaned


def read_file(filename: str, content: bytes, stage: str | None = None) -> ArrayFile:
    """Read a file of at most 8 MiB, unpacked as well, without unpickling anything.

    The filename's ending gives the format. `stage` names the array of an .npy or .csv; by default the file's name does.
    Whatever the content is, no error but OwnArraysError is raised.
    """
    path = PurePosixPath(filename.replace("\\", "/"))
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise OwnArraysError(f"A file of arrays is one of {', '.join(_READERS)}; got {_shown(path.name)}.")
    if len(content) > MAX_FILE_BYTES:
        raise OwnArraysError(
            f"A file of arrays may have at most {MAX_FILE_SIZE}; this one has {len(content) / 2**20:.1f}. "
            "Leave out what attention doesn't need."
        )
    if not content:
        raise OwnArraysError(f"{_shown(path.name)} is empty. Save it again.")
    try:
        arrays = reader(content, stage or path.stem)
        texts = texts_in(arrays)
    except OwnArraysError:
        raise
    except Exception:  # what a library's parser raises of a broken file is not written down anywhere
        raise OwnArraysError(
            f"{_shown(path.name)} must be a {path.suffix.lower()} file as NumPy, safetensors or a spreadsheet writes "
            "it; this one is broken or is something else. Save it again."
        ) from None
    numbers = {name: array for name, array in arrays.items() if array.dtype.kind not in _TEXT}
    if not numbers:
        raise OwnArraysError(f"A file of arrays holds at least one array of numbers; {_shown(path.name)} has none.")
    if (n := sum(array.size for array in numbers.values() if array.dtype != bool)) > _MAX_NUMBERS:
        raise OwnArraysError(
            f"A file may hold at most {_MAX_NUMBERS:,} numbers, as each is computed with in float64; this one has "
            f"{n:,}. Leave out what attention doesn't need."
        )
    return ArrayFile(numbers, texts)


def texts_in(arrays: Mapping[str, np.ndarray], most: float = MAX_TOKENS) -> dict[str, tuple[str, ...]]:
    """The arrays that are rows of at most `most` words, cleaned."""

    def cleaned(word: str | bytes) -> str:
        text = word if isinstance(word, str) else word.decode("utf-8", "replace")
        return clean(text[:MAX_CHARACTERS]).strip() or " " * bool(text)  # a space is a letter

    rows = {name: each for name, each in arrays.items() if each.dtype.kind in _TEXT and each.ndim == 1}
    return {name: tuple(map(cleaned, each.tolist())) for name, each in rows.items() if len(each) <= most}


def as_array(name: str, value: object) -> np.ndarray:
    """An array of anything array-like, including PyTorch tensors with gradients or in bfloat16 (as float32)."""
    try:
        array = np.asarray(as_numpy(value))
    except ValueError:
        raise OwnArraysError(f"{_shown(name)} must be an array of numbers; its rows have several lengths.") from None
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def numeric(name: str, array: np.ndarray) -> np.ndarray:
    """The array if it holds real numbers or booleans and isn't empty; else OwnArraysError."""
    _check_kind(name, array.dtype)
    if array.size == 0:
        raise OwnArraysError(f"Each array holds at least one number; {_shown(name)} has the shape {array.shape}.")
    return array


def _check_kind(name: str, dtype: np.dtype) -> None:
    if dtype.kind not in "biuf" or (dtype.kind == "f" and dtype.itemsize > 8):
        raise OwnArraysError(
            f"An array holds booleans, whole numbers, float16, float32 or float64; {_shown(name)} is of "
            f"{_shown(dtype)}. Convert it, as in array.astype(np.float32)."
        )


def _check_count(n: int) -> None:
    if n > MAX_FILE_ARRAYS:
        raise OwnArraysError(f"A file may hold at most {MAX_FILE_ARRAYS} arrays; this one has {n}.")


def _npz(content: bytes, stage: str) -> Arrays:
    _check_count(content.count(_ENTRY))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        declared = sum(member.file_size for member in members)
        if declared > MAX_FILE_BYTES:
            raise OwnArraysError(
                f"The arrays of a file may have at most {MAX_FILE_SIZE} unpacked; these have {declared / 2**20:.1f}."
            )
        names = {member.filename.removesuffix(".npy"): member for member in members}
        # a member is read no further than the size that it declares
        return {name: _npy(archive.read(member), name)[name] for name, member in names.items()}


def _npy(content: bytes, stage: str) -> Arrays:
    """Parse an .npy file, whose header is trusted only if the right number of bytes follows."""
    file = io.BytesIO(content)
    read_header: Any = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[
        np.lib.format.read_magic(file)
    ]
    shape, is_fortran, dtype = read_header(file)
    is_text, n_bytes = dtype.kind in _TEXT, len(content) - file.tell()
    if not is_text:
        _check_kind(stage, dtype)
    if any(n < 0 for n in shape) or math.prod(shape) * dtype.itemsize != n_bytes:
        raise OwnArraysError(
            f"The header of {_shown(stage)} says that its shape is {_shown(shape)}; "
            f"{n_bytes} bytes follow, which is another size. Save it again."
        )
    array = np.frombuffer(content, dtype, offset=file.tell()) if n_bytes else np.empty(0, dtype)
    array = array.reshape(shape, order="F" if is_fortran else "C")
    return {stage: array if is_text else numeric(stage, array).astype(dtype.newbyteorder("="))}


def _safetensors(content: bytes, stage: str) -> Arrays:
    try:
        from safetensors import deserialize
    except ImportError:
        raise OwnArraysError(
            "A .safetensors file is read by the package safetensors, which is not installed here; "
            "install it by: pip install attnviz[safetensors]. Or save an .npz."
        ) from None
    if int.from_bytes(content[:8], "little") > _MAX_HEADER_BYTES:
        raise OwnArraysError(
            f"The header of a .safetensors file may have at most {_MAX_HEADER_BYTES // 1024} KiB; this one says that "
            "it has more. Leave out what attention doesn't need."
        )
    tensors = deserialize(content)
    _check_count(len(tensors))
    arrays = {}
    for name, tensor in tensors:
        if tensor["dtype"] not in _SAFETENSORS:
            raise OwnArraysError(
                f"An array holds booleans, whole numbers, bfloat16, float16, float32 or float64; {_shown(name)} is of "
                f"{_shown(tensor['dtype'])}. Convert it, as in tensor.float()."
            )
        stored = np.frombuffer(tensor["data"], _SAFETENSORS[tensor["dtype"]])
        array = widened(stored) if tensor["dtype"] == "BF16" else stored.astype(stored.dtype.newbyteorder("="))
        arrays[name] = numeric(name, array.reshape(tensor["shape"]))
    return arrays


_SAFETENSORS = {"BOOL": "?", "BF16": "<u2", "F16": "<f2", "F32": "<f4", "F64": "<f8"}  # as NumPy stores them
_SAFETENSORS |= {f"{sign}{8 * n}": f"<{sign.lower()}{n}" for sign in "IU" for n in (1, 2, 4, 8)}


def _csv(content: bytes, stage: str) -> Arrays:
    lines = io.StringIO(content.decode("utf-8-sig"), newline=None)
    first = lines.readline()
    separator = next((each for each in ";\t" if each in first), ",")
    n_lines = max(content.count(b"\n"), content.count(b"\r"))
    if (n := content.count(separator.encode()) + n_lines) > MAX_STAGE_NUMBERS:
        raise OwnArraysError(
            f"A .csv file may hold at most {MAX_STAGE_NUMBERS:,} numbers, empty lines counted; this one has {n:,}."
        )

    lines.seek(0)
    rows: list[list[float]] = []
    for line, fields in enumerate(csv.reader(lines, delimiter=separator), start=1):
        try:
            numbers = [float(field := each) for each in fields]
        except ValueError:
            raise OwnArraysError(
                f"A .csv file holds one matrix of numbers, a row on each line, and no titles; "
                f"got {_shown(field)} on line {line}."
            ) from None
        if numbers and rows and len(numbers) != len(rows[0]):
            raise OwnArraysError(
                f"A .csv file holds one matrix, all rows of one length; the first has {len(rows[0])} numbers, "
                f"line {line} has {len(numbers)}."
            )
        rows += [numbers] if numbers else []
    return {stage: numeric(stage, np.array(rows))}


def _shown(value: object) -> str:
    text = str(value) if isinstance(value, np.dtype | tuple) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


_READERS: Mapping[str, Callable[[bytes, str], Arrays]] = {
    ".npz": _npz,
    ".npy": _npy,
    ".safetensors": _safetensors,
    ".csv": _csv,
}
