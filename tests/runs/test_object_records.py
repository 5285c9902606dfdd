"""Records in an object store, read in this process from a folder behind the library that reads stores."""

from __future__ import annotations

import json
import pickle
import shutil
import sys
from pathlib import Path

import pytest
from object_stores import use_folder

import twice
from programs import call
from twice.errors import ExtraMissing, RecordTorn, RecordUnreadable, UsageError
from twice.foundation.record_url import RecordUrl, to_path
from twice.recorder.record import RecordReader, object_store
from twice.recorder.record.layout import MAGIC
from twice.recorder.record.object_store import PART_BYTES, ObjectBytes, write_object

pytest.importorskip("obstore")
GOLDEN = Path(__file__).parents[1] / "golden" / "session" / "run-session-2.twice"


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the folder that is the bucket ``runs``."""
    use_folder(monkeypatch, tmp_path)
    folder = tmp_path / "runs" / "of may"
    folder.mkdir(parents=True)
    return folder


def test_a_url_is_a_path_that_keeps_its_form() -> None:
    url = to_path("s3://runs/of may/a.twice")

    assert isinstance(url, RecordUrl)
    assert str(url) == "s3://runs/of may/a.twice"
    assert str(url.with_name("b.json")) == "s3://runs/of may/b.json"
    assert str(url.absolute().parent) == "s3://runs/of may"
    assert to_path(Path("s3://runs/a.twice")) == to_path("s3://runs/a.twice")
    assert str(pickle.loads(pickle.dumps(url))) == str(url)
    assert to_path("file:///tmp/a%20b.twice") == Path("/tmp/a b.twice")
    assert not isinstance(to_path("runs/a.twice"), RecordUrl)


@pytest.mark.parametrize(
    "url", ["s3://", "s3://key:planted@runs/a.twice", "az://runs/a?sig=planted"]
)
def test_a_url_without_a_bucket_or_with_credentials_is_refused_unquoted(url: str) -> None:
    with pytest.raises(UsageError) as refused:
        to_path(url)

    assert "planted" not in f"{refused.value} {refused.value.__dict__}"


def test_any_slice_of_an_object_is_that_of_its_bytes(bucket: Path) -> None:
    content = bytes(range(251)) * (40 * PART_BYTES // 251)
    (bucket / "a").write_bytes(content)
    found = ObjectBytes(RecordUrl("s3://runs/of may/a"))
    edges = [0, 1, PART_BYTES - 1, PART_BYTES, 3 * PART_BYTES + 7, 30 * PART_BYTES, len(content)]

    assert len(found) == len(content)
    for begin in edges:
        for end in edges:
            assert found[begin:end] == content[begin:end]


def test_an_object_that_is_read_in_order_takes_few_requests(
    bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import obstore

    (bucket / "a").write_bytes(bytes(64 * PART_BYTES))
    requests: list[object] = []
    get = obstore.get
    monkeypatch.setattr(
        obstore, "get", lambda *given, **options: requests.append(given) or get(*given, **options)
    )

    found = ObjectBytes(RecordUrl("s3://runs/of may/a"))
    for begin in range(0, len(found), 1000):
        assert len(found[begin : begin + 1000])

    assert len(requests) <= 9


def test_an_object_that_is_replaced_while_it_is_read_is_noticed(bucket: Path) -> None:
    (bucket / "a").write_bytes(bytes(9 * PART_BYTES))
    found = ObjectBytes(RecordUrl("s3://runs/of may/a"))
    (bucket / "a").unlink()
    (bucket / "a").write_bytes(b"another one" * PART_BYTES)

    with pytest.raises(RecordUnreadable, match="replaced"):
        found[8 * PART_BYTES :]


def test_commands_say_of_an_object_what_they_say_of_the_file(bucket: Path, tmp_path: Path) -> None:
    shutil.copy(GOLDEN, bucket / "a.twice")
    url, folder = "s3://runs/of may/a.twice", "s3://runs/of may"
    for words in (["show"], ["show", "--json"], ["show", "--tick", "0"], ["ls", "--json"]):
        names = (bucket, folder) if words[0] == "ls" else (bucket / "a.twice", url)
        here, there = (call(*words, name, cwd=tmp_path) for name in names)

        assert (there.returncode, here.returncode) == (0, 0)
        assert there.stdout == here.stdout.replace(str(bucket), folder)
    with twice.open(url) as record:
        assert str(record.path) == url
        record.reader.check()
        assert record.reader.fetch().read_bytes() == GOLDEN.read_bytes()
        record.reader.check()
    assert (
        call("export", url, "--format", "jsonl", "-o", "lines.jsonl", cwd=tmp_path).returncode == 0
    )
    assert json.loads((tmp_path / "lines.jsonl").read_text().splitlines()[0])["type"] == "record"
    assert call("diagnose", url, url, "--no-lines", cwd=tmp_path).returncode == 0


def test_a_folder_of_a_store_without_records_is_no_pass(bucket: Path, tmp_path: Path) -> None:
    (bucket / "notes.txt").write_text("no record")

    done = call("verify", "s3://runs/of may", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert "has no run record in it" in done.stderr


def test_the_copy_of_an_object_goes_with_its_record(bucket: Path) -> None:
    shutil.copy(GOLDEN, bucket / "a.twice")

    with RecordReader.open("s3://runs/of may/a.twice") as reader:
        copy = reader.fetch()
        assert copy == reader.fetch()
        assert copy.stat().st_mode & 0o077 == 0 or copy.parent.stat().st_mode & 0o077 == 0
    assert not copy.exists()


def test_a_name_that_was_taken_and_never_filled_reads_as_torn(bucket: Path) -> None:
    url = RecordUrl("s3://runs/of may/a.twice")
    write_object(url, MAGIC, replace=False)

    with pytest.raises(FileExistsError):
        write_object(url, MAGIC, replace=False)
    with pytest.raises(RecordTorn, match="8 bytes"):
        RecordReader.open(url)


def test_what_is_not_there_is_said_with_its_url(bucket: Path, tmp_path: Path) -> None:
    done = call("show", "s3://runs/nowhere/a.twice", cwd=tmp_path)

    assert done.returncode == 2
    assert "E-RECORD-005  s3://runs/nowhere/a.twice cannot be read: " in done.stderr


def test_without_the_extra_the_command_that_installs_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    monkeypatch.setitem(sys.modules, "obstore.exceptions", None)

    with pytest.raises(ExtraMissing, match=r"twice\[cloud\]"):
        RecordReader.open("s3://runs/a.twice")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("status code: 404 Not Found: <Code>NoSuchBucket</Code>", "there is no such bucket"),
        ("status code: 404 Not Found: <Code>NoSuchKey</Code>", "there is no such object"),
        ("status code: 400 Bad: <Code>ExpiredToken</Code> planted", "the credentials have expired"),
        ("status code: 503 <Code>SlowDown</Code>", "the store throttles, also after some retries"),
        (
            "status code: 500 <Code>InternalError</Code> planted",
            "the store answered 500 InternalError",
        ),
        ("error sending request for url (https://planted)", "the store cannot be reached"),
        ("GET http://169.254.169.254/latest failed", "there are no credentials"),
    ],
)
def test_the_answer_of_a_store_is_told_by_its_codes_alone(answer: str, reason: str) -> None:
    assert object_store._find_reason(Exception(answer)) == reason
