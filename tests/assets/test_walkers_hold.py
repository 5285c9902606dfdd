"""Laws about the walkers: any bytes, and any file that was changed, end in findings and never in an exception."""

from __future__ import annotations

import io
import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from leakfiles import LEAKING, TITLED, zipped

from twice.assets.leaks.scan import FileScan, ScanLimits
from twice.assets.media.payload import digest_open_file
from twice.assets.media.sniff import HEAD, sniff
from twice.assets.scrub import scrub
from twice.errors import TwiceError

FILES = {name: make() for name, make in {**LEAKING, **TITLED}.items()}
BEGINNINGS = (
    b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe1", b"GIF89a", b"RIFF\xff\0\0\0WEBP", b"RIFF\xff\0\0\0WAVE", b"II*\0", b"MM\0+",
    b"fLaC", b"OggS\0", b"ID3\4\0\0", b"\x1aE\xdf\xa3", b"PK\3\4", b"PK\5\6", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\0",
    b"\x28\xb5\x2f\xfd", b"glTF\2\0\0\0", b"\0\1\0\0\0\2\0\0", b"wOFF\0\1\0\0", b"wOF2", b"ttcf\0\1\0\0", b"%PDF-1.4\nstream\n",
    b"\0\0\0\x18ftypavif", b"\0\0\0\x18ftypM4A ", b"FORM\0\0\0\x40AIFF", b"RF64\xff\xff\xff\xffWAVEds64", b"\xff\xf1\x50\x80",
    b"\0\0\0\x0cJXL \r\n\x87\n\0\0\0\x20brobxml ", b"UnityFS\0\0\0\0\7a\0b\0", b"\x04\x22\x4d\x18\x60\x40\x82",
    b"Salt".ljust(60, b"\0") + b"BOOKMOBI\0\0\0\0\0\0\0\0\0\2", b"\x5d\0\0\x80\0", b"\0\0\x5d\0\0\x80\0\0",
    b"wOF2\0\1\0\0\0\0\0\xff\0\2", b"\x50\x2a\x4d\x18\4\0\0\0abcd\x28\xb5\x2f\xfd", b"%!\n<~9jqo^", b"x\0\0\0",
    b"{\\x", b"%41%42%43", b"",
)  # fmt: skip
QUICK = settings(deadline=None, suppress_health_check=list(HealthCheck))
SMALL = ScanLimits(depth=6, unpacked=4 << 20, parts=2000)


def everything(data: bytes) -> None:
    """All that is done with bytes of a stranger; refusals are fine, other exceptions are not."""
    list(FileScan(limits=SMALL).scan(io.BytesIO(data), "it"))
    for act in (digest_open_file, scrub):
        with suppress(TwiceError):
            act(io.BytesIO(data), "it")


@QUICK
@example(b"%PDF (\\8) Tj", b"")  # no octal number
@given(st.sampled_from(BEGINNINGS), st.binary(max_size=400))
def test_any_bytes_are_gone_through(beginning: bytes, rest: bytes) -> None:
    everything(beginning + rest)
    assert sniff((beginning + rest)[:HEAD])


@QUICK
@given(st.sampled_from(sorted(FILES)), st.data())
def test_a_file_with_changed_bytes_is_gone_through(name: str, data: st.DataObject) -> None:
    changed = bytearray(FILES[name])
    end = len(changed) - 1
    for at in data.draw(st.lists(st.integers(0, min(end, 600)) | st.integers(0, end), min_size=1)):
        changed[at] = data.draw(st.integers(0, 255))
    everything(bytes(changed[: data.draw(st.integers(0, end + 1) | st.just(end + 1))]))
    assert changed


def test_an_archive_in_an_archive_with_changed_bytes_is_gone_through() -> None:
    whole = zipped({name: data for name, data in FILES.items() if len(data) < 20_000})
    for at in range(0, len(whole), 20_011):
        everything(whole[:at] + b"\xff" + whole[at + 1 :])
    assert whole


@pytest.mark.heavy
def test_the_files_that_libraries_try_themselves_on_are_gone_through() -> None:
    """Such are the folders Tests/images of Pillow, tests/data of mutagen and resources of pypdf."""
    folders = os.environ.get("TWICE_STRANGE_FILES", "").split(os.pathsep)
    if folders == [""]:
        pytest.skip("TWICE_STRANGE_FILES names no folders")
    files = [each for folder in folders for each in Path(folder).rglob("*") if each.is_file()]
    for path in files:
        everything(path.read_bytes())
    assert files


@pytest.mark.parametrize(
    "piece",
    [b"\xff", b"\xff\xfb", b"ID3\4\0\0\0\0\0\1", b"PK\3\4", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0\0\2", b"%PDF-1 stream\n", b"a\0" * 9 + b"\1",
     b"%41", b"\\x41", b"&#65;", b'"prompt": "', b"seed ", b"A=3D", b"x\x9c\x03\0"],
)  # fmt: skip
@pytest.mark.sample(6)
def test_what_repeats_costs_no_more_than_its_length(piece: bytes) -> None:
    """The same beginning again and again: each could be looked into to the end. Work is counted, not timed."""
    reads = 0

    class Counted(io.BytesIO):
        def read(self, count: int | None = -1) -> bytes:
            nonlocal reads
            data = super().read(count)
            reads += len(data)
            return data

    data = b"\1" + piece * (400_000 // len(piece))
    list(FileScan(limits=SMALL).scan(Counted(data), "it"))

    assert reads < 64 << 20
