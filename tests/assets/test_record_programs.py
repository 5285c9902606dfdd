"""Claims about the program of a render: where it is found, and what it keeps."""

from __future__ import annotations

import sys
from pathlib import Path

from hotstore import laid

from twice.assets.render.command import is_recordable, looks_python, rewrite_command
from twice.assets.render.provenance import ask_version


def test_an_installed_program_stays_where_it_is_and_one_of_the_store_is_an_input(
    tmp_path: Path,
) -> None:
    store = laid(tmp_path)
    own = store.root / "tools/draw"
    own.parent.mkdir()
    own.write_bytes(b"#!/bin/sh\n")

    installed = rewrite_command(["/bin/sh", "draw.sh"], store, [], [], "")
    ours = rewrite_command([str(own), "a"], store, [], [], "")

    assert (installed.argv[0], installed.inputs) == ("/bin/sh", {})
    assert (ours.argv[0], ours.inputs) == ("./tools/draw", {"tools/draw": own})


def test_an_input_by_way_of_dots_is_named_without_them(tmp_path: Path) -> None:
    store = laid(tmp_path)
    for path in (store.root / "in.txt", tmp_path / "out.txt"):
        path.write_text("7")
    typed = ["/bin/cat", f"{store.root}/../{store.root.name}/in.txt", f"{store.root}/../out.txt"]

    command = rewrite_command(typed, store, [], [], "")

    assert command.argv == ("/bin/cat", "in.txt", "outside/out.txt")
    assert list(command.inputs.values()) == [store.root / "in.txt", tmp_path / "out.txt"]


def test_a_version_behind_a_letter_is_read_whole(tmp_path: Path) -> None:
    program = tmp_path / "perl"
    program.write_text("#!/bin/sh\necho 'This is perl 5, version 36 (v5.36.0) built for x'\n")
    program.chmod(0o755)

    found = ask_version(str(program))

    assert found is not None
    assert found.version == "5.36.0"


def test_this_interpreter_by_its_path_is_recorded_and_another_one_is_watched(
    tmp_path: Path,
) -> None:
    store = laid(tmp_path)
    other = tmp_path / "bin/python3"
    other.parent.mkdir()
    other.symlink_to(sys.executable)

    here = rewrite_command([sys.executable, "draw.py"], store, [], [], "")
    elsewhere = rewrite_command([str(other), "draw.py"], store, [], [], "")

    assert (here.argv[0], is_recordable(here.argv)) == ("python", True)
    # A copy would have lost the environment that it belongs to.
    assert (elsewhere.argv[0], elsewhere.inputs) == (str(other), {})
    assert (looks_python(elsewhere.argv), is_recordable(elsewhere.argv)) == (True, False)
