"""Interpreters with libraries that are never installed beside the tests, made once and kept.

Blender's module is 800 MB and for Python 3.11 alone; it, pedalboard and DawDreamer are under the GPL. A
variable names an interpreter that has them; without one, an environment is made under the user's
cache with pip, once, under a lock that other workers wait for. Only where that fails, because there is
no such Python or no package index, there is none, with the reason.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

_PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))

_TOOLS = _PROJECT["project"]["optional-dependencies"]["tools"]
BLENDER = ("bpy==4.5.15", "numpy<2", *_TOOLS, *_PROJECT["project"]["dependencies"])
NUMPY = "numpy==2.4.6"
"""The numpy that records of other environments records are diagnosed on."""
EFFECTS = ("pedalboard==0.9.26", "dawdreamer==0.9.0", "imageio-ffmpeg==0.8.1", NUMPY)


CACHE = "TWICE_TESTS_CACHE"
"""The variable that says where environments are kept, since tests have a home of their own."""


def find_cache() -> Path:
    """Return the folder that environments are kept in."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get(CACHE) or Path(home) / "twice" / "tests")


def blender() -> tuple[str, str]:
    """Return an interpreter with real Blender, or "" and the reason why there is none."""
    return _interpreter("TWICE_BLENDER_PYTHON", BLENDER)


def effects() -> tuple[str, str]:
    """Return an interpreter with effects, a workstation and an encoder of sound, or "" and the reason."""
    return _interpreter("TWICE_PEDALBOARD_PYTHON", EFFECTS)


def interpreter_with(*requirements: str) -> tuple[str, str]:
    """Return an interpreter with these libraries and without twice, or "" and the reason."""
    return _interpreter("", requirements)


def numpy_of(requirement: str) -> tuple[str, str]:
    """Return an interpreter that twice runs on with another numpy, or "" and the reason."""
    return _interpreter("", (requirement, *_PROJECT["project"]["dependencies"]))


def numpy_on_other_blas() -> tuple[str, str]:
    """Return one with NUMPY on the OpenBLAS of numpy 2.2.6, which has the same ABI, or "" and the reason."""
    (own, why), (other, why_other) = numpy_of(NUMPY), numpy_of("numpy==2.2.6")
    if why or why_other:
        return "", why or why_other
    place = find_cache() / "numpy-on-other-blas"
    with place.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "swapped").is_file():
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(Path(own).parents[1], place, symlinks=True)
            pattern = "lib/python3.11/site-packages/numpy.libs/libscipy_openblas*"
            (theirs,) = Path(other).parents[1].glob(pattern)
            (ours,) = place.glob(pattern)
            shutil.copyfile(theirs, ours)
            (place / "swapped").touch()
    return str(place / "bin" / "python"), ""


def emulated(python: str, folder: Path) -> tuple[str, str]:
    """Return an interpreter that has a processor without AVX2, and its processes too, or "" and the reason.

    Args:
        python: the interpreter that is emulated.
        folder: to be put on PYTHONPATH: it says what `sys.executable` is.
    """
    qemu = shutil.which("qemu-x86_64")
    if qemu is None or os.uname().machine != "x86_64":
        return "", "no qemu-x86_64, which emulates another processor (package qemu-user)"
    folder.mkdir()
    wrapper = folder / "python"
    model = "SandyBridge,-pcid,-x2apic,-tsc-deadline"
    wrapper.write_text(f'#!/bin/sh\nexec {qemu} -cpu {model} {python} "$@"\n')
    wrapper.chmod(0o755)
    (folder / "sitecustomize.py").write_text(f"import sys\n\nsys.executable = {str(wrapper)!r}\n")
    return str(wrapper), ""


def _interpreter(variable: str, wanted: tuple[str, ...]) -> tuple[str, str]:
    named = os.environ.get(variable)
    if named:
        return named, ""
    cache = find_cache()
    cache.mkdir(parents=True, exist_ok=True)
    name = wanted[0].replace("==", "-")
    place = cache / name
    with (cache / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        complete = place / "complete"
        kept = complete.read_text("utf-8") if complete.is_file() else None
        why = "" if kept == "\n".join(wanted) else _made(place, wanted)
    return ("", why) if why else (str(place / "bin" / "python"), "")


def _made(place: Path, wanted: tuple[str, ...]) -> str:
    """Make the environment; return why it could not be made, or ""."""
    found = sys.executable if sys.version_info[:2] == (3, 11) else shutil.which("python3.11")
    if found is None:
        return f"no Python 3.11, which {wanted[0]} is installed for"
    shutil.rmtree(place, ignore_errors=True)
    steps = [
        [found, "-m", "venv", str(place)],
        [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", *wanted],
    ]
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        if done.returncode:
            shutil.rmtree(place, ignore_errors=True)
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            return f"{wanted[0]} cannot be installed here: {' '.join(said)[:300]}"
    (place / "complete").write_text("\n".join(wanted), "utf-8")
    return ""
