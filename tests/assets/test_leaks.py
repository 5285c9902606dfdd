"""Claims about leaks: planted traces are found with their place, what is a project's own is known, limits are said."""

from __future__ import annotations

import io
import json
import struct
import tarfile
import zlib
from pathlib import Path

import pytest

pytest.importorskip("PIL")
pytest.importorskip("soundfile")

from leakfiles import CLEAN, INFOTEXT, LEAKING, dirty_png, leaks, png, scanned, zipped
from mediafiles import encode

from twice.assets.errors import LeaksRefused
from twice.assets.leaks.folders import scan_paths
from twice.assets.leaks.known import SHARED, load_known_values
from twice.assets.leaks.report import LeakFinding, NotOpened
from twice.assets.leaks.scan import ScanLimits
from twice.assets.log.fields import FIELDS
from twice.foundation.severity import Severity


@pytest.mark.parametrize("name", LEAKING)
def test_a_planted_trace_is_found(name: str) -> None:
    found = leaks(LEAKING[name]())

    assert found
    assert all(
        each.path[0] == "it" and each.remedy and each.excerpt.isprintable() for each in found
    )


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_file_is_not_accused(name: str) -> None:
    assert scanned(CLEAN[name]()) == []


def test_the_path_leads_to_the_innermost_place() -> None:
    inner = zipped({"art/cover.png": dirty_png()})
    data = zipped({"levels.zip": inner})

    paths = {each.path for each in leaks(data)}

    assert paths == {("it", "levels.zip", "art/cover.png", "parameters")}


def test_members_of_tar_and_texts_of_its_headers_are_read() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as file:
        entry = tarfile.TarInfo("a.txt")
        entry.pax_headers = {"comment": "Seed: 1057871485, Sampler: euler"}
        file.addfile(entry, io.BytesIO())

    assert {each.rule for each in leaks(out.getvalue())} == {"L101", "L104"}


def test_a_model_file_gives_its_texture_away() -> None:
    picture, text = dirty_png(), json.dumps({"asset": {"version": "2.0"}}).encode().ljust(32)
    head = struct.pack("<I4s", len(text), b"JSON") + text
    body = head + struct.pack("<I4s", len(picture), b"BIN\0") + picture

    data = b"glTF" + struct.pack("<II", 2, 12 + len(body)) + body

    assert any("parameters" in each.path for each in leaks(data))


def test_a_name_alone_is_a_low_finding_and_what_the_file_says_counts_all_the_same() -> None:
    named = scanned(zipped({"determinism-log.md": b"A diary. Nothing was left to chance."}))
    saying = scanned(b'{"kind": "determinism-log"}', "determinism-log.json")

    assert [each.severity for each in named] == [Severity.LOW]
    assert [each.severity for each in saying] == [Severity.LOW, Severity.CRITICAL]


def test_bytes_after_an_end_are_told_even_when_they_say_nothing() -> None:
    found = scanned(png(after=b"\x91\x07\x33\x44"))

    assert [(each.rule, each.severity) for each in found if isinstance(each, LeakFinding)] == [
        ("L120", Severity.MEDIUM)
    ]


def test_secrets_are_starred() -> None:
    secret = "sk-proj-" + "a1B2" * 8

    (found,) = leaks(f'{{"k": "{secret}"}}'.encode())

    assert found.rule == "L114"
    assert secret not in found.excerpt
    assert "****" in found.excerpt


def test_an_archive_bomb_stops_at_the_limit_and_says_so() -> None:
    bomb = zipped({"a.bin": zlib.compress(bytes(50 << 20))})

    found = scanned(bomb, limits=ScanLimits(unpacked=4 << 20))

    assert any(isinstance(each, NotOpened) and "limit" in each.why for each in found)


def test_archives_nested_without_end_stop_at_the_depth() -> None:
    data = b"text"
    for _ in range(20):
        data = zipped({"a.zip": data})

    assert any(isinstance(each, NotOpened) and "deep" in each.why for each in scanned(data))


def test_what_is_encrypted_or_cut_off_is_not_looked_into(tmp_path: Path) -> None:
    data = bytearray(zipped({"a.txt": b"text"}))
    for magic, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(magic) + at] |= 1
    (tmp_path / "a.zip").write_bytes(data)
    (tmp_path / "b.png").write_bytes(png()[:-40])
    (tmp_path / "c.wav").write_bytes(encode("wav", "pcm_s16le")[:-40])

    found = scan_paths([tmp_path])
    why = {Path(each.path[0]).name: each.why for each in found.unread}

    assert (found.result, found.exit_code) == ("unread", 2)
    assert "encrypted" in why["a.zip"]
    assert "samples are cut off" in why["c.wav"]
    assert "b.png" in why


def write_logs(folder: Path, **logs: object) -> None:
    for name, log in logs.items():
        (folder / f"{name}.detlog.json").write_text(json.dumps(log))


def test_known_values_are_found_whole_and_no_others(tmp_path: Path) -> None:
    write_logs(
        tmp_path, a={"log_id": "quay-044-b", "seed": {"effective": 7712345}, "promise": "det"}
    )
    (tmp_path / "names.txt").write_text("Mirabel Quaystone\nab\n")
    known = load_known_values([tmp_path / "names.txt"], [tmp_path])

    found = leaks(b"x quay-044-b y 7712345 z by mirabel\n  quaystone, deterministic", known=known)

    assert known.short == 1
    assert [each.rule for each in found] == ["L122"] * 3
    lists = {
        "marked.txt": "\ufeffquay-044-b\r\n",
        "deep.json": '\ufeff{"a": [{"b": "quay-044-b"}]}',
    }
    for name, text in lists.items():
        (tmp_path / name).write_text(text, "utf-8")
        known = load_known_values([tmp_path / name], [])
        assert [each.rule for each in leaks(b"x quay-044-b y", known=known)] == ["L122"]
    assert leaks(b"quay-044-bc 77123456 mirabel", known=known) == []


def test_which_values_of_a_log_are_its_own_follows_from_the_model(tmp_path: Path) -> None:
    log = {
        "producer": {"role": "illustrator"},
        "asset": {"file": "cover.png", "file_sha256": "ab" * 32},
        "model": {"name": "pillow", "version": "11.2.1", "adapters": [{"name": "salt_marsh"}]},
        "audio": {"text": "The tide came in.", "chain": [{"preset": "Harbour fog 2"}]},
    }
    write_logs(tmp_path, a=log)
    known = load_known_values([], [tmp_path])

    public = b"illustrator cover.png pillow 11.2.1. The tide came in."
    assert leaks(public, known=known) == []
    assert known.short == 1
    own = leaks(b"ab" * 32 + b" salt_marsh, harbour fog 2", known=known)
    assert [each.rule for each in own] == ["L122"] * 3


def test_the_file_name_of_an_asset_may_be_the_published_one_and_its_id_not(tmp_path: Path) -> None:
    log = {
        "log_id": "quay-044-b",
        "asset": {"file": "quayside.wav"},
        "evidence": {"/asset": {"file": "quayside.wav"}},
    }
    other = {"recipe": {"inputs": [{"path": "audio/quayside.wav"}, {"path": "audio/harbour.mid"}]}}
    write_logs(tmp_path, a=log, b=other)
    known = load_known_values([], [tmp_path])

    assert leaks(b'<audio src="audio/quayside.wav"/> <a href="quayside.wav">', known=known) == []
    assert len(leaks(b"public/audio/harbour.mid quay-044-b", known=known)) == 2


@pytest.mark.parametrize("pointer", SHARED)
def test_a_field_that_is_held_to_be_shared_is_in_the_model(pointer: str) -> None:
    assert pointer in FIELDS


def test_a_link_that_leads_outside_is_reported_and_not_followed(tmp_path: Path) -> None:
    build, hot = tmp_path / "build", tmp_path / "hot"
    (build / "inner").mkdir(parents=True)
    hot.mkdir()
    for place in (hot / "a.txt", build / "inner" / "b.txt"):
        place.write_text(INFOTEXT)
    (build / "out.txt").symlink_to(hot / "a.txt")
    (build / "outside").symlink_to(hot)
    (build / "within").symlink_to(build / "inner")
    (build / "nowhere").symlink_to(tmp_path / "none")

    found = scan_paths([build])

    assert {each.path[0] for each in found.findings} == {str(build / "inner" / "b.txt")}
    assert {Path(each.path[0]).name: each.why for each in found.unread} == {
        "nowhere": "it is no regular file, or a link to nowhere",
        "out.txt": "it is a link that leads outside of what was named",
        "outside": "it is a link that leads outside of what was named",
    }
    assert scan_paths([build / "out.txt"]).result == "leaks"


def test_what_is_not_there_or_cannot_be_read_is_refused(tmp_path: Path) -> None:
    empty, broken = tmp_path / "empty", tmp_path / "logs"
    empty.mkdir()
    broken.mkdir()
    (broken / "a.json").write_text("{")
    (tmp_path / "list.txt").write_bytes(b"\xff\xfe\xff")
    (tmp_path / "nothing.txt").write_text("\n# a comment\n")

    for refused in (
        lambda: scan_paths([tmp_path / "none"]),
        lambda: scan_paths([empty]),
        lambda: load_known_values([], [broken]),
        lambda: load_known_values([], [tmp_path / "none"]),
        lambda: load_known_values([tmp_path / "none"], []),
        lambda: load_known_values([tmp_path / "list.txt"], []),
        lambda: load_known_values([tmp_path / "nothing.txt"], []),
        lambda: load_known_values([], [empty]),
    ):
        with pytest.raises(LeaksRefused, match="E-LEAKS-001"):
            refused()
    assert scan_paths([empty], empty=True).result == "clean"
