"""A writer that is killed, or that loses its disk or its process, leaves a valid prefix behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from record_samples import write_points

import twice
from twice.errors import OutputExists, OutputUnwritable, RecordTorn
from twice.recorder.record import RecordReader, RecordWriter
from twice.recorder.record import writer as writing

SRC = str(Path(next(iter(twice.__path__))).parent)

WRITE_FOR_EVER = """
    import sys
    from twice.recorder.record import RecordWriter

    writer = RecordWriter.create(sys.argv[1], {"program": "for ever"})
    layout = writer.layout(["swarm"])
    state = bytearray(40960)
    tick = 0
    print("started", flush=True)
    while True:
        mark = tick.to_bytes(16, "little")
        writer.frame("effects", 0, mark, tick=tick)
        writer.point(layout, tick, "tick", mark, mark, mark)
        if tick % 100 == 99:
            state[tick % 40960] ^= 1
            writer.snapshot(tick, str(writer.page_blob("swarm", [state])).encode())
        if tick == int(sys.argv[2]):
            print("there", flush=True)
        tick += 1
"""


def child(code: str, *arguments: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": SRC}
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


@pytest.mark.heavy
def test_a_writer_killed_at_any_moment_leaves_a_prefix_in_order(tmp_path: Path) -> None:
    draw = random.Random(11)
    kept = []
    for moment in range(20):
        path = tmp_path / f"{moment}.twice"
        with child(WRITE_FOR_EVER, path, draw.randrange(1, 20_000)) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
            assert process.stdout.readline() == "there\n"
            process.send_signal(signal.SIGKILL)
        with RecordReader.open(path) as reader:
            assert not reader.complete
            with pytest.raises(RecordTorn):
                reader.check()
            points = list(reader.points.iterate())
            frames = list(reader.frames())
            assert [p.tick for p in points] == list(range(len(points)))
            assert all(p.root == p.tick.to_bytes(16, "little") for p in points)
            assert [f.point for f in frames] == list(range(len(frames)))
            assert len(frames) >= len(points)
            for snapshot in reader.snapshots:
                assert snapshot.point <= len(points)
                blob = reader.blob(int(reader.envelope(snapshot.number)))
                assert sum(blob) == snapshot.tick // 100 + 1
            kept.append(len(points))
    assert max(kept) > 1024


@pytest.mark.integration
def test_what_was_flushed_outlives_the_process(tmp_path: Path) -> None:
    code = """
        import os, signal, sys
        from twice.recorder.record import RecordWriter

        writer = RecordWriter.create(sys.argv[1], {})
        layout = writer.layout([])
        for tick in range(5):
            writer.point(layout, tick, "tick", bytes(16), bytes(16), b"")
        writer.flush()
        writer.point(layout, 5, "tick", bytes(16), bytes(16), b"")
        os.kill(os.getpid(), signal.SIGKILL)
    """
    with child(code, tmp_path / "a.twice") as process:
        process.wait()
    with RecordReader.open(tmp_path / "a.twice") as reader:
        assert len(reader.points) == 5


FULL_DISK = """
    import resource, signal, sys
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    from twice.errors import OutputUnwritable
    from twice.recorder.record import RecordWriter

    writer = RecordWriter.create(sys.argv[1], {})
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
    layout = writer.layout(["swarm"])
    raised = 0
    for tick in range(5000):
        mark = tick.to_bytes(16, "little")
        try:
            writer.frame("effects", 0, mark * 10, tick=tick)
            writer.point(layout, tick, "tick", mark, mark, mark)
        except OutputUnwritable:
            raised += 1
    writer.close({"how": "returned"})
    print(raised, type(writer.failure).__name__)
"""


@pytest.mark.integration
@pytest.mark.parametrize("limit", [5_000, 60_000, 100_001, 150_000])
def test_a_full_disk_is_said_once_and_keeps_what_was_sealed(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "a.twice"
    with child(FULL_DISK, path, limit) as process:
        out, _ = process.communicate()
    assert out == "1 OutputUnwritable\n"
    assert path.stat().st_size <= limit
    with RecordReader.open(path) as reader:
        assert reader.tear is not None
        assert reader.tear.offset == path.stat().st_size, "the block that did not fit is cut off"
        assert [p.tick for p in reader.points.iterate()] == list(range(reader.tear.points))


FULL_OF_PAGES = """
    import os, resource, signal, sys
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    from twice.errors import OutputUnwritable
    from twice.recorder.record import RecordWriter

    writer = RecordWriter.create(sys.argv[1], {})
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    layout = writer.layout(["swarm"])
    try:
        for tick in range(8):
            mark = tick.to_bytes(16, "little")
            writer.frame("effects", 0, mark, tick=tick)
            writer.point(layout, tick, "tick", mark, mark, mark)
            blob = writer.page_blob("swarm", [os.urandom(10_000 if tick < 7 else 900_000)])
            writer.snapshot(tick, str(blob).encode())
    except OutputUnwritable as error:
        print(type(error).__name__)
"""


@pytest.mark.integration
def test_a_disk_that_pages_fill_keeps_the_points_before_them(tmp_path: Path) -> None:
    path = tmp_path / "a.twice"
    with child(FULL_OF_PAGES, path) as process:
        out, _ = process.communicate()
    assert out == "OutputUnwritable\n"
    with RecordReader.open(path) as reader:
        assert [point.tick for point in reader.points.iterate()] == list(range(8))
        assert [frame.tick for frame in reader.frames()] == list(range(8))
        assert [len(reader.blob(number)) for number in range(len(reader.blobs))] == [10_000] * 7


def test_a_device_that_is_full_is_said_at_flush_and_not_again(tmp_path: Path) -> None:
    writer = RecordWriter.create(tmp_path / "a.twice", {})
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, writer._blocks._descriptor)
    writer._blocks._identity = writer._blocks._identify()
    os.close(full)
    write_points(writer, [b"a", b"b"])
    with pytest.raises(OutputUnwritable) as caught:
        writer.flush()
    assert "No space left" in str(caught.value)
    assert writer.failure is caught.value
    writer.flush()
    write_points(writer, [b"c"] * 3000)
    writer.close({})


def test_a_descriptor_that_the_program_reused_is_never_written_to(tmp_path: Path) -> None:
    writer = RecordWriter.create(tmp_path / "a.twice", {})
    other = os.open(tmp_path / "precious", os.O_WRONLY | os.O_CREAT)
    os.dup2(other, writer._blocks._descriptor)
    write_points(writer, [b"a"])
    with pytest.raises(OutputUnwritable, match="closed the descriptor"):
        writer.flush()
    writer.close({})
    os.write(other, b"mine")
    os.close(other)
    assert (tmp_path / "precious").read_bytes() == b"mine"


@pytest.mark.integration
def test_a_forked_child_writes_nothing_whatever_it_calls(tmp_path: Path) -> None:
    code = """
        import os, sys
        from twice.recorder.record import RecordWriter

        writer = RecordWriter.create(sys.argv[1], {})
        layout = writer.layout([])
        for tick in range(10):
            writer.point(layout, tick, "tick", bytes(16), bytes(16), b"")
        for how in ("abandon", "flush", "close"):
            child = os.fork()
            if child == 0:
                for tick in range(2000):
                    writer.point(layout, tick, "child", bytes(16), bytes(16), b"")
                writer.close({"how": "child"}) if how == "close" else getattr(writer, how)()
                sys.exit(0)
            os.waitpid(child, 0)
        writer.close({"how": "parent"})
    """
    with child(code, tmp_path / "a.twice") as process:
        assert process.wait() == 0
    with RecordReader.open(tmp_path / "a.twice") as reader:
        reader.check()
        assert reader.ending == {"how": "parent"}
        assert [p.name for p in reader.points.iterate()] == ["tick"] * 10


def test_an_abandoned_record_holds_what_was_sealed_before(tmp_path: Path) -> None:
    writer = RecordWriter.create(tmp_path / "a.twice", {})
    write_points(writer, [b"a"] * 1024)
    write_points(writer, [b"b"] * 10)
    writer.abandon()
    writer.abandon()
    with RecordReader.open(tmp_path / "a.twice") as reader:
        assert len(reader.points) == 1024


def test_an_output_that_exists_is_not_replaced_unless_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.twice"
    RecordWriter.create(path, {"n": 1}).close({})
    with pytest.raises(OutputExists, match="exists already"):
        RecordWriter.create(path, {"n": 2})
    with RecordReader.open(path) as old:
        RecordWriter.create(path, {"n": 2}, force=True).close({})
        old.check()
        assert old.identity == {"n": 1}
    with RecordReader.open(path) as new:
        assert new.identity == {"n": 2}


def test_a_path_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "no" / "a.twice", Path("/proc/a.twice"), tmp_path / "a\0b"):
        with pytest.raises(OutputUnwritable):
            RecordWriter.create(path, {})
    for path in (tmp_path / "folder", Path("/dev/full")):
        with pytest.raises(OutputUnwritable, match="not a regular file"):
            RecordWriter.create(path, {}, force=True)
    assert (tmp_path / "folder").is_dir()


def test_waiting_entries_are_sealed_when_half_a_second_has_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(writing, "_monotonic", lambda: now[0])
    writer = RecordWriter.create(tmp_path / "a.twice", {})
    points = []
    for seconds in (0.0, 0.4, 0.6, 0.7, 1.2):
        now[0] = 100.0 + seconds
        write_points(writer, [b"x"])
        with RecordReader.open(tmp_path / "a.twice") as reader:
            points.append(len(reader.points))
    writer.abandon()
    assert points == [0, 0, 3, 3, 5]
