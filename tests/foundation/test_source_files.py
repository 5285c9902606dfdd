"""Whose a source file is, by the path that its code bears."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from twice.foundation import source_files


def test_twice_knows_its_own_code_where_a_link_led_to_it(tmp_path: Path) -> None:
    package = Path(source_files.__file__).resolve().parents[1]
    (tmp_path / "linked").symlink_to(package)
    linked = tmp_path / "linked" / "foundation" / "source_files.py"
    spec = importlib.util.spec_from_file_location("linked_source_files", linked)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)

    spec.loader.exec_module(module)

    assert module.is_ours(str(linked.with_name("session.py")))
    assert module.is_ours(str(package / "recorder" / "session.py"))
    assert not module.is_ours(str(tmp_path / "linked" / "tools" / "worker" / "program.py"))
    assert module.is_user_file(str(tmp_path / "linked" / "tools" / "worker" / "program.py"))
