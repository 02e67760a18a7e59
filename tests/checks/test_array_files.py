"""Files of arrays: they are read as they were saved; a broken one raises OwnArraysError with the rule."""

import contextlib
import gc
import io
import json
import struct
import sys
import time
import tracemalloc
import warnings
import zipfile
from functools import partial

import numpy as np
import pytest
from needs import needed

from attnviz.checks.read.files import read_file
from attnviz.core.errors import OwnArraysError
from attnviz.core.limits import MAX_FILE_BYTES
from attnviz.models.statefile import read

RANDOM = np.random.default_rng(23)
MATRIX = RANDOM.normal(size=(3, 5)).astype(np.float32)
ARRAYS = {"x": MATRIX, "w_q": RANDOM.normal(size=(5, 4)), "mask": np.tri(3, dtype=bool), "tokens": np.arange(3)}


def npy(array, **how):
    file = io.BytesIO()
    np.save(file, array, **how)
    return file.getvalue()


def npz(arrays, save=np.savez):
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


def safetensors(arrays):
    """The format written by hand: the length of a header in JSON, the header, the numbers."""
    header, numbers = {}, b""
    for name, array in arrays.items():
        kind = {"f": "F", "i": "I", "b": "BOOL"}[array.dtype.kind]
        kind += "" if kind == "BOOL" else str(array.itemsize * 8)
        end = len(numbers) + array.nbytes
        header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": [len(numbers), end]}
        numbers += array.tobytes()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + numbers


def npy_with_header(shape, descr="<f8", follows=b""):
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + follows


def same(found, expected):
    assert found.keys() == expected.keys()
    for name, array in found.items():
        np.testing.assert_array_equal(array, expected[name], strict=True)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_npz_is_read_as_it_was_saved_without_its_words(save):
    same(read_file("mine.npz", npz({**ARRAYS, "words_query": np.array(["a", "b"])}, save)).arrays, ARRAYS)


@pytest.mark.parametrize("array", [MATRIX, MATRIX.T, MATRIX.astype(">f8"), MATRIX.astype(np.float16), np.array(2.0)])
def test_an_npy_has_the_name_of_its_file_or_of_the_given_stage(array):
    native = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("=")).reshape(array.shape)
    same(read_file("C:\\mine\\attention.NPY", npy(array)).arrays, {"attention": native})
    same(read_file("mine.npy", npy(array), stage="q").arrays, {"q": native})


def test_a_csv_is_one_matrix():
    text = "\n".join(",".join(map(repr, row)) for row in MATRIX.astype(float).tolist())
    for written in (text, text + "\n\n", "\ufeff" + text, text.replace(",", "; "), text.replace(",", "\t")):
        same(read_file("scores.csv", written.encode()).arrays, {"scores": MATRIX.astype(float)})


def test_safetensors_are_read_and_bfloat16_becomes_float32(monkeypatch):
    needed("safetensors")
    same(read_file("mine.safetensors", safetensors(ARRAYS)).arrays, ARRAYS)
    numbers = np.array([[1.0, -3.140625, 0.0], [2.0**-130, np.inf, 255.0]], np.float32)
    bits = (numbers.view(np.uint32) >> 16).astype("<u2")
    same(read_file("mine.safetensors", one_tensor("BF16", [2, 3], bits.tobytes())).arrays, {"x": numbers})
    with pytest.raises(OwnArraysError, match=r"'x' is of 'F8_E4M3'. Convert it"):
        read_file("mine.safetensors", one_tensor("F8_E4M3", [6], bytes(6)))
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(OwnArraysError, match=r"pip install attnviz\[safetensors\]"):
        read_file("mine.safetensors", safetensors(ARRAYS))


def one_tensor(kind, shape, content):
    text = json.dumps({"x": {"dtype": kind, "shape": shape, "data_offsets": [0, len(content)]}}).encode()
    return struct.pack("<Q", len(text)) + text + content


def test_rows_of_more_words_than_a_sentence_are_skipped_and_long_words_cut():
    found = read_file("mine.npz", npz({**ARRAYS, "few": np.full(64, "ab"), "many": np.full(65, "ab")})).texts
    assert found == {"few": ("ab",) * 64}
    (cut,) = read_file("mine.npz", npz({**ARRAYS, "long": np.array(["a" * 3000])})).texts["long"]
    assert len(cut) == 2000


def bomb():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", npy_with_header((2**21,), follows=bytes(2**24)))
    return file.getvalue()


def lying_bomb():
    """It declares few bytes, here and in its directory, and holds many."""
    content = bytearray(bomb())
    size = struct.pack("<I", len(npy_with_header((2**21,))) + 2**24)
    assert content.count(size) == 2
    return bytes(content.replace(size, struct.pack("<I", 1000)))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("mine.pkl", b"", "one of .npz, .npy, .safetensors, .csv; got 'mine.pkl'"),
        ("mine", b"", "got 'mine'"),
        ("x.npy", bytes(MAX_FILE_BYTES + 1), "at most 8 MiB; this one has 8.0"),
        ("x.npz", bomb, "at most 8 MiB unpacked; these have 16.0"),
        ("x.npz", lying_bomb, "broken or is something else"),
        ("x.npz", b"", "is empty. Save it again."),
        ("x.npz", npz({}), "at least one array of numbers; 'x.npz' has none"),
        ("x.npz", npz({f"a{i}": np.eye(1) for i in range(257)}), "at most 256 arrays; this one has 257"),
        ("x.npz", npz({"x": np.array(["a"])}), "'x.npz' has none"),
        ("x.npy", npy(np.array([{}], object), allow_pickle=True), "'x' is of object. Convert it"),
        ("x.npy", npy(MATRIX * 1j), "'x' is of complex64"),
        pytest.param(
            *("x.npy", npy(MATRIX.astype(np.longdouble)), "'x' is of float128"),
            marks=pytest.mark.skipif(np.finfo(np.longdouble).bits != 128, reason="no such type here"),
        ),
        ("x.npy", npy(np.zeros(2, "i4,f8")), "Convert it, as in array.astype"),
        ("x.npy", npy(np.zeros(2, "M8[s]")), "'x' is of datetime64[s]"),
        ("x.npy", npy(np.zeros((0, 3))), "'x' has the shape (0, 3)"),
        ("x.npy", npy_with_header((2**40,)), "its shape is (1099511627776,); 0 bytes follow, which is another size"),
        ("x.npy", npy_with_header((2**62, 4)), "0 bytes follow"),
        ("x.npy", npy_with_header((-1, -2), follows=bytes(16)), "16 bytes follow"),
        ("x.npy", npy(MATRIX)[:-1], "59 bytes follow"),
        ("x.csv", b"", "is empty. Save it again."),
        ("x.csv", b"q,k\n1,2", "no titles; got 'q' on line 1"),
        ("x.csv", b"1,2\n3,four", "got 'four' on line 2"),
        ("x.csv", b"1,2\n3", "the first has 2 numbers, line 2 has 1"),
        ("x.csv", b"1,2\n3,", "got '' on line 2"),
        ("x.csv", b"\xff\xfe1\x00", "broken or is something else"),
        ("x.csv", b"1,2\n\n" * 2**18, "at most 524,288 numbers, empty lines counted; this one has 786,432"),
        ("x.safetensors", struct.pack("<Q", 2**18 + 1), "may have at most 256 KiB; this one says that it has more"),
    ],
)
def test_a_broken_file_is_refused_with_the_rule(name, content, says):
    with pytest.raises(OwnArraysError) as error:
        read_file(name, content() if callable(content) else content)
    assert says in str(error.value)
    assert len(str(error.value)) < 300


def filled(unit, head=b"", tail=b""):
    """A file as large as one may be that holds a piece again and again."""
    return head + unit * ((MAX_FILE_BYTES - len(head) - len(tail)) // len(unit)) + tail


def entries():
    """An .npz that lists one array as often as it can."""
    one = npz({"x": np.eye(1)})
    start, end = one.index(b"PK\x01\x02"), one.index(b"PK\x05\x06")
    entry = one[start:end]
    n = (MAX_FILE_BYTES - start - 22) // len(entry)
    rest = struct.pack("<4s4x2H2L2x", b"PK\x05\x06", n % 2**16, n % 2**16, len(entry) * n, start)
    return one[:start] + entry * n + rest


def states(unit):
    """A state file whose embedding is some JSON again and again."""
    return filled(unit + b",", b'{"uchars": ["a"], "state_dict": {"wpe": [[0]], "wte": [', b"0]}}")


HEAVY = {
    **{f"lines of {unit}": ("x.csv", partial(filled, unit)) for unit in (b"1\n", b"1\r", b"12,", b'"1";', b"\n")},
    "as many lines as there may be": ("x.csv", lambda: b"0.54321\n" * 2**19),
    "as many in one line as there may be": ("x.csv", lambda: b"0.54321," * (2**19 - 1) + b"1\n"),
    "many arrays": ("x.npz", entries),
    "many words": ("x.npz", lambda: npz({"tokens": np.full(2**23 - 800, b"a"), "x": MATRIX})),
    "a long word": ("x.npz", lambda: npz({"tokens": np.array(["\u8a9e" * (2**21 - 400)]), "x": MATRIX})),
    "many numbers": ("x.npz", lambda: npz({"x": np.ones((2**20 - 100, 1))})),
    "one array": ("x.npy", lambda: npy(np.ones(2**23 - 200, bool))),
    "many tensors": (
        "x.safetensors",
        lambda: safetensors(dict.fromkeys(map("{:05}".format, range(120_000)), np.ones(0))),
    ),
    "empty lists": ("x.json", lambda: states(b"[]")),
    "objects": ("x.json", lambda: states(b'{"":0}')),
    "numbers": ("x.json", lambda: states(b"0.5")),
    "words": ("x.json", lambda: states(b'"ab"')),
    "names": ("x.json", lambda: b"{" + b",".join(b'"%x":0' % n for n in range(700_000)) + b"}"),
}


@pytest.mark.slow
@pytest.mark.parametrize("file", HEAVY)
def test_reading_the_largest_files_takes_at_most_200_mb_and_a_second(file):
    name, made = HEAVY[file]
    content = made()
    assert len(content) <= MAX_FILE_BYTES
    reads = read if name.endswith(".json") else partial(read_file, name)

    def seconds():
        start = time.thread_time()
        with contextlib.suppress(OwnArraysError):
            reads(content)
        return time.thread_time() - start

    gc.freeze()  # as the server does; what else the tests hold is nobody's reading
    assert any(seconds() < 1 for _ in range(3)), "a busy machine is slower, but not three times"
    gc.unfreeze()
    share = 8 if file.startswith("as many") else 1  # all lines take as much: 97 MB as lists, an eighth 12
    tracemalloc.start()
    with contextlib.suppress(OwnArraysError):
        reads(content[: len(content) // share])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200e6 / share


def test_damaged_files_raise_no_other_error():
    written = {
        "a.npz": [npz(ARRAYS), npz(ARRAYS, np.savez_compressed)],
        "a.npy": [npy(MATRIX), npy(MATRIX.T), npy_with_header((3, 5)), npy(np.array([{}], object), allow_pickle=True)],
        "a.safetensors": [safetensors(ARRAYS)],
        "a.csv": [b"1,2.5,-3e4\n4,5,inf\nnan,8,9\n"],
    }
    valid = [(name, content) for name, contents in written.items() for content in contents]
    refused = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy and zipfile warn of what they then read or refuse
        for number in range(5000):
            name, content = valid[number % len(valid)]
            try:
                found = read_file(name, broken(content, number % 5)).arrays
                assert all(array.dtype.kind in "biuf" for array in found.values())
            except OwnArraysError:
                refused += 1
    assert refused > 2500


def broken(content, how):
    """A file cut short, with bits flipped, with bytes from elsewhere, with a piece twice, or with digits changed."""
    n = len(content)
    start, end = sorted(RANDOM.integers(0, n + 1, 2))
    if how == 0:
        return content[:end]
    changed = np.frombuffer(content, np.uint8).copy()
    places = RANDOM.integers(0, min(n, 200), RANDOM.integers(1, 6))  # most in the headers
    if how == 1:
        changed[places] ^= (1 << RANDOM.integers(0, 8, len(places))).astype(np.uint8)
    elif how == 2:
        changed[RANDOM.integers(0, n, 40)] = RANDOM.integers(0, 256, 40)
    elif how == 3:
        return content[:end] + content[start:]
    else:
        digits = np.flatnonzero((changed >= ord("0")) & (changed <= ord("9")))
        changed[RANDOM.choice(digits, min(len(digits), 3))] = RANDOM.integers(ord("0"), ord("9") + 1)
    return changed.tobytes()
