"""A record is replayed twice where the first replay does not pass; two replays that disagree are no PASS."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import recorded
from twice.replayer.verification import Verification
from twice.replayer.verify import verify
from twice.runs.record_job import send_record
from twice.runs.verifications import verify_here
from twice.runs.verify_options import VerifyOptions

pytestmark = pytest.mark.integration  # real statements are what is judged
COUNTING = """
    def main(run):
        count = run.track("count", {"n": 0})
        for _ in run.ticks(2):
            count["n"] += 1
"""
DRIFTING = """
    import posix  # behind the back of what governs entropy
    def main(run):
        count = run.track("count", {"n": 0})
        for _ in run.ticks(2):
            count["n"] = int.from_bytes(posix.urandom(8))
"""


@pytest.fixture(scope="module")
def statements(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verification]:
    """A statement of each verdict."""
    made = {}
    for verdict, source in (("PASS", COUNTING), ("FAIL", DRIFTING)):
        with recorded(tmp_path_factory.mktemp(verdict), source) as record:
            made[verdict] = verify(record.path)
            assert made[verdict].result == verdict
    return made


@pytest.mark.parametrize(
    ("replays", "result"),
    [
        (["PASS"], "PASS"),
        (["FAIL", "FAIL"], "FAIL"),
        (["FAIL", "PASS"], "UNKNOWN"),
    ],
)
def test_two_replays(
    statements: dict[str, Verification],
    replays: list[str],
    result: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    given = iter(replays)
    monkeypatch.setattr(VerifyOptions, "verify", lambda *_, **__: statements[next(given)])
    with recorded(tmp_path, COUNTING) as record:
        arguments = {
            "record": send_record(record.path, record, is_here=True), "cited": None, "mismatches": [],
            "options": VerifyOptions().to_json(),
        }  # fmt: skip

    answer = verify_here(arguments)

    assert f'"result": "{result}"' in answer["statement"]
    assert answer["exit_code"] == {"PASS": 0, "FAIL": 1, "UNKNOWN": 2}[result]
    assert list(given) == []
    assert ("one of two replays differs" in answer["markdown"]) is (result == "UNKNOWN")
