"""Claims about sealing where the disk or another process is in the way: one error, and the master as it was.

Seals are processes here, because a full and a read-only disk are mounts of a namespace of their own, and because two
seals at once are two processes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from hotstore import art_draft, laid, list_files, picture, sealed_art, sha256

from programs import environ
from twice.assets.errors import StoreRefused
from twice.assets.gate.gate import run_gate
from twice.assets.log.io import read_log
from twice.assets.store import index
from twice.assets.store.embed import remove_note
from twice.assets.store.store import Store

pytestmark = pytest.mark.integration

SEAL = (
    f"'{sys.executable}' -m twice asset seal hot/picture.png --log draft.json --revise --embed id"
)


def run_in_mounts(script: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a shell script in a namespace of its own, where it may mount."""
    mapped = [] if os.geteuid() == 0 else ["--map-root-user"]
    command = ["unshare", "--mount", *mapped, "sh", "-ec", script]
    return subprocess.run(
        command, cwd=cwd, env=environ(), capture_output=True, text=True, check=False
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Seal a picture, and draft its next revision."""
    store = laid(tmp_path)
    sealed_art(store)
    draft = art_draft(store) | {"producer": {"role": "art_director"}}
    (tmp_path / "draft.json").write_text(json.dumps(draft))
    return store


# The store is copied onto the disk, which is filled but for some KiB; what it holds afterwards is copied out.
FULL = """
mkdir small
mount -t tmpfs -o size=512k none small
cp -a hot public draft.json small
cd small
head -c 600k /dev/zero > filler 2> /dev/null || true
truncate -s -{left}k filler
{seal} || echo "ended $?" >&2
cp -a hot ../after
"""
READ_ONLY = """
mount --bind hot hot
mount -o remount,bind,ro hot
{seal} || echo "ended $?" >&2
cp -a hot after
"""


@pytest.mark.parametrize("index_is_there", [True, False])
@pytest.mark.parametrize(
    "script",
    [*(FULL.replace("{left}", left) for left in ("0", "4", "12")), READ_ONLY],
    ids=["a full disk", "room for one page", "room for all but the index", "a read-only store"],
)
@pytest.mark.sample(3)
def test_a_seal_that_the_disk_does_not_take_changes_nothing(
    store: Store, tmp_path: Path, script: str, index_is_there: bool
) -> None:
    if run_in_mounts("mount -t tmpfs none /mnt", tmp_path).returncode:
        pytest.skip("nothing can be mounted here")
    if not index_is_there:
        (store.root / index.NAME).unlink()
    before = list_files(store.root)
    done = run_in_mounts(script.replace("{seal}", SEAL), tmp_path)

    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "ended 2"), done.stderr
    assert done.stderr.startswith("E-OUTPUT-002"), done.stderr
    assert len(done.stderr.splitlines()) == 4
    after = list_files(tmp_path / "after")
    if not index_is_there:
        assert after.pop(index.NAME, b"") == b""
    assert after == before


@pytest.mark.parametrize(
    ("files", "ids", "error"),
    [
        (("a.png", "b.png"), ("art-a", "art-b"), "E-ASSET-STORE-001"),
        (("a.png", "a.png"), ("art-a", "art-a"), ("E-OUTPUT-001", "E-ASSET-STORE-001")),
    ],
    ids=["one payload under two names", "one asset"],
)
def test_of_two_seals_at_once_in_two_processes_one_is_refused(
    tmp_path: Path, files: tuple[str, str], ids: tuple[str, str], error: str | tuple[str, ...]
) -> None:
    store = laid(tmp_path)
    seals = []
    for role, file, log_id in zip(("editor", "mixer"), files, ids, strict=True):
        picture(store.root / file)
        draft = art_draft(store) | {"log_id": log_id, "producer": {"role": role}}
        (tmp_path / f"{role}.json").write_text(json.dumps(draft))
        words = ["asset", "seal", f"hot/{file}", "--log", f"{role}.json", "--embed", "id"]
        seals.append([sys.executable, "-m", "twice", *words])
    plain = (store.root / "a.png").read_bytes()
    both = [
        subprocess.Popen(words, cwd=tmp_path, env=environ(), stderr=subprocess.PIPE, text=True)
        for words in seals
    ]
    told = [(each.communicate()[1], each.returncode) for each in both]

    (refusal,) = (words for words, code in told if code)
    assert refusal.startswith(error)
    assert len(refusal.splitlines()) == 3
    (log,) = map(read_log, store.root.glob("*.detlog.json"))
    assert log.asset is not None
    master = (store.root / str(log.asset.file)).read_bytes()
    assert (sha256(master), remove_note(master)) == (log.asset.file_sha256, plain)
    for other in {*files} - {log.asset.file}:
        assert (store.root / other).read_bytes() == plain
    assert run_gate(store.root / str(log.asset.file)).wanting() == []


def test_a_file_that_changes_while_it_is_sealed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = laid(tmp_path)

    def change_first(opened: Store) -> AbstractContextManager[index.StoreIndex]:
        picture(store.root / "picture.png", colour=9)
        return index.lock_index(opened)

    monkeypatch.setattr("twice.assets.store.seal.lock_index", change_first)
    with pytest.raises(StoreRefused, match="changed while it was sealed"):
        sealed_art(store)
    assert list(store.root.glob("*.detlog.json")) == []
