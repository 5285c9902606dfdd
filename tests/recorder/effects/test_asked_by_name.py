"""What is asked of the world by name is answered by the record, and done while recording alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import recorded, verified, write
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

SOURCE = """
def main(run):
    world = run.effects
    for tick in run.ticks(2):
        run.compare("variable", [world.env.get("COLOUR"), world.env.get("NO_SUCH", "none")])
        run.compare("names", world.fs.names("FOLDER"))
        run.compare("bytes", world.fs.read("FOLDER/read.txt"))
        world.fs.write("FOLDER/written.txt", b"tick %d" % tick)
        run.compare("process", world.process.run(["cat", "-"], b"words"))
        for failing in (
            lambda: world.fs.read("FOLDER/none"),
            lambda: world.process.run(["no such command"]),
            lambda: world.net.fetch("http://127.0.0.1:1/"),
            lambda: world.env["NO_SUCH"],
        ):
            try:
                failing()
            except (OSError, KeyError) as error:
                run.compare("error", [type(error).__name__, str(error)])
"""


def test_it_is_answered_by_the_record_and_done_once(tmp_path: Path) -> None:
    folder = tmp_path / "world"
    folder.mkdir()
    (folder / "read.txt").write_bytes(b"as it was")
    recorded(tmp_path, SOURCE.replace("FOLDER", str(folder)), env={"COLOUR": "red"}).close()
    assert (folder / "written.txt").read_bytes() == b"tick 1"
    for path in list(folder.iterdir()):
        path.unlink()
    folder.rmdir()

    assert verify(tmp_path / "a.twice").result == "PASS"
    assert not folder.exists()


@pytest.mark.parametrize(
    ("old", "new"), [('"COLOUR"', '"SHAPE"'), ('b"words"', 'b"other"'), ("tick %d", "tack %d")]
)
def test_another_question_is_a_divergence(tmp_path: Path, old: str, new: str) -> None:
    folder = tmp_path / "world"
    folder.mkdir()
    (folder / "read.txt").write_bytes(b"as it was")
    source = SOURCE.replace("FOLDER", str(folder))
    recorded(tmp_path, source).close()
    write(tmp_path, source.replace(old, new))
    verification = verify(tmp_path / "a.twice", informational=True)
    assert verification.failure is not None
    assert verification.failure.name == "effect"


CHANGED = """
    import os, twice
    from dataclasses import dataclass
    import numpy as np

    @dataclass
    class Box:
        held: bytes = b""

        def __len__(self):
            return len(self.held)

    @twice.effect
    def fill(into):
        {change}
        return len(into)

    def main(run):
        seen, given = run.track("seen", {{"a": {made}}}), []
        given.append(seen["a"])
        for tick in run.ticks(2):
            fill(given[0])
"""


@pytest.mark.parametrize(
    ("made", "change"),
    [
        ("[0, [1]]", "into[1].append(os.urandom(4)); into.insert(0, os.urandom(4))"),
        (
            "{'b': {}, 'a': 1}",
            "into['b']['x'] = os.urandom(4); into[os.urandom(4)] = 1; del into['a']",
        ),
        ("{1}", "into |= {os.urandom(4)}"),
        ("bytearray(4)", "into[:] = os.urandom(7)"),
        ("np.zeros(4)", "into[:] = list(os.urandom(4))"),
        ("[0]", "into.append(os.urandom(4)); raise OSError(3, 'no')"),
    ],
)
def test_what_an_effect_changes_in_containers_is_served(
    tmp_path: Path, made: str, change: str
) -> None:
    source = CHANGED.format(made=made, change=change)
    if "raise" in change:
        source = source.replace(
            "fill(given[0])", "try: fill(given[0])\n            except OSError: pass"
        )
    statement = verified(tmp_path, source)

    assert statement.result == "PASS", statement.to_markdown()
    assert not any("changes what it is given" in caveat for caveat in statement.caveats)


def test_an_effect_that_changes_another_object_is_a_caveat(tmp_path: Path) -> None:
    statement = verified(tmp_path, CHANGED.format(made="Box()", change="into.held = os.urandom(4)"))

    assert statement.result == "FAIL"
    assert any("fill' changes what it is given" in caveat for caveat in statement.caveats)
