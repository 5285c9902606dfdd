"""One run of a sweep, in a worker: recorded, read back, and verified where that was asked for.

What a sweep needs to know of a run is read from its record and from the newest statement beside it, so that a run of
yesterday and one of just now give the same outcome.

Invariant: an outcome is plain data, and nothing of it depends on when or where the run was made.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, Final

from twice.diagnosis.diagnose import diagnose_failure
from twice.errors import OutputUnwritable, ProgramFailed, TwiceError, UsageError
from twice.foundation.digests import digest_bytes
from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.output import RESULTS
from twice.recorder.record_form import reading
from twice.recorder.recorder import record_program
from twice.recorder.runrecord import RunRecord
from twice.recorder.setup import Setup
from twice.recorder.trust import remember_record
from twice.replayer.statement_file import read_statement
from twice.replayer.verify import verify
from twice.runs.causes import FailureCause, find_cause, find_difference

_NO_MODULE: Final = ("ImportError", "ModuleNotFoundError", "SyntaxError", "IndentationError")


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How one run of a sweep ended.

    Attributes:
        how: as in the record's ending, or ``died``, ``refused`` or ``lost``, where no record tells.
        cause: what it failed of, or what its record does not verify for; None where all is well.
        summaries: the last number that it reported by each name.
        unread: configuration keys that it never read.
        result: of its verification; empty where nobody asked.
        unloaded: why the program could not even be loaded; empty where it was.
        identity: digest of its seed and configuration; empty without a record.
        sources: digest of each source file of the program that it loaded.
    """

    how: str
    cause: FailureCause | None = None
    summaries: Mapping[str, float] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    result: str = ""
    unloaded: str = ""
    identity: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RunOutcome:
        """Build it from the plain values of ``to_json``."""
        cause = data["cause"] and FailureCause(**data["cause"])
        return cls(**{**data, "cause": cause, "unread": tuple(data["unread"])})


def run_one(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Do the job of one run: record it, verify it where ``verify`` says so, and return the outcome.

    Args:
        arguments: ``setup`` and ``surroundings`` as plain data; ``out``, the path of the record; ``verify``; ``is_here``,
            whether this process sees that path; ``content``, the bytes of a record that is whole, for one that does not.

    Returns:
        ``outcome``, and under ``files`` the bytes of record and statement by name, for a caller elsewhere.

    Raises:
        UsageError: the run makes no sense. OutputUnwritable: E-OUTPUT-002. TwiceError: it left no record.
    """
    out = Path(arguments["out"])
    if arguments["is_here"]:
        return {"outcome": _run_at(out, arguments), "files": {}}
    with tempfile.TemporaryDirectory(prefix="twice-sweep-") as folder:
        copy = Path(folder, out.name)
        if arguments["content"] is not None:
            copy.write_bytes(arguments["content"])
            with RunRecord.open(copy) as record:
                remember_record(record.digest, is_passing=True)  # its maker gave it to this process
        outcome = _run_at(copy, arguments)
        files = {each.name: each.read_bytes() for each in sorted(Path(folder).iterdir())}
    return {"outcome": outcome, "files": files}


def _run_at(out: Path, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Record at a path, unless a whole record is there, and verify; return the outcome as plain data."""
    if read_outcome(out) is None:
        setup = Setup.from_json(arguments["setup"])
        surroundings = Surroundings.from_json(arguments["surroundings"])
        try:
            record_program(setup, surroundings, out, force=True, on_full="stop")
        except ProgramFailed as error:
            if not out.exists():
                raise
            return RunOutcome("died", FailureCause("died", error.happened)).to_json()
        except TwiceError as error:
            if isinstance(error, UsageError | OutputUnwritable) or not out.exists():
                raise
    found = read_outcome(out)
    if found is not None and arguments["verify"] and not found.result:
        try:
            statement = verify(out)
            if statement.result == "FAIL" and statement.failure is not None:
                divergence = diagnose_failure(
                    out, statement.failure, environment=statement.environment
                )
                statement = replace(statement, divergence=divergence.to_json())
            statement.write_beside()
        except OutputUnwritable:
            raise
        except TwiceError:
            return replace(found, result="UNKNOWN").to_json()
        found = read_outcome(out)
    if found is None:  # interrupted from outside, or its record was taken away
        return RunOutcome("interrupted", FailureCause("died", "interrupted")).to_json()
    return found.to_json()


def read_outcome(path: Path) -> RunOutcome | None:
    """Read the outcome of a run from its record and the newest statement beside it; None where it must be made again.

    That is where there is no record, or it is torn, damaged, or of a run that was interrupted from outside.
    """
    try:
        with reading("something", path), RunRecord.open(path) as record:
            ending, program = record.ending, record.setup.program
            if record.is_prefix or ending is None or ending["how"] == "interrupted":
                return None
            cause, result = find_cause(ending, program), ""
            newest = _find_statement(path)
            statement = newest and read_statement(newest, record.run_id)
            if statement:
                result = statement["result"]
                cause = cause or find_difference(statement, program)
            reported = ending.get(RESULTS, {}).get("summaries", ())
            return RunOutcome(
                ending["how"],
                cause,
                {name: float.fromhex(value) for name, value in reported},
                tuple(ending["config_unread"]),
                result,
                _explain_unloaded(ending, is_whole=program.whole) if cause is not None else "",
                identify(record.setup),
                {**record.identity["code"]["files"], **ending.get("files", {})},
            )
    except TwiceError:
        return None


def identify(setup: Setup) -> str:
    """Return the digest of what makes a run one run of a sweep: its seed and its configuration."""
    told = setup.to_json()
    text = json.dumps([told["seed"], told["config"]], sort_keys=True, default=str)
    return str(digest_bytes(text.encode()))


def _find_statement(path: Path) -> Path | None:
    """Find the newest statement beside a record."""
    found = None
    for number in count(1):  # without a gap; to list the folder would take longer with every run
        target = path.with_name(f"{path.name}.verification-{number}.json")
        if not target.exists():
            return found
        found = target
    return None


def _explain_unloaded(ending: Mapping[str, Any], *, is_whole: bool) -> str:
    """Explain why a program was not even loaded: of a function, what its module raised; of a script, a failed import."""
    exception = ending.get("exception") or {"type": "", "frames": ()}
    kind = exception["type"].removeprefix("builtins.")
    is_in_module = not is_whole and [each["function"] for each in exception["frames"][:1]] == ["<module>"]  # fmt: skip
    if kind in _NO_MODULE or is_in_module:
        return f"{kind}: {exception['message']}"
    return ""
