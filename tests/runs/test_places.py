"""Where runs are executed is named in three ways; anything else is one error."""

from __future__ import annotations

import pytest

from twice.errors import UsageError
from twice.runs.places import open_executor
from twice.worker.executor import LocalExecutor


def test_here_is_one_process_unless_more_are_asked_for() -> None:
    for asked, slots in ((None, 1), (3, 3)):
        with open_executor("local", asked) as executor:
            assert isinstance(executor, LocalExecutor)
            assert executor.slots == slots


@pytest.mark.parametrize(
    "place", ["", "Ray", "ray:", "ray://host", "ray://:10001x", "dask", "ssh://host:22"]
)
def test_another_place_is_refused(place: str) -> None:
    with pytest.raises(UsageError, match="is no place where runs are executed"):
        open_executor(place, None)
