"""A shell pipeline puts parts together; later one part is gone and another one is there."""
import os
from pathlib import Path

out = Path("whole.txt")


def build(pattern):
    status = os.system(f"cat {pattern} | tr a-z A-Z > {out}")
    return os.waitstatus_to_exitcode(status)


print("status", build("parts/*.txt"))
print("lines", out.read_text().count("\n"))
print(out.read_text())
