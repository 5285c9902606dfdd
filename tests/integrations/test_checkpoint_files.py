"""A checkpoint's file holds what was put into it, is whole or refused, and runs nothing that it names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.errors import CheckpointDamaged, CheckpointVersion
from twice.foundation.digests import digest_bytes
from twice.foundation.encoding import encode
from twice.integrations.checkpoints import file as checkpoint_file
from twice.integrations.checkpoints.file import PartState

STATE = {"weights": np.arange(6.0).reshape(2, 3), "names": ["a", None, True], "raw": b"\0\1"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "c.checkpoint"
    parts = [PartState("model", "Net", "cpu", STATE), PartState("loader", "Loader", "", 5)]
    write(path, 7, {"python": "3.11"}, parts)
    return path


def write(path: Path, position: int, versions: dict[str, str], parts: list[PartState]) -> None:
    path.write_bytes(b"".join(checkpoint_file.encode_checkpoint(position, versions, parts)))


def head(body: bytes) -> bytes:
    """Return the begin of a file with a header and its right digest."""
    raw = b"twice.checkpoint/1\n" + len(body).to_bytes(8, "little") + body
    return raw + digest_bytes(raw).raw


def test_what_was_written_is_read(path: Path) -> None:
    header, states = checkpoint_file.read_states(path)

    assert (header.position, header.versions) == (7, {"python": "3.11"})
    assert [(one.name, one.kind, one.device) for one in header.entries] == [
        ("model", "Net", "cpu"),
        ("loader", "Loader", ""),
    ]
    assert encode(states) == encode({"model": STATE, "loader": 5})


def test_one_part_is_read_alone(path: Path) -> None:
    # The first part is damaged; the second does not depend on it.
    data = path.read_bytes()
    path.write_bytes(data.replace(b"\0\1", b"\0\2"))

    assert checkpoint_file.read_part(path, "loader") == 5
    with pytest.raises(CheckpointDamaged, match="model was cut or changed"):
        checkpoint_file.read_part(path, "model")


def test_no_cut_is_read(path: Path) -> None:
    data = path.read_bytes()

    for end in range(len(data)):
        path.write_bytes(data[:end])
        with pytest.raises(CheckpointDamaged):
            checkpoint_file.read_states(path)


def test_no_changed_byte_is_read(path: Path) -> None:
    data = path.read_bytes()

    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises((CheckpointDamaged, CheckpointVersion)):
            checkpoint_file.read_states(path)


def test_another_format_is_named(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"checkpoint/1\n", b"checkpoint/2\n", 1))

    with pytest.raises(CheckpointVersion, match=r"twice\.checkpoint/2") as caught:
        checkpoint_file.read_header(path)
    assert caught.value.id == "E-CHECKPOINT-002"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no canonical form",
        encode({"position": "7", "versions": {}, "parts": []}),
        encode({"position": True, "versions": {}, "parts": []}),
        encode({"position": 7, "versions": [], "parts": []}),
        encode({"position": 7, "versions": {}, "parts": [{"name": "a"}]}),
        encode([]),
    ],
)
def test_a_header_of_another_form_is_refused(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "c.checkpoint"
    path.write_bytes(head(body))

    with pytest.raises(CheckpointDamaged, match="header"):
        checkpoint_file.read_header(path)


def test_a_negative_size_is_refused(tmp_path: Path) -> None:
    part = {"name": "a", "kind": "", "device": "", "size": -1, "digest": ""}
    path = tmp_path / "c.checkpoint"
    path.write_bytes(head(encode({"position": 7, "versions": {}, "parts": [part]})))

    with pytest.raises(CheckpointDamaged, match="negative size"):
        checkpoint_file.read_header(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(CheckpointDamaged, match="cannot be opened"):
            checkpoint_file.read_header(path)


plain_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(state=plain_values, position=st.integers(0, 1 << 70))
def test_every_plain_tree_comes_back(
    tmp_path_factory: pytest.TempPathFactory, state: object, position: int
) -> None:
    path = tmp_path_factory.mktemp("file") / "c.checkpoint"
    write(path, position, {}, [PartState("a", "", "", state)])

    header, states = checkpoint_file.read_states(path)

    assert header.position == position
    assert encode(states["a"]) == encode(state)
