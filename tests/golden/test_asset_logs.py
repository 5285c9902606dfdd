"""Logs of assets of format 1 are read and sealed again to the same bytes for ever.

They were written by the version that first wrote the format, and are never rewritten.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from twice.assets.log.io import canonical, examine_bytes, log_digest

FOLDER = Path(__file__).parent / "asset-logs"
DIGESTS = {
    "art-one": "sha256:718562d91fe11b103c16a1be2a39fcab8ae8cebbee111468bcaf3e19075c088e",
    "audio-one": "sha256:b6ec8ef25a885474ad18b90d7db55aa2c0bab6cb41cc6af6466ce3cfd871d7ef",
    "cue-two": "sha256:c84feeaebeb4825837bb2c4846590213a20cb156f3ee78e61742b8c7c4fec4eb",
    "plate-two": "sha256:6f97d9c21b38218e0e16fea19c29f1ad0b48d8f9598e498d40ac51ce11b90383",
    "voice-one": "sha256:4080d6ebd55a1102b7deff38aefb57c25ee7a1b322ecb66a1a3a9cb7c97ce375",
}


@pytest.mark.parametrize("log_id", DIGESTS)
def test_a_golden_log_is_read_and_comes_back(log_id: str) -> None:
    data = (FOLDER / f"{log_id}.detlog.json").read_bytes()
    examined = examine_bytes(data, log_id)[1]

    assert examined.problems == ()
    assert canonical(examined.log) == data
    assert log_digest(examined.log) == DIGESTS[log_id]
