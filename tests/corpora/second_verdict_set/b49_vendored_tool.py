"""A compiled tool lies beside the script and turns a file; another tool is put in its place later."""
import subprocess
from pathlib import Path

here = Path(__file__).parent
source = here / "lines.txt"


def render(path):
    return subprocess.run([str(here / "tool"), str(path)], stdout=subprocess.PIPE, check=True).stdout


text = render(source).decode()
Path("rendered.txt").write_text(text)
print(text.splitlines()[0], "...", text.splitlines()[-1])
