"""What twice says, and leaves alone, on every kind of host: each tier there, refused by the kernel, or left out."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from limited_host import (
    CAPABILITIES,
    LANDLOCK,
    LISTENER,
    MOUNTS,
    NAMESPACES,
    OVERLAYS,
    SECCOMP,
    USER_NAMESPACES,
    can_limit,
    folder_for,
    run_limited,
)
from namespace_probes import list_missing
from programs import environ
from static_program import write_static_program
from tiers import sampled
from twice.recorder.kernel.confinement import TIERS
from twice.recorder.runrecord import RunRecord

MISSING = [can_limit(), *list_missing()]
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(any(MISSING), reason="; ".join(filter(None, MISSING))),
]

needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root becomes another user, or loses what a container takes"
)
USER, OVERFLOW_USER = 54_321, 65_534
ALLOWED = ("native.load", "files.sqlite3", "process.fork")
"""What the program does natively, but for ``files.native``: without a supervisor it needs a name to be replayed."""
OUTPUTS = ("out", "runs.db", "by-shell", "by-process", "by-python")

C = """
import ctypes, multiprocessing, os, sqlite3, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
LIBC = ctypes.CDLL(None, use_errno=True)


def c_path(name):
    return os.fsencode(os.path.join(HERE, name))


def c_write(name, data):
    descriptor = LIBC.open(c_path(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    if descriptor >= 0:
        LIBC.write(descriptor, data, len(data))
        LIBC.close(descriptor)


def c_read(name):
    descriptor = LIBC.open(c_path(name), os.O_RDONLY)
    held = ctypes.create_string_buffer(64)
    size = LIBC.read(descriptor, held, 64)
    LIBC.close(descriptor)
    return held.raw[: max(size, 0)]
"""
PROGRAM = f"""{C}

def main(run):
    run.compare("input", c_read("in"))
    with open(os.path.join(HERE, "by-python"), "w") as file:
        file.write("python")
    c_write("out", b"result")
    table = sqlite3.connect(os.path.join(HERE, "runs.db"))
    table.execute("create table if not exists runs (number integer)")
    table.execute("insert into runs values (1)")
    table.commit()
    run.compare("runs", table.execute("select count(*) from runs").fetchone()[0])
    table.close()
    subprocess.run(["sh", "-c", "echo shell > by-shell"], cwd=HERE)
    child = multiprocessing.get_context("fork").Process(target=c_write, args=("by-process", b"process"))
    child.start()
    child.join()
    run.compare("left", [c_read("by-shell"), c_read("by-process")])
"""
QUIET = f"""{C}

def main(run):
    c_write("out", b"result")
    print("done")
"""
"""Does not look at whether its one native write was made: ``cv2.imwrite`` does not either."""
PURE = """
def main(run):
    print("done")
"""

IN_COPY = "the replay ran in a copy of the files as they were"
COMPARED = "that it wrote"
UNSEEN = "what other code than Python did to files was not seen while recording"
REFUSED = "writes of other code are refused"
UNGOVERNED = "files that other code reads and writes are not"
NUMBER_GIVEN = "the process id was given again"
CUT_OFF = "the replay ran in a network namespace of its own, without a network"
NOT_CUT_OFF = "this system gives no network namespace"


@dataclass(frozen=True)
class Replay:
    """What a verification said.

    Attributes:
        exit_code: of the command.
        document: its JSON; empty where nothing was executed.
        errors: the error, or what it printed to standard error.
    """

    exit_code: int
    document: Mapping[str, Any]
    errors: str

    @property
    def result(self) -> str:
        return str(self.document.get("result", ""))

    @property
    def seal(self) -> str:
        return str(self.document["effects"]["seal"])

    @property
    def tier(self) -> str:
        return str(self.document["effects"]["governed"]["files"])

    @property
    def caveats(self) -> list[str]:
        return list(self.document["caveats"])

    def __str__(self) -> str:
        if not self.document:
            return f"{self.exit_code}: {self.errors}"
        said = [*self.caveats, f"first difference: {self.document['first_failure']}"]
        return "\n".join([f"{self.exit_code} {self.result} {self.tier}", self.seal, *said])

    def assert_unknown(self, tier: str) -> None:
        assert (self.result, self.exit_code, self.tier) == ("UNKNOWN", 2, tier), str(self)

    def assert_passed(self) -> None:
        assert (self.result, self.exit_code, self.tier) == ("PASS", 0, "world"), str(self)
        assert IN_COPY in self.seal
        assert COMPARED in self.seal

    def assert_refused(self, reason: str) -> None:
        """Nothing is judged: other code wanted to write, and a reader learns what, and why it could not."""
        self.assert_unknown("refusal")
        assert f"{REFUSED} ({reason})" in self.seal
        named = [caveat for caveat in self.caveats if caveat.startswith("not judged: ")]
        assert any("wants to write out (" in caveat for caveat in named), named
        assert all(caveat.endswith(f"({reason})") for caveat in named), named

    def assert_not_executed(self) -> None:
        """Nothing here would keep the files, so nothing of the program runs."""
        assert "E-FILE-002" in self.errors, str(self)
        assert (self.exit_code, self.document) == (2, {})

    def assert_unseen(self) -> None:
        """Assert that the recording does not know the files of other code: no pass, and no comparison."""
        self.assert_unknown("listing")
        assert any("files.native: " in caveat for caveat in self.caveats), self.caveats
        assert "compared" not in self.seal


@dataclass(frozen=True)
class Site:
    """A folder with a program, its record, and nothing else but what the program wrote.

    Attributes:
        folder: with the program in it.
        scratch: for temporary files, of the user of the tests and open to everyone.
        user: who owns the folder, and runs twice; None for the user of the tests.
    """

    folder: Path
    scratch: Path
    user: int | None = None

    @property
    def path(self) -> Path:
        return self.folder / "a.twice"

    def record(
        self,
        source: str = PROGRAM,
        *,
        limits: tuple[str, ...] = (),
        without: str = "",
        allow: tuple[str, ...] = (),
        options: tuple[str, ...] = (),
    ) -> str:
        """Record a program; return what the command said to standard error."""
        self.add("program.py", source.encode())
        self.add("in", b"input")
        allowed = [word for name in allow for word in ("--allow", name)]
        command = (
            "record",
            "program.py:main",
            "--seed",
            "1",
            "--out",
            "a.twice",
            *allowed,
            *options,
        )
        done = self.twice(*command, limits=limits, without=without)
        assert done.returncode == 0, done.stderr
        assert os.listdir(self.scratch) == []
        return done.stderr

    def verify(
        self, *, limits: tuple[str, ...] = (), without: str = "", is_pure: bool = False
    ) -> Replay:
        """Verify the record; nothing of the tree may change.

        Whatever the host, what is said of a comparison and of a copy is true, nothing is left in the
        folder for temporary files, and no traceback is shown.

        Args:
            limits: of the host.
            without: tiers that are left out by name.
            is_pure: whether the program writes by Python alone, so that it may pass without a world.
        """
        before = self.tree()
        done = self.twice(
            "verify", "a.twice", "--no-statement", "--json", limits=limits, without=without
        )
        document = json.loads(done.stdout) if done.stdout else {}
        said = " ".join(map(str, document.pop("error", {}).values()))
        replay = Replay(done.returncode, document, said + done.stderr)
        now = self.tree()
        touched = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
        assert touched == [], f"touched {touched} and said {replay}"
        assert os.listdir(self.scratch) == []
        assert "Traceback" not in done.stdout + done.stderr, str(replay)
        if replay.document:
            is_judged = self.recorded_tier() == "supervisor" and replay.tier == "world"
            assert is_judged or "compared" not in replay.seal, str(replay)
            assert is_judged or is_pure or replay.result != "PASS", str(replay)
        return replay

    def change_outputs(self) -> None:
        """Do what a person does between a recording and its verification."""
        for name in OUTPUTS:
            self.add(name, b"precious")
        (self.folder / "by-process").unlink()
        shutil.rmtree(self.folder / "__pycache__", ignore_errors=True)

    def add(self, name: str, data: bytes) -> None:
        path = self.folder / name
        path.write_bytes(data)
        if self.user is not None:
            os.chown(path, self.user, self.user)

    def twice(
        self, *arguments: object, limits: tuple[str, ...], without: str
    ) -> subprocess.CompletedProcess[str]:
        return run_limited(
            [sys.executable, "-m", "twice", *arguments],
            *limits,
            user=self.user,
            cwd=self.folder,
            environ=environ(
                {
                    "TWICE_WITHOUT": without,
                    "TMPDIR": str(self.scratch),
                    "HOME": str(self.folder.parent),
                    "XDG_CACHE_HOME": None,
                }
            ),
        )

    def recorded_tier(self) -> str:
        with RunRecord.open(self.path) as record:
            return record.native_files().tier

    def tree(self) -> dict[str, object]:
        found: dict[str, object] = {}
        for path in sorted(self.folder.rglob("*")):
            status = path.lstat()
            content = path.read_bytes() if path.is_file() else b""
            found[str(path.relative_to(self.folder))] = (
                status.st_mode, status.st_uid, status.st_ino, status.st_mtime_ns, content,
            )  # fmt: skip
        return found


MakeSite = Callable[..., Site]


@pytest.fixture
def site_of() -> Iterator[MakeSite]:
    """Make sites in folders that their users can reach; pytest's own are for one user alone."""
    made: list[Path] = []

    def make(user: int | None = None) -> Site:
        base = folder_for(user)
        made.append(base)
        site = Site(base / "work", base / "scratch", user)
        site.folder.mkdir()
        site.scratch.mkdir()
        site.scratch.chmod(0o1777)  # as everyone's folder for temporary files is
        if user is not None:
            os.chown(site.folder, user, user)
        return site

    yield make
    for base in made:
        shutil.rmtree(base)


@pytest.fixture
def site(site_of: MakeSite) -> Site:
    return site_of()


# Every tier there


def test_with_every_tier_a_run_of_native_code_passes_and_says_what_held(site: Site) -> None:
    site.record()
    site.change_outputs()

    replay = site.verify()

    replay.assert_passed()
    assert NUMBER_GIVEN in replay.seal
    assert CUT_OFF in replay.seal
    assert replay.document["effects"]["governed"] == {
        "files": "world", "processes": "number", "connections": "namespace",
    }  # fmt: skip
    assert replay.document["effects"]["files"]["written"] >= len(OUTPUTS) - 1


@pytest.mark.heavy
def test_without_limits_it_passes_again_and_again(site: Site) -> None:
    site.record()
    site.change_outputs()

    assert [site.verify().result for _ in range(2)] == ["PASS", "PASS"]


@needs_root
@pytest.mark.parametrize("user", sampled([USER, OVERFLOW_USER], {str(USER)}))
def test_an_ordinary_user_has_every_tier(site_of: MakeSite, user: int) -> None:
    site = site_of(user)
    site.record()
    site.change_outputs()

    replay = site.verify()

    replay.assert_passed()
    assert NUMBER_GIVEN in replay.seal
    assert CUT_OFF in replay.seal


@needs_root
@pytest.mark.parametrize("user", sampled([None, USER], {str(USER)}))
def test_an_input_of_native_code_that_changed_is_named_for_every_user(
    site_of: MakeSite, user: int | None
) -> None:
    site = site_of(user)
    site.record(f"{C}\ndef main(run):\n    c_read('in')\n")
    site.add("in", b"another")

    replay = site.verify()

    assert (replay.result, replay.exit_code) == ("FAIL", 1)
    assert replay.document["effects"]["files"]["differing"] == ["in"]


# Namespaces refused by the kernel


@pytest.mark.parametrize(
    ("limits", "reason", "user"),
    [
        pytest.param((NAMESPACES,), "unshare: Operation not permitted", None, id="filter"),
        pytest.param(
            (NAMESPACES, CAPABILITIES), "unshare: Operation not permitted", None,
            id="container", marks=[needs_root, pytest.mark.heavy],
        ),
        pytest.param(
            (NAMESPACES,), "unshare: Operation not permitted", USER, id="user-in-container",
            marks=[needs_root, pytest.mark.heavy],
        ),
        pytest.param(
            (USER_NAMESPACES,), "unshare: No space left on device", USER, id="user-without-namespaces",
            marks=[needs_root, pytest.mark.heavy],
        ),
        pytest.param(
            (MOUNTS,), "mount: Permission denied", USER, id="user-without-mounts", marks=needs_root
        ),
        pytest.param((MOUNTS,), "mount: Permission denied", None, id="without-mounts", marks=pytest.mark.heavy),
    ],
)  # fmt: skip
@pytest.mark.sample(1)
def test_where_the_kernel_refuses_namespaces_writes_are_refused_and_named(
    site_of: MakeSite, limits: tuple[str, ...], reason: str, user: int | None
) -> None:
    site = site_of(user)
    site.record(allow=ALLOWED, limits=limits)
    assert site.recorded_tier() == "supervisor"
    site.change_outputs()

    replay = site.verify(limits=limits)

    replay.assert_refused(f"no namespace: {reason}")
    assert NUMBER_GIVEN not in replay.seal


def test_without_namespaces_a_silent_native_write_is_never_a_pass(site: Site) -> None:
    site.record(QUIET, allow=("native.load",))
    site.change_outputs()

    site.verify(limits=(NAMESPACES,)).assert_refused(
        "no namespace: unshare: Operation not permitted"
    )


@pytest.mark.heavy
def test_without_namespaces_and_landlock_the_listener_refuses_alone(site: Site) -> None:
    site.record(QUIET, allow=("native.load",))
    site.change_outputs()

    site.verify(limits=(NAMESPACES, LANDLOCK)).assert_refused(
        "no namespace: unshare: Operation not permitted; "
        "without Landlock, threads that exchange a path are not held"
    )


@pytest.mark.heavy
def test_without_namespaces_a_run_of_python_alone_is_not_said_to_write_other_files(
    site: Site,
) -> None:
    site.record(PURE)

    replay = site.verify(limits=(NAMESPACES,), is_pure=True)

    assert [caveat for caveat in replay.caveats if "wants to write" in caveat] == []


@pytest.mark.heavy
def test_what_only_this_host_refuses_is_no_failure_of_the_run(site: Site) -> None:
    site.record(QUIET)
    site.change_outputs()

    replay = site.verify(limits=(NAMESPACES,))

    assert (replay.result, replay.exit_code) == ("UNKNOWN", 2), str(replay)
    reasons = [text for text in replay.caveats if text.startswith(("not judged: ", "no pass"))]
    assert any("native.load" in text or " out (" in text for text in reasons), str(replay)


@pytest.mark.parametrize(
    "user", [None, pytest.param(USER, marks=[needs_root, pytest.mark.heavy])], ids=["own", "user"]
)
@pytest.mark.heavy
def test_where_the_kernel_has_no_overlays_nothing_is_said_to_be_a_copy(
    site_of: MakeSite, user: int | None
) -> None:
    site = site_of(user)
    site.record(QUIET, allow=("native.load",))
    site.change_outputs()

    replay = site.verify(limits=(OVERLAYS,))

    assert replay.exit_code == 2, str(replay)
    if replay.document:
        assert replay.result == "UNKNOWN"
        assert IN_COPY not in replay.seal


# A listener that is there already


@pytest.mark.heavy
def test_under_another_supervisor_a_recording_falls_to_a_listing_and_says_so(site: Site) -> None:
    said = site.record(allow=ALLOWED, limits=(LISTENER,))

    with RunRecord.open(site.path) as record:
        assert record.native_files().tier == "listing"
        assert record.ending is not None
        stated = record.ending["native_files"]
    assert stated["refused"] == "no listener for system calls: Device or resource busy"
    native = next(line for line in said.splitlines() if "files.native: " in line)
    assert all(f"/{name}" in native for name in OUTPUTS if name != "by-python")
    assert "/by-python" not in native


@needs_root
@pytest.mark.heavy
def test_under_another_supervisor_an_ordinary_user_s_recording_falls_to_a_listing(
    site_of: MakeSite,
) -> None:
    site = site_of(USER)

    assert "files.native: " in site.record(allow=ALLOWED, limits=(LISTENER,))
    assert site.recorded_tier() == "listing"
    site.change_outputs()
    site.verify().assert_unseen()


@pytest.mark.parametrize(
    "source", [pytest.param(PROGRAM, marks=pytest.mark.heavy), QUIET], ids=["program", "quiet"]
)
@pytest.mark.parametrize(
    "limits",
    [
        pytest.param((), id="all", marks=pytest.mark.heavy),
        pytest.param((LISTENER,), id="busy"),
        pytest.param((NAMESPACES,), id="container", marks=pytest.mark.heavy),
    ],
)
@pytest.mark.heavy
def test_a_recording_by_listing_never_passes_by_its_native_outputs(
    site: Site, limits: tuple[str, ...], source: str
) -> None:
    site.record(source, allow=ALLOWED, limits=(LISTENER,))
    site.change_outputs()

    replay = site.verify(limits=limits)

    assert (replay.result, replay.exit_code) == ("UNKNOWN", 2), str(replay)
    assert "compared" not in replay.seal
    if limits == (NAMESPACES,):
        assert REFUSED in replay.seal
    else:
        replay.assert_unseen()
        assert UNSEEN in replay.seal


@pytest.mark.heavy
def test_a_recording_by_listing_is_not_said_to_be_replayed_among_the_files_as_they_were(
    site: Site,
) -> None:
    site.record(QUIET, allow=ALLOWED, limits=(LISTENER,))
    site.change_outputs()

    assert IN_COPY not in site.verify().seal  # nobody knows how they were: it is a copy as they are


@pytest.mark.heavy
def test_a_replay_in_a_world_needs_no_listener(site: Site) -> None:
    site.record()
    site.change_outputs()

    site.verify(limits=(LISTENER,)).assert_passed()


UNPROTECTED = [
    (NAMESPACES, LISTENER),
    pytest.param((NAMESPACES, SECCOMP), marks=pytest.mark.heavy),
    pytest.param((NAMESPACES, SECCOMP, LANDLOCK), marks=pytest.mark.heavy),
    pytest.param(
        (NAMESPACES, CAPABILITIES, LISTENER, LANDLOCK), marks=[needs_root, pytest.mark.heavy]
    ),
]
"""No world, and no listener that would refuse and name what code wants to write."""


@pytest.mark.parametrize("limits", UNPROTECTED, ids="-".join)
@pytest.mark.heavy
def test_where_the_kernel_lets_nothing_keep_files_nothing_is_executed(
    site: Site, limits: tuple[str, ...]
) -> None:
    site.record(QUIET, allow=ALLOWED)
    site.change_outputs()

    site.verify(limits=limits).assert_not_executed()


@pytest.mark.parametrize("limits", [UNPROTECTED[0], UNPROTECTED[2]], ids="-".join)
@pytest.mark.heavy
def test_where_nothing_can_keep_files_a_listed_recording_changes_none(
    site: Site, limits: tuple[str, ...]
) -> None:
    site.record(QUIET, allow=ALLOWED, limits=(LISTENER,))
    site.change_outputs()

    assert site.verify(limits=limits).exit_code == 2


@pytest.mark.parametrize("without", sampled(["world", "world,refusal"], {"world"}))
@pytest.mark.heavy
def test_without_a_copy_a_run_of_python_alone_passes_and_says_so(site: Site, without: str) -> None:
    site.record(PURE)

    replay = site.verify(without=without, is_pure=True)

    assert (REFUSED if without == "world" else UNGOVERNED) in replay.seal
    assert IN_COPY not in replay.seal
    assert (replay.result, replay.exit_code) == ("PASS", 0), str(replay)


# Tiers left out by name


@pytest.mark.parametrize("left_out", sampled([*TIERS, ",".join(TIERS)], {"supervisor"}))
def test_a_recording_without_a_tier_says_what_it_saw(site: Site, left_out: str) -> None:
    said = site.record(allow=ALLOWED, without=left_out)
    site.change_outputs()

    replay = site.verify()

    if "supervisor" not in left_out:
        assert "files.native" not in said
        assert site.recorded_tier() == "supervisor"
        replay.assert_passed()
        return
    assert "files.native: " in said
    assert site.recorded_tier() == "listing"
    replay.assert_unseen()
    assert UNSEEN in replay.seal


@pytest.mark.parametrize(
    "left_out", sampled([*TIERS, ",".join(TIERS), "world,refusal"], {"world", "number"})
)
def test_a_replay_without_a_tier_says_what_it_kept(site: Site, left_out: str) -> None:
    site.record(allow=ALLOWED)
    site.change_outputs()

    replay = site.verify(without=left_out)

    left = left_out.split(",")
    if {"world", "refusal"} <= {*left}:
        replay.assert_not_executed()
    elif "world" in left:
        replay.assert_refused("left out by TWICE_WITHOUT")
    else:
        replay.assert_passed()
        assert (NUMBER_GIVEN in replay.seal) == ("number" not in left)
        given = replay.document["effects"]["governed"]["processes"]
        assert given == ("world" if "number" in left else "number")


@pytest.mark.parametrize("left_out", sampled([*TIERS, "world,refusal"], {"world"}))
@pytest.mark.heavy
def test_a_listed_recording_replayed_without_a_tier_never_passes(site: Site, left_out: str) -> None:
    site.record(allow=ALLOWED, without="supervisor")
    site.change_outputs()

    replay = site.verify(without=left_out)

    assert replay.exit_code == 2
    assert replay.result in {"UNKNOWN", ""}


@pytest.mark.heavy
def test_with_every_tier_left_out_twice_nothing_is_touched(site: Site) -> None:
    site.record(allow=ALLOWED, without=",".join(TIERS))
    site.change_outputs()

    assert site.verify(without=",".join(TIERS)).exit_code == 2


@pytest.mark.heavy
def test_without_the_network_tier_the_network_is_not_said_to_be_away(site: Site) -> None:
    site.record()
    site.change_outputs()

    replay = site.verify(without="network")

    replay.assert_passed()
    assert CUT_OFF not in replay.seal
    assert NOT_CUT_OFF in replay.seal
    assert replay.document["effects"]["governed"]["connections"] == "descriptors"


@pytest.mark.heavy
def test_files_that_were_not_recorded_are_not_said_to_be_compared(site: Site) -> None:
    site.record(QUIET, options=("--files", "none"))
    site.change_outputs()

    assert "were compared" not in site.verify().seal


# Children without a C library, and by vfork


CHILDREN = f"""{C}

def main(run):
    for command in ([b"static", b"by-static"], [b"sh", b"-c", b"echo x > by-vfork"]):
        program = "/bin/sh" if command[0] == b"sh" else os.path.join(HERE, "static")
        os.waitpid(os.posix_spawn(program, command, os.environ), 0)
    subprocess.run([os.path.join(HERE, "static"), "by-served"])
    run.compare("left", sorted(name for name in os.listdir(HERE) if name.startswith("by-")))
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the static program is x86_64 code")
@pytest.mark.parametrize(
    "user", [None, pytest.param(USER, marks=[needs_root, pytest.mark.heavy])], ids=["own", "user"]
)
@pytest.mark.heavy
def test_static_and_vforked_children_write_to_the_copy(site_of: MakeSite, user: int | None) -> None:
    site = site_of(user)
    write_static_program(site.folder / "static")
    site.record(CHILDREN)
    written = {Path(history.path).name for history in _histories(site.path) if history.has_effect}
    assert {"by-static", "by-vfork", "by-served"} <= written
    site.add("by-static", b"precious")
    (site.folder / "by-vfork").unlink()
    (site.folder / "by-served").unlink()

    site.verify().assert_passed()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the static program is x86_64 code")
@pytest.mark.heavy
def test_static_and_vforked_children_are_refused_where_there_is_no_copy(site: Site) -> None:
    write_static_program(site.folder / "static")
    site.record(CHILDREN, allow=("native.load", "process.spawn", "process.start"))
    site.add("by-static", b"precious")
    (site.folder / "by-vfork").unlink()

    replay = site.verify(limits=(NAMESPACES,))

    assert (replay.result, replay.exit_code, replay.tier) == ("UNKNOWN", 2, "refusal")
    for name in ("by-static", "by-vfork"):
        assert any(f"wants to write {name} (" in caveat for caveat in replay.caveats), name


def _histories(path: Path) -> list[Any]:
    with RunRecord.open(path) as record:
        return list(record.native_files().histories)
