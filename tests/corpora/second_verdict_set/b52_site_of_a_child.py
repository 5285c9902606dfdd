"""A child gets its settings by sitecustomize, from a folder on PYTHONPATH; that file is edited later."""
import os
import subprocess
import sys
from pathlib import Path

site = Path(__file__).parent / "site"
CODE = "import builtins; print([n * getattr(builtins, 'FACTOR', 0) for n in range(1, 5)])"


def ask():
    variables = {**os.environ, "PYTHONPATH": str(site)}
    return subprocess.check_output([sys.executable, "-c", CODE], env=variables, text=True).strip()


print("scaled:", ask())
