"""Builds "The Skerry Lamp": renders its assets on record, has them judged, and publishes them clean.

python examples/assets/build.py OUT

Each step is a command of twice, as somebody would type it. What is not installed here is named and left out; a
step that does not hold ends the build with what the command said.
"""

import argparse
import hashlib
import shutil
import string
import subprocess
import sys
import time
from pathlib import Path

import book
import pieces
import service
from PIL import ImageFont

HERE = Path(__file__).resolve().parent
WORK_UNIT = "TU-2026-01-31-IL01"


class Stopped(Exception):
    """A step did not hold."""


class Studio:
    """One build: its hot store, what players get, and what goes to the gatekeeper."""

    def __init__(self, out):
        self.hot, self.public, self.handover = out / "hot", out / "public", out / "handover"

    def twice(self, *arguments):
        """Run one command of twice in the hot store.

        Raises:
            Stopped: the command ended with another exit code than 0.
        """
        began = time.monotonic()
        command = [sys.executable, "-m", "twice", "asset", *arguments]
        done = subprocess.run(command, cwd=self.hot, capture_output=True, text=True, check=False)
        line = f"twice asset {' '.join(arguments)}"
        if done.returncode:
            said = f"{done.stdout}\n{done.stderr}".strip()[-4000:]
            raise Stopped(f"{line}\nended with exit code {done.returncode}:\n{said}")
        print(f"{time.monotonic() - began:6.1f} s  {line[:110]}", flush=True)

    def lay(self):
        """Make the hot store, with all files that the commands read."""
        for each in (self.hot / "audio", self.hot / "art", self.public):
            each.mkdir(parents=True)
        for name in ("renderers", "inputs"):
            shutil.copytree(
                HERE / name, self.hot / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        self.twice("init", ".", "--public", "../public")
        score = [sys.executable, "renderers/score.py", "inputs/theme.mid"]
        subprocess.run(score, cwd=self.hot, check=True)
        (self.hot / "inputs/title.ttf").write_bytes(ImageFont.load_default(10).font_bytes)
        if (bank := pieces.bank()) is not None:
            shutil.copy(bank, self.hot / "inputs/bank.sf2")

    def declare(self):
        """Write the declarations, with the versions that are installed here."""
        chain, version, _python = pieces.effects()
        narration = self.hot / "audio/narration.wav"
        blender = pieces.blender()
        words = {
            "chain": chain,
            "chain_version": version,
            "bpy": pieces.version_of(blender, "bpy") if blender else "",
            "narration": digest(narration) if narration.exists() else "",
        }
        text = string.Template((HERE / "render.toml").read_text(encoding="utf-8"))
        (self.hot / "render.toml").write_text(text.substitute(words), encoding="utf-8")

    def record(self, asset):
        """Render one asset on record, and seal its log."""
        self.declare()
        options = ["--from", "render.toml", "-o", asset.output]
        for each in asset.inputs:
            options += ["--input", each]
        if asset.seed:
            options += ["--seed", asset.seed]
        if asset.promised:
            options += ["--program"]
        self.twice("record", *options, "--", *asset.command)
        self.twice("seal", asset.output, "--log", f"{asset.output}.draft.json")


def digest(path):
    """Return the sha256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def build(out):
    """Build everything into a new folder; return the assets left out, with the reasons."""
    studio = Studio(out)
    with service.running() as address:
        sounds, pictures = pieces.sounds(address), pieces.pictures(address)
        skipped = {each.name: each.lacking for each in [*sounds, *pictures] if each.lacking}
        for name, why in skipped.items():
            print(f"skipped: {name} ({why})")
        sounds = [each for each in sounds if not each.lacking]
        pictures = [each for each in pictures if not each.lacking]
        studio.lay()
        for each in [*sounds, *pictures]:
            studio.record(each)
    studio.twice("rerender", ".", "--write")
    studio.twice("package", "--work-unit", WORK_UNIT, "--to", "../handover")
    studio.twice("gate", ".", "--measure")
    for each in [*sounds, *pictures]:
        studio.twice("scrub", each.output, "-o", f"../public/{Path(each.output).name}")
    book.write(
        studio.public,
        {each.name: each.alt for each in pictures},
        {each.name: each.alt for each in sounds},
    )
    studio.twice("leaks", "../public", "--logs", ".")
    made = len(sounds) + len(pictures)
    print(f"built: {made} assets, {len(skipped)} skipped; open {studio.public / 'index.html'}")
    return skipped


def main():
    """Read the command line and build the book."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT", help="a folder that is not there yet")
    out = parser.parse_args().out
    if out.exists():
        return f"{out} is there already. Name a new folder."
    try:
        build(out.absolute())
    except Stopped as stopped:
        return str(stopped)
    return 0


if __name__ == "__main__":
    sys.exit(main())
