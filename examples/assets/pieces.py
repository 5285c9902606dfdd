"""The assets of the book: what each is, the command that makes it, and what has to be installed for it."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

BANKS = ("/usr/share/sounds/sf2/TimGM6mb.sf2", "/usr/share/sounds/sf2/default-GM.sf2")
KEEPER = "Who is there? Nobody has come up here since the storm."


@dataclass(frozen=True)
class Asset:
    """One asset.

    Args:
        output: the file, from the root of the hot store.
        command: what renders it; ``{seed}`` stands for the seed.
        alt: what it is, for those who cannot see or hear it.
        inputs: files that it reads and that its command does not name.
        seed: the seed asked for; "" where nothing is drawn.
        promised: whether it can be rendered again.
        lacking: why it cannot be rendered here; "" when it can.
    """

    output: str
    command: tuple[str, ...]
    alt: str
    inputs: tuple[str, ...] = ()
    seed: str = ""
    promised: bool = True
    lacking: str = ""

    @property
    def name(self):
        return Path(self.output).stem


def bank():
    """Find a sound bank for the theme: the one that TWICE_SOUNDFONT names, else one of Debian's."""
    named = os.environ.get("TWICE_SOUNDFONT")
    return next((Path(each) for each in (named, *BANKS) if each and Path(each).is_file()), None)


def effects():
    """Says which chain the hall is made with: the name, its version, and the interpreter that has it.

    pedalboard is licensed under the GPL, so it runs as a program of its own: TWICE_PEDALBOARD_PYTHON names an
    interpreter that has it. Without one the chain is one of numpy.
    """
    python = os.environ.get("TWICE_PEDALBOARD_PYTHON", "")
    if python:
        return "pedalboard", version_of(python, "pedalboard"), python
    return "numpy", metadata.version("numpy"), "python"


def version_of(python, package):
    """Asks an interpreter for the version of a package."""
    asked = f"from importlib.metadata import version; print(version({package!r}))"
    done = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def blender():
    """Return the interpreter that TWICE_BLENDER_PYTHON names, which has Blender's module, or ""."""
    return os.environ.get("TWICE_BLENDER_PYTHON", "")


def installed(program, package=""):
    """Says why a program cannot be used here; "" when it can."""
    return "" if shutil.which(program) else f"no {program}: apt-get install {package or program}"


def sounds(address):
    """List the sounds, in the order in which they are made."""
    chain, _version, python = effects()
    theme = installed("fluidsynth") or (
        "" if bank() else "no sound bank: apt-get install timgm6mb-soundfont"
    )
    return [
        Asset(
            "audio/theme.wav",
            ("fluidsynth", "-ni", "-q", "-T", "wav", "-O", "s16", "-r", "44100", "-g", "0.6",
             "-F", "audio/theme.wav", "inputs/bank.sf2", "inputs/theme.mid"),
            "A bell tune over a held fifth.",
            lacking=theme,
        ),
        Asset(
            "audio/narration.wav",
            ("espeak-ng", "-v", "en-gb", "-s", "150", "-p", "45", "-f", "inputs/narration.txt",
             "-w", "audio/narration.wav"),
            "The first lines, spoken.",
            lacking=installed("espeak-ng"),
        ),
        Asset(
            "audio/rain.wav",
            ("python", "renderers/rain.py", "audio/rain.wav", "--seed", "{seed}",
             "--gain-db", "-6.2"),
            "Rain on the windows of the lamp room.",
            inputs=("renderers/sounds.py",),
            seed="41",
        ),
        Asset(
            "audio/hall.wav",
            (python, "renderers/hall.py", "audio/narration.wav", "audio/hall.wav",
             "--chain", chain, "--room", "0.6", "--wet", "0.3"),
            "The same lines, heard from the stairs.",
            inputs=("renderers/sounds.py",),
            lacking=installed("espeak-ng"),
        ),
        Asset(
            "audio/keeper.wav",
            ("python", "renderers/ask.py", "audio/keeper.wav", "--service", f"{address}/voice",
             "--request-id", "keeper-1", "--prompt", KEEPER),
            "The keeper answers.",
            promised=False,
        ),
    ]  # fmt: skip


def pictures(address):
    """List the pictures, in the order in which they are made."""
    python = blender()
    return [
        Asset(
            "art/chart.png",
            ("python", "renderers/chart.py", "art/chart.png", "--seed", "{seed}",
             "--font", "inputs/title.ttf"),
            "A sea chart with soundings and the title of the book.",
            seed="7",
        ),
        Asset(
            "art/lighthouse.png",
            ("povray", "+Iinputs/lighthouse.pov", "+Oart/lighthouse.png", "+W320", "+H200",
             "+A0.3", "+WT1", "-D", "-GA"),
            "A lighthouse at night, its lamp lit.",
            lacking=installed("povray"),
        ),
        Asset(
            "art/buoy.png",
            (python, "renderers/buoy.py", "art/buoy.png", "--seed", "{seed}", "--samples", "8"),
            "A buoy under a single lamp.",
            seed="3",
            lacking="" if python else "no Blender: TWICE_BLENDER_PYTHON names no interpreter",
        ),
        Asset(
            "art/sky.png",
            ("python", "renderers/ask.py", "art/sky.png", "--service", f"{address}/picture",
             "--request-id", "sky-1", "--prompt", "a sky before the storm"),
            "The sky before the storm.",
            promised=False,
        ),
    ]  # fmt: skip
