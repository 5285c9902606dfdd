"""The option that writes a test of what a diagnosis found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from twice.cli.options import option
from twice.cli.output import print_beside
from twice.errors import OutputExists, UsageError
from twice.writing import write

if TYPE_CHECKING:
    from twice.diagnosis.divergence import Divergence

NewTest = Annotated[Path | None, option("--test FILE", "write a test that fails until the runs agree")]  # fmt: skip


def require_free(path: Path | None) -> None:
    """Refuse the path of a test that is there already, before anything is executed.

    Raises:
        OutputExists: E-OUTPUT-001.
    """
    if path is not None and path.exists():
        raise OutputExists(
            f"{path} is there already.",
            "Expected a path that is free: a test is never replaced.",
            "Choose another one: --test tests/test_the_runs_agree.py",
            path=str(path),
        )


def write_test(found: Divergence, path: Path | None) -> None:
    """Write the test; where there is none to write, say so and keep the verdict.

    Raises:
        OutputUnwritable: E-OUTPUT-002.
    """
    if path is None:
        return
    from twice.diagnosis.next_steps import write_regression_test

    try:
        text = write_regression_test(found, path)
    except UsageError as error:
        print_beside(error)
        return
    write(path, text.encode("utf-8"))
    print_beside(f"wrote {path}")
