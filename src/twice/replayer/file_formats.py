"""Where two files of a known format differ: the member, row, element or line, with both values.

A parser may crash on a file or never return, so this runs in a process of its own:
``python -m twice.replayer.file_formats RECORDED REPLAYED`` prints one line.

Not for: pickle and other formats that call code. For those it prints the first byte that differs.

Invariant: nothing in a file is executed, and neither file is changed.
"""

from __future__ import annotations

import gzip
import io
import itertools
import json
import sqlite3
import sys
import wave
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from twice.foundation.comparison import differences, print_value

_PART_BYTES_MAX = 256 << 20
_ROWS_MAX = 1_000_000
_MEMBERS_MAX = 10_000
_HEADER_BYTES_MAX = 100 << 20
_PARQUET = b"PAR1"


def describe_difference(recorded: bytes, replayed: bytes) -> str:
    """Return where two contents differ: by their format where both have one, else by line or byte."""
    for magic, values in _FORMATS.items():
        if recorded.startswith(magic) and replayed.startswith(magic):
            try:
                return _compare_values(recorded, replayed, values)
            except Exception:  # noqa: BLE001  (parsers of any library: the bytes are still there)
                break
    # A number by itself is JSON as well, and better shown as a line.
    is_json = all(content[:1] in {b"{", b"["} for content in (recorded, replayed))
    readers: list[Callable[[bytes], Any]] = [_read_safetensors, *([json.loads] if is_json else [])]
    for read in readers:
        try:
            return _compare_values(recorded, replayed, read)
        except Exception:  # noqa: BLE001, S112  (it is another format)
            continue
    try:
        texts = [content.decode("utf-8").splitlines() for content in (recorded, replayed)]
    except UnicodeDecodeError:
        return _compare_bytes(recorded, replayed)
    for number, pair in enumerate(itertools.zip_longest(*texts), 1):
        if pair[0] != pair[1]:
            return f"line {number}: {_describe_pair(*pair)}"
    return _compare_bytes(recorded, replayed)


def _compare_values(recorded: bytes, replayed: bytes, values: Callable[[bytes], Any]) -> str:
    one, other = values(recorded), values(replayed)
    if isinstance(one, Members | Rows):
        return one.locate_difference(other)
    found = differences(one, other, limit=1, component="")
    if not found:
        return _compare_bytes(recorded, replayed)
    first = found[0]
    where = first.path.removeprefix(".") or "value"
    return f"{where}: recorded {first.a}; replayed {first.b}"


def _describe_pair(*values: object) -> str:
    """Return both values, recorded and replayed; None is absent."""
    one, other = ("(absent)" if value is None else print_value(value) for value in values)
    return f"recorded {one}; replayed {other}"


class Members(dict[str, Callable[[], bytes]]):
    """Parts of an archive by name, each with a function that reads it."""

    def locate_difference(self, replayed: Members) -> str:
        """Return the first member that differs, and where it does."""
        for name in itertools.islice(self | replayed, _MEMBERS_MAX):
            if name not in replayed:
                return f"member {name}: only in the recording"
            if name not in self:
                return f"member {name}: only in the replay"
            one, other = self[name](), replayed[name]()
            if one != other:
                return f"member {name}, {describe_difference(one, other)}"
        return "how members are stored"


class Rows(list[tuple[str, Iterator[tuple[object, ...]]]]):
    """Tables by name, each with its rows."""

    def locate_difference(self, replayed: Rows) -> str:
        """Return the first table or row that differs."""
        absent = ("(absent)", iter(()))
        for one, other in itertools.zip_longest(self, replayed, fillvalue=absent):
            if one[0] != other[0]:
                return f"tables: recorded {one[0]}; replayed {other[0]}"
            pairs = itertools.zip_longest(one[1], other[1])
            for number, pair in enumerate(itertools.islice(pairs, _ROWS_MAX), 1):
                if pair[0] != pair[1]:
                    return f"table {one[0]}, row {number}: {_describe_pair(*pair)}"
        return "how rows are stored"


def _compare_bytes(recorded: bytes, replayed: bytes) -> str:
    pairs = enumerate(zip(recorded, replayed, strict=False))
    shorter = min(len(recorded), len(replayed))
    at = next((at for at, (one, other) in pairs if one != other), shorter)
    one, other = (each[at : at + 8].hex(" ") or "(absent)" for each in (recorded, replayed))
    return f"byte {at:,}: recorded {one}; replayed {other}"


def _read_zip(content: bytes) -> Members:
    archive = zipfile.ZipFile(io.BytesIO(content))

    def reader(member: zipfile.ZipInfo) -> Callable[[], bytes]:
        def read() -> bytes:
            if member.file_size > _PART_BYTES_MAX:  # a small archive may unpack to terabytes
                raise ValueError(member.filename)
            return archive.read(member)

        return read

    return Members({member.filename: reader(member) for member in archive.infolist()})


def _read_gzip(content: bytes) -> Members:
    with gzip.open(io.BytesIO(content)) as unpacked:
        inside = unpacked.read(_PART_BYTES_MAX)  # its size is only known at its end
    return Members({"(unpacked)": lambda: inside})


def _read_wav(content: bytes) -> dict[str, Any]:
    with wave.open(io.BytesIO(content)) as sound:
        about = sound.getparams()
        width = {1: "u1", 2: "<i2", 4: "<i4"}[about.sampwidth]
        samples = np.frombuffer(sound.readframes(about.nframes), dtype=width)
    return {"parameters": list(about), "samples": samples.reshape(-1, about.nchannels)}


def _read_safetensors(content: bytes) -> dict[str, Any]:
    size = int.from_bytes(content[:8], "little")
    if size > min(len(content) - 8, _HEADER_BYTES_MAX):
        raise ValueError(size)
    header = json.loads(content[8 : 8 + size])
    found: dict[str, Any] = {"__metadata__": header.pop("__metadata__", None)}
    for name, about in header.items():
        first, last = about["data_offsets"]
        data = content[8 + size + first : 8 + size + last]
        kind = _TENSORS.get(about["dtype"])
        array = np.frombuffer(data, dtype=kind or "u1")
        # numpy has no bfloat16 and no eight-bit floats: these are compared as bytes.
        found[name] = array.reshape(about["shape"]) if kind else array
    return found


_TENSORS = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?",
}  # fmt: skip


def _read_sqlite(content: bytes) -> Rows:
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(content)
        tables = database.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name"
        ).fetchall()
        found = Rows()
        for name, sql in tables:
            if sql and " VIRTUAL " not in sql.upper():
                quoted = name.replace('"', '""')
                every = f'SELECT * FROM "{quoted}"'  # noqa: S608  (quoted, in a temporary database)
                found.append((name, iter(database.execute(every).fetchmany(_ROWS_MAX))))
        return found


def _read_hdf5(content: bytes) -> dict[str, Any]:
    import h5py

    found: dict[str, Any] = {}

    def keep(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            found[name] = item[()]
        for key, value in item.attrs.items():
            found[f"{name}@{key}"] = value

    with h5py.File(io.BytesIO(content), "r") as file:
        file.visititems(keep)
    return found


def _read_table(content: bytes) -> dict[str, Any]:
    import pyarrow.ipc
    import pyarrow.parquet

    file = io.BytesIO(content)
    if content.startswith(_PARQUET):
        table = pyarrow.parquet.read_table(file)
    else:
        table = pyarrow.ipc.open_file(file).read_all()
    return {name: table.column(name).to_pylist() for name in table.column_names}


def _read_picture(content: bytes) -> dict[str, Any]:
    from PIL import Image

    with Image.open(io.BytesIO(content)) as picture:
        return {"mode": picture.mode, "pixels (row, column)": np.asarray(picture)}


_FORMATS: dict[bytes, Callable[[bytes], Any]] = {
    b"PK\x03\x04": _read_zip,
    b"\x1f\x8b": _read_gzip,
    b"\x93NUMPY": lambda content: np.load(io.BytesIO(content), allow_pickle=False),
    b"RIFF": _read_wav,
    b"SQLite format 3\0": _read_sqlite,
    b"\x89HDF\r\n\x1a\n": _read_hdf5,
    _PARQUET: _read_table,
    b"ARROW1": _read_table,
    b"\x89PNG": _read_picture,
    b"\xff\xd8\xff": _read_picture,
    b"BM": _read_picture,
    b"II*\0": _read_picture,
    b"GIF8": _read_picture,
}
"""The first bytes of a format, and the reader of its values."""


def main() -> None:
    """Print where two files differ."""
    recorded, replayed = (Path(name).read_bytes() for name in sys.argv[1:3])
    sys.stdout.buffer.write(
        describe_difference(recorded, replayed).encode("utf-8", "backslashreplace")
    )


if __name__ == "__main__":
    main()
