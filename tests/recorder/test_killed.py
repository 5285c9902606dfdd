"""Killed at any moment, a recording leaves a record that opens and whose prefix replays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from programs import chains, environ
from tiers import sampled
from twice.errors import RecordTorn
from twice.recorder.runrecord import RunRecord
from twice.replayer.preconditions import trusting
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

KILLS, VERIFIED = 25, 3
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@pytest.mark.parametrize("seed", sampled(range(8), {"0"}))
def test_every_killed_recording_opens_and_its_prefix_replays(tmp_path: Path, seed: int) -> None:
    killing = Path(__file__).with_name("killing.py")
    subprocess.run(
        [sys.executable, str(killing), str(tmp_path), str(seed), str(KILLS)],
        env=environ(ONE_THREAD),
        check=True,
    )
    with RunRecord.open(tmp_path / "whole.twice") as whole:
        assert whole.complete
        every = chains(whole)
    lengths, ended = {}, set()
    for number in range(KILLS):
        path = tmp_path / f"killed-{number}.twice"
        with RunRecord.open(path) as record:
            found = chains(record)
            assert found == every[: len(found)]
            if not record.complete:
                lengths[path] = len(found)
                # Killed between the ending and the index, it knows how it ended, and all of it.
                assert record.ending is None or found == every
                if record.ending is not None:
                    ended.add(path)
                with pytest.raises(RecordTorn):
                    record.reader.check()
    assert lengths, "some were killed before they ended"
    longest = sorted(lengths, key=lambda path: lengths[path])[-1:]
    for path in [*longest, *list(lengths)[: VERIFIED - 1]]:
        with trusting(path):  # the process that started it was not the one that ends here
            statement = verify(path)
        assert statement.failure is None
        # An ending lists the sources that were not recorded, and killing.py writes the output by itself.
        expected = "PARTIAL" if lengths[path] and path not in ended else "UNKNOWN"
        assert statement.result == expected, statement.caveats
        assert statement.exit_code == 2
        assert statement.counts["passed"] == lengths[path]
