"""A store over HTTP: records that are uploaded while they are made, executed from there, and refusals of the server."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from object_stores import CREDENTIALS, ask, serve_s3

from programs import call, cli, write
from twice.errors import OutputExists, OutputUnwritable, RecordUnreadable
from twice.foundation.record_url import RecordUrl, to_path
from twice.recorder.record import RecordReader, object_store
from twice.recorder.record.layout import MAGIC
from twice.recorder.record.object_store import ObjectBytes, list_objects, write_object
from twice.runs.upload import upload_record

pytest.importorskip("obstore")
pytest.importorskip("moto")
pytestmark = pytest.mark.integration

PROGRAM = """
def main(run):
    walk = run.track("walk", Walk(run.rng("walk")))
    for tick in run.ticks(20):
        walk.step(0.5)
"""


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with serve_s3(monkeypatch, "runs") as address:
        yield address


def url(name: str = "a.twice") -> RecordUrl:
    found = to_path(f"s3://runs/may/{name}")
    assert isinstance(found, RecordUrl)
    return found


def test_a_record_is_made_verified_and_compared_in_the_store(store: str, tmp_path: Path) -> None:
    program = write(tmp_path, PROGRAM, walk=True)
    for name in ("a", "b"):
        done = cli(
            "record", program, "--seed", 3, "-o", url(f"{name}.twice"), "--json", cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["record"] == f"s3://runs/may/{name}.twice"

    verified = cli("verify", url(), "--json", cwd=tmp_path)
    compared = cli("diagnose", url(), url("b.twice"), "--json", cwd=tmp_path)
    several = cli("verify", "s3://runs/may", "--no-statement", "--json", cwd=tmp_path)
    state = cli("replay", url(), "--at", 3, "--json", cwd=tmp_path)

    told = json.loads(verified.stdout)
    assert (told["result"], told["record"]) == ("PASS", "s3://runs/may/a.twice")
    assert json.loads(compared.stdout)["result"] == "same"
    assert json.loads(several.stdout)["counts"] == {"PASS": 2}
    assert state.returncode == 0
    names = sorted(list_objects(RecordUrl("s3://runs/may")))
    assert names == [
        "a.twice", "a.twice.verification-1.json", "a.twice.verification-1.md", "b.twice",
    ]  # fmt: skip
    assert [each.name for each in tmp_path.glob("*.twice")] == []


def test_no_credential_is_in_a_record_or_in_what_is_printed(store: str, tmp_path: Path) -> None:
    program = write(tmp_path, PROGRAM, walk=True)

    done = cli("record", program, "--seed", 3, "-o", url(), cwd=tmp_path)
    shown = cli("show", url(), "--json", cwd=tmp_path)
    secrets = "\n".join(value for name, value in CREDENTIALS.items() if "planted" in value)
    searched = cli("show", url(), "--secrets", "-", cwd=tmp_path, input=secrets)

    assert done.returncode == 0
    assert searched.returncode == 0, searched.stdout
    assert "planted" not in done.stdout + done.stderr + shown.stdout + searched.stdout


def test_a_file_is_sent_in_parts_while_it_grows(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    piece = bytes(range(256)) * (12 << 12)

    with upload_record(url()) as local:
        with local.open("wb") as file:
            file.write(MAGIC + piece)
            file.flush()
            while b"<UploadId>" not in ask(f"{store}/runs?uploads"):
                assert local.exists()
            assert bytes(ObjectBytes(url())[:]) == MAGIC
            file.write(piece)

    assert bytes(ObjectBytes(url())[:]) == MAGIC + piece + piece
    assert not local.exists()
    assert b"<UploadId>" not in ask(f"{store}/runs?uploads")


def test_a_file_that_was_made_anew_is_sent_anew(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with upload_record(url()) as local:
        local.write_bytes(MAGIC + bytes(9 << 20))
        (tmp_path / "other").write_bytes(MAGIC + b"with a caveat")
        (tmp_path / "other").replace(local)

    assert bytes(ObjectBytes(url())[:]) == MAGIC + b"with a caveat"


def test_a_name_is_given_to_one_writer_and_again_if_nothing_came_of_it(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with contextlib.suppress(KeyError), upload_record(url()):
        with pytest.raises(OutputExists), upload_record(url()):
            pytest.fail("two writers have one name")
        raise KeyError

    with upload_record(url()) as local:
        local.write_bytes(MAGIC + b"first")
    with upload_record(url(), force=True) as local:
        assert bytes(ObjectBytes(url())[:]) == MAGIC + b"first"
        local.write_bytes(MAGIC + b"second")
    assert bytes(ObjectBytes(url())[:]) == MAGIC + b"second"

    write_object(url("notes.txt"), b"no record", replace=False)
    with (
        pytest.raises(OutputExists, match="no run record"),
        upload_record(url("notes.txt"), force=True),
    ):
        pytest.fail("what is no record is replaced")


def test_a_bucket_that_is_not_there_is_said_before_the_program_runs(
    store: str, tmp_path: Path
) -> None:
    program = write(tmp_path, "def main(run):\n    open('ran', 'w').close()\n")

    done = call("record", program, "--seed", 1, "-o", "s3://elsewhere/a.twice", cwd=tmp_path)

    assert done.returncode == 2
    assert "s3://elsewhere/a.twice cannot be written: there is no such bucket." in done.stderr
    assert not (tmp_path / "ran").exists()


class Refusing(BaseHTTPRequestHandler):
    """Answers everything with the status and the code of its server."""

    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, RefusingServer)
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        server.count += 1
        body = f"<Error><Code>{server.code}</Code><Message>planted {self.path}</Message></Error>"
        self.send_response(server.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    do_PUT = do_POST = do_DELETE = do_GET

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class RefusingServer(ThreadingHTTPServer):
    """A store that refuses."""

    status, code, count = 503, "SlowDown", 0


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Iterator[RefusingServer]:
    with RefusingServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL": address}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(object_store, "_RETRIES", 2)
        object_store._open_store.cache_clear()
        yield server
        object_store._open_store.cache_clear()
        server.shutdown()


@pytest.mark.parametrize(
    ("status", "code", "reason", "attempts"),
    [
        (503, "SlowDown", "the store throttles, also after some retries", 3),
        (400, "ExpiredToken", "the credentials have expired", 1),
        (403, "AccessDenied", "the store does not allow it with these credentials", 1),
    ],
)
def test_what_a_store_refuses_is_one_error(
    refusing: RefusingServer, status: int, code: str, reason: str, attempts: int
) -> None:
    refusing.status, refusing.code = status, code

    with pytest.raises(RecordUnreadable) as refused:
        RecordReader.open(url())

    assert refused.value.happened == f"{url()} cannot be read: {reason}."
    assert "planted" not in str(refused.value)
    assert refusing.count == attempts


def test_nobody_listening_is_one_error(refusing: RefusingServer) -> None:
    refusing.shutdown()
    refusing.socket.close()

    with pytest.raises(RecordUnreadable, match="the store cannot be reached"):
        RecordReader.open(url())


def test_a_store_that_fails_at_the_end_leaves_the_file(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def record_into_the_void() -> None:
        with upload_record(url()) as local:
            local.write_bytes(MAGIC + b"of a run")
            ask(f"{store}/moto-api/reset", "POST")

    with pytest.raises(OutputUnwritable, match="no such bucket") as refused:
        record_into_the_void()

    (local,) = tmp_path.glob("*.twice")
    assert str(local) in refused.value.happened
    assert local.read_bytes() == MAGIC + b"of a run"
