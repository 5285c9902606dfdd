"""A file that a replay left otherwise: the verdict names the member, row, element or line, with both values."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import struct
import textwrap
import wave
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namespace_probes import probe_world
from programs import cli
from twice.replayer.file_formats import describe_difference


def _npy(value: float) -> bytes:
    content = io.BytesIO()
    np.save(content, np.array([[0.5, 1.5], [2.5, value]]))
    return content.getvalue()


def _npz(value: float) -> bytes:
    content = io.BytesIO()
    np.savez(content, same=np.arange(3), weights=np.array([0.5, value]))
    return content.getvalue()


def _zip(value: float) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("readme.txt", "the same")
        archive.writestr("table.csv", f"a,b\n1,{value}\n")
    return content.getvalue()


def _gzip(value: float) -> bytes:
    return gzip.compress(f"first\n{value}\n".encode())


def _wav(value: float) -> bytes:
    content = io.BytesIO()
    with wave.open(content, "wb") as sound:
        sound.setnchannels(2)
        sound.setsampwidth(2)
        sound.setframerate(44_100)
        sound.writeframes(struct.pack("<4h", 1, 2, 3, int(value)))
    return content.getvalue()


def _safetensors(value: float) -> bytes:
    header = json.dumps(
        {"bias": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}}
    ).encode()
    return struct.pack("<Q", len(header)) + header + struct.pack("<2f", 0.5, value)


def _sqlite(value: float) -> bytes:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE steps (number, loss)")
        database.executemany("INSERT INTO steps VALUES (?, ?)", [(1, 0.5), (2, value)])
        database.commit()
        return database.serialize()


def _json(value: float) -> bytes:
    return json.dumps({"runs": [{"loss": 0.5}, {"loss": value}]}).encode()


def _text(value: float) -> bytes:
    return f"started\nloss {value}\n".encode()


def _hdf5(value: float) -> bytes:
    h5py = pytest.importorskip("h5py")
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        file["layer/weights"] = np.array([0.5, value])
    return content.getvalue()


def _parquet(value: float) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    content = io.BytesIO()
    parquet.write_table(pyarrow.table({"step": [1, 2], "loss": [0.5, value]}), content)
    return content.getvalue()


def _arrow(value: float) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    content = io.BytesIO()
    table = pyarrow.table({"step": [1, 2], "loss": [0.5, value]})
    with pyarrow.ipc.new_file(content, table.schema) as writer:
        writer.write_table(table)
    return content.getvalue()


def _png(value: float) -> bytes:
    image = pytest.importorskip("PIL.Image")
    content = io.BytesIO()
    image.fromarray(np.array([[0, 1], [2, int(value)]], dtype=np.uint8)).save(content, "PNG")
    return content.getvalue()


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (_npy, "[1, 1]: recorded 3.0; replayed 4.0"),
        (_npz, "member weights.npy, [1]: recorded 3.0; replayed 4.0"),
        (_zip, "member table.csv, line 2: recorded '1,3.0'; replayed '1,4.0'"),
        (_gzip, "member (unpacked), line 2: recorded '3.0'; replayed '4.0'"),
        (_wav, "samples[1, 1]: recorded 3; replayed 4"),
        (_safetensors, "bias[0, 1]: recorded 3.0; replayed 4.0"),
        (_sqlite, "table steps, row 2: recorded (2, 3.0); replayed (2, 4.0)"),
        (_json, "runs[1]['loss']: recorded 3.0; replayed 4.0"),
        (_text, "line 2: recorded 'loss 3.0'; replayed 'loss 4.0'"),
        (_hdf5, "['layer/weights'][1]: recorded 3.0; replayed 4.0"),
        (_parquet, "loss[1]: recorded 3.0; replayed 4.0"),
        (_arrow, "loss[1]: recorded 3.0; replayed 4.0"),
        (_png, "['pixels (row, column)'][1, 1]: recorded 3; replayed 4"),
    ],
)
def test_the_place_is_named_in_the_terms_of_the_format(
    make: Callable[[float], bytes], expected: str
) -> None:
    assert describe_difference(make(3.0), make(4.0)) == expected


@pytest.mark.parametrize("make", [_npy, _npz, _zip, _gzip, _wav, _safetensors, _sqlite, _json])
def test_a_damaged_file_is_compared_by_its_bytes(make: Callable[[float], bytes]) -> None:
    whole = make(3.0)
    described = describe_difference(whole[: len(whole) // 2] + b"\xff\xff", whole)
    assert "recorded" in described


@given(st.binary(max_size=64), st.binary(max_size=64))
def test_any_two_contents_have_a_first_difference(recorded: bytes, replayed: bytes) -> None:
    if recorded != replayed:
        assert describe_difference(recorded, replayed)


PROGRAM = """
    import os, pathlib, sqlite3
    here = pathlib.Path(__file__).parent
    rate = 0.5
    database = sqlite3.connect(here / "runs.db")
    database.execute("CREATE TABLE steps (number, rate)")
    database.execute("INSERT INTO steps VALUES (1, ?)", (rate,))
    database.commit()
    database.close()
    for name in os.listdir("/proc/self/fd"):
        try:
            assert "twice-differing" not in os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            pass
"""


@pytest.mark.integration
@pytest.mark.skipif(not probe_world().available, reason=probe_world().reason)
@pytest.mark.parametrize("is_removed", [False, True])
def test_a_verdict_names_the_row_while_the_recorded_file_is_there(
    tmp_path: Path, is_removed: bool
) -> None:
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM), encoding="utf-8")
    recorded = cli("record", "program.py", "--seed", "1", cwd=tmp_path)
    assert recorded.returncode == 0, recorded.stderr
    source = (tmp_path / "program.py").read_text("utf-8")
    (tmp_path / "program.py").write_text(
        source.replace("rate = 0.5", "rate = 0.75"), encoding="utf-8"
    )
    if is_removed:
        (tmp_path / "runs.db").unlink()

    done = cli("verify", "program.twice", "--informational", cwd=tmp_path)

    assert done.returncode == 1, done.stdout + done.stderr
    assert "runs.db" in done.stdout
    is_named = "table steps, row 1: recorded (1, 0.5); replayed (1, 0.75)" in done.stdout
    assert is_named is not is_removed
    assert "bytes 0 to 8,191" in done.stdout
