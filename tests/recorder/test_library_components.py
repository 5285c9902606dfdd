"""Models, optimisers, state dicts and frames are components as they are: compared, and put back."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import cli, recorded
from twice.recorder.cadence import parse_cadence
from twice.replayer.branch_session import branch
from twice.replayer.verify import verify

pytestmark = pytest.mark.heavy


TRAINS = """
    import torch

    def main(run):
        torch.manual_seed(int(run.rng("weights").integers(1 << 30)))
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 1))
        optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
        {tracks}
        data = run.rng("data")
        for tick in run.ticks(6):
            batch = torch.from_numpy(data.random((16, 4), dtype="float32"))
            loss = (model(batch) - batch.sum(1, keepdim=True)).pow(2).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
"""

FRAMES = """
    import pandas as pd

    def main(run):
        table = run.track("table", pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}))
        series = run.track("series", pd.Series([1, 2]))
        rng = run.rng("prices")
        for tick in run.ticks(6):
            table.loc[0, "a"] += rng.random()
            series[1] = tick
"""


@pytest.mark.parametrize(
    "tracks",
    [
        "run.track('model', model), run.track('optimiser', optimiser)",
        "run.track('model', model.state_dict()), run.track('optimiser', optimiser)",
    ],
)
def test_a_training_is_put_back_at_every_snapshot(tmp_path: Path, tracks: str) -> None:
    pytest.importorskip("torch")
    source = TRAINS.format(tracks=tracks)
    with recorded(tmp_path, source, cadence=parse_cadence("every=3")) as record:
        assert record.ending is not None
        assert record.ending["how"] == "completed", record.ending
    done = cli("verify", "a.twice", "--restores", "--all", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 compare-points agree, 2 restored runs too" in done.stdout


def test_a_frame_is_compared_and_put_back(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    with recorded(tmp_path, FRAMES, cadence=parse_cadence("every=3")) as record:
        assert verify(record.path).result == "PASS"
        with branch(record.path, at=3, out=tmp_path / "b.twice") as other:
            assert other.complete
    done = cli("verify", "a.twice", "--restores", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
