"""What is patched while a session runs is, afterwards, the very object it was."""

from __future__ import annotations

import builtins
import importlib.util
import os
import random
import time
from pathlib import Path
from types import MethodType

import pytest

import twice
from twice.recorder.effects.files.filesystem import Files
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.sources import LiveSource
from twice.recorder.interception import Interception
from twice.recorder.program import PathNames, Program


def patched() -> list[object]:
    clocks = [getattr(time, name) for name in CLOCKS]
    return [*clocks, os.urandom, random._urandom, random.Random.seed, random.seed]  # type: ignore[attr-defined]


CLOCKS = [
    "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns",
    "process_time", "process_time_ns", "sleep",
]  # fmt: skip


def _install() -> Interception:
    files = Files(EffectLayer(LiveSource(), None), PathNames(Program("inline", "here")))
    return Interception(files, None, lambda: 0).install()


def test_every_target_is_replaced_and_put_back() -> None:
    before = patched()
    with _install():
        assert all(now is not was for now, was in zip(patched(), before, strict=True))
    assert all(now is was for now, was in zip(patched(), before, strict=True))


def test_an_inline_run_leaves_the_process_as_it_found_it(tmp_path: Path) -> None:
    before, state = patched(), random.getstate()
    with pytest.raises(LookupError), twice.recording(tmp_path / "a.twice", seed=1):
        raise LookupError
    assert all(now is was for now, was in zip(patched(), before, strict=True))
    assert random.getstate() == state


def test_a_recorded_value_is_what_the_real_source_gave(tmp_path: Path) -> None:
    early = time.time()
    with twice.recording(tmp_path / "a.twice", seed=1):
        inside = time.time()
        drawn = os.urandom(8)
    assert early <= inside <= time.time()
    with twice.open(tmp_path / "a.twice") as record:
        values = [value for _, value in record.strict_reads()]
        assert values == [inside, (8, drawn)]


def test_a_replaced_function_of_c_is_no_method_of_a_class_either() -> None:
    names = [(time, name) for name in (*CLOCKS, "localtime", "gmtime", "ctime", "clock_gettime")]
    names += [(os, name) for name in ("urandom", "getpid", "listdir", "stat", "unlink", "close")]
    with _install():
        for module, name in [*names, (builtins, "open")]:
            holder = type("Holder", (), {"kept": getattr(module, name)})()
            assert not isinstance(holder.kept, MethodType), name  # type: ignore[attr-defined]
        assert time.localtime.__name__ == "localtime"


def test_a_formatter_of_logging_that_is_loaded_in_a_session_writes_the_time() -> None:
    with _install():
        fresh = importlib.util.module_from_spec(importlib.util.find_spec("logging"))  # type: ignore[arg-type]
        fresh.__spec__.loader.exec_module(fresh)  # type: ignore[union-attr]
        line = fresh.Formatter("%(asctime)s").format(fresh.makeLogRecord({"created": 86400.0 * 10}))
    assert line.startswith("1970-01-1")


def test_a_replaced_function_of_c_is_pickled_and_copied_by_its_name() -> None:
    import copy
    import pickle

    with _install():
        for function in (os.getpid, os.stat, open, time.sleep, time.localtime):
            assert pickle.loads(pickle.dumps(function)) is function
            assert copy.deepcopy([function]) == [function]


def test_what_os_says_of_its_functions_holds_for_those_in_their_place() -> None:
    names = [
        (supported, name)
        for supported in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks)
        for name in ("stat", "unlink", "mkdir", "rename", "chmod", "utime", "access", "chdir")
        if getattr(os, name) in supported
    ]
    assert len(names) > 10
    with _install():
        assert not [name for supported, name in names if getattr(os, name) not in supported]
