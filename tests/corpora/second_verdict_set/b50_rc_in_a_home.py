"""A shell child reads the settings that lie in its HOME; they are edited later."""
import os
import subprocess
from pathlib import Path

home = Path(__file__).parent / "home"
SCRIPT = """
set -e
[ -f "$HOME/.toolrc" ] && . "$HOME/.toolrc"
echo "compression ${LEVEL:-6}, backend ${BACKEND:-none}"
"""


def settings():
    done = subprocess.run(["sh", "-c", SCRIPT], env={"PATH": os.environ["PATH"], "HOME": str(home)},
                          capture_output=True, text=True, check=True)
    return done.stdout.strip()


print("tool says:", settings())
