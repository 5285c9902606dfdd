"""The job of a render: a command rewritten for a clean folder, and everything that it is given.

Nothing here runs a command, so that a gate that reads records need not load what renders. An argument is rewritten
where the whole of it is a path, or what follows ``=`` or an option of two characters such as ``+I`` or ``-o``. A path
that stands anywhere else is not seen: name it with --input.

Invariant: the rewritten command holds no path of a file that was found, but those inside its folder.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from twice.assets.store.store import Store
from twice.errors import UsageError

PATH: Final = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"
"""Where a child looks for programs, whatever its caller's environment says."""
PINS: Final = {
    "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC", "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
}  # fmt: skip
"""What every recorded rendering gets, beside what is given with --env."""
FOLDER_PREFIX: Final = "twice-render-"
SEED: Final = "{seed}"
OUTSIDE: Final = "outside"
"""The folder of a recipe in which inputs stand that lie outside of the store."""
TIMEOUT_S: Final = 600.0
_PYTHON: Final = re.compile(r"python(3(\.[0-9]+)?)?")
_SYSTEM: Final = ("/etc", "/proc", "/sys", "/dev", "/lib", "/lib64", "/usr/lib", "/usr/local/lib")
"""Where a system keeps its own; nobody gives these to a rendering."""


_IN_SCENE: Final = "seeds stand in the scene, which is an input by digest"


class Renderer(NamedTuple):
    """One kind of program: why it takes no seed, what sounds, and what its option for threads begins with."""

    seedless: str = ""
    source: str = "synthesis"
    threads: str = ""


RENDERERS: Final[Mapping[str, Renderer]] = MappingProxyType({
    "fluidsynth": Renderer("fluidsynth draws no random numbers", "instrument"),
    "espeak-ng": Renderer("espeak-ng takes no seed", "voice"),
    "povray": Renderer(_IN_SCENE, threads="+WT"),
    "blender": Renderer(_IN_SCENE, threads="--threads="),
    "ffmpeg": Renderer(),
    "sox": Renderer(),
    "timidity": Renderer("timidity takes no seed", "instrument"),
    "inkscape": Renderer("inkscape takes no seed"),
    "rsvg-convert": Renderer("rsvg-convert takes no seed"),
})  # fmt: skip
"""The programs whose arguments are known; none of them has a generative model."""


def find_renderer(argv: Sequence[str]) -> Renderer:
    """Return what is known of a command's program; of one that is not listed, nothing."""
    return RENDERERS.get(Path(argv[0]).name, Renderer())


def count_threads(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Count the threads that a command renders with: its own option, every core, or the variable."""
    option = find_renderer(argv).threads
    if option:
        said = [part.removeprefix(option) for part in argv if option in part]
        return int(said[-1]) if said and said[-1].isdecimal() else os.cpu_count() or 1
    variable = env.get("OMP_NUM_THREADS", "")
    return int(variable) if variable.isdecimal() and int(variable) else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderJob:
    """A command with everything that it is given; paths are relative to its folder, as the store's are to its root.

    Args:
        argv: the program and its arguments.
        inputs: where each file that it reads lies, by the path that the command sees.
        outputs: what it has to write.
        env: variables that it gets beside the folders that are its own; no others.
        seed: of the recorder, for a Python program, and what stood for ``{seed}``.
        timeout_s: when it is ended.
    """

    argv: tuple[str, ...]
    inputs: Mapping[str, Path] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    timeout_s: float = TIMEOUT_S

    def find_program(self) -> Path | None:
        """Find the program where it lies: among the inputs, by its path, or on the fixed path."""
        name = self.argv[0]
        return self.inputs.get(name[2:]) if name.startswith("./") else find_program(name)


def looks_python(argv: Sequence[str]) -> bool:
    """Whether a command is a Python script, or -m with a module, under whichever interpreter."""
    if len(argv) < 2 or _PYTHON.fullmatch(Path(argv[0]).name) is None:
        return False
    return argv[1].endswith(".py") or (argv[1] == "-m" and len(argv) > 2)


def is_recordable(argv: Sequence[str]) -> bool:
    """Whether the recorder can run a command: a Python program, under no other interpreter than this one."""
    here = Path(sys.executable).parent
    return looks_python(argv) and ("/" not in argv[0] or Path(argv[0]).absolute().parent == here)


def find_program(name: str, folder: Path | None = None) -> Path | None:
    """Find a program by its name on the fixed path, or by its path in the folder; None if it is not there."""
    if "/" in name:
        path = (folder or Path()) / name
        return path if path.is_file() else None
    found = shutil.which(name, path=PATH)
    return None if found is None else Path(found)


def is_outside(path: str) -> bool:
    """Whether the path of a recorded read is neither in the private folder of a rendering nor the system's."""
    own = (FOLDER_PREFIX in path) or any(Path(path).is_relative_to(each) for each in _SYSTEM)
    return path.startswith("/") and not own


def rewrite_command(
    typed: Sequence[str], store: Store, *, inputs: Iterable[Path] = (),
    outputs: Collection[Path] = (), env: Mapping[str, str] | None = None, seed: int | None = None,
    timeout_s: float = TIMEOUT_S,
) -> RenderJob:  # fmt: skip
    """Rewrite a command, as it was typed, for a clean folder.

    ``inputs`` are further files that it reads, ``env`` variables over ``PINS``. The seed stands for ``{seed}`` in arguments
    and variables.

    Raises:
        UsageError: E-USE-001, ``{seed}`` without a seed, a seed that reaches nobody, an output outside of the store.
    """
    env = env or {}
    texts = [*typed, *env.values()]
    asks_for_seed = next((each for each in texts if SEED in each), None)
    if asks_for_seed is not None and seed is None:
        raise UsageError(
            f"The argument {asks_for_seed!r} asks for a seed, and none was given.",
            "Expected the seed that stands in its place.",
            "Give one: twice asset record --seed 7 … -- COMMAND",
        )
    if seed is not None and asks_for_seed is None and not is_recordable(typed):
        raise UsageError(
            f"The seed {seed} reaches nobody: {SEED} stands in no argument and no variable.",
            f"Expected {SEED} where {typed[0]} takes its seed.",
            f"For example: twice asset record --seed {seed} … -- {typed[0]} --seed {SEED}",
        )
    named: dict[Path, str] = {}
    for path in outputs:
        if store.root not in path.resolve().parents:
            raise UsageError(
                f"The output {path} does not lie in the hot store {store.root}.",
                "Expected an asset inside the store, so that its log stands beside it.",
                f"For example: -o {store.root / path.name}",
            )
        named[path] = store.named(path)
    placed = {str(each): name for path, name in named.items() for each in (path, path.absolute())}
    folder = _Folder(store, placed)
    program = Path(typed[0]).absolute()
    argv = [typed[0]]
    if is_recordable(typed):
        argv = ["python"]
    elif "/" in typed[0] and program.is_file():
        # An installed program stays where it is: a copy would lack what lies beside it, such as an environment.
        is_own = store.root in program.parents
        argv = [f"./{folder.add(program)}" if is_own else str(program)]
    argv += [folder.rewrite(part.replace(SEED, str(seed))) for part in typed[1:]]
    for path in inputs:
        folder.add(path)
    if is_recordable(typed) and typed[1] == "-m":
        package = store.root / typed[2].partition(".")[0]
        for path in (package.with_suffix(".py"), *sorted(package.rglob("*.py"))):
            if path.is_file():
                folder.add(path)
    return RenderJob(
        argv=tuple(argv), inputs=folder.inputs, outputs=tuple(named.values()), seed=seed,
        env=PINS | {name: text.replace(SEED, str(seed)) for name, text in env.items()},
        timeout_s=timeout_s,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Folder:
    """The folder that a command will see, as it fills with inputs."""

    store: Store
    outputs: Mapping[str, str]
    inputs: dict[str, Path] = field(default_factory=dict)

    def add(self, path: Path) -> str:
        """Name an input inside the folder: by its way from the store's root, or as one from outside."""
        absolute = Path(os.path.normpath(path.absolute()))
        try:
            name = absolute.relative_to(self.store.root).as_posix()
        except ValueError:
            name, number = f"{OUTSIDE}/{path.name}", 2
            while self.inputs.get(name, absolute) != absolute:
                name, number = f"{OUTSIDE}/{number}/{path.name}", number + 1
        self.inputs[name] = absolute
        return name

    def rewrite(self, part: str) -> str:
        """Rewrite the path in an argument, if there is one."""
        head, equals, text = part.partition("=")
        splits = [("", part), (head + equals, text)]
        if part[:1] in {"-", "+"}:
            splits.append((part[:2], part[2:]))
        for head, text in splits:
            if text in self.outputs:
                return head + self.outputs[text]
            with suppress(OSError, ValueError):  # A name that no disk takes.
                if text and Path(text).is_file():
                    return head + self.add(Path(text))
        return part
