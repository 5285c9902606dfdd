"""The work is done by a zipapp that a child runs; the archive is rebuilt from other sources later."""
import subprocess
import sys
from pathlib import Path

tool = Path(__file__).with_name("tool.pyz")


def call(*arguments):
    done = subprocess.run([sys.executable, str(tool), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


for words in (["one"], ["two", "three"], []):
    print(words, "->", call(*words))
